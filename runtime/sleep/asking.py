"""What a model is asked to find facts in some talk, and what its answer comes to.

An answer that cannot be read is asked for once more, more plainly, in lines instead of JSON.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.model import ModelReply
from pagemind.runtime.settings import EXTRACT_FACTS, EXTRACT_REPLY_TOKENS, EXTRACT_TEXT_CHARS
from pagemind.runtime.sleep import answer
from pagemind.runtime.sleep.candidate import Candidate, checked
from pagemind.runtime.sleep.job import UNANSWERABLE, SleepContext
from pagemind.runtime.sleep.talk import Talk
from pagemind.runtime.template import load
from pagemind.runtime.untrusted import marker
from pagemind.runtime.wording import plain

_RELATIONS = 40  # in use that a prompt names
_MARGIN = 200  # tokens: those, and what frames a request
_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "maxItems": EXTRACT_FACTS,
            "items": {
                "type": "object",
                "properties": {
                    "quote": {"type": "string"},
                    "text": {"type": "string"},
                    "subject": {"type": "string"},
                    "relation": {"type": "string"},
                    "object": {"type": "string"},
                    "since": {"type": "string"},
                    "importance": {"type": "integer", "minimum": 1, "maximum": 10},
                },
                "required": [
                    "quote",
                    "text",
                    "subject",
                    "relation",
                    "object",
                    "since",
                    "importance",
                ],
                "additionalProperties": False,
            },
        }
    },
    "required": ["facts"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Found:
    """What came of one batch; `fault` where no answer could be read, which `said` then is."""

    candidates: Sequence[Candidate] = ()
    dropped: int = 0
    fault: str = ""
    said: str = ""


def room_for_talk(context: SleepContext) -> int:
    """The tokens that talk may have in one request."""
    head = context.count(load("extract").text)
    return context.room() - reply_tokens(context) - head - _MARGIN


def reply_tokens(context: SleepContext) -> int:
    return context.reply(EXTRACT_REPLY_TOKENS)


def ask(context: SleepContext, talk: Talk, cancel: CancelToken) -> Found:
    """Raises what a model raises, but for what is wrong with this one request or answer."""
    shown = talk.shown(context.zone)
    known = ""
    if relations := context.state.facts.relations()[:_RELATIONS]:
        known = load("extract_known").fill(relations=", ".join(relations))
    prompt = load("extract").fill(known=known, fence=marker(shown), talk=shown)
    first = _answered(context, prompt, _SCHEMA, cancel)
    found = _read(answer.items(first, "facts"), first, talk, context)
    if not found.fault:
        return found
    prompt = load("extract_again").fill(fence=marker(shown), talk=shown)
    second = _answered(context, prompt, None, cancel)
    return _read(answer.lines(second), second, talk, context)


def _answered(
    context: SleepContext, prompt: str, schema: dict[str, Any] | None, cancel: CancelToken
) -> ModelReply:
    with contextlib.suppress(*UNANSWERABLE):
        return context.ask(prompt, max_tokens=reply_tokens(context), schema=schema, cancel=cancel)
    return ModelReply(finish="empty")


def _read(
    items: list[answer.Item] | None, reply: ModelReply, talk: Talk, context: SleepContext
) -> Found:
    if items is None:
        fault = "the model refused" if reply.finish == "refusal" else "the answer is no list"
        return Found(fault=fault, said=reply.text)
    candidates, dropped = checked(items, talk, context.zone)
    if items and not candidates and not _said(items, talk):
        fault = "nothing in the answer was said by anybody"
        return Found(dropped=dropped, fault=fault, said=reply.text)
    return Found(candidates, dropped)


def _said(items: list[answer.Item], talk: Talk) -> bool:
    """Whether any of the quotes stands in the talk, be it the agent's own words, or was to be
    forgotten: then it was read, and is rightly left out."""
    said = plain("\n".join([*(line.text for line in talk.lines), *talk.unsaid]))
    quotes = [plain(answer.text_of(item, "quote", 4 * EXTRACT_TEXT_CHARS)) for item in items]
    return any(quote and quote in said for quote in quotes)
