"""Processes for tests of kills, locks and terminals, which start warm: each is forked from one that
has imported what they all need, for a second of work less. Where nothing can be forked they start
cold. A test of starting itself takes subprocess.
"""

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

SERVER = Path(__file__).with_name("warm_server.py")
PIPE, DEVNULL = subprocess.PIPE, subprocess.DEVNULL
_lock = threading.Lock()
_address = ""


class Warm:
    """What subprocess.Popen is to `python WORDS…`, as far as tests use it; texts are UTF-8."""

    def __init__(
        self,
        words: Sequence[str],
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        terminal: bool = False,
    ) -> None:
        """`terminal`: standard input is one, and becomes that of a session of its own."""
        self.returncode: int | None = None
        ends = [_ends(given, at) for at, given in enumerate((stdin, stdout, stderr))]
        self.stdin, self.stdout, self.stderr = (ours for ours, _ in ends)
        request = {
            "words": list(words),
            "cwd": str(cwd or Path.cwd()),
            "env": dict(os.environ if env is None else env),
            "terminal": terminal,
        }
        self._line = socket.socket(socket.AF_UNIX)
        self._line.connect(_server())
        socket.send_fds(self._line, [b"!"], [theirs for _, theirs in ends])
        self._line.sendall(json.dumps(request).encode() + b"\n")
        for given, (_, theirs) in zip((stdin, stdout, stderr), ends, strict=True):
            if given in (PIPE, DEVNULL):
                os.close(theirs)
        self._told = b""
        self.pid = int(self._next(None))

    def _next(self, seconds: float | None) -> str:
        """The next line that is told of it; TimeoutError if there is none in time."""
        self._line.settimeout(seconds)
        while b"\n" not in self._told:
            try:
                more = self._line.recv(64)
            except BlockingIOError:
                raise TimeoutError from None
            assert more, "the server of warm processes has ended"
            self._told += more
        line, _, self._told = self._told.partition(b"\n")
        return line.decode()

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            try:
                self.returncode = int(self._next(timeout))
            except TimeoutError:
                raise subprocess.TimeoutExpired([str(self.pid)], timeout or 0.0) from None
            self._line.close()
        return self.returncode

    def poll(self) -> int | None:
        try:
            return self.wait(0.0)
        except subprocess.TimeoutExpired:
            return None

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def __enter__(self) -> "Warm":
        return self

    def __exit__(self, *_: object) -> None:
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                stream.close()
        self.wait()

    def communicate(self, input: str = "", timeout: float | None = None) -> tuple[str, str]:
        """What it still writes, until it ends."""
        if self.stdin is not None:
            try:
                self.stdin.write(input)
                self.stdin.close()
            except BrokenPipeError:
                pass
        read = ["", ""]

        def reads(at: int, stream: IO[str]) -> None:
            read[at] = stream.read()
            stream.close()

        readers = [
            threading.Thread(target=reads, args=(at, stream), daemon=True)
            for at, stream in enumerate((self.stdout, self.stderr))
            if stream is not None and not stream.closed
        ]
        for reader in readers:
            reader.start()
        self.wait(timeout)
        for reader in readers:
            reader.join(timeout)
        return read[0], read[1]


Process = Warm | subprocess.Popen[str]


def start(words: Sequence[str], **how: Any) -> Process:
    """`python WORDS…`, where words are a script or "-c" and code, and its arguments; stdin, stdout,
    stderr and env as subprocess has them."""
    if hasattr(os, "fork") and hasattr(socket, "send_fds"):
        return Warm(words, **how)
    return start_cold(words, **how)


def start_cold(words: Sequence[str], **how: Any) -> "subprocess.Popen[str]":
    return subprocess.Popen([sys.executable, *words], text=True, encoding="utf-8", **how)


def run(words: Sequence[str], timeout: float = 120.0, **how: Any) -> tuple[int, str, str]:
    """Its exit code, what it wrote, and what it wrote to standard error."""
    child = start(words, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, **how)
    try:
        out, errors = child.communicate(timeout=timeout)
    finally:
        child.kill()
    assert child.returncode is not None
    return child.returncode, out, errors


def _ends(given: int | None, at: int) -> tuple[IO[str] | None, int]:
    """Ours of a stream, and the descriptor that the process gets."""
    if given is None:
        return None, at
    if given == DEVNULL:
        return None, os.open(os.devnull, os.O_RDWR)
    if given != PIPE:
        return None, given
    reading, writing = os.pipe()
    if at == 0:
        return os.fdopen(writing, "w", encoding="utf-8"), reading
    return os.fdopen(reading, encoding="utf-8"), writing


def _server() -> str:
    global _address
    with _lock:
        if not _address:
            # Not below pytest's folder: the path of a socket has at most a hundred characters.
            folder = tempfile.TemporaryDirectory(prefix="warm-")
            _address = str(Path(folder.name) / "s")
            environ = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
            server = subprocess.Popen(
                [sys.executable, str(SERVER), _address],
                stdin=PIPE,
                stdout=PIPE,
                env=environ,
            )
            assert server.stdin is not None
            assert server.stdout is not None
            assert server.stdout.readline(), "the server of warm processes did not start"
            atexit.register(folder.cleanup)
            atexit.register(server.wait)
            atexit.register(server.stdin.close)
        return _address
