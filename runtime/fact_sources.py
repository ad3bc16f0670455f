"""What facts tell a search of words: which are about whom it names, and, by their lineage, which
messages told what took the place of what others had told.
"""

from collections.abc import Mapping, Sequence

from pagemind.runtime.entity_names import plain
from pagemind.runtime.models.plain_talk import content
from pagemind.runtime.passage import Passage
from pagemind.runtime.relations import words_of
from pagemind.runtime.settings import FACTS_ABOUT, SUCCESSION_LONGEST
from pagemind.runtime.state.state import State

_WORDS = 64  # of a query that may hold names …
_NAME_WORDS = 4  # … of so many words


def facts_about(state: State, words: str) -> frozenset[str]:
    """The short ids of facts about whom or what these words name."""
    if not state.facts.any():
        return frozenset()
    said = words.split()[:_WORDS]
    runs = (
        " ".join(said[first : first + many])
        for many in range(1, _NAME_WORDS + 1)
        for first in range(len(said) - many + 1)
    )
    entities = state.entities.named({plain(run) for run in runs})
    numbers = state.facts.numbers_about(entities, FACTS_ABOUT)
    return frozenset(f"a{number}" for number in numbers)


def newer_messages(state: State, seqs: Sequence[int], words: str) -> Mapping[int, tuple[int, ...]]:
    """For each message whose fact is over: those that told the one that holds now. Of a message
    with several facts the one counts that has most of the words; none, if that holds still."""
    if not seqs or not state.facts.any():
        return {}
    derived = state.lineage.records_from([f"m{seq}" for seq in seqs])
    numbers = sorted({number for several in derived.values() for number in several})
    known = {
        number: fact
        for number, fact in state.passages.get(numbers).items()
        if fact.kind == "fact" and fact.provenance.status == "active"
    }
    asked = content(words)
    found: dict[int, tuple[int, ...]] = {}
    for message, several in derived.items():
        facts = [known[number] for number in several if number in known]
        meant = _meant(facts, asked)
        if not meant or any(fact.facets.superseded_by is None for fact in meant):
            continue
        told: dict[int, None] = {}
        for fact in meant:
            successor = _latest(state, fact)
            for edge in state.lineage.sources_of(successor.short_id):
                if edge.how in ("from", "merged") and edge.source[:1] == "m":
                    told[int(edge.source[1:])] = None
        seq = int(message[1:])
        if told and seq not in told:
            found[seq] = tuple(told)
    return found


def _meant(facts: Sequence[Passage], asked: frozenset[str]) -> list[Passage]:
    """Those that have most of the words."""
    shared = [len(asked & content(f"{words_of(f.facets.relation)} {f.text}")) for f in facts]
    most = max(shared, default=0)
    return [fact for fact, many in zip(facts, shared, strict=True) if many == most]


def _latest(state: State, fact: Passage) -> Passage:
    """What holds the place of a fact now."""
    for _ in range(SUCCESSION_LONGEST):
        successor = fact.facets.superseded_by
        following = state.passages.get([successor]).get(successor) if successor else None
        if following is None or following.provenance.status != "active":
            break
        fact = following
    return fact
