"""Search results as text for a model."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.services import Hit, SearchResult
from pagemind.runtime.tiers.results import format_hits

T0 = datetime(2026, 5, 8, 22, 30, tzinfo=UTC)
LISBON = ZoneInfo("Europe/Lisbon")


def words(text: str) -> int:
    return len(text.split())


def message(seq: int, text: str, **fields: object) -> Hit:
    at = T0 + timedelta(minutes=seq)
    hit = {
        "id": f"m{seq}",
        "tier": "recall",
        "text": text,
        "score": 0.5,
        "seq": seq,
        "page": "p3",
        "role": "user",
        "speaker": "Sam",
        "conversation": 2,
        "said_at": at,
    }
    return Hit(**{**hit, **fields})  # type: ignore[arg-type]  # fields are free by design


def show(*hits: Hit, part: int = 1, budget: int = 200, searched: int = 812) -> str:
    return format_hits(
        SearchResult(hits, searched),
        part=part,
        budget_tokens=budget,
        count_tokens=words,
        timezone=LISBON,
        total_name="messages",
    )


def test_hits_stand_in_time_order_under_their_conversation_and_local_date() -> None:
    """Best first decides what is shown, time how; a date is written once."""
    text = show(
        message(40, "Third."),
        message(2, "First."),
        message(3, "Second,\n  on two lines.", page=None),
        message(31, "After midnight in Lisbon.", conversation=3),
    )
    assert text.splitlines() == [
        "4 matches among 812 messages",
        "-- conversation 2, Friday 8 May 2026",
        "m2 (p3) 23:32 Sam: First.",
        "m3 23:33 Sam: Second, on two lines.",
        "-- conversation 3, Saturday 9 May 2026",
        "m31 (p3) 00:01 Sam: After midnight in Lisbon.",
        "-- conversation 2, Saturday 9 May 2026",
        "m40 (p3) 00:10 Sam: Third.",
    ]


def test_what_is_in_context_is_not_repeated() -> None:
    """Marked, with its id."""
    assert "m5 23:35 Sam: [in context]" in show(
        message(5, "Long. " * 90, in_context=True, page=None)
    )


def test_nothing_found_says_among_how_many() -> None:
    """An honest zero."""
    assert show() == "0 matches among 812 messages"
    assert show(searched=1_234_567) == "0 matches among 1,234,567 messages"
    assert show(message(1, "x")).startswith("1 match among")


def test_parts_cover_every_hit_once_best_first_within_the_budget() -> None:
    """part 1 of n, part 2 of n, …"""
    hits = [message(i, f"number {i} " + "word " * 20) for i in range(30, 0, -1)]
    first = show(*hits)
    parts = int(first.splitlines()[0].rsplit(" ", 1)[1])
    texts = [show(*hits, part=part) for part in range(1, parts + 1)]
    assert parts > 3
    assert first.startswith(f"30 matches among 812 messages, part 1 of {parts}\n")
    shown = [line.split()[0] for t in texts for line in t.splitlines() if line.startswith("m")]
    assert sorted(shown) == sorted(hit.id for hit in hits)
    assert "m30 " in texts[0]
    assert "m1 " in texts[-1]
    assert all(words(text) <= 200 for text in texts)


@pytest.mark.parametrize("part", [0, -1, 2, 99])
def test_a_part_that_is_not_there_is_said_so(part: int) -> None:
    """With the parts that are."""
    with pytest.raises(ToolFailed, match="part 1 only"):
        show(message(1, "x"), part=part)
    with pytest.raises(ToolFailed, match="parts 1 to"):
        show(*[message(i, "word " * 60) for i in range(9)], part=99)


def test_one_huge_message_is_cut_and_the_others_still_fit() -> None:
    """Its piece is named; page_in reads the whole."""
    text = show(message(1, "word " * 5000, part=3, parts=9), message(2, "short"))
    assert "m1 (p3) 23:31 Sam: [piece 3 of 9] word" in text
    assert "…" in text
    assert "m2 (p3) 23:32 Sam: short" in text
    assert words(text) <= 200


def test_passages_stand_best_first_with_their_date_and_tags() -> None:
    """Each stands alone."""
    hits = (
        Hit("a7", "archival", "Slip 14.", 0.9, said_at=T0, tags=("boat", "harbour")),
        Hit("a2", "archival", "Nomad.", 0.8, said_at=T0 + timedelta(hours=1)),
    )
    assert show(*hits).splitlines()[1:] == [
        "a7 2026-05-08 [boat, harbour] Slip 14.",
        "a2 2026-05-09 Nomad.",
    ]


def test_warnings_are_shown() -> None:
    """What was not searched is no secret."""
    result = SearchResult((), 5, ("meanings were not compared: no route",))
    text = format_hits(
        result,
        part=1,
        budget_tokens=100,
        count_tokens=words,
        timezone=UTC,
        total_name="passages",
    )
    assert text == "0 matches among 5 passages\n(meanings were not compared: no route)"
