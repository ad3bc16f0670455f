"""Which variables there are at each action, and those that are named but are not there. Pure.

What an action makes is known to those after it; what only one branch of an `if` makes is known in
that branch alone.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pagemind.runtime.definition_faults import Fault
from pagemind.runtime.structured import Schema
from pagemind.runtime.tasks.parts import Action, Check
from pagemind.runtime.tasks.text import Text, unknown
from pagemind.runtime.yaml_reader import Path as KeyPath

Names = Mapping[str, tuple[str, ...] | None]  # each with its fields; None: whatever it has
AT_END = ("total", "done", "failed")
# What is told of a task that ran as an action (subtask.py).
OF_SUB = ("status", "done", "failed", "total", "tokens", "cost", "outputs", "report", "task", "why")
_SchemaOf = Callable[[dict[str, Any] | str | None], Schema | None]


@dataclass(frozen=True, slots=True)
class Scope:
    """The variables known at a place, each with its fields."""

    names: Names

    @classmethod
    def of_inputs(
        cls, vars: Iterable[str], *, with_input: bool, fields: tuple[str, ...] | None
    ) -> "Scope":
        """Before the first action of an input."""
        names: dict[str, tuple[str, ...] | None] = {name: () for name in vars}
        names |= {"task": (), "block": None}
        if with_input:
            names |= {"input": fields, "number": ()}
        return cls(names)

    @classmethod
    def at_end(cls, vars: Iterable[str]) -> "Scope":
        """Before the first action after the inputs."""
        names: dict[str, tuple[str, ...] | None] = {name: () for name in (*vars, "task", *AT_END)}
        return cls({**names, "block": None})

    def knowing(self, **names: tuple[str, ...] | None) -> "Scope":
        return replace(self, names={**self.names, **names})

    def both(self, other: "Scope") -> "Scope":
        """What is known whichever way was taken."""
        return Scope({k: v for k, v in self.names.items() if k in other.names})

    def fault(self, path: tuple[str, ...]) -> str:
        """What is wrong with a variable; "" for nothing."""
        if path[0] not in self.names:
            return unknown(path[0], list(self.names))
        fields = self.names[path[0]]
        if fields is None or len(path) == 1:
            return ""
        if not fields:
            return f"{path[0]} is a text: it has no field {path[1]!r}"
        return "" if path[1] in fields else unknown(path[1], list(fields), path[0])


def unknown_variables(
    actions: tuple[Action, ...], path: KeyPath, scope: Scope, schema_of: _SchemaOf
) -> list[Fault]:
    """Every variable that is named where it is not known."""
    faults: list[Fault] = []
    _walk(actions, path, scope, schema_of, faults)
    return faults


def texts_of(path: KeyPath, action: Action) -> Iterator[tuple[KeyPath, Text]]:
    """The texts with variables of one action, without those inside it."""
    if action.say is not None:
        yield (*path, "say"), Text.parse(action.say)
    if action.wait is not None:
        yield (*path, "wait"), Text.parse(action.wait)
    for name, value in action.arguments.items():
        if isinstance(value, str):
            yield (*path, "with", name), Text.parse(value)
    for name, value in action.values.items():
        if isinstance(value, str):
            yield (*path, "set", name), Text.parse(value)
    for key, check in (
        ("if", action.condition),
        ("until", action.until),
        ("expect", action.expect),
    ):
        if check is not None and check.of is not None:
            yield (*path, key, "of"), Text.parse(check.of)
    if action.save is not None:
        save = action.save
        yield (*path, "save"), Text.parse(save.file)
        if save.text is not None:
            yield (*path, "save", "text"), Text.parse(save.text)
        for name, value in (save.row or {}).items():
            if isinstance(value, str):
                yield (*path, "save", "row", name), Text.parse(value)


def _walk(
    actions: tuple[Action, ...],
    path: KeyPath,
    scope: Scope,
    schema_of: _SchemaOf,
    faults: list[Fault],
) -> Scope:
    for at, action in enumerate(actions):
        here = (*path, at)
        before = scope
        if action.repeat:
            # What one round makes is known to the next; the first is the one that could lack it.
            scope = _walk(action.repeat, (*here, "repeat"), scope, schema_of, faults)
            before = scope
        scope = _made(action, scope, schema_of)
        for place, text in texts_of(here, action):
            # What an action says is filled before it runs, all else of it after.
            known = before if place[len(here)] in ("say", "wait", "with", "set") else scope
            if action.reduce is not None and place[len(here)] == "say":
                known = known.knowing(results=None, count=())
            faults += [(place, fault) for each in text.paths if (fault := known.fault(each))]
        for key, check in (("if", action.condition), ("until", action.until)):
            faults += _of_nothing(check, (*here, key), scope)
        if action.verb == "expect" or (action.verb == "save" and action.expect):
            faults += _of_nothing(action.expect, (*here, "expect"), scope)
        saves_reply = action.save is not None and not action.save.model_fields_set - {"file"}
        if saves_reply and not (action.call or action.sub) and "reply" not in scope.names:
            faults.append(((*here, "save"), "there is no reply yet: say something before it"))
        if action.condition is not None:
            then = _walk(action.then, (*here, "then"), scope, schema_of, faults)
            other = _walk(action.otherwise, (*here, "else"), scope, schema_of, faults)
            scope = then.both(other)
    return scope


def _made(action: Action, scope: Scope, schema_of: _SchemaOf) -> Scope:
    """With what an action leaves."""
    if action.say is not None:
        scope = scope.knowing(reply=())
        if action.json_schema is not None:
            fields = _fields(schema_of(action.json_schema))
            scope = scope.knowing(data=fields)
            if action.named:
                scope = scope.knowing(**{action.named: fields})
        elif action.named:
            scope = scope.knowing(**{action.named: ()})
    if action.call is not None:
        scope = scope.knowing(result=(), **({action.named: ()} if action.named else {}))
    if action.sub is not None:
        scope = scope.knowing(result=OF_SUB, **({action.named: OF_SUB} if action.named else {}))
    return scope


def _fields(schema: Schema | None) -> tuple[str, ...] | None:
    """Those of an object that says it has no others than these, or says these at all."""
    properties = (schema or {}).get("properties")
    return tuple(properties) if isinstance(properties, Mapping) and properties else None


def _of_nothing(check: Check | None, path: KeyPath, scope: Scope) -> list[Fault]:
    if check is None or check.of is not None or "reply" in scope.names:
        return []
    return [(path, "there is no reply yet: say something before it, or write of: …")]
