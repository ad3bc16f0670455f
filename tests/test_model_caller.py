"""What a model call leaves behind: usage, cost, calibration."""

from pathlib import Path

import pytest
from kernel_kit import agent_at

from pagemind.runtime.model import ModelReply, Usage
from pagemind.runtime.testing import ScriptedModel
from pagemind.runtime.trace import TraceEvent


def test_a_reply_that_teaches_nothing_is_still_counted(tmp_path: Path) -> None:
    """A reply that sums several prompts does not calibrate the counter, but it was paid for."""
    reply = ModelReply("Yes.", usage=Usage(5000, 7, 3), cost=0.25, calibrates=False)
    with agent_at(tmp_path, ScriptedModel([reply])) as agent:
        before = agent.loop.caller.calibration
        result = agent.send("Hello?")
        assert result.usage == Usage(5000, 7, 3)
        assert (result.cost, result.cost_known) == (0.25, True)
        assert agent.loop.caller.calibration == before
        steps, usage, cost, known = agent.state.history.usage()
        assert (steps, usage, cost, known) == (1, Usage(5000, 7, 3), 0.25, True)


@pytest.mark.parametrize("fault", [ValueError("not ours"), OSError(5, "no luck"), KeyError("x")])
def test_a_models_own_error_ends_the_turn_by_name(tmp_path: Path, fault: Exception) -> None:
    """A model is anyone's code: what it raises never falls out of send, and retry goes on."""
    with agent_at(tmp_path, ScriptedModel([fault, "Here I am."])) as agent:
        result = agent.send("Are you there?")
        assert result.stop_reason == "model_error"
        assert result.error is not None
        assert type(fault).__name__ in result.error.message
        assert agent.retry().text == "Here I am."


def test_what_an_observer_raises_is_not_the_models(tmp_path: Path) -> None:
    """A broken pipe of whoever listens comes out as it is, and the turn is closed."""

    def observer(event: TraceEvent) -> None:
        if event.kind == "text_delta":
            raise BrokenPipeError

    with agent_at(tmp_path, ScriptedModel(["A long answer."])) as agent:
        with pytest.raises(BrokenPipeError):
            agent.send("Hello?", observer=observer)
        assert agent.state.turns.unfinished() == []
