"""The text recipe: what of a message or passage is indexed and embedded, and how it is cut. Pure.

A change here is a new TEXT_RECIPE in settings: what was written before must be rebuilt.
"""

import hashlib
import re
import threading
from collections.abc import Iterator
from datetime import datetime, tzinfo
from itertools import pairwise

from pagemind.runtime.settings import CHUNK_TOKENS
from pagemind.runtime.tiers.word_pieces import estimate, fits

# Scripts that do not put spaces between words (Hangul does, but its words are found by parts):
# Thai, Lao, Tibetan, Burmese, Khmer, kana, Han, Hangul.
SPACELESS = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3130-\u318f\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]+"
)
_TOKEN = re.compile(r"[\w@#/+.:\\?=&%~-]*\w")
_MEASURE = re.compile(r"\d+(?:st|nd|rd|th|am|pm|[kmg]?b|k?m|k?g|min|h|s|k)", re.IGNORECASE)
_FILE = re.compile(r"[\w-]{2,}(?:\.[\w-]+)*\.[A-Za-z]\w{1,4}")
_GRAMS_CHARS = 4000  # of one row: a page of hexadecimal must not outweigh everything else
_BEFORE_CHARS = 300  # of each line before: context must not drown the line itself

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def spoken_date(at: datetime) -> str:
    """`Friday 8 May 2026`: as people say it, in English whatever the locale."""
    return f"{_DAYS[at.weekday()]} {at.day} {_MONTHS[at.month - 1]} {at.year}"


def line_text(said_at: datetime | None, zone: tzinfo, speaker: str, text: str) -> str:
    """The first lexical field: date, speaker and text."""
    date = ""
    if said_at is not None:
        local = said_at.astimezone(zone)
        date = f"{local:%Y-%m-%d} {spoken_date(local)} "
    return f"{date}{spoken(speaker, text)}"


def spoken(speaker: str, text: str) -> str:
    """`Sam: text`, or the text alone."""
    return f"{speaker}: {text}" if speaker else text


def before_text(speaker: str, text: str) -> str:
    """A line that only stands before another one."""
    return spoken(speaker, text[:_BEFORE_CHARS])


def identifiers(text: str) -> list[str]:
    """Words that only match as they stand: ABC-1234, notes.txt, ada@example.org, snake_case."""
    # Most words are no more than letters; they are passed over without a call.
    words = [word for word in _TOKEN.findall(text) if not word.isalpha()]
    return list(dict.fromkeys(word for word in words if _is_identifier(word)))


def _is_identifier(word: str) -> bool:
    if len(word) < 4 or word.isalpha() or SPACELESS.search(word):
        return False
    if "://" in word:
        return True
    digits = any(c.isdigit() for c in word)
    letters = any(c.isalpha() for c in word)
    if digits and letters:
        return _MEASURE.fullmatch(word) is None
    if digits:  # a number with separators: a version, a telephone number, a date
        return not word.strip("+#/.-").isdigit() and ":" not in word
    inner = word.strip("@#/+.:\\?=&%~-_")
    return "_" in inner or "@" in inner or _FILE.fullmatch(word) is not None or "/" in word[:1]


def grams_text(text: str) -> str:
    """The third lexical field: what words cannot find. Empty for most English lines."""
    pieces = [*SPACELESS.findall(text), *identifiers(text)]
    return " ".join(pieces)[:_GRAMS_CHARS]


def chunks(text: str, limit: int = CHUNK_TOKENS) -> list[str]:
    """A text in order, cut at paragraphs, lines, sentences or words into pieces ≤ `limit`.

    Nothing but white space at the cuts is lost. A text that fits, or an empty one, is one chunk.
    """
    if fits(text, limit):
        return [text]
    # A long text is cut again for every hit in it: where it is cut is remembered, not the text.
    key = hashlib.blake2b(text.encode("utf-8", "surrogatepass")).digest(), limit
    with _cut_lock:
        ends = _cut_before.get(key)
    if ends is None:
        ends = tuple(_ends(text, limit))
        with _cut_lock:
            _cut_before[key] = ends
            if len(_cut_before) > _TEXTS:
                del _cut_before[next(iter(_cut_before))]
    pieces = (text[start:end].strip() for start, end in pairwise((0, *ends)))
    return [piece for piece in pieces if piece] or [text[:1]]


_TEXTS = 256  # long ones whose cuts are remembered
_cut_before: dict[tuple[bytes, int], tuple[int, ...]] = {}
_cut_lock = threading.Lock()


def _ends(text: str, limit: int) -> Iterator[int]:
    """Where each chunk ends."""
    end = size = 0
    for piece in _pieces(text, limit, 0):
        cost = estimate(piece)
        if size and size + cost > limit:
            yield end
            size = 0
        end += len(piece)
        size += cost
    yield end


_CUTS = (
    re.compile(r"(?<=\n\n)(?=[^\n])"),
    re.compile(r"(?<=\n)"),
    re.compile(r"(?<=[.!?…]\s)|(?<=[。！？])"),
    re.compile(r"(?<=\s)(?=\S)"),
)


def _pieces(text: str, limit: int, level: int) -> Iterator[str]:
    """Pieces that join to `text`, each within the limit, cut as gently as possible."""
    if fits(text, limit):
        yield text
    elif level == len(_CUTS):
        # Enough where a character is a token; a syllable of Hangul is three.
        step = max(1, limit - 1)
        for start in range(0, len(text), step):
            piece = text[start : start + step]
            if len(piece) == 1 or fits(piece, limit):
                yield piece
            else:
                yield from _pieces(piece[: len(piece) // 2], limit, level)
                yield from _pieces(piece[len(piece) // 2 :], limit, level)
    else:
        for piece in _CUTS[level].split(text):
            if piece:
                yield from _pieces(piece, limit, level + 1)
