"""The skill book: the skills of one agent as records, their versions, and what became of them.

Each version is a record of its own. One that waits has the key `name@version`; once it is active
its key is the name, and the version before it is superseded. Nothing is deleted, so that a person
can go back. What waits for a person is also a planned change, for `memory review`.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches

from pagemind.runtime.errors import NotFound, UserError
from pagemind.runtime.message import TRUST, Provenance
from pagemind.runtime.passage import Facets, Passage
from pagemind.runtime.settings import SKILL_FAILURES, SKILL_LEAST, SKILL_TRIED
from pagemind.runtime.skill import Draft, Skill, SkillState, load_order, metadata_of, skill_of
from pagemind.runtime.state.state import State
from pagemind.runtime.step_trust import untrusted

JOB = "skills"  # of changes
_IN_A_ROW = "skill_failures"  # of meta: number → failures since the last success
_IMPORTANCE = 5.0  # known without asking


class SkillBook:
    """Of one agent. `author` and `seq` of what is written are the caller's and the journal's."""

    def __init__(self, state: State) -> None:
        self._state = state

    # --- reading --------------------------------------------------------------------------------

    def all(self) -> list[Skill]:
        """Every version of every skill, the oldest first."""
        return [found for each in self._records() if (found := skill_of(each)) is not None]

    def versions(self, name: str) -> list[Skill]:
        """The oldest first. Raises NotFound."""
        skills = self.all()
        found = [each for each in skills if each.name == name]
        if not found:
            raise self._unknown(name, skills)
        return found

    def active(self, name: str) -> Skill | None:
        """The version that is run."""
        record = self._state.passages.named("skill", "/", name)
        skill = skill_of(record) if record is not None else None
        return skill if skill is not None and skill.state == "active" else None

    def of(self, numbers: Sequence[int]) -> list[Skill]:
        """The active ones of these records, in this order."""
        known = self._state.passages.get(numbers)
        found = [skill_of(known[number]) for number in numbers if number in known]
        return [each for each in found if each is not None and each.state == "active"]

    def tallies(self, number: int) -> tuple[int, int]:
        """How often it went well, and badly."""
        return self._state.tallies.get([number]).get(number, (0, 0))

    # --- writing --------------------------------------------------------------------------------

    def save(self, draft: Draft, *, why: str, refused: bool, trust: int, turn: int) -> Skill:
        """A new version, which waits, or is `refused`; what waited under the name is overtaken,
        unless it is trusted more than a tainted step."""
        state = self._state
        with state.database.transaction():
            earlier = [each for each in self.all() if each.name == draft.name]
            for each in earlier:
                better = untrusted(trust) and each.trust > trust
                if each.state in ("pending", "refused") and not better:
                    self._retire(each, "another version was saved", "model")
            version = max((each.version for each in earlier), default=0) + 1
            record, _ = state.passages.insert(
                draft.when_to_use,
                tags=(),
                importance=_IMPORTANCE,
                metadata=metadata_of(draft, version, "refused" if refused else "pending", why),
                seq=state.journal.last_seq,
                provenance=Provenance("model", "", trust, "pending", (f"t{turn}",) if turn else ()),
                author="model",
                facets=Facets("skill", key=f"{draft.name}@{version}"),
                reason="saved",
            )
        return self._as_skill(record)

    def ask(self, skill: Skill) -> None:
        """Have a person decide about one that waits."""
        self._state.changes.add(
            JOB,
            "skill",
            {
                "name": skill.name,
                "version": skill.version,
                "when_to_use": skill.when_to_use,
                "form": skill.form,
                "body": skill.body,
                "tests": skill.tests,
            },
            state="pending",
            seq=self._state.journal.last_seq,
            target=skill.short_id,
            base=1,
            why=skill.why,
            sources=self._state.passages.get([skill.number])[skill.number].provenance.sources,
            trust=skill.trust,
        )

    def approve(self, skill: Skill, *, by: str, why: str) -> Skill:
        """Make a version the active one: one that waits, was demoted, or was superseded. Raises
        UserError for one that may not be, BadArguments for a circle."""
        if skill.state == "active":
            return skill
        if skill.state in ("refused", "withdrawn"):
            raise UserError(
                f"{skill.name} version {skill.version} was {skill.state}: {skill.why}",
                hint="it is never active as it is; have it saved anew",
            )
        if skill.form == "code":
            load_order(skill.name, skill.body, self.active)
        state = self._state
        with state.database.transaction():
            before = state.passages.named("skill", "/", skill.name)
            if before is not None and before.number != skill.number:
                old = replace(before.facets, superseded_by=skill.number, cold=False)
                self._edit(before, old, "past", "another version took its place", by)
                state.lineage.add(
                    skill.short_id, [before.short_id], "supersedes", seq=state.journal.last_seq
                )
            record = state.passages.get([skill.number])[skill.number]
            facets = replace(record.facets, key=skill.name, superseded_by=None, cold=False)
            changed = self._edit(record, facets, "active", why, by)
            if changed.provenance.status != "active":
                state.passages.set_status(
                    skill.number, "active", author=by, reason=why, seq=state.journal.last_seq
                )
            if by != "runtime" and untrusted(skill.trust):
                # Somebody has read it, and wants it to be used.
                state.passages.set_trust(skill.number, max(TRUST.values()), by=by)
            self._failures(skill.number, 0)
            self._settle(skill, "applied", by)
        return self._as_skill(state.passages.get([skill.number])[skill.number])

    def refuse(self, skill: Skill, *, by: str, why: str = "") -> Skill:
        """A person does not want a version that waits. Raises UserError for another."""
        if skill.state != "pending":
            raise UserError(f"{skill.name} version {skill.version} does not wait: {skill.state}")
        with self._state.database.transaction():
            record = self._state.passages.get([skill.number])[skill.number]
            self._edit(record, record.facets, "refused", why or "a person declined it", by)
            self._settle(skill, "rejected", by, why)
        return self._as_skill(self._state.passages.get([skill.number])[skill.number])

    def demote(self, skill: Skill, *, by: str, why: str) -> None:
        """It is offered no more. A better version, or a person, brings it back."""
        state = self._state
        with state.database.transaction():
            record = state.passages.get([skill.number])[skill.number]
            self._edit(record, replace(record.facets, cold=True), "demoted", why, by)
            made = state.changes.add(
                JOB,
                "skill",
                {"name": skill.name, "version": skill.version, "state": "demoted"},
                state="planned",
                seq=state.journal.last_seq,
                target=skill.short_id,
                base=record.version,
                why=why,
                origin="runtime",
                trust=100,
            )
            state.changes.settle(made.number, "applied", by=by, result=skill.short_id)

    def went(self, skill: Skill, *, well: bool) -> str:
        """A run of it has ended; why it is demoted now, "" where it is not."""
        with self._state.database.transaction():
            self._state.tallies.add(skill.number, good=well, bad=not well)
            in_a_row = 0 if well else self._failures(skill.number, None) + 1
            self._failures(skill.number, in_a_row)
            return self._weigh(skill, in_a_row)

    def judged(self, turn: int, *, good: int, bad: int) -> None:
        """A person has judged a turn; every skill that was run in it shares that."""
        edges = self._state.lineage.sources_of(f"t{turn}")
        numbers = [int(edge.source[1:]) for edge in edges if edge.source[:1] == "a"]
        known = self._state.passages.get(numbers)
        for record in known.values():
            if record.kind == "skill":
                self._state.tallies.add(record.number, good=good, bad=bad)
        for skill in self.of(list(known)):
            self._weigh(skill, 0)

    def used(self, skill: Skill, turn: int) -> None:
        """A turn has run it."""
        if turn:
            seq = self._state.journal.last_seq
            self._state.lineage.add(f"t{turn}", [skill.short_id], "from", seq=seq)

    # --- inside ---------------------------------------------------------------------------------

    def _weigh(self, skill: Skill, in_a_row: int) -> str:
        good, bad = self.tallies(skill.number)
        why = ""
        if in_a_row >= SKILL_FAILURES:
            why = f"it failed {in_a_row} times in a row"
        elif good + bad >= SKILL_TRIED and good < SKILL_LEAST * (good + bad):
            why = f"it went well in {good} of {good + bad} uses"
        if why:
            self.demote(skill, by="runtime", why=why)
        return why

    def _failures(self, number: int, now: int | None) -> int:
        """How often in a row it failed; set to `now`, where that is given."""
        kept = _counts(self._state.database.meta(_IN_A_ROW))
        before = kept.get(str(number), 0)
        if now is not None and now != before:
            kept[str(number)] = now
            kept = {key: value for key, value in kept.items() if value}
            self._state.database.set_meta(_IN_A_ROW, json.dumps(kept))
        return before

    def _retire(self, skill: Skill, why: str, by: str) -> None:
        seq = self._state.journal.last_seq
        self._state.passages.set_status(skill.number, "retired", author=by, reason=why, seq=seq)
        self._settle(skill, "stale", by, why)

    def _settle(self, skill: Skill, outcome: str, by: str, why: str = "") -> None:
        for change in self._state.changes.in_state("pending", job=JOB):
            if change.target == skill.short_id:
                result = skill.short_id if outcome == "applied" else ""
                state = next(s for s in ("applied", "rejected", "stale") if s == outcome)
                self._state.changes.settle(change.number, state, by=by, result=result, error=why)

    def _edit(
        self, record: Passage, facets: Facets, state: SkillState, why: str, by: str
    ) -> Passage:
        changed = self._state.passages.edit(
            record.number,
            None,
            metadata={**record.metadata, "state": state, "why": why},
            facets=facets,
            author=by,
            reason=why,
            seq=self._state.journal.last_seq,
        )
        if changed is None:
            raise NotFound(f"{record.short_id} is not there any more")
        return changed

    def _records(self) -> list[Passage]:
        return self._state.passages.of_kind("skill")

    @staticmethod
    def _as_skill(record: Passage) -> Skill:
        skill = skill_of(record)
        assert skill is not None
        return skill

    @staticmethod
    def _unknown(name: str, skills: Sequence[Skill]) -> NotFound:
        names = list(dict.fromkeys(each.name for each in skills))
        close = get_close_matches(name, names, n=1)
        nearest = f"did you mean {close[0]}? " if close else ""
        known = ", ".join(names[:20]) or "none"
        return NotFound(f"no skill is called {name!r}", hint=f"{nearest}skills: {known}")


def _counts(kept: str) -> dict[str, int]:
    """None where that cannot be read: it may have come with an import."""
    try:
        return {str(key): int(value) for key, value in json.loads(kept or "{}").items()}
    except (ValueError, TypeError, AttributeError):
        return {}
