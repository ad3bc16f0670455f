"""What facts tell a search of words: which are about whom it names, and, by their lineage, which
messages told what took the place of what others had told.
"""

from collections.abc import Mapping, Sequence

from pagemind.runtime.entity_names import plain
from pagemind.runtime.models.plain_talk import content
from pagemind.runtime.passage import Passage
from pagemind.runtime.relations import words_of
from pagemind.runtime.settings import FACTS_ABOUT
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
    over: dict[str, list[int]] = {}
    for message, several in derived.items():
        meant = _meant([known[number] for number in several if number in known], words)
        if meant and all(fact.facets.superseded_by is not None for fact in meant):
            over[message] = [fact.number for fact in meant]
    if not over:
        return {}
    latest = state.facts.successors({number for several in over.values() for number in several})
    told = state.lineage.messages_of({f"a{number}" for number in latest.values()})
    found: dict[int, tuple[int, ...]] = {}
    for message, several in over.items():
        newer = dict.fromkeys(s for n in several if n in latest for s in told.get(latest[n], ()))
        if newer and int(message[1:]) not in newer:
            found[int(message[1:])] = tuple(newer)
    return found


def _meant(facts: Sequence[Passage], words: str) -> list[Passage]:
    """Those that have most of the words, where it makes a difference."""
    if len({fact.facets.superseded_by is None for fact in facts}) < 2:
        return list(facts)
    asked = content(words)
    shared = [len(asked & content(f"{words_of(f.facets.relation)} {f.text}")) for f in facts]
    most = max(shared)
    return [fact for fact, many in zip(facts, shared, strict=True) if many == most]
