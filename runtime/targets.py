"""Targets in a text: what a call could be led to by it. E-mail addresses, URLs and hosts, paths,
amounts, numbers of accounts and phones, each in the spellings by which it is known again. Pure.

plain() is the text as it is meant, once its encodings are undone; lax() is that with look-alike
letters and written-out signs (at, dot) made the same, squeezed() only the letters and digits.
"""

import html
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote

_ENCODED = 3  # times that a text may be percent-encoded over again
_LONG_NUMBER = 6  # digits of an account or a phone, of which a part is enough
_LONGEST_NUMBER = 34  # an IBAN has no more
_LEAST = 5  # letters and digits: what is shorter is only looked for as a word
# Each begins where no letter of its own stands before it: no text makes them slow.
_EMAIL = re.compile(r"(?<![\w.+'-])[\w.+'-]+@[\w-]+(?:\.[\w-]+)*")
_URL = re.compile(
    r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]*:(?://)?[^\s<>\"'`)\]}|]*[^\s<>\"'`)\]}|.,;:!?]"
)
_HOST = re.compile(
    r"(?<![\w.@-])(?:(?:[\w-]+\.)+[^\W\d_][\w-]*|\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?(?![\w-])"
)
_PATH = re.compile(r"(?<![\w.@%+~-])(?:[a-z]:)?[\\/]?[\w.@%+~-]*(?:[\\/][\w.@%+~-]+)+[\\/]?")
_CODE = re.compile(r"(?<!\w)(?=\w*\d)(?=\w*[^\W\d_])\w{6,}(?!\w)")
_GROUPED = re.compile(r"(?<!\w)[a-z]{2}\d{2}(?:[ -]?[a-z0-9]{2,4}){3,8}(?!\w)")  # an IBAN
_NUMBER = re.compile(r"\d(?:[ .,'’_()/\u202f-]{0,2}\d)*")
_ATOMS = re.compile(
    r"\d{1,3}(?:[.,'’ \u202f]\d{3})+(?:[.,]\d{1,2})?(?!\d)|\d+[.,]\d{1,2}(?!\d)|\d+"
)
_TIMES = re.compile(r"\d{4}-\d\d-\d\d(?:t[\d:.+z-]*)?|\d{1,2}:\d\d(?::\d\d)?|\d\d?\.\d\d?\.\d{4}")
_AT = re.compile(r"\s{0,2}[\[({<]\s?(?:at|ät)\s?[\])}>]\s{0,2}|\sat\s")
_DOT = re.compile(r"\s{0,2}[\[({<]\s?(?:dot|punkt|point)\s?[\])}>]\s{0,2}|\sdot\s")
_TAGS = {0xE0000 + code: code for code in range(0x20, 0x7F)}
_PUNYCODE = re.compile(r"xn--([a-z0-9-]+)")
# Cyrillic, Greek and other letters that are drawn like Latin ones; those with marks lose these.
_ALIKE = str.maketrans(
    "\u0430\u0432\u0433\u0501\u0435\u04bb\u0456\u0458\u043a\u04cf\u043c\u043d"
    "\u043e\u043f\u0440\u051b\u0441\u0455\u0442\u0443\u0475\u0461\u0445\u051d"
    "\u028f\u03b1\u03b2\u03b3\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5"
    "\u03c9\u03c7\u03c3\u03f2\u0261\u0269\u0251\u0237\u0131\u0142\u00f8\u0111",
    "abrdehijklmhonpqcstyvwxwyabyeikvoptuwxocgiajilod",
)


@dataclass(frozen=True, slots=True)
class Target:
    """`pieces`: the whole first, then what of it leads somewhere by itself: a host, a folder."""

    kind: str  # email, url, host, path, code, number
    pieces: tuple[str, ...]

    @property
    def text(self) -> str:
        return self.pieces[0]


def plain(text: str) -> str:
    """Entities, percent-encoding, punycode, compatibility forms and capitals undone; without what
    nobody sees, but for tag characters: a model reads letters in them."""
    text = html.unescape(text.translate(_TAGS))
    for _ in range(_ENCODED):
        if (decoded := unquote(text)) == text:
            break
        text = decoded
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        hidden = ("Cf", "Co", "Cs")
        text = "".join(each for each in text if unicodedata.category(each) not in hidden)
    return _PUNYCODE.sub(_label, text.casefold())


def _label(match: re.Match[str]) -> str:
    try:
        return match[1].encode("ascii").decode("punycode")
    except UnicodeError:
        return match[0]


def lax(text: str) -> str:
    """So that what looks or sounds the same is the same."""
    text = _DOT.sub(".", _AT.sub("@", plain(text)))
    if text.isascii():
        return text
    bare = unicodedata.normalize("NFKD", text.translate(_ALIKE))
    return "".join(each for each in bare if unicodedata.category(each) != "Mn")


def squeezed(text: str) -> str:
    """Only letters and digits."""
    return "".join(filter(str.isalnum, text))


