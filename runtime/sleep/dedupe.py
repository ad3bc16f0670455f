"""The job "dedupe": records that say the same become one. It asks no model.

Two are one where the words are the same, or so near that they only differ in words that tell
nothing, of one subject, kind, scope and owner. The more trusted stays, of equals the older; the
other is retired into it, with all its sources, and can be brought back.
"""

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.fact import is_current
from pagemind.runtime.passage import Passage
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.settings import DEDUPE_ROWS, NEAR_MOST, NEAR_POOL, NEAR_SUPERSEDES
from pagemind.runtime.sleep.job import SleepContext
from pagemind.runtime.sleep.ruled import carry_out
from pagemind.runtime.sleep.similar import KINDS, same_object, same_subject
from pagemind.runtime.wording import likeness, same_words, tells_alike


class Dedupe:
    """Duplicates become one."""

    name = "dedupe"

    def due(self, context: SleepContext) -> bool:
        return context.may_write("semantic") and bool(self._next(context, 1))

    def run(self, context: SleepContext, cancel: CancelToken) -> None:
        with context.held():
            records = self._next(context, DEDUPE_ROWS)
        for record in records:
            cancel.check()
            twin = _twin(context, record) if _comparable(context, record) else None
            with context.held(), context.state.database.transaction():
                if twin is not None:
                    self._plan(context, record, twin)
                context.set_cursor(self.name, record.number)
        if records:
            context.written()

    def _next(self, context: SleepContext, limit: int) -> list[Passage]:
        return context.state.passages.after(int(context.cursor(self.name) or 0), limit)

    def _plan(self, context: SleepContext, record: Passage, twin: Passage) -> None:
        keeps, goes = sorted((record, twin), key=lambda each: (-each.provenance.trust, each.number))
        now = context.state.passages.get([keeps.number, goes.number])
        if any(now[each.number].version != each.version for each in (keeps, goes)):
            return  # somebody changed one of them meanwhile
        carry_out(
            context,
            self.name,
            "delete",
            goes,
            {"text": goes.text, "into": keeps.short_id, "kept": keeps.text},
            why=f"it says what {keeps.short_id} says",
            source=keeps,
            trust=goes.provenance.trust,
            counts="merged",
        )


def _comparable(context: SleepContext, record: Passage) -> bool:
    if record.kind not in KINDS or record.provenance.origin == "document":
        return False
    return is_current(record, context.now()) and not record.facets.cold


def _twin(context: SleepContext, record: Passage) -> Passage | None:
    """An older record that says the same."""
    facets = record.facets
    filters = SearchFilters(kinds=(record.kind,), viewer=facets.owner, without=(record.short_id,))
    near = {int(id[1:]): score for id, score in context.near(record.text, NEAR_MOST, filters)}
    with context.held():
        known = context.state.passages.get(list(near))
        if not near:
            for each in context.state.passages.newest(
                NEAR_POOL, before=record.number, kind=record.kind
            ):
                near[each.number] = likeness(each.text, record.text)
                known[each.number] = each
    for number in sorted(near, key=lambda number: -near[number]):
        other = known.get(number)
        if other is None or number >= record.number or not _comparable(context, other):
            continue
        if (other.facets.scope, other.facets.owner) != (facets.scope, facets.owner):
            continue
        if _alike(record, other, near[number]):
            return other
    return None


def _alike(record: Passage, other: Passage, likeness: float) -> bool:
    one, two = record.facets, other.facets
    if (one.subject or two.subject) and not same_subject(one, two):
        return False
    if (one.expires_at, one.evergreen) != (two.expires_at, two.evergreen):
        return False  # it would take the other with it when its time is over
    if one.relation != two.relation or (one.object and not same_object(one, two)):
        return False
    if same_words(record.text, other.text):
        return True
    return likeness >= NEAR_SUPERSEDES and tells_alike(record.text, other.text)
