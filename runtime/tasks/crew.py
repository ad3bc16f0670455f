"""A crew: a few things at once on any executor, and never more of them begun than are running.

ready() waits while all hands are busy. What a thing came to is settled in the thread that calls it
and finish(), in the order of completion; whatever is raised there ends the crew's work: leave()
then waits for what still runs.
"""

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from typing import Any, Generic, TypeVar

from pagemind.runtime.errors import Cancelled
from pagemind.runtime.settings import TASK_CANCEL_SECONDS
from pagemind.runtime.tasks.failing import TaskStopped

Work = TypeVar("Work")


class Crew(Generic[Work]):
    """`begin` submits a thing; `settle` is given it with its finished future, and returns what must
    be done again; `look` is called now and then while it waits."""

    def __init__(
        self,
        executor: Executor,
        at_once: int,
        *,
        begin: Callable[[Executor, Work], "Future[Any]"],
        settle: Callable[[Work, "Future[Any]"], Work | None],
        look: Callable[[], None] = lambda: None,
    ) -> None:
        self._executor = executor
        self._at_once = at_once
        self._begin = begin
        self._settle = settle
        self._look = look
        self._running: dict[Future[Any], Work] = {}

    def ready(self) -> None:
        """Wait for a free hand. Raises what settling a thing raised."""
        while len(self._running) >= self._at_once:
            self._settle_some()

    def do(self, work: Work) -> None:
        """Begin it."""
        self._running[self._begin(self._executor, work)] = work

    def finish(self) -> None:
        """Until all of it is settled."""
        while self._running:
            self._settle_some()

    def leave(self, first: BaseException, patience: float | None = None) -> BaseException:
        """What runs is settled; with `patience` for so many seconds at the most, and what waits for
        the executor is dropped. The gravest of the errors on the way."""
        gravest = first
        if patience is not None:
            for future in [each for each in self._running if each.cancel()]:
                del self._running[future]
        waited = 0.0
        while self._running and (patience is None or waited < patience):
            try:
                waited += 0.0 if self._settle_some(again=False) else TASK_CANCEL_SECONDS
            except Exception as error:
                if isinstance(gravest, Cancelled | TaskStopped) and not isinstance(
                    error, Cancelled | TaskStopped
                ):
                    gravest = error
        return gravest

    def _settle_some(self, *, again: bool = True) -> bool:
        """Whether any was over."""
        over, _ = wait(self._running, timeout=TASK_CANCEL_SECONDS, return_when=FIRST_COMPLETED)
        self._look()
        for future in over:
            work = self._running.pop(future)
            redo = self._settle(work, future)
            if redo is not None and again:
                self._running[self._begin(self._executor, redo)] = redo
        return bool(over)
