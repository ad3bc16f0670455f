"""What a reader of another tool's file gives, in the order of the file.

A Talk begins a conversation, and the Saids after it belong to it. `key` is what the tool itself
knows a thing by; where it knows none, the reader makes one of the content. The same key is the same
thing, whenever the file is read again.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation begins."""

    key: str
    at: datetime | None = None
    by_pauses: bool = False  # a long pause begins another one, as in talk with an agent


@dataclass(frozen=True, slots=True)
class Call:
    """A function call. `arguments` is JSON text, as the tool has it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Said:
    """A message. `at` None: the file does not say when; the one before it in its talk does."""

    role: Literal["user", "assistant", "tool"]
    text: str
    key: str
    at: datetime | None = None
    speaker: str = ""
    calls: tuple[Call, ...] = ()
    answers: str = ""  # role "tool": the id of the call; "" for the one before
    ok: bool = True


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory: a passage."""

    text: str
    key: str
    at: datetime | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Known:
    """A block of core memory."""

    label: str
    value: str
    limit: int
    description: str = ""


@dataclass(frozen=True, slots=True)
class Left:
    """Something that is not taken, and why. Alike ones are counted together."""

    what: str  # in the singular: "image"
    why: str
    count: int = 1


Item = Talk | Said | Kept | Known | Left
