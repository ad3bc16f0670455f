"""Every agent that ships works: it notes, keeps, finds and answers, and its window is bounded."""

from pathlib import Path

import pytest

from pagemind.runtime.definition import load_definition, shipped_definitions
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import FrozenClock, HashingEmbedder, ScriptedModel, call


@pytest.mark.parametrize("name", shipped_definitions())
def test_a_shipped_agent_lives_through_a_day(name: str, tmp_path: Path) -> None:
    """It edits a block, keeps a passage, talks until its window was flushed, and finds both."""
    definition = load_definition(name)
    block = next(label for label, spec in definition.blocks.items() if not spec.read_only)
    script = [
        call("core_append", block=block, content="The Nomad lies at berth 14."),
        call("archival_insert", content="The survey of the Nomad is due in May.", tags=["boat"]),
        "Noted.",
        *["Go on."] * 300,
    ]
    find = [
        [call("archival_search", query="survey"), call("recall_search", query="harbour gate")],
        "In May; and the gate code is 5580.",
    ]
    with Runtime(
        tmp_path, clock=FrozenClock(), embedder=HashingEmbedder(64), background=False
    ) as runtime:
        model = ScriptedModel(script, summary=lambda request: "They keep a log of the Nomad.")
        agent = runtime.agent("one", definition, model=model)
        assert agent.send("The Nomad lies at berth 14. Her survey is due in May.").text == "Noted."
        agent.send("The code of the harbour gate is 5580.")
        while agent.state.pages.count() < 2:
            agent.send("A quiet watch. " + "Nothing to report from the pier. " * 60)
        pressure = agent.queue_manager.measure()
        assert pressure.used <= pressure.usable
        assert "berth 14" in agent.context.core.get(block).value
        agent.close()
        again = runtime.agent("one", model=ScriptedModel(find))
        answer = again.send("When is the survey, and what opens the gate?")
        assert answer.text == "In May; and the gate code is 5580."
        found = [m.text for m in again.state.journal.of_turn(answer.turn) if m.role == "tool"]
        assert "due in May" in found[0]
        assert "5580" in found[1]
