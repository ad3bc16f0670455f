"""Foreign errors of a model call, translated: `translate(error, call)` gives a ModelError.

One plain sentence for the person, a hint that says what to set, never a key. Works on class names,
status codes and texts, so that it needs no import of litellm. Order matters: litellm's classes
inherit from each other (an overflow is a BadRequestError) and hide what really happened (a refused
connection is an InternalServerError, a missing key too).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from pagemind.runtime.errors import (
    AuthenticationFailed,
    BadReply,
    BadRequest,
    ContextOverflow,
    ModelError,
    ModelNotFound,
    ModelOverloaded,
    ModelTimeout,
    ModelUnreachable,
    OutputReserveConflict,
    RateLimited,
    StreamBroken,
)
from pagemind.runtime.legalise import provider_of
from pagemind.runtime.models import overflow
from pagemind.runtime.models.redact import PROVIDER_KEYS, redact, secrets_of

_NO_KEY = re.compile(
    r"api_key client option must be set|missing credentials|missing .{0,20}api[_ ]?key",
    re.I | re.S,
)
_NO_PROVIDER = re.compile(r"LLM Provider NOT provided", re.I)
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|credit balance|billing", re.I)
_NOT_WIRE = re.compile(
    r"empty or invalid response|JSONDecodeError|Expecting value|invalid control character"
    r"|has no attribute|unable to (?:get|parse) json",
    re.I,
)
_CONNECTION_TEXT = re.compile(
    r"connection error|connection refused|cannot connect|connect call failed|name or service"
    r"|connection attempts failed|nodename nor servname|server disconnected|connection reset"
    r"|peer closed",
    re.I,
)
_CONNECTION_CLASS = {
    "ConnectError", "ConnectTimeout", "ReadError", "WriteError", "RemoteProtocolError",
    "ConnectionError", "ClientConnectorError", "ServerDisconnectedError",
}  # fmt: skip
_REPEATED = " Original exception:"  # litellm says everything twice
_NOTHING_SAID = re.compile(r"Error code: (\d+)")
_PREFIX = re.compile(
    r"^(?:(?:litellm\.)?\w+(?:Error|Exception|Timeout)(?:: | - )|Error code: \d+ - )+"
)
_MESSAGE_CHARACTERS = 240


@dataclass(frozen=True, slots=True)
class Call:
    """What a translation needs to know about the call that failed."""

    model: str
    api_base: str | None = None
    api_key: str | None = field(default=None, repr=False)
    prompt_share: float | None = None  # estimated prompt ÷ window; see overflow.judge
    params: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no sentence about this call may repeat."""
        return secrets_of(self.api_key, self.api_base, self.params)


def key_variable(model: str) -> str:
    """The environment variable that holds the key for a model name."""
    provider = provider_of(model)
    return PROVIDER_KEYS.get(provider, f"{provider.upper()}_API_KEY")


def translate(error: BaseException, call: Call) -> ModelError:
    """The ModelError for an exception of litellm, or of anything below it."""
    if isinstance(error, ModelError):
        return error
    inner = getattr(error, "original_exception", None)
    if "MidStreamFallbackError" in _classes(error):
        real = translate(inner, call) if isinstance(inner, Exception) else None
        if isinstance(real, ContextOverflow | OutputReserveConflict | RateLimited | ModelTimeout):
            return real
        return StreamBroken(
            f"{call.model} broke off in the middle of its reply: {_say(inner or error, call)}"
        )
    return _translate(error, call)


