"""Why an agent thinks so: lineage, written down and implied, walked both ways."""

from pathlib import Path

import pytest

from pagemind.runtime.errors import NotFound
from pagemind.runtime.lineage_walk import LineageWalk
from pagemind.runtime.reviewing import Reviewing
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import ScriptedModel, call
from pagemind.runtime.why import why

DEFINITION = """
name: ada
embedding: hashing
context_window: 3072
output_reserve: 128
system: You are a test.
tools: [core_append, archival_insert]
"""


def test_what_a_model_keeps_comes_from_what_it_was_told(tmp_path: Path) -> None:
    """A passage and a block lead back to the message; the message leads on to both, and to the
    page and the summary that cover it once it is evicted."""
    path = tmp_path / "ada.yaml"
    path.write_text(DEFINITION, encoding="utf-8")
    script = [
        [
            call("archival_insert", content="Sam's boat is called Nomad."),
            call("core_append", block="human", content="Has a boat."),
        ],
        "Noted.",
        *["Yes."] * 12,
    ]
    with Runtime(tmp_path / "home", background=False) as runtime:
        agent = runtime.agent("ada", path, model=ScriptedModel(script))
        agent.send("My boat is called Nomad.", speaker="sam")
        for n in range(12):
            agent.send(f"Tell me of the tide, number {n}. " + "It comes and goes. " * 30)
        agent.flush()
        event = agent.state.turns.get(1)
        assert event is not None
        said = f"m{event.first_seq}"
        found = why(agent.state, "a1")
        assert [(each.id, each.by) for each in found.reason.because] == [(said, "sam")]
        assert found.reason.because[0].text == "My boat is called Nomad."
        assert [each.id for each in why(agent.state, "human").reason.because] == [said]
        walk = LineageWalk(agent.state)
        derived = walk.all_derived([said])
        assert {"a1", "block:human", "p1", "s1"} <= set(derived)
        assert said in walk.all_sources(["p1"])
        assert said in walk.all_sources(["s1"])
        with pytest.raises(NotFound):
            why(agent.state, "a99")
        turn = why(agent.state, "t1").reason
        assert (turn.text, turn.by) == ("My boat is called Nomad.", "sam")
        assert said in {each.id for each in turn.because}
        for absent in ("nonsense", "m99999999999999999999999", "seg99999999999999999999999", "m²"):
            with pytest.raises(NotFound):
                why(agent.state, absent)
        reviewing = Reviewing(agent.state, lambda: pytest.fail("no block is changed"))
        with pytest.raises(NotFound, match="there is no change"):
            reviewing.find("c99999999999999999999999")
