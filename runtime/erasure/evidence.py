"""Evidence: what becomes of a record when something that it rests on is erased.

A fact or note stays if a source that is left says it: with the newest of its versions that one
says, and without the others. What was drawn from several things together (an insight, a digest, an
episode, a skill) goes, and the worker makes it anew from what is left.
"""

from collections.abc import Callable, Sequence

from pagemind.runtime.erasure import told
from pagemind.runtime.erasure.gone import Gone
from pagemind.runtime.erasure.seeds import versions
from pagemind.runtime.models.plain_talk import content
from pagemind.runtime.passage import Passage, RecordKind
from pagemind.runtime.state.state import State

_SAID: frozenset[RecordKind] = frozenset({"fact", "note", "item"})
_SAYS = 0.6  # of the words of a text: who says so much of it says it


class Evidence:
    """Of one agent. `tells`: whether a text tells of what is erased, whatever it rests on."""

    def __init__(self, state: State, gone: Gone, tells: Callable[[str], bool]) -> None:
        self._state = state
        self._gone = gone
        self._tells = tells
        self._sources: dict[str, list[str]] = {}
        self._derived: dict[str, list[str]] = {}
        # Who took another's place does not rest on it.
        for row in state.database.rows(
            "SELECT DISTINCT derived, source FROM lineage WHERE how <> 'supersedes'"
            " AND derived GLOB 'a[0-9]*'"
        ):
            self._sources.setdefault(row["derived"], []).append(row["source"])
            self._derived.setdefault(row["source"], []).append(row["derived"])

    def settle(self, told_too: Sequence[Passage] = ()) -> dict[int, int]:
        """Adds to `gone` what can no longer stand; the rest that changes, as number and the version
        that it keeps. `told_too` are records that may tell of it without resting on it."""
        kept: dict[int, int] = {}
        settled: set[str] = set()
        waiting = [*self._resting(), *(r.short_id for r in told_too)]
        while waiting:
            id = waiting.pop()
            number = int(id[1:])
            if number in self._gone.passages:
                continue
            record = self._state.passages.get([number]).get(number)
            if record is None:
                continue
            version = self._standing(record)
            if version == 0:
                self._gone.passages.add(number)
                kept.pop(number, None)
                waiting += self._derived.get(id, ())
            elif id not in settled and self._changed(record, version):
                kept[number] = version
            settled.add(id)
        return kept

    def _resting(self) -> list[str]:
        """Records that rest on what goes."""
        return [
            derived
            for source, several in self._derived.items()
            if self._gone.takes(source)
            for derived in several
        ]

    def _standing(self, record: Passage) -> int:
        """The newest version that can stay; 0 for none."""
        sources = self._sources.get(record.short_id, [])
        lost = any(self._gone.takes(source) for source in sources)
        if lost and record.kind not in _SAID:
            return 0
        left = [self._gone.left_of(source) for source in sources] if lost else []
        for each in reversed(versions(self._state, record)):
            if self._tells(told.of_record(each)):
                continue
            if not lost or any(says(text, each) for text in left):
                return each.version
        return 0

    def _changed(self, record: Passage, version: int) -> bool:
        """Whether keeping that one takes anything out."""
        return version != record.version or any(
            self.dirty(each, record) for each in versions(self._state, record)[: version - 1]
        )

    def dirty(self, version: Passage, record: Passage) -> bool:
        """Whether an older version says what no source that is left says."""
        if self._tells(told.of_record(version)):
            return True
        sources = self._sources.get(record.short_id, [])
        if not any(self._gone.takes(source) for source in sources):
            return False
        left = (self._gone.left_of(source) for source in sources)
        return not any(says(text, version) for text in left)


def says(text: str, record: Passage) -> bool:
    """Whether a text says what a record says: most of its words, and what a fact has as object."""
    if not text:
        return False
    said = content(text)
    meant = content(record.facets.object) if record.kind == "fact" else frozenset[str]()
    asked = content(record.text)
    if not asked and not meant:
        return record.text.strip() in text
    return meant <= said and len(asked & said) >= _SAYS * len(asked)
