"""The benchmark of the life cycle measures what it says, on a life of a few days.

The long form is `python benchmarks/lifecycle.py`; benchmarks/README.md has its figures.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from bench_kit import benchmark

weave = benchmark("synth_life_weave")
truth_of = benchmark("lifecycle_truth")
scores = benchmark("lifecycle_scores")
judge = benchmark("lifecycle_judge")
lifecycle = benchmark("lifecycle")


@pytest.fixture(scope="module")
def truth() -> Any:
    return truth_of.Truth(weave.live(1, days=12, turns=20))


def records(told: Iterable[Any], *, ended: bool = True) -> list[Any]:
    """A record for each fact, those that ended past unless `ended` is False."""
    return [
        truth_of.Record(f"a{i}", each.plain, each.subject, each.object, not ended or now)
        for i, (each, now) in enumerate(told)
    ]


def first_told(truth: Any) -> list[tuple[Any, bool]]:
    """Each fact once, with whether it is true now."""
    found = {each.fact: each for each in reversed(truth.life.told) if each.fact in truth.now}
    return [(each, truth.now[fact]) for fact, each in found.items()]


def test_a_store_that_is_right_has_no_faults(truth: Any) -> None:
    """Each fact once, what ended is past."""
    found = scores.of_records(truth, records(first_told(truth)))
    assert found["stored"] == 100
    for (
        key
    ) in "duplicate_rate wrong_subject junk_share over_invalidation under_invalidation".split():
        assert found[key] == 0, key
    assert not any(scores.faults(truth, records(first_told(truth))).values())


def test_a_store_of_everything_that_was_said_has_them_all(truth: Any) -> None:
    """Retold facts are duplicates, what ended is current, small talk is junk."""
    told = [(each, True) for each in truth.life.told]
    kept = records(told)
    kept += [truth_of.Record("a900", t.text) for t in truth.life.turns if t.kind == "junk"][:20]
    found = scores.of_records(truth, kept)
    assert found["duplicate_rate"] > 5
    assert found["under_invalidation"] == 100
    assert found["over_invalidation"] == 0
    assert found["junk_share"] > 5


def test_a_fact_of_somebody_else_is_known_for_it(truth: Any) -> None:
    """What Jack hates is not what Sam hates because Sam says so."""
    told = next(e for e in truth.life.told if e.speaker != e.subject and not e.contested)
    wrong = truth_of.Record("a1", f"{told.speaker}: {told.object}", told.speaker, told.object)
    assert truth.match(wrong).what == "wrong subject"


def test_a_closed_truth_is_over_invalidated(truth: Any) -> None:
    """And a fact that was never stored is not."""
    (fact, _), *rest = [(each, now) for each, now in first_told(truth) if now]
    kept = [*records([(fact, False)]), *records(rest[:49])]
    assert scores.of_records(truth, kept)["over_invalidation"] == 2


def test_what_is_shown_first_is_what_counts(truth: Any) -> None:
    """The stale value before the current one, the value before the last change, the secret."""
    asked = [each for each in truth.life.asked if each.kind in ("current", "history", "forgotten")]
    plain = {}
    for each in truth.life.told:
        plain.setdefault((*each.slot, each.object), each.plain)

    def shown(values: str) -> dict[str, list[str]]:
        return {
            each.id: [plain[each.subject, each.relation, v] for v in getattr(each, values)]
            for each in asked
        }

    right, wrong = (scores.of_answers(truth, shown(values)) for values in ("gold", "stale"))
    assert (right["stale_first"], right["history"], right["forget_leaks"]) == (0, 100, 0)
    assert (wrong["stale_first"], wrong["history"], wrong["forget_leaks"]) == (100, 0, 100)


def test_the_judge_finds_what_is_said_and_what_ends_what(truth: Any) -> None:
    """Without errors: each sentence in a prompt, and the decision between two texts."""
    fair = judge.Judge(truth, 1, errs=0.0, also=0.0)
    turns = [each for each in truth.life.turns if each.kind in ("fact", "junk")]
    found, slip = fair.extract("\n".join(each.text for each in turns))
    assert slip == ""
    assert {each.quote for each in found} >= {e.text for e in truth.life.told}
    after = next(each for each in truth.life.told if each.supersedes)
    before = truth.life.fact(after.supersedes)
    other = next(e for e in truth.life.told if e.slot != after.slot)
    assert fair.decide(after.plain, [other.plain, before.plain]) == ("SUPERSEDE", 1)
    assert fair.decide(after.plain, [other.plain, after.text]) == ("NOOP", 1)
    assert fair.decide(after.plain, [other.plain]) == ("ADD", None)


def test_the_judge_errs_in_a_tenth_of_its_answers(truth: Any) -> None:
    """The same for a seed."""
    erring = judge.Judge(truth, 1)
    told = [each.plain for each in truth.life.told]
    answers = [erring.decide(told[0], told[1:4]) for _ in range(400)]
    again = judge.Judge(truth, 1)
    assert answers == [again.decide(told[0], told[1:4]) for _ in range(400)]
    assert 20 <= erring.slips["decision"] <= 60


def run(variant: str, folder: Path, *more: str) -> Any:
    """A life of four days."""
    told = folder / "figures.json"
    days = ["--days", "4", "--turns", "8", "--embedding", "hashing", "--variants", variant]
    assert lifecycle.main([*days, *more, "--json", str(told)]) == 0
    return json.loads(told.read_text(encoding="utf-8"))


def test_without_a_worker_what_ended_stays(tmp_path: Path) -> None:
    """The plain store, through an agent: the keys of the contract are all there."""
    found = run("plain", tmp_path)
    assert {*lifecycle.KEYS, "commit", "machine", "data_sha256", "seed"} <= found.keys()
    assert (found["under_invalidation"], found["stored"]) == (100, 100)
    assert (found["wrong_subject"], found["loop_added"]) == (0, 0)


def test_a_worker_whose_model_never_errs_keeps_what_is_true(tmp_path: Path) -> None:
    """Each fact once, of whom it is about, and only while it holds; talk of it adds nothing."""
    found = run("collection", tmp_path, "--errs", "0", "--also", "0")
    assert found["kind"] == "plumbing"
    assert found["unknown_prompts"] == {}
    wrong = "duplicate_rate wrong_subject over_invalidation under_invalidation junk_share"
    assert {key: found[key] for key in wrong.split()} == dict.fromkeys(wrong.split(), 0)
    assert (found["stored"], found["history"], found["as_of"]) == (100, 100, 100)
    assert (found["stale_first"], found["forget_leaks"], found["loop_added"]) == (0, 0, 0)
    assert 0 < found["calls_per_turn"] <= 0.2