def stands(piece: str, text: str) -> bool:
    """Whether it stands in a text by itself, and not as a part of something longer."""
    if piece not in text:  # at once; the pattern looks at every place
        return False
    return re.search(rf"(?<![\w.@+-]){re.escape(piece)}(?![\w@+-]|\.\w)", text) is not None


class Written:
    """A text in which pieces are looked for, in whatever way they are written there."""

    def __init__(self, text: str) -> None:
        self.plain = plain(text)
        self._lax = lax(text)
        self._squeezed = squeezed(self._lax)

    @cached_property
    def numbers(self) -> frozenset[str]:
        return numbers(self.plain)

    @cached_property
    def _long(self) -> str:
        return " ".join(each for each in self.numbers if len(each) >= _LONG_NUMBER)

    def has(self, kind: str, piece: str) -> bool:
        """Whether it can be read out of the text."""
        if kind == "number":
            return self._has_number(piece)
        short = squeezed(lax(piece))
        if len(short) >= _LEAST and short in self._squeezed:
            return True
        return bool(short) and stands(lax(piece), self._lax)

    def _has_number(self, number: str) -> bool:
        """Also as a part of a longer one, or with its country before it, where it is long."""
        if number in self.numbers:
            return True
        if len(number) < _LONG_NUMBER:
            return False
        return number in self._long or any(each in self.numbers for each in _parts(number))


def _parts(number: str) -> Iterator[str]:
    """What of a long number is long itself, and no longer than a number that somebody has."""
    for size in range(_LONG_NUMBER, min(len(number), _LONGEST_NUMBER + 1)):
        for at in range(len(number) - size + 1):
            yield number[at : at + size]


def targets(text: str) -> Iterator[Target]:
    """All in a text that is plain."""
    for match in _EMAIL.finditer(text):
        local, _, host = match[0].strip(".").partition("@")
        yield Target("email", _each(f"{local}@{host}", host, *_parent(host), local))
    for match in _URL.finditer(text):
        yield Target("url", _each(match[0].rstrip("/"), *_of_url(match[0])))
    for match in _HOST.finditer(text):
        host = match[0].partition(":")[0]
        yield Target("host", _each(host, *_parent(host)))
    for match in _PATH.finditer(text):
        if path := _path(match[0]):
            yield path
    for pattern in (_CODE, _GROUPED):
        for match in pattern.finditer(text):
            yield Target("code", (match[0],))
    for number in sorted(numbers(text), key=lambda each: (-len(each), each)):
        yield Target("number", (number,))


def numbers(text: str) -> frozenset[str]:
    """Those in a text, without separators of thousands and zeros at the end: 1,234.50 is 1234.5.
    Digits that are set apart are a number each and, for a phone or an account, one together."""
    text = _TIMES.sub(" ", text)
    found: set[str] = set()
    for run in _NUMBER.findall(text):
        found.update(map(_value, (run, *_ATOMS.findall(run))))
    return frozenset(found)


def _value(written: str) -> str:
    whole, mark, decimals = "", "", ""
    if match := re.fullmatch(r"(.*\d)[.,](\d{1,2})", written):
        whole, decimals = match[1], match[2].rstrip("0")
        mark = "." if decimals else ""
    digits = re.sub(r"\D", "", whole or written)
    return f"{digits}{mark}{decimals}"


def _each(whole: str, *pieces: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys([whole, *(each for each in pieces if len(squeezed(each)) > 2)]))


def _of_url(url: str) -> Iterator[str]:
    _, _, rest = url.partition(":")
    rest = rest.lstrip("/")
    if not rest.isdigit():
        authority, _, path = rest.partition("/")
        host = authority.rpartition("@")[2].partition(":")[0].partition("?")[0]
        yield host
        yield from _parent(host)
        if len(squeezed(path)) >= _LEAST:
            yield path.rstrip("/")


def _parent(host: str) -> Iterator[str]:
    """The domain that a host belongs to: whoever has that has the host."""
    labels = host.split(".")
    if len(labels) > 2 and not labels[-1].isdigit():
        yield ".".join(labels[-3:] if len(labels[-2]) <= 3 and len(labels) > 3 else labels[-2:])


def _path(written: str) -> Target | None:
    """None for words with a stroke between them, as in and/or."""
    text = written.strip().replace("\\", "/")
    segments = [each for each in text.split("/") if each not in ("", ".", "..", "~")]
    rooted = text[:1] in ("/", "~", ".") or text[1:2] == ":"
    if not segments or not (rooted or len(segments) > 2 or re.search(r"[\d._]", text)):
        return None
    if all(each.isdigit() for each in segments):
        return None  # a date, or a fraction
    name = segments[-1] if re.search(r"[\d._]", segments[-1]) else ""
    folder = "/".join(segments[:-1]) if len(segments) > 2 else ""
    return Target("path", _each(text.rstrip("/"), name, folder))
