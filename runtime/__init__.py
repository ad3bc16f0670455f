"""pagemind's runtime: an OS-style paging kernel between a model's context window and LanceDB.

`from pagemind.runtime import Runtime` is the way in. Importing this package loads nothing heavy:
the public names are resolved on first use. The `@tool` decorator stays in its own module:
`from pagemind.runtime.tool import tool`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pagemind.runtime.agent import Agent
    from pagemind.runtime.definition import AgentDefinition
    from pagemind.runtime.memory import Memory
    from pagemind.runtime.runtime import Runtime
    from pagemind.runtime.tool import Tool, ToolContext
    from pagemind.runtime.turn import TurnResult

_HOMES = {
    "Agent": "pagemind.runtime.agent",
    "AgentDefinition": "pagemind.runtime.definition",
    "Memory": "pagemind.runtime.memory",
    "Runtime": "pagemind.runtime.runtime",
    "Tool": "pagemind.runtime.tool",
    "ToolContext": "pagemind.runtime.tool",
    "TurnResult": "pagemind.runtime.turn",
}

__all__ = ["Agent", "AgentDefinition", "Memory", "Runtime", "Tool", "ToolContext", "TurnResult"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
