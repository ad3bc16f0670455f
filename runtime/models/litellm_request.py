"""The arguments of litellm's completion call, made from a ModelRequest. Pure, apart from one look
at the environment for a key.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pagemind.runtime import settings
from pagemind.runtime.errors import UserError
from pagemind.runtime.legalise import Rules, provider_of, to_wire
from pagemind.runtime.model import ModelRequest, ToolSchema

# What the runtime decides itself; a definition may not set it behind its back.
_OWN = {
    "model", "messages", "tools", "stream", "stream_options", "max_tokens", "response_format",
    "max_retries", "num_retries", "fallbacks", "api_key", "api_base", "timeout",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is and how it is addressed. `local`: a server at home."""

    name: str
    rules: Rules
    api_base: str | None
    api_key: str | None = field(repr=False)
    params: Mapping[str, Any] = field(repr=False)
    local: bool

    def __post_init__(self) -> None:
        if taken := sorted(_OWN & self.params.keys()):
            raise UserError(
                f"params of {self.name} may not set {', '.join(taken)}",
                hint="the runtime sets these itself; api_base and api_key_env stand beside params",
            )

    @property
    def wire_name(self) -> str:
        """Under `ollama/` functions silently vanish from the request; not so `ollama_chat/`."""
        is_plain = self.name.startswith("ollama/")
        return self.name.replace("ollama/", "ollama_chat/", 1) if is_plain else self.name


def completion_arguments(
    endpoint: Endpoint,
    request: ModelRequest,
    *,
    streaming: bool,
    seconds: float,
    window: int | None,
    temperature: bool,
) -> dict[str, Any]:
    """Keyword arguments for acompletion. `temperature`: whether to send the request's."""
    import httpx

    arguments: dict[str, Any] = {
        **endpoint.params,
        "model": endpoint.wire_name,
        "messages": to_wire(request, endpoint.rules),
        "max_tokens": request.max_tokens,
        "stream": streaming,
        "max_retries": 0,  # the SDK's, and litellm's: both repeat what must not be repeated
        "num_retries": 0,
        # Our own limits hold first; this ends a connection that outlives them.
        "timeout": httpx.Timeout(seconds + 5.0, connect=settings.CONNECT_TIMEOUT_SECONDS),
    }
    if streaming:
        arguments["stream_options"] = {"include_usage": True}
    if request.tools:
        arguments["tools"] = [_wire_tool(tool) for tool in request.tools]
    if temperature:
        arguments["temperature"] = request.temperature
    if request.response_schema is not None:
        arguments["response_format"] = _wire_schema(request.response_schema)
    if endpoint.api_base:
        arguments["api_base"] = endpoint.api_base
    if key := endpoint.api_key or placeholder_key(endpoint.name, local=endpoint.local):
        arguments["api_key"] = key
    if endpoint.rules.family == "anthropic" and request.purpose == "turn":
        _mark_cache(arguments["messages"])
    if endpoint.rules.family == "ollama" and window:
        # Ollama's own default is small, and it cuts longer prompts without a word.
        arguments.setdefault("num_ctx", window)
    return arguments


def placeholder_key(name: str, *, local: bool) -> str | None:
    """Servers at home want no key, but the OpenAI SDK insists on one."""
    if not local or provider_of(name) != "openai" or os.environ.get("OPENAI_API_KEY"):
        return None
    return "none"


def _mark_cache(messages: list[dict[str, Any]]) -> None:
    """Anthropic caches up to a mark only: after the instructions, the core memory, and the whole.

    Three of the four marks that a request may have; functions stand before the system message and
    are covered by its marks.
    """
    mark = {"type": "ephemeral"}
    if messages[0]["role"] == "system":
        parts = messages[0]["content"]
        for part in (parts[0], parts[-1]):
            part["cache_control"] = mark
    last = messages[-1]
    if last["role"] == "tool":
        last["cache_control"] = mark
    else:
        last["content"] = [{"type": "text", "text": last["content"], "cache_control": mark}]


def _wire_tool(tool: ToolSchema) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    }


def _wire_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Strict only where the schema keeps OpenAI's rules for strict ones."""
    return {
        "type": "json_schema",
        "json_schema": {"name": "reply", "schema": schema, "strict": _is_closed(schema)},
    }


def _is_closed(schema: Any) -> bool:
    """Every object names all its properties as required and allows no others."""
    if isinstance(schema, list):
        return all(_is_closed(s) for s in schema)
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object":
        named = set(schema.get("properties", {}))
        if schema.get("additionalProperties") is not False or named != set(
            schema.get("required", ())
        ):
            return False
    return all(_is_closed(s) for s in schema.values())
