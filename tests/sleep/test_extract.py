"""Extraction: what of finished turns becomes a candidate."""

import json
from datetime import timedelta
from typing import Any

import pytest
from sleep_kit import Bed, bed
from write_kit import Worker, changes, fact

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import ModelUnreachable
from pagemind.runtime.model import ModelReply
from pagemind.runtime.sleep.extract import Extract
from pagemind.runtime.sleep.talk import tells
from pagemind.runtime.testing import ScriptedModel

__all__ = ["bed"]

LISBON = fact("I live in Lisbon", "Sam lives in Lisbon.", "Sam", "lives_in", "Lisbon")


def extracted(bed: Bed, *facts: dict[str, Any]) -> list[dict[str, Any]]:
    worker = Worker()
    worker.facts = list(facts)
    bed.run(Extract(), worker.model)
    return [dict(each.body) for each in bed.state.changes.in_state("candidate")]


def test_a_candidate_has_its_message_as_source(bed: Bed) -> None:
    """Who said it, when and how far it is trusted follow from the message of the quote."""
    bed.turn("Hello! I live in Lisbon.", speaker="Sam")
    (found,) = extracted(bed, {**LISBON, "speaker": "Eve", "importance": "99"})
    (change,) = changes(bed)
    assert change.sources == ("m1",)
    assert change.trust == 80
    assert found["speaker"] == "Sam"
    assert found["importance"] == 10
    assert found["valid_from"].startswith("2026-06-01")


def test_the_cursor_moves_with_the_candidates(bed: Bed) -> None:
    """The same turns are read once."""
    bed.turn("I live in Lisbon.")
    extracted(bed, LISBON)
    assert len(extracted(bed, LISBON)) == 1


@pytest.mark.parametrize(
    "text",
    ["Good morning!", "Thanks a lot.", "Do you ever sleep?", "Tell me a joke about boats.", "Ok!"],
)
def test_where_nobody_tells_anything_nobody_is_asked(bed: Bed, text: str) -> None:
    """Greetings, thanks, questions and requests cost no call."""
    bed.turn(text)
    worker = Worker()
    bed.run(Extract(), worker.model)
    assert not worker.prompts
    assert not tells(text)
    assert not Extract().due(bed.context(worker.model))


@pytest.mark.parametrize(
    "text", ["Jack is a painter.", "我住在里斯本。", "No meat for me, please."]
)
def test_a_statement_is_read(text: str) -> None:
    """In whatever words."""
    assert tells(text)


def test_a_quote_must_have_been_said_by_a_person(bed: Bed) -> None:
    """Neither the agent's words nor made-up ones are facts; spelling of quotes does not matter."""
    bed.turn("I live in  Lisbon, that’s it.", reply="Your boat is called Nomad, I believe.")
    found = extracted(
        bed,
        fact("your boat is called Nomad", "Sam's boat is Nomad.", "Sam", "boat", "Nomad"),
        fact("I adore opera", "Sam adores opera.", "Sam", "likes", "opera"),
        fact('"i live in lisbon, that\'s it"', "Sam lives in Lisbon.", "Sam", "lives_in", "Lisbon"),
    )
    assert [each["object"] for each in found] == ["Lisbon"]


def test_a_weak_model_quotes_whole_lines(bed: Bed) -> None:
    """With what stands before them; a question is no fact, nor is somebody an object of itself."""
    bed.turn("Hello! I live in Lisbon.")
    bed.turn("Can you tell me a joke?")
    bed.turn("My friend Jack hates football.")
    found = extracted(
        bed,
        fact("[m1, 2026-06-01 Mon] Sam: Hello! I live in Lisbon.", "Sam: Hello! I live in Lisbon.",
             "Sam", "lives_in", "Lisbon"),
        fact("Sam: Can you tell me a joke?", "Sam likes a joke.", "Sam", "likes", "joke"),
        fact("tell me a joke", "Sam likes a joke.", "Sam", "likes", "joke"),
        fact("Sam: My friend Jack hates football.", "Jack.", "Sam", "likes", "Jack"),
    )  # fmt: skip
    assert [(each["subject"], each["relation"], each["quote"]) for each in found] == [
        ("Sam", "lives_in", "Hello! I live in Lisbon."),
        ("Jack", "", "My friend Jack hates football."),
    ]


