"""The guided protocol: one turn as narrow questions, answered as ordinary replies."""

import json
from collections.abc import Callable, Sequence

import pytest

from pagemind.runtime.core_memory import Block, CoreMemory
from pagemind.runtime.errors import LocalModelError
from pagemind.runtime.message import Message, Provenance, Text, ToolCall
from pagemind.runtime.model import (
    EmbeddingIdentity,
    ModelReply,
    ModelRequest,
    ToolSchema,
    Usage,
)
from pagemind.runtime.models.guided_model import GuidedModel
from pagemind.runtime.models.guided_prompt import guided_prompt
from pagemind.runtime.models.scripted_model import ScriptedModel
from pagemind.runtime.template import Template, load
from pagemind.runtime.tokens import TokenCounter
from pagemind.tools import find

FUNCTIONS = ("core_append", "core_edit", "recall_search", "archival_search")


def kind(request: ModelRequest) -> str:
    """Which narrow question a request puts."""
    if request.response_schema is None:
        return "reply"
    return "note" if request.response_schema["type"] == "array" else "search"


def inner(
    notes: Sequence[str] = (), search: str = "", reply: Callable[[str], str] = lambda said: said
) -> ScriptedModel:
    """A model that answers each kind of question in one way; the reply echoes what it was given."""

    def answer(request: ModelRequest) -> str:
        match kind(request):
            case "note":
                return json.dumps(list(notes))
            case "search":
                return json.dumps({"search": search})
        return reply(request.messages[-1].text)

    return ScriptedModel(answer)


def request(
    *said: str | Message, known: str = "", tools: Sequence[str] = FUNCTIONS, room: int = 2000
) -> ModelRequest:
    """A step as the runtime asks for it; texts alternate between person and assistant."""
    messages = [
        each
        if isinstance(each, Message)
        else Message("assistant" if i % 2 else "user", (Text(each),))
        for i, each in enumerate(said)
    ]
    core = CoreMemory([Block("persona", "I am kind.", 500), Block("human", known, room)])
    schemas: tuple[ToolSchema, ...] = tuple(tool.schema for tool in find(tools)) if tools else ()
    return ModelRequest(("You are an assistant.", core.render()), tuple(messages), schemas)


def done(name: str, result: str, *, ok: bool = True, **arguments: str) -> tuple[Message, Message]:
    """A call of this turn and its result."""
    call = ToolCall("call_1", name, json.dumps(arguments))
    return (
        Message("assistant", (), (call,)),
        Message("tool", (Text(result),), tool_call_id="call_1", name=name, ok=ok),
    )


def calls(reply: ModelReply) -> list[tuple[str, dict[str, object]]]:
    return [(call.name, call.parsed()) for call in reply.tool_calls]


def test_a_lasting_fact_becomes_core_append() -> None:
    """What a person tells of themselves is noted first, short and without "I"."""
    model = inner(["moved to Porto"])
    reply = GuidedModel(model).complete(request("I just moved to Porto."))
    assert calls(reply) == [("core_append", {"block": "human", "content": "lives in Porto"})]
    assert reply.finish == "tool_calls"
    assert [kind(each) for each in model.requests] == ["note"]


def test_after_noting_comes_the_reply() -> None:
    """The step after the note speaks, and is given the new fact as said to the person."""
    note = done("core_append", "human is now:\nis vegan", block="human", content="is vegan")
    model = inner()
    reply = GuidedModel(model).complete(request("I'm vegan, remember that.", *note))
    assert reply.text == "[New: You are vegan.]"
    assert [kind(each) for each in model.requests] == ["reply"]


@pytest.mark.parametrize(
    "said", ["Hello!", "Thanks, that was great!", "I'm bored.", "Tell me a joke.", "ok"]
)
def test_small_talk_asks_no_narrow_question(said: str) -> None:
    """Greetings, thanks, moods and tasks go straight to the reply, in the person's own words."""
    model = inner(["never asked"], "never asked")
    assert GuidedModel(model).complete(request(said)).text == said
    assert [kind(each) for each in model.requests] == ["reply"]


def test_a_known_fact_is_not_noted_again() -> None:
    """A fact that core memory has is passed over."""
    reply = GuidedModel(inner(["dog is called Rex"])).complete(
        request("My dog is called Rex.", known="dog is called Rex")
    )
    assert not reply.tool_calls


def test_a_changed_fact_replaces_its_line() -> None:
    """A correction edits the line it corrects instead of contradicting it."""
    guided = GuidedModel(inner(["favourite color is blue"]))
    known = "name is Ada\nfavourite color is green"
    reply = guided.complete(request("My favourite color is blue, not green.", known=known))
    edit = {
        "block": "human",
        "old_text": "favourite color is green",
        "new_text": "favourite color is blue",
    }
    assert calls(reply) == [("core_edit", edit)]


def test_a_correction_may_lean_on_what_is_known() -> None:
    """ "It's blue, not green" changes the line with green, whatever the model made of it."""
    guided = GuidedModel(inner(["blue is not green"]))
    reply = guided.complete(request("It's blue, not green.", known="favourite color is green"))
    assert calls(reply)[0][1]["new_text"] == "favourite color is blue"


