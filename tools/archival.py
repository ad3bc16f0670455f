"""Archival functions: archival_insert, archival_search, archival_edit, archival_delete."""

import re
from collections.abc import Callable
from typing import Any

from pagemind.runtime.errors import BadArguments, UserError
from pagemind.runtime.keeping import Keeping
from pagemind.runtime.secret_scan import secrets_in
from pagemind.runtime.services import Held, Near
from pagemind.runtime.settings import SEARCH_LIMIT
from pagemind.runtime.shorten import shorten
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.template import load
from pagemind.runtime.tiers.results import lay_out
from pagemind.runtime.tokens import TokenCounter
from pagemind.runtime.tool import ToolContext, ToolResult, tool
from pagemind.tools.filtering import filters

_ID = re.compile(r"[aA]?(\d{1,18})")


@tool(effect="memory")
def archival_insert(
    ctx: ToolContext,
    content: str,
    tags: list[str] | None = None,
    importance: float | None = None,
    metadata: dict[str, Any] | None = None,
    scope: str | None = None,
    ttl: str | None = None,
) -> str:
    """Store a passage in archival memory, which has no limit and outlives every window. You see
    it again only by archival_search. If nearly the same is there, edit one and delete the other.

    Args:
        content: One self-contained fact or note, with names and dates: it is read alone later.
        tags: A few words to filter by later.
        importance: 1 (trivial) to 10 (vital).
        metadata: Further fields, such as {"source": "letter"}.
        scope: Where to put it, such as /team/project, if not where you write by default.
        ttl: How long to keep it, such as 30 days; without it for good.
    """
    keeping = _keeping(scope, ttl)
    if importance is not None and not 1 <= importance <= 10:
        raise BadArguments(f"importance is a number from 1 to 10, not {importance:g}")
    text = _content(content)
    count = TokenCounter().count
    close = ctx.archival.near(text)
    passage, new = ctx.archival.insert(
        text, tags=_tags(tags), importance=importance, metadata=metadata, keeping=keeping
    )
    if passage.standing == "pending":
        return waits(passage.short_id)
    if not new:
        return f"this text is stored already, as {passage.short_id}"
    lines = [f"stored as {passage.short_id}"]
    if passage.text != text and secrets_in(text):
        lines.append("without the secret in it, which memory does not keep")
    lines += [named_near(each, count) for each in close]
    return "\n".join(lines)


@tool(effect="none")
def archival_search(
    ctx: ToolContext,
    query: str,
    tags: list[str] | None = None,
    any_tags: list[str] | None = None,
    importance: float | None = None,
    start: str | None = None,
    end: str | None = None,
    scope: str | None = None,
    part: int = 1,
) -> ToolResult:
    """Search the passages stored with archival_insert. For what was said in a conversation, use
    recall_search.

    Args:
        query: What to look for, in words.
        tags: Only passages with all of these tags.
        any_tags: Only passages with at least one of these tags.
        importance: Only passages at least this important, 1 to 10.
        start: Stored from this day on: 2026-05-08, 2026-05, yesterday, 3 days ago.
        end: Stored up to and including this day.
        scope: Only passages in this scope, such as /team/project, or below it.
        part: Which part of the results, if there are several.
    """
    # A weak model fills in 0 for "any".
    least = importance or None
    wanted = filters(
        ctx, tags=tags, any_tags=any_tags, importance=least, start=start, end=end, scopes=scope
    )
    found = ctx.archival.search(query.strip() or None, wanted, SEARCH_LIMIT)
    shown = lay_out(
        ctx.archival.gathered(found, wanted),
        part=part,
        budget_tokens=ctx.result_tokens,
        count_tokens=TokenCounter().count,
        timezone=ctx.now().tzinfo,
        total_name="passages",
    )
    return ToolResult(shown.text, shown=shown.hits)


@tool(effect="memory")
def archival_edit(ctx: ToolContext, id: str, content: str) -> str:
    """Replace the text of a stored passage, for example when a fact changed. The old text is kept
    as history.

    Args:
        id: The passage, such as a7.
        content: The complete new text.
    """
    made = ctx.archival.edit(_number(ctx, id), _content(content))
    if isinstance(made, Held):
        return held(id.strip(), made)
    return f"{made.short_id} is now version {made.version}"


@tool(effect="memory")
def archival_delete(ctx: ToolContext, id: str) -> str:
    """Remove a stored passage that is wrong or no longer wanted.

    Args:
        id: The passage, such as a7.
    """
    made = ctx.archival.delete(_number(ctx, id))
    return held(id.strip(), made) if isinstance(made, Held) else f"{made.short_id} is deleted"


def named_near(near: Near, count: Callable[[str], int]) -> str:
    """What says nearly the same. Nobody asked for it: of what is untrusted only its id is told."""
    like = "perhaps contradicts" if near.otherwise else "nearly the same as"
    says = "" if untrusted(near.trust) else f": {shorten(near.text, 40, count)}"
    return f"{like} {near.id}{says}"


def waits(id: str) -> str:
    """What the model is told of what it stored while something untrusted was in view."""
    return load("waits").fill(id=id).strip()


def held(id: str, change: Held) -> str:
    """What it is told of a change that is not made."""
    return load("change_waits").fill(id=id, change=change.id).strip()


def _content(content: str) -> str:
    if not content.strip():
        raise BadArguments("content is empty; write the fact that is to be kept")
    return content.strip()


def _keeping(scope: str | None, ttl: str | None) -> Keeping:
    try:
        return Keeping.of(scope, ttl=ttl)
    except UserError as error:
        raise BadArguments(f"{error.message}; {error.hint}") from None


def _tags(tags: list[str] | None) -> tuple[str, ...]:
    """Each once, without white space around it."""
    return tuple(dict.fromkeys(tag.strip() for tag in tags or () if tag.strip()))


def _number(ctx: ToolContext, id: str) -> int:
    written = id.strip().strip("[]()#\"'")
    archive, colon, number = written.rpartition(":")
    if colon and _ID.fullmatch(number):
        if ctx.shared is not None and archive in ctx.shared.writable():
            raise BadArguments(
                f"{written} stands in a shared archive: call archive_edit or archive_delete"
            )
        raise BadArguments(
            f"{written} stands in the shared archive {archive}, which you can only read; to note"
            " something of your own about it, call archival_insert"
        )
    match = _ID.fullmatch(written)
    if match is None:
        raise BadArguments(f"{id!r} is not a passage; ids look like a7, as archival_search shows")
    return int(match[1])
