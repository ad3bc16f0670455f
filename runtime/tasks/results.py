"""The results of inputs by the name of a variable: which actions make it, and what a ledger has of
it. Pure but for the ledger that is read."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pagemind.runtime.state.task_results import TaskResults
from pagemind.runtime.tasks.parts import Action

Pattern = tuple[str, ...]  # of a place; "*" is the number of a round


@dataclass(frozen=True, slots=True)
class Result:
    """What an input, or several together, came to."""

    label: str
    value: Any


def makers(actions: tuple[Action, ...], place: Pattern = ("do",)) -> Iterator[tuple[str, Pattern]]:
    """Each variable that actions make, with the place of the one that makes it."""
    for at, action in enumerate(actions, 1):
        here = (*place, str(at))
        names = []
        if action.say is not None:
            names = ["reply", *(["data"] if action.json_schema is not None else [])]
        elif action.call is not None or action.sub is not None:
            names = ["result"]
        if names and action.named:
            names.append(action.named)
        yield from ((name, here) for name in names)
        yield from makers(action.then, (*here, "then"))
        yield from makers(action.otherwise, (*here, "else"))
        yield from makers(action.repeat, (*here, "*"))


def results_of(
    left: TaskResults, task: str, actions: tuple[Action, ...], name: str
) -> Iterator[Result]:
    """What each input left under a name, in order; one that left nothing is passed over."""
    patterns = [pattern for made, pattern in makers(actions) if made == name]
    for each in left.of_inputs(task):
        found = [(p, value) for p, value in each.results if _made(p.split("."), patterns)]
        if found:
            # What is made last is what the variable was in the end.
            _, last = max(found, key=lambda pair: _order(pair[0]))
            yield Result(each.label, _value(last, name))


def _made(place: list[str], patterns: list[Pattern]) -> bool:
    return any(
        len(place) == len(pattern)
        and all(want in ("*", step) for want, step in zip(pattern, place, strict=True))
        for pattern in patterns
    )


def _order(place: str) -> list[tuple[int, str]]:
    return [(int(step), "") if step.isdigit() else (0, step) for step in place.split(".")]


def _value(result: dict[str, Any], name: str) -> Any:
    if name in ("reply", "data", "result"):
        return result.get(name)
    return next((result[key] for key in ("data", "reply", "result") if key in result), None)
