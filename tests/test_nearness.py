"""Nearness: what an embedder's cosines mean, asked once and kept."""

import threading
from collections.abc import Sequence
from pathlib import Path

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.errors import ModelError
from pagemind.runtime.model import Embedder
from pagemind.runtime.models.minilm_embedder import MiniLmEmbedder
from pagemind.runtime.nearness import Nearness, near_from
from pagemind.runtime.state.state import State
from pagemind.runtime.testing import HashingEmbedder


class Counted:
    """An embedder that counts its calls, and may fail."""

    def __init__(self, inner: Embedder) -> None:
        self.inner, self.calls, self.down = inner, 0, False
        self.identity = inner.identity

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.calls += 1
        if self.down:
            raise ModelError("it is down")
        return self.inner.embed(texts)

    def close(self) -> None:
        self.inner.close()


def test_minilm_tells_an_answer_from_anything_else() -> None:
    """Its usual answer is nearer than nearly every text that is none."""
    near = near_from(MiniLmEmbedder())
    assert near is not None
    assert 0.35 < near < 0.5


def test_an_embedder_of_words_tells_nothing() -> None:
    """Hashed words put unrelated texts as near as related ones, in any number of dimensions."""
    assert [near_from(HashingEmbedder(size)) for size in (16, 64, 384)] == [None, None, None]


def test_it_is_asked_once_for_an_agent(tmp_path: Path) -> None:
    """The answer is kept in the state; a failing embedder is asked again."""
    embedder = Counted(HashingEmbedder(64))
    state = State(tmp_path, FrozenClock())
    try:
        embedder.down = True
        assert Nearness(state, embedder).get() is None
        embedder.down = False
        known = Nearness(state, embedder)
        assert known.get() is known.get() is Nearness(state, embedder).get() is None
        assert embedder.calls == 2
        assert Nearness(state, None).get() is None
    finally:
        state.close()


def test_a_silent_embedder_is_waited_for_only_so_long(tmp_path: Path) -> None:
    """A turn goes on by words; the next one hears at once that the call is still out."""
    let_go = threading.Event()

    class Silent(Counted):
        def embed(self, texts: Sequence[str]) -> list[list[float]]:
            self.calls += 1
            let_go.wait(60)
            return self.inner.embed(texts)

    embedder = Silent(HashingEmbedder(64))
    state = State(tmp_path, FrozenClock())
    try:
        known = Nearness(state, embedder, seconds=0.05)
        assert known.get() is known.get() is None
        assert not let_go.is_set()
        assert embedder.calls == 1
    finally:
        let_go.set()
        state.close()
