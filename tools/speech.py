"""The function of protocol heartbeat: send_message."""

from pagemind.runtime.tool import ToolResult, tool


@tool(effect="none")
def send_message(message: str) -> ToolResult:
    """Say something to the person. Only this reaches them.

    Args:
        message: What to say.
    """
    return ToolResult("delivered", speech=message)
