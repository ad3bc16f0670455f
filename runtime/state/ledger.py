"""The ledger of tasks, in home.db: what was done of each input, once and for all.

One row for a task, for each input begun, for each action begun and for each output file. It is the
authority: what it says is done is never done again, and an output file is as long as it says.

What an action begins with is on disk before it begins. How it ended need not be at once: should
power fail, its turn has its answer in the agent's own state, and what it wrote is cut back.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pagemind.runtime.clock import Clock, parse_rfc3339, rfc3339
from pagemind.runtime.model import Usage
from pagemind.runtime.naming import folded
from pagemind.runtime.state.database import Database, Row
from pagemind.runtime.state.denied import Denied
from pagemind.runtime.state.task_family import TaskFamily
from pagemind.runtime.state.task_questions import TaskQuestions
from pagemind.runtime.state.task_results import TaskResults

AT_END = "@end"  # the key of what is done once, after the inputs
_SPENT = (
    "COALESCE(SUM(steps), 0) AS steps, COALESCE(SUM(prompt_tokens), 0) AS prompt_tokens,"
    " COALESCE(SUM(completion_tokens), 0) AS completion_tokens,"
    " COALESCE(SUM(cached_tokens), 0) AS cached_tokens, COALESCE(SUM(cost), 0) AS cost,"
    " COALESCE(SUM(unpriced), 0) AS unpriced, COALESCE(SUM(ms), 0) AS ms"
)


@dataclass(frozen=True, slots=True)
class Spent:
    """What actions took. `unpriced`: turns whose price is not known."""

    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float = 0.0
    unpriced: int = 0
    ms: float = 0.0

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            self.steps + other.steps,
            self.usage + other.usage,
            self.cost + other.cost,
            self.unpriced + other.unpriced,
            self.ms + other.ms,
        )

    def __sub__(self, other: "Spent") -> "Spent":
        mine, theirs = self.usage, other.usage
        return Spent(
            self.steps - other.steps,
            Usage(
                mine.prompt_tokens - theirs.prompt_tokens,
                mine.completion_tokens - theirs.completion_tokens,
                mine.cached_tokens - theirs.cached_tokens,
            ),
            self.cost - other.cost,
            self.unpriced - other.unpriced,
            self.ms - other.ms,
        )

    @property
    def tokens(self) -> int:
        return self.usage.prompt_tokens + self.usage.completion_tokens


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A task as the ledger knows it; `status` running, done, partial, failed or cancelled."""

    id: str
    name: str
    path: str
    text: str
    vars: dict[str, str]
    status: str
    why: str
    total: int | None
    cancel: bool
    made_agents: bool
    begun_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class InputRow:
    """An input that was begun; `status` running, done, failed, or waiting for an
    answer."""

    key: str
    label: str
    number: int
    digest: str
    status: str
    agent: str
    error: str
    skipped: int


@dataclass(frozen=True, slots=True)
class ActionRow:
    """An action that was begun; `status` running, done or failed. `result` is of its last attempt,
    `spent` of all."""

    input: str
    place: str
    kind: str
    attempt: int
    status: str
    result: Any
    error: str
    spent: Spent


@dataclass(frozen=True, slots=True)
class OutputRow:
    """How long a file was before the task wrote to it, and is by what the ledger knows."""

    path: str
    start: int
    length: int


