"""Digests of old episodes: what stands in the one record that is told of many.

Each is made from the episodes' own words; a model, where there is one, is asked for better ones in
one call for all. Its line holds if it names nothing that is not in the episodes.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import tzinfo
from typing import Any

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.cleaning import clean_line
from pagemind.runtime.gist import holds, keywords, telling
from pagemind.runtime.passage import Passage
from pagemind.runtime.settings import (
    INSIGHT_CHARS,
    JOB_REPLY_TOKENS,
    JOB_TEXT_TOKENS,
)
from pagemind.runtime.shorten import shorten
from pagemind.runtime.sleep.asked import asked, whole
from pagemind.runtime.sleep.job import SleepContext
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.template import load
from pagemind.runtime.untrusted import marker

Cluster = list[Passage]
_WORDS = 6  # that the episodes share
_SHOWN = 6  # episodes of a cluster that a model is shown
_LEAST_CHARS = 20  # of a text that says something
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"digests": {"type": "array"}},
    "required": ["digests"],
}


def digests(
    context: SleepContext, clusters: Sequence[Cluster], cancel: CancelToken
) -> list[tuple[str, int]]:
    """The text of the digest of each, and how far it is trusted: as the least of what it was made
    of, which for a model is all that it was shown."""
    trusts = [min(each.provenance.trust for each in cluster) for cluster in clusters]
    texts = [_plainly(context, cluster) for cluster in clusters]
    made = list(zip(texts, trusts, strict=True))
    trusted = [at for at, trust in enumerate(trusts) if not untrusted(trust)]
    if context.model is None:
        return made
    prompt = load("compress")
    room = context.room() - context.count(prompt.text) - context.reply(JOB_REPLY_TOKENS)
    shown: list[str] = []
    for number, at in enumerate(trusted, 1):
        lines = [
            f"{number}. {texts[at]}",
            *(f"   - {_line(context, each)}" for each in _ends(clusters[at])),
        ]
        room -= context.count("\n".join(lines))
        if room < 0:
            break
        shown.append("\n".join(lines))
    if not shown:
        return made
    told = "\n".join(shown)
    answer = asked(context, prompt.fill(episodes=told, fence=marker(told)), _SCHEMA, cancel)
    for each in answer["digests"][: len(shown)] if answer else ():
        said = each if isinstance(each, dict) else {}
        n, text = whole(said.get("id")), said.get("text")
        if n is None or not 1 <= n <= len(shown) or not isinstance(text, str):
            continue
        text, of = " ".join(text.split()), trusted[n - 1]
        if _LEAST_CHARS <= len(text) <= INSIGHT_CHARS and _is_from(text, clusters[of], context):
            made[of] = text, min(trusts[at] for at in trusted[: len(shown)])
    return made


def _plainly(context: SleepContext, cluster: Cluster) -> str:
    """A digest in the episodes' own words."""
    days = _days(cluster, context.zone)
    ways = Counter(tag for each in cluster for tag in each.tags if tag in ("ok", "failed"))
    went = ", ".join(f"{many} {way}" for way, many in ways.most_common())
    words = keywords([each.text for each in cluster], _WORDS)
    return load("digest").fill(
        count=len(cluster),
        start=min(days, default="?"),
        end=max(days, default="?"),
        went=went or "unknown",
        first=_line(context, cluster[0]),
        last=_line(context, cluster[-1]),
        words=", ".join(words),
    )


def _line(context: SleepContext, episode: Passage) -> str:
    return shorten(clean_line(episode.text), JOB_TEXT_TOKENS, context.count)


def _ends(cluster: Cluster) -> Cluster:
    """The first and the last of them."""
    half = _SHOWN // 2
    return cluster if len(cluster) <= _SHOWN else [*cluster[:half], *cluster[-half:]]


def _is_from(text: str, cluster: Cluster, context: SleepContext) -> bool:
    """Whether every name and number of a text stands in the episodes; how many they are, too."""
    days = _days(cluster, context.zone)
    said = "\n".join([str(len(cluster)), *days, *(each.text for each in cluster)])
    lower = said.lower()
    return all(
        holds(said, word) or (word.isalpha() and word.lower() in lower) for word in telling(text)
    )


def _days(cluster: Cluster, zone: tzinfo) -> list[str]:
    return [f"{each.created_at.astimezone(zone):%Y-%m-%d}" for each in cluster if each.created_at]
