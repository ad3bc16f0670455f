"""protocol: heartbeat, after the MemGPT paper (Packer et al., 2023, §2.4): the person reads only
what goes through send_message, and a call is followed up only if it asks for a heartbeat.

The flag is one more argument of every function; whoever runs the call never sees it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from pagemind.runtime.message import ToolCall
from pagemind.runtime.tool import Tool

FLAG = "request_heartbeat"
_PARAMETER = {"type": "boolean", "description": "True to act again with the result in view."}


class HeartbeatTool(Tool):
    """A function that takes the flag and does not pass it on."""

    def validate(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return super().validate({k: v for k, v in arguments.items() if k != FLAG})


def with_heartbeat(tools: Iterable[Tool]) -> list[Tool]:
    """The same functions, each with the flag."""
    beating: list[Tool] = []
    for tool in tools:
        properties = {**tool.parameters["properties"], FLAG: _PARAMETER}
        parameters = {**tool.parameters, "properties": properties}
        same = {each.name: getattr(tool, each.name) for each in fields(tool)}
        beating.append(HeartbeatTool(**{**same, "parameters": parameters}))
    return beating


def wants_heartbeat(call: ToolCall) -> bool:
    """Whether the call asks to be followed up; models write the flag in many ways."""
    flag = call.parsed().get(FLAG, False)
    if isinstance(flag, str):
        return flag.strip().lower() in ("true", "yes", "1")
    return bool(flag)
