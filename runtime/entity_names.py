"""Names of whom and what facts are about, made plain: one key however a name was written. Pure.

A key is only ever compared: whatever stands in a name, quotes and semicolons too, is a name.
"""

import unicodedata
from typing import Final

# Said of oneself, or of the person that an agent talks with where nobody is named.
FIRST_PERSON: Final = frozenset(
    ("i", "me", "my", "mine", "myself", "im", "user", "the user", "this user", "speaker")
)
# They point at what was said before, and name nobody.
PRONOUNS: Final = frozenset(
    """he him his himself she her hers herself it its itself they them their theirs themselves
    we us our ours ourselves you your yours yourself this that these those who whom someone somebody
    anyone everyone everybody nobody something anything nothing one here there""".split()
)
USER: Final = "user"  # the entity of a speaker without a name
_ARTICLES = ("the", "a", "an")
_NEUTRAL = frozenset("dr doctor prof professor".split())
# "Mr Smith" and "Mrs Smith" are two: these go only where a first name stays.
_TITLES = _NEUTRAL | frozenset("mr mrs ms miss mx sir lady lord madam mister herr frau".split())
_APOSTROPHES = "'’ʼ‘`´"
_KEPT = "+#"  # C, C++ and C# are three


def plain(name: str) -> str:
    """The key of a name: compatibility forms, case, punctuation, articles, titles and a possessive
    at its end make no difference. Never empty for a text that is not blank."""
    text = unicodedata.normalize("NFKC", name).casefold().strip()
    for mark in _APOSTROPHES:
        if text.endswith(f"{mark}s"):
            text = text[:-2]
        elif text.endswith(f"s{mark}"):
            text = text[:-1]
    words = _words(text)
    if len(words) > 1 and words[0] in _ARTICLES:
        words = words[1:]
    while len(words) > 1 and (words[0] in _NEUTRAL or (words[0] in _TITLES and len(words) > 2)):
        words = words[1:]
    return " ".join(words) or " ".join(text.split())


def _words(text: str) -> list[str]:
    """Letters, marks, digits and symbols; an apostrophe within a word joins it."""
    made = []
    for char in text:
        if char in _APOSTROPHES:
            continue
        kind = unicodedata.category(char)
        if kind == "Cf":
            continue  # what cannot be seen does not tell two names apart
        made.append(char if kind[0] in "LMNS" or char in _KEPT else " ")
    return "".join(made).split()


def is_first_person(name: str) -> bool:
    """Whether a name means whoever says it."""
    return _spoken(name) in FIRST_PERSON


def is_pronoun(name: str) -> bool:
    """Whether a name names nobody."""
    return _spoken(name) in PRONOUNS


def _spoken(name: str) -> str:
    return " ".join(_words(unicodedata.normalize("NFKC", name).casefold()))


def grams(key: str) -> frozenset[str]:
    """Its runs of three characters, the ends marked."""
    marked = f" {key} "
    return frozenset(marked[at : at + 3] for at in range(len(marked) - 2))


def likeness(one: str, other: str) -> float:
    """Of two keys: the share of runs of three characters that they have in common, 0 where they
    have other digits: room 12 is not room 13, however long the name of the house is."""
    if digits(one) != digits(other):
        return 0.0
    first, second = grams(one), grams(other)
    return len(first & second) / len(first | second) if first | second else 0.0


def digits(key: str) -> tuple[str, ...]:
    """The words of a key that have digits, in order."""
    return tuple(word for word in key.split() if any(char.isdigit() for char in word))
