"""The team of a task: other agents that it makes, for its own to work with (docs/together.md).

They are made before the first action, open until the run ends, and go with --restart. So do shared
blocks that came into being with the task and that no agent has any more.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any

from pagemind.runtime.agent import Agent
from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.errors import PagemindError, UserError
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.sharers import sharers
from pagemind.runtime.state.ledger import TaskRow
from pagemind.runtime.tasks.hired import Hiring, load_named
from pagemind.runtime.tasks.task_file import Task
from pagemind.runtime.yaml_reader import read


def definitions_of(task: Task) -> dict[str, AgentDefinition]:
    """What each is made from, by its name. Raises UnknownDefinition, DefinitionError."""
    return {
        name: load_named(task, each.definition, ("team", name, "definition"))
        for name, each in task.spec.team.items()
    }


def must_be_free(runtime: Runtime, task: Task) -> None:
    """Raises UserError where there is an agent of such a name."""
    for name in task.spec.team:
        if runtime.home.exists(name):
            raise UserError(
                f"there is an agent called {name!r} already, and the task would make it",
                hint="give it another name under team, or delete that one first",
            )


@contextmanager
def gathered(runtime: Runtime, task: Task, hiring: Hiring | None) -> Iterator[list[Agent]]:
    """The team, open until this is left."""
    hiring = hiring or Hiring()
    made = definitions_of(task)
    team: list[Agent] = []
    try:
        for name, each in task.spec.team.items():
            model = hiring.model or each.model or task.spec.agent.model
            team.append(runtime.agent(name, made[name], model=model, wait=hiring.wait))
        yield team
    finally:
        for agent in team:
            agent.close()


def names_in(row: TaskRow) -> list[str]:
    """The team of a task as it was begun, also where its file can no longer be read whole."""
    with suppress(PagemindError):
        team: Any = read(row.text, row.path).value.get("team")
        return [str(name) for name in team] if isinstance(team, dict) else []
    return []


def dismiss(runtime: Runtime, names: Iterable[str], since: datetime) -> None:
    """Delete these agents, and the shared blocks made since then that nobody has any more."""
    there = [name for name in names if runtime.home.exists(name)]
    shared: set[str] = set()
    for name in there:
        with suppress(PagemindError), runtime.reader(name) as reader:
            shared |= set(reader.definition.shared_blocks.values())
    for name in there:
        runtime.delete(name)
    used = sharers(runtime) if shared else {}
    for block in sorted(shared - set(used)):
        versions = runtime.shared_blocks.history(block)
        if versions and versions[0].at >= since:
            runtime.shared_blocks.delete(block)
