"""The job `expire`: what is over leaves, and what is too much goes cold. No model is asked.

What has outlived its `ttl` goes cold (an item of the store is retired: its key is free again); a
fact that has ceased to be true becomes past; where `forget` sets limits, the records of least heat
go cold, and those that were unused for too long. Cold is hidden and recoverable: `memory restore`.
This follows rules that a person wrote, so it waits for no review.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta, tzinfo
from typing import Any

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.passage import Passage
from pagemind.runtime.record_heat import Use, coldest
from pagemind.runtime.settings import EXPIRE_BATCH, FORGET_LOOK_HOURS
from pagemind.runtime.sleep.job import SleepContext
from pagemind.runtime.state.decay import Decay

_AUTHOR = "worker"


class Expire:
    """Implements job.Job."""

    name = "expire"

    def due(self, context: SleepContext) -> bool:
        if not context.may_write("semantic"):
            return False
        decay, now = Decay(context.state.database), context.now()
        if decay.expired(now, 1) or decay.over(now, 1):
            return True
        if any(decay.standing(scope) > most for scope, most in context.forget.limits.items()):
            return True
        return context.forget.unused is not None and self._looks_again(context)

    def run(self, context: SleepContext, cancel: CancelToken) -> None:
        decay = Decay(context.state.database)
        while found := decay.expired(context.now(), EXPIRE_BATCH):
            self._change(context, found, "expired", cancel)
        while found := decay.over(context.now(), EXPIRE_BATCH):
            self._change(context, found, "past", cancel)
        for scope, most in sorted(context.forget.limits.items()):
            excess = decay.standing(scope) - most
            if excess > 0:
                why = f"the least used of more than {most:,} in {scope}"
                self._cool(context, coldest(decay.uses(scope), excess, context.now()), why, cancel)
        self._unused(context, decay, cancel)

    def _unused(self, context: SleepContext, decay: Decay, cancel: CancelToken) -> None:
        last = context.forget.unused
        if last is None or not self._looks_again(context):
            return
        least = context.forget.keep_importance
        old = decay.uses("/", before=context.now() - last)
        why = f"unused for {context.forget.cold_after}"
        self._cool(context, [use for use in old if use.importance < least], why, cancel)
        with context.held():
            context.set_cursor(self.name, {"looked": context.now().timestamp()})

    def _looks_again(self, context: SleepContext) -> bool:
        """Once a day: this reads every record."""
        kept: Any = context.cursor(self.name) or {}
        pause = timedelta(hours=FORGET_LOOK_HOURS).total_seconds()
        return bool(context.now().timestamp() - kept.get("looked", 0.0) >= pause)

    def _cool(
        self, context: SleepContext, uses: Iterable[Use], why: str, cancel: CancelToken
    ) -> None:
        numbers = [use.number for use in uses]
        for at in range(0, len(numbers), EXPIRE_BATCH):
            self._change(context, numbers[at : at + EXPIRE_BATCH], "cold", cancel, why)

    def _change(
        self,
        context: SleepContext,
        numbers: Sequence[int],
        what: str,
        cancel: CancelToken,
        why: str = "",
    ) -> None:
        """One commit."""
        cancel.check()
        passages = context.state.passages
        with context.held(), context.state.database.transaction():
            seq = context.state.journal.last_seq
            for number, passage in passages.get(numbers).items():
                if what == "expired" and passage.kind == "item":
                    passages.set_status(
                        number, "retired", author=_AUTHOR, reason="expired", seq=seq
                    )
                else:
                    # What has ceased to hold is past by its times: a new version tells searches.
                    facets = (
                        passage.facets if what == "past" else replace(passage.facets, cold=True)
                    )
                    reason = why or _reason(what, passage, context.zone)
                    passages.edit(
                        number, None, facets=facets, author=_AUTHOR, reason=reason, seq=seq
                    )
            context.written()
        context.report.count(what, len(numbers))


def _reason(what: str, passage: Passage, zone: tzinfo) -> str:
    if what == "expired":
        return "expired"
    ended = passage.facets.valid_to
    return f"no longer true since {ended.astimezone(zone):%Y-%m-%d}" if ended else "no longer true"
