"""What is wrong with a task file beside what each of its sections sees: things that do not go
together, schemas and checks that are named and are not there."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pagemind.runtime.definition_faults import Fault
from pagemind.runtime.errors import UserError
from pagemind.runtime.structured import Schema, load_schema, schema_fault
from pagemind.runtime.tasks.named_checks import function_of
from pagemind.runtime.tasks.parts import ONE_AT_A_TIME, ONE_CLOCK, Action, Check
from pagemind.runtime.tasks.results import makers
from pagemind.runtime.tasks.spec import TaskSpec
from pagemind.runtime.tasks.text import Text, unknown
from pagemind.runtime.written_path import expanded
from pagemind.runtime.yaml_reader import Path as KeyPath


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


def cross_faults(spec: TaskSpec) -> Iterator[Fault]:
    """Of sections that do not go together."""
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
    elif spec.at_once > 1:
        yield ("at_once",), ONE_AT_A_TIME
    if spec.clock is not None and spec.at_once > 1:
        yield ("clock",), ONE_CLOCK
    for name in spec.vars:
        if not name.isidentifier():
            spaced = f"; write  {{{name} }}, with a blank" if name[:-1].isidentifier() else ""
            colon = spaced if name.endswith(":") else ""
            yield ("vars", name), f"is no name of a variable: letters, digits and _{colon}"
    if spec.inputs is not None:
        known = list(spec.vars)
        for written in spec.inputs.paths:
            for path in Text.parse(written).paths:
                if path[0] not in known:
                    yield ("inputs", spec.inputs.kind), unknown(path[0], known)


def schema_faults(spec: TaskSpec, base: Path, loaded: dict[str, Schema]) -> Iterator[Fault]:
    """Loads the schemas that are named by their file."""

    def fault_of(written: dict[str, Any] | str | None) -> str:
        if isinstance(written, str):
            try:
                loaded[written] = load_schema(base / expanded(written))
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


def own_check_faults(spec: TaskSpec, base: Path) -> Iterator[Fault]:
    """Of functions that check. They are imported: it is done where a task is about to run."""
    for path, action in every_action(spec):
        for key, check in _checks(action):
            if check.check is not None:
                try:
                    function_of(check.check, base)
                except ValueError as fault:
                    yield (*path, key, "check"), str(fault)


def reduce_faults(spec: TaskSpec) -> Iterator[Fault]:
    """Of actions that read what the inputs left."""
    made = dict.fromkeys(name for name, _ in makers(spec.do))
    for path, action in every_action(spec):
        if action.reduce is None:
            continue
        if path[0] != "at_end" or spec.inputs is None:
            yield (*path, "reduce"), "stands under at_end, and is about the results of inputs"
        elif action.reduce not in made:
            yield (
                (*path, "reduce"),
                f"no action of `do` makes it: {unknown(action.reduce, [*made])}",
            )
        elif not any(each[0] == "results" for each in Text.parse(action.say or "").paths):
            yield (*path, "say"), "has no {{ results }}: the agent would not see them"


def sub_faults(place: KeyPath, action: Action, sub: TaskSpec, file: str) -> Iterator[Fault]:
    """What a task needs from the action that runs it."""
    if sub.team:
        yield (*place, "sub"), f"{file} has a team: only the outermost task has one"
    if sub.clock is not None:
        yield (*place, "sub"), f"{file} has a clock of its own: only the outermost task has one"
    for name in action.values:
        if name not in sub.vars:
            yield (*place, "set", name), f"{file}: {unknown(name, list(sub.vars))}"
    missing = [n for n, value in sub.vars.items() if value is None and n not in action.values]
    if missing:
        yield (*place, "sub"), f"{file} needs {', '.join(missing)}: write it under set"
    if sub.inputs is not None and sub.inputs.kind == "stdin":
        yield (*place, "sub"), f"{file} reads standard input: only the task that is run may"
    if action.agent == "same" and sub.agents == "per_input":
        yield (*place, "agent"), f"{file} makes an agent for each of its inputs"


def _checks(action: Action) -> Iterator[tuple[str, Check]]:
    for key, check in (
        ("if", action.condition),
        ("until", action.until),
        ("expect", action.expect),
    ):
        if check is not None:
            yield key, check
