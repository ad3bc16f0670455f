"""Fallen: an insight whose evidence has fallen holds no longer. Without a model.

Evidence falls when it is superseded, no longer true, deleted or taken back. Where less than half of
an insight's evidence is left, or less than two pieces of several, its validity ends; it stays in
its history, with the reason. What rests on an insight falls after it, in the same run.
"""

from collections.abc import Sequence

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.sleep.derived import propose
from pagemind.runtime.sleep.job import SleepContext
from pagemind.runtime.sleep.recent import still_standing


class Fallen:
    """Implements Job."""

    name = "fallen"

    def due(self, context: SleepContext) -> bool:
        return context.may_write("semantic") and context.cursor(self.name) != _mark(context)

    def run(self, context: SleepContext, cancel: CancelToken) -> None:
        with context.held(), context.state.database.transaction():
            rests = context.state.lineage.all_of("evidence")
            numbers = [int(id[1:]) for id in rests if id[0] == "a"]
            insights = [
                each
                for each in context.state.passages.get(numbers).values()
                if each.provenance.status == "active" and not each.closed
            ]
            # From the lowest level up: what falls takes with it what rests on it.
            for insight in sorted(insights, key=lambda each: each.facets.level):
                cancel.check()
                evidence = rests[insight.short_id]
                left = still_standing(context, evidence)
                if stands(len(left), len(evidence)):
                    continue
                lost = [id for id in evidence if id not in left]
                state = propose(
                    context,
                    self.name,
                    "delete",
                    {},
                    sources=lost,
                    trust=insight.provenance.trust,
                    why=f"its evidence has fallen: {', '.join(lost[:8])}",
                    target=insight.short_id,
                    base=insight.version,
                )
                context.report.count("fallen", int(state == "applied"))
            context.set_cursor(self.name, _mark(context))
        context.written()


def stands(left: int, all_of_it: int) -> bool:
    """Whether an insight does with so much of its evidence."""
    return left * 2 >= all_of_it and left >= min(2, all_of_it)


def _mark(context: SleepContext) -> Sequence[int]:
    """What changes with anything that may fall."""
    state = context.state
    return [state.passages.version_count(), state.journal.line]
