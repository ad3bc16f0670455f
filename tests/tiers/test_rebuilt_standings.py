"""Records of every standing, rebuilt: each is found where it was found before, and nowhere else."""

from dataclasses import replace

from kernel_kit import small
from portable_kit import sound

from pagemind.runtime.message import Provenance
from pagemind.runtime.passage import STANDINGS, Facets
from pagemind.runtime.reader import AgentReader
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.testing import ScriptedModel, temporary_runtime


def found(reader: AgentReader) -> dict[str, list[str]]:
    """What each kind of search finds."""
    asked = {
        "ordinary": SearchFilters(),
        **{each: SearchFilters(standings=(each,)) for each in STANDINGS},
        "team": SearchFilters(scopes=("/team",)),
        "ann": SearchFilters(viewer="ann"),
        "facts": SearchFilters(kinds=("fact",)),
    }
    return {
        name: sorted(hit.id for hit in reader.search.search("archival", "harbour", f, 50).hits)
        for name, f in asked.items()
    }


def test_a_rebuild_finds_the_same() -> None:
    """Past, cold, waiting, skills, items, scopes and what is private; a reader sees it beside."""
    made = [
        Facets(),
        Facets("fact", "Sam", "sees", "harbour"),
        Facets("insight", level=1),
        Facets("episode"),
        Facets("skill", key="harbour"),
        Facets("item", key="harbour"),
        Facets(scope="/team/project"),
        Facets(scope="/teams"),
        Facets(owner="eve"),
        Facets(cold=True),
    ]
    with temporary_runtime() as runtime:
        agent = runtime.agent("ada", small(), model=ScriptedModel(after="Yes."))
        passages = agent.state.passages
        by = {"author": "user", "seq": 0}
        for n, facets in enumerate(made):
            status = "pending" if n == 2 else "active"
            passages.insert(
                f"The harbour, {n}.",
                tags=["sea"],
                importance=5,
                metadata={},
                provenance=Provenance("model", trust=80, status=status),  # type: ignore[arg-type]  # a word
                facets=facets,
                **by,  # type: ignore[arg-type]  # two words
            )
        passages.edit(2, None, facets=replace(made[1], superseded_by=1), reason="r", **by)  # type: ignore[arg-type]  # as above
        runtime.drain(agent)
        agent.close()
        with runtime.reader("ada") as reader:
            sound(reader)
            before = found(reader)
        assert before["ordinary"] == ["a1", "a7", "a8", "a9"]  # a person sees all
        assert before["team"] == ["a7"]
        assert before["past"] == ["a2"]
        assert before["cold"] == ["a10"]
        assert before["pending"] == ["a3"]
        assert before["ann"] == ["a1", "a7", "a8"]
        with runtime.writer("ada") as writer:
            writer.rebuild(lambda *_: None)
        with runtime.reader("ada") as reader:
            sound(reader)
            assert found(reader) == before
