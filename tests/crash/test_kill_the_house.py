"""Killed while an agent is made or deleted, or LanceDB compacted or rebuilt: the house stands."""

import random
import signal
import sys
import threading
from pathlib import Path

import pytest
from kernel_kit import runtime_at, small
from processes import python

from pagemind.runtime.errors import UnknownAgent
from pagemind.runtime.invariants import check_state, check_tiers
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.testing import ScriptedModel

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills itself with SIGKILL")
KILLS = 4
MAKING = """
    import os, shutil, signal, sys
    sys.path.insert(0, {tests!r})
    from kernel_kit import runtime_at, small
    from pathlib import Path
    from pagemind.runtime import runtime as runtime_module
    from pagemind.runtime.state import folders, home

    def die(*_, **__):
        os.kill(os.getpid(), signal.SIGKILL)

    point = sys.argv[2]
    if point == "folder":  # the folder is there, and nothing in it
        runtime_module.State = die
    elif point == "state":  # the state is complete, but not registered
        home.Home.add = die
    elif point == "adding":  # in the transaction that registers it
        real = home.Home.add
        home.Home.add = lambda *a: (real(*a), die())
    elif point == "registered":
        made = runtime_module.Runtime.create
        runtime_module.Runtime.create = lambda *a: (made(*a), die())
    elif point == "unlisted":  # deleted from the registry, the folder still there
        folders.shutil.rmtree = die
    elif point == "half gone":
        def some(folder, **_):
            (Path(folder) / "state.db").unlink()
            die()
        folders.shutil.rmtree = some
    with runtime_at(Path(sys.argv[1])) as runtime:
        if point in ("unlisted", "half gone"):
            runtime.delete("ada")
        else:
            runtime.create("ada", small())
"""


def killed(home: Path, point: str) -> None:
    child = python(MAKING.format(tests=str(Path(__file__).parents[1])), home, point)
    errors = child.communicate(timeout=60)[1]
    assert child.returncode == -signal.SIGKILL, errors


def folders(home: Path) -> int:
    return len(list((home / "agents").iterdir()))


@pytest.mark.parametrize(
    ("point", "made"), [("folder", 0), ("state", 0), ("adding", 0), ("registered", 1)]
)
def test_killed_while_an_agent_is_made(tmp_path: Path, point: str, made: int) -> None:
    """What is listed is complete and works; what is not leaves nothing once the next is made."""
    killed(tmp_path, point)
    with runtime_at(tmp_path) as runtime:
        assert len(runtime.agents()) == made
        agent = runtime.agent("ada", small(), model=ScriptedModel(after="Yes."))
        assert agent.send("Hello").text == "Yes."
        assert check_state(agent.state) == []
        assert folders(tmp_path) == 1


@pytest.mark.parametrize("point", ["unlisted", "half gone"])
def test_killed_while_an_agent_is_deleted(tmp_path: Path, point: str) -> None:
    """It is gone for everybody at once; its folder goes when the next agent is made."""
    with runtime_at(tmp_path) as runtime:
        runtime.agent("ada", small(), model=ScriptedModel(after="Yes.")).send("Hello")
    killed(tmp_path, point)
    with runtime_at(tmp_path) as runtime:
        with pytest.raises(UnknownAgent):
            runtime.reader("ada")
        assert runtime.agents() == []
        runtime.create("bob", small())
        assert folders(tmp_path) == 1


COMPACTING = """
    import sys
    sys.path.insert(0, {tests!r})
    from kernel_kit import runtime_at
    from pathlib import Path
    from pagemind.runtime.clock import SystemClock
    from pagemind.runtime.tiers import upkeep

    upkeep.CLEANUP_AGE_SECONDS = 0.0
    clock = SystemClock()  # a frozen one would make the same ids again
    with runtime_at(Path(sys.argv[1]), clock) as runtime, runtime.writer("ada") as writer:
        number = int(sys.argv[2])
        while True:
            passage, _ = writer.insert(f"Passage {{number}} of {{sys.argv[2]}} about the sea.")
            runtime._write_back.drain(writer.registered.id, 30)
            print(passage.text, flush=True)
            writer.store.maintain(force=True)
            number += 1
"""


def test_killed_while_lancedb_is_compacted(tmp_path: Path) -> None:
    """At random times in commits, compaction and clean-up: every passage is there once, the tables
    are whole, and the next process compacts them."""
    with runtime_at(tmp_path) as runtime:
        runtime.create("ada", small())
    script = COMPACTING.format(tests=str(Path(__file__).parents[1]))
    chance, kept = random.Random(3), []
    for number in range(KILLS):
        child = python(script, tmp_path, number * 1000)
        assert child.stdout is not None
        kept += [child.stdout.readline().strip() for _ in range(2)]  # it went round once
        timer = threading.Timer(0.3 * chance.random(), child.kill)
        timer.start()
        kept += [line.strip() for line in child.stdout]
        child.wait(60)
        timer.cancel()
        assert child.returncode == -signal.SIGKILL, child.stderr and child.stderr.read()
        with runtime_at(tmp_path) as runtime, runtime.writer("ada") as writer:
            texts = [passage.text for passage in writer.state.passages.newest(1 << 30)]
            assert all(texts.count(text) == 1 for text in kept)
            assert runtime._write_back.drain(writer.registered.id, 30)
            assert writer.store.maintain(force=True)
            assert check_state(writer.state) == []
            assert check_tiers(writer.state, writer.store) == []


REBUILDING = """
    import os, signal, sys
    sys.path.insert(0, {tests!r})
    from kernel_kit import runtime_at
    from pathlib import Path
    from pagemind.runtime.tiers.store import TierStore

    real = TierStore.reset
    def reset(store):
        real(store)
        os.kill(os.getpid(), signal.SIGKILL)
    TierStore.reset = reset
    with runtime_at(Path(sys.argv[1])) as runtime, runtime.writer("ada") as writer:
        writer.rebuild(lambda done, total: None)
"""


def test_killed_while_the_tiers_are_rebuilt(tmp_path: Path) -> None:
    """The old tables are gone and nothing is in the new ones: all of it waits in the outbox, is
    found there, and goes out with the next process."""
    with runtime_at(tmp_path) as runtime:
        agent = runtime.agent("ada", small(), model=ScriptedModel(after="Yes."))
        agent.send("My boat is called Nomad.")
        assert runtime.drain(agent)
    child = python(REBUILDING.format(tests=str(Path(__file__).parents[1])), tmp_path)
    errors = child.communicate(timeout=60)[1]
    assert child.returncode == -signal.SIGKILL, errors
    with runtime_at(tmp_path) as runtime, runtime.writer("ada") as writer:
        assert writer.store.count("recall") == 0
        found = writer.search.search("recall", "Nomad", SearchFilters(), 3).hits
        assert "Nomad" in found[0].text
        assert runtime._write_back.drain(writer.registered.id, 30)
        assert check_tiers(writer.state, writer.store) == []
