"""recall_search: look through everything that was ever said."""

from pagemind.runtime.errors import BadArguments
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.settings import SEARCH_LIMIT
from pagemind.runtime.tiers.results import format_hits
from pagemind.runtime.tokens import TokenCounter
from pagemind.runtime.tool import ToolContext, tool
from pagemind.tools.period import period

_ROLES = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "agent": "assistant",
    "tool": "tool",
    "function": "tool",
}


@tool(effect="none")
def recall_search(
    ctx: ToolContext,
    query: str | None = None,
    role: str | None = None,
    speaker: str | None = None,
    start: str | None = None,
    end: str | None = None,
    part: int = 1,
) -> str:
    """Search all messages of all conversations, also those that left your window. Results carry
    ids: page_in("p17") or page_in("m42") reads the text around one in full. If nothing fits, ask
    again with other words: names, numbers and rare words find most.

    Args:
        query: What to look for, in words. Without it: the newest messages that match the rest.
        role: Only messages of one role: user, assistant or tool.
        speaker: Only what this person said, by name.
        start: From this day on: 2026-05-08, 2026-05, yesterday, 3 days ago.
        end: Up to and including this day.
        part: Which part of the results, if there are several.
    """
    found = ctx.recall.search(
        (query or "").strip() or None,
        SearchFilters(
            role=_role(role),
            speaker=(speaker or "").strip() or None,
            **period(ctx.now(), start, end),
        ),
        SEARCH_LIMIT,
    )
    return format_hits(
        found,
        part=part,
        budget_tokens=ctx.result_tokens,
        count_tokens=TokenCounter().count,
        timezone=ctx.now().tzinfo,
        total_name="messages",
    )


def _role(role: str | None) -> str | None:
    wanted = (role or "").strip().lower()
    if not wanted or wanted in ("any", "all"):
        return None
    if wanted not in _ROLES:
        raise BadArguments(f"role is user, assistant or tool, not {role!r}; leave it out for all")
    return _ROLES[wanted]
