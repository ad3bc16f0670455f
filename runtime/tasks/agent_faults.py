"""What an action asks of an agent that the agent does not have: a block, a function, an argument.

`functions` are the parameters of each as a JSON schema, by name. Pure.
"""

from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from pagemind.runtime.definition_faults import Fault
from pagemind.runtime.mcp_use import server_of
from pagemind.runtime.tasks.parts import Action
from pagemind.runtime.tasks.scope import texts_of
from pagemind.runtime.yaml_reader import Path as KeyPath


def agent_faults(
    path: KeyPath,
    action: Action,
    blocks: set[str],
    functions: Mapping[str, Any],
    servers: Collection[str] = (),
) -> Iterator[Fault]:
    """Of one action, at its place in the file. What MCP servers offer is known only once they are
    asked: a call of a function of theirs is checked when it is made."""
    labels: list[tuple[KeyPath, str]] = [
        (place, steps[1])
        for place, text in texts_of(path, action)
        for steps in text.paths
        if steps[0] == "block" and len(steps) > 1
    ]
    if action.save is not None and action.save.block is not None:
        labels.append(((*path, "save", "block"), action.save.block))
    for place, label in labels:
        if label not in blocks:
            yield place, f"the agent has no block {label!r}; {_known(label, blocks)}"
    if action.call is None or server_of(action.call) in servers:
        return
    if action.call not in functions:
        yield (
            (*path, "call"),
            f"the agent has no function {action.call!r}; {_known(action.call, functions)}",
        )
        return
    parameters = functions[action.call]
    for name in action.arguments:
        if name not in parameters["properties"]:
            yield (
                (*path, "with", name),
                f"{action.call} does not take it; {_known(name, parameters['properties'])}",
            )
    for name in parameters.get("required", ()):
        if name not in action.arguments:
            yield (*path, "call"), f"{action.call} needs {name}: write it under with"


def _known(name: str, names: Any) -> str:
    close = get_close_matches(name, list(names), n=1)
    return (f"did you mean {close[0]!r}? " if close else "") + f"known: {', '.join(names)}"
