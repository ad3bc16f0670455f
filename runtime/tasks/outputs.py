"""Output files: what a task writes is there once, whatever happened on the way.

A file is as long as the ledger says. Where it is longer, a process died between writing and noting
it: it is cut back, and the action writes again. Where it is shorter, somebody else changed it.

Inputs that run at once write in the order in which they come to it, each row whole: who appends
holds alone() until the ledger has the new length.
"""

import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from pagemind.runtime.errors import UserError
from pagemind.runtime.message import clean_text
from pagemind.runtime.state.ledger import Ledger, OutputRow
from pagemind.runtime.tasks.failing import ActionFailed
from pagemind.runtime.written_path import expanded


class Outputs:
    """The files of one task."""

    def __init__(self, ledger: Ledger, task: str, base: Path) -> None:
        self._ledger = ledger
        self._task = task
        self._base = base
        self._alone = threading.RLock()
        self._written: Callable[[], set[str]] | None = None

    def alone(self) -> AbstractContextManager[object]:
        """While it is held nobody else of this run writes."""
        return self._alone

    def path(self, written: str) -> Path:
        """The file that is meant."""
        return (self._base / expanded(clean_text(written.strip()))).resolve()

    def is_output(self, path: Path) -> bool:
        """Whether the task writes to it: then it is no input."""
        if self._written is not None:
            return str(path.resolve()) in self._written()
        return self._ledger.output(self._task, str(path.resolve())) is not None

    def within(self, base: Path, written: Callable[[], set[str]]) -> "Outputs":
        """Those of a task inside this one, with paths of its own: noted with these here. `written`
        gives the files that it wrote itself."""
        made = Outputs(self._ledger, self._task, base)
        made._alone = self._alone
        made._written = written
        return made

    def note(self, path: str, start: int, length: int) -> None:
        """How long a file is now."""
        self._ledger.set_output(self._task, path, start, length)

    def cut_back(self) -> None:
        """Before going on. Raises UserError for a file that is shorter than it was left."""
        for row in self._ledger.outputs(self._task):
            try:
                size = Path(row.path).stat().st_size
            except FileNotFoundError:
                size = 0
            except OSError as error:
                raise UserError(f"{row.path}: {(error.strerror or str(error)).lower()}") from None
            if size < row.length:
                raise UserError(
                    f"{row.path} was changed since the task wrote it: {size:,} bytes are there, and"
                    f" {row.length:,} were written",
                    hint="put it back, or begin anew with --restart",
                )
            if size > row.length:
                _truncate(Path(row.path), row.length)

    def undo(self) -> None:
        """Every file as long as before the task; one that it made goes."""
        for row in self._ledger.outputs(self._task):
            path = Path(row.path)
            if path.exists() and path.stat().st_size > row.start:
                _truncate(path, row.start)
            if row.start == 0 and path.exists() and path.stat().st_size == 0:
                path.unlink()

    def begin(self, path: Path) -> OutputRow:
        """What the ledger has of a file: how long it was is noted before anything is written, so
        that it can be told from what we wrote. Raises ActionFailed."""
        row = self._ledger.output(self._task, str(path))
        if row is None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                size = path.stat().st_size if path.exists() else 0
            except OSError as error:
                raise _unwritable(path, error) from None
            row = OutputRow(str(path), size, size)
            self._ledger.set_output(self._task, row.path, size, size)
        return row

    def append(self, path: Path, data: bytes) -> OutputRow:
        """Write at the end; the row that must be noted. Raises ActionFailed."""
        row = self.begin(path)
        try:
            with path.open("r+b" if path.exists() else "x+b") as file:
                if file.seek(0, os.SEEK_END) < row.length:
                    raise ActionFailed(f"{path} was cut off by somebody else", fatal=True)
                file.truncate(row.length)
                if row.length:
                    file.seek(row.length - 1)
                    if file.read(1) != b"\n":
                        data = b"\n" + data
                file.seek(row.length)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            # What is half written goes at once: who reads the file meanwhile takes it for a row.
            with suppress(OSError):
                if path.is_file() and path.stat().st_size > row.length:
                    os.truncate(path, row.length)
            raise _unwritable(path, error) from None
        return OutputRow(row.path, row.start, row.length + len(data))


def _unwritable(path: Path, error: OSError) -> ActionFailed:
    return ActionFailed(f"{path} cannot be written: {(error.strerror or str(error)).lower()}")


def _truncate(path: Path, length: int) -> None:
    try:
        with path.open("r+b") as file:
            file.truncate(length)
            os.fsync(file.fileno())
    except OSError as error:
        raise UserError(
            f"{path} cannot be cut back to what is done: {(error.strerror or str(error)).lower()}",
            hint="make it writable and go on",
        ) from None
