"""protocol: heartbeat: the person reads what send_message says, and a flag asks for more steps."""

from pathlib import Path

import pytest
from kernel_kit import agent_at, last_asked, small

from pagemind.runtime.testing import ScriptedModel, call

HEARTBEAT = small(4096, "core_append", "recall_search", more="protocol: heartbeat\n")


def say(text: str, **more: object) -> object:
    return call("send_message", message=text, **more)


def test_send_message_is_the_answer(tmp_path: Path) -> None:
    """What send_message says is the turn's text, and the turn ends with it."""
    model = ScriptedModel([say("Hello Sam.")])
    with agent_at(tmp_path, model, HEARTBEAT) as agent:
        turn = agent.send("I am Sam.")
    assert (turn.text, turn.stop_reason, turn.steps) == ("Hello Sam.", "answered", 1)


@pytest.mark.parametrize("flag", [True, "true", "True", "yes", 1])
def test_a_flag_asks_for_another_step(tmp_path: Path, flag: object) -> None:
    """request_heartbeat is understood as a boolean, a word or a number, and never reaches the
    function."""
    script = [
        call("core_append", block="human", content="Sam", request_heartbeat=flag),
        say("Noted."),
    ]
    with agent_at(tmp_path, ScriptedModel(script), HEARTBEAT) as agent:
        turn = agent.send("I am Sam.")
        assert agent.state.blocks.all()[0].value == "Sam"
    assert (turn.text, turn.steps) == ("Noted.", 2)
    assert all(each.ok for each in turn.tool_calls)


@pytest.mark.parametrize("flag", [False, "false", "no", None, "0"])
def test_without_a_flag_speech_ends_the_turn(tmp_path: Path, flag: object) -> None:
    """After send_message without a heartbeat the model is not asked again."""
    model = ScriptedModel([say("Bye.", request_heartbeat=flag), "never asked"])
    with agent_at(tmp_path, model, HEARTBEAT) as agent:
        turn = agent.send("Good bye.")
    assert (turn.text, len(model.requests)) == ("Bye.", 1)


def test_a_forgotten_flag_still_yields_an_answer(tmp_path: Path) -> None:
    """A model that forgets the flag after a memory function is asked again until it speaks."""
    script = [call("core_append", block="human", content="Lives in California"), say("Noted!")]
    with agent_at(tmp_path, ScriptedModel(script), HEARTBEAT) as agent:
        turn = agent.send("I live in California.")
    assert (turn.text, turn.stop_reason) == ("Noted!", "answered")


def test_prose_still_reaches_the_person(tmp_path: Path) -> None:
    """Plain text where send_message was wanted is an answer too."""
    with agent_at(tmp_path, ScriptedModel(["Hello there."]), HEARTBEAT) as agent:
        turn = agent.send("Hello")
    assert (turn.text, turn.stop_reason) == ("Hello there.", "answered")


def test_thoughts_beside_a_call_are_private(tmp_path: Path) -> None:
    """Text beside send_message is the inner monologue and not shown."""
    from pagemind.runtime.model import ModelReply

    reply = ModelReply(
        "They seem friendly.",
        tool_calls=(say("Hi!"),),
        finish="tool_calls",
    )
    with agent_at(tmp_path, ScriptedModel([reply]), HEARTBEAT) as agent:
        assert agent.send("Hello").text == "Hi!"


def test_what_was_sent_is_found_later(tmp_path: Path) -> None:
    """A client id gives the spoken text again, and recall finds it."""
    script = [
        say("The harbour opens at six."),
        call("recall_search", query="harbour six"),
        say("At six."),
    ]
    model = ScriptedModel(script)
    with agent_at(tmp_path, model, HEARTBEAT) as agent:
        first = agent.send("When does it open?", id="q1")
    with agent_at(tmp_path, ScriptedModel(script[1:]), HEARTBEAT) as agent:
        again = agent.send("When does it open?", id="q1")
        assert again.text == first.text == "The harbour opens at six."
        found = agent.engine.search("recall", "harbour opens", _any(), 5)
        assert "The harbour opens at six." in [hit.text for hit in found.hits]


def test_speech_with_a_lone_surrogate_does_not_break_the_turn(tmp_path: Path) -> None:
    """Half an emoji in the arguments is cleaned before it is spoken or stored."""
    from pagemind.runtime.message import ToolCall

    half = ToolCall("c1", "send_message", '{"message": "cheers \\ud83c"}')
    with agent_at(tmp_path, ScriptedModel([half]), HEARTBEAT) as agent:
        turn = agent.send("Cheers!")
    assert turn.stop_reason == "answered"
    assert turn.text == "cheers \ufffd"


def test_the_flag_stands_in_every_function(tmp_path: Path) -> None:
    """Each function the model sees takes request_heartbeat."""
    model = ScriptedModel([say("Hi.")])
    with agent_at(tmp_path, model, HEARTBEAT) as agent:
        agent.send("Hello")
    tools = last_asked(model).tools
    assert tools[0].name == "send_message"
    assert all("request_heartbeat" in t.parameters["properties"] for t in tools)


def _any() -> object:
    from pagemind.runtime.services import SearchFilters

    return SearchFilters()
