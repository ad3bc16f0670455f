"""Links: made to what is near, both ways, and what a model may say about the records around."""

from pathlib import Path
from typing import Any

import pytest
from sleep_kit import Bed, answering, bed, made

from pagemind.runtime.passage import Facets
from pagemind.runtime.sleep import link
from pagemind.runtime.sleep.link import Link

__all__ = ["bed"]


def others(bed: Bed, number: int) -> list[int]:
    return sorted(link.other(number) for link in bed.state.links.of([number]).get(number, ()))


def test_a_new_record_is_linked_to_what_is_near_both_ways(bed: Bed) -> None:
    """Without a model; what is far, of another owner, past or a skill is not; each once."""
    bed.note("Sam's red boat lies in the harbour")
    bed.note("The old red boat lies in the harbour", Facets(owner="ben"))
    bed.note("Sam's boat lies in the harbour of Porto", Facets(cold=True))
    bed.note("The boat lies in Sam's harbour", Facets("skill", key="boat"))
    bed.note("Quarterly taxes are due on Friday")
    bed.note("Sam's blue boat lies in the harbour", Facets(scope="/boats"))
    context = bed.run(Link())
    assert (others(bed, 1), others(bed, 6)) == ([6], [1])
    assert [others(bed, n) for n in (2, 3, 4, 5)] == [[], [], [], []]
    assert context.report.done == {"linked": 1}
    assert not Link().due(bed.context())


def test_siblings_of_a_scope_are_not_linked(bed: Bed) -> None:
    """Whoever sees the one may not see the other."""
    bed.note("Sam's red boat lies in the harbour", Facets(scope="/app"))
    bed.note("Sam's blue boat lies in the harbour", Facets(scope="/apple"))
    bed.run(Link())
    assert others(bed, 1) == []


def test_of_what_was_there_before_only_the_newest_are_looked_at(
    bed: Bed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each costs an embedding."""
    monkeypatch.setattr(link, "LINK_BACK", 1)
    for color in ("red", "blue", "green"):
        bed.note(f"Sam's {color} boat lies in the harbour")
    bed.run(Link())
    assert (others(bed, 1), others(bed, 3)) == ([3], [1, 2])


def test_without_an_embedder_they_wait(tmp_path: Path) -> None:
    """Nothing is passed over."""
    with made(tmp_path, embeds=False) as bed:
        bed.note("Sam's red boat lies in the harbour")
        bed.note("Sam's blue boat lies in the harbour")
        bed.run(Link())
        bed.embeds = True
        bed.run(Link())
        assert others(bed, 1) == [2]


def test_a_model_may_add_tags_and_context_to_what_is_around(bed: Bed) -> None:
    """Once some were linked; each change is a version, by numbers that it was shown. What a person
    said stays as it is."""
    for n in range(11):
        bed.note(f"Sam's boat number {n} lies in the harbour", tags=("boat",))
    bed.note("Sam's boat lies in the harbour, Sam said", trust=100)
    changes: list[Any] = [
        {
            "id": 1,
            "tags": ["fleet", "x" * 99, 7, "</b>", "Evergreen"],
            "context": "One of many boats of Sam.",
        },
        {"id": "2", "tags": [], "context": "Bought in 1999 by Ana."},
        {"id": 99, "tags": ["fleet"], "context": ""},
        {"id": 12, "tags": ["fleet"], "context": ""},
        "none",
    ]
    model = answering({"changes": changes})
    bed.run(Link(), model)
    first = bed.record(1)
    assert (first.tags, first.version) == (("boat", "fleet"), 2)
    assert first.metadata == {"context": "One of many boats of Sam."}
    assert [bed.record(n).version for n in (2, 12)] == [1, 1]
    bed.run(Link(), model)
    assert len(model.requests) == 1


@pytest.mark.parametrize("answer", ["Certainly!", {"changes": {}}, []])
def test_prose_changes_nothing(bed: Bed, answer: Any) -> None:
    """The links stand all the same."""
    for n in range(12):
        bed.note(f"Sam's boat number {n} lies in the harbour")
    bed.run(Link(), answering(answer))
    assert {bed.record(n).version for n in range(1, 13)} == {1}
    assert others(bed, 1)
