"""Moved: what a rewind, an undo or a bring-back did, for people, programs and `--json`. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["rewind", "undo", "bring back"]
Part = Literal["block", "passage", "pin", "document"]
Change = Literal["reverted", "hidden", "shown again"]


@dataclass(frozen=True, slots=True)
class TurnSeen:
    """A turn that was taken back or brought back. `text` is what the person said."""

    turn: int
    seq: int
    speaker: str
    text: str

    def as_json(self) -> dict[str, Any]:
        return {"turn": self.turn, "seq": self.seq, "speaker": self.speaker, "text": self.text}


@dataclass(frozen=True, slots=True)
class Reverted:
    """One part of memory that is as it was. `author` made the first change that this takes back:
    "model", or "user" for a person's own; `before` and `after` are its text until now and from now
    on, "" for none."""

    kind: Part
    id: str  # a label, a7, m42 or p17, a path
    change: Change
    author: str = ""
    before: str = ""
    after: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "id": self.id,
            "change": self.change,
            "author": self.author,
            "before": self.before,
            "after": self.after,
        }


@dataclass(frozen=True, slots=True)
class WorldCall:
    """A call that did something outside, which no rewind takes back."""

    id: str  # of the message that called: m42
    turn: int
    name: str
    arguments: Mapping[str, Any]
    ok: bool

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "turn": self.turn,
            "name": self.name,
            "arguments": dict(self.arguments),
            "ok": self.ok,
        }


@dataclass(frozen=True, slots=True)
class Moved:
    """One move. `seq` is the newest message that is live now, 0 for none; `hidden` and `shown`
    count messages that can no longer be found, and that can again. `line` is the line gone on with,
    and bring_back(from_line) undoes the move. Without `applied` it was only looked at."""

    agent: str
    kind: Kind
    applied: bool
    seq: int
    line: int
    from_line: int
    taken_back: tuple[TurnSeen, ...]
    brought_back: tuple[TurnSeen, ...]
    hidden: int
    shown: int
    reverted: tuple[Reverted, ...]
    world: tuple[WorldCall, ...]
    shared: tuple[str, ...]  # blocks that changed since and stay: other agents have them, too
    messages: int
    passages: int
    pages: int

    def as_json(self) -> dict[str, Any]:
        """The answer of `agents rewind|undo|bring-back --json`, without sha256."""
        return {
            "agent": self.agent,
            "kind": self.kind,
            "applied": self.applied,
            "seq": self.seq,
            "line": self.line,
            "from_line": self.from_line,
            "taken_back": [turn.as_json() for turn in self.taken_back],
            "brought_back": [turn.as_json() for turn in self.brought_back],
            "hidden": self.hidden,
            "shown": self.shown,
            "reverted": [each.as_json() for each in self.reverted],
            "world": [each.as_json() for each in self.world],
            "shared": list(self.shared),
            "messages": self.messages,
            "passages": self.passages,
            "pages": self.pages,
        }
