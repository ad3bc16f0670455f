"""The archival functions, over a small fake of the service."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from pagemind.runtime.errors import BadArguments, ToolFailed
from pagemind.runtime.keeping import PLAIN, Keeping
from pagemind.runtime.passage import Passage
from pagemind.runtime.services import Hit, Near, SearchFilters, SearchResult
from pagemind.runtime.tool import Tool, ToolContext
from pagemind.tools.archival import (
    archival_delete,
    archival_edit,
    archival_insert,
    archival_search,
)

NOW = datetime(2026, 5, 8, 15, 0, tzinfo=UTC)


class FakeArchival:
    """Passages in a dict."""

    def __init__(self) -> None:
        self.kept: dict[int, Passage] = {}
        self.filters = SearchFilters()

    def search(self, query: str | None, filters: SearchFilters, limit: int) -> SearchResult:
        self.filters = filters
        hits = [
            Hit(p.short_id, "archival", p.text, 1.0, said_at=NOW, tags=p.tags)
            for p in self.kept.values()
            if (query or "") in p.text
        ]
        return SearchResult(tuple(hits[:limit]), len(self.kept))

    def gathered(self, result: SearchResult, filters: SearchFilters) -> SearchResult:
        return result

    def near(self, text: str) -> list[Near]:
        return [
            Near(p.short_id, 0.95, p.text) for p in self.kept.values() if p.text[:9] == text[:9]
        ]

    def insert(
        self,
        text: str,
        *,
        tags: Sequence[str] = (),
        importance: float | None = None,
        metadata: Mapping[str, Any] | None = None,
        keeping: Keeping = PLAIN,
    ) -> tuple[Passage, bool]:
        for passage in self.kept.values():
            if passage.text == text:
                return passage, False
        number = len(self.kept) + 1
        self.kept[number] = Passage(
            number, "x", text, tuple(tags), importance, dict(metadata or {})
        )
        return self.kept[number], True

    def edit(self, number: int, text: str) -> Passage:
        old = self._find(number)
        self.kept[number] = replace(old, text=text, version=old.version + 1)
        return self.kept[number]

    def delete(self, number: int) -> Passage:
        self._find(number)
        return self.kept.pop(number)

    def count(self) -> int:
        return len(self.kept)

    def _find(self, number: int) -> Passage:
        if number not in self.kept:
            raise ToolFailed(f"there is no passage a{number}")
        return self.kept[number]


def call(tool: Tool, archival: FakeArchival, **arguments: Any) -> str:
    """As the executor calls it: validated first."""
    nothing: Any = None
    ctx = ToolContext("ada", nothing, nothing, archival, nothing, lambda: NOW, 300, 1)
    result = tool.function(ctx, **tool.validate(arguments))
    return result if isinstance(result, str) else result.text


def test_what_is_stored_is_found_by_its_id() -> None:
    """With tags once each, importance and metadata."""
    archival = FakeArchival()
    stored = call(
        archival_insert,
        archival,
        content=" The boat lies in slip 14. ",
        tags=["boat", " boat", "", "harbour"],
        importance=7,
        metadata={"source": "letter"},
    )
    assert stored == "stored as a1"
    passage = archival.kept[1]
    assert passage.text == "The boat lies in slip 14."
    assert (passage.tags, passage.importance) == (("boat", "harbour"), 7)
    assert passage.metadata == {"source": "letter"}
    assert call(archival_search, archival, query="slip", tags=["boat"]).splitlines() == [
        "1 match among 1 passage",
        "a1 2026-05-08 [boat, harbour] The boat lies in slip 14.",
    ]
    assert archival.filters.tags == ("boat",)


def test_the_same_text_again_names_the_passage_that_holds_it() -> None:
    """Nothing is stored twice."""
    archival = FakeArchival()
    call(archival_insert, archival, content="Slip 14.")
    again = call(archival_insert, archival, content="Slip 14.")
    assert again == "this text is stored already, as a1"
    assert archival.count() == 1


def test_what_says_nearly_the_same_is_named_with_the_new_id() -> None:
    """So that the model can edit instead."""
    archival = FakeArchival()
    call(archival_insert, archival, content="The boat lies in slip 14.")
    again = call(archival_insert, archival, content="The boat lies in berth 14.")
    assert again.splitlines() == [
        "stored as a2",
        "nearly the same as a1: The boat lies in slip 14.",
    ]


def test_a_search_may_be_narrowed() -> None:
    """Tags of which one will do, importance, days; a 0 that a weak model fills in is none."""
    archival = FakeArchival()
    call(
        archival_search,
        archival,
        **{"query": "x", "any_tags": ["a,b", 'c"d'], "importance": 7, "end": "2026-05-07"},
    )
    assert archival.filters == SearchFilters(
        any_tags=("a,b", 'c"d'), importance_from=7, end=datetime(2026, 5, 8, tzinfo=UTC)
    )
    call(archival_search, archival, query="x", importance=0)
    assert archival.filters == SearchFilters()


@pytest.mark.parametrize("id", ["a1", "A1", "1", " a1 ", "[a1]", "#1"])
def test_ids_are_read_generously(id: str) -> None:
    """As models write them."""
    archival = FakeArchival()
    call(archival_insert, archival, content="Slip 14.")
    assert call(archival_edit, archival, id=id, content="Slip 15.") == "a1 is now version 2"
    assert archival.kept[1].text == "Slip 15."
    assert call(archival_delete, archival, id=id) == "a1 is deleted"
    assert archival.count() == 0


def test_a_number_will_do_for_an_id() -> None:
    """7 is "7" is a7."""
    archival = FakeArchival()
    call(archival_insert, archival, content="Slip 14.")
    assert call(archival_delete, archival, id=1) == "a1 is deleted"


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        (archival_insert, {"content": " \n"}, "content is empty"),
        (archival_insert, {"content": "x", "importance": 11}, "from 1 to 10, not 11"),
        (archival_insert, {"content": "x", "importance": "high"}, "importance"),
        (archival_insert, {"content": "x", "tags": "boat"}, "tags: input should be a valid list"),
        (archival_insert, {}, "content: field required"),
        (archival_search, {"query": "x", "start": "soon"}, "write it like 2026-05-08"),
        (archival_search, {}, "query: field required"),
        (archival_edit, {"id": "m4", "content": "x"}, "ids look like a7"),
        (archival_edit, {"id": "a1", "content": ""}, "content is empty"),
        (archival_delete, {"id": "the boat"}, "ids look like a7"),
        (archival_delete, {"id": ""}, "ids look like a7"),
        (
            archival_edit,
            {"id": "handbook:a7", "content": "x"},
            "in the shared archive handbook",
        ),
        (archival_search, {"query": "x", "importance": 11}, "from 1 to 10, not 11"),
    ],
)
def test_wrong_arguments_say_what_is_allowed(
    tool: Tool, arguments: dict[str, Any], message: str
) -> None:
    """The model can mend its call from the text alone."""
    with pytest.raises(BadArguments, match=message):
        call(tool, FakeArchival(), **arguments)


def test_an_unknown_passage_is_the_services_to_refuse() -> None:
    """Its words reach the model."""
    with pytest.raises(ToolFailed, match="no passage a9"):
        call(archival_delete, FakeArchival(), id="a9")


def test_effects_are_declared() -> None:
    """A memory function commits with its result; a search may be repeated."""
    assert {t.effect for t in (archival_insert, archival_edit, archival_delete)} == {"memory"}
    assert archival_search.effect == "none"
