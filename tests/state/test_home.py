"""The home: names, folders, and what is left of agents that were never finished."""

import os
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.errors import (
    AgentExists,
    AgentInUse,
    HomeUnusable,
    InvalidName,
    SchemaTooNew,
    UnknownAgent,
)
from pagemind.runtime.naming import checked_name
from pagemind.runtime.state.home import AgentLock, Home


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path / "home", FrozenClock())
    yield home
    home.close()


def add(home: Home, name: str) -> str:
    agent_id = f"id-{name}"
    home.folder(agent_id).mkdir()
    return home.add(agent_id, checked_name(name), "assistant", "").name


@pytest.mark.parametrize("name", ["ada", "Ada Lovelace", "🍸", "ада", "a.b", "x" * 64, "日本語"])
def test_a_name_is_free_text(home: Home, name: str) -> None:
    """Spaces, emoji and any script are fine: folders are named by id."""
    add(home, name)
    assert home.find(name).name == name


@pytest.mark.parametrize(
    "name",
    [
        *("", "   ", "a/b", "..", ".", "a\\b", "-x", "x" * 65),
        *("a\nb", "a\x00b", "a\ud83c", "a\u2028b"),
    ],
)
def test_a_name_that_nothing_could_carry_is_refused(name: str) -> None:
    """Paths, options, control characters and half characters are no names."""
    with pytest.raises(InvalidName) as refused:
        checked_name(name)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "other"),
    [("Ada", "ADA"), ("Straße", "STRASSE"), ("ﬁn", "fin"), (" ada ", "ada")],
)
def test_names_are_unique_without_regard_to_case(home: Home, name: str, other: str) -> None:
    """A second agent whose name differs only in case is refused, and found under either."""
    add(home, name)
    assert home.find(other).name == name.strip()
    assert home.exists(other)
    with pytest.raises(AgentExists):
        home.add("another", checked_name(other), "assistant", "")


def test_composed_and_decomposed_are_one_name(home: Home) -> None:
    """é typed on a Mac and é typed elsewhere name the same agent."""
    composed, decomposed = (unicodedata.normalize(form, "José") for form in ("NFC", "NFD"))
    add(home, decomposed)
    assert home.find(composed).name == composed
    assert home.find(decomposed).name == composed


def test_an_unknown_name_brings_the_nearest(home: Home) -> None:
    """The hint names what was probably meant."""
    add(home, "Assistant")
    add(home, "zoe")
    with pytest.raises(UnknownAgent) as unknown:
        home.find("asistant")
    assert "Assistant" in unknown.value.hint
    assert "zoe" not in unknown.value.hint


def test_the_agent_used_last_comes_first(tmp_path: Path) -> None:
    """A listing begins with what one is likely to go on with."""
    clock = FrozenClock()
    home = Home(tmp_path, clock)
    for name in ("one", "two", "three"):
        add(home, name)
        clock.advance(minutes=1)
    home.touch("id-one")
    assert [each.name for each in home.all()] == ["one", "three", "two"]
    home.close()


def test_removing_takes_registry_and_folder(home: Home) -> None:
    """What is listed can be opened; what is removed is gone."""
    add(home, "ada")
    agent = home.find("ada")
    (home.folder(agent.id) / "state.db").write_text("x")
    home.remove(agent)
    assert home.all() == []
    assert not home.folder(agent.id).exists()


def test_sweep_takes_abandoned_folders_only(home: Home) -> None:
    """A folder that no agent owns goes, unless someone is making an agent in it."""
    add(home, "ada")
    home.folder("abandoned").mkdir()
    (home.path / "agents" / "note.txt").write_text("a file is none of our business")
    with home.making("in-the-making") as making:
        home.sweep()
        assert making.is_dir()
    assert home.folder("id-ada").is_dir()
    assert not home.folder("abandoned").exists()
    home.sweep()
    assert not home.folder("in-the-making").exists()  # nobody registered it


def test_a_failure_in_the_making_leaves_nothing(home: Home) -> None:
    """No half-made agent stays."""
    with suppress(ZeroDivisionError), home.making("x") as folder:
        (folder / "state.db").write_text("half")
        1 / 0  # noqa: B018
    assert list((home.path / "agents").iterdir()) == []


def test_a_newer_home_is_refused(tmp_path: Path) -> None:
    """A home of a newer pagemind is left alone."""
    home = Home(tmp_path, FrozenClock())
    home.database._connection.execute("PRAGMA user_version = 99")
    home.close()
    with pytest.raises(SchemaTooNew):
        Home(tmp_path, FrozenClock())


def test_a_file_where_the_home_should_be(tmp_path: Path) -> None:
    """The path and the way out are in the message."""
    (tmp_path / "home").write_text("I am a file")
    with pytest.raises(HomeUnusable) as refused:
        Home(tmp_path / "home", FrozenClock())
    assert "PAGEMIND_HOME" in refused.value.hint


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)
def test_a_read_only_home_is_refused(tmp_path: Path) -> None:
    """A folder without write permission is one clear line."""
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(HomeUnusable):
            Home(tmp_path / "home", FrozenClock())
    finally:
        tmp_path.chmod(0o700)


def test_a_lock_is_held_by_one(tmp_path: Path) -> None:
    """Another lock on the same folder waits in vain; after release it is free."""
    one, other = AgentLock(tmp_path, "ada"), AgentLock(tmp_path, "ada")
    assert not other.held()
    one.acquire(0)
    assert other.held()
    with pytest.raises(AgentInUse, match="'ada' is in use"):
        other.acquire(0)
    one.release()
    other.acquire(0)
    other.release()


def test_asking_whether_a_lock_is_held_disturbs_nobody(tmp_path: Path) -> None:
    """While others look at it all the time, the lock can still be taken at once."""
    import threading

    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            AgentLock(tmp_path, "ada").held()

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(25):
            lock = AgentLock(tmp_path, "ada")
            lock.acquire(0)
            lock.release()
    finally:
        stop.set()
        for thread in threads:
            thread.join()
