"""Task: the checked value of a task file. Every fault is a DefinitionError with its line.

What can be wrong is found before anything runs: keys, schemas, files that are named, variables
(scope.py), and, once the agent is known, its blocks and functions (`check_agent`).
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, TextIO

from pydantic import AfterValidator, BeforeValidator, Field, PrivateAttr, ValidationError

from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.definition_faults import Fault, complain, from_validation
from pagemind.runtime.definition_parts import Section, Words
from pagemind.runtime.errors import DefinitionError, NotFound, UserError
from pagemind.runtime.settings import MAX_TASK_BYTES
from pagemind.runtime.structured import Schema, load_schema, schema_fault
from pagemind.runtime.tasks.agent_faults import agent_faults
from pagemind.runtime.tasks.inputs import Source
from pagemind.runtime.tasks.parts import (
    Action,
    AgentSpec,
    Budget,
    Check,
    Inputs,
    Many,
    OnError,
    OnUnknown,
    Policy,
    agent_name,
)
from pagemind.runtime.tasks.scope import Scope, unknown_variables
from pagemind.runtime.yaml_reader import Document, Kind, decode, read
from pagemind.runtime.yaml_reader import Path as KeyPath

_KIND = Kind("a task", "agent: …", MAX_TASK_BYTES, "put long texts into files of input")


def _spelt_agent(value: Any) -> Any:
    return value if isinstance(value, dict) else {"existing": value}


class AgentUse(AgentSpec):
    """The agent: one that exists, by its name alone, or one that the task makes."""

    definition: Words = ""
    existing: Words = ""


def _variable(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | int | float | None):
        raise ValueError("must be text or a number, or empty where --set gives it")
    return None if value is None else str(value)


def _not_empty(value: tuple[Action, ...]) -> tuple[Action, ...]:
    if not value:
        raise ValueError("holds nothing to do: write  - say: …  under it")
    return value


def _task_name(value: str) -> str:
    return agent_name(value)


class TaskSpec(Section):
    """A task file as it is written."""

    name: Annotated[Words, AfterValidator(_task_name)] | None = None
    description: Words = ""
    agent: Annotated[AgentUse, BeforeValidator(_spelt_agent)]
    agents: Many = "shared"
    inputs: Inputs | None = None
    vars: dict[str, Annotated[str | None, BeforeValidator(_variable)]] = Field(default_factory=dict)
    do: Annotated[tuple[Action, ...], AfterValidator(_not_empty)]
    at_end: tuple[Action, ...] = ()
    on_error: Policy = OnError()
    on_unknown: OnUnknown = "ask"
    budget: Budget = Budget()

    _document: Document = PrivateAttr(default_factory=lambda: Document({}, "", {}))


@dataclass(frozen=True)
class Task:
    """A task that can be run. `vars` has the values of --set in it; `set` is those alone."""

    spec: TaskSpec
    name: str
    path: Path
    text: str
    vars: Mapping[str, str]
    set: Mapping[str, str]
    schemas: Mapping[str, Schema] = field(default_factory=dict)

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
        return self.spec.agent.existing or self.spec.agent.name or self.name

    def schema(self, written: dict[str, Any] | str | None) -> Schema | None:
        """The schema that stands there, or in the file that is named there."""
        return self.schemas[written] if isinstance(written, str) else written

    def source(self, stdin: TextIO | None = None) -> Source | None:
        return Source(self.spec.inputs, self.base, stdin) if self.spec.inputs else None

    def check_agent(self, definition: AgentDefinition, functions: Mapping[str, Any]) -> None:
        """Raises DefinitionError for a block or function that the agent does not have.
        `functions` are the parameters of each, by name."""
        blocks = set(definition.blocks)
        faults = [
            fault
            for path, action in every_action(self.spec)
            for fault in agent_faults(path, action, blocks, functions)
        ]
        if faults:
            raise complain(self.spec._document, faults)


def load_task(path: str | Path, set: Mapping[str, str] | None = None) -> Task:
    """The task in a file, with these values of its variables. Raises NotFound, DefinitionError."""
    file = Path(path).expanduser()
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
    return parse_task(decode(data, str(file), _KIND), file, set)


def parse_task(text: str, path: Path, set: Mapping[str, str] | None = None) -> Task:
    """The task in this text, which stands, or stood, in the file `path`."""
    given = dict(set or {})
    document = read(text, str(path), _KIND)
    try:
        spec = TaskSpec.model_validate(document.value)
    except ValidationError as error:
        raise complain(document, _told(document, error)) from None
    spec._document = document
    faults = [*_cross_checks(spec)]
    vars = {**spec.vars, **given}
    if strange := [name for name in given if name not in spec.vars]:
        close = get_close_matches(strange[0], spec.vars, n=1)
        known = ", ".join(spec.vars) or "none; declare it under vars"
        raise UserError(
            f"--set {strange[0]}: the task has no such variable",
            hint=(f"did you mean {close[0]}? " if close else "") + f"variables: {known}",
        )
    faults += [
        (("vars", name), f"has no value; give it with --set {name}=…")
        for name, value in vars.items()
        if value is None
    ]
    schemas: dict[str, Schema] = {}
    faults += _schema_faults(spec, path.parent, schemas)
    if faults:
        raise complain(document, faults)
    task = Task(
        spec,
        spec.name or _name_of(path),
        path.absolute(),
        text,
        {name: value for name, value in vars.items() if value is not None},
        given,
        schemas,
    )
    source = task.source()
    fields = source.fields if source else None
    start = Scope.of_inputs(vars, with_input=source is not None, fields=fields)
    end = Scope.at_end(vars)
    found = [
        *unknown_variables(spec.do, ("do",), start, task.schema),
        *unknown_variables(spec.at_end, ("at_end",), end, task.schema),
    ]
    if found:
        raise complain(document, found)
    return task


def every_action(spec: TaskSpec) -> Iterator[tuple[KeyPath, Action]]:
    """All of them, those inside others too, each with where it stands."""

    def inside(actions: tuple[Action, ...], path: KeyPath) -> Iterator[tuple[KeyPath, Action]]:
        for at, action in enumerate(actions):
            here = (*path, at)
            yield here, action
            yield from inside(action.then, (*here, "then"))
            yield from inside(action.otherwise, (*here, "else"))
            yield from inside(action.repeat, (*here, "repeat"))

    yield from inside(spec.do, ("do",))
    yield from inside(spec.at_end, ("at_end",))


def _name_of(path: Path) -> str:
    try:
        return agent_name(path.stem)
    except ValueError as error:
        raise DefinitionError(f"{path}: {error}", hint="write  name: … in it") from None


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


def _cross_checks(spec: TaskSpec) -> Iterator[Fault]:
    if spec.agent.existing and spec.agent.model_fields_set != {"existing"}:
        yield ("agent",), "is a name, or a mapping with definition"
    elif not spec.agent.existing and not spec.agent.definition:
        yield ("agent",), "needs definition: what it is made from"
    if spec.agents == "per_input":
        if spec.agent.existing:
            yield (
                ("agents",),
                "per_input makes an agent for each input: write agent: {definition: …}",
            )
        if spec.inputs is None:
            yield ("agents",), "per_input is about inputs, and there are none"
    for name in spec.vars:
        if not name.isidentifier():
            yield ("vars", name), "is no name of a variable: letters, digits and _"


def _schema_faults(spec: TaskSpec, base: Path, loaded: dict[str, Schema]) -> Iterator[Fault]:
    """Loads the schemas that are named by their file."""

    def fault_of(written: dict[str, Any] | str | None) -> str:
        if isinstance(written, str):
            try:
                loaded[written] = load_schema(base / Path(written).expanduser())
            except UserError as error:
                return error.message
        return schema_fault(written) if isinstance(written, dict) else ""

    for path, action in every_action(spec):
        places: list[tuple[KeyPath, dict[str, Any] | str | None]] = [
            ((*path, "schema"), action.json_schema)
        ]
        for key, check in _checks(action):
            places.append(((*path, key, "schema"), check.json_schema))
        for place, written in places:
            if fault := fault_of(written):
                yield place, fault


def _checks(action: Action) -> Iterator[tuple[str, Check]]:
    for key, check in (
        ("if", action.condition),
        ("until", action.until),
        ("expect", action.expect),
    ):
        if check is not None:
            yield key, check


def fingerprint(task: Task) -> str:
    """What a task does: two of them are alike if these are, whatever else their files say."""
    value = [task.spec._document.value, dict(task.set)]
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def written_lines(task: Task) -> list[str]:
    """What a person wrote, line by line: the file, and what was set."""
    return [*task.text.splitlines(), *(f"--set {k}={v}" for k, v in sorted(task.set.items()))]
