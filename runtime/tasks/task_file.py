"""Task: the checked value of a task file. Every fault is a DefinitionError with its line.

What can be wrong is found before anything runs: keys, schemas, files that are named, variables
(scope.py), and, once the agent is known, its blocks and functions (`check_agent`).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TextIO

from pydantic import ValidationError

from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.definition_faults import Fault, complain, from_validation
from pagemind.runtime.errors import DefinitionError, NotFound, UserError
from pagemind.runtime.settings import MAX_TASK_BYTES
from pagemind.runtime.structured import Schema
from pagemind.runtime.tasks.agent_faults import agent_faults
from pagemind.runtime.tasks.file_faults import (
    cross_faults,
    every_action,
    own_check_faults,
    schema_faults,
)
from pagemind.runtime.tasks.inputs import Source
from pagemind.runtime.tasks.parts import agent_name
from pagemind.runtime.tasks.scope import Scope, unknown_variables
from pagemind.runtime.tasks.spec import TaskSpec
from pagemind.runtime.yaml_reader import Document, Kind, decode, read
from pagemind.runtime.yaml_reader import Path as KeyPath

_KIND = Kind("a task", "agent: …", MAX_TASK_BYTES, "put long texts into files of input")


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
        """Raises DefinitionError for a block or function that the agent does not have, and for a
        check of one's own that is not there. `functions` are the parameters of each, by name."""
        blocks = set(definition.blocks)
        faults = [
            fault
            for path, action in every_action(self.spec)
            for fault in agent_faults(path, action, blocks, functions)
        ]
        faults += own_check_faults(self.spec, self.base)
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
    faults = [*cross_faults(spec)]
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
    faults += schema_faults(spec, path.parent, schemas)
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


def fingerprint(task: Task) -> str:
    """What a task does: two of them are alike if these are, whatever else their files say."""
    written = {k: v for k, v in task.spec._document.value.items() if k != "at_once"}
    value = [written, dict(task.set)]
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def written_lines(task: Task) -> list[str]:
    """What a person wrote, line by line: the file, and what was set."""
    return [*task.text.splitlines(), *(f"--set {k}={v}" for k, v in sorted(task.set.items()))]
