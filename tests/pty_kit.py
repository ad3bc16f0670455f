"""A program in a terminal of its own, for tests of chat: press keys, wait for what appears."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from types import TracebackType

import warm

_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07|\x1b[=>()78DM][0B]?|\r")
CTRL_C, CTRL_D, ENTER, ALT_ENTER = "\x03", "\x04", "\r", "\x1b\r"


class Terminal:
    """Runs Python code with arguments; `text` is all that appeared, without escape sequences.
    `reports`: this terminal says where its cursor is, always in the first row. `cold`: for figures
    about starting."""

    def __init__(
        self,
        code: str,
        arguments: Sequence[str],
        environ: Mapping[str, str],
        *,
        columns: int = 80,
        rows: int = 30,
        reports: bool = False,
        cold: bool = False,
    ) -> None:
        self._reports = reports
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        told = {"TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "" if reports else "1"}
        words, env = ["-c", code, *arguments], {**environ, **told}
        self.process: warm.Process
        if cold:
            self.process = subprocess.Popen(
                [sys.executable, *words],
                stdin=theirs,
                stdout=theirs,
                stderr=theirs,
                env=env,
                text=True,
                start_new_session=True,
                preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            )
        else:
            self.process = warm.Warm(words, theirs, theirs, theirs, env, terminal=True)
        os.close(theirs)
        self.raw = ""
        self._seen = 0

    @property
    def text(self) -> str:
        return _ESCAPES.sub("", self.raw)

    @property
    def lines(self) -> list[str]:
        """What stood in each line at last: what was replaced in place is gone."""
        return _ESCAPES.sub("", re.sub(r"[^\n]*\r\x1b\[K", "", self.raw)).splitlines()

    def expect(self, wanted: str, seconds: float = 60.0) -> str:
        """Wait until something new appears; what came up to its end."""
        end = time.monotonic() + seconds
        while True:
            text = self.text
            at = text.find(wanted, self._seen)
            if at >= 0:
                begun, self._seen = self._seen, at + len(wanted)
                return text[begun : self._seen]
            if time.monotonic() > end or not self._read(0.2):
                raise AssertionError(f"{wanted!r} did not appear; there is:\n{text[self._seen :]}")

    def pressed(self, key: str, seconds: float = 10.0) -> float:
        """Press a key that stands nowhere yet; the seconds until it is seen."""
        start, began = len(self.raw), time.perf_counter()
        os.write(self._ours, key.encode())
        while key not in self.raw[start:]:
            if time.perf_counter() - began > seconds or not self._read(seconds):
                raise AssertionError(f"{key!r} did not appear; there is:\n{self.raw[start:]}")
        return time.perf_counter() - began

    def watch(self, seconds: float) -> None:
        """Take what appears for so long."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and self._read(left):
            continue

    def send(self, keys: str | bytes) -> None:
        """Press keys; a long paste is written as fast as it is read."""
        rest = keys.encode() if isinstance(keys, str) else keys
        while rest:
            _, ready, _ = select.select([], [self._ours], [], 0.05)
            if ready:
                rest = rest[os.write(self._ours, rest[:4096]) :]
            self._read(0)

    def line(self, text: str) -> None:
        self.send(text + ENTER)

    def resize(self, columns: int, rows: int = 30) -> None:
        """The window has another size from now on; the program is told."""
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def hang_up(self) -> None:
        """The connection is lost."""
        os.close(self._ours)
        self._ours = os.open(os.devnull, os.O_RDWR)

    def finish(self, seconds: float = 90.0) -> int:
        """Wait for the end; the exit code."""
        end = time.monotonic() + seconds
        while self._read(0.2) and time.monotonic() < end:
            continue
        return self.process.wait(timeout=max(1.0, end - time.monotonic()))

    def _read(self, seconds: float) -> bool:
        """Take what there is; False at the end."""
        ready, _, _ = select.select([self._ours], [], [], seconds)
        if not ready:
            return True
        try:
            data = os.read(self._ours, 65536)
        except OSError:  # the other side is closed
            return False
        self.raw += data.decode("utf-8", "replace")
        if self._reports and b"\x1b[6n" in data:
            os.write(self._ours, b"\x1b[1;1R")
        return bool(data)

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._ours)
