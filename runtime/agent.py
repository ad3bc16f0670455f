"""The agent: handle(event) runs a turn, step() is one model call and the calls it asks for.

    event → append → [ relieve → render → model → append reply → execute calls → append results ]*
    → answer

A turn runs until the model answers without a tool call (design D1). Everything is committed before
it is acted on; a kill at any instant leaves an agent that can go on.
"""

import hashlib
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta, tzinfo
from queue import SimpleQueue
from typing import Any

from pagemind.runtime.archival_memory import ArchivalMemory
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import rfc3339
from pagemind.runtime.errors import (
    Cancelled,
    ContextOverflow,
    ModelError,
    OutputReserveConflict,
    PagemindError,
    UserError,
)
from pagemind.runtime.event import AgentMessage, Event, SystemAlert, TimerFired, UserMessage
from pagemind.runtime.function_executor import FunctionExecutor
from pagemind.runtime.heartbeat import wants_heartbeat
from pagemind.runtime.main_context import MainContext
from pagemind.runtime.message import TRUST, Message, Origin, Provenance, Text, ToolCall, clean_text
from pagemind.runtime.model import Model, ModelReply, ModelRequest
from pagemind.runtime.passage import Passage
from pagemind.runtime.pressure import Pressure, Window
from pagemind.runtime.queue_manager import Flushed, QueueManager
from pagemind.runtime.settings import (
    EMPTY_RETRIES,
    NUDGE_AT,
    OVERFLOW_RETRIES,
    OVERFLOW_SHRINK,
    RESERVE_MIN_TOKENS,
)
from pagemind.runtime.state.state import State
from pagemind.runtime.state.turns import TurnRow, text_digest
from pagemind.runtime.template import load
from pagemind.runtime.tiers.search import Search
from pagemind.runtime.tokens import Calibration, first_guess
from pagemind.runtime.tool import ToolContext
from pagemind.runtime.trace import Observer, TraceEvent, ignore
from pagemind.runtime.turn import (
    CallRecord,
    StopReason,
    Turn,
    TurnLimits,
    TurnResult,
    window_json,
)

Prefetch = Callable[[str], str]


