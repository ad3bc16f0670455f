"""Python in a process of its own, for tests of locks, races and crashes."""

import textwrap

import warm


def python(script: str, *arguments: object, cold: bool = False) -> warm.Process:
    """A child that runs the script with pipes to all three streams. `cold`: it has imported
    nothing, for tests of what importing does."""
    words = ["-c", textwrap.dedent(script), *map(str, arguments)]
    pipes = {"stdin": warm.PIPE, "stdout": warm.PIPE, "stderr": warm.PIPE}
    return warm.start_cold(words, **pipes) if cold else warm.start(words, **pipes)
