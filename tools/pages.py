"""Paging functions: page_in, page_find, page_pin, page_unpin."""

from datetime import datetime

from pagemind.runtime.errors import BadArguments
from pagemind.runtime.services import FoundPage, Hit, PagesFound
from pagemind.runtime.settings import FIND_PAGES, FIND_WHY_TOKENS
from pagemind.runtime.shorten import shorten
from pagemind.runtime.tokens import TokenCounter
from pagemind.runtime.tool import ToolContext, ToolResult, tool
from pagemind.tools.filtering import filters

_FOUND_LEAST = 3  # pages named, however small the window


@tool(effect="none")
def page_in(ctx: ToolContext, id: str, part: int = 1) -> ToolResult:
    """Read what has left the window, word for word.

    Args:
        id: A page such as p17, a directory of pages such as d3, a message such as m42, or a long
            passage such as a7.
        part: Which part of it, if it has several.
    """
    reading = ctx.pages.read(id, part)
    if reading.reference is None:
        return ToolResult(reading.text)
    target = reading.reference["target"]
    return ToolResult(f"[read {target} part {reading.part}]", reference=reading.reference)


@tool(effect="none")
def page_find(
    ctx: ToolContext, query: str | None = None, start: str | None = None, end: str | None = None
) -> ToolResult:
    """Find the pages that speak of something, best first, each with its gist and the line that
    fits best. page_in("p17") then reads one.

    Args:
        query: What to look for, in words. Without it: the newest pages of a time.
        start: From this day on: 2026-05-08, 2026-05, yesterday, 3 days ago.
        end: Up to and including this day.
    """
    asked = (query or "").strip() or None
    wanted = filters(ctx, start=start, end=end)
    if asked is None and wanted.start is None and wanted.end is None:
        raise BadArguments("page_find looks for words or for a time: give query, start or end")
    found = ctx.pages.find(asked, wanted, FIND_PAGES)
    text, shown = _found(found, ctx.result_tokens, ctx.now())
    return ToolResult(text, shown=shown)


@tool(effect="memory")
def page_pin(ctx: ToolContext, id: str) -> str:
    """Keep a copy of a message or page in view for good. It appears when older messages next
    leave the window.

    Args:
        id: A message such as m42, or a page such as p17.
    """
    made = ctx.pages.pin(id)
    already = "" if made.changed else " already"
    return (
        f"{made.target} is pinned{already} ({made.tokens:,} tokens; {max(0, made.free):,} are left"
        " for pins)"
    )


@tool(effect="memory")
def page_unpin(ctx: ToolContext, id: str) -> str:
    """Let go of a pinned copy; the original stays where it is.

    Args:
        id: What was pinned, such as m42 or p17.
    """
    gone = ctx.pages.unpin(id)
    return f"{gone.target} is not pinned any more ({max(0, gone.free):,} tokens are left for pins)"


def _found(found: PagesFound, budget: int, now: datetime) -> tuple[str, tuple[Hit, ...]]:
    """As many of the pages as the budget holds, and the messages whose lines are shown."""
    count = TokenCounter().count
    total = len(found.pages)
    head = f"{total} page{'' if total == 1 else 's'} among {found.searched:,}"
    tail = [f"({warning})" for warning in found.warnings]
    if found.in_context:
        ids = ", ".join(hit.id for hit in found.in_context[:FIND_PAGES])
        tail.append(f"still in view: {ids}")
    left = budget - count(head) - sum(count(line) for line in tail) - 8
    lines: list[str] = []
    shown: list[Hit] = []
    named = 0
    for page in found.pages:
        entry = _entry(page, now)
        cost = sum(count(line) + 1 for line in entry)
        if named >= _FOUND_LEAST and cost > left:
            break
        if cost > left:
            entry = [shorten(line, max(12, left // 2), count) for line in entry]
            cost = sum(count(line) + 1 for line in entry)
        left -= cost
        lines += entry
        named += 1
        if page.why is not None:
            shown.append(page.why)
    if named < total:
        head += f", the best {named}"
    return "\n".join([head, *lines, *tail]), tuple(shown)


def _entry(page: FoundPage, now: datetime) -> list[str]:
    """`p17 [2026-05-08] gist`, and under it the line that fits."""
    zone = now.tzinfo
    days = list(
        dict.fromkeys(f"{at.astimezone(zone):%Y-%m-%d}" for at in (page.first_at, page.last_at))
    )
    lines = [f"{page.id} [{' – '.join(days)}] {' '.join(page.gist.split())}"]
    if page.why is not None:
        hit = page.why
        said = shorten(" ".join(hit.text.split()), FIND_WHY_TOKENS, TokenCounter().count)
        lines.append(f"  {hit.id} {hit.speaker or hit.role}: {said}")
    return lines
