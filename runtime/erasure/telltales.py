"""Tell-tales: what gives away that something erased still stands somewhere. Pure.

They are runs of a few words, addresses and codes that stood only in the texts that are erased; kept
as salted hashes, since they outlive those texts until the erasure is proved. A text says one of
them, or it does not: what the words are cannot be told from them.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pagemind.runtime.settings import (
    DENIED_TEXT_CHARS,
    TELLTALE_WORDS,
    TELLTALES,
    TELLTALES_OF_TEXT,
)

# Where words are not parted by spaces, a character counts as one.
_DENSE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f"
_WORD = re.compile(rf"[{_DENSE}]|[^\W_{_DENSE}]+")
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|[nr])")
_CODE = re.compile(
    r"[a-z0-9._+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+"  # an address
    r"|(?<![a-z0-9_-])(?=[a-z-]*\d)(?=[\d-]*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*(?![a-z0-9_-])"
)
_OURS = re.compile(r"\d{4}-\d\d-\d\d.*|[0-9a-f-]{16,}|[a-z]{1,3}\d{1,6}|\d+[a-z]{1,2}")
_CODE_CHARS = 6
_SHORTEST = 3  # words of a text that is known by all of them
_Run = tuple[str, int]  # its hash, and how many words it has (0: a code)


@dataclass(frozen=True, slots=True)
class TellTales:
    """`runs` are hashes with the number of their words."""

    salt: bytes
    runs: frozenset[_Run] = frozenset()
    _lengths: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_lengths", tuple(sorted({words for _, words in self.runs})))

    def __bool__(self) -> bool:
        return bool(self.runs)

    def in_text(self, text: str) -> set[_Run]:
        """Those that a text says."""
        return {run for run in _runs(text, self._lengths, self.salt) if run in self.runs}

    def stored(self) -> list[str]:
        """For a plan; from_stored() leads back."""
        return sorted(f"{words}:{digest}" for digest, words in self.runs)

    @staticmethod
    def from_stored(stored: Iterable[str], salt: bytes) -> "TellTales":
        pairs = (each.split(":", 1) for each in stored)
        return TellTales(salt, frozenset((digest, int(words)) for words, digest in pairs))

    def without(self, others: Iterable[str]) -> "TellTales":
        """Those that none of the other texts says."""
        left = set(self.runs)
        for text in others:
            if not left:
                break
            left.difference_update(self.in_text(text))
        return TellTales(self.salt, frozenset(left))

    def fewer(self) -> "TellTales":
        """No more than are kept."""
        return TellTales(self.salt, frozenset(sorted(self.runs)[:TELLTALES]))


def telltales(texts: Iterable[str], salt: bytes) -> TellTales:
    """A few of each text: chance has it which, the same each time."""
    found: set[_Run] = set()
    for text in texts:
        plain = _plain(text).strip()
        words = [] if "\n" in plain else _words(plain)
        short = _SHORTEST <= len(words) < TELLTALE_WORDS and len(plain) >= DENIED_TEXT_CHARS
        lengths = (0, len(words) if short else TELLTALE_WORDS)
        found.update(sorted(set(_runs(text, lengths, salt)))[:TELLTALES_OF_TEXT])
    return TellTales(salt, frozenset(found))


def _runs(text: str, lengths: Iterable[int], salt: bytes) -> Iterator[_Run]:
    for line in _plain(text).splitlines():  # what stands below each other may have met by chance
        words = _words(line)
        for length in lengths:
            if length == 0:
                for code in _CODE.findall(line):
                    if len(code) >= _CODE_CHARS and not _OURS.fullmatch(code):
                        yield _hash(code, salt), 0
                continue
            for at in range(len(words) - length + 1):
                run = words[at : at + length]
                if sum(map(str.isalpha, run)) >= _SHORTEST:  # dates and numbers are anybody's
                    yield _hash(" ".join(run), salt), length


def _plain(text: str) -> str:
    """Without case and width, and as it was before it was written as JSON."""
    if "\\" in text:
        text = _ESCAPED.sub(lambda m: chr(int(m[1], 16)) if m[1] else "\n", text)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return text.casefold()


def _words(plain: str) -> list[str]:
    return _WORD.findall(plain)


def _hash(run: str, salt: bytes) -> str:
    data = run.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, key=salt[:64], digest_size=8).hexdigest()
