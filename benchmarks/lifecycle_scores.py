"""The figures of a memory's life cycle, from its records and from what its searches showed.

All are percent, and say nothing where there was nothing to count (None). A record of a secret is
counted by `forget_leaks` alone. What the second speaker claims against the first is nobody's truth:
it may be kept beside the own word, and what it may not do is end that (over-invalidation).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from lifecycle_truth import Fact, Matched, Record, Truth
from synth_life import Asked

Figures = dict[str, float | int | None]


def of_records(truth: Truth, records: Iterable[Record]) -> Figures:
    """duplicate_rate, wrong_subject, over_invalidation, under_invalidation, junk_share, and
    `stored`: of all that is true now, how much the store has."""
    matched = [truth.match(record) for record in records]
    current = [each for each in matched if each.record.current]
    stated = Counter(each.fact for each in current if each.what == "fact")
    known = {each.fact for each in matched if each.what == "fact"}
    # A profile repeats on purpose what stands in a record.
    places = Counter((each.fact, each.record.place) for each in current if each.what == "fact")
    twice = sum(count - 1 for count in places.values())
    true_now = [fact for fact, true in truth.now.items() if true]
    ended = [fact for fact, true in truth.now.items() if not true]
    seen = [fact for fact in true_now if fact in known]
    return {
        "records": len(matched),
        "records_current": len(current),
        "duplicate_rate": percent(twice, len(current)),
        "wrong_subject": percent(sum(e.what == "wrong subject" for e in matched), len(matched)),
        "junk_share": percent(sum(e.what == "junk" for e in current), len(current)),
        "over_invalidation": percent(sum(fact not in stated for fact in seen), len(seen)),
        "under_invalidation": percent(
            sum(fact in stated for fact in ended), sum(fact in known for fact in ended)
        ),
        "stored": percent(sum(fact in known for fact in true_now), len(true_now)),
    }


def faults(truth: Truth, records: Iterable[Record]) -> dict[str, list[str]]:
    """The records and facts behind the figures, for whoever wants to know why."""
    matched = [truth.match(record) for record in records]
    current = [each for each in matched if each.record.current]
    stated: dict[Fact, list[Matched]] = {}
    for each in current:
        if each.what == "fact" and each.fact:
            stated.setdefault(each.fact, []).append(each)
    known = {each.fact for each in matched if each.what == "fact"}
    return {
        "duplicates": [
            " = ".join(f"{e.record.id} {e.record.text}" for e in group)
            for group in stated.values()
            if len(group) > len({e.record.place for e in group})
        ],
        "wrong subject": [_line(e) for e in matched if e.what == "wrong subject"],
        "junk": [_line(e) for e in current if e.what == "junk"],
        "over": [str(f) for f, true in truth.now.items() if true and f in known - set(stated)],
        "under": [
            f"{fact}: {_line(stated[fact][0])}"
            for fact, true in truth.now.items()
            if not true and fact in stated
        ],
        "not stored": [str(f) for f, true in truth.now.items() if true and f not in known],
    }


def of_answers(truth: Truth, shown: Mapping[str, Sequence[str]]) -> Figures:
    """Of the texts that were shown for each question, best first: `stale_first` among the questions
    for what changed that showed any value of it, `history` among those for what was before,
    `forget_leaks`; and how often the answer was shown at all."""
    stale = Counter[str]()
    asked = Counter[str]()
    found = Counter[str]()
    first = Counter[str]()
    any_value = 0
    for each in truth.life.asked:
        if each.id not in shown:
            continue
        asked[each.kind] += 1
        if each.kind == "forgotten":
            found[each.kind] += bool(_leaked(truth, each, shown[each.id]))
            continue
        values = truth.of(shown[each.id], each)
        found[each.kind] += all(value in values for value in each.gold)
        first[each.kind] += values[:1] == list(each.gold)
        stale[each.kind] += bool(values and values[0] in each.stale)
        any_value += bool(values and each.kind == "current")
    return {
        "stale_first": percent(stale["current"], any_value),
        "current_found": percent(found["current"], asked["current"]),
        "stable_found": percent(found["stable"], asked["stable"]),
        "several_found": percent(found["several"], asked["several"]),
        "history": percent(first["history"], asked["history"]),
        "as_of": percent(first["as-of"], asked["as-of"]),
        "forget_leaks": percent(found["forgotten"], asked["forgotten"]),
    }


def _leaked(truth: Truth, asked: Asked, texts: Sequence[str]) -> bool:
    """Whether a secret is shown: a sentence with its value."""
    return any(
        fact[2] in asked.stale and fact[0] == asked.subject
        for text in texts
        for fact in truth.named(text)
    )


def _line(matched: Matched) -> str:
    record = matched.record
    return f"{record.id} [{record.subject}|{record.object}] {record.text}"


def percent(part: float, whole: float) -> float | None:
    """None of nothing."""
    return round(100 * part / whole, 2) if whole else None
