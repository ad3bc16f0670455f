"""Telling: how much a line tells that a question does not, beside how well it matches.

The question asked before, and whoever repeats or acknowledges what was said, match it best and
tell nothing. What states something speaks of whom the question names, in words that are seldom
said.
"""

import re

from pagemind.runtime.models.plain_talk import content
from pagemind.runtime.services import Hit
from pagemind.runtime.settings import TELLING_NAMED, TELLING_RARE
from pagemind.runtime.state.state import State
from pagemind.runtime.usual_words import UsualWords

_WORD = re.compile(r"[^\W_][\w'’-]*")
_OWNERS = re.compile(r"([^\W_][\w-]*['’]s) ([^\W_][\w-]*['’]s)(?!\w)")  # Nour's cousin's


class Telling:
    """Of lines in one agent's life."""

    def __init__(self, state: State) -> None:
        self._usual = UsualWords(state)

    def of(self, hit: Hit, query: str) -> float:
        """What is added to the score of a hit; 0 for one that says what was asked and no more."""
        asked, said = content(query), content(hit.text)
        named = _named(query)
        held = named & (content(hit.speaker) | _spoken_of(hit.text, asked))
        share = len(held) / len(named) if named else 0.0
        return TELLING_RARE * self._usual.rarity(said - asked) + TELLING_NAMED * share


def _named(query: str) -> frozenset[str]:
    """Whom or what a query names: its words with a capital that carry meaning."""
    return content(" ".join(word for word in _WORD.findall(query) if word[0].isupper()))


def _spoken_of(text: str, asked: frozenset[str]) -> frozenset[str]:
    """What a line is about: `Nour's cousin's dog` is about Nour only if cousins are asked for."""
    return content(
        _OWNERS.sub(lambda found: found[0] if content(found[2]) & asked else found[2], text)
    )
