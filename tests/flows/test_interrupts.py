"""Stopping a turn keeps what was said and leaves an agent that can go on."""

from collections.abc import Callable
from pathlib import Path

import pytest
from kernel_kit import agent_at, everything, last_asked, runtime_at, small
from wire_rules import FAMILIES, check

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import ModelUnreachable, StreamBroken
from pagemind.runtime.legalise import rules_for, to_wire
from pagemind.runtime.model import ModelReply, ModelRequest
from pagemind.runtime.testing import ScriptedModel, call
from pagemind.runtime.tool import make_tool
from pagemind.runtime.trace import TraceEvent

LONG = "The tide turns at noon, and the harbour fills with small boats from the islands."


def stop_at(kind: str, cancel: CancelToken, number: int = 1) -> Callable[[TraceEvent], None]:
    """An observer that cancels at the n-th event of a kind."""
    seen: list[str] = []

    def observer(event: TraceEvent) -> None:
        seen.append(event.kind)
        if seen.count(kind) == number:
            cancel.cancel()

    return observer


def is_legal(request: ModelRequest) -> None:
    """Any provider would accept it."""
    for family in FAMILIES:
        name = {"anthropic": "anthropic/x", "gemini": "gemini/x", "mistral": "mistral/x"}
        rules = rules_for(name.get(family, f"{family}/x"))
        check(to_wire(request, rules), family, tools=bool(request.tools))


def test_text_that_was_read_stays(tmp_path: Path) -> None:
    """Stopping in mid-stream keeps what the person has read, marked, and the next turn works."""
    cancel = CancelToken()
    model = ScriptedModel([LONG, "As I said."])
    with agent_at(tmp_path, model) as agent:
        turn = agent.send("Tell me.", observer=stop_at("text_delta", cancel, 3), cancel=cancel)
        assert turn.stop_reason == "interrupted"
        kept = everything(agent)[-1]
        assert kept.role == "assistant"
        assert kept.text.endswith(" [interrupted]")
        assert LONG.startswith(kept.text.removesuffix(" [interrupted]"))
        assert turn.text == kept.text
        assert agent.send("Go on.").text == "As I said."
        is_legal(last_asked(model))


def test_nothing_said_leaves_nothing(tmp_path: Path) -> None:
    """Stopping before the first word stores no empty message."""
    cancel = CancelToken()
    model = ScriptedModel([LONG, "Yes."])
    with agent_at(tmp_path, model) as agent:
        turn = agent.send("Tell me.", observer=stop_at("model_called", cancel), cancel=cancel)
        assert (turn.stop_reason, turn.text) == ("interrupted", "")
        assert [m.role for m in everything(agent)] == ["user"]
        agent.send("And now?")
        is_legal(last_asked(model))


def test_a_broken_stream_keeps_its_text(tmp_path: Path) -> None:
    """A model that fails in mid-stream ends the turn by name, and what was read stays."""

    class Breaks(ScriptedModel):
        def complete(self, request: ModelRequest, **more: object) -> ModelReply:
            more["on_text"]("Half an ans")
            raise StreamBroken("the connection was closed")

    with agent_at(tmp_path, Breaks()) as agent:
        turn = agent.send("Tell me.")
        assert turn.stop_reason == "model_error"
        assert isinstance(turn.error, StreamBroken)
        assert everything(agent)[-1].text == "Half an ans [interrupted]"


def test_dangling_calls_get_results(tmp_path: Path) -> None:
    """Calls that were not run when the turn was stopped are answered with what is known: one on
    the world may have happened, one on memory did not."""

    def ring_bell() -> str:
        """Ring the bell."""
        return "rung"

    cancel = CancelToken()
    calls = [
        call("ring_bell", call_id="c1"),
        call("ring_bell", call_id="c2", **{}),
        call("core_append", call_id="c3", block="human", content="Sam"),
    ]
    model = ScriptedModel([calls, "Done."])
    with runtime_at(tmp_path) as runtime:
        agent = runtime.agent("ada", small(), model=model, tools=[make_tool(ring_bell)])
        turn = agent.send("Ring!", observer=stop_at("tool_returned", cancel), cancel=cancel)
        assert turn.stop_reason == "interrupted"
        results = {m.tool_call_id: m for m in everything(agent) if m.role == "tool"}
        assert results["c1"].text == "rung"
        assert "it may have happened" in results["c2"].text
        assert "it did not happen" in results["c3"].text
        assert not results["c2"].ok
        assert agent.state.blocks.all()[0].value == ""
        agent.send("Well?")
        is_legal(last_asked(model))


