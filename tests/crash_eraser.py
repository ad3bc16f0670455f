"""The process that is killed while it erases what Dana said from a life (erasure_kit).

    python crash_eraser.py HOME POINT NTH

At the NTH time that it passes POINT it kills itself; "none" leaves that to whoever started it.
"""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from erasure_kit import Life

from pagemind.runtime.erasure import eraser
from pagemind.runtime.erasure.receipt import Receipt
from pagemind.runtime.erasure.wanted import wanted
from pagemind.runtime.errors import NotFound
from pagemind.runtime.tiers import upkeep

EVENTS = 8
SEED = 5
# The point and the passing: after the scrub's commit, within the purge of a table, when the receipt
# is written.
POINTS = (("scrub", 1), ("optimize", 2), ("receipt", 1))


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Fuse:
    """Burns down at the nth passing, and kills after what it is put on."""

    def __init__(self, nth: int) -> None:
        self.left = nth

    def around(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        result = function(*arguments, **named)
        self.left -= 1
        if self.left == 0:
            die()
        return result

    def put_on(self, owner: Any, name: str) -> None:
        setattr(owner, name, partial(self.around, getattr(owner, name)))


def put_fuse(point: str, fuse: Fuse) -> None:
    if point == "receipt":
        write = Receipt.write
        Receipt.write = lambda self, home: fuse.around(write, self, home)  # type: ignore[method-assign] # as it is, and then dies
    else:
        fuse.put_on(*{"scrub": (eraser, "scrub"), "optimize": (upkeep, "_optimize")}[point])


def main(home: str, point: str, nth: str) -> None:
    life = Life(Path(home), SEED)
    with life.runtime() as runtime:
        if point != "none":
            put_fuse(point, Fuse(int(nth)))
        with runtime.erasing("ada") as erasing:
            if erasing.resumed:
                return
            with suppress(NotFound):  # the last one was killed after the end
                erasing.erase(erasing.preview(wanted(subject="Dana")))


if __name__ == "__main__":
    main(*sys.argv[1:])
