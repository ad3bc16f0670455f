"""A request for a chat completion, as OpenAI's clients send it, read and checked. Pure.

One rule for what an agent has no use for: what only tunes a model, and any key that is not known,
is left out and named in `ignored`; what asks for an answer of another kind (functions, several
choices, a schema, sound) is refused. Messages of the system are ignored as well: an agent has
instructions of its own.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pagemind.runtime.http.bodies import check_images, image_of
from pagemind.runtime.http.faults import HttpFault

DEFAULT_SPEAKER = "user"
_USED = ("model", "messages", "stream", "stream_options", "user")
# key → the values that ask for nothing
_REFUSED: dict[str, tuple[Any, ...]] = {
    "tools": ([],),
    "functions": ([],),
    "tool_choice": ("none", "auto"),
    "function_call": ("none", "auto"),
    "n": (1,),
    "response_format": ({"type": "text"},),
    "modalities": (["text"],),
    "audio": (),
    "logprobs": (False,),
    "top_logprobs": (0,),
    "web_search_options": (),
    "prediction": (),
}
_HINTS = {
    "tools": "an agent calls the functions of its definition",
    "functions": "an agent calls the functions of its definition",
    "response_format": "POST /agents/NAME/messages takes a `schema`",
    "n": "an agent has one answer, which it remembers",
}


@dataclass(frozen=True, slots=True)
class Heard:
    """One message that a client says was said. `images` are files as they came."""

    role: Literal["user", "assistant"]
    text: str
    speaker: str
    images: tuple[bytes, ...] = ()

    @property
    def digests(self) -> tuple[str, ...]:
        return tuple(hashlib.sha256(each).hexdigest() for each in self.images)


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What is asked of whom: `history` is what the client says came before `message`."""

    model: str
    speaker: str
    history: tuple[Heard, ...]
    message: Heard
    stream: bool
    usage_chunk: bool
    ignored: tuple[str, ...]

    @property
    def digest(self) -> str:
        """The same for the same messages of the same speaker."""
        said = [[h.role, h.text, h.speaker, h.digests] for h in (*self.history, self.message)]
        text = json.dumps([self.speaker, said], ensure_ascii=True)
        return hashlib.sha256(text.encode("ascii")).hexdigest()[:40]


def parse_chat(body: Mapping[str, Any]) -> ChatRequest:
    """Raises HttpFault, which names the key."""
    for key, harmless in _REFUSED.items():
        value = body.get(key)
        if value is not None and value not in harmless:
            raise HttpFault(400, f"{key!r} is not served", hint=_HINTS.get(key, ""), param=key)
    ignored = dict.fromkeys(
        key
        for key in sorted(body)
        if key not in _USED and key not in _REFUSED and body[key] is not None
    )
    model = _text(body, "model")
    user = _text(body, "user") if body.get("user") is not None else ""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise HttpFault(400, "'messages' must be a list with messages in it", param="messages")
    heard: list[Heard] = []
    for at, each in enumerate(messages):
        role = _role(each, f"messages[{at}]")
        if role in ("system", "developer", "tool", "function") and at < len(messages) - 1:
            ignored[f"messages with role {role}"] = None
        elif one := _heard(each, role, user, f"messages[{at}]", last=at == len(messages) - 1):
            heard.append(one)
    message = heard[-1]
    options = body.get("stream_options") or {}
    return ChatRequest(
        model=model,
        speaker=message.speaker,
        history=tuple(heard[:-1]),
        message=message,
        stream=_flag(body, "stream"),
        usage_chunk=isinstance(options, Mapping) and bool(options.get("include_usage")),
        ignored=tuple(ignored),
    )


def _role(message: Any, where: str) -> str:
    if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
        raise HttpFault(400, f"{where} has no role", param=where)
    role = str(message["role"])
    if role not in ("system", "developer", "user", "assistant", "tool", "function"):
        raise HttpFault(
            400,
            f"{where} has the role {role!r}",
            hint="roles are system, developer, user, assistant and tool",
            param=f"{where}.role",
        )
    return role


def _heard(
    message: Mapping[str, Any], role: str, user: str, where: str, *, last: bool
) -> Heard | None:
    """None for one that says nothing, such as a mere call of a function."""
    if last and role != "user":
        raise HttpFault(
            400,
            f"the last message has the role {role!r}",
            hint="an agent answers a message of a user",
            param=where,
        )
    text, images = _content(message.get("content"), f"{where}.content")
    if not text.strip():
        if images or last:
            raise HttpFault(400, f"{where} says nothing", hint="send a text", param=where)
        return None
    if role == "assistant":
        return Heard("assistant", text, "assistant")
    name = message.get("name")
    speaker = user or (name if isinstance(name, str) else "") or DEFAULT_SPEAKER
    return Heard("user", text, speaker, images)


def _content(content: Any, where: str) -> tuple[str, tuple[bytes, ...]]:
    """A text, or a list of parts."""
    if content is None:
        return "", ()
    if isinstance(content, str):
        return content, ()
    if not isinstance(content, list):
        raise HttpFault(400, f"{where} must be a text or a list of parts", param=where)
    texts: list[str] = []
    images: list[bytes] = []
    for at, part in enumerate(content):
        place = f"{where}[{at}]"
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind in ("text", "refusal", "input_text", "output_text"):
            texts.append(_text(part, "refusal" if kind == "refusal" else "text", place))
        elif kind == "image_url":
            url = part.get("image_url")
            url = url.get("url") if isinstance(url, Mapping) else url
            if not isinstance(url, str):
                raise HttpFault(400, f"{place} has no image_url.url", param=place)
            images.append(image_of(url, place))
        else:
            raise HttpFault(
                400,
                f"{place} has the type {kind!r}",
                hint="parts are text and image_url",
                param=place,
            )
    check_images(len(images), where)
    return "\n".join(texts), tuple(images)


def _text(body: Mapping[str, Any], key: str, where: str = "") -> str:
    value = body.get(key)
    place = f"{where}.{key}" if where else key
    if not isinstance(value, str):
        raise HttpFault(400, f"{place!r} must be a text", param=place)
    return value


def _flag(body: Mapping[str, Any], key: str) -> bool:
    value = body.get(key)
    if value is not None and not isinstance(value, bool):
        raise HttpFault(400, f"{key!r} must be true or false", param=key)
    return bool(value)
