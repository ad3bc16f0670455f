"""Consolidation: what becomes of a candidate beside what is known."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from sleep_kit import Bed, bed, made
from write_kit import Worker, changes, current, decision, fact, record, tend, told

from pagemind.runtime.facts import FactBook
from pagemind.runtime.passage import Facets
from pagemind.runtime.sleep import consolidate
from pagemind.runtime.sleep.consolidate import Consolidate
from pagemind.runtime.sleep.extract import Extract
from pagemind.runtime.state.changes import OPEN

__all__ = ["bed"]

LISBON = fact("I live in Lisbon", "Sam lives in Lisbon.", "Sam", "lives_in", "Lisbon")
PORTO = fact("I live in Porto", "Sam lives in Porto.", "Sam", "lives_in", "Porto")


@pytest.fixture
def worker() -> Worker:
    return Worker()


def asked(worker: Worker) -> int:
    """How often a model was asked what to do with a candidate."""
    return sum('"decisions"' in prompt for prompt in worker.prompts)


def test_what_is_like_nothing_is_added_unasked(bed: Bed, worker: Worker) -> None:
    """With its source, its trust and who said it."""
    told(bed, worker, "I live in Lisbon.", LISBON)
    made = record(bed, "Sam lives in Lisbon.")
    assert (made.provenance.origin, made.provenance.trust) == ("model", 80)
    assert made.provenance.sources == ("m1",)
    assert made.facets.speaker == "Sam"
    assert asked(worker) == 0


def test_the_same_again_is_nothing_new(bed: Bed, worker: Worker) -> None:
    """In the same words or about the same object; it only has one more source."""
    told(bed, worker, "I live in Lisbon.", LISBON)
    told(bed, worker, "Yes, I live in Lisbon.", LISBON)
    home = fact("Lisbon is my home", "The home of Sam is Lisbon.", "I", "home", "lisbon")
    told(bed, worker, "Lisbon is my home.", home)
    assert current(bed) == ["Sam lives in Lisbon."]
    sources = {edge.source for edge in bed.state.lineage.sources_of("a1")}
    assert sources == {"m1", "m3", "m5"}
    assert asked(worker) == 0


def test_a_value_that_changes_back_is_three_records(bed: Bed, worker: Worker) -> None:
    """A → B → A: each has its window, and the last is true; no model is asked."""
    for each in (LISBON, PORTO, LISBON):
        told(bed, worker, each["quote"], each)
    assert current(bed) == ["Sam lives in Lisbon."]
    windows = [each.facets for each in bed.state.passages.newest(9)[::-1]]
    assert [each.superseded_by for each in windows] == [2, 3, None]
    assert windows[0].valid_to == windows[1].valid_from
    assert windows[1].valid_to == windows[2].valid_from
    assert [e.source for e in bed.state.lineage.sources_of("a3") if e.how == "supersedes"] == ["a2"]
    assert asked(worker) == 0


def test_what_was_true_before_is_past_from_the_start(bed: Bed, worker: Worker) -> None:
    """An older fact ends nothing."""
    told(bed, worker, "I live in Porto.", PORTO)
    told(bed, worker, "I live in Lisbon, since last year.", {**LISBON, "since": "2025-01-01"})
    assert current(bed) == ["Sam lives in Porto."]
    assert record(bed, "Sam lives in Lisbon.").standing == "past"


def test_a_model_may_end_what_has_the_same_subject_and_relation(bed: Bed, worker: Worker) -> None:
    """Here a relation of which it is not known how many values it has."""
    told(
        bed,
        worker,
        "My tram is the 12.",
        fact("My tram is the 12", "Sam takes tram 12.", "Sam", "tram", "12"),
    )
    worker.decisions = [decision(1, "SUPERSEDE", 1)]
    told(
        bed,
        worker,
        "My tram is the 28.",
        fact("My tram is the 28", "Sam takes tram 28.", "Sam", "tram", "28"),
    )
    assert current(bed) == ["Sam takes tram 28."]
    assert record(bed, "Sam takes tram 12.").facets.superseded_by == 2


@pytest.mark.parametrize("op", ["SUPERSEDE", "DELETE", "UPDATE", "NOOP"])
def test_other_subjects_and_relations_are_never_touched(bed: Bed, worker: Worker, op: str) -> None:
    """A model that wants to is overruled: the candidate is added."""
    told(
        bed,
        worker,
        "I take tram 12 to work.",
        fact("I take tram 12 to work", "Sam takes tram 12 to work.", "Sam", "commute", "tram 12"),
    )
    told(
        bed,
        worker,
        "My sister Nina takes tram 12 home.",
        fact(
            "My sister Nina takes tram 12 home",
            "Nina takes tram 12 to work.",
            "Nina",
            "way",
            "tram 12",
        ),
    )
    before = {each.number: each.version for each in bed.state.passages.newest(9)}
    worker.decisions = [decision(1, op, known, "Sam takes tram 13.") for known in (1, 2, 3)]
    told(
        bed,
        worker,
        "I take tram 13 to work.",
        fact(
            "I take tram 13 to work", "Sam takes tram 13 to work.", "Sam", "return_way", "tram 13"
        ),
    )
    after = {each.number: each.version for each in bed.state.passages.newest(9)}
    assert before.items() <= after.items()
    assert "Sam takes tram 13 to work." in current(bed)


def test_ids_that_do_not_exist_mean_add(bed: Bed, worker: Worker) -> None:
    """Only the numbers that were shown count."""
    told(
        bed,
        worker,
        "I like tea.",
        fact("I like tea", "Sam likes green tea.", "Sam", "likes", "tea"),
    )
    worker.decisions = [decision(1, "DELETE", 4711)]
    told(
        bed, worker, "I like rum.", fact("I like rum", "Sam likes dark rum.", "Sam", "likes", "rum")
    )
    assert current(bed) == ["Sam likes green tea.", "Sam likes dark rum."]


def test_a_relation_that_held_several_values_is_not_asked_about_again(
    bed: Bed, worker: Worker
) -> None:
    """A model once found a second value beside the first: the third ends neither."""
    for value in ("tea", "rum", "gin"):
        worker.decisions = [decision(1, "ADD" if value == "rum" else "SUPERSEDE", 1)]
        told(
            bed,
            worker,
            f"I like {value}.",
            fact(f"I like {value}", f"Sam likes {value}.", "Sam", "likes", value),
        )
    assert len(current(bed)) == 3
    assert asked(worker) == 1


def test_one_wrong_answer_does_not_make_a_relation_one_of_several_values(
    bed: Bed, worker: Worker
) -> None:
    """For others a model is still asked, and what it has shown often is then done unasked."""

    def moves(name: str, desks: str, op: str) -> None:
        for desk in desks.split():
            worker.decisions = [decision(1, op, 1)]
            text = f"{name} sits in {desk}."
            told(bed, worker, text, fact(text, text, name, "desk", desk), speaker="Zoe")

    moves("Sam", "B12 C34", "ADD")
    moves("Ann", "D56 E78", "SUPERSEDE")
    assert current(bed) == ["Sam sits in B12.", "Sam sits in C34.", "Ann sits in E78."]
    moves("Bob", "F11 F22 F33 F44", "SUPERSEDE")
    before = asked(worker)
    moves("Eve", "G11 G22", "ADD")
    assert asked(worker) == before
    assert current(bed)[-2:] == ["Bob sits in F44.", "Eve sits in G22."]


def test_what_is_so_again_ends_what_a_wrong_answer_has_left_beside_it(
    bed: Bed, worker: Worker
) -> None:
    """Once it is known that only one value holds."""

    def sits(name: str, desks: str, op: str, says: str = "has") -> None:
        for desk in desks.split():
            worker.decisions = [decision(1, op, 1)]
            text = f"{name} {says} desk {desk}."
            told(bed, worker, text, fact(text, text, name, "desk", desk), speaker="Zoe")

    sits("Sam", "B12 C34", "ADD")
    sits("Bob", "F11 F22 F33 F44 F55", "SUPERSEDE")
    sits("Sam", "B12", "ADD", "is back at")
    assert current(bed) == ["Sam has desk B12.", "Bob has desk F55."]


def test_what_is_said_to_be_over_ends(bed: Bed, worker: Worker) -> None:
    """And that it was said is kept as a note."""
    told(
        bed, worker, "I like jazz.", fact("I like jazz", "Sam likes jazz.", "Sam", "likes", "jazz")
    )
    told(
        bed,
        worker,
        "I no longer like jazz.",
        fact("I no longer like jazz", "Sam no longer likes jazz.", "Sam", "likes", "jazz"),
    )
    assert current(bed) == ["Sam no longer likes jazz."]
    assert record(bed, "Sam no longer likes jazz.").kind == "note"


def test_what_is_hidden_in_other_words_is_found_by_a_model(bed: Bed, worker: Worker) -> None:
    """UPDATE joins both in the old record, if it says what both say and nothing else."""
    first = "The red boat of Sam lies in the harbour of Cascais at pier 4."
    second = "The red boat of Sam lies in the harbour of Cascais at pier 4, its name is Nomad."
    joined = "The red boat of Sam, the Nomad, lies in the harbour of Cascais at pier 4."
    told(bed, worker, first, fact(first, first, ""))
    worker.decisions = [decision(1, "UPDATE", 1, joined)]
    told(bed, worker, second, fact(second, second, ""))
    assert current(bed) == [joined]
    assert record(bed, joined).version == 2
    worker.decisions = [decision(1, "UPDATE", 1, "The boat lies in Faro.")]
    third = "The red boat of Sam, the Nomad, lies in the harbour of Cascais at pier 5."
    told(bed, worker, third, fact(third, third, ""))
    assert current(bed) == [joined, third]


def test_somebody_elses_word_ends_nobodys_own(bed: Bed, worker: Worker) -> None:
    """It waits for a person; who it is about may change it at once."""
    told(bed, worker, "I live in Lisbon.", LISBON)
    told(
        bed,
        worker,
        "Sam lives in Faro.",
        fact("Sam lives in Faro", "Sam lives in Faro.", "Sam", "lives_in", "Faro"),
        speaker="Eve",
    )
    assert current(bed) == ["Sam lives in Lisbon."]
    (waiting,) = bed.state.changes.in_state("pending")
    assert waiting.result == "a2"
    assert bed.record(2).standing == "pending"


def test_what_is_less_trusted_changes_nothing_that_is_more(bed: Bed, worker: Worker) -> None:
    """Whatever the model says."""
    told(
        bed,
        worker,
        "My tram is the 12.",
        fact("My tram is the 12", "Sam takes tram 12.", "Sam", "tram", "12"),
    )
    bed.turn("The tram of Sam is the 66.", speaker="bot", origin="agent")
    candidate = fact("The tram of Sam is the 66", "Sam takes tram 66.", "Sam", "tram", "66")
    worker.facts, worker.decisions = [candidate], [decision(1, "SUPERSEDE", 1)]
    message = bed.state.journal.newest(2)[1]
    bed.state.database.write("UPDATE messages SET trust = 60 WHERE seq = ?", (message.seq,))
    tend(bed, worker)
    assert current(bed) == ["Sam takes tram 12."]
    assert bed.state.changes.in_state("pending")


def test_scope_and_owner_are_kept_apart_and_kept(bed: Bed, worker: Worker) -> None:
    """What is private is neither compared nor changed, nor made public."""
    private = Facets("fact", "Sam", "lives_in", "Faro", owner="diary", scope="/home")
    FactBook(bed.state).add(
        "Sam", "lives_in", "Faro", "Sam lives in Faro.", owner="diary", scope="/home"
    )
    told(bed, worker, "I live in Lisbon.", LISBON)
    assert current(bed) == ["Sam lives in Faro.", "Sam lives in Lisbon."]
    kept = record(bed, "Sam lives in Faro.").facets
    assert (kept.owner, kept.scope, kept.valid_to) == (private.owner, private.scope, None)


def test_decisions_that_cannot_be_read_end_as_dead_not_lost(bed: Bed, worker: Worker) -> None:
    """After three attempts; a retry takes them up again."""
    told(bed, worker, "I like tea.", fact("I like tea", "Sam likes tea.", "Sam", "likes", "tea"))
    worker.decisions = "I would rather talk about something else."
    told(bed, worker, "I like rum.", fact("I like rum", "Sam likes rum.", "Sam", "likes", "rum"))
    assert asked(worker) == 3
    (dead,) = bed.state.changes.in_state("dead")
    bed.state.changes.retry(dead.number)
    worker.decisions = [decision(1, "ADD")]
    tend(bed, worker)
    assert current(bed) == ["Sam likes tea.", "Sam likes rum."]


def test_without_a_model_nothing_is_lost(bed: Bed, worker: Worker) -> None:
    """What rules do not settle stands beside what is known."""
    told(bed, worker, "I like tea.", fact("I like tea", "Sam likes tea.", "Sam", "likes", "tea"))
    bed.turn("I like rum.")
    worker.facts = [fact("I like rum", "Sam likes rum.", "Sam", "likes", "rum")]
    bed.run(Extract(), worker.model)
    tend(bed, None)
    assert current(bed) == ["Sam likes tea.", "Sam likes rum."]


def test_a_crash_between_plan_and_act_makes_it_once(
    bed: Bed, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next run takes it up from its row."""

    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(consolidate, "apply", killed)
    with pytest.raises(KeyboardInterrupt):
        told(bed, worker, "I live in Lisbon.", LISBON)
    assert [each.state for each in changes(bed)] == ["planned"]
    assert not current(bed)
    monkeypatch.undo()
    tend(bed, None)
    tend(bed, None)
    assert current(bed) == ["Sam lives in Lisbon."]
    assert [each.state for each in changes(bed)] == ["applied"]


