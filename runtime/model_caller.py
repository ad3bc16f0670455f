"""The model caller: one call of a step, recorded before and after, with less where it is too long.
What it records of a request is enough to make it again, to the byte (past_request.py).

The counter is calibrated by what the model reports, so that the window in our own tokens
(`own_window`) is right after the first reply.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import tzinfo

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import (
    Cancelled,
    ContextOverflow,
    ModelError,
    OutputReserveConflict,
    PagemindError,
    PromptTooLarge,
)
from pagemind.runtime.main_context import MainContext
from pagemind.runtime.model import Model, ModelReply, ModelRequest, OnRetry, OnText
from pagemind.runtime.mould import Moulding
from pagemind.runtime.pressure import Pressure, Window
from pagemind.runtime.queue_manager import QueueManager
from pagemind.runtime.request_digest import RequestDigest
from pagemind.runtime.settings import OVERFLOW_RETRIES, OVERFLOW_SHRINK, RESERVE_MIN_TOKENS
from pagemind.runtime.state.state import State
from pagemind.runtime.text_calls import CallHold, calls_in
from pagemind.runtime.tokens import Calibration, first_guess
from pagemind.runtime.trace import Observer, TraceEvent
from pagemind.runtime.turn import Turn

_log = logging.getLogger("pagemind.model")


class Interrupted(Exception):
    """A call that failed after the person had read a part of the reply; `cause` says how."""

    def __init__(self, step: int, text: str, cause: Cancelled | ModelError) -> None:
        super().__init__(str(cause))
        self.step = step
        self.text = text
        self.cause = cause


class ModelCaller:
    """`window` gives the model's own window, `zone` is the agent's."""

    def __init__(
        self,
        model: Model,
        state: State,
        context: MainContext,
        window: Callable[[], Window],
        zone: tzinfo,
    ) -> None:
        self.model = model
        self.window = window
        self._state = state
        self._context = context
        self._digest = RequestDigest()
        self._moulding = Moulding(state, context, zone)
        self._calibration = state.calibration(model.name) or first_guess(model.name)

    @property
    def calibration(self) -> Calibration:
        """How the model's count of tokens relates to ours."""
        return self._calibration

    def own_window(self) -> Window:
        """The window in tokens of our own counter."""
        return self.window().scaled(self._calibration.factor)

    def call(
        self, turn: Turn, queue_manager: QueueManager, observer: Observer, cancel: CancelToken
    ) -> tuple[int, ModelReply]:
        """Ask the model; where the provider says that the prompt is too long, ask with less.

        Raises Interrupted if a part of the reply was shown, else Cancelled or ModelError.
        """
        max_tokens = self.window().reserve
        limit = queue_manager.measure().used
        for attempt in range(OVERFLOW_RETRIES + 1):
            pressure = queue_manager.measure()
            request = self._context.render(max_tokens)
            step = self._begin(turn, queue_manager.epoch, request, pressure)
            observer(
                TraceEvent(
                    "model_called",
                    {
                        "step": step,
                        "model": self.model.name,
                        "prompt_tokens": pressure.used,
                        "usable": pressure.usable,
                    },
                )
            )
            try:
                reply = self._complete(step, request, observer, cancel)
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
                try:
                    turn.count_flush(queue_manager.shrink(turn.event_seq, limit, cancel))
                except PromptTooLarge:
                    raise overflow from None  # by our count it fits: the provider has the word
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

    def _begin(self, turn: Turn, epoch: int, request: ModelRequest, pressure: Pressure) -> int:
        context = self._context
        prefetch, held = context.prefetch, context.held
        settings = {
            "max_tokens": request.max_tokens,
            "blocks": context.core.shown_versions(),
            # Not all that was recorded since the queue's start is in it: notices go, lines change.
            "queue": context.queue.runs(),
            "held": held.seq if held else None,
            "event": prefetch.seq if prefetch else None,
        }
        with self._state.database.transaction():
            return self._state.history.begin_step(
                turn=turn.number,
                epoch=epoch,
                model=self.model.name,
                settings={**settings, "mould": self._moulding.keep()},
                last_seq=self._state.journal.last_seq,
                prefetch=prefetch.text if prefetch else "",
                request_sha256=self._digest.of(request),
                estimated_tokens=pressure.used,
                min_trust=context.min_trust(),
            )

    def _complete(
        self, step: int, request: ModelRequest, observer: Observer, cancel: CancelToken
    ) -> ModelReply:
        pieces: list[str] = []
        hold = CallHold()

        def show(piece: str) -> None:
            if piece:
                pieces.append(piece)
                observer(TraceEvent("text_delta", {"text": piece}))

        def on_text(piece: str) -> None:
            show(hold.feed(piece))

        def on_retry(why: str, seconds: float) -> None:
            observer(TraceEvent("model_retrying", {"why": why, "seconds": seconds}))

        try:
            reply = self._ask(request, on_text, on_retry, cancel)
            if not reply.tool_calls and reply.finish != "refusal":
                written = calls_in(reply.text, [each.name for each in request.tools])
                if written:
                    return replace(reply, text="", tool_calls=written)
            show(hold.held)
            return reply
        except (Cancelled, ModelError) as failed:
            text = "".join(pieces)
            if text.strip():
                raise Interrupted(step, text, failed) from failed
            raise

    def _ask(
        self, request: ModelRequest, on_text: OnText, on_retry: OnRetry, cancel: CancelToken
    ) -> ModelReply:
        """A model is anyone's code: what it raises that no ModelError is becomes one, so that the
        turn ends by name. What an observer raised stays what it is."""
        observers: list[Exception] = []

        def shown(piece: str) -> None:
            try:
                on_text(piece)
            except Exception as fault:
                observers.append(fault)
                raise

        try:
            request = replace(request, blobs=self._state.blobs.read)
            return self.model.complete(request, on_text=shown, on_retry=on_retry, cancel=cancel)
        except (PagemindError, AssertionError):
            raise
        except Exception as fault:
            if fault in observers:
                raise
            _log.warning("%s raised", self.model.name, exc_info=True)
            raise ModelError(
                f"{self.model.name} failed: {type(fault).__name__}: {fault}",
                hint="`retry` asks it again",
            ) from fault

    def _learn(self, turn: Turn, step: int, reply: ModelReply, pressure: Pressure) -> None:
        """Usage, cost and the calibration of our counter."""
        learnt = self._calibration
        if reply.calibrates:
            learnt = learnt.learn(pressure.used, reply.usage)
        with self._state.database.transaction():
            self._state.history.end_step(
                step, usage=reply.usage, cost=reply.cost, finish=reply.finish
            )
            if learnt != self._calibration:
                self._state.set_calibration(self.model.name, learnt)
        self._calibration = learnt
        turn.count_reply(reply)
