"""recall_search: look through everything that was ever said."""

from pagemind.runtime.settings import SEARCH_LIMIT
from pagemind.runtime.tiers.results import lay_out
from pagemind.runtime.tokens import TokenCounter
from pagemind.runtime.tool import ToolContext, ToolResult, tool
from pagemind.tools.filtering import filters


@tool(effect="none")
def recall_search(
    ctx: ToolContext,
    query: str | None = None,
    role: str | None = None,
    speaker: str | None = None,
    start: str | None = None,
    end: str | None = None,
    part: int = 1,
) -> ToolResult:
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
    wanted = filters(ctx, role=role, speaker=speaker, start=start, end=end)
    shown = lay_out(
        ctx.recall.search((query or "").strip() or None, wanted, SEARCH_LIMIT),
        part=part,
        budget_tokens=ctx.result_tokens,
        count_tokens=TokenCounter().count,
        timezone=ctx.now().tzinfo,
        total_name="messages",
    )
    return ToolResult(shown.text, shown=shown.hits)
