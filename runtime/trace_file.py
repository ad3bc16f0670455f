"""The trace file: TraceEvents as JSON lines, appended by any number of processes.

    {"v": 1, "at": "2026-11-29T20:46:02.123456Z", "agent": "ada", "kind": "reply", "data": {…}}

append() writes each line at once, so that lines of several processes never mix. read() gives them
back, and says in one line what is wrong with a file that cannot be.
"""

import json
import logging
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pagemind.runtime.errors import UserError
from pagemind.runtime.settings import TRACE_SCHEMA, TRACE_TAIL_BYTES

_log = logging.getLogger("pagemind.trace")


@dataclass(frozen=True, slots=True)
class TraceLine:
    """One line of a trace. `at` is RFC 3339."""

    number: int
    at: str
    agent: str
    kind: str
    data: Mapping[str, Any]


class TraceFile:
    """Opened for appending; made if it is not there. Raises UserError if that cannot be, or if the
    file is something else."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._failed = False
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            raise UserError(
                f"{path} cannot be written: {(error.strerror or str(error)).lower()}",
                hint="give --trace another path",
            ) from None
        try:
            self._continue()
        except BaseException:
            os.close(self._file)
            raise

    def _continue(self) -> None:
        """Nothing is added to a file of another kind; a line that was cut off is ended."""
        head = os.pread(self._file, 512, 0)
        if not head:
            return
        if not head.startswith(b'{"v": '):
            raise UserError(
                f"{self.path} is there and is not a trace", hint="give --trace another path"
            )
        version = int(head[6:].split(b",")[0] or b"0")
        if version > TRACE_SCHEMA:
            raise _newer(str(self.path), version)
        size = os.fstat(self._file).st_size
        if os.pread(self._file, 1, size - 1) != b"\n":
            os.write(self._file, b"\n")

    def append(self, *, at: str, agent: str, kind: str, data: Mapping[str, Any]) -> None:
        """Add one line. A disk that is full ends the trace, not the turn."""
        line = {"v": TRACE_SCHEMA, "at": at, "agent": agent, "kind": kind, "data": data}
        text = json.dumps(line, ensure_ascii=False, default=str) + "\n"
        left = text.encode("utf-8", "replace")
        with self._lock:
            if self._failed:
                return
            try:
                while left:
                    left = left[os.write(self._file, left) :]
            except OSError as error:
                self._failed = True
                _log.warning("the trace %s ends here: %s", self.path, error)

    def last_mark(self, agent: str) -> str:
        """How the newest lines left this agent's state; "" if they do not say."""
        size = os.fstat(self._file).st_size
        start = max(0, size - TRACE_TAIL_BYTES)
        lines = os.pread(self._file, size - start, start).splitlines()[1 if start else 0 :]
        for raw in reversed(lines):
            try:
                line = json.loads(raw)
            except ValueError:
                continue
            if line.get("agent") == agent:
                return str(line["data"]["mark"]) if line.get("kind") == "closed" else ""
        return ""

    def close(self) -> None:
        """Idempotent."""
        with self._lock:
            if not self._failed:
                self._failed = True
                os.close(self._file)


def read(path: Path) -> Iterator[TraceLine]:
    """Its lines, in order. Raises UserError, naming the line."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise UserError(
            f"{path} cannot be read: {(error.strerror or str(error)).lower()}"
        ) from None
    with file:
        number = 0
        for number, raw in enumerate(file, 1):
            if raw.strip():  # who opened the file while a line was being written ended it once more
                yield _line(raw, number, path)
        if not number:
            raise UserError(f"{path} is empty", hint="`pagemind send AGENT TEXT --trace FILE`")


def _line(raw: bytes, number: int, path: Path) -> TraceLine:
    try:
        line = json.loads(raw)
        version = line["v"]
    except (ValueError, KeyError, TypeError, RecursionError):
        if not raw.endswith(b"\n") and number > 1:
            raise UserError(
                f"{path}:{number}: the last line is cut off",
                hint="a process was killed or the disk was full; without that line it can be read",
            ) from None
        if number > 1:
            raise UserError(f"{path}:{number}: not a line of a trace") from None
        raise UserError(
            f"{path} is not a trace", hint="`pagemind send AGENT TEXT --trace FILE` makes one"
        ) from None
    if not isinstance(version, int) or version > TRACE_SCHEMA:
        raise _newer(f"{path}:{number}", version)
    try:
        return TraceLine(number, line["at"], line["agent"], line["kind"], line["data"])
    except KeyError as error:
        raise UserError(f"{path}:{number}: not a line of a trace; {error} is missing") from None


def _newer(where: str, version: object) -> UserError:
    return UserError(
        f"{where}: written by a newer pagemind (trace schema {version}; this one reads"
        f" {TRACE_SCHEMA})",
        hint="upgrade pagemind",
    )
