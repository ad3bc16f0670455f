"""LitellmEmbedder over a real HTTP server: batches, order, checks and plain errors."""

import math
import random

import pytest
from loopback import Loopback, Reply, embeddings_body, error_body, hash_vector

from pagemind.runtime.errors import (
    AuthenticationFailed,
    BadReply,
    ContextOverflow,
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
        assert len(embedder(server).embed(["x" * 200_000] * 3)) == 3
        assert [len(r["input"]) for r in server.embed_requests] == [1, 1, 1]
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
        ([[float("nan")] * 8], "length nan"),
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
