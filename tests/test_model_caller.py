"""What a model call leaves behind: usage, cost, calibration."""

from pathlib import Path

from kernel_kit import agent_at

from pagemind.runtime.model import ModelReply, Usage
from pagemind.runtime.testing import ScriptedModel


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
