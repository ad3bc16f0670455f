"""The job "extract": finds in finished turns what is worth keeping, as candidates.

It reads turns from where it left off, many in one call; where nobody told anything it asks nobody.
Candidates become rows of `changes` in the transaction that moves the cursor, which goes back by
itself when the turns that it had read are taken back. An answer that cannot be read is asked for
once more, more plainly; then the turns are put aside as a dead row, to be tried again on request.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import BadReply, BadRequest, ContextOverflow, OutputReserveConflict
from pagemind.runtime.model import ModelReply
from pagemind.runtime.settings import (
    EXTRACT_BACK,
    EXTRACT_FACTS,
    EXTRACT_LEAST,
    EXTRACT_REPLY_TOKENS,
    EXTRACT_TEXT_CHARS,
    EXTRACT_TURNS,
    EXTRACT_WAIT_SECONDS,
)
from pagemind.runtime.sleep import answer
from pagemind.runtime.sleep.candidate import Candidate, checked
from pagemind.runtime.sleep.job import SleepContext
from pagemind.runtime.sleep.talk import Talk, plain, read
from pagemind.runtime.state.changes import Change
from pagemind.runtime.state.turns import TurnRow
from pagemind.runtime.template import load
from pagemind.runtime.transcript import fence

_MARKS = 32  # places that the cursor can go back to
_RELATIONS = 40  # in use that a prompt names
_TOLD = 2000  # characters of an unreadable answer that are kept
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
class _Found:
    """What came of one batch; `fault` where no answer could be read, which `said` then is."""

    candidates: Sequence[Candidate] = ()
    dropped: int = 0
    fault: str = ""
    said: str = ""


class Extract:
    """Candidates from talk."""

    name = "extract"

    def due(self, context: SleepContext) -> bool:
        if context.model is None or not context.spec.extract or not context.may_write("semantic"):
            return False
        if _put_aside(context):
            return True
        turns = _unread(context)
        if not turns or context.eager or len(turns) >= EXTRACT_TURNS:
            return bool(turns)
        over = turns[-1].conversation != context.state.journal.conversation
        waited = context.now() - (turns[0].ended_at or context.now())
        return (over and len(turns) >= EXTRACT_LEAST) or waited >= timedelta(
            seconds=EXTRACT_WAIT_SECONDS
        )

    def run(self, context: SleepContext, cancel: CancelToken) -> None:
        while True:
            cancel.check()
            with context.held():
                if not self.due(context):
                    return
                again = _put_aside(context)
                cursor = context.cursor(self.name)
                talk = _talk_again(context, again) if again else _batch(context)
            found = _ask(context, talk, cancel) if talk.tells else _Found()
            with context.held():
                if not self._keep(context, talk, found, cursor, again):
                    return

    def _keep(
        self,
        context: SleepContext,
        talk: Talk,
        found: _Found,
        cursor: object,
        again: Change | None,
    ) -> bool:
        """Candidates and cursor in one transaction; False where somebody else was faster, or the
        turns were taken back meanwhile."""
        state = context.state
        with state.database.transaction():
            if context.cursor(self.name) != cursor or not _lived(context, talk.last_seq):
                return False
            seq = state.journal.last_seq
            for each in found.candidates:
                state.changes.add(
                    self.name,
                    "",
                    {**each.body, "scope": context.scope},
                    state="candidate",
                    seq=seq,
                    sources=[each.source],
                    trust=each.trust,
                )
            if again is not None:
                if found.fault:
                    state.changes.failed(again.number, found.fault, most=1)
                else:
                    state.changes.settle(again.number, "noop", by="worker")
            else:
                if found.fault:
                    body = {"turns": list(talk.turns), "answer": found.said[:_TOLD]}
                    row = state.changes.add(
                        self.name, "", body, state="candidate", seq=seq, trust=0
                    )
                    state.changes.failed(row.number, found.fault, most=1)
                marks = [*_marks(context), [seq, talk.turns[-1]]][-_MARKS:]
                context.set_cursor(self.name, {"marks": marks})
        context.report.count("read", len(talk.turns))
        context.report.count("found", len(found.candidates))
        context.report.count("dropped", found.dropped)
        context.report.count("dead", int(bool(found.fault)))
        return True


# --- where it is ------------------------------------------------------------------------------


def _marks(context: SleepContext) -> list[list[int]]:
    """Places that it was at, and the newest seq then: those on the current line."""
    kept = (context.cursor(Extract.name) or {}).get("marks", [])
    return [[seq, turn] for seq, turn in kept if _lived(context, seq)]


def _lived(context: SleepContext, seq: int) -> bool:
    ranges = context.state.journal.live_ranges()
    return seq == 0 or ranges is None or any(low <= seq <= high for low, high in ranges)


def _unread(context: SleepContext) -> list[TurnRow]:
    turns = context.state.turns
    marks = _marks(context)
    if marks:
        return turns.finished_after(marks[-1][1], EXTRACT_TURNS)
    known = turns.newest(EXTRACT_BACK)
    return turns.finished_after(known[-1].turn - 1 if known else 0, EXTRACT_TURNS)


def _put_aside(context: SleepContext) -> Change | None:
    """Turns that are to be tried again."""
    waiting = context.state.changes.in_state("candidate", job=Extract.name)
    return next((each for each in waiting if "turns" in each.body), None)


def _talk_again(context: SleepContext, again: Change) -> Talk:
    return read(context.state, [int(turn) for turn in again.body["turns"]], context.count)


def _batch(context: SleepContext) -> Talk:
    """As many of the unread turns as a request has room for, one at least."""
    turns = [row.turn for row in _unread(context)]
    head = load("extract").fill(known="", fence="", talk="")
    room = context.room() - _reply(context) - context.count(head) - 200
    size = len(turns)
    while True:
        talk = read(context.state, turns[:size], context.count)
        if size == 1 or context.count(talk.shown(context.zone)) <= room:
            return talk
        size = (size + 1) // 2


# --- what it asks -----------------------------------------------------------------------------


def _reply(context: SleepContext) -> int:
    return min(EXTRACT_REPLY_TOKENS, max(128, context.room() // 3))


def _ask(context: SleepContext, talk: Talk, cancel: CancelToken) -> _Found:
    """Raises what a model raises, but for what is wrong with this one request or answer."""
    shown = talk.shown(context.zone)
    known = ""
    if relations := context.state.facts.relations()[:_RELATIONS]:
        known = load("extract_known").fill(relations=", ".join(relations))
    prompt = load("extract").fill(known=known, fence=fence(shown), talk=shown)
    first = _answered(context, prompt, _SCHEMA, cancel)
    found = _read(answer.items(first, "facts"), first, talk, context)
    if not found.fault:
        return found
    prompt = load("extract_again").fill(fence=fence(shown), talk=shown)
    second = _answered(context, prompt, None, cancel)
    return _read(answer.lines(second), second, talk, context)


def _answered(
    context: SleepContext, prompt: str, schema: dict[str, Any] | None, cancel: CancelToken
) -> ModelReply:
    with contextlib.suppress(BadReply, BadRequest, ContextOverflow, OutputReserveConflict):
        return context.ask(prompt, max_tokens=_reply(context), schema=schema, cancel=cancel)
    return ModelReply(finish="empty")


def _read(
    items: list[answer.Item] | None, reply: ModelReply, talk: Talk, context: SleepContext
) -> _Found:
    if items is None:
        fault = "the model refused" if reply.finish == "refusal" else "the answer is no list"
        return _Found(fault=fault, said=reply.text)
    candidates, dropped = checked(items, talk, context.zone)
    if items and not candidates and not _said(items, talk):
        fault = "nothing in the answer was said by anybody"
        return _Found(dropped=dropped, fault=fault, said=reply.text)
    return _Found(candidates, dropped)


def _said(items: list[answer.Item], talk: Talk) -> bool:
    """Whether any of the quotes stands in the talk, be it the agent's own words, or was to be
    forgotten: then it was read, and is rightly left out."""
    said = plain("\n".join([*(line.text for line in talk.lines), *talk.unsaid]))
    quotes = [plain(answer.text_of(item, "quote", 4 * EXTRACT_TEXT_CHARS)) for item in items]
    return any(quote and quote in said for quote in quotes)