def test_a_note_that_loses_a_name_gives_way_to_the_sentence() -> None:
    """What the model drops is taken from the person's own words."""
    guided = GuidedModel(inner(["wife is a dentist"]))
    reply = guided.complete(request("My wife Lucia is a dentist."))
    assert calls(reply)[0][1]["content"] == "wife Lucia is a dentist"


def test_an_invented_note_is_dropped() -> None:
    """A note that has nothing of the message is the model's imagination."""
    reply = GuidedModel(inner(["lives on Mars"])).complete(request("We named our boat Nomad."))
    assert not reply.tool_calls


def test_a_full_or_locked_block_is_left_alone() -> None:
    """No note is made that the block could not take."""
    full = request("My name is Ada.", known="x" * 98, room=100)
    assert not GuidedModel(inner(["name is Ada"])).complete(full).tool_calls


def test_only_the_person_is_noted() -> None:
    """Words of a timer, a system or another agent are no facts about the person."""
    alert = Message("user", (Text("My disk is full."),), provenance=Provenance("runtime"))
    model = inner(["disk is full"])
    assert not GuidedModel(model).complete(request(alert)).tool_calls
    assert [kind(each) for each in model.requests] == ["reply"]


def test_a_known_fact_answers_without_a_search() -> None:
    """A question that core memory answers is given its line, in the second person, and no other."""
    model = inner(search="dog")
    known = "name is Ada\ndog is called Rex\nlives in Porto"
    reply = GuidedModel(model).complete(request("What is my dog called?", known=known))
    assert reply.text == "[Your dog is called Rex.] What is my dog called?"
    assert [kind(each) for each in model.requests] == ["reply"]


def test_an_open_question_about_the_past_is_searched() -> None:
    """What nothing at hand answers becomes recall_search with the model's words."""
    reply = GuidedModel(inner(search="boat")).complete(
        request("What did I tell you about my boat?", known="name is Ada")
    )
    assert calls(reply) == [("recall_search", {"query": "boat"})]


@pytest.mark.parametrize("imagined", ["", "unicorns"])
def test_a_search_without_useful_words_takes_the_questions_own(imagined: str) -> None:
    """A model that names no words, or words of its own, is helped out."""
    reply = GuidedModel(inner(search=imagined)).complete(request("Where did I park the old Saab?"))
    assert calls(reply) == [("recall_search", {"query": "park old saab"})]


def test_common_knowledge_is_not_searched() -> None:
    """A question that is not about the person asks nobody for search words."""
    model = inner(search="France")
    GuidedModel(model).complete(request("What is the capital of France?"))
    assert [kind(each) for each in model.requests] == ["reply"]


def test_without_a_search_function_there_is_no_search() -> None:
    """The step offers only what the request's functions allow."""
    reply = GuidedModel(inner(search="boat")).complete(
        request("What did I tell you about my boat?", tools=())
    )
    assert not reply.tool_calls


def test_what_was_found_stands_before_the_question() -> None:
    """A hit is turned to the person; the question itself, which recall has too, is left out."""
    asked = "Where did I park the car?"
    found = done(
        "recall_search",
        "2 matches among 9 messages\n-- conversation 1, Monday, 4 May 2026\n"
        f"m3 (p1) 14:03 user: I parked my car behind the church.\nm9 15:00 user: {asked}",
        query="park car",
    )
    reply = GuidedModel(inner()).complete(request(asked, *found))
    assert reply.text == f"[You parked your car behind the church.] {asked}"


def test_nothing_found_in_recall_leads_to_archival_once() -> None:
    """The second tier is tried with the same words; then the reply is told that it is unknown."""
    asked = "When is my dentist appointment?"
    guided = GuidedModel(inner())
    first = done("recall_search", "0 matches among 9 messages", query="dentist")
    reply = guided.complete(request(asked, *first))
    assert calls(reply) == [("archival_search", {"query": "dentist"})]
    second = done("archival_search", "0 matches among 3 passages", query="dentist")
    reply = guided.complete(request(asked, *first, *second))
    assert reply.text == f"[Nothing found.] {asked}"


def test_prefetched_memories_answer_without_a_search() -> None:
    """What the runtime set before the message is used, and is not taken for the person's words."""
    text = (
        '<memories note="data">\nm3 2026-05-04 user: My boat lies at pier 7.\n</memories>\n'
        "[Mon 2026-05-11 09:00] sam: Where does my boat lie?"
    )
    event = Message("user", (Text(text),), speaker="sam")
    reply = GuidedModel(inner(search="boat")).complete(request(event))
    assert reply.text == "[Your boat lies at pier 7.] Where does my boat lie?"


def test_a_fact_and_a_question_in_one_message_are_both_served() -> None:
    """The fact is noted in the first step and the question answered in the next."""
    said = "My sister Nina is getting married in June. What is my sister's name?"
    guided = GuidedModel(inner(["sister Nina is getting married in June"]))
    first = guided.complete(request(said))
    fact = "sister Nina is getting married in June"
    assert calls(first) == [("core_append", {"block": "human", "content": fact})]
    note = done("core_append", "ok", block="human", content=fact)
    second = guided.complete(request(said, *note, known=fact))
    assert second.text.startswith("[Your sister Nina is getting married in June.]")


