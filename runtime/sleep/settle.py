"""The job "settle": of a relation with one value at a time, one value is left. It asks no model.

While it was not known that a relation holds one value, or where an answer was wrong, an old value
may have been left beside the new one. Once it is known, by the relation's name or by what became of
others, the older value ends where the newer begins: if the newer one is trusted to end it.
"""

from collections.abc import Sequence

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import PagemindError
from pagemind.runtime.fact import began, is_current, same_object
from pagemind.runtime.facts import FactBook
from pagemind.runtime.message import TRUST
from pagemind.runtime.passage import Passage
from pagemind.runtime.sleep.apply import apply
from pagemind.runtime.sleep.job import SleepContext
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
        state = context.state
        earlier = state.changes.of(older.short_id)
        if any(each.body.get("ended_by") == stays.short_id for each in earlier):
            return  # a person has not decided on it yet, or did not want it
        change = state.changes.add(
            self.name,
            "supersede",
            {"text": stays.text, "ended_by": stays.short_id},
            state="pending" if context.review else "planned",
            seq=state.journal.last_seq,
            target=older.short_id,
            base=older.version,
            why=f"{stays.short_id} is the newer value",
            sources=[stays.short_id],
            origin="runtime",
            trust=stays.provenance.trust,
        )
        if context.review:
            context.report.count("pending")
            return
        try:
            apply(state, change.number)
        except PagemindError as error:
            state.changes.failed(change.number, error.message, most=1)
        else:
            context.report.count("settled")


def _may_end(older: Passage, newer: Passage, book: FactBook) -> bool:
    """Not what is more trusted, and nobody what another has said of itself."""
    if newer.provenance.trust < min(older.provenance.trust, TRUST["model"]):
        return False
    of, by, says = older.facets.subject_entity, older.facets.speaker, newer.facets.speaker
    own = bool(by) and of is not None and book.entity(by) == of
    return not own or by == says or (bool(says) and book.entity(says) == of)
