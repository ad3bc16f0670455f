"""Prefetch: memories that the runtime places before an event, unasked, within a token budget.

They stand inside the event's own message, fenced, for the steps of that turn; they are never
stored as history and never shown as the person's words. Nothing is placed for an event without a
content word ("thanks!"), and nothing that does not bear on the event or can be read already.
"""

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from pagemind.runtime.errors import PagemindError
from pagemind.runtime.main_context import Prefetched
from pagemind.runtime.models.plain_talk import content
from pagemind.runtime.services import Hit, SearchFilters, SearchResult, validity_of
from pagemind.runtime.settings import (
    PREFETCH_BESIDE,
    PREFETCH_LINE_MIN_TOKENS,
    PREFETCH_LINE_SHARE,
    PREFETCH_LOOK,
    PREFETCH_REST_SECONDS,
    PREFETCH_SAME,
    PREFETCH_SECONDS,
    PREFETCH_SHARED_WORDS,
    PREFETCH_TELLS,
    PREFETCH_UNSURE,
    PREFETCH_WORDS,
    SEARCH_QUERY_CHARS,
)
from pagemind.runtime.shorten import shorten
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.template import load
from pagemind.runtime.tiers.recipe import identifiers
from pagemind.runtime.untrusted import OPEN, Fences

_log = logging.getLogger("pagemind.prefetch")
_SOURCE_CHARS = 60  # of what a memory came from
EXACT = 2.0  # how much a memory bears that has an identifier of the event; meaning alone has less


@dataclass(frozen=True, slots=True)
class Lookup:
    """One tier to look in: at most `limit` of its hits are placed; `empty` saves a search, `spare`
    says that it is made only where the others found nothing."""

    search: Callable[[str, SearchFilters, int], SearchResult]
    limit: int
    empty: Callable[[], bool]
    spare: bool = False


@dataclass(frozen=True, slots=True)
class _Memory:
    """A hit, how much it bears on the event, and what it is worth among those of its tier."""

    hit: Hit
    bears: float
    worth: float
    share: float = 0.0


class Prefetcher:
    """`tokens` is the budget of the fenced text, 0 for none. `near` is the cosine from which on a
    memory answers a question, None where only words tell. `telling` is how much a hit tells beside
    what is asked (telling.py). `in_view` is what can be read already; `monotonic` gives seconds.
    """

    def __init__(
        self,
        lookups: Sequence[Lookup],
        *,
        tokens: Callable[[], int],
        near: Callable[[], float | None],
        telling: Callable[[Hit, str], float],
        in_view: Callable[[], str],
        count: Callable[[str], int],
        zone: tzinfo,
        monotonic: Callable[[], float],
        fences: Fences = OPEN,
    ) -> None:
        self._fences = fences
        self._lookups = lookups
        self._tokens = tokens
        self._near = near
        self._telling = telling
        self._in_view = in_view
        self._count = count
        self._zone = zone
        self._monotonic = monotonic
        self._rests_until = -math.inf

    def fetch(self, seq: int, text: str) -> Prefetched | None:
        """The memories that bear on the event `seq`; None for none."""
        budget = self._tokens()
        asked = content(text[:SEARCH_QUERY_CHARS])
        lookups = [each for each in self._lookups if each.limit and not each.empty()]
        started = self._monotonic()
        if budget <= 0 or not asked or not lookups or started < self._rests_until:
            return None
        try:
            # The event itself would be its own best memory, and the measure of all others.
            others = SearchFilters(without=(f"m{seq}",))
            found = self._found(text, asked, lookups, others, started + PREFETCH_SECONDS)
        except PagemindError as error:
            # What was not asked for may not stop a turn.
            _log.warning("prefetch: %s", error)
            return None
        if self._monotonic() > started + PREFETCH_SECONDS:
            self._rests_until = self._monotonic() + PREFETCH_REST_SECONDS
        frame = load("prefetch")
        left = budget - self._count(frame.fill(memories=""))
        most = max(PREFETCH_LINE_MIN_TOKENS, int(left * PREFETCH_LINE_SHARE))
        lines: list[str] = []
        placed: list[Hit] = []
        for hit in found:
            line = self._line(hit, min(left - 1, most))
            if line and (cost := self._count(line) + 1) <= left:
                lines.append(line)
                placed.append(hit)
                left -= cost
        if not placed:
            return None
        return Prefetched(
            seq,
            frame.fill(memories="\n".join(lines)).strip(),
            ids=tuple(hit.id for hit in placed),
            trust=min(hit.trust for hit in placed),
        )

    def _found(
        self,
        text: str,
        asked: frozenset[str],
        lookups: Sequence[Lookup],
        others: SearchFilters,
        ends_at: float,
    ) -> list[Hit]:
        """Hits of all tiers that bear on the event, the best first, each once."""
        near = self._near()
        exact = [word.casefold() for word in identifiers(text[:SEARCH_QUERY_CHARS])]
        ranked: list[_Memory] = []
        for lookup in sorted(lookups, key=lambda each: each.spare):
            if self._monotonic() > ends_at or (lookup.spare and ranked):
                break
            hits = lookup.search(text, others, PREFETCH_LOOK).hits
            made = [self._memory(hit, text, asked, exact, near) for hit in hits]
            ranked += _best([each for each in made if each is not None], lookup.limit)
        in_view = _plain(self._in_view()) if ranked else ""
        chosen: list[Hit] = []
        most = max((each.bears for each in ranked), default=0.0)
        for each in sorted(ranked, key=lambda each: -each.share):
            hit = each.hit
            if hit.tier != "recall" and each.bears < most * PREFETCH_BESIDE:
                continue
            if _plain(hit.text) not in in_view and not any(_same(hit, one) for one in chosen):
                chosen.append(hit)
        return chosen

    def _memory(
        self,
        hit: Hit,
        text: str,
        asked: frozenset[str],
        exact: Sequence[str],
        near: float | None,
    ) -> _Memory | None:
        """What a hit is worth to the event; None for nothing, or where it can be read already. Of
        the lines of a talk most bear on something: they are worth what they tell."""
        if hit.in_context:
            return None
        bears = bearing(hit, asked, exact, near)
        if hit.tier != "recall":
            return _Memory(hit, bears, bears) if bears else None
        if not bears and not (_adds(hit, asked) and _may_be_near(hit, near)):
            return None
        worth = hit.score + self._telling(hit, text)
        return _Memory(hit, bears, worth) if worth >= PREFETCH_TELLS or bears >= EXACT else None

    def _line(self, hit: Hit, tokens: int) -> str:
        """A hit within `tokens`; "" where too little of it would be left. What strangers wrote
        stands in a fence of its own, with where it came from."""
        when = hit.said_at.astimezone(self._zone).strftime(" %Y-%m-%d") if hit.said_at else ""
        who = f" {_one_line(hit.speaker or hit.role)}:" if hit.tier == "recall" else ""
        true = validity_of(hit, self._zone)
        start, end = f"{hit.id}{when}{who} ", f" {true}" if true else ""
        if self._fences.key and untrusted(hit.trust):
            return self._data(hit, f"{hit.id}{when}{true and f' {true}'}", tokens)
        room = tokens - self._count(start + end)
        text = _unfenced(_one_line(hit.text))
        if room < min(PREFETCH_LINE_MIN_TOKENS, self._count(text)):
            return ""
        return f"{start}{shorten(text, room, self._count)}{end}"

    def _data(self, hit: Hit, start: str, tokens: int) -> str:
        """What strangers wrote, and where it came from: the function, the file, the sender."""
        source = " ".join(dict.fromkeys((hit.origin, hit.source or hit.speaker)))[:_SOURCE_CHARS]
        text, room = _one_line(hit.text), tokens - self._count(f"{start}\n")
        least = self._fences.around(hit.id, "…", source)
        if room < self._count(least) + min(PREFETCH_LINE_MIN_TOKENS, self._count(text)):
            return ""
        return f"{start}\n{self._fences.start(hit.id, text, room, self._count, source)}"


