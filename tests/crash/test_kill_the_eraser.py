"""Killed while it erases: the next opening of the agent comes to the end that it would have come
to, and says nothing half-true before."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
import warm
from crash_eraser import EVENTS, POINTS, SEED
from erasure_kit import MARKER, Life

from pagemind.runtime.invariants import check_state, check_tiers

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills itself with SIGKILL")
AT = {"scrub": "scrub", "optimize": "purge", "receipt": "receipt"}  # the step that it was at
CHILD = Path(__file__).parents[1] / "crash_eraser.py"


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose agent was told things by Dana and Robin."""
    home = tmp_path_factory.mktemp("lived") / "home"
    Life(home, SEED).live(EVENTS)
    return home


def marks_in(home: Path, person: str) -> set[str]:
    found: set[str] = set()
    for path in home.rglob("*"):
        if path.is_file():
            found |= set(MARKER.findall(path.read_bytes().decode("latin-1")))
    return {each.upper() for each in found if re.match(person, each, re.IGNORECASE)}


@pytest.mark.parametrize(("point", "nth"), POINTS)
def test_killed_at_a_point(lived: Path, tmp_path: Path, point: str, nth: int) -> None:
    """In a transaction, after a step, within a purge, at the receipt: the same end."""
    home = tmp_path / "home"
    shutil.copytree(lived, home)
    words = [str(CHILD), str(home), point, str(nth)]
    child = warm.start(words, stdout=warm.PIPE, stderr=warm.PIPE)
    out, errors = child.communicate()
    assert child.returncode == -9, (out, errors)
    life = Life(home, SEED)
    with life.runtime() as runtime:
        assert [e.state for e in runtime.home.erasures.unfinished()] == [AT[point]]
        assert not list((home / "receipts").glob("*.json")) or point == "receipt"
        life.agent(runtime).close()
        assert runtime.home.erasures.unfinished() == []
        (done,) = runtime.home.erasures.done()
        receipt = json.loads((home / "receipts" / f"{done.id}.json").read_bytes())
        assert receipt["verified"], receipt["found"]
        assert receipt["erased"]["messages"]
        with runtime.reader("ada") as reader:
            found = check_state(reader.state) + check_tiers(reader.state, reader.store)
        assert [each for each in found if each.status == "wrong"] == []
    assert marks_in(home, "DANA") == set()
    assert marks_in(home, "ROBIN") == marks_in(lived, "ROBIN")
