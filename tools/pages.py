"""Paging functions: page_in."""

from pagemind.runtime.tool import ToolContext, ToolResult, tool


@tool(effect="none")
def page_in(ctx: ToolContext, id: str, part: int = 1) -> ToolResult:
    """Read what has left the window, word for word.

    Args:
        id: A page such as p17, or an over-long message such as m42.
        part: Which part of it, if it has several.
    """
    reading = ctx.pages.read(id, part)
    target = reading.reference["target"]
    return ToolResult(f"[read {target} part {reading.part}]", reference=reading.reference)
