"""The terminal's keys between prompts: what is typed during a turn waits for the next prompt."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any


class TerminalKeys:
    """Of standard input."""

    def __init__(self) -> None:
        self._before: Any = None  # as the person's shell left it; None while nothing is kept

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Keys wait as they are: what is typed does not mar the answer, and Ctrl-D is not
        swallowed. Ctrl-C stays a signal, and takes nothing of what waits with it."""
        import termios

        stdin = sys.stdin.fileno()
        self._before = termios.tcgetattr(stdin)
        try:
            self._keep()
            yield
        finally:
            before, self._before = self._before, None
            with suppress(termios.error):  # the terminal may be gone
                termios.tcsetattr(stdin, termios.TCSANOW, before)

    @contextmanager
    def given_away(self) -> Iterator[None]:
        """Another program has the terminal, as a shell would give it."""
        import termios

        if self._before is None:
            yield
            return
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, self._before)
        try:
            yield
        finally:
            self._keep()

    def _keep(self) -> None:
        import termios

        silent = list(self._before)
        silent[0] &= ~termios.ICRNL
        silent[3] = silent[3] & ~(termios.ECHO | termios.ICANON) | termios.NOFLSH
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSANOW, silent)
