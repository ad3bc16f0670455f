"""The agents of a task: one that exists, one that the task makes, or one for each input."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

from pagemind.runtime.agent import Agent
from pagemind.runtime.definition import AgentDefinition, load_definition
from pagemind.runtime.errors import UserError
from pagemind.runtime.model import Model
from pagemind.runtime.naming import folded
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.state.folders import FolderLock
from pagemind.runtime.tasks.job import Job
from pagemind.runtime.tasks.task_file import Task
from pagemind.runtime.tool import Tool, make_tool
from pagemind.runtime.written_path import expanded
from pagemind.runtime.yaml_reader import Path as KeyPath


@dataclass(frozen=True)
class Hiring:
    """On what the agents run: a model in place of the file's, functions of your own beside those
    of the definition, and how long to wait for an agent that is in use."""

    model: str | Model | None = None
    tools: Sequence[Tool | Callable[..., str]] = ()
    wait: float = 0.0

    def functions(self) -> list[Tool]:
        return [each if isinstance(each, Tool) else make_tool(each) for each in self.tools]


class Hired:
    """Opens the agents of one run, and closes them."""

    def __init__(self, runtime: Runtime, job: Job, hiring: Hiring | None) -> None:
        self._runtime = runtime
        self._job = job
        self._hiring = hiring or Hiring()
        self._definition: AgentDefinition | None = None
        self._shared: Agent | None = None
        self._ours = True  # an agent that was open before stays so
        self._claim: FolderLock | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shared is not None and self._ours:
            self._shared.close()
        if self._claim is not None:
            self._claim.release()

    @contextmanager
    def for_input(self, key: str, number: int) -> Iterator[Agent]:
        """The agent that works on an input."""
        if self._job.task.spec.agents == "shared":
            with self.shared(key) as agent:
                yield agent
            return
        name = self._job.task.agent_of_input(number)
        row = self._job.ledger.input(self._job.id, key)
        if (row is None or not row.agent) and self._runtime.home.exists(name):
            raise UserError(
                f"there is an agent called {name!r} already, and the task would make it",
                hint="give agent a name of its own:  agent: {definition: …, name: …}",
            )
        self._note(key, name)
        agent = self._open(name)
        try:
            yield agent
        finally:
            agent.close()

    @contextmanager
    def shared(self, key: str) -> Iterator[Agent]:
        """The agent that stays, for the input of this key."""
        name = self._job.task.agent_name
        if (lent := self._job.lent.get(folded(name))) is not None:
            yield lent  # it is open, and stays so
            return
        self._note(key, name)
        if self._shared is None:
            self._take(name)
            home = self._runtime.home
            self._ours = not (home.exists(name) and self._runtime.is_open(home.find(name).id))
            self._shared = self._open(name)
        yield self._shared

    def _take(self, name: str) -> None:
        """Two tasks of one process would close each other's agent. Raises AgentInUse."""
        digest = hashlib.sha256(folded(name).encode()).hexdigest()[:16]
        folder = self._runtime.home.path / "tasks" / "locks" / f"agent-{digest}"
        folder.mkdir(parents=True, exist_ok=True)
        claim = FolderLock(folder, name)
        claim.acquire(self._hiring.wait)
        self._claim = claim

    def _note(self, key: str, name: str) -> None:
        """Before it is made: --restart takes it away again."""
        if self._job.task.made:
            self._job.ledger.set_agent(self._job.id, key, name)

    def _open(self, name: str) -> Agent:
        task, hiring = self._job.task, self._hiring
        model = hiring.model or task.spec.agent.model
        common: dict[str, Any] = {"model": model, "tools": hiring.tools, "wait": hiring.wait}
        if not task.made:
            return self._runtime.agent(name, create=False, **common)
        if self._definition is None:
            self._definition = definition_of(self._runtime, task)
        return self._runtime.agent(name, self._definition, **common)


def definition_of(runtime: Runtime, task: Task) -> AgentDefinition:
    """What the agent is, or will be, made from. Raises UnknownAgent, DefinitionError."""
    use = task.spec.agent
    if use.existing:
        with runtime.reader(use.existing) as reader:
            return reader.definition
    return load_named(task, use.definition, ("agent", "definition"))


def load_named(task: Task, written: str, place: KeyPath) -> AgentDefinition:
    """A definition that a task names. Raises UnknownDefinition, DefinitionError."""
    if "/" in written or written.endswith((".yaml", ".yml")):
        return load_definition(task.base / expanded(written))
    try:
        return load_definition(written)
    except UserError as error:
        raise type(error)(
            f"{task.spec._document.where(place)}: {error.message}",
            hint=error.hint,
        ) from None
