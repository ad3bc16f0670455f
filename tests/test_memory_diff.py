"""MemoryDiff: what changed in memory between two moments, rewound ones among them."""

import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kernel_kit import agent_at, sentence, small

from pagemind.runtime.agent import Agent
from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.errors import NotFound, UserError
from pagemind.runtime.memory_diff import MemoryDiff, memory_diff
from pagemind.runtime.moment import Moments
from pagemind.runtime.testing import ScriptedModel, call


@pytest.fixture
def ada(tmp_path: Path) -> Iterator[tuple[Agent, ScriptedModel]]:
    model = ScriptedModel(after="Yes.", summary=lambda _: "They talked.")
    with agent_at(tmp_path, model, small(2048, "core_append", "archival_insert")) as agent:
        yield agent, model


def diff(agent: Agent, a: str, b: str = "now") -> MemoryDiff:
    moments = Moments("ada", agent.state, agent.zone)
    return memory_diff(agent.state, moments.find(a), moments.find(b))


def say(agent: Agent, model: ScriptedModel, *answers: Any) -> None:
    model._answers = iter([*answers, "Done."])
    agent.send("Go on.")


def test_an_edit_of_a_block_is_a_unified_diff(ada: tuple[Agent, ScriptedModel]) -> None:
    """Between the message before it and the one after; not before, and not after that."""
    agent, model = ada
    agent.send("Hello.")  # m1, m2
    say(agent, model, call("core_append", block="human", content="Name: Sam"))  # m3 to m6
    say(agent, model, call("core_append", block="human", content="Boat: Nomad"))  # m7 to m10
    (change,) = diff(agent, "m2", "m6").blocks
    assert (change.before, change.after, change.versions) == ("", "Name: Sam", (1, 2))
    (change,) = diff(agent, "m6").blocks
    assert change.unified()[:2] == ["--- human, version 2", "+++ human, version 3"]
    assert change.unified()[3:] == [" Name: Sam", "+Boat: Nomad"]
    assert not diff(agent, "m1", "m2")
    assert not diff(agent, "m10")


def test_a_change_and_its_opposite_are_no_change(ada: tuple[Agent, ScriptedModel]) -> None:
    """What is compared is what stood there at the two moments."""
    agent, model = ada
    agent.send("Hello.")
    say(agent, model, call("core_append", block="human", content="Name: Sam"))
    agent.restore_block("human", 1)
    assert not diff(agent, "m2")
    assert diff(agent, "m4").blocks[0].after == ""


def test_passages_are_added_edited_and_retired(ada: tuple[Agent, ScriptedModel]) -> None:
    """Each with its text of then; one that came and went in between is in none of them."""
    agent, _ = ada
    passages = agent.state.passages
    made = {"author": "user", "reason": "by hand"}
    agent.insert("The boat is called Nomad.", tags=["boat"])
    agent.insert("Berth 41.")
    agent.send("Hello.")  # m1, m2
    agent.insert("A dog called Rex.")
    agent.insert("A mistake.")
    passages.edit(2, "Berth 42.", seq=2, **made)
    passages.set_status(1, "retired", seq=2, **made)
    passages.set_status(4, "retired", seq=2, **made)
    agent.send("And now?")
    found = diff(agent, "m1")
    assert [each.text for each in found.added] == ["A dog called Rex."]
    assert [(old.text, new.text) for old, new in found.edited] == [("Berth 41.", "Berth 42.")]
    assert [(each.id, each.tags) for each in found.retired] == [("a1", ("boat",))]
    assert not diff(agent, "m2").edited


def test_a_flush_adds_pages_and_another_summary(ada: tuple[Agent, ScriptedModel]) -> None:
    """With how many messages and turns lay between."""
    agent, _ = ada
    for number in range(4):
        agent.send(sentence(number))
    agent.pin("m1")
    agent.flush()
    agent.send("And now?")  # m9, m10
    found = diff(agent, "m1", "m8")
    assert [page.short_id for page in found.pages] == [
        f"p{n + 1}" for n in range(agent.state.pages.last_number)
    ]
    assert found.summary is not None
    assert (found.summary.before, found.summary.after) == ("", "They talked.")
    assert found.pinned == ("m1",)
    assert (found.messages, found.turns) == (7, 3)
    assert not diff(agent, "m8").pages
    agent.unpin("m1")
    assert diff(agent, "m9").unpinned == ("m1",)
    assert not diff(agent, "m2", "m7")


