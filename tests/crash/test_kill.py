"""A process that is killed at any instant loses nothing that it acknowledged, and doubles nothing.

The long form is benchmarks/crash.py --runs N.
"""

import random
import sys
from pathlib import Path

import pytest
from crash_kit import POINTS, Home, random_delay

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills itself with SIGKILL")
KILLS = 6  # with the points nineteen in all


@pytest.mark.parametrize(("point", "when", "nth"), POINTS)
def test_killed_at_a_point(tmp_path: Path, point: str, when: str, nth: int) -> None:
    """Before or after a commit, in a flush, between LanceDB and the outbox: all is there, once."""
    home = Home(tmp_path / "home", seed=nth)
    home.run(point, when, nth)
    assert home.kills == 1, f"{point} was passed less than {nth} times"
    home.check()


def test_killed_again_and_again(tmp_path: Path) -> None:
    """One home, killed at random times, each time opened and used before the next."""
    chance = random.Random(7)
    home = Home(tmp_path / "home", seed=100)
    for _ in range(KILLS):
        home.run(kill=random_delay(chance))
        home.check()
    assert home.kills >= KILLS - 2
    assert len(home.kept) > 10


def test_one_that_is_not_killed(tmp_path: Path) -> None:
    """The same process, ending by itself, leaves nothing to write."""
    home = Home(tmp_path / "home")
    assert home.run() > 40
    assert home.kills == 0
    home.check()
