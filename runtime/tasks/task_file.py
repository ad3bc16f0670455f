"""Task: the checked value of a task file. Every fault is a DefinitionError with its line.

What can be wrong is found before anything runs: keys, schemas, files that are named, variables
(scope.py), and, once the agent is known, its blocks and functions (`check_agent`).
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TextIO

from pydantic import ValidationError

from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.definition_faults import Fault, complain, from_validation
from pagemind.runtime.errors import DefinitionError, NotFound, UserError
from pagemind.runtime.settings import MAX_NAME, MAX_TASK_BYTES, TASK_DEPTH
from pagemind.runtime.structured import Schema
from pagemind.runtime.tasks.agent_faults import agent_faults
from pagemind.runtime.tasks.file_faults import (
    cross_faults,
    every_action,
    own_check_faults,
    reduce_faults,
    schema_faults,
    sub_faults,
)
from pagemind.runtime.tasks.inputs import Source
from pagemind.runtime.tasks.parts import agent_name
from pagemind.runtime.tasks.scope import Scope, unknown_variables
from pagemind.runtime.tasks.spec import TaskSpec
from pagemind.runtime.tasks.text import Text
from pagemind.runtime.written_path import expanded
from pagemind.runtime.yaml_reader import Document, Kind, decode, read
from pagemind.runtime.yaml_reader import Path as KeyPath

_KIND = Kind("a task", "agent: …", MAX_TASK_BYTES, "put long texts into files of input")


@dataclass(frozen=True)
class Task:
    """A task that can be run. `vars` has the values of --set in it; `set` is those alone. `subs`
    are the tasks that its actions run, as they are named there: those variables that an action
    gives them (`later`) have no value yet."""

    spec: TaskSpec
    name: str
    path: Path
    text: str
    vars: Mapping[str, str]
    set: Mapping[str, str]
    schemas: Mapping[str, Schema] = field(default_factory=dict)
    subs: Mapping[str, "Task"] = field(default_factory=dict)
    later: frozenset[str] = frozenset()

    @property
    def base(self) -> Path:
        """What paths in it are relative to."""
        return self.path.parent

    @property
    def made(self) -> bool:
        """Whether the task makes its agents."""
        return not self.spec.agent.existing

    @property
    def agent_name(self) -> str:
        """Of the shared agent, and the beginning of those of inputs."""
        return self.spec.agent.existing or self.spec.agent.name or _agent_of(self.name)

    def agent_of_input(self, number: int) -> str:
        """With `per_input`: what the agent of this input is called."""
        return f"{self.agent_name[:48]} {number}"

    def schema(self, written: dict[str, Any] | str | None) -> Schema | None:
        """The schema that stands there, or in the file that is named there."""
        return self.schemas[written] if isinstance(written, str) else written

    def source(self, stdin: TextIO | None = None) -> Source | None:
        """None where there are no inputs."""
        if self.spec.inputs is None:
            return None
        return Source(self.spec.inputs.filled(self.vars), self.base, stdin)

    @property
    def knows_inputs(self) -> bool:
        """Whether it can be said already where they come from."""
        paths = self.spec.inputs.paths if self.spec.inputs is not None else ()
        named = {path[0] for each in paths for path in Text.parse(each).paths}
        return named <= set(self.vars) - self.later

    def files(self) -> dict[str, str]:
        """The texts of all other task files that it runs, by their paths."""
        found: dict[str, str] = {}
        for sub in self.subs.values():
            found |= {str(sub.path): sub.text, **sub.files()}
        return found

    def check_agent(self, definition: AgentDefinition, functions: Mapping[str, Any]) -> None:
        """Raises DefinitionError for a block or function that the agent does not have, and for a
        check of one's own that is not there. `functions` are the parameters of each, by name."""
        blocks = set(definition.blocks)
        servers = {server.name for server in definition.servers}
        faults = [
            fault
            for path, action in every_action(self.spec)
            for fault in agent_faults(path, action, blocks, functions, servers)
        ]
        faults += own_check_faults(self.spec, self.base)
        if faults:
            raise _complain(self.spec._document, faults)
        for _, action in every_action(self.spec):
            if action.sub is not None and action.agent == "same":
                self.subs[action.sub].check_agent(definition, functions)

    def tasks_of_their_own(self) -> Iterator["Task"]:
        """Those that it runs on agents which they name, and those that these run."""
        for _, action in every_action(self.spec):
            if action.sub is None:
                continue
            if action.agent is None:
                yield self.subs[action.sub]
            yield from self.subs[action.sub].tasks_of_their_own()


def load_task(path: str | Path, set: Mapping[str, str] | None = None) -> Task:
    """The task in a file, with these values of its variables. Raises NotFound, DefinitionError."""
    file = expanded(path)
    return parse_task(_read(file), file, set)


