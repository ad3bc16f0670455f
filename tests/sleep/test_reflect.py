"""Reflection: when it is due, what becomes an insight, and how insights fall."""

from dataclasses import replace
from typing import Any

import pytest
from sleep_kit import Bed, answering, bed

from pagemind.runtime.message import Provenance
from pagemind.runtime.passage import Facets, Passage
from pagemind.runtime.sleep.fallen import Fallen, stands
from pagemind.runtime.sleep.inherited import above, inherited
from pagemind.runtime.sleep.reflect import Reflect
from pagemind.runtime.state.changes import Change
from pagemind.runtime.testing import ScriptedModel

__all__ = ["bed"]
SOON = {"reflect": {"importance": 10, "every": 100}}


def thinks(*insights: Any, questions: Any = ("How does Sam live?",)) -> ScriptedModel:
    """A model that asks, and then answers with these."""
    said = iter(({"questions": list(questions)}, {"insights": list(insights)}))
    return answering(lambda request: next(said))


def evidence(bed: Bed, insight: Passage) -> list[tuple[str, str]]:
    return [(edge.source, edge.how) for edge in bed.state.lineage.sources_of(insight.short_id)]


def test_it_is_due_by_importance_by_count_or_at_the_end_of_a_conversation(bed: Bed) -> None:
    """And never without a model, or where the definition says no."""
    job, model = Reflect(), ScriptedModel()
    bed.note("Sam's house is on fire.")
    assert not job.due(bed.context(model, reflect={"importance": 40}))
    assert job.due(bed.context(model, reflect={"importance": 10}))
    assert not job.due(bed.context(None, reflect={"importance": 10}))
    assert not job.due(bed.context(model, reflect=False))
    for text in ("My mother died.", "My house is on fire.", "Hello.", "I am dying, Ana is dead."):
        bed.say(text)
    bed.note("Sam's father died.")
    bed.note("Sam's dog died on 3 May.")
    assert not job.due(bed.context(model))
    assert job.due(bed.context(model, reflect={"every": 4}))
    bed.state.journal.new_conversation()
    assert job.due(bed.context(model))


def test_what_was_reflected_on_counts_no_more(bed: Bed) -> None:
    """The sum begins anew, also after an answer that was of no use; insights do not feed it."""
    bed.note("Sam's house is on fire.")
    bed.note("An insight about fire: Sam died.", Facets("insight", level=1))
    bed.run(Reflect(), answering({"questions": []}), **SOON)
    assert not Reflect().due(bed.context(ScriptedModel(), **SOON))
    bed.note("Sam is in hospital, dying.", Facets("insight", level=1))
    assert not Reflect().due(bed.context(ScriptedModel(), **SOON))


def test_an_insight_stands_one_level_above_its_evidence(bed: Bed) -> None:
    """With the least trust of it, its ids in the lineage, and a rating."""
    bed.say("I swim in the sea before work, Sam said.")
    bed.note("Sam bought a wetsuit in January.", trust=70)
    bed.note("Sam lives by routine.", Facets("insight", level=2))
    bed.note("Sam's house is on fire.")
    insight = {"text": "Sam swims all year.", "evidence": [1, 2, "3", 99], "importance": 6}
    bed.run(Reflect(), thinks(insight, questions=["How does Sam swim in the sea?"]), **SOON)
    made = bed.of_kind("insight")[-1]
    assert (made.text, made.importance, made.facets.level) == ("Sam swims all year.", 6, 3)
    assert made.provenance == Provenance("model", "reflect", 70)
    cited = evidence(bed, made)
    assert len(cited) == 3
    assert {how for _, how in cited} == {"evidence"}
    change = bed.state.changes.of(made.short_id)[0]
    assert (change.job, change.state, change.result) == ("reflect", "applied", made.short_id)


@pytest.mark.parametrize(
    "bad",
    [
        {"text": "Sam likes routine very much.", "evidence": []},
        {"text": "Sam likes routine very much.", "evidence": [0, -1, 77, None, "x", True]},
        {"text": "Sam likes routine very much.", "evidence": "1"},
        {"text": "Sam married Beatrix in 1999.", "evidence": [1]},
        {"text": "Sam's house is on fire.", "evidence": [1]},
        {"text": "Does Sam like routine?", "evidence": [1]},
        {"text": ["Sam"], "evidence": [1]},
        "this is blank",
        None,
    ],
)
def test_a_bad_insight_falls_alone(bed: Bed, bad: Any) -> None:
    """No placeholder is stored for it, and the others of its batch live."""
    bed.note("Sam's house is on fire.")
    good = {"text": "Sam needs a new house.", "evidence": [1]}
    bed.run(Reflect(), thinks(bad, good, questions=["What about Sam's house?"]), **SOON)
    assert [each.text for each in bed.of_kind("insight")] == ["Sam needs a new house."]


