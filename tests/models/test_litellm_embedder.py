"""LitellmEmbedder over a real HTTP server: batches, order, checks and plain errors."""

import base64
import math
import random
import struct
import time

import pytest
from loopback import Loopback, Reply, embeddings_body, error_body, hash_vector

from pagemind.runtime.errors import (
    AuthenticationFailed,
    BadReply,
    BadRequest,
    ContextOverflow,
    ModelError,
    ModelTimeout,
    ModelUnreachable,
)
from pagemind.runtime.models.litellm_embedder import LitellmEmbedder
from pagemind.runtime.models.retry import Backoff

QUICK = Backoff(retries=2, base=0.01)


def embedder(server: Loopback, **more: object) -> LitellmEmbedder:
    given = {"api_base": server.url, "api_key": "sk-secret-1234567", "backoff": QUICK, **more}
    return LitellmEmbedder("openai/test-embedding", **given)


def test_texts_become_unit_vectors_in_order() -> None:
    """One vector of length one for each text, whatever length and order the server answers in."""

    def shuffled(body: dict) -> dict:
        answer = embeddings_body([[3.0 * v for v in hash_vector(t, 8)] for t in body["input"]])
        random.Random(1).shuffle(answer["data"])
        return answer

    texts = [f"text {n}" for n in range(20)]
    with Loopback(embed=shuffled) as server:
        vectors = embedder(server).embed(texts)
    for text, vector in zip(texts, vectors, strict=True):
        assert math.isclose(math.dist(vector, hash_vector(text, 8)), 0, abs_tol=1e-6)


def test_batches_are_bounded() -> None:
    """600 texts go in batches of 256; huge ones in smaller batches; none in no request."""
    with Loopback() as server:
        assert len(embedder(server).embed(["x"] * 600)) == 600
        assert [len(r["input"]) for r in server.embed_requests] == [256, 256, 88]
        server.embed_requests.clear()
        assert len(embedder(server).embed(["x" * 200_000] * 30)) == 30
        assert [len(r["input"]) for r in server.embed_requests] == [12, 12, 6]
        server.embed_requests.clear()
        assert embedder(server).embed([]) == []
        assert not server.embed_requests


def test_empty_and_broken_texts_are_sent_as_something() -> None:
    """An empty text is a space, and a lone surrogate does not break the request."""
    with Loopback() as server:
        assert len(embedder(server).embed(["", "\n", "a\ud83cb"])) == 3
        assert server.embed_requests[0]["input"] == [" ", " ", "a\ufffdb"]


def test_identity_learns_the_dimensions() -> None:
    """Without being told, the embedder asks once how long a vector is."""
    with Loopback(dimensions=12) as server:
        one = embedder(server)
        assert one.identity.dimensions == one.identity.dimensions == 12
        assert one.identity.model == "openai/test-embedding"
        assert len(server.embed_requests) == 1


def test_shorter_vectors_can_be_asked_for() -> None:
    """dimensions is sent, and known without a request."""
    with Loopback(dimensions=12) as server:
        one = embedder(server, dimensions=4)
        assert one.identity.dimensions == 4
        assert not server.embed_requests
        assert len(one.embed(["x"])[0]) == 4
        assert server.embed_requests[0]["dimensions"] == 4


@pytest.mark.parametrize(
    ("vectors", "says"),
    [
        ([[0.0] * 8], "length 0"),
        ([[float("nan")] * 8], "holds NaN"),
        ([[1.0] * 9], "9 dimensions, not 8"),
        ([[]], "length 0"),
        ([], "0 vectors for 1"),
        ([[1.0] * 8, [1.0] * 8], "2 vectors for 1"),
    ],
)
def test_a_wrong_vector_is_an_error(vectors: list, says: str) -> None:
    """Zero, NaN, wrong length or wrong number: refused before it reaches a table."""
    with Loopback(embed=lambda body: embeddings_body(vectors)) as server:
        one = embedder(server, dimensions=8)
        with pytest.raises(BadReply, match=says):
            one.embed(["x"])


def test_a_server_that_answers_other_lengths_is_refused() -> None:
    """Once learned, the length of a vector may not change."""
    with Loopback(dimensions=8) as server:
        one = embedder(server)
        one.embed(["x"])
        server.dimensions = 16
        with pytest.raises(BadReply, match="16 dimensions, not 8"):
            one.embed(["x"])


def test_failures_are_translated_and_retried() -> None:
    """A passing failure is repeated; a lasting one is one line without the key."""
    answers: list[Reply | dict] = [Reply(status=503), embeddings_body([[1.0, 0.0]])]
    with Loopback(embed=lambda body: answers.pop(0)) as server:
        assert embedder(server).embed(["x"]) == [[1.0, 0.0]]
    refused = Reply(status=401, error=error_body("bad key sk-secret-1234567"))
    with Loopback(embed=lambda body: refused) as server:
        with pytest.raises(AuthenticationFailed) as caught:
            embedder(server).embed(["x"])
        assert len(server.embed_requests) == 1
    assert "sk-secret" not in caught.value.message
    too_long = error_body(
        "This model's maximum context length is 8192 tokens, however you requested 9000 tokens."
    )
    with Loopback(embed=lambda body: Reply(status=400, error=too_long)) as server:
        with pytest.raises(ContextOverflow) as overflow:
            embedder(server).embed(["x"])
        assert ": This model's maximum" in overflow.value.message
    with pytest.raises(ModelUnreachable):
        embedder(server).embed(["x"])


