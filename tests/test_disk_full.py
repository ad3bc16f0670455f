"""A full disk, or one that cannot be written: a clear error, nothing half written, and it goes on
once there is space."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from kernel_kit import everything, sentence, small
from small_disk import SmallDisk, mounted

from pagemind.runtime.agent import Agent
from pagemind.runtime.cli.app import main
from pagemind.runtime.errors import DiskFull, HomeUnusable
from pagemind.runtime.invariants import check_state, check_tiers
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel, call

BIG = "A long story about the sea. " * 4000


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with mounted(tmp_path / "disk", 12) as disk:
        yield disk


def opened(home: Path) -> Runtime:
    return Runtime(home, embedder=HashingEmbedder(16), background=False)


def well(agent: Agent) -> None:
    assert [f for f in check_state(agent.state) if f.status == "wrong"] == []


def talk_on(agent: Agent, kept: list[str]) -> None:
    """Until something gives; `kept` gets the replies that were acknowledged."""
    for at in range(200):
        turn = agent.send(f"asked {at}: " + "sea " * 200)
        kept += [turn.text] if turn.stop_reason == "answered" else []


def texts(agent: Agent) -> list[str]:
    return [m.text for m in everything(agent) if m.kind != "notice"]


def test_a_full_disk_refuses_a_message_whole(disk: SmallDisk) -> None:
    """DiskFull names the file; the refused message is not there, those before are; after space
    is freed the same agent, and the next process, go on."""
    home = disk.path / "home"
    with opened(home) as runtime:
        agent = runtime.agent("ada", small(4096), model=ScriptedModel(after="Yes."))
        for number in range(5):
            agent.send(sentence(number))
        before = texts(agent)
        disk.fill(8192)
        with pytest.raises(DiskFull) as full:
            agent.send(BIG)
        assert "state.db: the disk is full; what was acknowledged is intact" in full.value.message
        assert texts(agent) == before
        well(agent)
        disk.empty()
        assert agent.send("And now?").text == "Yes."
        assert texts(agent) == [*before, "And now?", "Yes."]
        well(agent)
    with opened(home) as runtime:
        agent = runtime.agent("ada", model=ScriptedModel(after="Still here."))
        assert texts(agent) == [*before, "And now?", "Yes."]
        assert agent.send("Hello").text == "Still here."
        assert runtime.drain(agent)
        assert check_tiers(agent.state, agent.engine.store) == []


@pytest.mark.parametrize("left", range(0, 400_000, 50_000))
def test_the_disk_fills_somewhere_in_the_turns(disk: SmallDisk, left: int) -> None:
    """Wherever it ends, in a message, an edit, a passage or a flush: what was acknowledged is
    there once, block and versions agree, and the agent goes on after space is freed."""
    number = iter(range(10_000))

    def answer(_: object) -> object:
        at = next(number)
        if at % 3 == 0:
            return [
                call("core_append", block="human", content=f"{at}. "),
                call("archival_insert", content=f"Passage {at}. " + "sea " * 500),
            ]
        return f"Reply {at}."

    home = disk.path / "home"
    kept: list[str] = []
    with opened(home) as runtime:
        agent = runtime.agent("ada", small(2048, limit=4000), model=ScriptedModel(answer))
        agent.send("first")
        disk.fill(left)
        with pytest.raises(DiskFull):
            talk_on(agent, kept)
        well(agent)
        disk.empty()
        assert agent.send("And now?").stop_reason == "answered"
        well(agent)
    with opened(home) as runtime:
        agent = runtime.agent("ada", model=ScriptedModel(after="Still here."))
        found = texts(agent)
        assert all(found.count(text) == 1 for text in kept)
        assert agent.send("Hello").text == "Still here."
        assert runtime.drain(agent)
        well(agent)
        assert check_tiers(agent.state, agent.engine.store) == []


def test_a_full_disk_of_the_tiers_stops_no_turn(disk: SmallDisk, tmp_path: Path) -> None:
    """LanceDB cannot write: turns, flushes and searches go on, the rows wait in the outbox, the
    status says why, and they go out once there is space."""
    home = tmp_path / "home"
    with opened(home) as runtime:
        agent = runtime.agent("ada", small(2048), model=ScriptedModel(after="Yes."))
        (disk.path / "lance").mkdir()
        (agent.state.folder / "lance").symlink_to(disk.path / "lance")
        agent.send("My boat is called Nomad.")
        assert runtime.drain(agent)
        disk.fill()
        for number in range(20):
            assert agent.send(sentence(number)).text == "Yes."
        assert agent.state.pages.count() > 0
        assert not runtime.drain(agent, 10)
        status = runtime._write_back.status(agent.id)
        assert status.last_error is not None
        assert "DiskFull" in status.last_error
        assert status.unwritten >= 20
        found = agent.engine.search("recall", "item K0013", SearchFilters(), 3)
        assert "K0013" in found.hits[0].text
        disk.empty()
        assert runtime.drain(agent, 30)
        assert check_tiers(agent.state, agent.engine.store) == []


def test_no_agent_is_made_on_a_full_disk(disk: SmallDisk) -> None:
    """A clear error, and nothing of it is left to be listed or swept."""
    home = disk.path / "home"
    with opened(home) as runtime:
        disk.fill()
        with pytest.raises((DiskFull, HomeUnusable)):
            runtime.create("ada", small())
        assert runtime.home.all() == []
        disk.empty()
        runtime.create("ada", small())
        assert len(list((home / "agents").iterdir())) == 1


def test_a_read_only_home_is_said_in_one_line(
    disk: SmallDisk, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each command ends with what to do and no traceback; afterwards all is as it was."""
    home = disk.path / "home"
    with opened(home) as runtime:
        runtime.agent("ada", small(), model=ScriptedModel(after="Yes.")).send("Hello")
    disk.read_only(True)
    with pytest.raises(HomeUnusable):
        opened(home)
    for words in (["send", "ada", "Hello", "-m", "scripted/echo"], ["agents", "list"], ["doctor"]):
        assert main([*words, "--home", str(home)]) in (1, 3), words
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        assert "PAGEMIND_HOME" in said.err + said.out
    disk.read_only(False)
    with opened(home) as runtime:
        agent = runtime.agent("ada", model=ScriptedModel(after="Still here."))
        assert agent.send("Hello").text == "Still here."
        assert len(texts(agent)) == 4


def test_without_a_small_disk_a_full_database_says_the_same(tmp_path: Path) -> None:
    """Everywhere: SQLite's own limit on the size of a file stands in for the disk's."""
    with opened(tmp_path / "home") as runtime:
        agent = runtime.agent("ada", small(4096), model=ScriptedModel(after="Yes."))
        agent.send("first")
        connection = agent.state.database._connection
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(DiskFull):
            agent.send(BIG)
        assert texts(agent) == ["first", "Yes."]
        well(agent)
        connection.execute("PRAGMA max_page_count = 1000000")
        assert agent.send("And now?").text == "Yes."
