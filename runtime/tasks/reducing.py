"""Reducing: what all inputs left becomes one, so many at a time.

The results of inputs are told in groups; what is said to each group is told in groups again, until
one is left. Every step is an action of its own in the ledger (`at_end.1.LEVEL.NUMBER`), done once,
which knows how many it took: after a kill the groups are those that they were. However many there
are, only one group is in memory.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from pagemind.runtime.agent import Agent
from pagemind.runtime.settings import MESSAGE_FRACTION
from pagemind.runtime.tasks.failing import ActionFailed
from pagemind.runtime.tasks.inputs import Input
from pagemind.runtime.tasks.job import Job
from pagemind.runtime.tasks.parts import Action
from pagemind.runtime.tasks.results import Result, results_of
from pagemind.runtime.tasks.text import Fields, as_text

Group = list[Result]
Step = Callable[[str, Group], dict[str, Any]]  # at a place; its result has `label` and `took`


class Reducing:
    """One action's, at its place. `step` says a group's results to the agent, `keep` passes on the
    only one of a group; both note what they do."""

    def __init__(
        self, job: Job, agent: Agent, action: Action, place: str, one: Input, step: Step, keep: Step
    ) -> None:
        assert action.reduce is not None
        assert action.say is not None
        self._job = job
        self._name = action.reduce
        self._take = action.take
        self._place = place
        self._key = one.key
        self._step = step
        self._keep = keep
        self._made = "data" if action.json_schema is not None else "reply"
        count, room = agent.context.counter.count, agent.queue_manager.measure().room
        # What is longer is shown as an excerpt: the agent would read it in parts.
        beside = count(action.say) + count(str(action.json_schema or ""))
        self._tokens = max(1, int(room * MESSAGE_FRACTION * 0.9) - beside)
        self._count = count

    def result(self) -> dict[str, Any]:
        """The last step's. Raises ActionFailed where no input left anything."""
        job = self._job
        level = 1
        items = results_of(job.ledger.results, job.id, job.task.spec.do, self._name)
        while True:
            made, last = 0, {}
            rest = _Rest(items)
            while group := self._group(rest, level, made + 1):
                made += 1
                alone = level > 1 and len(group) == 1
                last = (self._keep if alone else self._step)(self._at(level, made), group)
            if not made:
                raise ActionFailed(f"no input left {self._name}: there is nothing to reduce")
            if made == 1:
                return last
            items, level = self._of_level(level, made), level + 1

    def _at(self, level: int, number: int) -> str:
        return f"{self._place}.{level}.{number}"

    def _group(self, rest: "_Rest", level: int, number: int) -> Group:
        """The next results: as many as the ledger has for this step, else as many as fit."""
        row = self._job.ledger.action(self._job.id, self._key, self._at(level, number))
        if row is not None and isinstance(row.result, dict) and "took" in row.result:
            return list(islice(rest, row.result["took"]))
        group: Group = []
        left = self._tokens
        # Two at the least once they were told themselves: it must come to an end.
        while len(group) < self._take and (item := rest.peek()) is not None:
            left -= self._count(as_text(item.value)) + self._count(item.label) + 4
            if left < 0 and len(group) >= (1 if level == 1 else 2):
                break
            group.append(next(rest))
        return group

    def _of_level(self, level: int, made: int) -> Iterator[Result]:
        """What the steps of a level came to, read from the ledger."""
        for number in range(1, made + 1):
            row = self._job.ledger.action(self._job.id, self._key, self._at(level, number))
            assert row is not None
            yield Result(row.result["label"], row.result[self._made])


class _Rest(Iterator[Result]):
    """Results of which the next can be looked at."""

    def __init__(self, items: Iterator[Result]) -> None:
        self._items = items
        self._next: Result | None = None

    def peek(self) -> Result | None:
        if self._next is None:
            self._next = next(self._items, None)
        return self._next

    def __next__(self) -> Result:
        found = self.peek()
        self._next = None
        if found is None:
            raise StopIteration
        return found


def told(group: Group) -> dict[str, Any]:
    """The variables of a step: all of a group as a text, its items by number, how many."""
    text = "\n\n".join(f"[{each.label}]\n{as_text(each.value).strip()}" for each in group)
    values = {str(at): each.value for at, each in enumerate(group)}
    return {"results": Fields({"": text, **values}), "count": len(group)}


def label_of(group: Group) -> str:
    """Of a group, by the first and the last in it."""
    first, last = (each.label.split(" … ") for each in (group[0], group[-1]))
    return first[0] if first[0] == last[-1] else f"{first[0]} … {last[-1]}"


def steps(total: int, take: int) -> int:
    """How many steps so many results need."""
    found = 0
    while total > 1 or not found:
        total = -(-total // take)
        found += total
        if not total:
            return 0
    return found
