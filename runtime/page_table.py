"""The page table: the bounded view of evicted pages that main context shows. Pure.

It shows the newest pages within a token budget and counts the older ones; it is rebuilt only at a
flush, so that the prompt's prefix stays the same in between.
"""

from collections.abc import Callable, Sequence

from pagemind.runtime.page import Page


class PageTable:
    """The view of an agent's pages in main context; rebuilt only at a flush."""

    def __init__(self, pages: Sequence[Page] = ()) -> None:
        self.pages = list(pages)

    def render(self, budget: int, count: Callable[[str], int]) -> str:
        """Lines of the newest pages within `budget` tokens, oldest first; older ones counted."""
        if not self.pages or budget <= 0:
            return ""
        lines: list[str] = []
        used = 0
        for page in reversed(self.pages):
            line = f"{page.short_id} {_span(page)} {page.gist}"
            cost = count(line + "\n")
            # Room is kept for the line that counts the older pages.
            if used + cost > budget - 16:
                break
            lines.append(line)
            used += cost
        older = len(self.pages) - len(lines)
        if older:
            first, last = self.pages[0], self.pages[older - 1]
            line = f"{first.short_id}–{last.short_id}: {older} older pages"
            if used + count(line) <= budget:
                lines.append(line)
        return "\n".join(reversed(lines))


def _span(page: Page) -> str:
    first, last = page.first_at, page.last_at
    if first.date() == last.date():
        return f"[{first:%Y-%m-%d}]"
    return f"[{first:%Y-%m-%d} – {last:%Y-%m-%d}]"
