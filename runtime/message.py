"""The canonical transcript: Message, its parts and tool calls, and their versioned JSON.

What a provider accepts is made from it by `legalise.py`; nothing here knows any provider.
Text is cleaned once, at the border: `clean_text` replaces what UTF-8 and SQLite cannot hold.
"""

import json
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

CONTENT_VERSION = 1
SPEAK = "send_message"  # protocol heartbeat: the function that speaks to the person
ERASED = "[erased]"  # the whole text of a message whose own was erased

Role = Literal["user", "assistant", "tool"]
# talk: said by someone; observation: recorded without a model call; notice: the runtime's own word
# (in the queue until the flush, never in recall, pages or exports); reading: a page_in result,
# stored as a reference only.
Kind = Literal["talk", "observation", "notice", "reading"]
Origin = Literal["user", "operator", "model", "runtime", "tool", "document", "agent", "import"]
Status = Literal["active", "pending", "retired"]


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A provider's reasoning, opaque: echoed to that provider only, never indexed or shown."""

    provider: str
    opaque: Any  # JSON; what the provider wants back verbatim
    text: str = ""


@dataclass(frozen=True, slots=True)
class Blob:
    """An image or file beside the database, by hash."""

    sha256: str
    media_type: str
    bytes: int
    tokens: int
    caption: str = ""

    @property
    def shown(self) -> str:
        """What stands for it where only text can."""
        return f"[{self.media_type}: {self.caption or self.sha256[:12]}]"


Part = Text | Reasoning | Blob


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A function call as the model made it. `id` is opaque and never rewritten.

    `arguments` is the JSON text of an object (repaired if the model's was broken, so that a
    history can always be replayed).
    """

    id: str
    name: str
    arguments: str

    def parsed(self) -> dict[str, Any]:
        """The arguments as a dict; empty if they are not a JSON object."""
        try:
            value = json.loads(self.arguments or "{}")
        except (ValueError, RecursionError):
            return {}
        return clean_json(value) if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a text comes from; stamped by the runtime, never by a model. Higher trust is better."""

    origin: Origin = "user"
    detail: str = ""
    trust: int = 100
    status: Status = "active"
    sources: tuple[str, ...] = ()  # short ids: m42, a7, p17

    def at_most(self, trust: int) -> "Provenance":
        """The same, trusted no more than this."""
        return replace(self, trust=min(self.trust, trust))


# Trust by origin, as stamped at first writing (design D14). Only a person raises it later.
TRUST: dict[str, int] = {
    "operator": 100,
    "runtime": 100,
    "user": 100,
    "model": 80,
    "agent": 60,
    "import": 50,
    "tool": 40,
    "document": 30,
}


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of an agent's history. `seq` is its only order; 0 means not yet stored."""

    role: Role
    parts: tuple[Part, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""  # role "tool": the call this answers
    name: str = ""  # role "tool": the function's name
    kind: Kind = "talk"
    seq: int = 0
    id: str = ""
    turn: int = 0
    conversation: int = 0
    speaker: str = ""
    said_at: datetime | None = None
    recorded_at: datetime | None = None
    provenance: Provenance = field(default_factory=Provenance)
    ok: bool = True  # role "tool": False if the call failed
    reference: dict[str, Any] | None = None  # kind "reading": {"page": "p17", "part": 1, …}

    @property
    def text(self) -> str:
        """The text parts, joined; captions stand for blobs."""
        pieces = []
        for part in self.parts:
            if isinstance(part, Text):
                pieces.append(part.text)
            elif isinstance(part, Blob):
                pieces.append(part.shown)
        return "\n".join(pieces)

    @property
    def said(self) -> str:
        """What others heard: what its send_message calls said (protocol heartbeat), or its text."""
        spoken = [str(c.parsed().get("message", "")) for c in self.tool_calls if c.name == SPEAK]
        return "\n\n".join(spoken) if spoken else self.text

    @property
    def short_id(self) -> str:
        return f"m{self.seq}"

    @property
    def erased(self) -> bool:
        """Whether it only holds the place of a message that was erased (erasure/)."""
        return self.provenance.status == "retired"

    def with_text(self, text: str) -> "Message":
        """The same message showing `text` instead of its text parts. Reasoning stays, and so do
        the blobs if the text ends with what stands for them."""
        kept = tuple(p for p in self.parts if isinstance(p, Reasoning))
        blobs = tuple(p for p in self.parts if isinstance(p, Blob))
        captions = "\n".join(blob.shown for blob in blobs)
        if blobs and text.endswith(captions):
            text = text.removesuffix(captions).removesuffix("\n")
        else:
            blobs = ()
        return replace(self, parts=(*kept, Text(text), *blobs) if text else (*kept, *blobs))


def clean_text(text: str) -> str:
    """Lone surrogates become U+FFFD and NULs become U+2400: both break UTF-8 or SQLite tools."""
    if "\x00" in text:
        text = text.replace("\x00", "\u2400")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        # surrogatepass joins the halves of a pair that arrived as two escapes ("\ud83c\udf78").
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def clean_json(value: Any) -> Any:
    """The same JSON value with every text in it cleaned: an escape such as "\\ud83c" is a lone
    surrogate once it is parsed."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [clean_json(each) for each in value]
    if isinstance(value, dict):
        return {clean_text(key): clean_json(each) for key, each in value.items()}
    return value


def parts_to_json(message: Message) -> str:
    """The content column: parts, calls and what else is not a column, versioned."""
    parts: list[dict[str, Any]] = []
    for part in message.parts:
        if isinstance(part, Text):
            parts.append({"type": "text", "text": part.text})
        elif isinstance(part, Reasoning):
            parts.append(
                {
                    "type": "reasoning",
                    "provider": part.provider,
                    "opaque": part.opaque,
                    "text": part.text,
                }
            )
        else:
            parts.append(
                {
                    "type": "blob",
                    "sha256": part.sha256,
                    "media_type": part.media_type,
                    "bytes": part.bytes,
                    "tokens": part.tokens,
                    "caption": part.caption,
                }
            )
    body: dict[str, Any] = {"v": CONTENT_VERSION, "parts": parts}
    if message.tool_calls:
        body["tool_calls"] = [
            {"id": c.id, "name": c.name, "arguments": c.arguments} for c in message.tool_calls
        ]
    if message.tool_call_id:
        body["tool_call_id"] = message.tool_call_id
    if message.name:
        body["name"] = message.name
    if not message.ok:
        body["ok"] = False
    if message.reference is not None:
        body["reference"] = message.reference
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def parts_from_json(text: str) -> dict[str, Any]:
    """The inverse of `parts_to_json`: keyword arguments for Message."""
    body = json.loads(text)
    if body["v"] > CONTENT_VERSION:
        raise ValueError(f"message content version {body['v']} is newer than {CONTENT_VERSION}")
    parts: list[Part] = []
    for part in body["parts"]:
        if part["type"] == "text":
            parts.append(Text(part["text"]))
        elif part["type"] == "reasoning":
            parts.append(Reasoning(part["provider"], part["opaque"], part.get("text", "")))
        else:
            parts.append(
                Blob(
                    part["sha256"],
                    part["media_type"],
                    part["bytes"],
                    part["tokens"],
                    part["caption"],
                )
            )
    return {
        "parts": tuple(parts),
        "tool_calls": tuple(
            ToolCall(c["id"], c["name"], c["arguments"]) for c in body.get("tool_calls", ())
        ),
        "tool_call_id": body.get("tool_call_id", ""),
        "name": body.get("name", ""),
        "ok": body.get("ok", True),
        "reference": body.get("reference"),
    }
