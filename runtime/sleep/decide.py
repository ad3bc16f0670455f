"""One question to a model about all new records that are like known ones: what to do with each.

The texts are numbered anew for it; an id that it makes up, or one that stands under another new
text, counts as none, and the record is added.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.cleaning import clean_line
from pagemind.runtime.settings import CONSOLIDATE_REPLY_TOKENS, EXTRACT_TEXT_CHARS
from pagemind.runtime.shorten import shorten
from pagemind.runtime.sleep import answer
from pagemind.runtime.sleep.job import UNANSWERABLE, SleepContext
from pagemind.runtime.sleep.similar import New, Similar
from pagemind.runtime.template import load
from pagemind.runtime.untrusted import marker

OPS: Final = ("ADD", "UPDATE", "SUPERSEDE", "DELETE", "NOOP")
_TEXT_TOKENS = 120  # of one text as it is shown
_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "decisions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "new": {"type": "integer"},
                    "op": {"type": "string", "enum": list(OPS)},
                    "known": {"type": "integer"},
                    "text": {"type": "string"},
                },
                "required": ["new", "op", "known", "text"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["decisions"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Asking:
    """A new record with the known ones that it is compared with."""

    new: New
    known: tuple[Similar, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a model said: `meant` is None where it named no known text that is there."""

    op: str
    meant: Similar | None
    text: str


def decide(
    context: SleepContext, asked: Sequence[Asking], cancel: CancelToken
) -> dict[int, Verdict] | None:
    """The verdict on each, by the number of its change; None for an answer that is none. What was
    not answered is left out."""
    shown: list[str] = []
    numbers: dict[int, Mapping[int, Similar]] = {}
    counted = 0
    for at, each in enumerate(asked, 1):
        own: dict[int, Similar] = {}
        lines = [f"New {at}: {_line(each.new.text, context)}"]
        for known in each.known:
            counted += 1
            own[counted] = known
            lines.append(f"  Known {counted}: {_line(known.record.text, context)}")
        numbers[at] = own
        shown.append("\n".join(lines))
    texts = "\n\n".join(shown)
    prompt = load("consolidate").fill(fence=marker(texts), texts=texts)
    reply_tokens = context.reply(CONSOLIDATE_REPLY_TOKENS)
    try:
        reply = context.ask(prompt, max_tokens=reply_tokens, schema=_SCHEMA, cancel=cancel)
    except UNANSWERABLE:
        return None
    items = answer.items(reply, "decisions")
    if items is None:
        return None
    found: dict[int, Verdict] = {}
    for item in items:
        at = answer.number_of(item, "new") or (1 if len(asked) == 1 else 0)
        op = answer.text_of(item, "op", 20).upper()
        if at in numbers and op in OPS:
            meant = numbers[at].get(answer.number_of(item, "known") or 0)
            text = answer.text_of(item, "text", 4 * EXTRACT_TEXT_CHARS)
            found.setdefault(asked[at - 1].new.change.number, Verdict(op, meant, text))
    return found or None


def fits(context: SleepContext, asked: Sequence[Asking]) -> int:
    """How many of these one request has room for; one at least."""
    room = context.room() - context.room() // 3 - context.count(load("consolidate").text) - 200
    for at, each in enumerate(asked):
        texts = [each.new.text, *(known.record.text for known in each.known)]
        room -= sum(min(_TEXT_TOKENS, context.count(text)) + 8 for text in texts)
        if room < 0:
            return max(1, at)
    return len(asked)


def _line(text: str, context: SleepContext) -> str:
    return shorten(clean_line(text), _TEXT_TOKENS, context.count)
