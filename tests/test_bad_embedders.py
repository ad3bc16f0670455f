"""Embedders that misbehave, behind litellm and handed in: no row is lost, nobody sees a traceback.

Rows are found by their words, those without a vector are counted by doctor, a search says that it
did not compare meanings; and once the embedder behaves, nothing is missing.
"""

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from kernel_kit import small
from loopback import Body, Loopback, Reply, embeddings_body, error_body, hash_vector

from pagemind.runtime import runtime as runtime_module
from pagemind.runtime.agent import Agent
from pagemind.runtime.cli.app import main
from pagemind.runtime.model import Embedder, EmbeddingIdentity
from pagemind.runtime.models.litellm_embedder import LitellmEmbedder
from pagemind.runtime.models.retry import Backoff
from pagemind.runtime.models.sound_embedder import SoundEmbedder
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.testing import ScriptedModel
from pagemind.runtime.tiers import vector_cache, write_back
from pagemind.runtime.tiers.row_filter import RowFilter

SIZE = 8
Vectors = list[list[float]]
Fault = Callable[[Vectors], Any]

FAULTS: dict[str, Fault] = {
    "NaN": lambda vectors: [[math.nan] * SIZE for _ in vectors],
    "infinity": lambda vectors: [[math.inf] * SIZE for _ in vectors],
    "zeros": lambda vectors: [[0.0] * SIZE for _ in vectors],
    "a wrong length": lambda vectors: [v[:-1] for v in vectors],
    "no numbers": lambda vectors: [[] for _ in vectors],
    "texts": lambda vectors: [["0.5"] * SIZE for _ in vectors],
    "a text": lambda vectors: ["vector" for _ in vectors],
    "null": lambda vectors: [None for _ in vectors],
    "numbers beyond floats": lambda vectors: [[10**400] * SIZE for _ in vectors],
    "one too few": lambda vectors: vectors[:-1],
    "one too many": lambda vectors: [*vectors, vectors[0]],
    "none": lambda vectors: [],
    "lengths that change": lambda vectors: [
        [1.0] * (SIZE + n % 2 + 1) for n in range(len(vectors))
    ],
}
RAISED = {
    "a foreign error": ZeroDivisionError("division by zero"),
    "an error without words": KeyError(),
    "a system error": OSError(28, "No space left on device"),
}
ANSWERED = {
    "a page of HTML": Reply(status=200, error="<html>Bad gateway</html>"),
    "500": Reply(status=500),
    "429": Reply(status=429),
    "401": Reply(status=401, error=error_body("bad key")),
    "400": Reply(status=400, error=error_body("no")),
    "not the wire format": Reply(status=200, error={"hello": 1}),
}


class Handed:
    """An embedder of somebody's own; `fault` spoils what it answers."""

    identity = EmbeddingIdentity("handed", SIZE)

    def __init__(self, fault: Fault | None) -> None:
        self.fault = fault

    def embed(self, texts: Sequence[str]) -> Any:
        vectors = [hash_vector(text, SIZE) for text in texts]
        return self.fault(vectors) if self.fault else vectors

    def close(self) -> None:
        """Nothing is held."""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_back, "WRITE_BACK_RETRY_SECONDS", (0.05, 0.1))


def search(agent: Agent, query: str) -> tuple[list[str], tuple[str, ...]]:
    found = agent.engine.search("recall", query, SearchFilters(), 3)
    return [hit.text for hit in found.hits], found.warnings


def missing(runtime: Runtime, agent: Agent) -> int:
    return runtime._write_back.status(agent.id).missing_vectors