def test_what_was_looked_up_is_not_in_the_talk(bed: Bed) -> None:
    """Nor are the agent's repetitions of it, nor what a person quotes, nor what a timer says."""
    bed.turn(
        'You said "Nina works at Quillon". I have a boat now.',
        reply="I looked it up. Nina works at Quillon since May. A boat, how nice for the summer!",
        looked_up="a7: Nina works at Quillon since May.",
    )
    bed.turn("Nina has left Quillon.", origin="runtime", speaker="timer")
    worker = Worker()
    bed.run(Extract(), worker.model)
    (prompt,) = worker.prompts
    assert "Quillon" not in prompt
    assert "I have a boat now" in prompt
    assert "how nice for the summer" in prompt


def test_a_fact_about_a_friend_is_about_the_friend(bed: Bed) -> None:
    """Whatever the model says: the words leave no doubt."""
    bed.turn("My friend Jack hates football. I like it.")
    found = extracted(
        bed,
        fact("My friend Jack hates football", "Sam hates football.", "Sam", "hates", "football"),
        fact("I like it", "Jack likes football.", "Jack", "likes", "football"),
    )
    assert [(each["subject"], each["relation"]) for each in found] == [
        ("Jack", "hates"),
        ("Sam", "likes"),
    ]
    assert found[0]["text"] == "Sam: My friend Jack hates football"


def test_not_every_word_after_my_is_a_name(bed: Bed) -> None:
    """A van in the garage and a manager's title are not whom it is about."""
    bed.turn("In my garage stands a Mistral Van. My manager is Ms Kimura.")
    found = extracted(
        bed,
        fact("In my garage stands a Mistral Van", "Sam drives it.", "Sam", "drives", "Mistral Van"),
        fact("My manager is Ms Kimura", "Sam's manager is she.", "Sam", "manager", "Ms Kimura"),
    )
    assert [each["subject"] for each in found] == ["Sam", "Sam"]


def test_what_others_will_find_is_no_plan(bed: Bed) -> None:
    """It is where somebody lives, and ends where they lived before."""
    bed.turn("If you look for Ann's letterbox, it hangs in Faro. You will meet Ann at Quillon.")
    found = extracted(
        bed,
        fact("If you look for Ann's letterbox, it hangs in Faro", "Ann lives in Faro.", "Ann",
             "lives_in", "Faro"),
        fact("You will meet Ann at Quillon", "Ann works at Quillon.", "Ann", "works_at", "Quillon"),
    )  # fmt: skip
    assert [each["relation"] for each in found] == ["lives_in", "works_at"]


def test_a_day_is_worked_out_from_when_it_was_said(bed: Bed) -> None:
    """But only one that the person named; a plan is no fact yet."""
    bed.turn("I moved to Porto last month. I adopted Rex. I will move to Faro next year.")
    found = extracted(
        bed,
        fact("I moved to Porto last month", "Sam lives in Porto.", "Sam", "lives_in", "Porto",
             since="2026-05-01"),
        fact("I adopted Rex", "Sam adopted Rex.", "Sam", "adopted", "Rex", since="2019-01-01"),
        fact("I will move to Faro next year", "Sam will move to Faro.", "Sam", "lives_in", "Faro"),
    )  # fmt: skip
    assert [each["valid_from"][:10] for each in found] == ["2026-05-01", "2026-06-01", "2026-06-01"]
    assert found[2]["relation"] == ""


def test_what_somebody_wants_forgotten_is_not_kept(bed: Bed) -> None:
    """The message is not shown, and the same said before in that talk is dropped."""
    bed.turn("I owe Casimir four thousand.")
    bed.turn("Please forget this: I owe Casimir four thousand.")
    assert not extracted(
        bed, fact("I owe Casimir four thousand", "Sam owes Casimir.", "Sam", "owes", "Casimir")
    )
    assert not changes(bed)