def test_calls_of_a_dead_process_get_results_at_load(tmp_path: Path) -> None:
    """After a kill between a call and its result the agent opens with the call answered, once."""

    class Killed(BaseException):
        pass

    def explode() -> str:
        """Explode."""
        raise Killed

    tool = make_tool(explode)
    calls = [
        call("explode", call_id="c1"),
        call("core_append", call_id="c2", block="h", content="x"),
    ]
    with runtime_at(tmp_path) as runtime:
        agent = runtime.agent("ada", small(), model=ScriptedModel([calls]), tools=[tool])
        # As after a kill: nothing closes the turn.
        agent.turns.finish = lambda *_: None
        with pytest.raises(Killed):
            agent.send("Go.")
        assert [m.role for m in everything(agent)] == ["user", "assistant"]
    for _ in range(2):
        model = ScriptedModel(["Still here."])
        with runtime_at(tmp_path) as runtime:
            agent = runtime.agent("ada", model=model, tools=[tool])
            results = [m for m in everything(agent) if m.role == "tool"]
            assert [m.tool_call_id for m in results] == ["c1", "c2"]
            assert "it may have happened" in results[0].text
            assert "it did not happen" in results[1].text
            agent.send("Are you there?")
            is_legal(last_asked(model))
            assert agent.state.turns.unfinished() == []


def test_a_fault_of_a_tool_is_a_result(tmp_path: Path) -> None:
    """A tool that raises does not end the turn: the model reads what happened."""

    def broken() -> str:
        """Always fails."""
        raise RuntimeError("no such table")

    model = ScriptedModel([call("broken"), "It failed."])
    with runtime_at(tmp_path) as runtime:
        agent = runtime.agent("ada", small(), model=model, tools=[make_tool(broken)])
        turn = agent.send("Try.")
        assert turn.text == "It failed."
        assert not turn.tool_calls[0].ok
        assert "no such table" in (turn.tool_calls[0].error or "")


def test_arguments_cut_off_by_the_limit_are_never_run(tmp_path: Path) -> None:
    """With finish "length" the last call is refused and the calls before it are run."""
    reply = ModelReply(
        tool_calls=(
            call("core_append", call_id="c1", block="human", content="One"),
            call("core_append", call_id="c2", block="human", content="Tw"),
        ),
        finish="length",
    )
    with agent_at(tmp_path, ScriptedModel([reply, "Done."])) as agent:
        turn = agent.send("Note one and two.")
        assert [each.ok for each in turn.tool_calls] == [True, False]
        assert "cut off" in (turn.tool_calls[1].error or "")
        assert agent.state.blocks.all()[0].value == "One"


def test_a_model_out_of_reach_loses_nothing(tmp_path: Path) -> None:
    """What was said stays, and the turn can be taken up when the model is back."""
    with agent_at(tmp_path, ScriptedModel([ModelUnreachable("no route"), "Hello."])) as agent:
        assert agent.send("Hello?").stop_reason == "model_error"
        assert agent.retry().text == "Hello."
        assert [m.text for m in everything(agent)] == ["Hello?", "Hello."]


def test_an_empty_completion_is_asked_again_once(tmp_path: Path) -> None:
    """A model that answers nothing is asked twice, then the turn stops by name; nothing empty is
    stored."""
    with agent_at(tmp_path, ScriptedModel(["", "  ", "", "Here."])) as agent:
        turn = agent.send("Hello?")
        assert (turn.stop_reason, turn.steps) == ("empty", 2)
        assert [m.role for m in everything(agent)] == ["user"]
        assert agent.send("Hello??").text == "Here."


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ([call("recall_search", query="x")] * 9, "repeated_call"),
        ([call("nonsense", number=n) for n in range(20)], "tool_errors"),
        ([call("recall_search", query=f"x{n}") for n in range(60)], "steps"),
    ],
)
def test_a_runaway_turn_ends_by_name(tmp_path: Path, script: list[object], reason: str) -> None:
    """Identical calls, failing calls and endless calls each end the turn with their reason."""
    definition = small(8192, more="limits: {steps: 30}\n")
    with agent_at(tmp_path, ScriptedModel(script), definition) as agent:
        turn = agent.send("Go.")
        assert turn.stop_reason == reason
        assert turn.reasons
        assert agent.send("Stop.").stop_reason != "model_error"


def test_calls_that_are_no_json_are_not_all_alike(tmp_path: Path) -> None:
    """Different unreadable arguments count as different calls, and say that they are unreadable."""
    from pagemind.runtime.message import ToolCall

    script = [ToolCall(f"c{n}", "core_append", f"Hello {n}") for n in range(5)]
    with agent_at(tmp_path, ScriptedModel([*script, "I give up."])) as agent:
        turn = agent.send("Go.")
        assert turn.stop_reason == "answered"
        assert all("not a JSON object" in (each.error or "") for each in turn.tool_calls)
        assert "Hello 3" in (turn.tool_calls[3].error or "")
