"""The job "extract": finds in finished turns what is worth keeping, as candidates.

It reads turns from where it left off, many in one call; where nobody told anything it asks nobody.
Candidates become rows of `changes` in the transaction that moves the cursor, which goes back by
itself when the turns that it had read are taken back. An answer that cannot be read is asked for
once more, more plainly; then the turns are put aside as a dead row, to be tried again on request.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.message import TRUST
from pagemind.runtime.settings import (
    EXTRACT_BACK,
    EXTRACT_LEAST,
    EXTRACT_TURNS,
    EXTRACT_WAIT_SECONDS,
)
from pagemind.runtime.sleep.asking import Found, ask, room_for_talk
from pagemind.runtime.sleep.candidate import Candidate
from pagemind.runtime.sleep.job import SleepContext
from pagemind.runtime.sleep.talk import Talk, read
from pagemind.runtime.state.changes import Change
from pagemind.runtime.state.turns import TurnRow

READ_FROM = "read from"  # the cursor: the first turn that was ever read
_TOLD = 2000  # characters of an unreadable answer that are kept


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
            found = ask(context, talk, cancel) if talk.tells else Found()
            with context.held():
                if not self._keep(context, talk, found, cursor, again):
                    return

    def _keep(
        self,
        context: SleepContext,
        talk: Talk,
        found: Found,
        cursor: object,
        again: Change | None,
    ) -> bool:
        """Candidates and cursor in one transaction; False where somebody else was faster, or the
        turns were taken back meanwhile."""
        state = context.state
        with state.database.transaction():
            if context.cursor(self.name) != cursor or not _lived(context, talk.last_seq):
                return False
            keep(context, self.name, found.candidates)
            if again is not None:
                if found.fault:
                    state.changes.failed(again.number, found.fault, most=1)
                else:
                    state.changes.settle(again.number, "noop", by="worker")
            else:
                put_aside(context, talk, found)
                if context.cursor(READ_FROM) is None:
                    context.set_cursor(READ_FROM, talk.turns[0])
                context.set_cursor(self.name, talk.turns[-1])
        context.report.count("read", len(talk.turns))
        context.report.count("dropped", found.dropped)
        context.report.count("dead", int(bool(found.fault)))
        return True


def keep(context: SleepContext, job: str, found: Iterable[Candidate], why: str = "") -> None:
    """What a model found, as candidates; inside a transaction."""
    state = context.state
    for each in found:
        state.changes.add(
            job,
            "",
            {**each.body, "scope": context.scope},
            state="candidate",
            seq=state.journal.last_seq,
            why=why,
            sources=[each.source],
            trust=min(each.trust, TRUST["model"]),  # it words what was said
        )
        context.report.count("found")


def put_aside(context: SleepContext, talk: Talk, found: Found) -> None:
    """Turns of which no answer could be read, to be tried again on request; inside a
    transaction."""
    if found.fault:
        changes = context.state.changes
        row = changes.add(
            Extract.name,
            "",
            {"turns": list(talk.turns), "answer": found.said[:_TOLD]},
            state="candidate",
            seq=context.state.journal.last_seq,
            trust=0,
        )
        changes.failed(row.number, found.fault, most=1)


def has_read(context: SleepContext, turn: int) -> bool:
    """Whether a turn was looked at for facts already."""
    first, last = context.cursor(READ_FROM), context.cursor(Extract.name)
    return first is not None and last is not None and int(first) <= turn <= int(last)


# --- where it is ------------------------------------------------------------------------------


def _lived(context: SleepContext, seq: int) -> bool:
    ranges = context.state.journal.live_ranges()
    return seq == 0 or ranges is None or any(low <= seq <= high for low, high in ranges)


def _unread(context: SleepContext) -> list[TurnRow]:
    turns = context.state.turns
    at = context.cursor(Extract.name)
    if at is not None:
        return turns.finished_after(int(at), EXTRACT_TURNS)
    known = turns.newest(EXTRACT_BACK)
    return turns.finished_after(known[-1].turn - 1 if known else 0, EXTRACT_TURNS)


def alike(context: SleepContext, turns: Sequence[int]) -> list[int]:
    """The first of these turns that are trusted alike; those that tell nothing are like any."""
    found: list[int] = []
    trust = 0
    for turn in turns:
        talk = read(context.state, [turn], context.count)
        own = min((line.trust for line in talk.people), default=0)
        if trust and own and own != trust:
            break
        trust = trust or own
        found.append(turn)
    return found


def _put_aside(context: SleepContext) -> Change | None:
    """Turns that are to be tried again."""
    return next(context.state.changes.candidates(job=Extract.name, has="turns"), None)


def _talk_again(context: SleepContext, again: Change) -> Talk:
    return read(context.state, [int(turn) for turn in again.body["turns"]], context.count)


def _batch(context: SleepContext) -> Talk:
    """As many of the unread turns as a request has room for, one at least; of one trust, since a
    model words by all that it reads."""
    turns = alike(context, [row.turn for row in _unread(context)])
    room = room_for_talk(context)
    size = len(turns)
    while True:
        talk = read(context.state, turns[:size], context.count)
        if size == 1 or context.count(talk.shown(context.zone)) <= room:
            return talk
        size = (size + 1) // 2
