"""Callers: who waits, in this process, for the events of a keeper. Not safe by itself: the keeper
holds its lock around every use."""

from concurrent.futures import Future
from dataclasses import dataclass

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.trace import Observer
from pagemind.runtime.turn import TurnResult


@dataclass(frozen=True)
class Caller:
    """One who waits for an event of the agent of this id."""

    agent: str
    future: "Future[TurnResult]"
    observer: Observer
    cancel: CancelToken

    def begin(self) -> bool:
        """The turn begins; whether it is still wanted."""
        return self.future.set_running_or_notify_cancel()

    def end(self, result: TurnResult | None, fault: Exception | None) -> None:
        """It gets what the turn came to."""
        future = self.future
        if not (future.running() or future.done() or future.set_running_or_notify_cancel()):
            return
        if future.done():
            return
        if fault is not None:
            future.set_exception(fault)
        elif result is not None:
            future.set_result(result)
        else:
            future.set_exception(RuntimeError("a turn ended without a result"))


class Callers:
    """By the number of the event they wait for."""

    def __init__(self) -> None:
        self._of: dict[int, list[Caller]] = {}

    def add(self, number: int, caller: Caller) -> None:
        self._of.setdefault(number, []).append(caller)

    def of(self, number: int) -> list[Caller]:
        return list(self._of.get(number, ()))

    def pop(self, number: int) -> list[Caller]:
        return self._of.pop(number, [])

    def pop_all(self) -> list[Caller]:
        every = [caller for callers in self._of.values() for caller in callers]
        self._of.clear()
        return every

    def numbers(self) -> list[int]:
        return list(self._of)

    def first_of(self, agent: str) -> int | None:
        """The first event of an agent that somebody waits for."""
        numbers = [number for number, callers in self._of.items() if callers[0].agent == agent]
        return min(numbers, default=None)
