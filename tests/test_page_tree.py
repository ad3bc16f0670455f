"""The tree of pages: append-only, 16 to a directory, the same however the pages came."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_kit import AT, Tree, page, words

from pagemind.runtime.gist import directory_gist
from pagemind.runtime.page import Page
from pagemind.runtime.page_tree import closing, read_bound
from pagemind.runtime.settings import FANOUT, GIST_TOKENS
from pagemind.runtime.tokens import TokenCounter


@given(st.lists(st.integers(1, 40), max_size=30))
def test_the_tree_is_the_same_however_the_pages_came(batches: list[int]) -> None:
    """One by one, in flushes of any size, or all at once: the same directories and numbers."""
    every = [page(number) for number in range(1, sum(batches) + 1)]
    at_once = [(made.short_id, made.first_seq, made.level) for made, _ in closing(every, 1, words)]
    tops: list[Page] = []
    number, grown = 1, []
    done = 0
    for size in batches:
        tops += every[done : done + size]
        done += size
        for made, children in closing(tops, number, words):
            gone = {child.short_id for child in children}
            tops = sorted(
                [*(top for top in tops if top.short_id not in gone), made],
                key=lambda top: top.first_seq,
            )
            grown.append((made.short_id, made.first_seq, made.level))
            number = made.number + 1
    assert grown == at_once


@pytest.mark.parametrize("pages", [0, 1, 15, 16, 17, 255, 256, 257, 4095, 4096, 4097])
def test_tops_are_few(pages: int) -> None:
    """At most fifteen of each level are in no directory, the oldest of them the highest."""
    tree = Tree([page(number) for number in range(1, pages + 1)])
    tops = tree.tops()
    levels = [top.level for top in tops]
    assert levels == sorted(levels, reverse=True)
    assert all(levels.count(level) < FANOUT for level in levels)
    assert sum(top.pages for top in tops) == pages


def test_a_directory_holds_the_span_of_its_children() -> None:
    """From the first message to the last, with what they cost together."""
    children = [page(number) for number in range(1, 17)]
    [(made, held)] = closing(children, 1, words)
    assert held == children
    assert (made.first_seq, made.last_seq) == (1, 16)
    assert (made.first_at, made.last_at) == (children[0].first_at, children[-1].last_at)
    assert (made.messages, made.tokens, made.pages) == (16, 160, 16)
    assert (made.short_id, made.level, made.kind) == ("d1", 1, "directory")


def test_clocks_that_jump_back_make_no_span_that_ends_before_it_begins() -> None:
    """The span holds every message of it, whatever the clock said."""
    jumpy = [page(n, at=AT - timedelta(days=n % 3 * 400)) for n in range(1, 257)]
    for made, children in closing(jumpy, 1, words):
        assert made.first_at <= made.last_at
        assert all(made.first_at <= child.first_at for child in children)
        assert all(child.last_at <= made.last_at for child in children)


def test_something_of_every_child_stands_in_the_gist() -> None:
    """A name, number or date of each page is there to the letter, in a line that is short."""
    count = TokenCounter().count
    children = [page(number) for number in range(100, 116)]
    [(made, _)] = closing(children, 1, count)
    assert all(child.keywords[0] in made.keywords for child in children)
    assert sum(child.keywords[0] in made.gist for child in children) >= 12
    assert count(made.gist) <= GIST_TOKENS


def test_gaps_in_the_numbers_do_no_harm() -> None:
    """Numbers only rise: what a rewind leaves out is missing nowhere."""
    tree = Tree([page(number * 3) for number in range(1, 40)])
    assert [child.number for child in tree.children(2)] == [n * 3 for n in range(17, 33)]


@pytest.mark.parametrize(
    ("pages", "reads"), [(1, 1), (2, 2), (16, 2), (17, 3), (256, 3), (257, 4), (4096, 4), (4097, 5)]
)
def test_the_bound_of_reads(pages: int, reads: int) -> None:
    """⌈log16(pages)⌉ + 1, in whole numbers."""
    assert read_bound(pages) == reads


def test_what_most_children_share_leads_to_none_of_them() -> None:
    """It gives way to what is the children's own."""
    children = [replace(page(n), keywords=("Ana", f"berth-{n}")) for n in range(1, 17)]
    line, words = directory_gist(children, TokenCounter().count)
    assert words[0] == "berth-1"
    assert words[-1] == "Ana"
    assert "Ana" not in line
