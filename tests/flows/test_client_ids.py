"""A client's own id makes a send that is repeated answer once."""

from pathlib import Path

import pytest
from kernel_kit import agent_at, everything, last_asked, sentence, small

from pagemind.runtime.errors import ModelUnreachable, UserError
from pagemind.runtime.model import ModelReply, ModelRequest
from pagemind.runtime.testing import ScriptedModel, call


def test_the_same_id_gives_the_stored_result(tmp_path: Path) -> None:
    """A repeated send stores nothing, asks no model, and gives the first answer, also later."""
    model = ScriptedModel([call("archival_insert", content="Nomad"), "Noted.", "not asked"])
    with agent_at(tmp_path, model) as agent:
        first = agent.send("Remember Nomad.", id="m-1")
        again = agent.send("Remember Nomad.", id="m-1")
        assert again.as_json() == first.as_json()
        assert len(everything(agent)) == 4
    with agent_at(tmp_path, ScriptedModel()) as agent:
        assert agent.send("Remember Nomad.", id="m-1").as_json() == first.as_json()
        assert agent.archival.count() == 1


def test_the_same_id_with_another_text_is_refused(tmp_path: Path) -> None:
    """An id belongs to one text."""
    with agent_at(tmp_path, ScriptedModel(["Yes."])) as agent:
        agent.send("One.", id="m-1")
        with pytest.raises(UserError, match="used before"):
            agent.send("Two.", id="m-1")
        assert len(everything(agent)) == 2


def test_a_failed_turn_is_taken_up_again(tmp_path: Path) -> None:
    """After a model error the same id goes on with the same message instead of storing it twice."""
    model = ScriptedModel([ModelUnreachable("no route"), "Here I am."])
    with agent_at(tmp_path, model) as agent:
        failed = agent.send("Hello?", id="m-1")
        assert failed.stop_reason == "model_error"
        assert failed.error is not None
        answered = agent.send("Hello?", id="m-1")
        assert (answered.text, answered.turn) == ("Here I am.", failed.turn)
        assert [m.text for m in everything(agent)] == ["Hello?", "Here I am."]


def test_a_turn_of_a_dead_process_is_taken_up_again(tmp_path: Path) -> None:
    """A process that dies before the reply leaves a turn that its id can finish."""

    class Dies(BaseException):
        pass

    def die(request: object) -> str:
        raise Dies

    with agent_at(tmp_path, ScriptedModel(die)) as agent:
        # As after a kill: nothing closes the turn.
        agent.turns.finish = lambda *_: None
        with pytest.raises(Dies):
            agent.send("Hello?", id="m-1")
    with agent_at(tmp_path, ScriptedModel(["Back."])) as agent:
        (row,) = agent.state.turns.newest(5)
        assert row.stop_reason == "interrupted"
        assert agent.send("Hello?", id="m-1").text == "Back."


def test_an_event_that_was_paged_out_is_shown_again(tmp_path: Path) -> None:
    """Taking a turn up again shows its message even where later talk has pushed it out."""
    model = ScriptedModel([ModelUnreachable("no route")], after="I see.")
    with agent_at(tmp_path, model) as agent:
        agent.send("What is the capital of France?", id="m-1")
        for number in range(40):
            agent.send(sentence(number))
        assert not agent.context.queue.__contains__(1)
        agent.send("What is the capital of France?", id="m-1")
        shown = [m.text for m in last_asked(model).messages]
        assert sum("capital of France" in text for text in shown if "<earlier" not in text) == 1


def test_retry_takes_up_the_last_turn(tmp_path: Path) -> None:
    """retry() answers the last message that got no answer, and refuses an answered one."""
    model = ScriptedModel([ModelUnreachable("no route"), "Yes."])
    with agent_at(tmp_path, model) as agent:
        with pytest.raises(UserError):
            agent.retry()
        agent.send("Are you there?")
        assert agent.retry().text == "Yes."
        with pytest.raises(UserError):
            agent.retry()


def test_an_id_with_odd_characters_is_an_id(tmp_path: Path) -> None:
    """Half an emoji in an id is no crash."""
    with agent_at(tmp_path, ScriptedModel(["Yes."])) as agent:
        first = agent.send("One.", id="m-\ud83c")
        assert agent.send("One.", id="m-\ud83c").turn == first.turn


