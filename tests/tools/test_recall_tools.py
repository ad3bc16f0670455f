"""recall_search, over a small fake of the service."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from pagemind.runtime.errors import BadArguments, ToolFailed
from pagemind.runtime.services import Hit, SearchFilters, SearchResult
from pagemind.runtime.tool import ToolContext, ToolResult
from pagemind.tools.recall import recall_search

NOW = datetime(2026, 5, 8, 15, 0, tzinfo=ZoneInfo("Europe/Lisbon"))
HIT = Hit(
    *("m42", "recall", "The boat is red.", 0.9),
    **{"seq": 42, "page": "p3", "speaker": "Sam", "conversation": 1, "said_at": NOW},
)


@dataclass
class FakeRecall:
    """Answers with what it was given, and remembers what it was asked."""

    hits: tuple[Hit, ...] = (HIT,)
    asked: list[tuple[str | None, SearchFilters, int]] = field(default_factory=list)

    def search(self, query: str | None, filters: SearchFilters, limit: int) -> SearchResult:
        self.asked.append((query, filters, limit))
        return SearchResult(self.hits, 812)


def call(recall: FakeRecall, **arguments: Any) -> str:
    """As the executor calls it: validated first."""
    nothing: Any = None
    ctx = ToolContext("ada", nothing, recall, nothing, nothing, lambda: NOW, 300, 1)
    result = recall_search.function(ctx, **recall_search.validate(arguments))
    assert isinstance(result, ToolResult)
    assert result.shown in ((), recall.hits)
    return result.text


def test_a_search_shows_lines_with_ids_and_pages() -> None:
    """What the model needs to go on: m42, p3, who and when."""
    recall = FakeRecall()
    assert call(recall, query="boat").splitlines() == [
        "1 match among 812 messages",
        "-- conversation 1, Friday 8 May 2026",
        "m42 (p3) 15:00 Sam: The boat is red.",
    ]
    assert recall.asked[0][:2] == ("boat", SearchFilters())


def test_dates_are_whole_days_of_the_agents_zone_both_included() -> None:
    """Lisbon's 8 May begins at 23:00 UTC the day before."""
    recall = FakeRecall()
    call(recall, query="boat", start="2026-05-08", end="2026-05-08")
    filters = recall.asked[0][1]
    assert filters.start == datetime(2026, 5, 7, 23, tzinfo=UTC)
    assert filters.end == datetime(2026, 5, 8, 23, tzinfo=UTC)


def test_empty_arguments_are_as_good_as_none() -> None:
    """A weak model fills in every field."""
    recall = FakeRecall()
    call(recall, query="", role="", speaker=" ", start="", end=None)
    assert recall.asked[0][:2] == (None, SearchFilters())


@pytest.mark.parametrize(
    ("given", "meant"),
    [("User", "user"), ("human", "user"), ("AGENT", "assistant"), ("tool", "tool"), ("any", None)],
)
def test_roles_are_read_generously(given: str, meant: str | None) -> None:
    """Case and the usual other words."""
    recall = FakeRecall()
    call(recall, role=given)
    assert recall.asked[0][1].role == meant


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"role": "narrator"}, "user, assistant or tool"),
        ({"start": "soon"}, "write it like 2026-05-08"),
        ({"end": "2026-02-30"}, "write it like 2026-05-08"),
        ({"start": "2026-05-08", "end": "2026-05-07"}, "lies after"),
        ({"querry": "boat"}, "its arguments: query, role, speaker, start, end, part"),
        ({"part": "two"}, "part"),
    ],
)
def test_wrong_arguments_say_what_is_allowed(arguments: dict[str, Any], message: str) -> None:
    """The model can mend its call from the text alone."""
    with pytest.raises(BadArguments, match=message):
        call(FakeRecall(), **arguments)


def test_a_part_beyond_the_last_is_refused() -> None:
    """With the parts there are."""
    with pytest.raises(ToolFailed, match="part 1 only"):
        call(FakeRecall(), query="boat", part=2)


def test_a_search_changes_nothing() -> None:
    """It may be run again after a crash."""
    assert recall_search.effect == "none"
    assert "page_in" in recall_search.description
