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
from pagemind.runtime.message import Blob
from pagemind.runtime.model import ModelRequest, ToolSchema
from pagemind.runtime.models.litellm_library import sees_images
from pagemind.runtime.models.window_probe import api_base_of

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
    vision: bool | None = None  # whether it sees images; None: as litellm's registry says

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

    @property
    def is_openai(self) -> bool:
        """OpenAI itself, and no other server that speaks its format."""
        is_theirs = provider_of(self.name) == "openai"
        return is_theirs and api_base_of(self.name, self.api_base) is None


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
        # A prompt that no other repeats, such as a summary's, is not worth writing to a cache.
        "messages": to_wire(
            request,
            endpoint.rules,
            marked=request.purpose == "turn",
            images=request.blobs if _sees(endpoint, request) else None,
        ),
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
    if endpoint.is_openai and request.cache_key:
        # Agents of one definition share their first tokens, by which OpenAI chooses the machine
        # that may have the prefix: with the key each has its own.
        arguments.setdefault("prompt_cache_key", request.cache_key)
    if endpoint.rules.family == "ollama" and window:
        # Ollama's own default is small, and it cuts longer prompts without a word.
        arguments.setdefault("num_ctx", window)
    return arguments


def _sees(endpoint: Endpoint, request: ModelRequest) -> bool:
    """Whether the model takes images, asked only where there are some."""
    if not any(isinstance(part, Blob) for message in request.messages for part in message.parts):
        return False
    return sees_images(endpoint.name) if endpoint.vision is None else endpoint.vision


def placeholder_key(name: str, *, local: bool) -> str | None:
    """Servers at home want no key, but the OpenAI SDK insists on one."""
    if not local or provider_of(name) != "openai" or os.environ.get("OPENAI_API_KEY"):
        return None
    return "none"


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
