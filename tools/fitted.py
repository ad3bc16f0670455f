"""Which arguments of a function an agent is shown: those that mean something for it.

Who has no scopes is not asked for one: the functions of ordinary agents, and with them their
prompts, stay as small as they were.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pagemind.runtime.tool import Tool

if TYPE_CHECKING:
    from pagemind.runtime.definition import AgentDefinition

_FOR = ("archival_insert", "archival_search", "archive_insert")
_WHERE: Mapping[str, Callable[["AgentDefinition"], bool]] = {
    "scope": lambda definition: definition.sight().bounded,
    "ttl": lambda definition: definition.states("forget"),
}


def fitted(tool: Tool, definition: "AgentDefinition") -> Tool:
    """The same function without the arguments that the definition gives no meaning."""
    if tool.name not in _FOR:
        return tool
    idle = {name for name, means in _WHERE.items() if not means(definition)}
    return tool.without(idle & set(tool.parameters["properties"]))
