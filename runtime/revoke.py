"""Revoke: take back everything that came from a source, recoverably.

    Revoking(state, editor).preview("fetch")    what would be taken back; nothing is
    Revoking(state, editor).revoke("fetch")     in one transaction, with its row in the audit log

Records are retired, and what they had ended or replaced holds again; edits of a turn are put back;
planned changes are rejected, those that were made undone; core memory loses the lines; skills are
offered no more. The messages themselves stay: they say what happened, at their trust. What is gone
for good is erasure's; `memory restore` brings back what this retires.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

from pagemind.runtime.core_editor import CoreEditor
from pagemind.runtime.descent import Descent, descent_of
from pagemind.runtime.errors import PagemindError
from pagemind.runtime.passage import Passage
from pagemind.runtime.skill import skill_of
from pagemind.runtime.skill_book import SkillBook
from pagemind.runtime.sleep import learned
from pagemind.runtime.sleep import review as records
from pagemind.runtime.sleep.apply import RECORD_OPS
from pagemind.runtime.source_named import roots_of
from pagemind.runtime.state.changes import OPEN, Change
from pagemind.runtime.state.state import State
from pagemind.runtime.taken_out import taken_out

What = Literal[
    "retired", "holds again", "put back", "rejected", "undone", "lines taken out", "demoted", "left"
]
_WHY = "revoked"


@dataclass(frozen=True, slots=True)
class Taken:
    """One thing and what becomes of it; `text` is what it says, of a block what goes. `left` is
    what could not be taken back, and `why`."""

    id: str
    kind: str
    what: What
    text: str
    why: str = ""

    def as_json(self) -> dict[str, str]:
        return {
            "id": self.id,
            "kind": self.kind,
            "what": self.what,
            "text": self.text,
            "why": self.why,
        }


@dataclass(frozen=True, slots=True)
class Revocation:
    """`roots` are what the source said; `kept` the records that others say, too."""

    source: str
    roots: tuple[str, ...]
    taken: tuple[Taken, ...]
    kept: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The answer of `memory revoke`, without the agent and whether it was done."""
        return {
            "source": self.source,
            "roots": list(self.roots),
            "taken": [each.as_json() for each in self.taken],
            "kept": list(self.kept),
            "total": len(self.taken),
        }


class _Preview(Exception):
    """Ends a transaction that is not to be kept."""


class Revoking:
    """Of one agent, which the caller holds. `editor` writes blocks on a person's behalf; `by` is
    who decides."""

    def __init__(self, state: State, editor: Callable[[], CoreEditor], by: str = "user") -> None:
        self._state = state
        self._editor = editor
        self._by = by

    def preview(self, source: str) -> Revocation:
        """What revoke() would do. Raises NotFound for a source that nothing came from."""
        found: list[Revocation] = []
        try:
            with self._state.database.transaction():
                found.append(self._run(source, blocks=False))
                raise _Preview
        except _Preview:
            return found[0]

    def revoke(self, source: str) -> Revocation:
        """Take it back. Raises NotFound."""
        with self._state.database.transaction():
            done = self._run(source, blocks=True)
            plain = len(done.roots) == 1 and done.roots[0] == source.strip().lower()
            counts = {
                what.replace(" ", "_"): sum(each.what == what for each in done.taken)
                for what in dict.fromkeys(each.what for each in done.taken)
            }
            self._state.audit.add(
                "revoked",
                done.roots[0] if plain else "source",
                by=self._by,
                text=source.strip(),
                roots=len(done.roots),
                ids=[each.id for each in done.taken][:200],
                **counts,
            )
        return done

    def _run(self, source: str, *, blocks: bool) -> Revocation:
        roots = roots_of(self._state, source)
        found = descent_of(self._state, roots)
        run = _Run(self._state, found, self._by)
        run.changes()
        run.records()
        run.versions(roots)
        run.blocks(self._editor if blocks else None)
        kept = tuple(f"a{number}" for number in found.kept if number not in run.touched)
        return Revocation(source, tuple(roots), tuple(run.taken), kept)


