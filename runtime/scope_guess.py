"""Where a passage belongs that says no scope: where the like of it stands. Pure; no model is asked.

A tag that is the last name of one scope alone decides; else what is near in meaning, or shares a
tag, has a vote. From the home scope it goes down a level while more than half of the votes do.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from pagemind.runtime.scope import ROOT, within
from pagemind.runtime.services import Hit
from pagemind.runtime.settings import SCOPE_GUESS_LEVELS, SCOPE_GUESS_NEAR


def guess(home: str, tags: Iterable[str], known: Iterable[str], like: Sequence[Hit]) -> str:
    """`known` are the scopes there are, `like` the passages that are most like it."""
    asked = {tag.strip().casefold() for tag in tags}
    below = [each for each in known if within(each, home) and each != home]
    named = [each for each in below if each.rpartition("/")[2].casefold() in asked]
    if len(named) == 1:
        return _cut(named[0], home)
    votes: Counter[str] = Counter()
    for hit in like:
        shared = len(asked & {tag.casefold() for tag in hit.tags})
        near = hit.cosine or 0.0
        if within(hit.scope or ROOT, home) and (shared or near >= SCOPE_GUESS_NEAR):
            votes[hit.scope or ROOT] += round((near + shared) * 1000)
    return _down(home, votes)


def _down(home: str, votes: Counter[str]) -> str:
    place = home
    for _ in range(SCOPE_GUESS_LEVELS):
        children: Counter[str] = Counter()
        for scope, weight in votes.items():
            if within(scope, place) and scope != place:
                children[_child(scope, place)] += weight
        if not children:
            break
        best, weight = max(children.items(), key=lambda each: (each[1], each[0]))
        if weight * 2 <= votes.total():
            break
        place = best
    return place


def _cut(scope: str, home: str) -> str:
    """No deeper below home than a guess goes."""
    place = home
    for _ in range(SCOPE_GUESS_LEVELS):
        if place == scope:
            break
        place = _child(scope, place)
    return place


def _child(scope: str, above: str) -> str:
    """The scope right below `above` on the way to this one."""
    head = "" if above == ROOT else above
    return f"{head}/{scope[len(head) + 1 :].partition('/')[0]}"