@pytest.mark.parametrize(
    "answer",
    [
        "There are many interesting things here, let me tell you about them.",
        "这里没有什么值得记住的事情，我们聊点别的吧。",
        '{"facts": [{"quote": "My friend Ann hates rain", "text": "Ann hates rain."}]}',
        ModelReply(finish="refusal", text="I cannot help with that."),
        "",
    ],
)
def test_an_answer_that_is_none_is_asked_for_again_and_then_put_aside(
    bed: Bed, answer: str | ModelReply
) -> None:
    """The turns are kept as a dead row, the worker goes on, and they can be tried again."""
    bed.turn("I live in Lisbon.")
    model = ScriptedModel(lambda _: answer)
    bed.run(Extract(), model)
    assert len(model.requests) == 2
    (dead,) = bed.state.changes.in_state("dead")
    assert dead.body["turns"] == [1]
    worker = Worker()
    bed.state.changes.retry(dead.number)
    worker.facts = [LISBON]
    bed.run(Extract(), worker.model)
    assert [each.body["object"] for each in bed.state.changes.in_state("candidate")] == ["Lisbon"]
    assert not bed.state.changes.in_state("dead")


def test_a_weak_model_may_answer_in_lines(bed: Bed) -> None:
    """The plainer request takes what a table would look like."""
    bed.turn("I live in Lisbon.")
    answers = iter(["Sure! Here you go.", "Sam | lives_in | Lisbon | I live in Lisbon"])
    bed.run(Extract(), ScriptedModel(answers))
    (found,) = bed.state.changes.in_state("candidate")
    assert found.body["object"] == "Lisbon"


def test_ten_thousand_candidates_are_a_few(bed: Bed) -> None:
    """Each is checked, the same once, and more than forty are not kept."""
    bed.turn(" ".join(f"My key number {n} is K{n}." for n in range(200)))
    many = [
        fact(f"My key number {n % 100} is K{n % 100}", f"Sam has key K{n % 100}.", "Sam", "key",
             f"K{n % 100}")
        for n in range(10_000)
    ]  # fmt: skip
    assert len(extracted(bed, *many)) == 40


def test_the_worker_waits_for_more_turns(bed: Bed) -> None:
    """At a pause a call is made for many turns, or for what has waited long."""
    context = bed.context(Worker().model, when="idle")
    context.eager = False
    for number in range(19):
        bed.turn(f"My key number {number} is K{number}.")
        assert not Extract().due(context)
    bed.turn("I live in Lisbon.")
    assert Extract().due(context)
    bed.run(Extract(), Worker().model)
    bed.turn("I have a dog.")
    assert not Extract().due(context)
    bed.clock.advance(seconds=timedelta(days=1).total_seconds())
    assert Extract().due(context)


def test_an_unreachable_model_loses_nothing(bed: Bed) -> None:
    """The turns are due again."""
    bed.turn("I live in Lisbon.")
    with pytest.raises(ModelUnreachable):
        bed.run(Extract(), ScriptedModel([ModelUnreachable("no route")]))
    assert len(extracted(bed, LISBON)) == 1


def test_two_workers_read_turns_once(bed: Bed) -> None:
    """The second finds that the cursor has moved."""
    bed.turn("I live in Lisbon.")
    first = Worker()

    def slow(prompt: str) -> list[dict[str, Any]]:
        second = Worker()
        second.facts = [LISBON]
        bed.run(Extract(), second.model)
        return [LISBON]

    first.facts = slow
    Extract().run(bed.context(first.model), CancelToken())
    assert len(changes(bed)) == 1


def test_an_answer_may_be_wrapped(bed: Bed) -> None:
    """In prose and fences, as a bare list, or as a single object."""
    for number, wrap in enumerate((lambda x: f"Here:\n```json\n{x}\n```", str, lambda x: x[1:-1])):
        bed.turn(f"I live in Lisbon{number}.")
        found = fact(f"I live in Lisbon{number}", "", "I", "lives_in", f"Lisbon{number}")
        bed.run(Extract(), ScriptedModel([wrap(json.dumps([found]))]))
    objects = [each.body["object"] for each in bed.state.changes.in_state("candidate")]
    assert objects == ["Lisbon0", "Lisbon1", "Lisbon2"]