class Ledger:
    """All tasks of a home."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self.database = self._db = database
        self._clock = clock
        self.family = TaskFamily(database)
        self.questions = TaskQuestions(database, clock)
        self.results = TaskResults(database)
        self.denied = Denied(database)

    def transaction(self, *, durable: bool = True) -> AbstractContextManager[None]:
        """What is written inside stands together or not at all; see Database.transaction."""
        return self._db.transaction(durable=durable)

    def _note(self, sql: str, values: Sequence[Any]) -> None:
        """What can be found again should power fail."""
        with self._db.transaction(durable=False):
            self._db.write(sql, values)

    def _now(self) -> str:
        return rfc3339(self._clock.now())

    # --- tasks ----------------------------------------------------------------------------------

    def tasks(self, inside: str | None = None, limit: int = -1) -> list[TaskRow]:
        """Those that people run, the newest first; or those inside one of them (by its id), in the
        order in which they were begun."""
        if inside is None:
            rows = self._db.rows(
                "SELECT t.* FROM tasks t LEFT JOIN task_parents p ON p.task = t.id"
                " WHERE p.task IS NULL ORDER BY t.id DESC LIMIT ?",
                (limit,),
            )
        else:
            rows = self._db.rows(
                "SELECT t.* FROM task_parents p JOIN tasks t ON t.id = p.task"
                " WHERE p.parent = ? ORDER BY t.id LIMIT ?",
                (inside, limit),
            )
        return [_task(row) for row in rows]

    def count(self) -> int:
        return self._db.number("SELECT count(*) FROM tasks")

    def task(self, name: str) -> TaskRow | None:
        row = self._db.one("SELECT * FROM tasks WHERE folded = ?", (folded(name.strip()),))
        return _task(row) if row else None

    def task_of(self, id: str) -> TaskRow | None:
        """By its id."""
        row = self._db.one("SELECT * FROM tasks WHERE id = ?", (id,))
        return _task(row) if row else None

    def open(self, name: str, path: str, text: str, vars: dict[str, str], made: bool) -> TaskRow:
        """A task that is begun."""
        self._db.write(
            "INSERT INTO tasks (id, name, folded, path, text, vars, status, made_agents, begun_at)"
            " VALUES (?,?,?,?,?,?,'running',?,?)",
            (
                self._clock.new_id(),
                name,
                folded(name),
                path,
                text,
                json.dumps(vars, ensure_ascii=False),
                made,
                self._now(),
            ),
        )
        opened = self.task(name)
        assert opened is not None
        return opened

    def go_on(self, task: str, path: str, text: str, vars: dict[str, str]) -> None:
        """The task runs again, with the file as it is now."""
        self._db.write(
            "UPDATE tasks SET status = 'running', why = '', cancel = 0, ended_at = NULL, path = ?,"
            " text = ?, vars = ? WHERE id = ?",
            (path, text, json.dumps(vars, ensure_ascii=False), task),
        )

    def close(self, task: str, status: str, why: str) -> None:
        self._db.write(
            "UPDATE tasks SET status = ?, why = ?, cancel = 0, ended_at = ? WHERE id = ?",
            (status, why, self._now(), task),
        )

    def set_total(self, task: str, total: int | None) -> None:
        self._db.write("UPDATE tasks SET total = ? WHERE id = ?", (total, task))

    def ask_to_cancel(self, task: str) -> None:
        self._db.write("UPDATE tasks SET cancel = 1 WHERE id = ?", (task,))

    def asked_to_cancel(self, task: str) -> bool:
        return bool(self._db.number("SELECT cancel FROM tasks WHERE id = ?", (task,)))

    def forget(self, task: str) -> None:
        """As if the task had never run."""
        with self._db.transaction():
            self.family.forget(task)
            self.questions.forget(task)
            for table in ("task_actions", "task_inputs", "task_outputs"):
                self._db.write(f"DELETE FROM {table} WHERE task = ?", (task,))
            self._db.write("DELETE FROM tasks WHERE id = ?", (task,))

    # --- inputs ---------------------------------------------------------------------------------

    def input(self, task: str, key: str) -> InputRow | None:
        row = self._db.one("SELECT * FROM task_inputs WHERE task = ? AND key = ?", (task, key))
        return _input(row) if row else None

    def begin_input(self, task: str, key: str, label: str, number: int, digest: str) -> InputRow:
        """An input that is begun, or taken up again."""
        self._note(
            "INSERT INTO task_inputs (task, key, label, number, digest, status, begun_at)"
            " VALUES (?,?,?,?,?,'running',?) ON CONFLICT (task, key) DO UPDATE"
            " SET status = 'running', error = '', skipped = 0, ended_at = NULL, digest = ?",
            (task, key, label, number, digest, self._now(), digest),
        )
        row = self.input(task, key)
        assert row is not None
        return row

    def latest(self, task: str) -> datetime | None:
        """When something was last noted of its inputs and actions."""
        row = self._db.one(
            "SELECT max(at) AS at FROM (SELECT max(at) AS at FROM task_actions WHERE task = ?"
            " UNION ALL SELECT max(begun_at) FROM task_inputs WHERE task = ?)",
            (task, task),
        )
        return parse_rfc3339(row["at"]) if row and row["at"] else None

    def next_number(self, task: str) -> int:
        """Of an input that is not begun yet."""
        return 1 + self._db.number("SELECT MAX(number) FROM task_inputs WHERE task = ?", (task,))

    def set_agent(self, task: str, key: str, agent: str) -> None:
        """Which agent was made for an input. On disk with the agent, which stands in the same
        file."""
        self._note(
            "UPDATE task_inputs SET agent = ? WHERE task = ? AND key = ?", (agent, task, key)
        )

    def end_input(
        self, task: str, key: str, status: str, error: str = "", skipped: int = 0
    ) -> None:
        self._note(
            "UPDATE task_inputs SET status = ?, error = ?, skipped = ?, ended_at = ?"
            " WHERE task = ? AND key = ?",
            (status, error, skipped, self._now(), task, key),
        )

    def counts(self, task: str) -> dict[str, int]:
        """Inputs by status."""
        rows = self._db.rows(
            "SELECT status, count(*) AS n FROM task_inputs WHERE task = ? AND number > 0"
            " GROUP BY status",
            (task,),
        )
        return {row["status"]: row["n"] for row in rows}

    def inputs(self, task: str, status: str | None = None, limit: int = -1) -> list[InputRow]:
        """In order; of one status, and so many at most."""
        rows = self._db.rows(
            "SELECT * FROM task_inputs WHERE task = ? AND (? IS NULL OR status = ?)"
            " ORDER BY number LIMIT ?",
            (task, status, status, limit),
        )
        return [_input(row) for row in rows]

    def faults(self, task: str, limit: int) -> list[InputRow]:
        """Inputs that failed, or in which the task was stopped, in order."""
        rows = self._db.rows(
            "SELECT * FROM task_inputs WHERE task = ? AND error != '' AND status != 'waiting'"
            " ORDER BY number LIMIT ?",
            (task, limit),
        )
        return [_input(row) for row in rows]

    def agents(self, task: str) -> list[str]:
        """Those made for inputs."""
        rows = self._db.rows(
            "SELECT DISTINCT agent FROM task_inputs WHERE task = ? AND agent != ''", (task,)
        )
        return [row["agent"] for row in rows]

    # --- actions --------------------------------------------------------------------------------

    def action(self, task: str, key: str, place: str) -> ActionRow | None:
        row = self._db.one(
            "SELECT * FROM task_actions WHERE task = ? AND input = ? AND place = ?",
            (task, key, place),
        )
        return _action(row) if row else None

    def begin_action(
        self, task: str, key: str, place: str, kind: str, attempt: int, with_: Any = None
    ) -> ActionRow:
        """An attempt begins; `with_` is what it must be taken up with, should the process end."""
        (self._db.write if with_ else self._note)(
            "INSERT INTO task_actions (task, input, place, kind, attempt, status, result, at)"
            " VALUES (?,?,?,?,?,'running',?,?) ON CONFLICT (task, input, place) DO UPDATE"
            " SET status = 'running', kind = excluded.kind, attempt = excluded.attempt,"
            " result = excluded.result, error = '', at = excluded.at",
            (
                *(task, key, place, kind, attempt),
                json.dumps(with_, ensure_ascii=False),
                self._now(),
            ),
        )
        row = self.action(task, key, place)
        assert row is not None
        return row

    def set_asked(self, task: str, key: str, place: str, asked: bool) -> None:
        """Whether an attempt waits for consent: cut off then, it has called nothing."""
        was, now = ("running", "waiting") if asked else ("waiting", "running")
        self._db.write(
            "UPDATE task_actions SET status = ? WHERE task = ? AND input = ? AND place = ?"
            " AND status = ?",
            (now, task, key, place, was),
        )

    def end_action(
        self, task: str, key: str, place: str, status: str, result: Any, error: str, spent: Spent
    ) -> None:
        """An attempt came to an end, or (`running`) was cut off. `spent` is of all attempts."""
        self._note(
            "UPDATE task_actions SET status = ?, result = ?, error = ?, steps = ?,"
            " prompt_tokens = ?, completion_tokens = ?, cached_tokens = ?, cost = ?, unpriced = ?,"
            " ms = ?, at = ? WHERE task = ? AND input = ? AND place = ?",
            (
                status,
                json.dumps(result, ensure_ascii=False),
                error,
                spent.steps,
                spent.usage.prompt_tokens,
                spent.usage.completion_tokens,
                spent.usage.cached_tokens,
                spent.cost,
                spent.unpriced,
                spent.ms,
                self._now(),
                task,
                key,
                place,
            ),
        )

    def actions(self, task: str, key: str) -> list[ActionRow]:
        """Those of an input."""
        rows = self._db.rows("SELECT * FROM task_actions WHERE task = ? AND input = ?", (task, key))
        return [_action(row) for row in rows]

    def take_action(self, task: str, key: str, row: ActionRow) -> None:
        """An action as another ledger has it."""
        with self._db.transaction():
            self.begin_action(task, key, row.place, row.kind, row.attempt)
            self.end_action(task, key, row.place, row.status, row.result, row.error, row.spent)

    def set_aside(self, task: str, key: str, *, done_too: bool) -> None:
        """An input is begun anew: what it took still counts, what it did does not."""
        self.questions.forget(task, key)
        self._db.write(
            "UPDATE task_actions SET status = 'undone', input = ? WHERE task = ? AND input = ?"
            " AND (? OR status != 'done')",
            (f"{key} \x1f{self._clock.new_id()}", task, key, done_too),
        )

    def action_counts(self, task: str) -> dict[str, int]:
        """Actions by status; those skipped because one before them failed among them."""
        rows = self._db.rows(
            "SELECT status, count(*) AS n FROM task_actions WHERE task = ? GROUP BY status", (task,)
        )
        skipped = self._db.number("SELECT SUM(skipped) FROM task_inputs WHERE task = ?", (task,))
        return {**{row["status"]: row["n"] for row in rows}, "skipped": skipped}

    def spent(self, task: str, key: str | None = None) -> Spent:
        """By a task, or by one of its inputs."""
        row = self._db.one(
            f"SELECT {_SPENT} FROM task_actions WHERE task = ? AND (? IS NULL OR input = ?)",
            (task, key, key),
        )
        assert row is not None
        return _spent(row)

    def spent_by_place(self, task: str) -> Iterator[tuple[str, str, int, int, Spent]]:
        """Place, kind, done, failed and what it took, over all inputs."""
        for row in self._db.rows(
            f"SELECT place, kind, SUM(status = 'done') AS done, SUM(status = 'failed') AS failed,"
            f" {_SPENT} FROM task_actions WHERE task = ? GROUP BY place, kind ORDER BY place",
            (task,),
        ):
            yield row["place"], row["kind"], row["done"], row["failed"], _spent(row)

    # --- outputs --------------------------------------------------------------------------------

    def output(self, task: str, path: str) -> OutputRow | None:
        row = self._db.one("SELECT * FROM task_outputs WHERE task = ? AND path = ?", (task, path))
        return OutputRow(row["path"], row["start"], row["length"]) if row else None

    def outputs(self, task: str) -> list[OutputRow]:
        rows = self._db.rows("SELECT * FROM task_outputs WHERE task = ? ORDER BY path", (task,))
        return [OutputRow(row["path"], row["start"], row["length"]) for row in rows]

    def set_output(self, task: str, path: str, start: int, length: int) -> None:
        self._db.write(
            "INSERT OR REPLACE INTO task_outputs VALUES (?,?,?,?)", (task, path, start, length)
        )


def _task(row: Row) -> TaskRow:
    return TaskRow(
        row["id"],
        row["name"],
        row["path"],
        row["text"],
        json.loads(row["vars"]),
        row["status"],
        row["why"],
        row["total"],
        bool(row["cancel"]),
        bool(row["made_agents"]),
        parse_rfc3339(row["begun_at"]),
        parse_rfc3339(row["ended_at"]) if row["ended_at"] else None,
    )


def _input(row: Row) -> InputRow:
    return InputRow(
        row["key"],
        row["label"],
        row["number"],
        row["digest"],
        row["status"],
        row["agent"],
        row["error"],
        row["skipped"],
    )


def _spent(row: Row) -> Spent:
    usage = Usage(row["prompt_tokens"], row["completion_tokens"], row["cached_tokens"])
    return Spent(row["steps"], usage, row["cost"], row["unpriced"], row["ms"])


def _action(row: Row) -> ActionRow:
    return ActionRow(
        row["input"],
        row["place"],
        row["kind"],
        row["attempt"],
        row["status"],
        json.loads(row["result"]) if row["result"] else None,
        row["error"],
        _spent(row),
    )
