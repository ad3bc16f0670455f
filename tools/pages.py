"""Paging functions: page_in, page_find, page_pin, page_unpin."""

from datetime import datetime

from pagemind.runtime.errors import BadArguments
from pagemind.runtime.services import FoundPage, Hit, PagesFound
from pagemind.runtime.settings import FIND_PAGES, FIND_WHY_TOKENS
from pagemind.runtime.shorten import shorten
from pagemind.runtime.tokens import TokenCounter
from pagemind.runtime.tool import ToolContext, ToolResult, tool
from pagemind.tools.filtering import filters

_HEAD_TOKENS = 16  # the first line of page_find
_LEAST_TOKENS = 40  # of a page that it names: less says nothing …
_WHY_LEAST = 12  # … nor does a shorter line …
_GIST_LEAST = 8  # … or gist


@tool(effect="none")
def page_in(ctx: ToolContext, id: str, part: int = 1) -> ToolResult:
    """Read what has left the window, word for word.

    Args:
        id: A page (p17), directory of pages (d3), message (m42) or long passage (a7).
        part: Which part, if it has several.
    """
    reading = ctx.pages.read(id, part)
    if reading.reference is None:
        return ToolResult(reading.text)
    return ToolResult(
        f"[read {reading.reference['target']} part {reading.part}]",
        reference=reading.reference,
        trust=reading.trust,
    )


@tool(effect="none")
def page_find(
    ctx: ToolContext, query: str | None = None, start: str | None = None, end: str | None = None
) -> ToolResult:
    """Find pages by what was said, best first. page_in("p17") then reads one.

    Args:
        query: What to look for, in words. Without it: the newest pages of a time.
        start: From this day on: 2026-05-08, 2026-05, yesterday.
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
    """Keep a copy in view for good, from when older messages next leave the window.

    Args:
        id: A message (m42) or a page (p17).
    """
    made = ctx.pages.pin(id)
    already = "" if made.changed else " already"
    return (
        f"{made.target} is pinned{already} ({made.tokens:,} tokens; {max(0, made.free):,} are left"
        " for pins)"
    )


@tool(effect="memory")
def page_unpin(ctx: ToolContext, id: str) -> str:
    """Let a pinned copy go; the original stays.

    Args:
        id: What was pinned.
    """
    gone = ctx.pages.unpin(id)
    return f"{gone.target} is not pinned any more ({max(0, gone.free):,} tokens are left for pins)"


def _found(found: PagesFound, budget: int, now: datetime) -> tuple[str, tuple[Hit, ...]]:
    """The pages in as many tokens, each with its share of them, and the messages that are shown."""
    count = TokenCounter().count
    total = len(found.pages)
    head = f"{total} page{'' if total == 1 else 's'} among {found.searched:,}"
    tail = [f"({warning})" for warning in found.warnings]
    if found.in_context:
        tail.append(f"still in view: {', '.join(hit.id for hit in found.in_context)}")
    left = budget - _HEAD_TOKENS - sum(count(line) + 1 for line in tail)
    lines: list[str] = []
    named: list[FoundPage] = []
    for at, page in enumerate(found.pages):
        if named and left < _LEAST_TOKENS:
            break
        entry = _entry(page, now, max(_LEAST_TOKENS, left // (total - at)))
        left -= sum(count(line) + 1 for line in entry)
        lines += entry
        named.append(page)
    if len(named) < total:
        head += f", the best {len(named)}"
    shown = tuple(page.why for page in named if page.why is not None)
    return "\n".join([head, *lines, *tail]), shown


def _entry(page: FoundPage, now: datetime, tokens: int) -> list[str]:
    """`p17 [2026-05-08] gist`, and under it the line that fits, which goes first where it is
    tight."""
    count = TokenCounter().count
    days = [f"{at.astimezone(now.tzinfo):%Y-%m-%d}" for at in (page.first_at, page.last_at)]
    start = f"{page.id} [{' – '.join(dict.fromkeys(days))}]"
    left = tokens - count(start)
    lines = []
    if page.why is not None:
        part = f"part {page.part}: " if page.part > 1 else ""
        name = f"  {part}{page.why.id} {page.why.speaker or page.why.role}: "
        room = min(FIND_WHY_TOKENS, left - count(name))
        said = shorten(" ".join(page.why.text.split()), max(_WHY_LEAST, room), count)
        lines.append(f"{name}{said}")
        left -= count(lines[0]) + 1
    gist = shorten(" ".join(page.gist.split()), left, count) if left >= _GIST_LEAST else ""
    return [f"{start} {gist}".strip(), *lines]
