"""A corpus: conversations of dated turns, and questions with the turns that answer them.

Every loader (locomo.py, longmemeval.py, msc.py) and the generator (synthetic.py) make this one
value; ingest.py and scoring.py know nothing else.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any


class WrongFile(Exception):
    """A data file is not what it should be: which format was expected, and where it broke."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Something said. `session` counts the stretches of talk from 1; `at` is aware."""

    id: str
    session: int
    role: str  # user or assistant
    speaker: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """`evidence` holds ids of turns, all of which are needed unless `one_is_enough`; `stale` those
    that were true once and must not come first. `as_of` is when it is asked; None is after the last
    turn. `sessions` are those of the evidence, where the data says more than its turns do. A
    question without evidence has no answer in the conversation and is not scored."""

    id: str
    text: str
    kind: str
    evidence: tuple[str, ...] = ()
    gold: str = ""
    stale: tuple[str, ...] = ()
    as_of: datetime | None = None
    sessions: tuple[int, ...] = ()
    one_is_enough: bool = False
    held_out: bool = False


@dataclass(frozen=True, slots=True)
class Conversation:
    """What one agent lives through."""

    id: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]

    @property
    def digest(self) -> str:
        """Of the turns alone: what an ingested home depends on."""
        return digest(json.dumps(asdict(turn), default=str) for turn in self.turns)


@dataclass(frozen=True, slots=True)
class Corpus:
    """`categories` orders the kinds of questions; `main` are those of the headline figure."""

    name: str
    conversations: tuple[Conversation, ...]
    categories: tuple[str, ...]
    main: tuple[str, ...]
    notes: dict[str, Any] = field(default_factory=dict)  # what was mended or left out

    def only(self, ids: Iterable[str]) -> "Corpus":
        """The corpus with these conversations. Raises WrongFile for one it has not."""
        wanted = list(ids)
        known = [each.id for each in self.conversations]
        if strangers := [each for each in wanted if each not in known]:
            raise WrongFile(f"no conversation {strangers[0]!r}; there are {', '.join(known)}")
        kept = tuple(each for each in self.conversations if each.id in wanted)
        return Corpus(self.name, kept, self.categories, self.main, self.notes)


def digest(texts: Iterable[str]) -> str:
    """sha256 of texts, each closed by a NUL."""
    found = hashlib.sha256()
    for text in texts:
        found.update(text.encode("utf-8", "surrogatepass") + b"\0")
    return found.hexdigest()
