"""Handing in: what was brought of an errand goes into the ledger and the files, once.

An input that is done is one transaction: its rows in the files, its actions, its end; one that
comes twice is done already. Of any other nothing is written; what it took counts all the same, and
calls on the world that came back are kept, so that the next errand does not make them again.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pagemind.runtime.runtime import Runtime
from pagemind.runtime.state.ledger import ActionRow, OutputRow, Spent
from pagemind.runtime.tasks.errand import Brought
from pagemind.runtime.tasks.failing import ActionFailed, TaskStopped
from pagemind.runtime.tasks.hired import definition_of
from pagemind.runtime.tasks.job import Job
from pagemind.runtime.tasks.taking_up import Begun


class HandingIn:
    """For one run. `folder` is the task's; exports of agents lie there until they are imported."""

    def __init__(self, runtime: Runtime, job: Job, folder: Path) -> None:
        self._runtime = runtime
        self._job = job
        self._folder = folder / "agents"

    def hand_in(self, begun: Begun, brought: Brought, agent: str) -> None:
        """`agent` is what its export is to be called here. Raises TaskStopped, StorageError."""
        job, key = self._job, begun.one.key
        row = job.ledger.input(job.id, key)
        if row is None or row.status != "running":
            return
        end, reason, hint = brought.end, brought.reason, brought.hint
        if end == "done":
            try:
                self._done(begun, brought, agent)
            except ActionFailed as failed:
                job.outputs.cut_back()
                end, reason, hint = "stopped" if failed.fatal else "failed", failed.reason, ""
        if end != "done":
            self._not_done(begun, brought, end, reason)
        known = sum((row.spent for row in begun.known), Spent())
        job.purse.add(sum((row.spent for row in brought.actions), Spent()) - known)
        for event in brought.events:
            job.watch(event)
        if end == "done":
            self.import_exports()
            job.tell("input_done", input=begun.one.label)
        elif end == "failed":
            job.tell("input_failed", input=begun.one.label, reason=reason)
        elif end in ("stopped", "broken"):
            raise TaskStopped(f"{begun.one.label}: {reason}", hint, limit=brought.limit)

    def _done(self, begun: Begun, brought: Brought, agent: str) -> None:
        job, key = self._job, begun.one.key
        paths = [job.outputs.path(each.path) for each in brought.writes]
        if brought.agent is not None:
            self._spool(begun.number, brought.agent)
        with job.outputs.alone():
            for path in dict.fromkeys(paths):
                if path == begun.scope.get("_path"):
                    raise ActionFailed(f"{path} is the input itself: it is not written to")
                job.outputs.begin(path)
            with job.ledger.transaction():
                written = []
                for path, each in zip(paths, brought.writes, strict=True):
                    written.append(job.outputs.append(path, each.data))
                    job.outputs.note(*_fields(written[-1]))
                for row in _placed(brought.actions, written):
                    job.ledger.take_action(job.id, key, row)
                if brought.agent is not None:
                    job.ledger.set_agent(job.id, key, agent)
                job.ledger.end_input(job.id, key, "done")

    def _not_done(self, begun: Begun, brought: Brought, end: str, reason: str) -> None:
        job, key = self._job, begun.one.key
        with job.ledger.transaction():
            for row in brought.actions:
                if row.status == "done" and not _on_the_world(row):
                    row = replace(row, status="undone")
                job.ledger.take_action(job.id, key, row)
            if end == "failed":
                job.ledger.end_input(job.id, key, "failed", reason, brought.skipped)
            elif end != "cancelled":  # why it is not gone on with, until somebody does
                job.ledger.end_input(job.id, key, "running", reason)

    # --- agents that come along -----------------------------------------------------------------

    def _spool(self, number: int, export: bytes) -> None:
        """On disk before the ledger says that its input is done."""
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{number}.pmz"
        unfinished = path.with_suffix(".unfinished")
        with unfinished.open("wb") as file:
            file.write(export)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)

    def import_exports(self) -> None:
        """Make agents of what lies there, also after a kill. Raises BadExport, StorageError."""
        if not self._folder.is_dir():
            return
        names = self._job.ledger.agents(self._job.id)
        for path in sorted(self._folder.glob("*.pmz")):
            name = self._job.task.agent_of_input(int(path.stem))
            if name in names and not self._runtime.home.exists(name):
                self._runtime.import_agent(path, name=name)
                # Made by the task, if somewhere else: it may what the task's agents may.
                task = definition_of(self._runtime, self._job.task)
                self._runtime.accept(name, only=task)
            path.unlink()


def _on_the_world(row: ActionRow) -> bool:
    return isinstance(row.result, dict) and row.result.get("effect") == "world"


def _placed(actions: tuple[ActionRow, ...], written: list[OutputRow]) -> Iterator[ActionRow]:
    """The actions, those that wrote with what they wrote in the files here: a worker counts from
    the first row that it brings."""
    for row in actions:
        if row.status == "done" and isinstance(row.result, dict) and "length" in row.result:
            path, start, length = _fields(written[row.result["start"]])
            row = replace(row, result={"path": path, "start": start, "length": length})
        yield row


def _fields(row: OutputRow) -> tuple[str, int, int]:
    return row.path, row.start, row.length
