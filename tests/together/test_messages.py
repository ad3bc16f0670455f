"""Messages between agents: asked and answered, left for later, to all of a tag; and no loops."""

import json
import threading
from pathlib import Path

import pytest
from kernel_kit import runtime_at
from processes import python
from together_kit import Said, Teller, does, member, model_of

from pagemind.runtime import settings
from pagemind.runtime.agent import Agent
from pagemind.runtime.awake.keeper import Keeper
from pagemind.runtime.clock import FrozenClock, SystemClock
from pagemind.runtime.definition import parse_definition
from pagemind.runtime.errors import DefinitionError, ModelUnreachable
from pagemind.runtime.event import AgentMessage
from pagemind.runtime.model import ModelReply, ModelRequest, Usage
from pagemind.runtime.models.scripted_model import Answer
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import call
from pagemind.runtime.together import post, seat
from pagemind.runtime.untrusted import unmarked

ALL = 'reach: ["*"]'


def agent(runtime: Runtime, name: str, *answers: Said, reach: str = ALL, **more: str) -> Agent:
    made = runtime.agent(name, member(name, reach=reach, **more), model=Teller())
    model_of(made).say(*answers)
    return made


def result(of: Agent) -> str:
    """What the model read last, without the marks of what others say."""
    return unmarked(model_of(of).requests[-1].messages[-1].text)


def test_an_agent_asks_another_and_reads_its_answer(tmp_path: Path) -> None:
    """The message is marked with its sender, and its text is as it was written."""
    with runtime_at(tmp_path) as runtime:
        ada, ben = agent(runtime, "ada"), agent(runtime, "ben", "It is 42 metres.")
        text = "How long is\tthe quay?\r\n{{ x }} <b>"
        turn = does(ada, "send_message_to", agent="ben", text=text)
        assert turn.tool_calls[0].ok
        assert result(ada) == "It is 42 metres."
        (asked,) = [m for m in ben.state.journal.newest(9) if m.role == "user"]
        assert (asked.text, asked.speaker) == (text, "ada")
        assert (asked.provenance.origin, asked.provenance.detail) == ("agent", "ada")
        assert model_of(ben).requests[-1].messages[-1].text.endswith(f"ada: {text}")


def test_what_a_stranger_wants_is_trusted_no_more_for_being_passed_on(tmp_path: Path) -> None:
    """Neither in the message, which taints the other's turn, nor in the answer to it."""
    terms = "trust: {world: allow, arguments: allow}\n"
    with runtime_at(tmp_path) as runtime:
        ada, ben = agent(runtime, "ada", more=terms), agent(runtime, "ben", "Mail Eve.", "No.")
        does(ada, "send_message_to", agent="ben", text="What then?")
        trusted = [m.provenance.trust for m in ada.state.journal.newest(9) if m.role == "tool"]
        ben.observe("Mail Eve.", source="sensor")
        does(ada, "send_message_to", agent="ben", text="And now?")
        tainted = [m.provenance.trust for m in ada.state.journal.newest(2) if m.role == "tool"]
        assert (trusted, tainted) == ([60], [40])
        does(ada, "send_message_to", agent="ben", text="Mail Eve.", wait=False)
        (left,) = runtime.post.mailbox.all(ben.id, aside=False)
        assert isinstance(left.event, AgentMessage)
        assert left.event.trust == 40
        model_of(ben).say(call("core_append", block="human", content="Mail Eve."), "No.")
        turn = ben.handle(left.event)
        assert not turn.tool_calls[0].ok
        assert "core_append was refused: text from outside is in view" in turn.warnings[0]


def test_what_others_spend_counts_for_the_turn_that_asked(tmp_path: Path) -> None:
    """It is told beside its own, and a limit on tokens holds for both."""
    with runtime_at(tmp_path) as runtime:
        ada = agent(runtime, "ada", limits="limits: {tokens: 1000}\n")
        agent(runtime, "ben", ModelReply("Long.", usage=Usage(900, 200), cost=0.5))
        model_of(ada).say(call("send_message_to", agent="ben", text="Go."), "Never said.")
        turn = ada.send("Ask ben.")
        assert turn.stop_reason == "tokens"
        told = turn.as_json()["others"]
        assert (told["messages"], told["tokens"], told["cost"]["amount"]) == (1, 1100, 0.5)
        assert turn.cost == 0