@pytest.mark.parametrize("said", ["As an AI, I cannot.", "我不知道。", '{"questions": "Sam?"}'])
def test_prose_gives_no_insight(bed: Bed, said: str) -> None:
    """And no error."""
    bed.note("Sam's house is on fire.")
    bed.run(Reflect(), ScriptedModel(lambda request: said), **SOON)
    assert bed.of_kind("insight") == []


def test_what_is_private_pending_past_or_from_strangers_is_not_shown(bed: Bed) -> None:
    """Nothing can be drawn from it."""
    bed.note("Sam's house is on fire.")
    bed.note("Sam's secret is a lottery ticket.", Facets(owner="ben"))
    bed.note("Sam's website says: send money.", trust=30)
    bed.note("Sam lived in Porto.", Facets("fact", valid_to=bed.clock.now()))
    bed.say("Sam's page: obey.", trust=40)
    model = thinks(questions=["What about Sam's house, secret, website, page or Porto?"])
    bed.run(Reflect(), model, **SOON)
    for request in model.requests:
        text = request.messages[0].text.partition("memories\n")[2]
        assert not any(word in text for word in ("secret is", "send", "lived", "obey"))


def test_the_same_insight_is_not_drawn_again(bed: Bed) -> None:
    """What comes back by another reflection adds nothing."""
    bed.note("Sam's house is on fire.")
    insight = {"text": "Sam needs a new house.", "evidence": [1]}
    for _ in range(3):
        bed.run(Reflect(), thinks(insight, questions=["What about Sam's house?"]), **SOON)
        bed.note(f"Sam's house is on fire again, {bed.state.passages.last_number}.")
    assert len(bed.of_kind("insight")) == 1


def test_under_review_a_person_decides(bed: Bed) -> None:
    """Nothing is stored; the change waits with its text."""
    bed.note("Sam's house is on fire.")
    insight = {"text": "Sam needs a new house.", "evidence": [1]}
    model = thinks(insight, questions=["What about Sam's house?"])
    bed.run(Reflect(), model, review="ask", **SOON)
    assert bed.of_kind("insight") == []
    waiting: list[Change] = bed.state.changes.in_state("pending")
    assert [(each.op, each.body["text"], each.sources) for each in waiting] == [
        ("add", "Sam needs a new house.", ("a1",))
    ]


def insight_on(bed: Bed, text: str, *sources: str, level: int = 1) -> Passage:
    made = bed.note(text, Facets("insight", level=level))
    bed.state.lineage.add(made.short_id, sources, "evidence", seq=0)
    return made


def test_an_insight_falls_with_its_evidence_and_takes_what_rests_on_it(bed: Bed) -> None:
    """It is past, with the reason in its history; one whose evidence is enough stands."""
    notes = [bed.note(f"Note {n} about Sam.") for n in range(1, 7)]
    ids = [note.short_id for note in notes]
    low = insight_on(bed, "Low.", *ids[:2])
    high = insight_on(bed, "High.", low.short_id, level=2)
    firm = insight_on(bed, "Firm.", *ids[1:5])
    bed.run(Fallen())
    assert not Fallen().due(bed.context())
    bed.state.passages.edit(
        1, None, facets=replace(notes[0].facets, superseded_by=6), author="w", reason="r", seq=0
    )
    bed.retire(2)
    bed.run(Fallen())
    standings = [bed.record(each.number).standing for each in (low, high, firm)]
    assert standings == ["past", "past", "active"]
    assert bed.state.passages.history(low.number)[-1].reason == "its evidence has fallen: a1, a2"
    assert not Fallen().due(bed.context())


def test_how_much_evidence_is_enough() -> None:
    """Half of it, and two pieces where there were several."""
    assert [stands(left, 1) for left in (0, 1)] == [False, True]
    assert [stands(left, 2) for left in (1, 2)] == [False, True]
    assert [stands(left, 5) for left in (2, 3)] == [False, True]


def test_what_is_made_of_others_is_seen_by_whoever_sees_all_of_them() -> None:
    """Two owners never meet; the scope lies above all."""

    def record(owner: str, scope: str, trust: int = 80) -> Passage:
        facets = Facets(owner=owner, scope=scope)
        return Passage(1, "", "x", facets=facets, provenance=Provenance(trust=trust))

    assert inherited([record("a", "/"), record("b", "/")], shown_trust=90, scope="/") is None
    heirs = inherited([record("", "/t/p"), record("a", "/t/q", 60)], shown_trust=90, scope="/")
    assert heirs is not None
    assert (heirs.trust, heirs.owner, heirs.scope) == (60, "a", "/t")
    assert above(["/app", "/apple"]) == "/"
