"""The loop: a turn is steps, and a step is one model call and the calls it asks for.

    [ relieve → render → model → append reply → execute calls → append results ]* → answer

A turn runs until the model answers without a tool call (design D1), or a limit ends it by name.
"""

from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import Protocol

from pagemind.runtime.approvals import Approvals, WaitsForApproval
from pagemind.runtime.arguments import plain_arguments
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import rfc3339
from pagemind.runtime.function_executor import FunctionExecutor
from pagemind.runtime.gate import Gate
from pagemind.runtime.heartbeat import wants_heartbeat
from pagemind.runtime.mend import mend
from pagemind.runtime.message import (
    TRUST,
    Message,
    Part,
    Provenance,
    Text,
    ToolCall,
    clean_json,
    clean_text,
)
from pagemind.runtime.model import ModelReply
from pagemind.runtime.model_caller import Interrupted, ModelCaller
from pagemind.runtime.person import Consent, Person, Unhurried
from pagemind.runtime.queue_manager import QueueManager
from pagemind.runtime.settings import EMPTY_RETRIES, MAX_CALLS, NUDGE_AT, REQUIRED_NUDGES
from pagemind.runtime.state.state import State
from pagemind.runtime.step_trust import StepTrust
from pagemind.runtime.template import load
from pagemind.runtime.tool import ToolContext
from pagemind.runtime.trace import Observer, TraceEvent
from pagemind.runtime.turn import CallRecord, StopReason, Turn

INTERRUPTED = " [interrupted]"  # the end of a reply that was cut off after it was shown


class MakeContext(Protocol):
    """The context of a call."""

    def __call__(self, call_id: str, turn: int) -> ToolContext: ...