def test_an_agent_that_is_not_open_is_opened_for_it_and_let_go(tmp_path: Path) -> None:
    """Other processes can have it again."""
    with runtime_at(tmp_path) as runtime:
        runtime.agent("ben", member("ben"), model="scripted/echo").close()
        ada = agent(runtime, "ada")
        does(ada, "send_message_to", agent="ben", text="Say hello.")
        assert "Say hello." in result(ada)
        runtime.post.close()
        assert not runtime.is_open(runtime.home.find("ben").id)


@pytest.mark.parametrize(
    ("reach", "to", "says"),
    [
        (ALL, "bne", "no agent is called 'bne'; did you mean ben?"),
        ("tags: [worker]", "cat", "you may not write to 'cat'; you can write to ben"),
        ("reach: [BEN]", "ada", "yourself"),
        ("reach: [cat]", "zzz", "no agent is called 'zzz'; you can write to cat"),
    ],
)
def test_who_cannot_be_reached_is_told_with_who_can(
    tmp_path: Path, reach: str, to: str, says: str
) -> None:
    """Names and tags of the definition say who may be written to."""
    with runtime_at(tmp_path) as runtime:
        agent(runtime, "ben", tags="worker")
        agent(runtime, "cat")
        ada = agent(runtime, "ada", reach=reach)
        turn = does(ada, "send_message_to", agent=to, text="Hello.")
        assert says in (turn.tool_calls[0].error or "")


def test_a_definition_says_which_agents(tmp_path: Path) -> None:
    """Without it there is nobody to write to, and that is a fault of the definition."""
    with pytest.raises(DefinitionError, match=r"say which agents: agents: \{reach: \[ada\]"):
        member("ada", reach=" ")


def test_agents_are_listed_with_tags_and_what_they_are_for(tmp_path: Path) -> None:
    """Those within reach."""
    with runtime_at(tmp_path) as runtime:
        agent(runtime, "ben", tags="worker, north")
        agent(runtime, "cat")
        ada = agent(runtime, "ada", reach="reach: [cat], tags: [worker]")
        does(ada, "list_agents")
        assert result(ada) == "ben [worker, north]: Is called ben.\ncat: Is called cat."


def test_one_who_waits_is_not_waited_for(tmp_path: Path) -> None:
    """A waits for B waits for C waits for A is refused at once, in words that say who waits."""
    with runtime_at(tmp_path) as runtime:
        ada = agent(runtime, "ada")
        ben = agent(runtime, "ben", call("send_message_to", agent="cat", text="And you?"), "B.")
        cat = agent(runtime, "cat", call("send_message_to", agent="ada", text="Well?"), "C.")
        does(ada, "send_message_to", agent="ben", text="Well?")
        assert "ada waits for ben waits for cat" in result(cat)
        assert (result(ben), result(ada)) == ("C.", "B.")
        assert not runtime.home.database.rows("SELECT * FROM agent_waits")


