"""Cutting pages: every group in one run, in order, none too long, and at a pause if one is near."""

import itertools
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from pagemind.runtime.message import Message
from pagemind.runtime.page import Group, cut

START = datetime(2026, 1, 5, 9, tzinfo=UTC)


def groups(sizes: list[int], gaps: dict[int, int] | None = None, new: int = 0) -> list[Group]:
    """One message a group; `gaps` are minutes before a group; `new` begins a conversation."""
    made, at = [], START
    for number, size in enumerate(sizes, 1):
        at += timedelta(minutes=(gaps or {}).get(number, 0))
        conversation = 2 if new and number >= new else 1
        message = Message("user", seq=number, conversation=conversation, recorded_at=at)
        made.append(Group((message,), size))
    return made


def seqs(runs: list[list[Group]]) -> list[list[int]]:
    return [[g.first_seq for g in run] for run in runs]


@given(st.lists(st.integers(0, 300), max_size=60), st.integers(1, 500), st.data())
def test_every_group_is_in_one_run(sizes: list[int], limit: int, data: st.DataObject) -> None:
    """Whatever the sizes and pauses: in order, nothing lost, and too long only alone."""
    gaps = data.draw(st.dictionaries(st.integers(1, 60), st.integers(0, 600)))
    runs = cut(groups(sizes, gaps), limit)
    assert [seq for run in seqs(runs) for seq in run] == list(range(1, len(sizes) + 1))
    for run in runs:
        assert run
        assert len(run) == 1 or sum(g.tokens for g in run) <= limit


def test_runs_are_filled() -> None:
    """Without pauses a run takes what fits."""
    assert seqs(cut(groups([10] * 7), 30)) == [[1, 2, 3], [4, 5, 6], [7]]


def test_a_long_group_is_alone() -> None:
    """A group above the limit is a page of its own and is not cut."""
    assert seqs(cut(groups([10, 99, 10]), 30)) == [[1], [2], [3]]


def test_a_cut_prefers_a_pause() -> None:
    """In the last third of a full run the widest pause decides."""
    assert seqs(cut(groups([10] * 8, {6: 30}), 60)) == [[1, 2, 3, 4, 5], [6, 7, 8]]


def test_a_new_conversation_counts_as_a_long_pause() -> None:
    """Even if it began at once."""
    assert seqs(cut(groups([10] * 8, {7: 30}, new=6), 60)) == [[1, 2, 3, 4, 5], [6, 7, 8]]


def test_a_pause_far_back_does_not_make_a_short_page() -> None:
    """A pause in the first two thirds is left alone."""
    assert seqs(cut(groups([10] * 8, {2: 300}), 60)) == [[1, 2, 3, 4, 5, 6], [7, 8]]


def turns(sizes: list[list[int]], minutes: list[int]) -> list[Group]:
    """Turn n says `sizes[n]`, all of it `minutes[n]` after the turn before."""
    made, at = [], START
    for number, (said, pause) in enumerate(zip(sizes, minutes, strict=True), 1):
        at += timedelta(minutes=pause)
        for size in said:
            message = Message("user", seq=len(made) + 1, turn=number, recorded_at=at)
            made.append(Group((message,), size))
    return made


@given(st.lists(st.lists(st.integers(1, 25), min_size=1, max_size=4), max_size=40), st.data())
def test_what_fits_half_a_page_is_not_torn(sizes: list[list[int]], data: st.DataObject) -> None:
    """Question and answer, with all that was called in between, lie in one page."""
    pauses = data.draw(
        st.lists(st.integers(0, 90), min_size=len(sizes), max_size=len(sizes)), label="pauses"
    )
    runs = cut(turns(sizes, pauses), 200)
    held = [{group.messages[0].turn for group in run} for run in runs]
    for before, after in itertools.pairwise(held):
        assert not before & after


def test_of_the_ends_of_turns_one_where_the_minute_changes() -> None:
    """Times are shown to the minute: turns of one minute should not lie in two pages."""
    apart = turns([[10, 10]] * 9, [0, 1, 1, 1, 1, 1, 1, 1, 1])
    assert [run[0].first_seq for run in cut(apart, 150)] == [1, 15]
    together = turns([[10, 10]] * 9, [0, 1, 1, 1, 1, 1, 1, 0, 1])
    assert [run[0].first_seq for run in cut(together, 150)] == [1, 13]


def test_a_turn_longer_than_a_page_is_cut_within() -> None:
    """Its beginning is not pushed off to be a short page alone, even after a pause."""
    said = turns([[10, 10], [10, 55, 50, 10]], [0, 5])
    assert seqs(cut(said, 60)) == [[1, 2, 3], [4], [5, 6]]


def test_nothing_makes_no_pages() -> None:
    """No groups, no runs."""
    assert cut([], 100) == []
