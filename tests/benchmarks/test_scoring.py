"""Scores of ranked lists, computed by hand."""

import pytest
from bench_kit import benchmark

scoring = benchmark("scoring")
Scored = scoring.Scored


def test_recall_counts_the_share_of_the_evidence() -> None:
    """Two turns, one at rank 3 and one at 12: half of it in ten."""
    found = scoring.figures([Scored("c", "single", (3, 12))])
    assert (found["r@5"], found["r@10"], found["r@20"]) == (50.0, 50.0, 100.0)
    assert found["all@10"] == 0.0
    assert found["mrr"] == 33.3


def test_what_was_not_found_has_no_rank() -> None:
    """It counts as nothing everywhere."""
    found = scoring.figures([Scored("c", "single", (None,)), Scored("c", "single", (1,))])
    assert set(found.values()) == {50.0}


def test_a_budget_pays_a_header_for_each_session_and_ends_at_what_does_not_fit() -> None:
    """200 + 300 tokens and a header of 10 fit into 512; another session's header does not."""
    lines = [("t1", "s1", 200, 10), ("t2", "s1", 300, 10), ("t3", "s2", 1, 10)]
    assert scoring.held_in(["t1", "t2"], lines)[512] == 1.0
    assert scoring.held_in(["t3"], lines)[512] == 0.0
    assert scoring.held_in(["t3"], lines)[1024] == 1.0
    longer = [("t1", "s1", 600, 0), ("t2", "s1", 1, 0)]
    assert scoring.held_in(["t2"], longer)[512] == 0.0


def test_the_interval_is_over_conversations() -> None:
    """One good and one bad conversation: nothing in between is certain."""
    good = [Scored("a", "single", (1,)) for _ in range(50)]
    bad = [Scored("b", "single", (None,)) for _ in range(50)]
    assert scoring.interval(good + bad, 10) == (0.0, 100.0)
    assert scoring.interval(good, 10) == (100.0, 100.0)


def test_any_and_all_are_told_apart_for_turns_and_sessions() -> None:
    """Evidence of two turns in two sessions, one of each found."""
    found = scoring.any_or_all([Scored("c", "list", (2, None), (1, 7))])
    assert (found["turn_any@5"], found["turn_all@5"]) == (100.0, 0.0)
    assert (found["session_all@5"], found["session_all@10"]) == (0.0, 100.0)


@pytest.mark.parametrize(("stale", "rate"), [((True, False), 50.0), ((None, None), None)])
def test_stale_first_counts_only_what_changes(
    stale: tuple[bool | None, ...], rate: float | None
) -> None:
    """Questions without a stale turn do not dilute it."""
    questions = [Scored("c", "update", (1,), stale=each) for each in stale]
    assert scoring.stale_first([*questions, Scored("c", "single", (1,))]) == rate
