"""The clock function: clock_now."""

from pagemind.runtime.tool import ToolContext, tool


@tool(effect="none")
def clock_now(ctx: ToolContext) -> str:
    """Tell the present date, time and weekday."""
    now = ctx.now()
    return f"{now:%A %Y-%m-%d %H:%M} ({now.tzname()})"
