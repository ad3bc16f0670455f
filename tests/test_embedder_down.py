"""An embedder that is down or slow: texts are kept and found at once, vectors come later."""

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from kernel_kit import small

from pagemind.runtime import runtime as runtime_module
from pagemind.runtime.agent import Agent
from pagemind.runtime.cli.app import main
from pagemind.runtime.errors import ModelUnreachable
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel, call
from pagemind.runtime.tiers import write_back

HELD_SECONDS = 30.0


class Moody(HashingEmbedder):
    """Works, fails, or does not answer until it is let go."""

    def __init__(self) -> None:
        super().__init__(16)
        self.up = threading.Event()
        self.silent = False

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if self.silent:
            self.up.wait(HELD_SECONDS)
        elif not self.up.is_set():
            raise ModelUnreachable("no route to the embedder")
        return super().embed(texts)


@pytest.fixture
def embedder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Moody]:
    found = Moody()
    monkeypatch.setattr(runtime_module, "make_embedder", lambda name: found)
    monkeypatch.setattr(write_back, "WRITE_BACK_RETRY_SECONDS", (0.05, 0.1))
    yield found
    found.up.set()


def found(agent: Agent, tier: str, query: str) -> str:
    hits = agent.engine.search(tier, query, SearchFilters(), 3).hits  # type: ignore[arg-type]
    return hits[0].text if hits else ""


def missing(agent: Agent, runtime: Runtime) -> int:
    return runtime._write_back.status(agent.id).missing_vectors


def told(runtime: Runtime, more: str = "") -> Agent:
    """An agent that was told of a boat and archived it."""
    archive = call("archival_insert", content="The boat of Sam is called Nomad.")
    model = ScriptedModel([archive, "Kept."], after="Yes.")
    agent = runtime.agent("ada", small(more=more), model=model)
    assert agent.send("My boat is called Nomad.").stop_reason == "answered"
    return agent


def test_a_text_is_found_at_once_and_embedded_later(
    tmp_path: Path, embedder: Moody, capsys: pytest.CaptureFixture[str]
) -> None:
    """Down: the turn is not stopped, words find it before and after write-back, doctor counts what
    has no vector. Up again: none is missing, without anybody asking."""
    with Runtime(tmp_path, background=False) as runtime:
        agent = told(runtime)
        assert "Nomad" in found(agent, "archival", "Nomad")
        assert runtime.drain(agent)
        assert "Nomad" in found(agent, "archival", "Nomad")
        assert "Nomad" in found(agent, "recall", "Nomad")
        assert missing(agent, runtime) == 3
        agent.close()
        assert main(["doctor", "--home", str(tmp_path)]) == 0
        line = next(x for x in capsys.readouterr().out.splitlines() if "missing vectors" in x)
        assert line.split()[-1] == "3"

        embedder.up.set()
        agent = runtime.agent("ada", model=ScriptedModel(after="Yes."))
        agent.send("Hello again.")
        pause = threading.Event()
        assert runtime.drain(agent)
        for _ in range(200):
            if not missing(agent, runtime):
                break
            pause.wait(0.05)
        assert missing(agent, runtime) == 0
        agent.close()
        assert main(["doctor", "--home", str(tmp_path)]) == 0
        line = next(x for x in capsys.readouterr().out.splitlines() if "missing vectors" in x)
        assert line.split()[-1] == "0"


def test_a_silent_embedder_keeps_nobody_waiting(tmp_path: Path, embedder: Moody) -> None:
    """While it does not answer, turns end and closing leaves the rows where they are found."""
    embedder.silent = True
    with Runtime(tmp_path, background=False) as runtime:
        agent = told(runtime, "embedding: acme/embed\n")  # one in the house is never silent
        runtime._write_back.kick(agent.id)
        for number in range(3):
            assert agent.send(f"Go on, {number}.").text == "Yes."
        assert not embedder.up.is_set()  # it was never waited for
        agent.close()
        with runtime.reader("ada") as reader:
            assert reader.state.outbox.count() + reader.store.count("recall") >= 8
        embedder.up.set()
