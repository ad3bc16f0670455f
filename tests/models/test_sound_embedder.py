"""An embedder that was handed in: whatever it does, one sees sound vectors or a ModelError."""

import math
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from pagemind.runtime.errors import BadReply, Cancelled, ModelError, ModelTimeout
from pagemind.runtime.model import EmbeddingIdentity
from pagemind.runtime.models.sound_embedder import SoundEmbedder
from pagemind.runtime.tiers.vector_cache import VectorCache

GOOD = [3.0, 4.0]


class Foreign:
    """Answers what it is told to."""

    def __init__(self, answer: Callable[[Sequence[str]], Any], identity: Any = None) -> None:
        self.answer = answer
        self.identity = identity or EmbeddingIdentity("foreign", 2)
        self.calls = 0

    def embed(self, texts: Sequence[str]) -> Any:
        self.calls += 1
        return self.answer(texts)

    def close(self) -> None:
        pass


def raising(error: BaseException) -> Any:
    raise error


def test_sound_vectors_come_out_at_unit_length() -> None:
    """Also from arrays, tuples and whole numbers."""
    import numpy as np

    for answer in ([GOOD, GOOD], ((3, 4), (3, 4)), np.array([GOOD, GOOD], dtype=np.float32)):
        vectors = SoundEmbedder(Foreign(lambda _, a=answer: a)).embed(["a", "b"])
        assert vectors == [pytest.approx([0.6, 0.8])] * 2
        assert type(vectors[0][0]) is float


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param([[math.nan, 1.0]], id="NaN"),
        pytest.param([[math.inf, 1.0]], id="infinity"),
        pytest.param([[0.0, 0.0]], id="zeros"),
        pytest.param([[1e200, 1e200]], id="too long to be measured"),
        pytest.param([[1.3e154, 1.3e154]], id="nearly so"),
        pytest.param([[1.0, 2.0, 3.0]], id="wrong length"),
        pytest.param([[]], id="no numbers"),
        pytest.param([], id="no vectors"),
        pytest.param([GOOD, GOOD], id="too many vectors"),
        pytest.param(["ab"], id="text"),
        pytest.param([["a", "b"]], id="texts"),
        pytest.param([None], id="nothing"),
        pytest.param([[None, 1.0]], id="nothing in it"),
        pytest.param([[10**400, 1]], id="beyond floats"),
        pytest.param("a", id="a text for all"),
        pytest.param(None, id="nothing at all"),
        pytest.param({"a": 1}, id="a mapping"),
        pytest.param(7, id="a number"),
    ],
)
def test_a_bad_answer_is_a_model_error(answer: Any) -> None:
    """Never another exception, and never a vector."""
    with pytest.raises(ModelError):
        SoundEmbedder(Foreign(lambda _: answer)).embed(["a"])


def test_one_bad_vector_costs_only_its_own_text() -> None:
    """It is zeros; the others stand."""
    made = SoundEmbedder(Foreign(lambda _: [GOOD, [math.nan, 1.0], GOOD])).embed(["a", "b", "c"])
    assert made == [pytest.approx([0.6, 0.8]), [0.0, 0.0], pytest.approx([0.6, 0.8])]


def test_what_it_raises_is_translated() -> None:
    """An error of ours passes; a foreign one is named; being stopped is no error of the model."""
    for error, wanted in (
        (BadReply("no"), BadReply),
        (ZeroDivisionError("division by zero"), ModelError),
        (KeyError("x"), ModelError),
        (Cancelled("stopped"), Cancelled),
    ):
        with pytest.raises(wanted):
            SoundEmbedder(Foreign(lambda _, e=error: raising(e))).embed(["a"])
    with pytest.raises(ModelError, match="Foreign failed: ZeroDivisionError: division by zero"):
        SoundEmbedder(Foreign(lambda _: 1 / 0)).embed(["a"])


@pytest.mark.parametrize("identity", ["foreign", EmbeddingIdentity("f", 0), 5])
def test_an_identity_that_is_none_is_a_model_error(identity: Any) -> None:
    """With what to give."""
    with pytest.raises(BadReply, match="has no identity"):
        SoundEmbedder(Foreign(lambda _: [GOOD], identity)).embed(["a"])


def test_a_silent_embedder_is_waited_for_once() -> None:
    """Who asks again before it answered hears so at once; when it did, all is well."""
    answering = threading.Event()

    def slow(texts: Sequence[str]) -> list[list[float]]:
        answering.wait(30)
        return [GOOD] * len(texts)

    foreign = Foreign(slow)
    sound = SoundEmbedder(foreign, seconds=0.1)
    with pytest.raises(ModelTimeout, match=r"did not answer within 0\.1 s"):
        sound.embed(["a"])
    for _ in range(3):
        with pytest.raises(ModelTimeout, match="has not answered an earlier call yet"):
            sound.embed(["a"])
    assert foreign.calls == 1
    answering.set()
    pause = threading.Event()
    for _ in range(200):
        try:
            assert sound.embed(["a"]) == [pytest.approx([0.6, 0.8])]
            break
        except ModelTimeout:
            pause.wait(0.02)
    else:
        pytest.fail("it answers and is not asked")


def test_a_cache_asks_for_each_text_once() -> None:
    """Whatever the order; the least recently used is forgotten first."""
    foreign = Foreign(lambda texts: [[float(len(t)), 1.0] for t in texts])
    cache = VectorCache(foreign, size=3)
    assert cache.get(["a", "bb", "a"]) == [[1.0, 1.0], [2.0, 1.0], [1.0, 1.0]]
    assert cache.get(["bb", "a"]) == [[2.0, 1.0], [1.0, 1.0]]
    assert foreign.calls == 1
    cache.get(["ccc"])
    cache.get(["bb"])
    cache.get(["dddd"])  # a was used least recently
    assert foreign.calls == 3
    cache.get(["bb", "ccc", "dddd"])
    assert foreign.calls == 3
    cache.get(["a"])
    assert foreign.calls == 4


def test_what_comes_too_late_for_one_search_is_there_for_the_next() -> None:
    """The answer is kept although nobody waits for it any more."""
    answering = threading.Event()

    def slow(texts: Sequence[str]) -> list[list[float]]:
        answering.wait(30)
        return [GOOD] * len(texts)

    foreign = Foreign(slow)
    cache = VectorCache(foreign, seconds=0.05)
    with pytest.raises(ModelTimeout):
        cache.get(["a"])
    answering.set()
    pause = threading.Event()
    for _ in range(200):
        try:
            assert cache.get(["a"]) == [GOOD]
            break
        except ModelTimeout:
            pause.wait(0.02)
    assert foreign.calls == 1


def test_a_query_of_which_nothing_is_made_is_an_error_and_another_text_is_not() -> None:
    """The others are compared with the first."""
    cache = VectorCache(Foreign(lambda texts: [[0.0, 0.0] if t == "x" else GOOD for t in texts]))
    assert cache.get(["a", "x"]) == [GOOD, [0.0, 0.0]]
    with pytest.raises(BadReply, match="made nothing of this text"):
        cache.get(["x", "a"])