def test_all_that_is_known_is_told_when_asked() -> None:
    """ "What do you know about me?" gets every line."""
    known = "name is Ada\nlives in Porto"
    reply = GuidedModel(inner()).complete(request("What do you know about me?", known=known))
    assert reply.text.startswith("[Your name is Ada. You live in Porto.]")


def test_the_reply_streams_and_sums_what_it_cost() -> None:
    """Only the reply streams; usage is that of all questions, and not for calibration."""
    model = inner(search="")
    model_usage = Usage(10, 2, 5)

    class Counting(ScriptedModel):
        def complete(self, request, **rest):  # type: ignore[no-untyped-def]  # passes all through
            reply = model.complete(request, **rest)
            return ModelReply(reply.text, usage=model_usage, cost=0.0)

    seen: list[str] = []
    reply = GuidedModel(Counting()).complete(request("How can I fix my bike?"), on_text=seen.append)
    assert "".join(seen) == reply.text
    assert reply.usage == Usage(20, 4, 10)
    assert (reply.calibrates, reply.cost) == (False, 0.0)


def test_noting_a_fact_leaves_the_prefix_of_the_reply() -> None:
    """Core memory of the person is not in the head: an edit costs no prefix."""
    model = inner()
    guided = GuidedModel(model)
    guided.complete(request("Hello!", known="name is Ada"))
    guided.complete(request("Hello!", known="name is Ada\nlives in Porto"))
    first, second = model.requests
    assert first == second
    assert "I am kind." in "\n".join(first.system)


def test_other_requests_pass_through() -> None:
    """Summaries and requests with a schema of their own are the inner model's alone."""
    model = ScriptedModel(["a summary"])
    asked = ModelRequest((), (Message("user", (Text("My name is Ada."),)),), purpose="summary")
    assert GuidedModel(model).complete(asked).text == "a summary"
    assert model.requests == [asked]


def test_a_broken_embedder_leaves_the_words() -> None:
    """Where vectors fail, facts are found by the words they share with the question."""

    class Broken:
        identity = EmbeddingIdentity("broken", 3)

        def embed(self, texts: Sequence[str]) -> list[list[float]]:
            raise LocalModelError("no weights")

        def close(self) -> None:
            """Nothing to release."""

    guided = GuidedModel(inner(), embedder=Broken())
    reply = guided.complete(request("Where do I live?", known="lives in Porto"))
    assert reply.text == "[You live in Porto.] Where do I live?"


def test_what_is_filled_in_cannot_add_turns() -> None:
    """A message of several lines stays the one question at the end of its prompt."""
    template = Template.from_text("Do it.\n\n> a\n< b\n> {{ message }}")
    prompt = guided_prompt(template, message="one\n< two\n> three")
    assert prompt.instructions == "Do it."
    assert [turn.text for turn in prompt.turns] == ["a", "b", "one < two > three"]


def test_the_instructions_are_compact() -> None:
    """Prefill is slow: the guided system prompt stays under 250 tokens."""
    assert TokenCounter().count(load("guided").text) <= 250


def test_prefill_warms_the_heads_that_are_asked_later() -> None:
    """Each question's own head is read in advance, up to where the person's words come in."""
    warmed: list[ModelRequest] = []

    class Warming(ScriptedModel):
        def prefill(self, request: ModelRequest) -> None:
            warmed.append(request)

    GuidedModel(Warming()).prefill(request("Hello!", "Hi there."))
    model = inner()
    guided = GuidedModel(model)
    guided.complete(request("Hello!", "Hi there.", "My cat is old. What did I say of my dog?"))
    guided.complete(request("Hello!", "Hi there.", "Good night!"))
    by_kind = {kind(each): each for each in model.requests}
    for head in warmed:
        later = by_kind[kind(head)]
        assert head.system == later.system
        examples = head.messages[:-1]
        assert later.messages[: len(examples)] == examples
    assert [kind(each) for each in warmed] == ["note", "search", "reply"]


def test_an_answer_from_facts_sees_no_talk() -> None:
    """A small model repeats its last replies where it sees them: facts stand alone."""
    model = inner()
    talk = ("My cat is old.", "I will remember.", "Hm.", "Yes?")
    guided = GuidedModel(model)
    guided.complete(request(*talk, "What is my dog called?", known="dog is called Rex"))
    guided.complete(request(*talk, "Go on."))
    with_facts, without = (
        [m.text for m in each.messages] for each in model.requests if kind(each) == "reply"
    )
    assert "Yes?" not in with_facts
    assert without[-5:] == [*talk, "Go on."]


def test_a_question_for_two_things_gets_both_facts() -> None:
    """What is known of either stands before the question, and of nothing else."""
    asked = "What is my name and what is my dog called?"
    known = "name is Ada\ncat is called Tom\ndog is called Rex"
    text = GuidedModel(inner()).complete(request(asked, known=known)).text
    assert "Your name is Ada." in text
    assert "Your dog is called Rex." in text
    assert "Tom" not in text
