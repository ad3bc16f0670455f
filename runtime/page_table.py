"""The page table: the bounded view of evicted pages that main context shows. Pure.

It shows the newest pages within a token budget and counts the older ones; it is rebuilt only at a
flush, so that the prompt's prefix stays the same in between.
"""

from collections.abc import Callable, Sequence

from pagemind.runtime.page import Page

SHORTEST_LINE = 12  # tokens; so many pages at most are worth loading for a budget


class PageTable:
    """The view of an agent's newest pages in main context; rebuilt only at a flush."""

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
        shown = self.pages[len(self.pages) - len(lines) :]
        # Numbers have no gaps: what is older is known without being there.
        older = shown[0].number - 1 if shown else self.pages[-1].number
        if older:
            line = f"p1–p{older}: {older} older pages" if older > 1 else "p1: 1 older page"
            if used + count(line) <= budget:
                lines.append(line)
        return "\n".join(reversed(lines))


def _span(page: Page) -> str:
    first, last = page.first_at, page.last_at
    if first.date() == last.date():
        return f"[{first:%Y-%m-%d}]"
    return f"[{first:%Y-%m-%d} – {last:%Y-%m-%d}]"