def test_a_rewind_is_a_change_like_any_other(ada: tuple[Agent, ScriptedModel]) -> None:
    """What it took back is gone at the later moment, its pages are hidden; what was is still
    compared as it was."""
    agent, model = ada
    agent.send("Hello.")  # m1, m2
    say(agent, model, call("core_append", block="human", content="Name: Sam"))  # to m6
    say(agent, model, call("archival_insert", content="Nomad is a boat."))  # to m10
    for number in range(4):
        agent.send(sentence(number))  # to m18
    agent.flush()
    agent.rewind(2)
    agent.send("Hello again.")
    assert not diff(agent, "m2")
    then = diff(agent, "m18")
    assert then.blocks[0].after == ""
    assert [each.text for each in then.retired] == ["Nomad is a boat."]
    assert then.hidden > 0
    assert not then.pages
    before = diff(agent, "m2", "m18")
    assert before.blocks[0].after == "Name: Sam"
    assert [each.text for each in before.added] == ["Nomad is a boat."]
    assert len(before.pages) == then.hidden


def test_a_time_ends_before_what_came_after_it(ada: tuple[Agent, ScriptedModel]) -> None:
    """Also where no message lies between: a person edited by hand in the evening."""
    agent, model = ada
    clock = agent.state.clock
    assert isinstance(clock, FrozenClock)
    say(agent, model, call("core_append", block="human", content="Name: Sam"))
    clock.advance(hours=5)
    agent.restore_block("human", 1)
    agent.insert("A note.")
    clock.advance(days=1)
    agent.send("Hello.")
    assert diff(agent, "2026-01-05T10:00", "2026-01-05").blocks[0].after == ""
    assert diff(agent, "2026-01-05T10:00", "2026-01-05").added
    assert not diff(agent, "2026-01-05T13:00", "2026-01-05T13:30")
    assert not diff(agent, "2026-01-05")


def test_moments_that_are_not_there_or_turned_round_are_refused(
    ada: tuple[Agent, ScriptedModel],
) -> None:
    """In one line that says what would do."""
    agent, _ = ada
    with pytest.raises(NotFound, match="nothing was said to ada yet"):
        diff(agent, "m1")
    agent.send("Hello.")
    with pytest.raises(UserError, match="m1 is before m2"):
        diff(agent, "m2", "m1")
    with pytest.raises(NotFound, match="ada has no message m3; its messages are m1"):
        diff(agent, "m1", "m3")


EDIT = st.one_of(
    st.tuples(st.just("append"), st.text("ab", min_size=1, max_size=4)),
    st.tuples(st.just("insert"), st.integers(1, 9)),
    st.tuples(st.just("edit"), st.integers(1, 4)),
    st.tuples(st.just("retire"), st.integers(1, 4)),
    st.tuples(st.just("rewind"), st.integers(0, 12)),
    st.tuples(st.sampled_from(["say", "flush", "back"]), st.just(0)),
)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(edits=st.lists(EDIT, min_size=3, max_size=10))
def test_a_diff_leads_from_what_was_seen_then_to_what_is_seen_now(
    edits: list[tuple[str, Any]],
) -> None:
    """Memory is photographed after every message: any two photographs differ by their diff."""
    with tempfile.TemporaryDirectory() as folder:
        model = ScriptedModel(after="Yes.", summary=lambda _: "They talked.")
        with agent_at(Path(folder), model, small(2048, "core_append")) as agent:
            agent.send("Hello.")
            seen = {}
            for kind, value in edits:
                _do(agent, model, kind, value)
                seen[agent.state.journal.last_seq] = _photograph(agent)
            seqs = sorted(seen)
            for a, b in [(seqs[0], seqs[-1]), *pairwise(seqs)]:
                found = diff(agent, f"m{a}", f"m{b}")
                blocks, passages = (dict(part) for part in seen[a])
                blocks |= {each.id: each.after for each in found.blocks}
                for gone in found.retired:
                    del passages[gone.id]
                passages |= {each.id: each.text for each in found.added}
                passages |= {new.id: new.text for _, new in found.edited}
                assert (blocks, passages) == seen[b]


def _photograph(agent: Agent) -> tuple[dict[str, str], dict[str, str]]:
    """Every block and every active passage."""
    return (
        {block.label: block.value for block in agent.state.blocks.all()},
        {each.short_id: each.text for each in agent.state.passages.newest(99)},
    )


def _do(agent: Agent, model: ScriptedModel, kind: str, value: Any) -> None:
    seq = agent.state.journal.last_seq
    if kind == "append":
        say(agent, model, call("core_append", block="human", content=value))
    elif kind == "insert":
        agent.insert(sentence(value))
    elif kind == "edit":
        agent.state.passages.edit(value, f"Edited at {seq}.", author="user", reason="e", seq=seq)
    elif kind == "retire":
        agent.state.passages.set_status(value, "retired", author="user", reason="r", seq=seq)
    elif kind == "flush":
        agent.flush()
    elif kind in ("rewind", "back"):
        try:
            if kind == "back":
                agent.bring_back()
            else:
                agent.rewind(value)
        except UserError:
            return
    else:
        agent.send(sentence(seq))
