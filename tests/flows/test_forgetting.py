"""What was forgotten is gone: from every search, from prefetch, from reading, until it is brought
back."""

from dataclasses import replace
from pathlib import Path

import pytest
from kernel_kit import last_asked, runtime_at, small

from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.testing import ScriptedModel

SECRET = "The walrus key opens the lighthouse."
MORE = "prefetch: {tokens: 200}\n"


@pytest.mark.parametrize("how", ["retired", "cold", "expired"])
def test_nothing_of_what_was_forgotten_is_seen(tmp_path: Path, how: str) -> None:
    """By a person (retired), by the worker (cold), by its time (expired); written out or not."""
    model = ScriptedModel(["Who knows.", "Who knows."])
    tools = ("archival", "page_in")
    with runtime_at(tmp_path) as runtime:
        agent = runtime.agent("ada", definition=small(4096, *tools, more=MORE), model=model)
        kept, _ = agent.insert(SECRET, ttl="1 day" if how == "expired" else None)
        other, _ = agent.insert("The lighthouse has a red door.")
        runtime.drain(agent)
        agent.send("What does the walrus key open?")
        assert SECRET in str(last_asked(model).messages)
        passages, by = agent.state.passages, {"author": "user", "reason": "forgotten", "seq": 0}
        if how == "retired":
            passages.set_status(kept.number, "retired", **by)  # type: ignore[arg-type]  # words
        elif how == "cold":
            cold = replace(kept.facets, cold=True)
            passages.edit(1, None, facets=cold, **by)  # type: ignore[arg-type]  # words
        else:
            runtime.clock.advance(days=2)  # type: ignore[attr-defined]  # it is frozen
        for again in range(2):
            for query in ("walrus key", "lighthouse", None):
                hits = agent.archival.search(query, SearchFilters(), 10).hits
                assert {hit.id for hit in hits} <= {other.short_id}
            assert "walrus" not in agent.call("archival_search", {"query": "walrus key"})
            assert all(near.id != "a1" for near in agent.archival.near(SECRET))
            if not again:
                runtime.drain(agent)
        for verb, more in (("page_in", {}), ("archival_edit", {"content": "x"})):
            with pytest.raises(ToolFailed, match="there is no passage a1"):
                agent.call(verb, {"id": "a1", **more})
        agent.send("And the walrus key, what does it open?")
        assert SECRET not in str(last_asked(model).messages[-1])


@pytest.mark.parametrize("at_rest", [False, True])
def test_what_the_worker_has_planned_does_not_bring_it_back(tmp_path: Path, at_rest: bool) -> None:
    """Candidates and what was put aside that say the same are dropped; others wait on. In a chat
    (`/forget`) and beside it (`memory forget`)."""
    with runtime_at(tmp_path) as runtime:
        agent = runtime.agent("ada", definition=small(4096, "archival"), model=ScriptedModel([]))
        kept, _ = agent.insert(SECRET)
        changes = agent.state.changes
        for text in (SECRET.upper(), "The door is red."):
            changes.add("extract", "", {"text": text}, state="candidate", seq=0, trust=80)
        if at_rest:
            agent.close()
            with runtime.writer("ada") as writer:
                writer.retire(kept.number, reason="forgotten")
                changes = writer.state.changes
                left = [each.body["text"] for each in changes.in_state("candidate")]
            assert left == ["The door is red."]
            return
        agent.archival.for_person().delete(kept.number)
        assert [each.body["text"] for each in changes.in_state("candidate")] == ["The door is red."]
        assert changes.in_state("rejected")[0].error == "a1 was forgotten"
