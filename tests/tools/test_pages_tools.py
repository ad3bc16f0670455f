"""page_in, page_find, page_pin and page_unpin, over a small fake of the service."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from pagemind.runtime.errors import BadArguments
from pagemind.runtime.services import FoundPage, Hit, PagesFound, PinAnswer, Reading, SearchFilters
from pagemind.runtime.tokens import TokenCounter
from pagemind.runtime.tool import Tool, ToolContext, ToolResult
from pagemind.tools.pages import page_find, page_in, page_pin, page_unpin

NOW = datetime(2026, 5, 8, 15, 0, tzinfo=ZoneInfo("Europe/Lisbon"))
AT = datetime(2026, 5, 7, 23, 30, tzinfo=UTC)  # 8 May in Lisbon
WHY = Hit("m42", "recall", "The boat is\nred.", 0.9, page="p3", speaker="Sam")
P3 = FoundPage("p3", AT, AT, "boats and berths", 0.9, WHY)
P1 = FoundPage("p1", datetime(2026, 4, 1, tzinfo=UTC), AT, "the harbour", 0.4)

FOUND = PagesFound((P3, P1), 41)
READING = Reading("[p3 part 2 of 5]\n…", 2, 5, {"target": "p3", "part": 2})


@dataclass
class FakePages:
    """Answers with what it was given, and remembers what it was asked."""

    found: PagesFound = FOUND
    reading: Reading = READING
    free: int = 700
    changed: bool = True
    asked: list[Any] = field(default_factory=list)

    def read(self, id: str, part: int) -> Reading:
        self.asked.append((id, part))
        return self.reading

    def find(self, query: str | None, filters: SearchFilters, limit: int) -> PagesFound:
        self.asked.append((query, filters))
        return self.found

    def pin(self, id: str) -> PinAnswer:
        return PinAnswer(id, 86, self.free, self.changed)

    unpin = pin


def ask(tool: Tool, pages: FakePages, tokens: int = 300, **arguments: Any) -> str | ToolResult:
    """As the executor calls it: validated first."""
    nothing: Any = None
    ctx = ToolContext("ada", nothing, nothing, nothing, pages, lambda: NOW, tokens, 1)
    return tool.function(ctx, **tool.validate(arguments))


def found(pages: FakePages, tokens: int = 300, **arguments: Any) -> ToolResult:
    result = ask(page_find, pages, tokens, **arguments)
    assert isinstance(result, ToolResult)
    return result


def test_a_reading_is_a_reference() -> None:
    """What is stored says which part was read; the text is made again when it is shown."""
    pages = FakePages()
    result = ask(page_in, pages, id="p3", part="2")
    assert isinstance(result, ToolResult)
    assert (result.text, result.reference) == ("[read p3 part 2]", pages.reading.reference)
    assert pages.asked == [("p3", 2)]


def test_what_was_not_read_is_no_reading() -> None:
    """The reason is an answer like any other."""
    result = ask(page_in, FakePages(reading=Reading("[enough]", 1, 1, None)), id="p3")
    assert isinstance(result, ToolResult)
    assert (result.text, result.reference) == ("[enough]", None)


def test_pages_are_named_with_day_gist_and_why() -> None:
    """The best first, days in the agent's zone, the line that fits on one line."""
    result = found(FakePages(), query="boat")
    assert result.text.splitlines() == [
        "2 pages among 41",
        "p3 [2026-05-08] boats and berths",
        "  m42 Sam: The boat is red.",
        "p1 [2026-04-01 – 2026-05-08] the harbour",
    ]
    assert result.shown == (WHY,)


def test_the_part_that_has_the_line_is_told() -> None:
    """Where it is not the first, which page_in reads unasked."""
    pages = FakePages(PagesFound((replace(P3, part=2), P1), 41))
    assert "  part 2: m42 Sam: The boat is red." in found(pages, query="boat").text.splitlines()


def test_nothing_found_says_among_how_many() -> None:
    """So that the model can tell an empty memory from a bad query."""
    result = found(FakePages(PagesFound((), 41)), query="boat")
    assert (result.text, result.shown) == ("0 pages among 41", ())


def test_what_is_still_in_view_is_named_by_its_id() -> None:
    """A match that never left the window needs no page."""
    result = found(FakePages(PagesFound((P3,), 41, (WHY,), ("no meanings",))), query="boat")
    assert result.text.splitlines()[0] == "1 page among 41"
    assert result.text.splitlines()[-2:] == ["(no meanings)", "still in view: m42"]


@pytest.mark.parametrize(("tokens", "least"), [(100, 2), (200, 4), (600, 8)])
def test_the_answer_keeps_to_its_tokens(tokens: int, least: int) -> None:
    """Gists and lines are cut before a page is left out; how many are left out is said."""
    long = "harbour light and boats at berth " * 12
    why = replace(WHY, text="the light of the harbour was out " * 9)
    some = tuple(FoundPage(f"p{n}", AT, AT, long, 1.0, why) for n in range(1, 9))
    text = found(FakePages(PagesFound(some, 41)), tokens, query="boat").text
    named = [line for line in text.splitlines() if line.startswith("p")]
    assert len(named) >= least
    assert text.startswith("8 pages among 41" + (f", the best {len(named)}" * (len(named) < 8)))
    assert TokenCounter().count(text) <= tokens + 8


def test_a_time_alone_is_enough() -> None:
    """Without words: the newest pages of a time, whole days of the agent's zone."""
    pages = FakePages()
    found(pages, query=" ", start="2026-05-08", end="2026-05-08")
    query, filters = pages.asked[0]
    assert query is None
    assert filters.start == datetime(2026, 5, 7, 23, tzinfo=UTC)
    assert filters.end == datetime(2026, 5, 8, 23, tzinfo=UTC)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "give query, start or end"),
        ({"query": "  "}, "give query, start or end"),
        ({"query": "x", "start": "soon"}, "write it like 2026-05-08"),
        ({"query": "x", "start": "2026-05-08", "end": "2026-05-07"}, "lies after"),
        ({"query": "x", "part": 2}, "its arguments: query, start, end"),
    ],
)
def test_bad_arguments_are_told(arguments: dict[str, Any], told: str) -> None:
    """What is wrong, and what would be right."""
    with pytest.raises(BadArguments, match=told):
        ask(page_find, FakePages(), **arguments)


def test_pinning_tells_tokens() -> None:
    """What it takes and what is left; doing it twice is no fault."""
    assert ask(page_pin, FakePages(), id="m42") == (
        "m42 is pinned (86 tokens; 700 are left for pins)"
    )
    assert "m42 is pinned already" in str(ask(page_pin, FakePages(changed=False), id="m42"))
    assert ask(page_unpin, FakePages(free=-20), id="m42") == (
        "m42 is not pinned any more (0 tokens are left for pins)"
    )
