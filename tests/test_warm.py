"""Processes that start warm are processes: streams, environment, exit codes and signals."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import warm

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nothing can be forked there")


def test_it_is_as_if_it_had_been_started(tmp_path: Path) -> None:
    """A script and its arguments, or code; folder, environment, both outputs and the exit code."""
    script = tmp_path / "script.py"
    script.write_text(
        "import os, sys, __main__\n"
        "print(__name__, sys.argv[1:], sys.path[0], __main__.__file__, 'é', dict(os.environ))\n"
        "print(os.getcwd(), file=sys.stderr)\n"
        "sys.exit(7)\n"
    )
    code, out, errors = warm.run([str(script), "a b"], env={"X": "1"}, cwd=tmp_path)
    assert (code, errors) == (7, f"{tmp_path}\n")
    assert out == f"__main__ ['a b'] {tmp_path} {script} é {{'X': '1'}}\n"
    code, out, errors = warm.run(["-c", "import sys; print(sys.argv); 1 / 0", "x"])
    assert (code, out) == (1, "['-c', 'x']\n")
    assert errors.endswith("ZeroDivisionError: division by zero\n")


def test_it_talks_and_dies(tmp_path: Path) -> None:
    """Through pipes, as long as it lives; of a signal, and alone; whoever waits is told."""
    code = "import sys\nfor line in sys.stdin: print(line.upper(), end='', flush=True)"
    pipes = {"stdin": warm.PIPE, "stdout": warm.PIPE}
    first, second = (warm.start(["-c", code], **pipes) for _ in range(2))
    for child in (first, second):
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write("hello\n")
        child.stdin.flush()
        assert child.stdout.readline() == "HELLO\n"
    with pytest.raises(subprocess.TimeoutExpired):
        first.wait(0.01)
    first.kill()
    assert first.wait() == -signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        os.kill(first.pid, 0)
    assert second.poll() is None
    assert second.communicate("more\n") == ("MORE\n", "")
    assert second.returncode == 0
