"""Hands: who works on the inputs of a run. Here one after another, or a few in threads; elsewhere,
see sending.py."""

from concurrent.futures import Executor, Future
from typing import Any, Protocol

from pagemind.runtime.tasks.crew import Crew
from pagemind.runtime.tasks.taking_up import Begun, TakingUp
from pagemind.runtime.tasks.threads import Threads


class Hands(Protocol):
    """ready() waits for a free hand, finish() until all is done; leave() after an error ends what
    runs, and gives the gravest one."""

    def ready(self) -> None: ...
    def do(self, work: Begun) -> None: ...
    def finish(self) -> None: ...
    def leave(self, first: BaseException, patience: float | None) -> BaseException: ...


class OneByOne:
    """Here and now."""

    def __init__(self, inputs: TakingUp) -> None:
        self._inputs = inputs

    def ready(self) -> None:
        """Always."""

    def do(self, work: Begun) -> None:
        self._inputs.do(work)

    def finish(self) -> None:
        """It is."""

    def leave(self, first: BaseException, patience: float | None) -> BaseException:
        return first


def in_threads(inputs: TakingUp, name: str, at_once: int) -> Crew[Begun]:
    """So many at once, each on an agent of this home."""

    def begin(threads: Executor, work: Begun) -> "Future[Any]":
        return threads.submit(inputs.do, work)

    def settle(work: Begun, done: "Future[Any]") -> None:
        done.result()

    return Crew(Threads(f"task {name}"), at_once, begin=begin, settle=settle)