def test_a_record_that_changed_meanwhile_is_planned_anew(
    bed: Bed, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is made on what is not true any more."""
    told(bed, worker, "I live in Lisbon.", LISBON)
    real, times = consolidate.apply, []

    def meddled(state: Any, number: int) -> Any:
        if not times:
            edited = state.passages.edit(
                1, "Sam lives in Lisbon, 4.", author="user", reason="x", seq=0
            )
            times.append(edited)
        return real(state, number)

    monkeypatch.setattr(consolidate, "apply", meddled)
    told(bed, worker, "I live in Porto.", PORTO)
    assert current(bed) == ["Sam lives in Porto."]
    (change,) = [each for each in changes(bed) if each.op == "supersede"]
    assert (change.attempts, change.base) == (1, 2)


def test_two_workers_make_a_change_once(bed: Bed, worker: Worker) -> None:
    """The second finds the candidate settled."""
    told(bed, worker, "I like tea.", fact("I like tea", "Sam likes tea.", "Sam", "likes", "tea"))
    second = Worker()
    second.decisions = [decision(1, "ADD")]

    def slow(prompt: str) -> list[dict[str, Any]]:
        bed.run(Consolidate(), second.model)
        return [decision(1, "SUPERSEDE", 1)]

    worker.decisions = slow
    told(bed, worker, "I like rum.", fact("I like rum", "Sam likes rum.", "Sam", "likes", "rum"))
    assert current(bed) == ["Sam likes tea.", "Sam likes rum."]


def test_candidates_of_turns_that_were_taken_back_are_not_made(bed: Bed, worker: Worker) -> None:
    """They wait, unseen, for the line to be brought back."""
    bed.turn("I live in Lisbon.")
    worker.facts = [LISBON]
    bed.run(Extract(), worker.model)
    lines, notice = bed.state.journal.lines, bed.say("It was taken back.").seq
    with bed.state.database.transaction():
        lines.cut(1, at=notice, kind="undo", name="")
    tend(bed, worker)
    assert not current(bed)
    assert not changes(bed)
    with bed.state.database.transaction():
        lines.return_to(1, at=bed.say("It was brought back.").seq, kind="bring back")
    tend(bed, worker)
    assert current(bed) == ["Sam lives in Lisbon."]


WORDS = some.sampled_from(["tea", "rum", "jazz", "Lisbon", "Porto", "chess", "tram 12"])
SAID = some.tuples(
    some.sampled_from(["Sam", "Nina", "Jack"]),
    some.sampled_from(["likes", "lives_in", "tram", "no longer likes"]),
    WORDS,
)
DECIDED = some.one_of(
    some.text(max_size=20),
    some.lists(
        some.builds(
            decision,
            some.integers(-1, 6),
            some.sampled_from(["ADD", "UPDATE", "SUPERSEDE", "DELETE", "NOOP", "FORGET"]),
            some.integers(-1, 12),
            some.sampled_from(["", "Sam likes everything.", "Zoe lives in Lisbon."]),
        ),
        max_size=5,
    ),
)


@given(some.lists(some.tuples(some.lists(SAID, min_size=1, max_size=3), DECIDED), max_size=3))
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_a_model_answers_the_rules_hold(
    tmp_path_factory: pytest.TempPathFactory, days: list[Any]
) -> None:
    """No candidate is lost, every row settles, and nobody's facts are changed by another's."""
    with made(tmp_path_factory.mktemp("rules")) as bed:
        book = FactBook(bed.state)
        zoe = [
            book.add("Zoe", relation, value, f"Zoe {relation} {value}.").passage
            for relation, value in (("likes", "tea"), ("lives_in", "Lisbon"), ("tram", "tram 12"))
        ]
        worker, found = Worker(), 0
        for said, decided in days:
            worker.decisions = decided
            texts = [f"{who} {what} {value}." for who, what, value in said]
            worker.facts = [
                fact(text, text, who, what, value)
                for text, (who, what, value) in zip(texts, said, strict=True)
            ]
            before = len(changes(bed))
            bed.clock.advance(seconds=60)
            bed.turn(" ".join(texts))
            tend(bed, worker)
            found += len(changes(bed)) - before
            assert not {each.state for each in changes(bed)} & (set(OPEN) - {"pending"})
        for each in zoe:
            now = bed.record(each.number)
            assert replace(now, last_accessed=None) == each
        made_of = [each for each in changes(bed) if each.state in ("applied", "noop")]
        assert all(bed.record(int(each.result[1:])) for each in made_of)
        assert found == len(changes(bed))
        for relation in ("lives_in",):
            for who in ("Sam", "Nina", "Jack"):
                entity = book.entity(who)
                assert entity is None or len(book.current(entity, relation)) <= 1


def test_the_loop_of_recall_and_answer_adds_nothing(bed: Bed, worker: Worker) -> None:
    """Ten rounds of asking, looking up, answering and extracting: no record more."""
    told(bed, worker, "I live in Lisbon.", LISBON)
    known = len(bed.state.passages.newest(99))
    for _ in range(10):
        bed.clock.advance(seconds=60)
        bed.turn(
            "Where do I live? It is a nice sunny place with many trams.",
            reply="I looked it up: Sam lives in Lisbon.",
            looked_up="a1: Sam lives in Lisbon.",
        )
        worker.facts = [
            fact("Sam lives in Lisbon.", "Sam lives in Lisbon.", "Sam", "lives_in", "Lisbon"),
            fact("I looked it up: Sam lives in Lisbon.", "Sam lives in Lisbon, indeed.", "Sam"),
        ]
        tend(bed, worker)
    assert len(bed.state.passages.newest(99)) == known