class _Run:
    """One of them being done, within its transaction."""

    def __init__(self, state: State, found: Descent, by: str) -> None:
        self._state = state
        self._found = found
        self._by = by
        self._seq = state.journal.last_seq
        self.taken: list[Taken] = []
        self.touched: set[int] = set()

    # --- planned changes ------------------------------------------------------------------------

    def changes(self) -> None:
        """The newest first, so that each is undone on what it had made."""
        kept = {f"a{number}" for number in self._found.kept}
        for change in reversed(self._state.changes.in_state(*OPEN, "dead", "applied")):
            rests = not self._found.ids.isdisjoint((*change.sources, change.target))
            made = change.result in self._found.ids
            if change.state == "applied":
                if (made or not self._found.ids.isdisjoint(change.sources)) and (
                    change.result not in kept
                ):
                    self._undo(change)
            elif (rests or made) and change.op != "skill":
                self._reject(change)

    def _undo(self, change: Change) -> None:
        with self._noting(change.short_id, change.job):
            if change.op == "prompt":
                learned.revert(self._state, change.number, self._by)
            elif change.op in RECORD_OPS and change.body.get("touched"):
                undone = [int(id[1:]) for id in records.undo(self._state, change.number, self._by)]
                self.touched.update(undone)
                for record in self._state.passages.get(undone).values():
                    if record.number not in self._found.records and record.standing == "active":
                        self._took(record.short_id, record.kind, "holds again", record.text)
            else:
                return  # skills and blocks are looked at by themselves
            self._took(change.short_id, change.job, "undone", str(change.body.get("text") or ""))

    def _reject(self, change: Change) -> None:
        with self._noting(change.short_id, change.job):
            records.reject(self._state, change.number, self._by)
            self._took(change.short_id, change.job, "rejected", str(change.body.get("text") or ""))

    # --- records --------------------------------------------------------------------------------

    def records(self) -> None:
        for record in self._state.passages.get(self._found.records).values():
            if record.kind == "skill":
                self._skill(record)
            elif record.provenance.status != "retired":
                self._retire(record)
            elif record.number in self.touched:
                self._took(record.short_id, record.kind, "retired", record.text)
        for record in self._state.passages.get(self._found.records).values():
            if record.kind != "skill":
                self._reopen(record)

    def _skill(self, record: Passage) -> None:
        skill, book = skill_of(record), SkillBook(self._state)
        if skill is None or skill.state not in ("active", "pending"):
            return
        with self._noting(record.short_id, "skill"):
            if skill.state == "pending":
                book.refuse(skill, by=self._by, why=_WHY)
                self._took(record.short_id, "skill", "rejected", f"{skill.name}: {record.text}")
            else:
                book.demote(skill, by=self._by, why=_WHY)
                self._took(record.short_id, "skill", "demoted", f"{skill.name}: {record.text}")

    def _retire(self, record: Passage) -> None:
        self._state.passages.set_status(
            record.number, "retired", author=self._by, reason=_WHY, seq=self._seq
        )
        self._took(record.short_id, record.kind, "retired", record.text)

    def _reopen(self, gone: Passage) -> None:
        """What it took the place of holds again, or is what comes after has taken the place of."""
        after = self._successor(gone)
        for old in self._state.passages.superseded_by(gone.number):
            if old.number in self._found.records or old.provenance.status == "retired":
                continue
            if after is not None:
                ends = after.facets.valid_from or old.facets.valid_to
                facets = replace(old.facets, superseded_by=after.number, valid_to=ends)
                self._facets(old, facets)
                continue
            before = self._before_that(old, gone.number)
            if before is None:  # a copy that was made for its sake: the time before it
                self._copy(old)
                continue
            ends = before.facets.valid_to
            self._facets(old, replace(old.facets, superseded_by=None, valid_to=ends))
            self._took(old.short_id, old.kind, "holds again", old.text)

    def _copy(self, copy: Passage) -> None:
        self._state.passages.set_status(
            copy.number, "retired", author=self._by, reason=_WHY, seq=self._seq
        )
        for edge in self._state.lineage.sources_of(copy.short_id):
            number = int(edge.source[1:]) if edge.source[:1] == "a" else 0
            if edge.how == "from" and (whole := self._state.passages.get([number]).get(number)):
                since = copy.facets.valid_from
                self._facets(whole, replace(whole.facets, valid_from=since))
                self._took(whole.short_id, whole.kind, "holds again", whole.text)

    def _successor(self, gone: Passage) -> Passage | None:
        """What stands in its place over all steps."""
        at, seen = gone.facets.superseded_by, {gone.number}
        while at is not None and at not in seen:
            seen.add(at)
            found = self._state.passages.get([at]).get(at)
            if found is None:
                return None
            if at not in self._found.records and found.provenance.status == "active":
                return found
            at = found.facets.superseded_by
        return None

    def _before_that(self, old: Passage, by: int) -> Passage | None:
        """The newest version in which that had not taken its place."""
        for version in range(old.version - 1, 0, -1):
            then = self._state.passages.version(old.number, version)
            if then is not None and then.facets.superseded_by != by:
                return then
        return None

    # --- versions -------------------------------------------------------------------------------

    def versions(self, roots: list[str]) -> None:
        """Changes of records that are not of the source themselves: what it wrote over, and what
        the model changed in the turn after it."""
        firsts = dict(self._found.versions)
        for number, version in self._of_turns(roots).items():
            firsts[number] = min(version, firsts.get(number, version))
        for record in self._state.passages.get(sorted(firsts)).values():
            if record.number in self.touched or record.number in self._found.records:
                continue
            self._put_back(record, firsts[record.number])

    def _put_back(self, record: Passage, first: int) -> None:
        later = self._state.passages.history(record.number)[first - 1 :]
        if any(each.author == "user" for each in later):
            self._left(record.short_id, record.kind, "a person has changed it since")
            return
        records.back(self._state, record.number, first - 1, self._by, _WHY)
        now = self._state.passages.get([record.number])[record.number]
        if now.facets == record.facets or now.text != record.text:
            self._took(record.short_id, record.kind, "put back", now.text)
        else:
            self._took(record.short_id, record.kind, "holds again", now.text)

    def _of_turns(self, roots: list[str]) -> dict[int, int]:
        """The first versions after the first that the model made in the turns of these messages,
        from them on."""
        found: dict[int, int] = {}
        since: dict[int, int] = {}
        seqs = [int(id[1:]) for id in roots if id[0] == "m"]
        for message in self._state.journal.get(seqs).values():
            if message.turn:
                since[message.turn] = min(message.seq, since.get(message.turn, message.seq))
        for turn, first in since.items():
            last = self._state.journal.of_turn(turn)[-1].seq
            for row in self._state.database.rows(
                "SELECT number, min(version) AS version FROM passage_versions WHERE version > 1"
                " AND author = 'model' AND seq BETWEEN ? AND ? AND reason NOT LIKE 'a% took its%'"
                " GROUP BY number",
                (first, last),
            ):
                number, version = row["number"], row["version"]
                found[number] = min(version, found.get(number, version))
        return found

    # --- core memory ----------------------------------------------------------------------------

    def blocks(self, editor: Callable[[], CoreEditor] | None) -> None:
        now = {each.label: each.value for each in self._state.blocks.all()}
        for label, versions in sorted(self._found.blocks.items()):
            if label not in now:
                continue
            values = {each.version: each.value for each in self._state.blocks.history(label)}
            value = now[label]
            for version in sorted(versions, reverse=True):
                if version in values:
                    value = taken_out(values.get(version - 1, ""), values[version], value)
            if value == now[label]:
                continue
            goes = [line for line in now[label].splitlines() if line not in value.splitlines()]
            with self._noting(f"block:{label}", "block"):
                if editor is not None:
                    editor().replace(label, value, reason=_WHY)
                self._took(f"block:{label}", "block", "lines taken out", "\n".join(goes))

    # --- inside ---------------------------------------------------------------------------------

    def _facets(self, record: Passage, facets: Any) -> None:
        self._state.passages.edit(
            record.number, None, facets=facets, author=self._by, reason=_WHY, seq=self._seq
        )

    def _took(self, id: str, kind: str, what: What, text: str) -> None:
        self.taken.append(Taken(id, kind, what, text))

    def _left(self, id: str, kind: str, why: str) -> None:
        self.taken.append(Taken(id, kind, "left", "", why))

    @contextmanager
    def _noting(self, id: str, kind: str) -> Iterator[None]:
        """What cannot be taken back is told, and keeps nothing else from it."""
        before = len(self.taken)
        try:
            with self._state.database.transaction():
                yield
        except PagemindError as error:
            del self.taken[before:]
            self._left(id, kind, error.message)
