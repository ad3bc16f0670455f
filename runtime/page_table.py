"""The page table: the bounded view of the tree of pages that main context shows. Pure.

It shows the tops of the tree, one line each; where they are too many, the oldest stand together in
one line `d0`, which page_in lists. What is left of the budget goes to shortcuts to what was read
of late, and to the newest children of the newest directories. So the old is few lines and the new
is many, and every page is at most ⌈log16(pages)⌉ + 1 reads away (page_tree.read_bound), whatever
the budget. It is made anew at a flush only, so that the prompt stays the same in between.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo

from pagemind.runtime.page import Page
from pagemind.runtime.settings import GIST_TOKENS, HOT_FRACTION, HOT_LINES, PAGE_TABLE_MAX_TOKENS
from pagemind.runtime.shorten import shorten

ROOT = "d0"  # page_in of it lists the tops
_GISTS = (GIST_TOKENS, 32, 20, 12, 0)  # tokens of each gist: as long as all tops fit
_HOT_GIST = 20
_HOT_HEAD = "read of late:"

Count = Callable[[str], int]


@dataclass
class _Lines:
    """What the table shows, and what that costs. `below` holds the shown children of a line."""

    older: str = ""  # the line of the tops that have none
    tops: list[Page] = field(default_factory=list)
    gist: int = GIST_TOKENS
    below: dict[int, list[Page]] = field(default_factory=dict)  # by number of the directory
    hot: list[Page] = field(default_factory=list)

    def text(self, count: Count) -> str:
        lines = [self.older] if self.older else []
        for top in self.tops:
            lines += self._with_children(top, count)
        if self.hot:
            lines += [_HOT_HEAD, *(line(page, _HOT_GIST, count) for page in self.hot)]
        return "\n".join(lines)

    def _with_children(self, page: Page, count: Count) -> list[str]:
        """A directory stands before those of its children that are shown: the rest is older."""
        shown = self.below.get(page.number, []) if page.level else []
        lines = [line(page, self.gist, count)]
        for child in shown:
            lines += self._with_children(child, count)
        return lines


class PageTable:
    """`tops` and what `children` gives of a directory are oldest first, `hot` is hottest first.
    Times are shown in `zone`."""

    def __init__(
        self,
        tops: Sequence[Page] = (),
        children: Callable[[int], Sequence[Page]] = lambda number: (),
        hot: Sequence[Page] = (),
        *,
        zone: tzinfo = UTC,
    ) -> None:
        self._tops = [local(page, zone) for page in tops]
        self._children: Callable[[int], Sequence[Page]] = lambda number: [
            local(page, zone) for page in children(number)
        ]
        self._hot = [local(page, zone) for page in hot]

    def render(self, budget: int, count: Count) -> str:
        """The table in at most `budget` tokens; "" without pages or budget.

        A budget below the shortest line that leads to every page gets that line all the same: it
        is a few tokens, and without it what is old could not be reached.
        """
        if not self._tops or budget <= 0:
            return ""
        budget = min(budget, PAGE_TABLE_MAX_TOKENS)
        aim = budget
        while aim > 0:
            text = self._fill(aim, count)
            # Lines are counted one by one; together they may cost a token more or less.
            over = count(text) - budget
            if over <= 0:
                return text
            aim -= over
        return self._least(budget, count)

    def _fill(self, budget: int, count: Count) -> str:
        share = int(budget * HOT_FRACTION)
        lines, left = self._cover(budget, self._hot_cost(share, count), count)
        left = self._add_hot(lines, min(left, share), left, count)
        self._expand(lines, left, count)
        return lines.text(count)

    # --- the lines that must be there ---------------------------------------------------------

    def _cover(self, budget: int, hot: int, count: Count) -> tuple[_Lines, int]:
        """All tops, with gists as long as fit; and what is left of the budget. Shortcuts of `hot`
        tokens shorten gists, but not to nothing."""
        for gist in _GISTS:
            cost = sum(_cost(line(page, gist, count), count) for page in self._tops)
            if cost <= budget - (hot if gist > _HOT_GIST else 0):
                return _Lines(tops=self._tops, gist=gist), budget - cost
        if len(self._tops) == 1:
            return _Lines(tops=self._tops, gist=0), 0
        shown: list[Page] = []
        left = budget - _cost(_older(self._tops), count)
        for page in reversed(self._tops[1:]):
            cost = _cost(line(page, 0, count), count)
            if cost > left:
                break
            shown.insert(0, page)
            left -= cost
        hidden = self._tops[: len(self._tops) - len(shown)]
        return _Lines(older=_older(hidden), tops=shown, gist=0), left

    def _least(self, budget: int, count: Count) -> str:
        """No more than the way to everything."""
        spanned = _older(self._tops) if len(self._tops) > 1 else line(self._tops[0], 0, count)
        if count(spanned) <= budget:
            return spanned
        return ROOT if len(self._tops) > 1 else self._tops[0].short_id

    # --- the lines that may be there ----------------------------------------------------------

    def _hot_cost(self, share: int, count: Count) -> int:
        lines = _Lines()
        return share - self._add_hot(lines, share, share, count)

    def _add_hot(self, lines: _Lines, share: int, left: int, count: Count) -> int:
        """Shortcuts to what is hot and has no line yet, within `share`; what is left of `left`."""
        shown = {page.short_id for page in lines.tops}
        spent = _cost(_HOT_HEAD, count)
        for page in self._hot[:HOT_LINES]:
            cost = _cost(line(page, _HOT_GIST, count), count)
            if page.short_id not in shown and spent + cost <= share:
                lines.hot.append(page)
                spent += cost
        return left - spent if lines.hot else left

    def _expand(self, lines: _Lines, left: int, count: Count) -> None:
        """Children of the newest directories, the newest first, as long as a line fits."""
        waiting = [page for page in lines.tops if page.level]
        hot = {page.short_id for page in lines.hot}
        while waiting and left > 0:
            parent = waiting.pop()
            # Half for the children of a directory that has grandchildren: those are newer.
            share = left // 2 if parent.level > 1 else left
            shown: list[Page] = []
            for child in reversed(self._children(parent.number)):
                cost = _cost(line(child, lines.gist, count), count)
                if cost > share:
                    break
                if child.short_id not in hot:
                    shown.insert(0, child)
                    share, left = share - cost, left - cost
            if not shown:
                return
            lines.below[parent.number] = shown
            waiting += [child for child in shown if child.level]


def line(page: Page, gist_tokens: int, count: Count) -> str:
    """One line: id, span, for a directory how many pages it holds, and as much of its gist."""
    pages = f" {page.pages:,} pages" if page.level else ""
    head = f"{page.short_id} {span([page])}{pages}"
    if gist_tokens <= 0:
        return head
    return f"{head} {shorten(page.gist, gist_tokens, count)}"


def _older(tops: Sequence[Page]) -> str:
    pages = sum(page.pages for page in tops)
    return f"{ROOT} {span(tops)} {pages:,} older page{'s' if pages > 1 else ''}"


def span(pages: Iterable[Page]) -> str:
    """From the first message to the last; clocks may have gone back in between.

    To the minute: a day of talk fills several pages, and its date alone would not tell which.
    """
    pages = list(pages)
    first, last = min(page.first_at for page in pages), max(page.last_at for page in pages)
    begin, end = f"{first:%Y-%m-%d %H:%M}", f"{last:%Y-%m-%d %H:%M}"
    if begin == end:
        return f"[{begin}]"
    if first.date() == last.date():
        return f"[{begin}–{last:%H:%M}]"
    return f"[{begin} – {end}]"


def local(page: Page, zone: tzinfo) -> Page:
    """The page with its times as the agent's clock shows them, as on its messages."""
    return replace(
        page, first_at=page.first_at.astimezone(zone), last_at=page.last_at.astimezone(zone)
    )


def _cost(text: str, count: Count) -> int:
    return count(text + "\n")
