"""How long a model's context window is, without asking a person: from its server, or from the
registry that comes with litellm (read as a file: litellm is not imported for it).

Servers say it in different places: vLLM and gateways in /v1/models, llama.cpp in /props, Ollama in
/api/show. Every question has a short timeout; a server that says nothing useful gives None.
"""

import importlib.util
import ipaddress
import json
import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pagemind.runtime import settings
from pagemind.runtime.legalise import provider_of

_TIMEOUT_SECONDS = 2.0
_LONGEST_ANSWER = 8 << 20  # a gateway's list of models may be long, but not endless
_MODEL_KEYS = ("max_model_len", "loaded_context_length", "context_length", "context_window")
_REGISTRY = "model_prices_and_context_window_backup.json"
_OLLAMA = "http://localhost:11434"


def is_local(api_base: str | None) -> bool:
    """Whether the address is this machine or a private network: a person's own server."""
    host = urlsplit(api_base or "").hostname or ""
    if host == "localhost" or host.endswith((".localhost", ".local")):
        return True
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return False


def api_base_of(name: str, api_base: str | None) -> str | None:
    """Where requests for a model go, if that is a server that can be asked."""
    provider = provider_of(name)
    if provider == "ollama_chat":
        return api_base or os.environ.get("OLLAMA_API_BASE") or _OLLAMA
    if provider == "openai":
        named = os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE")
        return api_base or named
    return api_base


def probe_window(name: str, api_base: str | None, api_key: str | None = None) -> int | None:
    """The window that the server of this model reports."""
    base = api_base_of(name, api_base)
    if base is None:
        return None
    base = base.rstrip("/")
    model = name.partition("/")[2] or name
    if provider_of(name) == "ollama_chat":
        return _ask_ollama(base, model)
    root = re.sub(r"/v1$", "", base)
    listed = _ask(f"{base}/models", api_key)
    entries = listed.get("data") if isinstance(listed, dict) else None
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get("id") == model:
            for key in _MODEL_KEYS:
                if tokens := _tokens(entry.get(key)):
                    return tokens
    props = _ask(f"{root}/props", api_key) if is_local(base) else None
    if isinstance(props, dict):
        generation = props.get("default_generation_settings")
        n_ctx = generation.get("n_ctx") if isinstance(generation, dict) else None
        return _tokens(n_ctx) or _tokens(props.get("n_ctx"))
    return None


def registry_window(name: str) -> int | None:
    """The window that litellm's list knows for a model name."""
    entries = _registry()
    provider, slash, model = name.partition("/")
    if entry := entries.get(name):
        return entry[1]
    entry = entries.get(model) if slash else None
    return entry[1] if entry and entry[0] == provider else None


def _ask_ollama(base: str, model: str) -> int | None:
    """num_ctx of the model file, else its trained length, but no more than our default: the
    memory for a trained length of 131,072 is not there on most machines.
    """
    shown = _ask(f"{base}/api/show", None, {"model": model})
    if not isinstance(shown, dict):
        return None
    if match := re.search(r"^num_ctx\s+(\d+)", str(shown.get("parameters") or ""), re.MULTILINE):
        return _tokens(int(match[1]))
    info = shown.get("model_info")
    for key, value in info.items() if isinstance(info, dict) else ():
        if key.endswith(".context_length") and (tokens := _tokens(value)):
            return min(tokens, settings.DEFAULT_WINDOW_TOKENS)
    return None


def _tokens(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 1 and value is not True else None


def _ask(url: str, api_key: str | None, body: dict[str, str] | None = None) -> Any:
    from urllib.error import URLError
    from urllib.request import ProxyHandler, Request, build_opener

    headers = {"content-type": "application/json"}
    if api_key:
        headers["authorization"] = f"Bearer {api_key}"
    data = json.dumps(body).encode() if body is not None else None
    # A proxy of the environment cannot know a server on loopback.
    opener = build_opener(ProxyHandler({})) if is_local(url) else build_opener()
    try:
        request = Request(url, data=data, headers=headers)
        with opener.open(request, timeout=_TIMEOUT_SECONDS) as answer:
            return json.loads(answer.read(_LONGEST_ANSWER))
    except (URLError, OSError, ValueError, RecursionError):
        return None


@lru_cache(maxsize=1)
def _registry() -> dict[str, tuple[str, int]]:
    """Model name → (provider, input tokens), for chat models."""
    spec = importlib.util.find_spec("litellm")  # finds the package without running it
    if spec is None or spec.origin is None:
        return {}
    try:
        listed = json.loads((Path(spec.origin).parent / _REGISTRY).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {
        name: (str(entry.get("litellm_provider")), tokens)
        for name, entry in listed.items()
        if isinstance(entry, dict) and (tokens := _tokens(entry.get("max_input_tokens")))
    }
