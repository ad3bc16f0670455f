"""The turn runner: the turns of one agent, from an event to the row that is closed.

A turn is on disk before anything is done in it, and however it ends its row says so; what a killed
process left open is closed by close_left_open(). Whoever calls holds the agent's lock.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from pagemind.runtime.approvals import WaitsForApproval
from pagemind.runtime.background import Background
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errand import Errand, Teamwork
from pagemind.runtime.errors import Cancelled, IdTaken, ModelError, PagemindError, UserError
from pagemind.runtime.event import Event
from pagemind.runtime.heartbeat import wants_heartbeat
from pagemind.runtime.intake import message_of
from pagemind.runtime.loop import INTERRUPTED, Loop
from pagemind.runtime.main_context import MainContext, Prefetched
from pagemind.runtime.message import Message
from pagemind.runtime.person import ApprovalRequest, Consent
from pagemind.runtime.queue_manager import QueueManager
from pagemind.runtime.state.state import State
from pagemind.runtime.state.turns import TurnRow, text_digest
from pagemind.runtime.trace import Observer, TraceEvent, both, ignore
from pagemind.runtime.turn import (
    StopReason,
    Turn,
    TurnLimits,
    TurnResult,
    heard,
    stored_result,
    window_json,
)

Prefetch = Callable[[int, str], Prefetched | None]


class TurnRunner:
    """Of one agent. `prefetch` gives the memories for an event, by its seq and text; `notes` says
    what is amiss with what the agent is made from; `settle` is called after each turn."""

    def __init__(
        self,
        *,
        name: str,
        state: State,
        loop: Loop,
        context: MainContext,
        queue_manager: QueueManager,
        prefetch: Prefetch,
        limits: TurnLimits,
        team: Teamwork,
        idle: Background,
        notes: Callable[[], Sequence[str]],
        settle: Callable[[], None],
    ) -> None:
        self._name = name
        self._state = state
        self._loop = loop
        self._context = context
        self._queue_manager = queue_manager
        self.prefetch = prefetch
        self.limits = limits
        self._team = team
        self._background = idle
        self._notes = notes
        self._noted: frozenset[str] = frozenset()
        self._settle = settle
        self.watch: Observer = ignore
        self.unclosed = False  # a turn runs, or could not be closed

    def handle(self, event: Event, observer: Observer, cancel: CancelToken) -> TurnResult:
        """One event to its end; the stored answer for one that was handled before."""
        message, client_id, event_text = message_of(event)
        if client_id is not None:
            known = self._state.turns.by_client_id(client_id)
            if known is not None:
                result = self._again(known, event_text, observer, cancel)
                self._team.ended(result, Errand.of(event))
                return result
        turns, database = self._state.turns, self._state.database
        self.unclosed = True
        with database.transaction():
            number = turns.next_number()
            stored = self._queue_manager.append(replace(message, turn=number))
            turns.open(
                type(event).__name__,
                client_id=client_id,
                client_digest=text_digest(event_text) if client_id else None,
                conversation=stored.conversation,
                speaker=stored.speaker,
                first_seq=stored.seq,
            )
            if (errand := Errand.of(event)) is not None:
                errand.keep(self._state, number)
        turn = self._turn(number, stored)
        return self._run(turn, stored.text, observer, cancel)

    def _turn(self, number: int, event: Message) -> Turn:
        turn = Turn(
            number,
            event.seq,
            event.conversation,
            event.speaker,
            self._state.clock.monotonic(),
            self.limits,
        )
        turn.message_ids.append(event.short_id)
        notes = self._notes()
        turn.warnings += [each for each in notes if each not in self._noted]
        turn.warnings += self._loop.approvals.told()
        self._noted = frozenset(notes)  # saying it once is enough, until it has changed
        return turn

    def _again(
        self, known: TurnRow, text: str, observer: Observer, cancel: CancelToken
    ) -> TurnResult:
        """A client asks again: the stored answer, or the turn taken up where it stopped."""
        if not self._state.journal.lines.contains(known.first_seq):
            # Neither its answer nor another one: what a person took back is not done again.
            raise IdTaken(
                f"id {known.client_id!r} is that of turn {known.turn}, which was taken back",
                hint=f"give the message a new id, or `pagemind agents bring-back {self._name}`",
            )
        if known.client_digest is None:
            raise IdTaken(
                f"that id is of turn {known.turn}, which was erased",
                hint="what was erased is not done again; give the message a new id",
            )
        if known.client_digest != text_digest(text):
            raise IdTaken(
                f"id {known.client_id!r} was used before for another text (turn {known.turn})",
                hint="give each message an id of its own",
            )
        if known.stop_reason in (None, "interrupted", "model_error"):
            return self.resume(known, observer, cancel)
        replies = [
            message
            for message in self._state.journal.of_turn(known.turn)
            if message.role == "tool" or message.seq in known.reply_seqs
        ]
        texts = heard(replies, heartbeat=self._loop.heartbeat)
        return stored_result(self._name, known, "\n\n".join(texts))

    def resume(
        self,
        row: TurnRow,
        observer: Observer,
        cancel: CancelToken,
        consent: Consent | None = None,
    ) -> TurnResult:
        """Take up a turn where it stopped; with `consent` to the call that waits in it."""
        event = self._state.journal.get([row.first_seq])[row.first_seq]
        if event.erased:
            raise UserError(
                f"turn {row.turn} cannot be taken up: what it was asked was erased",
                hint="say it anew, if it is still wanted",
            )
        self.unclosed = True
        self._state.turns.reopen(row.turn)
        self._queue_manager.hold(event.seq)
        turn = self._turn(row.turn, event)
        if consent is not None:  # what it said before it waited is part of its answer
            turn.reply_seqs.extend(row.reply_seqs)
        return self._run(turn, event.text, observer, cancel, consent)

    def _run(
        self,
        turn: Turn,
        event_text: str,
        observer: Observer,
        cancel: CancelToken,
        consent: Consent | None = None,
    ) -> TurnResult:
        self._background.stop()
        self._team.begin(turn)
        observer = self._queue_manager.observer = both(self.watch, observer)
        error: ModelError | None = None
        try:
            begun = {"turn": turn.number, "conversation": turn.conversation}
            observer(TraceEvent("turn_started", {**begun, "model": self._loop.caller.model.name}))
            usage, done = self._background.collect()
            turn.background += usage
            for event in done:
                observer(event)
            self._context.prefetch = placed = self.prefetch(turn.event_seq, event_text)
            if placed is not None:
                tokens = self._context.sections()["prefetch"]
                observer(TraceEvent("prefetched", {**placed.as_json(), "tokens": tokens}))
            stop: StopReason = self._loop.run(turn, observer, cancel, consent)
        except Cancelled:
            stop = "interrupted"
        except ModelError as failed:
            stop, error = "model_error", failed
            turn.reasons.append(f"model_error: {failed.message}")
        except PagemindError:
            self.finish(turn, "model_error", None)
            raise
        except BaseException:
            # Ctrl-C or a fault of ours: the turn must not stay open, whatever it was.
            self.finish(turn, "interrupted", None)
            raise
        result = self.finish(turn, stop, error)
        observer(TraceEvent("turn_ended", {"stop_reason": stop, "result": result.as_json()}))
        self._settle()
        return result

    def finish(self, turn: Turn, stop: StopReason, error: ModelError | None) -> TurnResult:
        """Close the turn on disk and make its result."""
        if stop != "approval":
            self._loop.mend()
        pressure = self._queue_manager.measure()
        result = TurnResult(
            agent=self._name,
            text="\n\n".join(turn.texts),
            stop_reason=stop,
            reasons=tuple(turn.reasons),
            turn=turn.number,
            conversation=turn.conversation,
            speaker=turn.speaker,
            model=self._loop.caller.model.name,
            steps=turn.steps,
            usage=turn.usage,
            background_tokens=turn.background.prompt_tokens + turn.background.completion_tokens,
            cost=turn.cost,
            cost_known=turn.cost_known,
            tool_calls=tuple(turn.calls),
            flushes=turn.flushes,
            pages_written=turn.pages_written,
            warnings=tuple(turn.warnings),
            window=window_json(pressure),
            message_ids=tuple(turn.message_ids),
            duration_ms=(self._state.clock.monotonic() - turn.started) * 1000,
            error=error,
            pending=turn.pending.as_json() if turn.pending else None,
            others=turn.others,
        )
        stored = result.as_json()
        del stored["text"]  # it stands in the journal already
        self._state.turns.close(
            turn.number,
            stop,
            reasons=tuple(turn.reasons),
            reply_seqs=tuple(turn.reply_seqs),
            result=stored,
        )
        self.unclosed = False
        self._team.ended(result)
        return result

    def close_left_open(self, waiting: ApprovalRequest | None) -> None:
        """Close what a process left open that is gone; the turn in which a call waits goes on
        waiting."""
        for row in self._state.turns.unfinished():
            self._close(row, waiting)
        self.unclosed = False

    def _close(self, row: TurnRow, waiting: ApprovalRequest | None) -> None:
        """A process ended in this turn: if its answer is stored it was answered, and is not asked
        for again."""
        messages = [m for m in self._state.journal.of_turn(row.turn) if m.kind == "talk"]
        waits = waiting is not None and waiting.turn == row.turn
        if not waits and not self._was_answered(messages):
            self._state.turns.close(row.turn, "interrupted", reasons=("the process ended",))
            return
        turn = self._turn(row.turn, messages[0])
        for message in messages[1:]:
            turn.message_ids.append(message.short_id)
            if message.role == "assistant" and (message.text or message.said):
                turn.reply_seqs.append(message.seq)
        turn.texts.extend(heard(messages, heartbeat=self._loop.heartbeat))
        if waiting is not None and waits:
            turn.pending = waiting
            turn.reasons.append(f"approval: {WaitsForApproval(waiting)}")
        self.finish(turn, "approval" if waits else "answered", None)

    def _was_answered(self, messages: Sequence[Message]) -> bool:
        """Whether a turn's last step told the person something and asked for no other step."""
        if not messages:
            return False
        last = messages[-1]
        if last.role == "assistant":
            return not last.tool_calls and not last.text.endswith(INTERRUPTED)
        step = [m for m in messages if m.role == "assistant"][-1:]
        calls = [call for message in step for call in message.tool_calls]
        if last.role != "tool" or not self._loop.heartbeat or any(map(wants_heartbeat, calls)):
            return False
        return bool(heard([*step, *(m for m in messages if m.role == "tool")], heartbeat=True))
