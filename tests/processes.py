"""Python in a process of its own, for tests of locks, races and crashes."""

import subprocess
import sys
import textwrap


def python(script: str, *arguments: object) -> "subprocess.Popen[str]":
    """A child that runs the script with pipes to all three streams."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
