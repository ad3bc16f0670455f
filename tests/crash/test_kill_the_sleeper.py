"""Killed while memory is tended: nothing is lost, nothing is made twice, the next run ends it."""

import shutil
import sys
from pathlib import Path

import pytest
import warm
from crash_sleeper import POINTS, tended

from pagemind.runtime.invariants import check_state, check_tiers
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import HashingEmbedder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills itself with SIGKILL")
CHILD = Path(__file__).parents[1] / "crash_sleeper.py"
NTH = {"read": 1, "planned": 3, "closing": 1}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose agent was told all, and has not slept."""
    home = tmp_path_factory.mktemp("told") / "home"
    child = warm.start([str(CHILD), str(home), "read", "1"], stdout=warm.PIPE, stderr=warm.PIPE)
    errors = child.communicate()[1]
    assert child.returncode == -9, errors
    return home


@pytest.mark.parametrize("point", POINTS)
def test_killed_at_a_point(told: Path, tmp_path: Path, point: str) -> None:
    """In a transaction, between the plan and the act, after it: the next run makes the rest."""
    home = tmp_path / "home"
    shutil.copytree(told, home)
    words = [str(CHILD), str(home), point, str(NTH.get(point, 2))]
    child = warm.start(words, stdout=warm.PIPE, stderr=warm.PIPE)
    errors = child.communicate()[1]
    assert child.returncode == -9, errors
    with Runtime(home, embedder=HashingEmbedder(16)) as runtime, runtime.reader("ada") as reader:
        found = check_state(reader.state) + check_tiers(reader.state, reader.store)
        assert [each for each in found if each.status == "wrong"] == []
    records = tended(home)
    assert sorted(each.text for each in records) == [
        "Sam likes rum.",
        "Sam likes tea.",
        "Sam lives in Lisbon.",
        "Sam lives in Oslo.",
        "Sam lives in Porto.",
    ]
    ends = {each.text.split()[-1]: each.facets.superseded_by for each in records}
    by = {each.number: each.text.split()[-1] for each in records}
    assert [by.get(ends[f"{city}."] or 0) for city in ("Lisbon", "Porto", "Oslo")] == [
        "Porto.",
        "Oslo.",
        None,
    ]
    again = tended(home)
    assert [(e.number, e.version) for e in again] == [(e.number, e.version) for e in records]