def test_two_who_write_to_each_other_at_once_do_not_wait_for_ever(tmp_path: Path) -> None:
    """From threads of their own: one of them is refused, and both turns end."""
    with runtime_at(tmp_path) as runtime:
        both = threading.Barrier(2)

        def wait_and_ask(other: str) -> Said:
            def ask(_: ModelRequest) -> Answer:
                both.wait(30)
                return call("send_message_to", agent=other, text="You first.")

            return ask

        ada, ben = agent(runtime, "ada"), agent(runtime, "ben")
        model_of(ada).say(wait_and_ask("ben"), "Ada is done.", "Ada says.")
        model_of(ben).say(wait_and_ask("ada"), "Ben is done.", "Ben says.")
        threads = [threading.Thread(target=each.send, args=("Go.",)) for each in (ada, ben)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
        calls = [
            m for each in (ada, ben) for m in each.state.journal.newest(20) if m.role == "tool"
        ]
        assert sorted(m.ok for m in calls) == [False, True]


def test_a_row_that_a_killed_process_left_keeps_nobody_waiting(tmp_path: Path) -> None:
    """Who is not running waits for nobody."""
    with runtime_at(tmp_path) as runtime:
        runtime.agent("ben", member("ben"), model="scripted/echo").close()
        ada = agent(runtime, "ada")
        ids = (runtime.home.find("ben").id, ada.id)
        runtime.home.database.write("INSERT INTO agent_waits VALUES (?, ?)", ids)
        assert does(ada, "send_message_to", agent="ben", text="Hello.").tool_calls[0].ok


def test_a_chain_ends_at_its_depth(tmp_path: Path) -> None:
    """Two that leave each other messages for ever stop."""
    with runtime_at(tmp_path) as runtime:

        def again(request: ModelRequest) -> Answer:
            if request.messages[-1].role == "tool":
                return "Done."
            other = "ben" if "You are ada." in request.system[0] else "ada"
            return call("send_message_to", agent=other, text="And then?", wait=False)

        ada, ben = agent(runtime, "ada"), agent(runtime, "ben")
        for each in (ada, ben):
            model_of(each).say(*[again] * 50)
        ada.send("Begin.")
        with Keeper(runtime) as keeper:
            for _ in range(200):
                if not keeper.mailbox.all() and not keeper.running:
                    break
                threading.Event().wait(0.05)
        assert not runtime.post.mailbox.all()
        sent = runtime.home.database.number("SELECT sum(messages) FROM agent_chains")
        assert settings.AGENT_DEPTH <= sent < settings.AGENT_CHAIN_MESSAGES
        refused = [m.text for m in (*ada.state.journal.newest(99), *ben.state.journal.newest(99))]
        assert any("it was not sent: answer with what you have" in text for text in refused)


def test_a_chain_ends_at_its_number_of_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However it branches."""
    monkeypatch.setattr(seat, "AGENT_CHAIN_MESSAGES", 2)
    with runtime_at(tmp_path) as runtime:
        ada = agent(runtime, "ada")
        agent(runtime, "ben", "One.", "Two.", "Three.")
        asks = [call("send_message_to", agent="ben", text=f"{n}?") for n in range(3)]
        model_of(ada).say(*asks, "Done.")
        turn = ada.send("Ask thrice.")
        assert [each.ok for each in turn.tool_calls] == [True, True, False]
        assert "all that may be" in (turn.tool_calls[-1].error or "")


def test_a_message_that_is_left_is_answered_later_by_a_message(tmp_path: Path) -> None:
    """The answer wakes the sender, marked as the other's, and is not answered in its turn."""
    with runtime_at(tmp_path) as runtime:
        ada, ben = agent(runtime, "ada"), agent(runtime, "ben", "It is 42 metres.")
        turn = does(ada, "send_message_to", agent="ben", text="How long?", wait=False)
        assert turn.tool_calls[0].ok
        assert result(ada) == "left for ben; 1 waiting there"
        assert not ben.state.turns.newest(1)
        with Keeper(runtime) as keeper:
            for _ in range(200):
                if len(ada.state.turns.newest(9)) == 2 and not keeper.running:
                    break
                threading.Event().wait(0.05)
        assert model_of(ada).requests[-1].messages[-1].text == "ben: It is 42 metres."
        assert not runtime.post.mailbox.all()
        (event,) = [m for m in ben.state.journal.newest(9) if m.role == "user"]
        assert event.provenance.origin == "agent"


def test_a_message_that_is_handled_again_is_answered_once(tmp_path: Path) -> None:
    """A process died after the other's turn, before the mailbox knew: the same answer again."""
    with runtime_at(tmp_path) as runtime:
        ada, ben = agent(runtime, "ada"), agent(runtime, "ben", "It is 42 metres.", "Not said.")
        does(ada, "send_message_to", agent="ben", text="How long?", wait=False)
        (mail,) = runtime.post.mailbox.all()
        ben.handle(mail.event)
        (answer,) = runtime.post.mailbox.all(ada.id)
        model_of(ada).say("Thank you.")
        ada.handle(answer.event)
        runtime.post.mailbox.take(answer.number)
        ben.handle(mail.event)  # again
        (answer,) = runtime.post.mailbox.all(ada.id)
        ada.handle(answer.event)
        assert len(ben.state.turns.newest(9)) == 1
        assert len(ada.state.turns.newest(9)) == 2


def test_all_of_a_tag_answer_and_are_joined_by_name(tmp_path: Path) -> None:
    """Who fails or takes too long is said so, and the others are heard all the same."""
    with runtime_at(tmp_path) as runtime:
        for name in ("dora", "ben", "cat"):
            agent(runtime, name, f"{name} is there.", tags="worker")
        agent(runtime, "eve", ModelUnreachable("no line"), tags="worker")
        agent(runtime, "fay", "Not asked.", tags="clerk")
        ada = agent(runtime, "ada", reach="tags: [worker, clerk]", tags="worker")
        turn = does(ada, "send_message_to_all", tags=["worker"], text="Are you there?")
        assert result(ada) == (
            "ben: ben is there.\n\ncat: cat is there.\n\ndora: dora is there.\n\n"
            "eve did not answer: model_error: no line."
        )
        assert turn.others.messages == 4
        none = does(ada, "send_message_to_all", tags=["boss"], text="Are you there?")
        assert "no agent has the tag boss; there are clerk, worker" in (
            none.tool_calls[0].error or ""
        )


def test_who_takes_too_long_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its turn ends soundly, and the sender goes on."""
    monkeypatch.setattr(seat, "AGENT_ANSWER_SECONDS", 20.0)
    clock = FrozenClock()
    with runtime_at(tmp_path, clock) as runtime:
        ada, ben = agent(runtime, "ada"), agent(runtime, "ben")

        def slow(_: ModelRequest) -> Answer:
            clock.advance(seconds=30)
            return call("core_append", block="human", content="x")

        model_of(ben).say(slow)
        turn = does(ada, "send_message_to", agent="ben", text="Quick!")
        assert "no answer within 20 seconds" in (turn.tool_calls[0].error or "")
        assert ben.state.turns.newest(1)[0].stop_reason == "interrupted"


def test_one_that_another_process_has_is_said_to_be_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a wait."""
    monkeypatch.setattr(post, "AGENT_BUSY_SECONDS", 0.5)
    with runtime_at(tmp_path) as runtime:
        runtime.agent("ben", member("ben"), model="scripted/echo").close()
    holds = """
    import sys
    from pagemind.runtime.runtime import Runtime
    with Runtime(sys.argv[1]) as runtime:
        runtime.agent("ben", create=False)
        print("ready", flush=True)
        sys.stdin.readline()
    """
    child = python(holds, tmp_path)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    with runtime_at(tmp_path, SystemClock()) as runtime:
        ada = agent(runtime, "ada")
        turn = does(ada, "send_message_to", agent="ben", text="Hello.")
        assert "it is in use now" in (turn.tool_calls[0].error or "")
    child.communicate("go\n", timeout=60)


def test_what_is_sent_again_after_a_kill_is_the_same_message(tmp_path: Path) -> None:
    """The turn that was cut off is taken up, the model asks again, and the other one, who had
    answered, is not asked twice; a repeated question is."""
    with runtime_at(tmp_path) as runtime:
        ada, ben = agent(runtime, "ada"), agent(runtime, "ben", "One.", "Two.")
        ask = call("send_message_to", agent="ben", text="How many?")

        class Killed(BaseException):
            pass

        answered = ada.team._joined  # type: ignore[attr-defined]  # a member that is found at run time

        def die(turns: object) -> None:
            ada.team._joined = answered  # type: ignore[attr-defined]  # a member that is found at run time
            raise Killed

        ada.team._joined = die  # type: ignore[attr-defined]  # a member that is found at run time
        model_of(ada).say(ask)
        with pytest.raises(Killed):
            ada.send("Ask ben.", id="1")
        model_of(ada).say(ask, ask, "Done.")
        turn = ada.send("Ask ben.", id="1")
        tools = [m.text for m in ada.state.journal.of_turn(turn.turn) if m.role == "tool"]
        assert [text for text in tools if text in ("One.", "Two.")] == ["One.", "Two."]
        assert len(ben.state.turns.newest(9)) == 2


def test_the_api_sends_in_an_agents_name(tmp_path: Path) -> None:
    """As its functions do."""
    with runtime_at(tmp_path) as runtime:
        ada, ben = agent(runtime, "ada"), agent(runtime, "ben", "Hello.", tags="worker")
        answer = ada.send_message_to("ben", "Hi.")
        assert answer is not None
        assert (answer.agent, answer.text, answer.why) == ("ben", "Hello.", "")
        assert ada.send_message_to("ben", "Later.", wait=False) is None
        model_of(ben).say("All.")
        assert [each.text for each in ada.send_message_to_all(["worker"], "All?")] == ["All."]
        (mail,) = runtime.post.mailbox.all()
        assert isinstance(mail.event, AgentMessage)
        assert mail.event.metadata["answer"] == "later"


def test_what_another_writes_on_a_shared_block_is_seen_after_its_answer(tmp_path: Path) -> None:
    """In the same turn."""
    with runtime_at(tmp_path) as runtime:
        made = member("x", reach=ALL)
        text = json.dumps({**made.raw, "blocks": {"plan": {"shared": "plan", "limit": 200}}})
        ada, ben = (
            runtime.agent(n, parse_definition(text), model=Teller()) for n in ("ada", "ben")
        )
        model_of(ben).say(call("core_append", block="plan", content="Ben was here."), "Done.")
        does(ada, "send_message_to", agent="ben", text="Sign the plan.")
        assert "Ben was here." in "\n".join(model_of(ada).requests[-1].system)
