"""What was and what is, in the order that a question asks for."""

from datetime import UTC, datetime

from pagemind.runtime.passage import Facets, Passage
from pagemind.runtime.services import Hit
from pagemind.runtime.tiers.succession import in_time, newest_told
from pagemind.runtime.time_asked import TimeAsked

DAYS = [datetime(2026, month, 1, tzinfo=UTC) for month in range(1, 8)]


def fact(number: int, first: int, last: int | None, by: int | None = None) -> Passage:
    window = {"valid_from": DAYS[first], "valid_to": None if last is None else DAYS[last]}
    facets = Facets("fact", "Sam", "lives_in", f"town {number}", 1, superseded_by=by, **window)
    return Passage(number, f"id{number}", f"Sam lives in town {number}.", facets=facets)


LIVED = {1: fact(1, 0, 2, 2), 2: fact(2, 2, 4, 3), 3: fact(3, 4, None)}
BEFORE = TimeAsked("before")


def hit(id: str, score: float, seq: int = 0) -> Hit:
    return Hit(id, "archival" if id[0] == "a" else "recall", id, score, seq=seq)


def test_what_was_before_comes_first_the_latest_first() -> None:
    """Other hits keep their places, scores keep theirs."""
    hits = [hit("a3", 0.9), hit("a7", 0.8), hit("a1", 0.7), hit("a2", 0.6)]
    known = {f"a{number}": each for number, each in LIVED.items()}
    ordered = in_time(hits, known, BEFORE, DAYS[6], {})
    assert [each.id for each in ordered] == ["a2", "a7", "a1", "a3"]
    assert [each.score for each in ordered] == [0.9, 0.8, 0.7, 0.6]


def test_what_was_not_found_is_shown_for_what_took_its_place() -> None:
    """For a time that is named, what was true then is first."""
    earlier = {"a3": [LIVED[2], LIVED[1]]}
    then = TimeAsked("then", DAYS[1])
    ordered = in_time([hit("a3", 0.9)], {"a3": LIVED[3]}, then, DAYS[6], earlier)
    assert [each.id for each in ordered] == ["a1", "a3", "a2"]
    assert ordered[0].text == "Sam lives in town 1."


def test_the_message_that_told_the_new_comes_before_the_one_that_told_the_old() -> None:
    """It takes no other's place; what is ahead already stays; one that was not found is shown."""
    hits = [hit("m1", 0.9, 1), hit("m5", 0.8, 5), hit("m9", 0.7, 9)]

    def shown_for(seq: int, stale: Hit) -> Hit | None:
        return hit(f"m{seq}", stale.score, seq) if seq == 77 else None

    ordered = newest_told(hits, {1: [9]}, shown_for)
    assert [each.id for each in ordered] == ["m9", "m1", "m5"]
    assert [each.score for each in ordered] == [0.9, 0.8, 0.7]
    assert newest_told(hits, {9: [1]}, shown_for) == hits
    assert newest_told(hits, {1: [78]}, shown_for) == hits
    shown = newest_told(hits, {5: [77]}, shown_for)
    assert [each.id for each in shown] == ["m1", "m77", "m5", "m9"]