def _read(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            data = opened.read(MAX_TASK_BYTES + 1)
    except OSError as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else error.strerror
        near = ""
        if file.parent.is_dir() and not file.is_dir():
            beside = [each.name for each in file.parent.glob("*.y*ml")]
            if close := get_close_matches(file.name, beside, n=1):
                near = f"did you mean {file.with_name(close[0])}?"
        raise NotFound(f"{file}: {(reason or 'cannot be read').lower()}", hint=near) from None
    return decode(data, str(file), _KIND)


def parse_task(
    text: str,
    path: Path,
    set: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
) -> Task:
    """The task in this text, which stands, or stood, in the file `path`. `files` are the texts of
    those that it runs, by their paths; others are read."""
    return _Reading(files or {}).task(text, path, dict(set or {}))


class _Reading:
    """Of one task and those that its actions run. `way` is the files that led to one."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files

    def task(
        self,
        text: str,
        path: Path,
        given: dict[str, str],
        way: tuple[Path, ...] = (),
        later: frozenset[str] | None = None,
    ) -> Task:
        document = read(text, str(path), _KIND)
        try:
            spec = TaskSpec.model_validate(document.value)
        except ValidationError as error:
            raise _complain(document, _told(document, error)) from None
        spec._document = document
        faults = [*cross_faults(spec), *reduce_faults(spec)]
        vars = {**spec.vars, **given}
        _must_be_declared(given, spec)
        if later is None:  # of another task the action that runs it is to blame
            faults += [
                (("vars", name), f"has no value; give it with --set {name}=…")
                for name, value in vars.items()
                if value is None and name.isidentifier()
            ]
        schemas: dict[str, Schema] = {}
        faults += schema_faults(spec, path.parent, schemas)
        if faults:
            raise _complain(document, faults)
        subs: dict[str, Task] = {}
        faults += self._subs(spec, path, (*way, path.resolve()), subs)
        if faults:
            raise _complain(document, faults)
        task = Task(
            spec,
            spec.name or _name_of(path),
            path.absolute(),
            text,
            {name: value for name, value in vars.items() if value is not None},
            given,
            schemas,
            subs,
            later or frozenset(),
        )
        fields = _fields(task, inside=later is not None)
        start = Scope.of_inputs(vars, with_input=spec.inputs is not None, fields=fields)
        end = Scope.at_end(vars)
        found = [
            *unknown_variables(spec.do, ("do",), start, task.schema),
            *unknown_variables(spec.at_end, ("at_end",), end, task.schema),
        ]
        if found:
            raise _complain(document, found)
        return task

    def _subs(
        self, spec: TaskSpec, path: Path, way: tuple[Path, ...], found: dict[str, Task]
    ) -> Iterator[Fault]:
        """Loads the tasks that actions run. What is wrong inside one is raised, with its lines."""
        for place, action in every_action(spec):
            if action.sub is None:
                continue
            file = (path.parent / expanded(action.sub)).absolute()
            if fault := _reached(file, way):
                yield (*place, "sub"), fault
                continue
            try:
                text = self._files.get(str(file))
                text = _read(file) if text is None else text
            except NotFound as missing:
                hint = f"; {missing.hint}" if missing.hint else ""
                yield (*place, "sub"), f"{missing.message}{hint}"
                continue
            # Several actions may run one file, each with variables of its own.
            later, known = frozenset(action.values), found.get(action.sub)
            if known is None or not later <= known.later:
                later |= known.later if known is not None else frozenset()
                found[action.sub] = known = self.task(text, file, {}, way, later)
            yield from sub_faults(place, action, known.spec, file.name)


def _agent_of(name: str) -> str:
    """The name of an agent that a task makes, by that of the task: one inside another has one that
    no agent could have."""
    if "/" not in name:
        return name
    bare = name.replace("/", " ").replace("~", " ")
    if len(bare) <= MAX_NAME - 16:
        return bare
    return f"{bare[: MAX_NAME - 28]} {hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _fields(task: Task, *, inside: bool) -> tuple[str, ...] | None:
    """What an input has, as far as that is known."""
    if not task.knows_inputs or (source := task.source()) is None:
        return None
    try:
        return source.fields
    except UserError:
        if inside:  # another action may make what it reads
            return None
        raise


def _reached(file: Path, way: tuple[Path, ...]) -> str:
    """Why a task may not be run on this way; "" if it may."""
    names = " → ".join(each.name for each in (*way, file))
    if file.resolve() in way:
        return f"the task reaches itself: {names}"
    if len(way) >= TASK_DEPTH:
        return f"is the {len(way) + 1}th task inside another; at most {TASK_DEPTH} may be: {names}"
    return ""


def _must_be_declared(given: Mapping[str, str], spec: TaskSpec) -> None:
    """Raises UserError for a value of --set that no variable has."""
    strange = next((name for name in given if name not in spec.vars), None)
    if strange is None:
        return
    close = get_close_matches(strange, spec.vars, n=1)
    known = ", ".join(spec.vars) or "none; declare it under vars"
    raise UserError(
        f"--set {strange}: the task has no such variable",
        hint=(f"did you mean {close[0]}? " if close else "") + f"variables: {known}",
    )


def _name_of(path: Path) -> str:
    try:
        return agent_name(path.stem)
    except ValueError as error:
        raise DefinitionError(f"{path}: {error}", hint="write  name: … in it") from None


def _complain(document: Document, faults: Sequence[Fault]) -> DefinitionError:
    return complain(document, faults, first_item=1)  # as plans and reports count actions


def _told(document: Document, error: ValidationError) -> list[Fault]:
    """The validator's findings; those inside `schema`, which may be two things, only once."""
    faults: dict[KeyPath, str] = {}
    for path, message in from_validation(error, TaskSpec):
        short = tuple(
            step
            for at, step in enumerate(path)
            if not (isinstance(step, str) and at and path[at - 1] == "schema")
        )
        if short != path:
            message = "must be a JSON schema, or the path of a file that holds one"
        faults.setdefault(short, message)
    return list(faults.items())


def fingerprint(task: Task) -> str:
    """What a task does: two of them are alike if these are, whatever else their files say."""
    written = {k: v for k, v in task.spec._document.value.items() if k != "at_once"}
    subs = {name: fingerprint(sub) for name, sub in task.subs.items()}
    value = [written, dict(task.set), subs]
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def written_lines(task: Task) -> list[str]:
    """What a person wrote, line by line: the file, those it runs, and what was set."""
    inside = [
        f"{Path(path).name}: {line}"
        for path, text in task.files().items()
        for line in text.splitlines()
    ]
    set = [f"--set {name}={value}" for name, value in sorted(task.set.items())]
    return [*task.text.splitlines(), *inside, *set]