def bearing(hit: Hit, asked: frozenset[str], exact: Sequence[str], near: float | None) -> float:
    """How much a hit bears on an event with these content words and identifiers; 0 for one that
    does not, that only repeats it, or that is a question itself."""
    said = content(hit.text)
    if not _adds(hit, asked):
        return 0.0
    folded = hit.text.casefold()
    if any(word in folded for word in exact):
        return EXACT
    shared = len(asked & said)
    words = shared / len(asked)
    if shared >= PREFETCH_SHARED_WORDS:  # a short memory within a long message
        words = max(words, shared / len(said))
    if near is None or hit.cosine is None:  # one word of two alone proves nothing
        return words / 2 if words >= PREFETCH_WORDS else 0.0
    meaning = hit.cosine / near
    if meaning >= 1 or (words >= PREFETCH_WORDS and meaning >= PREFETCH_UNSURE):
        return meaning / 2 + words / 2
    return 0.0


def _adds(hit: Hit, asked: frozenset[str]) -> bool:
    """Whether it says anything that was not asked: a question of the talk answers none."""
    if hit.tier == "recall" and hit.text.rstrip().endswith(("?", "？")):
        return False
    return bool(content(hit.text) - asked)


def _may_be_near(hit: Hit, near: float | None) -> bool:
    return near is not None and hit.cosine is not None and hit.cosine >= near * PREFETCH_UNSURE


def _best(found: Sequence[_Memory], limit: int) -> list[_Memory]:
    """The best of one tier, each with its share of the very best: scores of tiers are not alike."""
    best = max((each.worth for each in found), default=0.0)
    shares = [replace(each, share=each.worth / best) for each in found]
    kept = [each for each in shares if each.share >= PREFETCH_BESIDE]
    return sorted(kept, key=lambda each: -each.share)[:limit]


def _same(one: Hit, other: Hit) -> bool:
    """Whether two memories say nearly the same, or one is the gist of the other's page."""
    if "pages" in (one.tier, other.tier):
        return one.page is not None and one.page == other.page
    mine, its = content(one.text), content(other.text)
    return len(mine & its) >= PREFETCH_SAME * len(mine | its)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _unfenced(text: str) -> str:
    """A memory must not be able to close a fence, or to open one."""
    for tag in ("memories", "data"):
        text = text.replace(f"</{tag}", f"<\\/{tag}").replace(f"<{tag}", f"<\\{tag}")
    return text
