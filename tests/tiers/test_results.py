"""Search results as text for a model."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.services import Hit, SearchResult
from pagemind.runtime.tiers.results import format_hits, lay_out, within_tokens

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


def test_messages_gists_and_passages_have_their_own_groups() -> None:
    """Ids say where each is read on: m, p, a, and a passage of a shared archive."""
    hits = (
        Hit("handbook:a7", "archival", "Slip 14.", 0.9, said_at=T0, archive="handbook"),
        Hit("p2", "pages", "Sam buys a boat.", 0.8, seq=4, page="p2", said_at=T0),
        message(40, "Third."),
        Hit("a2", "archival", "Nomad.", 0.1),
    )
    assert show(*hits).splitlines()[1:] == [
        "-- conversation 2, Saturday 9 May 2026",
        "m40 (p3) 00:10 Sam: Third.",
        "-- pages",
        "p2 2026-05-08 Sam buys a boat.",
        "-- passages",
        "handbook:a7 2026-05-08 Slip 14.",
        "a2 Nomad.",
    ]


def piece(**fields: object) -> Hit:
    surroundings = {
        "before": "Far off. The harbour is old.",
        "after": "It costs 40 a month.\nNobody knows why. " + "word " * 300,
    }
    more = {"part": 2, "parts": 3, **surroundings, **fields}
    return Hit("a7", "archival", "Slip 14 is hers.", 0.9, **more)  # type: ignore[arg-type]  # free


def test_a_piece_is_shown_with_the_sentences_around_it_while_the_budget_lasts() -> None:
    """Whole sentences; a long one that follows does not keep out those before."""
    wide = show(piece())
    assert wide.splitlines()[1] == (
        "a7 [piece 2 of 3] Far off. The harbour is old. Slip 14 is hers. It costs 40 a month."
        " Nobody knows why."
    )
    assert words(wide) <= 200
    full = show(piece(), *[message(i, "word " * 18) for i in range(4)], budget=220)
    assert "] Slip 14 is hers." in full
    assert words(full) <= 220
    assert show(piece(before="", after="")).endswith("] Slip 14 is hers.")


def test_what_was_shown_is_told() -> None:
    """The hits of this part, without those that are only marked."""
    long = "word " * 80
    hits = (message(1, long), message(2, long, in_context=True), message(3, long), message(4, "x"))
    result = SearchResult(hits, 812)
    shown = [
        [hit.id for hit in lay_out(
            result,
            part=part,
            budget_tokens=130,
            count_tokens=words,
            timezone=UTC,
            total_name="messages",
        ).hits]
        for part in (1, 2)
    ]  # fmt: skip
    assert shown == [["m1"], ["m3", "m4"]]


def test_tags_cannot_break_a_line() -> None:
    """A tag with a newline stays on the line of its passage."""
    hit = Hit("a7", "archival", "Slip 14.", 0.9, tags=("a,b", 'c"d', "e\nf"))
    assert show(hit).splitlines()[1:] == ['a7 [a,b, c"d, e f] Slip 14.']


def test_a_budget_of_tokens_instead_of_a_number() -> None:
    """The best that fit together; a first one that is too long is cut."""
    hits = [message(i, "word " * 10) for i in range(5)]
    assert [hit.id for hit in within_tokens(hits, 35, words)] == ["m0", "m1", "m2"]
    (cut,) = within_tokens(hits, 4, words)
    assert words(cut.text) <= 4
    assert cut.text.endswith("…")
    assert within_tokens(hits, 0, words) == within_tokens([], 9, words) == []
