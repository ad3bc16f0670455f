"""Sending inputs out: each as an errand to whoever works elsewhere, and handed in when it is back.

A worker that is lost takes nothing with it but time: its input goes to another one. An input that
was begun on an agent of this home goes on here.
"""

import pickle
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pagemind.runtime.config import load as load_config
from pagemind.runtime.errors import Cancelled, NoModel, UserError
from pagemind.runtime.model import Model
from pagemind.runtime.model_choice import choose
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.settings import TASK_LOSSES
from pagemind.runtime.tasks.crew import Crew
from pagemind.runtime.tasks.errand import Brought, Errand, own_version
from pagemind.runtime.tasks.executors import Workers
from pagemind.runtime.tasks.failing import STOPS, TaskStopped
from pagemind.runtime.tasks.handing_in import HandingIn
from pagemind.runtime.tasks.hired import Hiring, definition_of
from pagemind.runtime.tasks.job import Job
from pagemind.runtime.tasks.taking_up import Begun, TakingUp
from pagemind.runtime.tasks.worker import do_errand


@dataclass(frozen=True)
class Outside:
    """Where errands are done: by whom, in homes below which folder (None: the workers' own), and
    whether their agents come back."""

    workers: Workers
    at_once: int
    home: str | None = None
    keep_agents: bool = False


@dataclass(frozen=True)
class _Trip:
    """An input on its way; `losses` are the workers that did not come back with it."""

    begun: Begun
    losses: int = 0


class Sending:
    """The hands of a run whose inputs are done elsewhere."""

    def __init__(
        self,
        runtime: Runtime,
        job: Job,
        inputs: TakingUp,
        hiring: Hiring,
        outside: Outside,
        folder: Path,
    ) -> None:
        self._runtime = runtime
        self._job = job
        self._inputs = inputs
        self._outside = outside
        self._stop = folder / "stop"
        self._stop.unlink(missing_ok=True)
        self._handing_in = HandingIn(runtime, job, folder)
        self._handing_in.import_exports()
        self._made = _Made.of(runtime, job, hiring)
        self._checked = not outside.workers.apart
        self._crew: Crew[_Trip] = Crew(
            outside.workers.executor,
            outside.at_once,
            begin=self._send,
            settle=self._settle,
            look=self._look,
        )

    def ready(self) -> None:
        self._crew.ready()

    def finish(self) -> None:
        self._crew.finish()

    def do(self, work: Begun) -> None:
        over = self._job.purse.over()
        if over is not None:
            raise TaskStopped(over[1], "raise it in the file and go on with --continue", limit=True)
        if work.here:
            self._inputs.do(work)
            return
        name = self._job.task.agent_of_input(work.number)
        if self._outside.keep_agents and self._runtime.home.exists(name):
            raise UserError(
                f"there is an agent called {name!r} already, and the task would make it",
                hint="give agent a name of its own:  agent: {definition: …, name: …}",
            )
        self._crew.do(_Trip(work))

    def leave(self, first: BaseException, patience: float | None) -> BaseException:
        self._look()
        return self._crew.leave(first, patience)

    def _look(self) -> None:
        """Whoever shares this file system ends between two steps, all others with their input."""
        if self._job.cancel.cancelled or self._job.stop.cancelled:
            self._stop.touch()

    def _send(self, executor: Executor, trip: _Trip) -> "Future[Any]":
        job, begun, made = self._job, trip.begun, self._made
        errand = Errand(
            id=self._runtime.clock.new_id(),
            version=own_version(),
            job=job.id,
            task=job.task,
            definition=made.definition,
            one=begun.one,
            number=begun.number,
            scope=begun.scope,
            known=begun.known,
            lost=begun.again or trip.losses > 0,
            left=job.purse.left(),
            on_unknown=job.on_unknown,
            model=made.model,
            tools=made.tools,
            home=self._outside.home,
            stop=str(self._stop.absolute()),
            keep_agent=self._outside.keep_agents,
        )
        if not self._checked:
            _must_travel(errand)
            self._checked = True
        try:
            return executor.submit(do_errand, errand)
        except (BrokenExecutor, RuntimeError) as error:
            raise TaskStopped(
                f"the executor takes nothing more: {error}", "run the task again to go on"
            ) from None

    def _settle(self, trip: _Trip, future: "Future[Any]") -> _Trip | None:
        label = trip.begun.one.label
        try:
            brought: Brought = future.result()
        except BrokenExecutor:
            return self._lost(trip)
        except CancelledError:
            self._job.check()
            raise TaskStopped(f"{label}: the executor let it go", "is it still there?") from None
        except Exception as error:
            if type(error).__name__ == "KilledWorker":  # dask has tried it several times
                return self._lost(replace(trip, losses=TASK_LOSSES))
            raise TaskStopped(
                f"{label}: no worker can take it: {type(error).__name__}: {error}",
                "pagemind of the same version must be installed where the workers are",
            ) from None
        if brought.end == "cancelled" and not self._stop.exists():
            return self._lost(trip)  # somebody ended the worker alone
        name = self._job.task.agent_of_input(trip.begun.number)
        self._handing_in.hand_in(trip.begun, brought, name)
        if brought.end == "cancelled":
            raise Cancelled("stopped")
        return None

    def _lost(self, trip: _Trip) -> _Trip | None:
        begun, losses = trip.begun, trip.losses + 1
        if losses < TASK_LOSSES:
            self._job.tell("warning", input=begun.one.label, reason="its worker was lost")
            return _Trip(begun, losses)
        reason = "its worker was lost, again and again"
        if self._job.task.spec.on_error.last == "stop":
            raise TaskStopped(f"{begun.one.label}: {reason}", STOPS)
        self._inputs.give_up(begun.one, reason, len(self._job.task.spec.do))
        return None


@dataclass(frozen=True)
class _Made:
    """What the workers' agents are made from: nothing is asked of this home where they are."""

    definition: str
    model: str | Model | None
    tools: tuple[Any, ...]

    @classmethod
    def of(cls, runtime: Runtime, job: Job, hiring: Hiring) -> "_Made":
        definition = definition_of(runtime, job.task)
        configured = load_config(runtime.home.path)
        if configured.embedding and not definition.states("embedding"):
            definition = definition.stating(embedding=configured.embedding)
        model = hiring.model or job.task.spec.agent.model
        if model is None and definition.model is None:
            try:
                choice = choose(definition, asked=None, stored="", home=runtime.home.path)
            except NoModel:  # there may be one where they are
                choice = None
            if choice is not None and choice.api_base is None:
                model = choice.name
        return cls(definition.to_json(), model, tuple(hiring.tools))


def _must_travel(errand: Errand) -> None:
    """Raises UserError for what cannot be sent to another process."""
    parts: dict[str, Any] = {"the model": errand.model}
    for tool in errand.tools:
        parts[f"the function {getattr(tool, 'name', getattr(tool, '__name__', tool))}"] = tool
    for what, value in {**parts, "the task": errand}.items():
        try:
            pickle.dumps(value)
        except Exception as fault:  # pickle raises what it likes
            raise UserError(
                f"{what} cannot be sent to another process: {fault}",
                hint="functions and models must stand in a module, where they are found by name",
            ) from None
