"""Talk: what was said in finished turns, as the worker reads it to find facts.

Only what people said themselves, and what the agent said to that. What a function found, what was
prefetched, notices and readings are never in it; what the agent repeats of them, and what somebody
quotes, is cut out; a message that asks to forget something is left out as a whole, and so is what
is untrusted: a model that reads it would word by it what others said.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from pagemind.runtime.message import Message
from pagemind.runtime.models.plain_talk import (
    claims,
    content,
    is_question,
    is_request,
    sentences,
    words,
)
from pagemind.runtime.settings import EXTRACT_MESSAGE_TOKENS
from pagemind.runtime.shorten import shorten
from pagemind.runtime.state.state import State
from pagemind.runtime.step_trust import untrusted

PEOPLE = ("user", "operator", "import", "agent")  # origins of what can be a fact
UNNAMED = "user"  # how a person without a name is shown
_REPEATED = 0.6  # of a sentence's words that stand in what was looked up: the agent repeats it
_LOOKED_UP = 200_000  # characters of what was looked up in one turn that are compared
_QUOTED = re.compile(r"“[^”]{8,}”|«[^»]{8,}»|\"[^\"]{8,}\"|^\s*>.*$", re.MULTILINE)
_UNSAID = re.compile(
    r"(?<!don['’]t )(?<!not )(?<!never )\bforget (?:about |all )?(?:this|that|it|what|me|every)"
    r"|\b(?:strike|erase|delete|remove|clear|wipe) (?:this|that|it|what)\b.*\bmemory"
    r"|\bfrom your memory\b|\boff the record\b"
    r"|\b(?:don['’]t|do not|never) (?:remember|memori[sz]e|store|save|keep|record|note|write)"
    r" (?:this|that|it)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Line:
    """One message as it is shown; `person` is whether facts may be found in it."""

    id: str
    seq: int
    speaker: str
    said_at: datetime
    text: str
    person: bool
    trust: int


@dataclass(frozen=True, slots=True)
class Talk:
    """Some turns. `unsaid` is what somebody asked to forget in them."""

    turns: tuple[int, ...]
    lines: tuple[Line, ...]
    unsaid: tuple[str, ...] = ()

    @property
    def people(self) -> tuple[Line, ...]:
        return tuple(line for line in self.lines if line.person)

    @property
    def tells(self) -> bool:
        """Whether somebody may have said something that lasts."""
        return any(tells(line.text) for line in self.people)

    @property
    def last_seq(self) -> int:
        return max((line.seq for line in self.lines), default=0)

    @property
    def trust(self) -> int:
        """The least of all that is shown."""
        return min((line.trust for line in self.lines), default=100)

    def shown(self, zone: tzinfo) -> str:
        """A line a message, with its day."""
        return "\n".join(
            f"[{line.id}, {line.said_at.astimezone(zone):%Y-%m-%d %a}] {line.speaker}: {line.text}"
            for line in self.lines
        )


def read(state: State, turns: Sequence[int], count: Callable[[str], int]) -> Talk:
    """What was said in these turns."""
    lines: list[Line] = []
    unsaid: list[str] = []
    for turn in turns:
        messages = state.journal.of_turn(turn)
        found = [m.text for m in messages if m.role == "tool"] + state.history.prefetched(turn)
        recalled = "\n".join(found)
        hidden = any(m.kind == "reading" for m in messages)  # its text does not stand in it
        for message in messages:
            if message.kind != "talk" or message.role == "tool" or message.said_at is None:
                continue
            if message.erased:
                continue
            if untrusted(message.provenance.trust):
                continue
            person = message.role == "user"
            if person and message.provenance.origin not in PEOPLE:
                continue
            if person and _UNSAID.search(message.text):
                unsaid.append(message.text)
                continue
            text = _own(message.text) if person else _new(message, recalled, hidden)
            text = " ".join(text.split())
            if text:
                lines.append(
                    Line(
                        id=message.short_id,
                        seq=message.seq,
                        speaker=message.speaker or (UNNAMED if person else "agent"),
                        said_at=message.said_at,
                        text=shorten(text, EXTRACT_MESSAGE_TOKENS, count),
                        person=person,
                        trust=message.provenance.trust,
                    )
                )
    return Talk(tuple(turns), tuple(lines), tuple(unsaid))


def tells(text: str) -> bool:
    """Whether a message may tell something lasting: more than greetings, thanks and questions."""
    for sentence in sentences(text):
        if is_question(sentence) or is_request(sentence):
            continue
        if claims(sentence) or (len(words(sentence)) > 2 and len(content(sentence)) > 1):
            return True
        if not words(sentence.encode("ascii", "ignore").decode()) and content(sentence):
            return True  # of other scripts it cannot be told
    return False


def _own(text: str) -> str:
    """What a person says, without what is quoted."""
    return _QUOTED.sub(" … ", text)


def _new(message: Message, recalled: str, hidden: bool) -> str:
    """What the agent says, without what it repeats of what it looked up."""
    said = message.said
    if not recalled.strip():
        return "" if hidden else said
    if hidden:
        return ""
    known = {word for line in recalled[:_LOOKED_UP].splitlines() for word in content(line)}
    kept = []
    for sentence in sentences(said):
        own = content(sentence)
        if not own or len(own & known) < _REPEATED * len(own):
            kept.append(sentence)
    return " ".join(kept)
