"""Skills as an agent's functions use them: check, save, search and run. Implements services.Skills.

check() runs the tests of a draft in a process of its own, before anything is written; save() then
stores it and says whether it is active. What stood in view of strangers when a skill was written
makes it wait for a person, whatever its tests say.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Protocol

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.definition_parts import Skilling
from pagemind.runtime.errors import BadArguments, ToolFailed
from pagemind.runtime.message import TRUST
from pagemind.runtime.services import Recall, SearchFilters
from pagemind.runtime.settings import SKILL_RESULT_CHARS, SKILLS_SHOWN
from pagemind.runtime.skill import Checked, Draft, Offered, Skill, called, load_order
from pagemind.runtime.skill_book import SkillBook
from pagemind.runtime.state.state import State
from pagemind.runtime.step_trust import untrusted


@dataclass(frozen=True, slots=True)
class SkillRun:
    """What came of code in its process. `kind`: passed (the tests), result, arguments (they do not
    fit the function) or error; `value` is what the function returned, as JSON; `output` is what was
    printed, and how it ended."""

    kind: str
    output: str
    value: Any = None


class RunCode(Protocol):
    """Runs skills in a confined process: tools/skill_process.py."""

    def __call__(
        self,
        asked: Mapping[str, Any],
        *,
        seconds: float,
        megabytes: int,
        cancel: CancelToken | None,
    ) -> SkillRun: ...


class Skills:
    """Of one agent. `search` is that of its passages, `run` runs code, `trust` is the lowest trust
    of what is in view; `written` has new rows written back."""

    def __init__(
        self,
        state: State,
        search: Recall,
        spec: Skilling,
        *,
        run: RunCode,
        trust: Callable[[], int],
        written: Callable[[], None],
    ) -> None:
        self._state = state
        self._search = search
        self._spec = spec
        self._run = run
        self._trust = trust
        self._written = written
        self._book = SkillBook(state)

    def check(self, draft: Draft, cancel: CancelToken | None) -> Checked:
        """Run the tests of a draft. Raises BadArguments for skills that call each other in a
        circle, Cancelled."""
        now = self._book.active(draft.name)
        if draft.form == "instructions" or (now is not None and now.same_as(draft)):
            return Checked(draft)
        asked = self._asked(draft.name, draft.body, tests=draft.tests)
        done = self._in_process(asked, cancel)
        if done.kind != "passed":
            return Checked(draft, done.output)
        for each in self._callers(draft.name):
            asked = self._asked(each.name, each.body, draft, tests=each.tests)
            done = self._in_process(asked, cancel)
            if done.kind != "passed":
                return Checked(draft, f"{each.name} calls it, and fails with it:\n{done.output}")
        return Checked(draft)

    def _callers(self, name: str) -> list[Skill]:
        """The active skills that call it."""
        active = [each for each in self._book.all() if each.state == "active"]
        return [each for each in active if each.form == "code" and name in called(each.body)]

    def save(self, checked: Checked, turn: int) -> Skill:
        """Store it. It is active if its tests passed, or the definition accepts instructions, and
        nothing of strangers stood in view; else it waits or is refused, and says why."""
        draft, book = checked.draft, self._book
        for known in book.all():
            if known.same_as(draft) and known.state in ("active", "pending"):
                return known
        trust = min(self._trust(), TRUST["model"])
        tests = "its tests passed" if draft.form == "code" else ""
        why = checked.why or self._waits(draft, trust)
        skill = book.save(
            draft,
            why=f"its tests failed: {checked.why}" if checked.why else why or tests,
            refused=bool(checked.why),
            trust=trust,
            turn=turn,
        )
        if not why:
            skill = book.approve(skill, by="runtime", why=tests or "the definition accepts it")
        elif not checked.why:
            book.ask(skill)
        self._written()
        return skill

    def _waits(self, draft: Draft, trust: int) -> str:
        """Why a person has to approve it; "" where nobody has to."""
        if untrusted(trust):
            return "what a tool or a document said was in view when it was written"
        if self._spec.accept == "never":
            return "a person approves every skill"
        if draft.form == "instructions" and self._spec.accept != "instructions":
            return "a person approves instructions"
        return ""

    def search(self, task: str) -> list[Offered]:
        """The active skills whose `when_to_use` is most like a task, the best first."""
        wanted = SearchFilters(kinds=("skill",), standings=("skill",))
        hits = self._search.search(task, wanted, SKILLS_SHOWN).hits
        found = self._book.of([int(hit.id[1:]) for hit in hits if not hit.archive])
        return [Offered(each, *self._book.tallies(each.number)) for each in found]

    def run(
        self, name: str, arguments: Mapping[str, Any], turn: int, cancel: CancelToken | None
    ) -> str:
        """What it returns and prints; of instructions, these. Raises ToolFailed, Cancelled."""
        skill = self._book.active(name.strip())
        if skill is None:
            raise ToolFailed(self._not_active(name.strip()))
        if skill.form == "instructions":
            self._used(skill, turn)
            return skill.body
        asked = self._asked(skill.name, skill.body, arguments=dict(arguments))
        done = self._in_process(asked, cancel)
        if done.kind == "arguments":
            raise BadArguments(f"{skill.name}: {done.output}; it is called as {skill.shown}")
        with self._state.database.transaction():
            self._used(skill, turn)
            demoted = self._book.went(skill, well=done.kind == "result")
        if done.kind == "result":
            return _told(done)
        if demoted:
            self._written()
            demoted = (
                f"\n{skill.name} is not offered any more: {demoted}. Save a better version under"
                " the same name."
            )
        raise ToolFailed(f"{skill.name} failed:\n{done.output}{demoted}")

    def _used(self, skill: Skill, turn: int) -> None:
        self._book.used(skill, turn)

    def _asked(
        self, name: str, code: str, draft: Draft | None = None, **what: Any
    ) -> dict[str, Any]:
        """What the process is given, with a draft in the place of what is active under its name.
        Raises BadArguments for a circle."""

        def find(other: str) -> Skill | None:
            active = self._book.active(other)
            if draft is None or active is None or other != draft.name:
                return active
            return replace(active, form=draft.form, body=draft.body)

        ordered = load_order(name, code, find)
        skills = [{"name": n, "code": c, "calls": calls} for n, c, calls in ordered]
        return {"name": name, "skills": skills, **what}

    def _in_process(self, asked: Mapping[str, Any], cancel: CancelToken | None) -> SkillRun:
        spec = self._spec
        return self._run(asked, seconds=spec.seconds, megabytes=spec.megabytes, cancel=cancel)

    def _not_active(self, name: str) -> str:
        skills = self._book.all()
        mine = [each for each in skills if each.name == name]
        if mine:
            last = mine[-1]
            return f"{name} is not active, but {last.state}: {last.why}"
        active = [each.name for each in skills if each.state == "active"]
        close = get_close_matches(name, active, n=1)
        nearest = f" Did you mean {close[0]}?" if close else ""
        return f"no skill is called {name!r}.{nearest} skill_search finds those there are"


def _told(done: SkillRun) -> str:
    value = (
        done.value if isinstance(done.value, str) else json.dumps(done.value, ensure_ascii=False)
    )
    said = "\n".join(each for each in (done.output.strip("\n"), value) if each)
    if len(said) <= SKILL_RESULT_CHARS:
        return said
    return f"{said[:SKILL_RESULT_CHARS]}\n[cut: {len(said):,} characters]"
