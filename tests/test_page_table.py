"""The page table: within its budget, and every page a few reads away, whatever the history."""

from dataclasses import replace
from datetime import timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from page_kit import AT, Tree, page, words

from pagemind.runtime.page import Page
from pagemind.runtime.page_table import PageTable
from pagemind.runtime.page_tree import read_bound
from pagemind.runtime.settings import HOT_LINES, PAGE_TABLE_MAX_TOKENS
from pagemind.runtime.tokens import TokenCounter

LONG = "“a first request that is rather long” · " + ", ".join(f"Name{n}" for n in range(20))
count = TokenCounter().count


def table_of(tree: Tree, budget: int, hot: list[Page] | None = None, counter=words) -> str:
    return PageTable(tree.tops(), tree.children, hot or []).render(budget, counter)


def ids(table: str) -> list[str]:
    return [line.split()[0] for line in table.splitlines()]


TREES: dict[int, Tree] = {}


def tree_of(pages: int) -> Tree:
    """Trees are only looked at: one for each size is enough."""
    if pages not in TREES:
        TREES[pages] = Tree([page(n, LONG if n % 3 else "") for n in range(1, pages + 1)])
    return TREES[pages]


@settings(max_examples=120, deadline=None)
@given(
    st.integers(1, 5000) | st.sampled_from([16, 17, 255, 256, 257, 4095, 4096, 4097]),
    st.integers(8, 1500),
    st.lists(st.integers(1, 5000), max_size=8, unique=True),
)
def test_every_page_is_within_the_bound_and_the_table_within_its_budget(
    pages: int, budget: int, hot: list[int]
) -> None:
    """For any history, budget and heat."""
    tree = tree_of(pages)
    warm = [tree.nodes[f"p{number}"] for number in hot if number <= pages]
    table = table_of(tree, budget, warm)
    assert words(table) <= budget
    reads = tree.reads(table)
    assert len(reads) == pages
    assert max(reads.values()) <= read_bound(pages)
    assert len(set(ids(table))) == len(ids(table))


@pytest.mark.parametrize("budget", [16, 40, 100, 250, 700, 3000])
@pytest.mark.parametrize("pages", [1, 2, 15, 16, 100, 255, 256, 1000, 4095])
def test_the_same_with_real_tokens(pages: int, budget: int) -> None:
    """Lines cost together what they cost: the budget holds for the whole text."""
    tree = tree_of(pages)
    table = table_of(tree, budget, [tree.nodes["p1"]], count)
    assert count(table) <= budget
    reads = tree.reads(table)
    assert len(reads) == pages
    assert max(reads.values()) <= read_bound(pages)


@pytest.mark.parametrize("pages", [1, 2, 16, 1000])
def test_a_budget_too_small_for_any_line_leaves_the_way_to_everything(pages: int) -> None:
    """One word: without it what is old could not be reached."""
    tree = tree_of(pages)
    table = table_of(tree, 1, counter=count)
    assert len(table.split()) == 1
    assert len(tree.reads(table)) == pages


def test_without_pages_or_budget_there_is_no_table() -> None:
    """Before the first flush nothing is shown, and nothing where the table is left out."""
    assert PageTable().render(500, words) == ""
    assert table_of(tree_of(20), 0) == ""


def test_the_old_is_few_lines_and_the_new_is_many() -> None:
    """Directories first, then the newest pages, in the order of time."""
    shown = ids(table_of(Tree([page(n) for n in range(1, 36)]), 100))
    assert shown[:2] == ["d1", "d2"]
    assert shown[2:] == [f"p{n}" for n in range(36 - len(shown[2:]), 36)]
    assert len(shown) > 5


def test_a_directory_that_just_closed_still_shows_its_newest_pages() -> None:
    """Closing changes what holds a page, not what is in view."""
    shown = ids(table_of(Tree([page(n) for n in range(1, 257)]), 120))
    assert shown[0] == "d17"
    assert {"d16", "p256", "p255"} <= set(shown)
    assert shown[1:] == [*[s for s in shown[1:] if s[0] == "d"], *[s for s in shown if s[0] == "p"]]


def test_tops_that_do_not_fit_stand_in_one_line() -> None:
    """The oldest together, with the time they span and how many pages they are."""
    table = table_of(tree_of(255), 80)
    first = table.splitlines()[0]
    assert first.startswith("d0 [2026-03-02 10:00 – 2026-03-")
    assert first.endswith("older pages")
    assert ids(table)[-1] == "p255"


def test_gists_get_shorter_before_lines_are_left_out() -> None:
    """With less room every line says less; only then lines go."""
    tree = Tree([page(n, LONG) for n in range(1, 16)])
    wide, narrow = (table_of(tree, budget, counter=count) for budget in (1200, 500))
    assert ids(wide) == ids(narrow)
    assert len(wide) > len(narrow)
    assert LONG[:20] in narrow


def test_hot_pages_get_shortcuts_and_move_nothing() -> None:
    """They come last, the hottest first; the lines before are those of a cold table."""
    tree = Tree([page(n) for n in range(1, 401)])
    hot = [tree.nodes[id] for id in ("p7", "p300", "p9", "p11", "p13", "p15")]
    table = table_of(tree, 400, hot)
    at = table.splitlines().index("read of late:")
    assert ids(table)[at + 1 :] == ["p7", "p300", "p9", "p11"][:HOT_LINES]
    tops = [top.short_id for top in tree.tops()]
    assert [id for id in ids(table)[:at] if id in tops] == tops


def test_what_has_a_line_gets_no_shortcut() -> None:
    """A top that is hot stands in the table already."""
    tree = Tree([page(n) for n in range(1, 6)])
    assert "read of late:" not in table_of(tree, 400, [tree.nodes["p5"]])


@pytest.mark.parametrize("pages", [300, 3000])
def test_what_is_loaded_does_not_grow_with_history(pages: int) -> None:
    """A table of a small window looks at the tops and the directories it expands."""
    tree = tree_of(pages)
    tree.rows = 0
    table_of(tree, 600, counter=count)
    assert tree.rows <= 16 * 2 * read_bound(pages)


def test_a_large_window_does_not_show_everything() -> None:
    """More lines than a model reads through cost tokens at every step."""
    tree = tree_of(5000)
    assert count(table_of(tree, 100_000, counter=count)) <= PAGE_TABLE_MAX_TOKENS


def test_clocks_that_jump_back_do_no_harm() -> None:
    """Lines stand in the order things were said, and no span ends before it begins."""
    tree = Tree([page(n, at=AT - timedelta(days=n)) for n in range(1, 40)])
    table = table_of(tree, 400)
    assert len(tree.reads(table)) == 39
    assert "[2026-02-14 09:00 – 2026-03-01 09:00]" in table.splitlines()[0]


def test_pages_of_one_day_are_told_apart_by_their_hours() -> None:
    """By the agent's clock: who knows when something was said knows which page it is on."""
    zone = timezone(timedelta(hours=2))
    shared = replace(page(1), first_at=AT, last_at=AT + timedelta(minutes=40))
    later = replace(page(2), first_at=AT + timedelta(hours=1), last_at=AT + timedelta(hours=20))
    lines = PageTable([shared, later], zone=zone).render(500, words).splitlines()
    assert "[2026-03-02 11:00–11:40]" in lines[0]
    assert "[2026-03-02 12:00 – 2026-03-03 07:00]" in lines[1]
