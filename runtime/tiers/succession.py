"""Succession: hits in the order of what took whose place, where likeness ranks by chance. Pure.

What was and what is share nearly all their words. Of passages that hold one place (a subject and
its relation, or one that superseded another) those that are asked for come first; a message whose
fact is over comes right after the one that told of the new one. Scores stay with the places.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from pagemind.runtime.fact import began, is_current, was_true
from pagemind.runtime.passage import Passage
from pagemind.runtime.services import Hit
from pagemind.runtime.settings import SUCCESSION_LONGEST
from pagemind.runtime.tiers.hydrate import hit_of
from pagemind.runtime.time_asked import TimeAsked


def in_time(
    hits: Sequence[Hit],
    known: Mapping[str, Passage],
    asked: TimeAsked,
    now: datetime,
    earlier: Mapping[str, Sequence[Passage]],
) -> list[Hit]:
    """For a question about the past: in each place what was before the present one, the latest
    first; or what was true at the time. `known` are the passages by the ids of the hits, `earlier`
    those whose place a hit took: they are shown though they were not found."""
    hits, known = _with_earlier(hits, known, earlier)
    slots: dict[object, list[int]] = {}
    for at, hit in enumerate(hits):
        if hit.id in known:
            slots.setdefault(_slot(hit, known), []).append(at)
    order = list(range(len(hits)))
    for places in slots.values():
        if len(places) < 2:
            continue

        def rank(at: int) -> tuple[int, float]:
            return _rank(known[hits[at].id], asked, now)

        for place, at in zip(places, sorted(places, key=rank), strict=True):
            order[place] = at
    return _placed(hits, order)


def _with_earlier(
    hits: Sequence[Hit], known: Mapping[str, Passage], earlier: Mapping[str, Sequence[Passage]]
) -> tuple[list[Hit], dict[str, Passage]]:
    """Each hit, and after it what it took the place of."""
    shown: list[Hit] = []
    there = {hit.id for hit in hits}
    more = dict(known)
    for hit in hits:
        shown.append(hit)
        home = hit.id.rpartition(":")[0]
        for each in earlier.get(hit.id, ()):
            id = f"{home}:{each.short_id}" if home else each.short_id
            if id not in there:
                there.add(id)
                more[id] = each
                shown.append(hit_of(each, id, hit))
    return shown, more


def newest_told(
    hits: Sequence[Hit],
    newer: Mapping[int, Sequence[int]],
    shown_for: Callable[[int, Hit], Hit | None],
) -> list[Hit]:
    """For a question about the present: `newer` gives, for the seq of a message that told what is
    over, the seqs of those that told what took its place. One that was not found itself is made by
    `shown_for`, from its seq and the hit that it comes before; None for one that may not be shown.
    """
    made = list(hits)
    for stale in hits:
        told = set(newer.get(stale.seq, ()))
        place = made.index(stale)
        if not told or any(hit.seq in told for hit in made[:place]):
            continue
        better = next((hit for hit in made[place + 1 :] if hit.seq in told), None)
        if better is not None:
            made.remove(better)
        else:
            better = shown_for(max(told), stale)
        if better is not None:
            made.insert(place, better)
    scores = sorted((hit.score for hit in made), reverse=True)
    return [
        hit if hit.score == score else replace(hit, score=score)
        for hit, score in zip(made, scores, strict=True)
    ]


def _placed(hits: Sequence[Hit], order: Sequence[int]) -> list[Hit]:
    return [
        hits[at] if at == place else replace(hits[at], score=hits[place].score)
        for place, at in enumerate(order)
    ]


def _slot(hit: Hit, known: Mapping[str, Passage]) -> object:
    """What a passage is one of several values of."""
    passage = known[hit.id]
    facets = passage.facets
    if facets.kind == "fact" and facets.subject_entity is not None:
        return hit.archive, facets.subject_entity, facets.relation
    home = hit.id.removesuffix(passage.short_id)
    for _ in range(SUCCESSION_LONGEST):
        successor = passage.facets.superseded_by
        if successor is None:
            break
        following = known.get(f"{home}a{successor}")
        if following is None:
            return hit.archive, successor
        passage = following
    return hit.archive, passage.number


def _rank(passage: Passage, asked: TimeAsked, now: datetime) -> tuple[int, float]:
    if not was_true(passage):
        return 2, 0.0
    if asked.at is not None:
        return (0 if passage.holds(asked.at) else 1), 0.0
    if is_current(passage, now):
        return 1, 0.0
    return 0, -began(passage)[1].timestamp()


Seen = Callable[[Sequence[int]], Mapping[int, Passage]]


def passages_of(hits: Sequence[Hit], seen: Callable[[str], Seen | None]) -> dict[str, Passage]:
    """The passages behind hits, by the ids of the hits; `seen` reads those of an archive."""
    numbers: dict[str, list[int]] = {}
    for hit in hits:
        numbers.setdefault(hit.archive, []).append(int(hit.id.rpartition("a")[2]))
    known: dict[str, Passage] = {}
    for archive, wanted in numbers.items():
        read = seen(archive)
        if read is not None:
            home = f"{archive}:" if archive else ""
            known |= {f"{home}a{number}": each for number, each in read(wanted).items()}
    return known
