"""The services as a function has them that is called in a tainted step and does not say that it
changes the world: what wakes the agent later, stays in view or reaches others is closed to it.

A function that changes the world has been let through by the gate. Core memory and what is stored
look at the step's trust themselves.
"""

from dataclasses import replace
from typing import Any

from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.tool import Tool, ToolContext

_CLOSED = {
    "timers": ("add", "cancel"),
    "pages": ("pin",),
    "shared": ("insert", "edit", "delete"),
    "team": ("ask", "ask_all", "leave"),
    "skills": ("run",),
}


def within_taint(tool: Tool, context: ToolContext) -> ToolContext:
    """The context of a call, as its step allows it."""
    if tool.effect == "world" or not untrusted(context.trust):
        return context
    closed = {
        name: _Closed(service, tool.name, names)
        for name, names in _CLOSED.items()
        if (service := getattr(context, name)) is not None
    }
    return replace(context, **closed)  # type: ignore[arg-type]  # each stands for its service


class _Closed:
    def __init__(self, service: object, function: str, closed: tuple[str, ...]) -> None:
        self._service = service
        self._function = function
        self._closed = closed

    def __getattr__(self, name: str) -> Any:
        if name in self._closed:
            raise ToolFailed(
                f"{self._function}: text from outside is in view, and while it is, only functions"
                " that say that they change the world reach so far"
            )
        return getattr(self._service, name)