def test_an_answer_that_was_stored_is_not_asked_for_again(tmp_path: Path) -> None:
    """A process that dies between the reply and the end of its turn has answered."""

    class Dies(BaseException):
        pass

    def die(*_: object) -> None:
        raise Dies

    with agent_at(tmp_path, ScriptedModel(["Yes, here."])) as agent:
        agent.turns.finish = die
        with pytest.raises(Dies):
            agent.send("Hello?", id="m-1")
    with agent_at(tmp_path, ScriptedModel(["Asked again."])) as agent:
        again = agent.send("Hello?", id="m-1")
        assert (again.text, again.stop_reason) == ("Yes, here.", "answered")
        assert [m.text for m in everything(agent)] == ["Hello?", "Yes, here."]


def test_a_resumed_event_survives_a_restart(tmp_path: Path) -> None:
    """What is shown again for a turn that was taken up is shown after a restart, too."""
    model = ScriptedModel([ModelUnreachable("no route")], after="I see.")
    with agent_at(tmp_path, model) as agent:
        agent.send("What is the capital of France?", id="m-1")
        for number in range(40):
            agent.send(sentence(number))
        agent.send("What is the capital of France?", id="m-1")
        shown = [m.text for m in agent.context.render(128).messages]
    with agent_at(tmp_path, ScriptedModel()) as agent:
        assert [m.text for m in agent.context.render(128).messages] == shown


def test_what_nobody_heard_is_not_in_the_stored_answer(tmp_path: Path) -> None:
    """A send_message that does not exist here said nothing, then or when the client asks again."""
    model = ScriptedModel([call("send_message", message="Hm."), "Noted."])
    with agent_at(tmp_path, model) as agent:
        assert agent.send("Remember Nomad.", id="m-1").text == "Noted."
        assert agent.send("Remember Nomad.", id="m-1").text == "Noted."


def test_a_private_thought_stays_private_when_the_client_asks_again(tmp_path: Path) -> None:
    """With protocol heartbeat text beside calls is thought; only speech is in the stored answer."""
    heartbeat = small(4096, "archival_insert", more="protocol: heartbeat\n")
    noting = call("archival_insert", content="Nomad", request_heartbeat=True)
    speaking = call("send_message", message="Noted.")
    script = [
        ModelReply("I should note it.", (noting,)),
        ModelReply("Now tell.", (speaking,)),
    ]
    with agent_at(tmp_path, ScriptedModel(script), heartbeat) as agent:
        assert agent.send("Remember Nomad.", id="m-1").text == "Noted."
        assert agent.send("Remember Nomad.", id="m-1").text == "Noted."


def test_speech_that_was_heard_is_not_asked_for_again(tmp_path: Path) -> None:
    """Killed after send_message ran, and before the end of its turn: it was answered."""

    class Dies(BaseException):
        pass

    def die(*_: object) -> None:
        raise Dies

    heartbeat = small(4096, "archival_insert", more="protocol: heartbeat\n")
    script = [call("send_message", message="Yes, here.")]
    with agent_at(tmp_path, ScriptedModel(script), heartbeat) as agent:
        agent.turns.finish = die
        with pytest.raises(Dies):
            agent.send("Hello?", id="m-1")
    with agent_at(tmp_path, ScriptedModel([call("send_message", message="Again.")])) as agent:
        again = agent.send("Hello?", id="m-1")
        assert (again.text, again.stop_reason) == ("Yes, here.", "answered")


def test_speech_before_another_step_is_taken_up_again(tmp_path: Path) -> None:
    """Killed in the step that a send_message with a heartbeat asked for: the turn goes on."""

    class Dies(BaseException):
        pass

    first = call("send_message", message="A moment.", request_heartbeat=True)

    def reply(request: ModelRequest) -> object:
        if request.messages[-1].role == "tool":
            raise Dies
        return first

    heartbeat = small(4096, "archival_insert", more="protocol: heartbeat\n")
    with agent_at(tmp_path, ScriptedModel(reply), heartbeat) as agent:
        agent.turns.finish = lambda *_: None
        with pytest.raises(Dies):
            agent.send("Hello?", id="m-1")
    with agent_at(tmp_path, ScriptedModel([call("send_message", message="Done.")])) as agent:
        assert agent.state.turns.newest(1)[0].stop_reason == "interrupted"
        assert agent.send("Hello?", id="m-1").text == "Done."
