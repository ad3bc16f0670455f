"""Keys are taken out of foreign words before anybody reads, logs or stores them.

`secrets_of` gathers what a call was given: its key, the keys in the environment, and what stands in
headers and parameters that carry one. `redact` removes those, and whatever looks like a key.
"""

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

# The environment variable in which each provider's key is looked for.
PROVIDER_KEYS = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "mistral": "MISTRAL_API_KEY",
    "groq": "GROQ_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
    "xai": "XAI_API_KEY",
    "together_ai": "TOGETHERAI_API_KEY",
    "fireworks_ai": "FIREWORKS_AI_API_KEY",
    "cohere": "COHERE_API_KEY",
    "perplexity": "PERPLEXITYAI_API_KEY",
    "azure": "AZURE_API_KEY",
    "moonshot": "MOONSHOT_API_KEY",
    "voyage": "VOYAGE_API_KEY",
}

_MASK = "***"
_SHORTEST = 6  # characters: shorter values are words, and taking those out hides what happened
_SCHEMES = {"bearer", "basic"}
_CARRIES = re.compile(r"key|token|secret|password|credential|auth|cookie", re.I)
_HEADERS = re.compile(r"headers$", re.I)
_LOOKS_LIKE = re.compile(
    r"\b(?:sk|pk|gsk|xai|key|rk)[-_][\w-]{8,}|\bAIza[\w-]{10,}"
    r"|(?<=Bearer )\S+|(?<=Basic )\S+"
    r"|(?<=[?&]key=)[^&\s]+|(?<=://)[^/\s@]+(?=@)"
)


def secrets_of(
    api_key: str | None, api_base: str | None = None, params: Mapping[str, Any] | None = None
) -> tuple[str, ...]:
    """What must never be repeated, the longest first."""
    found = {api_key or "", *(os.environ.get(name, "") for name in PROVIDER_KEYS.values())}
    found.update(_carried(params or {}, inside=False))
    address = urlsplit(api_base or "")
    found.update((address.password or "", address.username or ""))
    # "Bearer abc" is a secret, and so is its "abc" alone.
    words = {word for secret in found for word in secret.split()}
    found |= {word for word in words if word.lower() not in _SCHEMES}
    return tuple(sorted((s for s in found if len(s) >= _SHORTEST), key=len, reverse=True))


def _carried(value: Any, *, inside: bool) -> Iterator[str]:
    """The texts of headers, and of parameters that are named like a key."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            named = bool(_CARRIES.search(str(name)) or _HEADERS.search(str(name)))
            yield from _carried(item, inside=inside or named)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _carried(item, inside=inside)
    elif inside and isinstance(value, str):
        yield value


def redact(text: str, secrets: Collection[str]) -> str:
    """The text without them."""
    for secret in secrets:
        text = text.replace(secret, _MASK)
    return _LOOKS_LIKE.sub(_MASK, text)


def redact_json(value: Any, secrets: Collection[str]) -> Any:
    """The same JSON value without keys; also inside of texts that are JSON themselves."""
    if isinstance(value, str):
        shown = redact(value, secrets)
        if shown != value and value[:1] in ("{", "["):
            try:
                inner = redact_json(json.loads(value), secrets)
            except ValueError:
                return shown
            return json.dumps(inner, ensure_ascii=False, separators=(",", ":"))
        return shown
    if isinstance(value, Mapping):
        return {str(key): redact_json(each, secrets) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [redact_json(each, secrets) for each in value]
    return value
