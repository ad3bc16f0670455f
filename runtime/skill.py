"""A skill: how something is done, as instructions or as a function in Python. Pure.

A skill in code is a function called like the skill. It may call other skills by name: load_order()
gives them, what is called before what calls it, and refuses a circle. Its tests are code that
asserts. A skill is found by `when_to_use` alone.
"""

import ast
import builtins
import keyword
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from pagemind.runtime.errors import BadArguments
from pagemind.runtime.passage import Passage
from pagemind.runtime.settings import SKILL_CHARS, SKILL_WHEN_CHARS, SKILLS_DEEP

Form = Literal["code", "instructions"]
# pending: waits for a person; refused: its tests failed, or a person said no; active: offered and
# run; past: another version took its place; demoted: it failed too often; withdrawn: another was
# saved before it was active, its turn was undone, or a person forgot it.
SkillState = Literal["pending", "refused", "active", "past", "demoted", "withdrawn"]
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class Draft:
    """What is to be saved, checked as far as that can be done by reading it."""

    name: str
    when_to_use: str
    form: Form
    body: str
    tests: str = ""

    @classmethod
    def of(
        cls, name: str, when_to_use: str, instructions: str | None, code: str | None, tests: str
    ) -> "Draft":
        """Raises BadArguments, saying what is wrong."""
        name, when, tests = name.strip(), " ".join(when_to_use.split()), tests.strip("\n")
        check_name(name)
        if not when or len(when) > SKILL_WHEN_CHARS:
            raise BadArguments(
                f"when_to_use says in one sentence of at most {SKILL_WHEN_CHARS} characters when"
                " the skill is of use: it is found by that alone"
            )
        given = [each for each in (instructions, code) if each and each.strip()]
        if len(given) != 1:
            raise BadArguments("give either instructions or code, and not both")
        body = given[0].strip("\n")
        if max(len(body), len(tests)) > SKILL_CHARS:
            raise BadArguments(f"a skill has at most {SKILL_CHARS:,} characters, and so its tests")
        if code and code.strip():
            _check_code(name, body, tests)
            return cls(name, when, "code", body, tests)
        if tests:
            raise BadArguments("tests are for code; leave them out, or give code")
        return cls(name, when, "instructions", body)


@dataclass(frozen=True, slots=True)
class Skill:
    """A version of a skill, as it is stored in a record."""

    number: int
    name: str
    version: int
    when_to_use: str
    form: Form
    body: str
    tests: str
    state: SkillState
    why: str  # it is in that state: what its tests said, who approved it
    trust: int

    @property
    def short_id(self) -> str:
        return f"a{self.number}"

    @property
    def shown(self) -> str:
        """How it is called."""
        return signature(self.name, self.body) if self.form == "code" else f"{self.name}()"

    def same_as(self, draft: Draft) -> bool:
        mine = (self.name, self.when_to_use, self.form, self.body, self.tests)
        return mine == (draft.name, draft.when_to_use, draft.form, draft.body, draft.tests)


@dataclass(frozen=True, slots=True)
class Checked:
    """A draft, and what its tests came to; `why` they did not pass, "" where they did."""

    draft: Draft
    why: str = ""


@dataclass(frozen=True, slots=True)
class Offered:
    """A skill as a search shows it."""

    skill: Skill
    good: int
    bad: int


def metadata_of(draft: Draft, version: int, state: SkillState, why: str) -> dict[str, Any]:
    """The metadata of its record."""
    return {
        "name": draft.name,
        "version": version,
        "form": draft.form,
        "body": draft.body,
        "tests": draft.tests,
        "state": state,
        "why": why,
    }


def skill_of(record: Passage) -> Skill | None:
    """What a record holds; None for what is no skill: it may have come with an import."""
    try:
        stored = record.metadata
        state: SkillState = stored["state"]
        if record.provenance.status == "retired":
            state = "withdrawn"
        return Skill(
            number=record.number,
            name=str(stored["name"]),
            version=int(stored["version"]),
            when_to_use=record.text,
            form="code" if stored["form"] == "code" else "instructions",
            body=str(stored["body"]),
            tests=str(stored["tests"]),
            state=state,
            why=str(stored["why"]),
            trust=record.provenance.trust,
        )
    except (KeyError, TypeError, ValueError):
        return None


def check_name(name: str) -> None:
    """Raises BadArguments."""
    if not _NAME.fullmatch(name) or keyword.iskeyword(name) or hasattr(builtins, name):
        raise BadArguments(
            f"{name[:80]!r} is no name of a skill: lower-case letters, digits and _, starting with"
            " a letter, at most 64, and no word of Python's own; such as sort_invoices"
        )


def _check_code(name: str, code: str, tests: str) -> None:
    tree = _parsed(code, "code")
    if _function(name, tree) is None:
        raise BadArguments(f"code must define the function {name}, which the skill is")
    if not tests:
        raise BadArguments(
            "code needs tests: a skill is active only when they pass; write asserts that call"
            f" {name}(…)"
        )
    tested = _parsed(tests, "tests")
    if not any(isinstance(node, ast.Assert | ast.Raise) for node in ast.walk(tested)):
        raise BadArguments(f"tests assert nothing; write such as assert {name}(…) == …")
    if name not in {node.id for node in ast.walk(tested) if isinstance(node, ast.Name)}:
        raise BadArguments(f"tests never call {name}")


def _parsed(code: str, what: str) -> ast.Module:
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f" in line {error.lineno}" if isinstance(error, SyntaxError) else ""
        why = error.msg if isinstance(error, SyntaxError) else "it cannot be read"
        raise BadArguments(f"{what} is not Python: {why}{line}") from None


def _function(name: str, tree: ast.Module) -> ast.FunctionDef | None:
    found = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == name]
    return found[-1] if found else None


def signature(name: str, code: str) -> str:
    """How a function is called: `sort_invoices(rows, by='date')`."""
    try:
        function = _function(name, _parsed(code, name))
    except BadArguments:  # it came with an import
        function = None
    return f"{name}({ast.unparse(function.args)})" if function is not None else f"{name}()"


def called(code: str) -> set[str]:
    """The names that code uses and does not define: skills among them."""
    tree = _parsed(code, "code")
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return used - set(_bound(tree)) - set(dir(builtins))


def _bound(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name


def load_order(
    name: str, code: str, find: Callable[[str], Skill | None]
) -> list[tuple[str, str, list[str]]]:
    """This code and the skills in code that it calls, directly or not: name, code and what each
    calls; the called ones first. `find` gives an active skill. Raises BadArguments for a circle."""
    ordered: dict[str, tuple[str, str, list[str]]] = {}
    _visit(name, code, find, [], ordered)
    return list(ordered.values())


def _visit(
    name: str,
    code: str,
    find: Callable[[str], Skill | None],
    path: list[str],
    ordered: dict[str, tuple[str, str, list[str]]],
) -> None:
    path = [*path, name]
    if len(ordered) + len(path) > SKILLS_DEEP + 1:
        raise BadArguments(f"a skill calls at most {SKILLS_DEEP} others, all in all")
    calls = []
    for other in sorted(called(code)):
        if other in path:
            circle = " → ".join([*path[path.index(other) :], other])
            raise BadArguments(f"skills may not call each other in a circle: {circle}")
        found = find(other)
        if found is None or found.form != "code":
            continue
        if other not in ordered:
            _visit(other, found.body, find, path, ordered)
        calls.append(other)
    ordered[name] = (name, code, calls)
