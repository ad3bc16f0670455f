"""The report of a task: what was done, what failed and why, and what each action cost.

Made from the ledger alone, at any time; written as Markdown and JSON when a task ends.
"""

import json
import logging
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pagemind.runtime.clock import rfc3339
from pagemind.runtime.errors import NotFound
from pagemind.runtime.settings import TASK_FAULTS
from pagemind.runtime.state.ledger import Ledger, Spent, TaskRow
from pagemind.runtime.state.task_questions import Question

_log = logging.getLogger("pagemind.tasks")


@dataclass(frozen=True, slots=True)
class Cost:
    """What the actions at one place took, over all inputs and rounds."""

    place: str
    action: str
    done: int
    failed: int
    spent: Spent


@dataclass(frozen=True)
class Report:
    """A task as it stands. `limit`: its budget ended it; `path` is the file of the report."""

    row: TaskRow
    inputs: dict[str, int]
    actions: dict[str, int]
    spent: Spent
    by_action: tuple[Cost, ...]
    failures: tuple[tuple[str, str], ...]
    outputs: tuple[tuple[str, int], ...]
    waiting: tuple[Question, ...] = ()
    limit: bool = False
    hint: str = ""
    path: Path | None = field(default=None)

    @classmethod
    def of(cls, ledger: Ledger, name: str, *, limit: bool = False, hint: str = "") -> "Report":
        """From the ledger. Raises NotFound."""
        row = ledger.task(name)
        if row is None:
            known = ", ".join(each.name for each in ledger.tasks(limit=8)) or "none"
            raise NotFound(f"no task is called {name!r}", hint=f"tasks: {known}")
        counts, actions = ledger.counts(row.id), ledger.action_counts(row.id)
        failed = ledger.faults(row.id, TASK_FAULTS)
        outputs = {each.path: each.length - each.start for each in ledger.outputs(row.id)}
        if ledger.family.place(row.id) is not None:  # they are noted with the outermost task
            outputs = ledger.family.written(row.id)
        return cls(
            row=row,
            inputs={key: counts.get(key, 0) for key in ("done", "failed", "running", "waiting")},
            actions={key: actions.get(key, 0) for key in ("done", "failed", "skipped")},
            spent=ledger.spent(row.id),
            by_action=_by_action(ledger, row.id),
            failures=tuple(
                (each.label, each.error.removeprefix(f"{each.label}: ")) for each in failed
            ),
            outputs=tuple(outputs.items()),
            waiting=tuple(q for q in ledger.questions.open(row.id) if not q.answer),
            limit=limit,
            hint=hint,
        )

    @property
    def exit_code(self) -> int:
        """Of the contract."""
        if self.limit:
            return 5
        return {"done": 0, "partial": 3, "failed": 4, "cancelled": 130}.get(self.row.status, 4)

    def last_line(self) -> dict[str, Any]:
        """The last line of `run --json` (contract), without the schema number."""
        return {
            "task": self.row.name,
            "status": self.row.status,
            "why": self.row.why,
            "inputs": {**self.inputs, "total": self.row.total},
            "actions": dict(self.actions),
            "usage": _usage(self.spent),
            "cost": _cost(self.spent),
            "report": str(self.path) if self.path is not None else "",
        }

    def as_json(self) -> dict[str, Any]:
        """All of it."""
        return {
            **self.last_line(),
            "file": self.row.path,
            "begun_at": rfc3339(self.row.begun_at),
            "ended_at": rfc3339(self.row.ended_at) if self.row.ended_at else None,
            "by_action": [
                {
                    "place": each.place,
                    "action": each.action,
                    "done": each.done,
                    "failed": each.failed,
                    "usage": _usage(each.spent),
                    "cost": _cost(each.spent),
                    "seconds": round(each.spent.ms / 1000, 3),
                }
                for each in self.by_action
            ],
            "waiting": [
                {
                    "task": each.task,
                    "input": each.input,
                    "place": each.place,
                    "about": each.about,
                    "question": each.text,
                    "choices": list(each.choices),
                }
                for each in self.waiting
            ],
            "failures": [{"input": label, "why": why} for label, why in self.failures],
            "outputs": [{"path": path, "bytes": size} for path, size in self.outputs],
        }

    def as_markdown(self) -> str:
        """For people."""
        row, inputs = self.row, self.inputs
        total = f" of {row.total:,}" if row.total is not None else ""
        noun = "input" if (row.total or inputs["done"]) == 1 else "inputs"
        lines = [f"# {row.name}: {row.status}", ""]
        lines += [f"{row.why}.", ""] if row.why else []
        lines += [
            f"{inputs['done']:,}{total} {noun} done, {inputs['failed']:,} failed;"
            f" {self.spent.tokens:,} tokens, {_dollars(self.spent)}. File: {row.path}",
            "",
            "| action | place | done | failed | steps | tokens | cost | seconds |",
            "|---|---|---:|---:|---:|---:|---:|---:|",
        ]
        lines += [
            f"| {c.action} | {c.place} | {c.done:,} | {c.failed:,} | {c.spent.steps:,} |"
            f" {c.spent.tokens:,} | {_dollars(c.spent)} | {c.spent.ms / 1000:,.1f} |"
            for c in self.by_action
        ]
        if self.waiting:
            lines += ["", "## What waits for an answer", ""]
            lines += [f"- {q.text} ({', '.join(q.choices)})" for q in self.waiting[:TASK_FAULTS]]
        if self.failures:
            lines += ["", "## What failed", ""]
            lines += [f"- {label}: {why}" for label, why in self.failures]
            if inputs["failed"] > len(self.failures):
                lines.append(f"- … and {inputs['failed'] - len(self.failures):,} more")
        if self.outputs:
            lines += ["", "## What was written", ""]
            lines += [f"- {path}: {size:,} bytes" for path, size in self.outputs[:TASK_FAULTS]]
        return "\n".join(lines) + "\n"