def _translate(error: BaseException, call: Call) -> ModelError:
    classes, status = _classes(error), _status(error)
    body = getattr(error, "body", None)
    text = f"{error} {body or ''}"
    said = _say(error, call)
    name = call.model

    if _NO_KEY.search(text):
        return AuthenticationFailed(f"there is no key for {name}", hint=_key_hint(name))
    if "AuthenticationError" in classes or status in (401, 403):
        return AuthenticationFailed(f"the key for {name} was refused: {said}", hint=_key_hint(name))
    if _NO_PROVIDER.search(text):
        return ModelNotFound(
            f"{name} names no provider",
            hint="write it as provider/model, for example openai/gpt-4o-mini",
        )
    if "NotFoundError" in classes or status == 404:
        return ModelNotFound(f"the provider does not know {name}: {said}", hint=_name_hint(call))
    if "Timeout" in classes or status in (408, 504):
        return ModelTimeout(f"{name} did not answer in time")

    verdict = overflow.judge(
        status,
        text,
        by_class="ContextWindowExceededError" in classes,
        prompt_share=call.prompt_share,
    )
    if verdict == "overflow":
        return ContextOverflow(
            f"the prompt is longer than the window of {name}: {said}",
            hint="set context_window in the definition to what the server really has",
        )
    if verdict == "reserve":
        return OutputReserveConflict(
            f"{name} has no room for the reply beside the prompt: {said}",
            hint="lower max_tokens or set context_window to what the server really has",
        )
    if status == 429 or status == 402 or "RateLimitError" in classes:
        if status == 402 or _QUOTA.search(text):
            return AuthenticationFailed(
                f"the account for {name} has no credit left: {said}",
                hint="top it up, or name another model with --model",
            )
        return RateLimited(f"{name} is asked too often: {said}", retry_after=retry_after(error))
    if _is_connection(error, text):
        where = redact(call.api_base or f"the provider of {name}", call.secrets)
        return ModelUnreachable(
            f"{where} cannot be reached",
            hint="is the server running, and is api_base right?" if call.api_base else
            "is there a network connection?",
        )  # fmt: skip
    if _NOT_WIRE.search(text):
        return BadReply(
            f"{name} did not answer in the OpenAI wire format: {said}",
            hint="is api_base right? For most servers it ends in /v1",
        )
    if status is not None and status >= 500 and "APIConnectionError" not in classes:
        return ModelOverloaded(
            f"the provider of {name} failed ({status}): {said}", retry_after=retry_after(error)
        )
    return BadRequest(f"{name} refused the request: {said}")


def retry_after(error: BaseException) -> float | None:
    """Seconds the provider asks to wait; dates and nonsense are ignored."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) * unit
        except (KeyError, ValueError, TypeError):
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    return None


def is_policy_refusal(error: BaseException) -> bool:
    """A content filter refused: that is a refusal of the reply, not a failed call."""
    return "ContentPolicyViolationError" in _classes(error)


def _classes(error: BaseException) -> set[str]:
    return {cls.__name__ for cls in type(error).__mro__}


def _status(error: BaseException) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _is_connection(error: BaseException, text: str) -> bool:
    seen: BaseException | None = error
    for _ in range(8):
        if seen is None:
            break
        if _classes(seen) & _CONNECTION_CLASS:
            return True
        seen = seen.__cause__ or seen.__context__
    return bool(_CONNECTION_TEXT.search(text))


def _key_hint(model: str) -> str:
    return f"set {key_variable(model)}, or name another variable with api_key_env"


def _name_hint(call: Call) -> str:
    if provider_of(call.model) == "ollama_chat":
        return f"run: ollama pull {call.model.partition('/')[2]}"
    return "check the name" + (" and api_base" if call.api_base else "")


def _say(error: BaseException, call: Call) -> str:
    """The provider's own words: one short line without keys and markup."""
    body: Any = getattr(error, "body", None)
    if isinstance(body, dict):
        inner = body.get("error", body)
        body = inner.get("message") if isinstance(inner, dict) else inner
    text = body if isinstance(body, str) and body.strip() else str(error)
    text = _PREFIX.sub("", text.strip().partition(_REPEATED)[0])
    if code := _NOTHING_SAID.fullmatch(text.strip()):
        text = _phrase(int(code[1]))
    text = "an HTML page" if re.search(r"<(?:!doctype|html)", text, re.I) else text
    text = redact(text, call.secrets)
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    cut = text[:_MESSAGE_CHARACTERS]
    return (cut + "…" if len(text) > len(cut) else cut) or type(error).__name__


def _phrase(status: int) -> str:
    """What a status means, where the provider said nothing else."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "no reason given"
