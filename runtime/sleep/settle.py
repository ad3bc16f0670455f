"""The job "settle": of a relation with one value at a time, one value is left. It asks no model.

While it was not known that a relation holds one value, or where an answer was wrong, an old value
may have been left beside the new one. Once it is known, by the relation's name or by what became of
others, the older value ends where the newer begins: if the newer one is trusted to end it.
"""

from collections.abc import Sequence

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.fact import began, is_current, same_object
from pagemind.runtime.facts import FactBook
from pagemind.runtime.passage import Passage
from pagemind.runtime.sleep.job import SleepContext
from pagemind.runtime.sleep.ruled import carry_out
from pagemind.runtime.sleep.similar import Cardinality


class Settle:
    """Rivals end, but for the newest."""

    name = "settle"

    def due(self, context: SleepContext) -> bool:
        """After new records: only they make rivals, and teach what a relation holds."""
        newest = context.state.passages.last_number
        return context.may_write("semantic") and newest > int(context.cursor(self.name) or 0)

    def run(self, context: SleepContext, cancel: CancelToken) -> None:
        with context.held():
            newest = context.state.passages.last_number
            known = Cardinality(context.state)
            found = context.state.facts.rivals()
            rivals = [each for each in found if known.single(each[0].facets.relation)]
        for one_matter in rivals:
            cancel.check()
            with context.held(), context.state.database.transaction():
                self._settle(context, one_matter)
        with context.held(), context.state.database.transaction():
            context.set_cursor(self.name, newest)
        if rivals:
            context.written()

    def _settle(self, context: SleepContext, rivals: Sequence[Passage]) -> None:
        found = context.state.passages.get([each.number for each in rivals])
        current = sorted(
            (each for each in found.values() if is_current(each, context.now())), key=began
        )
        if not current:
            return
        stays, book = current[-1], FactBook(context.state)
        for older in current[:-1]:
            if same_object(older.facets, stays.facets) or not _may_end(older, stays, book):
                continue
            self._end(context, older, stays)

    def _end(self, context: SleepContext, older: Passage, stays: Passage) -> None:
        earlier = context.state.changes.of(older.short_id)
        if any(each.body.get("ended_by") == stays.short_id for each in earlier):
            return  # a person has not decided on it yet, or did not want it
        carry_out(
            context,
            self.name,
            "supersede",
            older,
            {"text": stays.text, "ended_by": stays.short_id},
            why=f"{stays.short_id} is the newer value",
            source=stays,
            trust=stays.provenance.trust,
            counts="settled",
        )


def _may_end(older: Passage, newer: Passage, book: FactBook) -> bool:
    """As for a new fact; and what nobody is known to have said ends no word of one's own."""
    says = newer.facets.speaker
    named = bool(says) or not book.own_word(older)
    return named and book.may_end(older, newer.provenance.trust, says)
