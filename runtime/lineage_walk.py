"""LineageWalk: where a memory comes from, and what came from it, step by step.

What is written down (state/lineage.py) and what follows from how things are kept: a page and a
summary come from the messages that they cover, a directory from its pages, a segment from its
pages, a turn from its messages. Consolidation, `memory why` and erasure walk the same ways.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from pagemind.runtime.state.state import State

_ID = re.compile(r"(m|a|p|d|s|t|seg)(\d{1,18})")
_MOST = 512  # messages of a page or turn that are named one by one


@dataclass(frozen=True, slots=True)
class Step:
    """One step of descent: what is at its other end, and how they hang together."""

    id: str
    how: str  # from, evidence, supersedes, merged, promoted; covers, holds: by how they are kept


class LineageWalk:
    """Of one agent. Ids are short ids, `block:human` or `seg4`; one that is not there has no
    steps."""

    def __init__(self, state: State) -> None:
        self._state = state

    def sources_of(self, id: str) -> list[Step]:
        """What it came from, the oldest first; each once."""
        steps = [Step(edge.source, edge.how) for edge in self._state.lineage.sources_of(id)]
        return _once([*steps, *self._kept_from(id)])

    def derived_of(self, id: str) -> list[Step]:
        """What came from it, the oldest first; each once."""
        steps = [Step(edge.derived, edge.how) for edge in self._state.lineage.derived_of(id)]
        return _once([*steps, *self._kept_in(id)])

    def all_sources(self, ids: Iterable[str]) -> list[str]:
        """Everything that these came from, over any number of steps, the nearest first."""
        return self._closure(ids, self.sources_of)

    def all_derived(self, ids: Iterable[str]) -> list[str]:
        """Everything that came from these, over any number of steps, the nearest first."""
        return self._closure(ids, self.derived_of)

    @staticmethod
    def _closure(ids: Iterable[str], step: Callable[[str], list[Step]]) -> list[str]:
        begun = list(dict.fromkeys(ids))
        seen, waiting, found = set(begun), begun, list[str]()
        while waiting:
            ahead = [each.id for id in waiting for each in step(id)]
            waiting = [id for id in dict.fromkeys(ahead) if id not in seen]
            seen.update(waiting)
            found += waiting
        return found

    def _kept_from(self, id: str) -> Iterator[Step]:
        kind, number = parsed(id)
        state = self._state
        if kind == "p" and (page := state.pages.get(number)):
            seqs = (page.first_seq, page.last_seq)
            yield from self._messages("seq BETWEEN ? AND ?", seqs, "covers")
        elif kind == "d":
            yield from (Step(each.short_id, "holds") for each in state.pages.children(number))
        elif kind == "seg":
            yield from (Step(f"p{page}", "holds") for page in state.segments.pages(number))
        elif kind == "t":
            yield from self._messages("turn = ?", (number,), "holds")
        elif kind == "s" and (summary := state.pages.summary(number)):
            before = state.pages.summary(number - 1)
            first = before.covers_last + 1 if before else 1
            if before:
                yield Step(f"s{number - 1}", "from")
            yield from self._messages("seq BETWEEN ? AND ?", (first, summary.covers_last), "covers")

    def _kept_in(self, id: str) -> Iterator[Step]:
        kind, number = parsed(id)
        db = self._state.database
        if kind == "m":
            page = self._state.pages.of([number]).get(number)
            if page:
                yield Step(f"p{page}", "covers")
            covering = "SELECT min(summary) FROM summaries WHERE covers_last >= ?"
            first = db.number(covering, (number,))
            if first:
                yield Step(f"s{first}", "covers")
        elif kind == "p":
            known = self._state.pages.get(number)
            if known and known.parent:
                yield Step(f"d{known.parent}", "holds")
            segment = db.number("SELECT segment FROM segment_pages WHERE page = ?", (number,))
            if segment:
                yield Step(f"seg{segment}", "holds")
        elif kind == "d":
            above = self._state.pages.directory(number)
            if above and above.parent:
                yield Step(f"d{above.parent}", "holds")
        elif kind == "s" and self._state.pages.summary(number + 1):
            yield Step(f"s{number + 1}", "from")

    def _messages(self, condition: str, values: tuple[int, ...], how: str) -> Iterator[Step]:
        rows = self._state.database.rows(
            f"SELECT seq FROM messages WHERE {condition} AND kind <> 'notice' ORDER BY seq LIMIT ?",
            (*values, _MOST),
        )
        yield from (Step(f"m{row['seq']}", how) for row in rows)


def parsed(id: str) -> tuple[str, int]:
    """Kind and number; ("", 0) for what has none: all steps of a block are written down."""
    match = _ID.fullmatch(id)
    return (match[1], int(match[2])) if match is not None else ("", 0)


def _once(steps: Iterable[Step]) -> list[Step]:
    found: dict[str, Step] = {}
    for each in steps:
        found.setdefault(each.id, each)
    return list(found.values())
