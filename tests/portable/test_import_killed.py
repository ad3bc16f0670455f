"""An import that is killed leaves all of an agent or nothing, and so does an increment."""

import signal
from pathlib import Path

import pytest
import warm
from kernel_kit import sentence
from portable_kit import lived, same, sound, tables

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import Cancelled
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel

CHILD = """
import os, signal, sys
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import HashingEmbedder

home, file, name, nth = sys.argv[1:]
left = int(nth)


def stop():
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)


with Runtime(home, embedder=HashingEmbedder(64), background=False) as runtime:
    runtime.import_agent(file, name=name, stop=stop)
"""


def opened(home: Path) -> Runtime:
    return Runtime(home, embedder=HashingEmbedder(64), background=False)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole export and an increment, in a folder with the home they came from."""
    folder = tmp_path_factory.mktemp("killed")
    with opened(folder / "home") as runtime:
        lived(runtime, turns=6).close()
        runtime.export_agent("ada", folder / "0.pmz")
        agent = runtime.agent("ada", model=ScriptedModel(lambda _: sentence(9)))
        for at in range(6):
            agent.send(sentence(100 + at))
        runtime.drain(agent)
        agent.close()
        runtime.export_agent("ada", folder / "1.pmz", since=folder / "0.pmz")
    return folder


def die(home: Path, file: Path, name: str, nth: int) -> bool:
    """Whether it was killed; otherwise it had no so many places to die at."""
    code, _, errors = warm.run(["-c", CHILD, str(home), str(file), name, str(nth)])
    assert code in (0, -signal.SIGKILL), errors
    return code != 0


@pytest.mark.parametrize("nth", [1, 15, 30, 45, 60, 72])
def test_an_import_is_all_or_nothing(files: Path, tmp_path: Path, nth: int) -> None:
    """While it unpacks, loads, or writes the tiers: no agent is listed, the next import sweeps up
    and works."""
    killed = die(tmp_path / "home", files / "0.pmz", "eva", nth)
    with opened(tmp_path / "home") as runtime:
        if not killed:
            assert [each.name for each in runtime.agents()] == ["eva"]
            return
        assert runtime.agents() == []
        assert len(list((tmp_path / "home" / "agents").iterdir())) == 1  # what it was making
        runtime.import_agent(files / "0.pmz", name="eva")
        assert [each.name for each in (tmp_path / "home" / "agents").iterdir()] == [
            runtime.info("eva").id
        ]
        with runtime.reader("eva") as reader:
            sound(reader)


@pytest.mark.parametrize("nth", [5, 20, 35, 50, 60])
def test_an_increment_is_all_or_nothing(files: Path, tmp_path: Path, nth: int) -> None:
    """The agent is what it was before, or what it is after; either way it can be tried again."""
    home = tmp_path / "home"
    with opened(home) as runtime:
        runtime.import_agent(files / "0.pmz", name="eva")
        with runtime.reader("eva") as reader:
            before = tables(reader)
    killed = die(home, files / "1.pmz", "eva", nth)
    with opened(home) as runtime:
        with runtime.reader("eva") as reader:
            sound(reader)
            after = tables(reader)
        if after == before:
            assert killed
            runtime.import_agent(files / "1.pmz", name="eva")
        runtime.import_agent(files / "0.pmz", name="old")
        runtime.import_agent(files / "1.pmz", name="old")
        same(runtime, "old", "eva")


def test_a_person_may_stop_it(files: Path, tmp_path: Path) -> None:
    """Ctrl-C between two pieces: as if it had never begun."""
    token, left = CancelToken(), [20]

    def stop() -> None:
        left[0] -= 1
        if not left[0]:
            token.cancel()
        if token.cancelled:
            raise Cancelled("stopped")

    with opened(tmp_path / "home") as runtime:
        with pytest.raises(Cancelled):
            runtime.import_agent(files / "0.pmz", stop=stop)
        assert not list((tmp_path / "home" / "agents").iterdir())
        left[0] = 3
        with pytest.raises(Cancelled):
            runtime.import_agent(files / "0.pmz", stop=stop)
    with opened(files / "home") as runtime:
        left[0] = 5
        with pytest.raises(Cancelled):
            runtime.export_agent("ada", tmp_path / "x.pmz", stop=stop)
    assert [each.name for each in tmp_path.iterdir()] == ["home"]
