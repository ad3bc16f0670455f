"""The gist of a page or directory, made from its own words without a model. Pure.

It names the page's first request and its telling terms (names, numbers, dates) verbatim, so that
a model that only sees the page table knows what is worth reading.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from pagemind.runtime.message import Message
from pagemind.runtime.page import Page
from pagemind.runtime.settings import (
    DIRECTORY_KEYWORDS,
    GIST_KEYWORDS,
    GIST_TOKENS,
)
from pagemind.runtime.shorten import shorten
from pagemind.runtime.step_trust import untrusted

_WORD = re.compile(
    r"https?://[^\s<>\"”)\]]+|[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+"  # addresses are one word
    r"|[^\W\d_][\w'’-]+|\d[\w.,:/-]*\w|\d",
    re.UNICODE,
)
_TELLING = re.compile(r"[A-Z][\w'’-]+|[\w.,+-]*\d[\w.,:/-]*|\S+@\S+|https?://\S+")
_IDENTIFIER = re.compile(r"(?=.*\d)(?=.*[^\W\d_])|@|://")  # letters and digits, an address
_POSSESSIVE = re.compile(r"['’]s$")
_CALENDAR = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june"
    " july august september october november december".split()
)
_USUAL = 0.5  # of the children that share a word: it leads to none of them
_LONG_NUMBER = 4  # digits; a shorter number is a count
_LONGEST = 40  # characters of a word that names something; longer ones are data
_COMMON = frozenset(
    "a about after all also am an and any are as at be been but by can could did do does doing "
    "for from get got had has have he her here him his how i if in into is it its just know let "
    "like me more my no not now of ok okay on one or our out please she should so some than thank "
    "thanks that the their them then there they this to too up us very want was we well were what "
    "when where which who why will with would yes you your hello hi hey sure yeah oh".split()
)


def keywords(
    texts: Sequence[str],
    limit: int = GIST_KEYWORDS,
    rarity: Callable[[str], float] = lambda word: 1.0,
) -> tuple[str, ...]:
    """The telling words of a page: identifiers first, then names, numbers, dates and content words
    by how seldom they are said elsewhere (`rarity`, 0 to 1) and how often here.

    What every page speaks of leads to none. Days and months tell little, as do small numbers.
    """
    names: Counter[str] = Counter()
    plain: Counter[str] = Counter()
    for text in texts:
        telling, others = _words(text)
        names.update(telling)
        plain.update(others)
    worth: dict[str, float] = {}
    for words in (names, plain):
        for word, times in words.items():
            if word.lower() not in _CALENDAR and word not in worth:
                kind = _kind(word) if words is names else 1.0
                worth[word] = kind * rarity(word) * math.sqrt(times)
    best = sorted((word for word in worth if worth[word] > 0), key=lambda word: -worth[word])
    exact = [word for word in best if _IDENTIFIER.search(word)][: limit // 2]
    seen: set[str] = set()
    chosen: list[str] = []
    for word in [*exact, *best]:
        if word.lower() not in seen:
            seen.add(word.lower())
            chosen.append(word)
    return tuple(chosen[:limit])


def _kind(word: str) -> float:
    """What a name or number counts, beside a word."""
    if word.isdigit() and len(word) < _LONG_NUMBER:
        return 0.5
    return 1.45 if word[0].isdigit() else 1.5


def telling(text: str) -> list[str]:
    """Names, numbers, dates and identifiers of a text, verbatim, in order."""
    return list(dict.fromkeys(_words(text)[0]))


def _words(text: str) -> tuple[list[str], list[str]]:
    """The telling words of a text, and the other content words in lower case."""
    names: list[str] = []
    plain: list[str] = []
    sentence_start = True
    for match in _WORD.finditer(text):
        word = _POSSESSIVE.sub("", match[0].strip("'’-.,:"))
        if not word or len(word) > _LONGEST or word.lower() in _COMMON:
            sentence_start = False
            continue
        # A capital at the start of a sentence says nothing about the word.
        if _TELLING.fullmatch(word) and not (sentence_start and word[1:].islower()):
            names.append(word)
        elif len(word) > 3:
            plain.append(word.lower())
        after = text[match.end() : match.end() + 1]
        sentence_start = after in ".!?\n"
    return names, plain


def _in_turn(lists: Sequence[Sequence[str]]) -> Iterator[str]:
    """The first of each list, then the second of each, and so on; nothing twice."""
    seen: set[str] = set()
    for at in range(max(map(len, lists), default=0)):
        for each in lists:
            if at < len(each) and each[at] not in seen:
                seen.add(each[at])
                yield each[at]


def directory_gist(
    children: Sequence[Page], count: Callable[[str], int]
) -> tuple[str, tuple[str, ...]]:
    """The line and the keywords of a directory, made from those of its children.

    The words of each child in turn: whatever it was about, something of it stands in the line.
    What most of them share tells none of them apart.
    """
    times = Counter(word for child in children for word in dict.fromkeys(child.keywords))
    usual = {word for word, n in times.items() if n > len(children) * _USUAL}
    own = [[word for word in child.keywords if word not in usual] for child in children]
    words = [*_in_turn(own), *usual][:DIRECTORY_KEYWORDS]
    # A word too many would be cut in the middle: verbatim or not at all.
    shown: list[str] = []
    for word in words:
        if count(", ".join([*shown, word])) <= GIST_TOKENS:
            shown.append(word)
    return ", ".join(shown) or "results and observations", tuple(words)


def gist(messages: Sequence[Message], words: Sequence[str], count: Callable[[str], int]) -> str:
    """One line about a page in its own words: its first request, then its telling terms.

    Sentences of strangers (observations, results of the world) are not quoted: the line stands in
    the head of the prompt and in the summary.
    """
    told = [m for m in messages if m.said.strip() and not untrusted(m.provenance.trust)]
    opening = next((m for m in told if m.role == "user"), told[0] if told else None)
    # More than this is never shown, and an opening may be very long.
    first = " ".join(opening.said[:2000].split()) if opening else "results and observations"
    return with_terms(f"“{shorten(first, GIST_TOKENS // 2, count)}”", words, count)


def with_terms(line: str, words: Sequence[str], count: Callable[[str], int]) -> str:
    """The line and those of the words that it lacks, as far as they fit: verbatim or not at all."""
    line = shorten(line, GIST_TOKENS, count)
    mark = " · "
    for word in words:
        if not holds(line, word) and count(line + mark + word) <= GIST_TOKENS:
            line, mark = line + mark + word, ", "
    return line


def holds(text: str, word: str) -> bool:
    """Whether a word stands in a text as a word of its own. Without a pattern: each word would be
    one of its own, and making it takes longer than looking."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not _in_word(text[at - 1 : at]) and not _in_word(text[end : end + 1]):
            return True
        at = text.find(word, at + 1)
    return False


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"