def doctor(home: Path, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    code = main(["doctor", "--home", str(home)])
    out, err = capsys.readouterr()
    assert code == 0, out + err
    line = next(each for each in out.splitlines() if "missing vectors" in each)
    return line.split()[-1]


def walk(
    home: Path,
    embedder: Embedder,
    mend: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    handed: bool,
) -> None:
    """Talk while it misbehaves, look, mend it, look again."""
    monkeypatch.setattr(runtime_module, "make_embedder", lambda name: embedder)
    given = embedder if handed else None
    script = ScriptedModel(after="Yes.")
    with Runtime(home, embedder=given, background=False) as runtime:
        agent = runtime.agent("ada", small(), model=script)
        for text in ("My boat is called Nomad.", "It lies in berth 42."):
            assert agent.send(text).stop_reason == "answered"
        for written in (False, True):
            texts, warnings = search(agent, "Nomad")
            assert "Nomad" in texts[0]
            assert any("meanings were not compared" in each for each in warnings)
            assert written or runtime.drain(agent)
        assert missing(runtime, agent) == 4
        assert agent.state.outbox.count() == 0
        agent.close()
        assert doctor(home, capsys) == "4"
        mend()
        agent = runtime.agent("ada", model=script)
        agent.send("Go on.")
        pause = threading.Event()
        for _ in range(200):
            if runtime.drain(agent) and not missing(runtime, agent):
                break
            pause.wait(0.05)
        assert missing(runtime, agent) == 0
        assert search(agent, "Nomad")[1] == ()
        agent.close()
        assert doctor(home, capsys) == "0"


@pytest.mark.parametrize("fault", FAULTS)
def test_one_that_was_handed_in(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever it answers."""
    embedder = Handed(FAULTS[fault])
    walk(
        tmp_path,
        embedder,
        lambda: setattr(embedder, "fault", None),
        monkeypatch,
        capsys,
        handed=True,
    )


@pytest.mark.parametrize("error", RAISED)
def test_one_that_raises(
    error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever it raises."""

    def fault(_: Vectors) -> None:
        raise RAISED[error]

    embedder = Handed(fault)
    walk(
        tmp_path,
        embedder,
        lambda: setattr(embedder, "fault", None),
        monkeypatch,
        capsys,
        handed=True,
    )


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback(dimensions=SIZE) as found:
        yield found


def behind(server: Loopback) -> LitellmEmbedder:
    return LitellmEmbedder(
        "openai/test-embedding",
        api_base=server.url,
        api_key="sk-1",
        dimensions=SIZE,
        backoff=Backoff(retries=0),
        timeout=2.0,
    )


def mended(server: Loopback) -> Callable[[], None]:
    return lambda: setattr(server, "embed", None)


@pytest.mark.parametrize("fault", FAULTS)
def test_one_behind_litellm(
    fault: str,
    server: Loopback,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whatever the server answers."""

    def spoilt(body: Body) -> Body:
        vectors = [hash_vector(text, SIZE) for text in body["input"]]
        answer = embeddings_body([])
        answer["data"] = [
            {"object": "embedding", "index": n, "embedding": v}
            for n, v in enumerate(FAULTS[fault](vectors))
        ]
        return answer

    server.embed = spoilt
    walk(tmp_path, behind(server), mended(server), monkeypatch, capsys, handed=False)


@pytest.mark.parametrize("answer", ANSWERED)
def test_a_server_that_refuses(
    answer: str,
    server: Loopback,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Or answers something else altogether."""
    server.embed = lambda _: ANSWERED[answer]
    walk(tmp_path, behind(server), mended(server), monkeypatch, capsys, handed=False)


def test_a_wrong_order_is_put_right(server: Loopback, tmp_path: Path) -> None:
    """Each row has the vector of its own text."""

    def turned(body: Body) -> Body:
        answer = embeddings_body([hash_vector(text, SIZE) for text in body["input"]])
        answer["data"].reverse()
        return answer

    server.embed = turned
    texts = [f"Fact {n}." for n in range(12)]
    with Runtime(tmp_path, embedder=behind(server), background=False) as runtime:
        agent = runtime.agent("ada", small(), model=ScriptedModel(after="Yes."))
        for text in texts:
            agent.observe(text, source="sensor")
        assert runtime.drain(agent)
        for text in texts:
            asked = hash_vector(f"sensor: {text}", SIZE)
            with runtime.reader("ada") as reader:
                best = reader.store.search_vector("recall", asked, RowFilter(), 1)[0]
            assert best.text == text
            assert math.isclose(best.score, 1.0, abs_tol=1e-5)


def test_one_bad_row_keeps_no_other_from_its_vector(tmp_path: Path) -> None:
    """It goes without; the rest of its batch does not."""

    class Allergic(Handed):
        def embed(self, texts: Sequence[str]) -> Any:
            return [
                [math.nan] * SIZE if "walnut" in text else hash_vector(text, SIZE) for text in texts
            ]

    with Runtime(tmp_path, embedder=Allergic(None), background=False) as runtime:
        agent = runtime.agent("ada", small(), model=ScriptedModel(after="Yes."))
        for text in ("one", "walnut", "three"):
            agent.observe(text, source="sensor")
        assert runtime.drain(agent)
        assert missing(runtime, agent) == 1
        assert search(agent, "walnut")[0][0] == "walnut"
        assert search(agent, "three")[1] == ()


@pytest.mark.parametrize("handed", [True, False])
def test_a_silent_one_delays_a_search_once(
    handed: bool, server: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first search waits its time and says so, the next ones do not wait; turns never do."""
    awake = threading.Event()

    def silent(given: Any) -> Any:
        awake.wait(30)
        return given if handed else embeddings_body([[1.0] * SIZE] * len(given["input"]))

    server.embed = silent
    made: Embedder = Handed(silent) if handed else behind(server)
    monkeypatch.setattr(vector_cache.VectorCache.__init__, "__kwdefaults__", {"seconds": 0.1})
    try:
        with Runtime(tmp_path, embedder=made, background=False) as runtime:
            agent = runtime.agent("ada", small(), model=ScriptedModel(after="Yes."))
            assert agent.send("My boat is called Nomad.").stop_reason == "answered"
            for says in ("did not answer within", "has not answered an earlier call"):
                texts, warnings = search(agent, "Nomad")
                assert "Nomad" in texts[0]
                assert any(says in each for each in warnings)
            assert agent.send("Go on.").stop_reason == "answered"
            awake.set()
            agent.close()
    finally:
        awake.set()


def test_another_length_after_a_restart_is_named_with_what_mends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rows wait and are found by their words; doctor says what is wrong and what to do."""

    class Longer(Handed):
        identity = EmbeddingIdentity("handed", SIZE + 1)

        def embed(self, texts: Sequence[str]) -> Any:
            return [hash_vector(text, SIZE + 1) for text in texts]

    with Runtime(tmp_path, embedder=Handed(None), background=False) as runtime:
        agent = runtime.agent("ada", small(), model=ScriptedModel(after="Yes."))
        agent.send("My boat is called Nomad.")
        assert runtime.drain(agent)
    with Runtime(tmp_path, embedder=Longer(None), background=False) as runtime:
        agent = runtime.agent("ada", model=ScriptedModel(after="Yes."))
        agent.send("Its berth is number 42.")
        assert not runtime.drain(agent)
        assert "berth" in search(agent, "berth")[0][0]
        texts, warnings = search(agent, "Nomad")
        assert "Nomad" in texts[0]
        assert any("was embedded with" in each for each in warnings)
        agent.close()
    monkeypatch.setattr(runtime_module, "make_embedder", lambda name: SoundEmbedder(Longer(None)))
    assert main(["doctor", "--home", str(tmp_path)]) == 3
    out = capsys.readouterr().out
    assert "handed (8 dimensions)" in out
    assert "pagemind memory reembed ada" in out
