"""run(): a program in a process group of its own, that is over when it has printed too much or
taken too long, and its children with it.

What it sees of the environment is what makes programs run at all, and what is handed in.
"""

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import SystemClock
from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.settings import PROCESS_OUTPUT_BYTES

# Where programs are and how text is written; nothing that could be a secret.
_PLAIN = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SYSTEMROOT")
_LOOK_SECONDS = 0.05
_PIECE = 65536


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended. `code` is negative for a signal; `stopped` says why we ended it."""

    output: str  # both streams, as they came
    code: int
    stopped: str = ""

    def told(self) -> str:
        """For the model: what was printed, and then how it ended, where that is worth a word."""
        lines = [self.output.rstrip("\n")] if self.output.strip() else []
        if self.stopped:
            lines.append(f"[{self.stopped}]")
        elif self.code:
            lines.append(f"[{_ending(self.code)}]")
        return "\n".join(lines) or "[it printed nothing]"


def run(
    command: Sequence[str],
    *,
    folder: Path,
    seconds: float,
    env: Mapping[str, str],
    given: str = "",
    home: Path | None = None,
    cancel: CancelToken | None = None,
) -> Ran:
    """Run it to its end; `given` is its standard input. Raises ToolFailed where it cannot start,
    Cancelled."""
    plain = {name: os.environ[name] for name in _PLAIN if name in os.environ}
    plain["HOME"] = str(home or folder)
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**plain, **env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a group of its own, to be ended as one
        )
    except OSError as error:
        raise ToolFailed(f"{command[0]} cannot be started: {error.strerror or error}") from None
    kept = bytearray()
    full = threading.Event()
    clock = SystemClock()
    end = clock.monotonic() + seconds
    assert process.stdin is not None
    assert process.stdout is not None
    threads = [
        threading.Thread(target=_give, args=(process.stdin, given), daemon=True),
        threading.Thread(target=_take, args=(process.stdout, kept, full), daemon=True),
    ]
    for thread in threads:
        thread.start()
    stopped = ""
    try:
        # What it left running may hold the pipe: the reader's end is the end, not the program's.
        while process.poll() is None or threads[1].is_alive():
            if full.is_set():
                stopped = f"stopped: it printed more than {PROCESS_OUTPUT_BYTES >> 20} MB"
            elif clock.monotonic() > end:
                stopped = f"stopped after {seconds:g} seconds"
            if stopped:
                break
            threads[1].join(_LOOK_SECONDS)
            if not threads[1].is_alive():
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_LOOK_SECONDS)
            if cancel is not None:
                cancel.check()
    finally:
        _end(process)
    threads[1].join(1.0)
    output = bytes(kept).decode("utf-8", "replace").replace("\r\n", "\n")
    return Ran(output, process.returncode, stopped)


def _give(stream: IO[bytes], text: str) -> None:
    with suppress(OSError, ValueError):  # it need not read what it is given
        stream.write(text.encode("utf-8"))
    with suppress(OSError, ValueError):
        stream.close()


def _take(stream: IO[bytes], kept: bytearray, full: threading.Event) -> None:
    with suppress(OSError, ValueError):
        while piece := os.read(stream.fileno(), _PIECE):
            kept += piece[: PROCESS_OUTPUT_BYTES - len(kept)]
            if len(kept) >= PROCESS_OUTPUT_BYTES:
                full.set()
                return


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the group, also what the program left running in it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError, ValueError):
                stream.close()


def _ending(code: int) -> str:
    if code > 0:
        return f"exit code {code}"
    with suppress(ValueError):
        return f"ended by {signal.Signals(-code).name}"
    return f"ended by signal {-code}"
