"""What belongs to the hits of a search: evidence beneath its insight, and what is linked."""

from datetime import UTC
from pathlib import Path

from sleep_kit import NOW, Bed, bed

from pagemind.runtime.passage import Facets
from pagemind.runtime.related import fold, linked
from pagemind.runtime.services import Hit, SearchFilters, SearchResult
from pagemind.runtime.testing import ScriptedModel, call, temporary_runtime
from pagemind.runtime.tiers.results import lay_out

__all__ = ["bed"]


def hit(id: str, kind: str = "note") -> Hit:
    return Hit(id, "archival", f"text of {id}", 1.0, kind=kind, said_at=NOW)


def insight(bed: Bed, *evidence: str) -> str:
    made = bed.note(f"Insight on {evidence}.", Facets("insight", level=1))
    bed.state.lineage.add(made.short_id, evidence, "evidence", seq=0)
    return made.short_id


def test_evidence_stands_beneath_its_insight_once(bed: Bed) -> None:
    """At the place of the best of them; what was not found is not brought in."""
    for n in range(1, 6):
        bed.note(f"Note {n}.")
    low, other = insight(bed, "a1", "a2"), insight(bed, "a2", "a9")
    high = insight(bed, low, "a3")
    found = [hit("a2"), hit("a5"), hit(low, "insight"), hit("a3"), hit(other, "insight")]
    folded = [(each.id, each.under) for each in fold(bed.state, found)]
    assert folded == [(low, ""), ("a2", low), ("a5", ""), ("a3", ""), (other, "")]
    nested = fold(bed.state, [*found, hit(high, "insight")])
    assert [(each.id, each.under) for each in nested] == [
        (high, ""),
        (low, high),
        ("a2", low),
        ("a3", high),
        ("a5", ""),
        (other, ""),
    ]


def test_links_lead_only_to_what_whoever_sees_the_hit_sees(bed: Bed) -> None:
    """Of the same owner, in its scope or below; nothing where the search is narrowed."""
    facets = (
        *(Facets(scope="/t"), Facets(scope="/t/p"), Facets(scope="/")),
        *(Facets(scope="/t", owner="ben"), Facets(scope="/t", cold=True), Facets(scope="/t")),
    )
    for n, each in enumerate(facets):
        bed.note(f"Note {n}.", each)
    for other in range(2, 7):
        bed.state.links.add(1, other, author="worker", seq=0)
    bed.retire(6)
    found = [hit("a1")]
    assert [(each.id, each.linked) for each in linked(bed.state, found, SearchFilters())] == [
        ("a2", "a1")
    ]
    assert linked(bed.state, [*found, hit("a2")], SearchFilters()) == []
    assert linked(bed.state, found, SearchFilters(tags=("boat",))) == []


def test_links_are_shown_within_the_budget() -> None:
    """After the hits that lead to them; a part never grows beyond its budget."""

    def count(text: str) -> int:
        return len(text.split())

    def shown(budget: int) -> str:
        hits = tuple(hit(f"a{n}") for n in range(1, 40))
        beside = (Hit("a77", "archival", "the linked one", 0.0, said_at=NOW, linked="a1"),)
        result = SearchResult(hits, 40, linked=beside)
        made = lay_out(
            result,
            part=1,
            budget_tokens=budget,
            count_tokens=count,
            timezone=UTC,
            total_name="passages",
        )
        assert count(made.text) <= budget
        assert (made.hits[-1].id == "a77") == ("a77" in made.text)
        return made.text

    assert shown(400).endswith("linked to a1: a77 2026-06-01 the linked one")
    assert "a77" not in shown(60)


def test_a_model_sees_evidence_and_links_in_its_search(tmp_path: Path) -> None:
    """The whole way, from archival_search."""
    with temporary_runtime() as runtime:
        model = ScriptedModel([call("archival_search", query="Sam boat insight"), "Done."])
        agent = runtime.agent("ada", model=model)
        agent.archival.insert("Sam has a boat.")
        agent.archival.insert("The harbour closes at nine.")
        state = agent.state
        made, _ = state.passages.insert(
            "An insight: Sam lives for the boat.",
            tags=(),
            importance=5,
            metadata={},
            seq=0,
            provenance=agent.state.passages.get([1])[1].provenance,
            author="worker",
            facets=Facets("insight", level=1),
        )
        state.lineage.add(made.short_id, ["a1"], "evidence", seq=0)
        state.links.add(1, 2, author="worker", seq=0)
        first = agent.archival.search("harbour", SearchFilters(), 1)
        assert [each.id for each in first.hits] == ["a2"]
        beside = agent.archival.gathered(first, SearchFilters()).linked
        assert [(each.id, each.linked) for each in beside] == [("a1", "a2")]
        agent.send("Search.")
        told = next(m for m in reversed(model.requests[-1].messages) if m.role == "tool").text
    lines = told.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("a3 "))
    assert lines[at + 1].startswith("  evidence of a3: a1 ")
    assert sum("a1 2" in line for line in lines) == 1