class Loop:
    """Runs the turns of one agent. `day_budget` is in US dollars a day of its time zone, and
    `spent_beside` what was spent since a time beside the turns: on summaries, gists, embeddings."""

    def __init__(
        self,
        *,
        state: State,
        caller: ModelCaller,
        queue_manager: QueueManager,
        executor: FunctionExecutor,
        tool_context: MakeContext,
        approvals: Approvals,
        gate: Gate,
        step_trust: StepTrust,
        heartbeat: bool,
        day_budget: float | None,
        spent_beside: Callable[[datetime], float],
        zone: tzinfo,
    ) -> None:
        self.caller = caller
        self._state = state
        self._queue_manager = queue_manager
        self._executor = executor
        self._tool_context = tool_context
        self.approvals = approvals
        self._gate = gate
        self._step_trust = step_trust
        self.person: Person | None = None  # who is there, for functions that ask
        self.shared: Container[object] = ()  # labels of blocks that others edit, too
        self.heartbeat = heartbeat
        self._day_budget = day_budget
        self._spent_beside = spent_beside
        self._zone = zone

    def run(
        self,
        turn: Turn,
        observer: Observer,
        cancel: CancelToken,
        consent: Consent | None = None,
    ) -> StopReason:
        """Steps until one of them ends the turn; before them, with `consent`, the calls of which
        the first waited for it. Raises Cancelled, ModelError, LimitExceeded."""
        self._gate.begin(turn.number)
        turn.warnings += self._gate.told()
        if consent is None:
            self.approvals.lapse()
        elif stop := self._go_on(turn, observer, cancel, consent):
            return stop
        while True:
            if stop := self.step(turn, observer, cancel):
                return stop

    def step(self, turn: Turn, observer: Observer, cancel: CancelToken) -> StopReason | None:
        """One model call and the calls it asks for; the reason to stop, or None to go on."""
        cancel.check()
        if stop := turn.exceeded(self._state.clock.monotonic(), self.day_left()):
            return stop
        turn.steps += 1
        turn.count_flush(self._queue_manager.relieve(turn.event_seq, cancel))
        try:
            step, reply = self.caller.call(turn, self._queue_manager, observer, cancel)
        except Interrupted as cut:
            # What the person has read was said: it stays, as text, without half a call.
            self._say(turn, cut.step, (Text(clean_text(cut.text) + INTERRUPTED),))
            raise cut.cause from None
        return self._take(turn, step, reply, observer, cancel)

    def _take(
        self,
        turn: Turn,
        step: int,
        reply: ModelReply,
        observer: Observer,
        cancel: CancelToken,
    ) -> StopReason | None:
        text = clean_text(reply.text)
        calls = self._with_ids(reply.tool_calls[:MAX_CALLS])
        if reply.finish == "refusal":
            if text.strip():
                self._say(turn, step, (Text(text),))
            turn.reasons.append("refused: the model declined")
            return "refused"
        if not text.strip() and not calls:
            # An empty assistant message is never stored: providers refuse it ever after.
            turn.empties += 1
            if turn.empties <= EMPTY_RETRIES:
                return None
            turn.reasons.append("empty: the model answered nothing")
            return "empty"
        reasoning = tuple(replace(r, opaque=clean_json(r.opaque)) for r in reply.reasoning)
        parts: tuple[Part, ...] = (*reasoning, Text(text)) if text.strip() else reasoning
        self._say(turn, step, parts, calls)
        if dropped := len(reply.tool_calls) - len(calls):
            turn.warnings.append(f"{dropped} more calls of one reply were dropped")
        if not calls:
            if reply.finish == "length":
                turn.warnings.append("the reply was cut off by the output limit")
            return self._answered(turn)
        cut_off = len(reply.tool_calls) - 1 if reply.finish == "length" else None
        return self._call_all(turn, step, calls, observer, cancel, cut_off=cut_off)

    def _go_on(
        self, turn: Turn, observer: Observer, cancel: CancelToken, consent: Consent
    ) -> StopReason | None:
        """The calls of the newest reply that have no result, the first with its consent."""
        _, calls = self.approvals.open_calls()
        step = self._state.history.last_step
        return self._call_all(turn, step, calls, observer, cancel, consent=consent)

    def _call_all(
        self,
        turn: Turn,
        step: int,
        calls: Sequence[ToolCall],
        observer: Observer,
        cancel: CancelToken,
        *,
        cut_off: int | None = None,
        consent: Consent | None = None,
    ) -> StopReason | None:
        spoke = False
        self._step_trust.now = self._trust_of(calls)
        self._step_trust.seen = self._gate.outside()
        for at, call in enumerate(calls):
            cancel.check()
            if at and (stop := turn.stuck()):
                return stop  # mend() gives the calls that are left their results
            try:
                spoke |= self._execute(
                    turn, step, call, observer, cancel, cut_off=at == cut_off, consent=consent
                )
            except WaitsForApproval as waits:
                turn.pending = waits.request
                turn.reasons.append(f"approval: {waits}")
                return "approval"
            consent = None  # it was for one call
        if self._gate.cleared():
            turn.warnings += self._gate.told()
            return None
        if self.heartbeat and spoke and not any(map(wants_heartbeat, calls)):
            return self._answered(turn)
        if self.heartbeat and not any(map(wants_heartbeat, calls)):
            # The paper's protocol ends here; a turn that said nothing yet goes on, because weak
            # models forget the flag and the person would get no answer.
            return self._answered(turn) if turn.texts else None
        return None

    def _trust_of(self, calls: Sequence[ToolCall]) -> int:
        """That of the reply that made these calls: they are the newest there is."""
        opening, open_calls = self.approvals.open_calls()
        known = {call.id for call in open_calls}
        made = opening is not None and any(call.id in known for call in calls)
        return opening.provenance.trust if opening is not None and made else 0

    def _answered(self, turn: Turn) -> StopReason | None:
        """The end of a turn, unless a function is left that it must have called."""
        names = self._executor.missing(turn.number)
        if not names:
            return "answered"
        listed = ", ".join(names)
        if turn.nudges >= REQUIRED_NUDGES:
            turn.reasons.append(f"required: {listed} was not called")
            return "required"
        turn.nudges += 1
        self._queue_manager.append(
            Message(
                "user",
                (Text(load("required").fill(names=listed).strip()),),
                kind="notice",
                turn=turn.number,
                conversation=turn.conversation,
                speaker="pagemind",
                provenance=Provenance("runtime", "required"),
            )
        )
        return None

    def _with_ids(self, calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
        """Every call has an id of its own; ids that are there are never rewritten. What no
        database or provider could hold is cleaned, whichever model it came from."""
        seen: set[str] = set()
        fixed = []
        made = f"call_{self._state.journal.last_seq + 1}"  # by the message: a replay makes it again
        for at, call in enumerate(calls, 1):
            call = ToolCall(
                clean_text(call.id),
                clean_text(call.name),
                plain_arguments(clean_text(call.arguments)),
            )
            if not call.id or call.id in seen:
                call = replace(call, id=f"{made}_{at}")
            seen.add(call.id)
            fixed.append(call)
        return tuple(fixed)

    def _say(
        self,
        turn: Turn,
        step: int,
        parts: tuple[Part, ...],
        calls: tuple[ToolCall, ...] = (),
    ) -> Message:
        message = self._queue_manager.append(
            Message(
                "assistant",
                parts,
                tool_calls=calls,
                turn=turn.number,
                conversation=turn.conversation,
                speaker="assistant",
                # No better than the worst of what it was made from (design D14).
                provenance=Provenance(
                    "model",
                    self.caller.model.name,
                    min(TRUST["model"], self._queue_manager.context.min_trust()),
                ),
            ),
            step=step,
        )
        turn.message_ids.append(message.short_id)
        # With protocol heartbeat text beside calls is private thought; prose where send_message
        # was wanted still reaches the person.
        if message.text and not (self.heartbeat and calls):
            turn.texts.append(message.text)
        if message.text or message.said:
            turn.reply_seqs.append(message.seq)
        return message

    def _execute(
        self,
        turn: Turn,
        step: int,
        call: ToolCall,
        observer: Observer,
        cancel: CancelToken,
        *,
        cut_off: bool,
        consent: Consent | None,
    ) -> bool:
        """Run one call; whether it spoke to the person."""
        times = turn.meet(call)
        note = ""
        if times >= NUDGE_AT:
            note = load("nudge").fill(count=times, name=call.name).strip()
        observer(
            TraceEvent(
                "tool_called", {"id": call.id, "name": call.name, "arguments": call.parsed()}
            )
        )

        def store(message: Message) -> Message:
            placed = replace(message, turn=turn.number, conversation=turn.conversation)
            return self._queue_manager.append(placed, step=step)

        context = self._tool_context(call.id, turn.number)
        person = self.person and Unhurried(self.person, self._state.clock, turn.wait)
        context = replace(context, person=person, cancel=cancel, trust=self._step_trust())
        outcome = self._executor.execute(
            call, context, store, cut_off=cut_off, note=note, consent=consent
        )
        self._gate.brought(outcome.message.seq, outcome.trust)
        turn.warnings += self._gate.told()
        turn.message_ids.append(outcome.message.short_id)
        turn.record(
            CallRecord(call.id, call.name, call.parsed(), outcome.ok, outcome.error, outcome.ms)
        )
        observer(
            TraceEvent(
                "tool_returned",
                {
                    "id": call.id,
                    "name": call.name,
                    "ok": outcome.ok,
                    "ms": outcome.ms,
                    "text": outcome.message.text,
                },
            )
        )
        if outcome.speech is None:
            return False
        turn.texts.append(outcome.speech)
        observer(TraceEvent("text_delta", {"text": outcome.speech}))
        return True

    def mend(self) -> None:
        """Give every resident call without a result a synthetic one, so that the history is
        legal."""
        mend(self._queue_manager, self._executor.effect, self.shared)

    def effect(self, name: str) -> str:
        """What a function does: none, memory or world."""
        return self._executor.effect(name)

    def call(
        self,
        name: str,
        arguments: dict[str, object],
        once: str,
        consent: Consent | None,
        cancel: CancelToken | None,
        trust: int,
    ) -> str:
        """Run a function by hand, as trusted as what its arguments come from; see
        FunctionExecutor.call."""
        self._step_trust.now = trust
        context = self._tool_context(once, 0)
        context = replace(context, person=self.person, cancel=cancel, trust=trust)
        return self._executor.call(name, arguments, context, once=once, consent=consent)

    @property
    def functions(self) -> FunctionExecutor:
        """What runs the functions."""
        return self._executor

    def day_left(self) -> float | None:
        """What is left of the day's budget in US dollars; None for no budget."""
        if self._day_budget is None:
            return None
        now = self._state.clock.now().astimezone(self._zone)
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        turns = self._state.history.cost_since(rfc3339(midnight))
        return self._day_budget - turns - self._spent_beside(midnight)