def write_report(report: Report, folder: Path) -> Report:
    """report.md and report.json in a folder; the report with its path."""
    report = replace(report, path=folder / "report.md")
    assert report.path is not None
    body = json.dumps(report.as_json(), ensure_ascii=False, indent=2)
    try:
        report.path.write_text(report.as_markdown(), encoding="utf-8")
        report.path.with_suffix(".json").write_text(body + "\n", encoding="utf-8")
    except OSError as error:  # the ledger has it all: `tasks show` tells it at any time
        _log.warning("no report was written to %s: %s", folder, error)
        return replace(report, path=None)
    return report


def _by_action(ledger: Ledger, task: str) -> tuple[Cost, ...]:
    """Rounds of a repeat are one place."""
    found: dict[tuple[str, str], Cost] = {}
    for place, kind, done, failed, spent in ledger.spent_by_place(task):
        if kind == "reduce" and len(steps := place.split(".")) > 2:
            place = ".".join(steps[:-2])  # without its level and number
        key = (place, kind)
        before = found.get(key, Cost(place, kind, 0, 0, Spent()))
        found[key] = Cost(
            place, kind, before.done + done, before.failed + failed, before.spent + spent
        )
    return tuple(sorted(found.values(), key=lambda cost: _in_order(cost.place)))


def _in_order(place: str) -> tuple[bool, list[tuple[int, str]]]:
    """As the actions stand in the file: `do` before `at_end`, the second before the tenth."""
    steps = [(int(step), "") if step.isdecimal() else (0, step) for step in place.split(".")]
    return place.startswith("at_end"), steps


def _usage(spent: Spent) -> dict[str, int]:
    return {
        "prompt_tokens": spent.usage.prompt_tokens,
        "completion_tokens": spent.usage.completion_tokens,
        "cached_tokens": spent.usage.cached_tokens,
        "steps": spent.steps,
    }


def _cost(spent: Spent) -> dict[str, Any]:
    return {"amount": round(spent.cost, 6), "currency": "USD", "known": not spent.unpriced}


def _dollars(spent: Spent) -> str:
    if spent.unpriced:
        return f"≥ ${spent.cost:.4f}" if spent.cost else "cost not known"
    return f"${spent.cost:.4f}"