class Agent:
    """One agent, ready to run in this process. Made by boot.py; safe to call from any thread.

    `tool_context` makes the context of a call from its id and turn; `prefetch` gives the fenced
    memories for an event's text ("" for none); `closed` releases what the runtime holds for it.
    """

    def __init__(
        self,
        *,
        name: str,
        id: str,
        state: State,
        model: Model,
        window: Callable[[], Window],
        context: MainContext,
        queue_manager: QueueManager,
        executor: FunctionExecutor,
        tool_context: Callable[[str, int], ToolContext],
        prefetch: Prefetch,
        limits: TurnLimits,
        heartbeat: bool,
        day_budget: float | None,
        zone: tzinfo,
        background: bool,
        archival: ArchivalMemory,
        engine: Search,
        written: Callable[[], None],
        closed: Callable[["Agent"], None],
    ) -> None:
        self.name = name
        self.id = id
        self.state = state
        self.model = model
        self.window = window
        self.context = context
        self.queue_manager = queue_manager
        self.zone = zone
        self._executor = executor
        self._tool_context = tool_context
        self._prefetch = prefetch
        self._limits = limits
        self._heartbeat = heartbeat
        self._day_budget = day_budget
        self._background = background
        self.archival = archival
        self.engine = engine
        self._written = written
        self._closed = closed
        self._lock = threading.RLock()
        self._idle: threading.Thread | None = None
        self._calibration = state.calibration(model.name) or first_guess(model.name)

    # --- the faces ------------------------------------------------------------------------------

    def send(
        self,
        text: str,
        *,
        speaker: str = "user",
        id: str | None = None,
        observer: Observer = ignore,
        cancel: CancelToken | None = None,
    ) -> TurnResult:
        """A person says something. The same `id` again returns the stored result.

        Raises UserError for empty text or another text under a known id, PromptTooLarge where
        the request cannot fit, StorageError. A failing model ends the turn with `model_error`.
        """
        return self.handle(UserMessage(text, speaker, id), observer=observer, cancel=cancel)

    async def asend(
        self,
        text: str,
        *,
        speaker: str = "user",
        id: str | None = None,
        observer: Observer = ignore,
    ) -> TurnResult:
        """`send` in a thread. Cancelling the task stops the turn."""
        import asyncio

        cancel = CancelToken()
        turn = asyncio.to_thread(
            self.send, text, speaker=speaker, id=id, observer=observer, cancel=cancel
        )
        try:
            return await turn
        except asyncio.CancelledError:
            cancel.cancel()
            raise

    def stream(
        self, text: str, *, speaker: str = "user", id: str | None = None
    ) -> Iterator[TraceEvent]:
        """The turn's TraceEvents as they happen; the last is turn_ended with the result.

        Closing the iterator stops the turn.
        """
        events: SimpleQueue[TraceEvent | BaseException | None] = SimpleQueue()
        cancel = CancelToken()

        def run() -> None:
            try:
                self.send(text, speaker=speaker, id=id, observer=events.put, cancel=cancel)
                events.put(None)
            except BaseException as error:
                events.put(error)

        thread = threading.Thread(target=run, name=f"turn of {self.name}", daemon=True)
        thread.start()
        try:
            while (event := events.get()) is not None:
                if isinstance(event, BaseException):
                    raise event
                yield event
        finally:
            cancel.cancel()
            thread.join()

    async def astream(self, text: str, *, speaker: str = "user") -> AsyncIterator[TraceEvent]:
        """`stream` for async code."""
        import asyncio

        events = self.stream(text, speaker=speaker)
        while (event := await asyncio.to_thread(next, events, None)) is not None:
            yield event

    def observe(self, text: str, *, source: str, speaker: str = "") -> Message:
        """Record something that happened: searchable and in the queue, without a model call."""
        with self._lock:
            message = self._record(text, source, speaker)
            self.queue_manager.make_room()
        return message

    def _record(self, text: str, source: str, speaker: str) -> Message:
        return self.queue_manager.append(
            Message(
                "user",
                (Text(_checked_text(text)),),
                kind="observation",
                speaker=speaker or source,
                provenance=Provenance("tool", source, TRUST["tool"]),
            )
        )

    def retry(
        self, *, observer: Observer = ignore, cancel: CancelToken | None = None
    ) -> TurnResult:
        """Take up the last turn that ended without an answer. Raises UserError if there is none."""
        with self._lock:
            last = next(iter(self.state.turns.newest(1)), None)
            if last is None or last.stop_reason == "answered":
                raise UserError("there is nothing to retry", hint="the last turn was answered")
            return self._resume(last, observer, cancel)

    def new_conversation(self) -> int:
        """Start a new conversation; its number. The queue stays."""
        with self._lock:
            return self.state.journal.new_conversation()

    # --- a turn ---------------------------------------------------------------------------------

    def handle(
        self,
        event: Event,
        *,
        observer: Observer = ignore,
        cancel: CancelToken | None = None,
    ) -> TurnResult:
        """Handle one event to its end."""
        with self._lock:
            self.take_inbox()
            message, client_id, event_text = _message_of(event)
            if client_id is not None:
                known = self.state.turns.by_client_id(client_id)
                if known is not None:
                    return self._again(known, event_text, observer, cancel)
            turns, database = self.state.turns, self.state.database
            with database.transaction():
                number = turns.next_number()
                stored = self.queue_manager.append(replace(message, turn=number))
                turns.open(
                    type(event).__name__,
                    client_id=client_id,
                    client_digest=text_digest(event_text) if client_id else None,
                    conversation=stored.conversation,
                    speaker=stored.speaker,
                    first_seq=stored.seq,
                )
            turn = self._turn(number, stored)
            return self._run(turn, stored.text, observer, cancel or CancelToken())

    def _turn(self, number: int, event: Message) -> Turn:
        turn = Turn(
            number,
            event.seq,
            event.conversation,
            event.speaker,
            self.state.clock.monotonic(),
            self._limits,
        )
        turn.message_ids.append(event.short_id)
        return turn

    def _again(
        self, known: TurnRow, text: str, observer: Observer, cancel: CancelToken | None
    ) -> TurnResult:
        """A client asks again: the stored answer, or the turn taken up where it stopped."""
        if known.client_digest != text_digest(text):
            raise UserError(
                f"id {known.client_id!r} was used before for another text (turn {known.turn})",
                hint="give each message an id of its own",
            )
        if known.stop_reason in (None, "interrupted", "model_error"):
            return self._resume(known, observer, cancel)
        texts = self.state.journal.get(known.reply_seqs)
        result = known.result
        usage = result["usage"]
        return TurnResult(
            agent=self.name,
            text="\n\n".join(texts[seq].text for seq in known.reply_seqs if seq in texts),
            stop_reason=result["stop_reason"],
            reasons=known.reasons,
            turn=known.turn,
            conversation=known.conversation,
            speaker=known.speaker,
            model=result["model"],
            steps=result["steps"],
            usage=_usage(usage),
            background_tokens=usage["background_tokens"],
            cost=result["cost"]["amount"],
            cost_known=result["cost"]["known"],
            tool_calls=tuple(CallRecord(**call) for call in result["tool_calls"]),
            flushes=result["flushes"],
            pages_written=result["pages_written"],
            warnings=tuple(result["warnings"]),
            window=result["window"],
            message_ids=tuple(result["message_ids"]),
            duration_ms=result["duration_ms"],
        )

    def _resume(self, row: TurnRow, observer: Observer, cancel: CancelToken | None) -> TurnResult:
        event = self.state.journal.get([row.first_seq])[row.first_seq]
        self.state.turns.reopen(row.turn)
        return self._run(self._turn(row.turn, event), event.text, observer, cancel or CancelToken())

    def _run(
        self, turn: Turn, event_text: str, observer: Observer, cancel: CancelToken
    ) -> TurnResult:
        self.queue_manager.observer = observer
        observer(
            TraceEvent("turn_started", {"turn": turn.number, "conversation": turn.conversation})
        )
        error: ModelError | None = None
        try:
            memories = self._prefetch(event_text)
            self.context.prefetch = (turn.event_seq, memories) if memories else None
            stop: StopReason | None = None
            while stop is None:
                stop = self.step(turn, observer, cancel)
        except Cancelled:
            stop = "interrupted"
        except ModelError as failed:
            stop, error = "model_error", failed
            turn.reasons.append(f"model_error: {failed.message}")
        except PagemindError:
            self._finish(turn, "model_error", None)
            raise
        except BaseException:
            # Ctrl-C or a fault of ours: the turn must not stay open, whatever it was.
            self._finish(turn, "interrupted", None)
            raise
        result = self._finish(turn, stop, error)
        observer(TraceEvent("turn_ended", {"stop_reason": stop, "result": result.as_json()}))
        self._settle()
        return result

    def step(self, turn: Turn, observer: Observer, cancel: CancelToken) -> StopReason | None:
        """One model call and the calls it asks for; the reason to stop, or None to go on."""
        cancel.check()
        if stop := turn.exceeded(self.state.clock.monotonic(), self._day_left()):
            return stop
        turn.steps += 1
        self._count_flush(turn, self.queue_manager.relieve(turn.event_seq, cancel))
        step, reply = self._call(turn, observer, cancel)
        return self._take(turn, step, reply, observer, cancel)

    # --- the model ------------------------------------------------------------------------------

    def _call(self, turn: Turn, observer: Observer, cancel: CancelToken) -> tuple[int, ModelReply]:
        """Ask the model; where the provider says that the prompt is too long, ask with less."""
        max_tokens = self.window().reserve
        limit = self.queue_manager.measure().used
        for attempt in range(OVERFLOW_RETRIES + 1):
            pressure = self.queue_manager.measure()
            request = self.context.render(max_tokens)
            step = self._begin_step(turn, request, pressure)
            observer(
                TraceEvent(
                    "model_called",
                    {"step": step, "prompt_tokens": pressure.used, "usable": pressure.usable},
                )
            )
            try:
                reply = self._complete(turn, step, request, observer, cancel)
            except (ContextOverflow, OutputReserveConflict) as overflow:
                if attempt == OVERFLOW_RETRIES:
                    raise
                # Prompt plus max_tokens over the window is told in the same words as a long
                # prompt: with a prompt below half of the window it can only be the former.
                conflict = isinstance(overflow, OutputReserveConflict)
                short = pressure.used < pressure.usable // 2
                if (conflict or short) and max_tokens > RESERVE_MIN_TOKENS:
                    max_tokens = max(RESERVE_MIN_TOKENS, max_tokens // 2)
                    continue
                limit = int(min(limit, pressure.used) * OVERFLOW_SHRINK)
                self._count_flush(turn, self.queue_manager.shrink(turn.event_seq, limit, cancel))
                continue
            self._learn(turn, step, reply, pressure)
            observer(
                TraceEvent(
                    "model_replied",
                    {
                        "step": step,
                        "finish": reply.finish,
                        "prompt_tokens": reply.usage.prompt_tokens,
                        "completion_tokens": reply.usage.completion_tokens,
                        "cached_tokens": reply.usage.cached_tokens,
                    },
                )
            )
            return step, reply
        raise AssertionError("the last attempt raises")

    def _begin_step(self, turn: Turn, request: ModelRequest, pressure: Pressure) -> int:
        return self.state.history.begin_step(
            turn=turn.number,
            epoch=self.queue_manager.epoch,
            model=self.model.name,
            settings={"max_tokens": request.max_tokens},
            last_seq=self.state.journal.last_seq,
            prefetch=self.context.prefetch[1] if self.context.prefetch else "",
            request_sha256=request_digest(request),
            estimated_tokens=pressure.used,
            min_trust=self.context.min_trust(),
        )

    def _complete(
        self,
        turn: Turn,
        step: int,
        request: ModelRequest,
        observer: Observer,
        cancel: CancelToken,
    ) -> ModelReply:
        pieces: list[str] = []

        def on_text(piece: str) -> None:
            pieces.append(piece)
            observer(TraceEvent("text_delta", {"text": piece}))

        def on_retry(why: str, seconds: float) -> None:
            observer(TraceEvent("model_retrying", {"why": why, "seconds": seconds}))

        try:
            return self.model.complete(request, on_text=on_text, on_retry=on_retry, cancel=cancel)
        except (Cancelled, ModelError):
            # What the person has read was said: it stays, as text, without half a call.
            if text := "".join(pieces).strip():
                self._say(turn, step, (Text(clean_text(text) + " [interrupted]"),))
            raise

    def _learn(self, turn: Turn, step: int, reply: ModelReply, pressure: Pressure) -> None:
        """Usage, cost and the calibration of our counter."""
        self.state.history.end_step(step, usage=reply.usage, cost=reply.cost, finish=reply.finish)
        turn.usage += reply.usage
        turn.cost += reply.cost or 0.0
        turn.cost_known = turn.cost_known and reply.cost is not None
        learnt = self._calibration.learn(pressure.used, reply.usage)
        if learnt != self._calibration:
            self._calibration = learnt
            self.state.set_calibration(self.model.name, learnt)

    @property
    def calibration(self) -> Calibration:
        """How the model's count of tokens relates to ours."""
        return self._calibration

    def own_window(self) -> Window:
        """The window in tokens of our own counter."""
        return self.window().scaled(self._calibration.factor)

    # --- the reply ------------------------------------------------------------------------------

    def _take(
        self,
        turn: Turn,
        step: int,
        reply: ModelReply,
        observer: Observer,
        cancel: CancelToken,
    ) -> StopReason | None:
        text = clean_text(reply.text)
        calls = self._with_ids(reply.tool_calls)
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
        parts = (*reply.reasoning, Text(text)) if text.strip() else tuple(reply.reasoning)
        self._say(turn, step, parts, calls)
        if not calls:
            if reply.finish == "length":
                turn.warnings.append("the reply was cut off by the output limit")
            return "answered"
        spoke = False
        for at, call in enumerate(calls):
            cancel.check()
            cut_off = reply.finish == "length" and at == len(calls) - 1
            spoke = self._execute(turn, step, call, observer, cut_off=cut_off) or spoke
        if self._heartbeat and spoke and not any(map(wants_heartbeat, calls)):
            return "answered"
        if self._heartbeat and not any(map(wants_heartbeat, calls)):
            # The paper's protocol ends here; a turn that said nothing yet goes on, because weak
            # models forget the flag and the person would get no answer.
            return "answered" if turn.texts else None
        return None

    def _with_ids(self, calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
        """Every call has an id of its own; ids that are there are never rewritten."""
        seen: set[str] = set()
        fixed = []
        for call in calls:
            if not call.id or call.id in seen:
                call = replace(call, id=f"call_{self.state.clock.new_id()}")
            seen.add(call.id)
            fixed.append(call)
        return tuple(fixed)

    def _say(
        self,
        turn: Turn,
        step: int,
        parts: tuple[Any, ...],
        calls: tuple[ToolCall, ...] = (),
    ) -> Message:
        message = self.queue_manager.append(
            Message(
                "assistant",
                parts,
                tool_calls=calls,
                turn=turn.number,
                conversation=turn.conversation,
                speaker="assistant",
                provenance=Provenance("model", self.model.name, TRUST["model"]),
            ),
            step=step,
        )
        turn.message_ids.append(message.short_id)
        if message.text and not self._heartbeat:
            turn.texts.append(message.text)
            turn.reply_seqs.append(message.seq)
        elif message.text and not calls:
            # Prose where send_message was wanted still reaches the person.
            turn.texts.append(message.text)
            turn.reply_seqs.append(message.seq)
        return message

    def _execute(
        self, turn: Turn, step: int, call: ToolCall, observer: Observer, *, cut_off: bool
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
            return self.queue_manager.append(placed, step=step)

        outcome = self._executor.execute(
            call, self._tool_context(call.id, turn.number), store, cut_off=cut_off, note=note
        )
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

    # --- the end --------------------------------------------------------------------------------

    def _finish(self, turn: Turn, stop: StopReason, error: ModelError | None) -> TurnResult:
        """Close the turn on disk and make its result."""
        self.mend()
        pressure = self.queue_manager.measure()
        result = TurnResult(
            agent=self.name,
            text="\n\n".join(turn.texts),
            stop_reason=stop,
            reasons=tuple(turn.reasons),
            turn=turn.number,
            conversation=turn.conversation,
            speaker=turn.speaker,
            model=self.model.name,
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
            duration_ms=(self.state.clock.monotonic() - turn.started) * 1000,
            error=error,
        )
        stored = result.as_json()
        del stored["text"]  # it stands in the journal already
        self.state.turns.close(
            turn.number,
            stop,
            reasons=tuple(turn.reasons),
            reply_seqs=tuple(turn.reply_seqs),
            result=stored,
        )
        return result

    def recover(self) -> None:
        """After opening: close what a killed process left open, and take what others left."""
        self.mend()
        for row in self.state.turns.unfinished():
            self.state.turns.close(row.turn, "interrupted", reasons=("the process ended",))
        self.take_inbox()

    def take_inbox(self) -> None:
        """Carry out what other processes left while this agent was in use."""
        for number, kind, body, _ in self.state.inbox():
            left = json.loads(body)
            with self.state.database.transaction():
                if kind == "observe":
                    self._record(left["text"], left["source"], left["speaker"])
                else:
                    self.insert(left["text"], tags=left["tags"], importance=left["importance"])
                self.state.take_from_inbox(number)
        self.queue_manager.make_room()

    def insert(
        self,
        text: str,
        *,
        tags: Sequence[str] = (),
        importance: float | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> tuple[Passage, bool]:
        """A person stores a passage; it, and whether it is new. Raises ToolFailed."""
        with self._lock:
            by_person = self.archival.on_behalf("user", "user")
            return by_person.insert(text, tags=tags, importance=importance, metadata=metadata)

    def mend(self) -> None:
        """Give every resident call without a result a synthetic one, so that the history is legal.

        A call on the world may have happened: its outcome is unknown, and it is never repeated.
        """
        newest = self.context.queue.groups()[-1:]
        for group in newest:
            opening = group.messages[0]
            answered = {m.tool_call_id for m in group.messages[1:]}
            for call in opening.tool_calls:
                if call.id in answered:
                    continue
                world = self._executor.effect(call.name) == "world"
                outcome = "it may have happened" if world else "it did not happen"
                text = load("interrupted").fill(name=call.name, outcome=outcome).strip()
                self.queue_manager.append(
                    Message(
                        "tool",
                        (Text(text),),
                        tool_call_id=call.id,
                        name=call.name,
                        turn=opening.turn,
                        conversation=opening.conversation,
                        speaker=call.name,
                        provenance=Provenance("runtime", call.name),
                        ok=False,
                    )
                )

    def _settle(self) -> None:
        """A flush that is nearly due runs now, so that the next turn does not wait for it."""
        if not self._background:
            self.queue_manager.settle()
            return
        if self.queue_manager.settle_due():
            self._idle = threading.Thread(
                target=self._settle_quietly, name=f"idle flush of {self.name}", daemon=True
            )
            self._idle.start()

    def _settle_quietly(self) -> None:
        import logging

        with self._lock:
            try:
                self.queue_manager.observer = ignore
                self.queue_manager.settle()
            except Exception:
                # The next turn flushes again and reports; here is nobody to tell.
                logging.getLogger("pagemind.agent").warning("idle flush failed", exc_info=True)

    def _count_flush(self, turn: Turn, flushed: Flushed | None) -> None:
        if flushed is not None:
            turn.flushes += 1
            turn.pages_written += len(flushed.pages)
            turn.background += flushed.usage

    def _day_left(self) -> float | None:
        """What is left of the day's budget in US dollars; None for no budget."""
        if self._day_budget is None:
            return None
        now = self.state.clock.now().astimezone(self.zone)
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        since = rfc3339(midnight - timedelta(0))
        return self._day_budget - self.state.history.cost_since(since)

    def flush(self, cancel: CancelToken | None = None) -> Flushed:
        """Page out now, whatever the pressure."""
        with self._lock:
            return self.queue_manager.flush(None, reason="asked", cancel=cancel)

    def close(self) -> None:
        """Let the agent go: unwritten rows are carried over, the lock is released. Idempotent."""
        if self._idle is not None:
            self._idle.join()
        with self._lock:
            self._closed(self)

    def __enter__(self) -> "Agent":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def request_digest(request: ModelRequest) -> str:
    """SHA-256 over everything a request holds, in order."""
    from pagemind.runtime.message import parts_to_json

    digest = hashlib.sha256()
    for text in request.system:
        digest.update(text.encode("utf-8") + b"\0")
    for message in request.messages:
        digest.update(f"{message.role}{parts_to_json(message)}".encode() + b"\0")
    for schema in request.tools:
        digest.update(schema.name.encode())
        digest.update(json.dumps(schema.parameters, sort_keys=True).encode() + b"\0")
    return digest.hexdigest()


def _usage(stored: dict[str, int]) -> Any:
    from pagemind.runtime.model import Usage

    return Usage(stored["prompt_tokens"], stored["completion_tokens"], stored["cached_tokens"])


def _checked_text(text: str) -> str:
    """Raises UserError for text that says nothing or is larger than anything a person means."""
    from pagemind.runtime.settings import MAX_MESSAGE_BYTES

    text = clean_text(text)
    if not text.strip():
        raise UserError("the message is empty", hint="say something")
    if len(text) > MAX_MESSAGE_BYTES:
        raise UserError(
            f"the message has {len(text):,} characters; the limit is {MAX_MESSAGE_BYTES:,}",
            hint="insert long texts with `pagemind memory insert AGENT --file FILE`",
        )
    return text


def _message_of(event: Event) -> tuple[Message, str | None, str]:
    """The message of an event, the client's id for it, and its text as it came."""
    origin: Origin
    client_id = None
    said_at = None
    if isinstance(event, UserMessage):
        origin, speaker, detail = "user", event.speaker, ""
        client_id, said_at = event.id, event.said_at
    elif isinstance(event, AgentMessage):
        origin, speaker, detail = "agent", event.sender, event.sender
    elif isinstance(event, TimerFired):
        origin, speaker, detail = "runtime", f"timer {event.name}", event.name
    else:
        assert isinstance(event, SystemAlert)
        origin, speaker, detail = "runtime", event.source, event.source
    text = _checked_text(event.text)
    message = Message(
        "user",
        (Text(text),),
        speaker=clean_text(speaker),
        said_at=said_at,
        provenance=Provenance(origin, detail, TRUST[origin]),
    )
    return message, client_id, text