def test_a_text_that_is_too_long_is_an_overflow() -> None:
    """Embeddings have no max_tokens: an error without numbers is an overflow."""
    body = error_body("the input length exceeds the context length")
    answer = Reply(status=400, error=body)
    with Loopback(embed=lambda _: answer) as server, pytest.raises(ContextOverflow):
        embedder(server).embed(["x"])


def test_a_text_that_is_too_long_is_cut_until_it_is_taken() -> None:
    """The others of its batch are sent whole, and nothing is sent that could never fit."""

    def picky(body: dict) -> dict | Reply:
        if any(len(text) > 1500 for text in body["input"]):
            said = "This model's maximum context length is 512 tokens, however you requested 9000."
            return Reply(status=400, error=error_body(said))
        return embeddings_body([hash_vector(t, 8) for t in body["input"]])

    long = "a sentence about the sea " * 4000
    with Loopback(embed=picky) as server:
        first, second, third = embedder(server).embed(["one", long, "three"])
        assert max(len(t) for r in server.embed_requests for t in r["input"]) < 25_000
        assert len(server.embed_requests) < 15
    assert math.dist(first, hash_vector("one", 8)) < 1e-6
    assert math.dist(third, hash_vector("three", 8)) < 1e-6
    assert any(math.dist(second, hash_vector(long[:n], 8)) < 1e-6 for n in range(750, 1501))


def test_a_known_window_bounds_what_is_sent() -> None:
    """litellm's registry says 512 tokens for this model: three bytes each."""
    with Loopback() as server:
        one = LitellmEmbedder("azure_ai/embed-v-4-0", api_base=server.url)
        assert one._cut("é" * 10**6)[-1] == "é"
        known = LitellmEmbedder("cohere/embed-english-v3.0")
        assert len(known._cut("x" * 10**6)) == 512 * 3


def test_a_server_that_takes_fewer_texts_is_asked_for_fewer() -> None:
    """A batch is halved until it is taken, and the next one is no larger."""

    def small(body: dict) -> dict | Reply:
        if len(body["input"]) > 32:
            return Reply(status=422, error=error_body("batch size 64 > maximum 32"))
        return embeddings_body([hash_vector(t, 8) for t in body["input"]])

    texts = [f"text {n}" for n in range(64)]
    with Loopback(embed=small) as server:
        one = embedder(server)
        for _ in range(2):
            vectors = one.embed(texts)
            assert all(
                math.dist(v, hash_vector(t, 8)) < 1e-6 for v, t in zip(vectors, texts, strict=True)
            )
        assert [len(r["input"]) for r in server.embed_requests] == [64, 32, 32, 32, 32]


def test_a_lasting_refusal_is_not_asked_about_for_ever() -> None:
    """A batch of 256 that is refused for what it is costs a request for each halving."""
    refused = Reply(status=400, error=error_body("no such parameter"))
    with Loopback(embed=lambda body: refused) as server:
        with pytest.raises(BadRequest):
            embedder(server).embed(["x"] * 600)
        assert len(server.embed_requests) == 9


def test_one_bad_vector_costs_only_its_own_text() -> None:
    """It is zeros, which no table keeps; the others are as they should be."""

    def one_bad(body: dict) -> dict:
        return embeddings_body(
            [[float("nan")] * 8 if t == "bad" else hash_vector(t, 8) for t in body["input"]]
        )

    with Loopback(embed=one_bad) as server:
        good, bad = embedder(server).embed(["good", "bad"])
    assert math.dist(good, hash_vector("good", 8)) < 1e-6
    assert bad == [0.0] * 8


def test_base64_is_read_and_nonsense_refused() -> None:
    """Some servers answer packed numbers whether they were asked or not."""

    def packed(body: dict) -> dict:
        answer = embeddings_body([[0.0]] * len(body["input"]))
        for item, text in zip(answer["data"], body["input"], strict=True):
            raw = struct.pack("<8f", *hash_vector(text, 8))
            item["embedding"] = base64.b64encode(raw).decode()
        return answer

    with Loopback(embed=packed) as server:
        (vector,) = embedder(server).embed(["x"])
    assert math.dist(vector, hash_vector("x", 8)) < 1e-6


@pytest.mark.parametrize(
    "vector",
    [
        pytest.param("not base64!", id="text"),
        pytest.param(["a"] * 8, id="a list of texts"),
        pytest.param([None] * 8, id="nulls"),
        pytest.param([[0.1]] * 8, id="lists"),
        pytest.param({"a": 1}, id="a mapping"),
        pytest.param([10**400] * 8, id="numbers beyond floats"),
        pytest.param(None, id="nothing"),
    ],
)
def test_what_is_no_vector_is_a_bad_reply(vector: object) -> None:
    """Whatever JSON can hold."""
    body = embeddings_body([[1.0] * 8])
    body["data"][0]["embedding"] = vector
    with Loopback(embed=lambda _: body) as server, pytest.raises(ModelError):
        embedder(server, dimensions=8).embed(["x"])


@pytest.mark.parametrize("indices", [[0, 0], [1, 2], [-1, 0]])
def test_indices_that_fit_no_text_are_a_bad_reply(indices: list[int]) -> None:
    """A vector must never stand with another's text."""
    body = embeddings_body([[1.0] * 8, [0.5] * 8])
    for item, index in zip(body["data"], indices, strict=True):
        item["index"] = index
    with Loopback(embed=lambda _: body) as server, pytest.raises(BadReply):
        embedder(server).embed(["x", "y"])


def test_a_silent_server_is_given_up() -> None:
    """After its time, with a plain error."""
    with Loopback(embed=lambda _: time.sleep(1.5) or {}) as server, pytest.raises(ModelTimeout):
        embedder(server, timeout=0.2, backoff=Backoff(retries=0)).embed(["x"])
