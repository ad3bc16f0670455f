"""Functions for shared archives that the agent may write to: archive_insert, archive_edit,
archive_delete. archival_search finds what is in them."""

import re

from pagemind.runtime.errors import BadArguments
from pagemind.runtime.services import Held, Shared
from pagemind.runtime.tool import ToolContext, tool
from pagemind.tools.archival import held, waits

_ID = re.compile(r"([^\s:]+):[aA]?(\d{1,18})")


@tool(effect="world")
def archive_insert(
    ctx: ToolContext,
    archive: str,
    content: str,
    tags: list[str] | None = None,
    importance: float | None = None,
    scope: str | None = None,
    private: bool = False,
) -> str:
    """Store a passage in a shared archive, where other agents find it with archival_search, too.

    Args:
        archive: Its name.
        content: One self-contained fact or note, with names and dates: others read it alone.
        tags: A few words to filter by later.
        importance: 1 (trivial) to 10 (vital).
        scope: Where in it, such as /team/project, if not where you write by default.
        private: Whether only you shall find it, and no other agent.
    """
    id, new, pending = _shared(ctx).insert(
        archive,
        _content(content),
        tags=tags or (),
        importance=importance,
        scope=scope,
        private=private,
    )
    if pending:
        return waits(id)
    return f"stored as {id}" if new else f"this text is stored already, as {id}"


@tool(effect="world")
def archive_edit(ctx: ToolContext, id: str, content: str) -> str:
    """Replace the text of a passage of a shared archive. The old text is kept as history.

    Args:
        id: The passage, such as handbook:a7.
        content: The complete new text.
    """
    archive, number = _place(id)
    made = _shared(ctx).edit(archive, number, _content(content))
    if isinstance(made, Held):
        return held(f"{archive}:a{number}", made)
    return f"{archive}:{made.short_id} is now version {made.version}"


@tool(effect="world")
def archive_delete(ctx: ToolContext, id: str) -> str:
    """Remove a passage of a shared archive that is wrong or no longer wanted by anybody.

    Args:
        id: The passage, such as handbook:a7.
    """
    archive, number = _place(id)
    made = _shared(ctx).delete(archive, number)
    if isinstance(made, Held):
        return held(f"{archive}:a{number}", made)
    return f"{archive}:{made.short_id} is deleted"


def _shared(ctx: ToolContext) -> Shared:
    assert ctx.shared is not None  # a definition gives these functions only with an archive
    return ctx.shared


def _content(content: str) -> str:
    if not content.strip():
        raise BadArguments("content is empty; write the fact that is to be kept")
    return content.strip()


def _place(id: str) -> tuple[str, int]:
    match = _ID.fullmatch(id.strip().strip("[]()#\"'"))
    if match is None:
        raise BadArguments(
            f"{id!r} is no passage of a shared archive; ids look like handbook:a7, as"
            " archival_search shows"
        )
    return match[1], int(match[2])
