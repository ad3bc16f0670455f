"""What the worker found, and turns that are taken back."""

import json
from contextlib import suppress

from write_kit import fact

from pagemind.runtime.definition import parse_definition
from pagemind.runtime.errors import Cancelled
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.testing import ScriptedModel, temporary_runtime

LISBON = fact("I live in Lisbon", "Sam lives in Lisbon.", "Sam", "lives_in", "Lisbon")
PORTO = fact("I moved to Porto", "Sam lives in Porto.", "Sam", "lives_in", "Porto")


def answer(request: ModelRequest) -> str:
    prompt = request.messages[-1].text
    if request.purpose != "background":
        return "Noted."
    return json.dumps({"facts": [each for each in (LISBON, PORTO) if each["quote"] in prompt]})


def test_undone_turns_take_their_facts_with_them_and_no_others() -> None:
    """What was found in earlier turns by the same sleep is found again."""
    yaml = "name: x\ncontext_window: 8192\nsleep: {when: idle, reflect: false}\n"
    with temporary_runtime() as runtime:
        agent = runtime.agent("ada", parse_definition(yaml), model=ScriptedModel(answer))

        def current() -> list[str]:
            passages = agent.state.passages.newest(9)
            return [each.text for each in passages if each.standing == "active"]

        agent.send("I live in Lisbon.", speaker="Sam")
        agent.send("I moved to Porto.", speaker="Sam")
        agent.sleep()
        assert current() == ["Sam lives in Porto."]
        agent.undo()
        agent.sleep()
        assert current() == ["Sam lives in Lisbon."]
        agent.send("I moved to Porto.", speaker="Sam")
        agent.sleep()
        assert current() == ["Sam lives in Porto."]


def test_a_turn_that_is_undone_while_the_worker_thinks_leaves_nothing() -> None:
    """The next sleep keeps what is left, and what is brought back, once."""
    yaml = "name: x\ncontext_window: 8192\nsleep: {when: off, reflect: false}\n"
    undone: list[ModelRequest] = []

    def meddling(request: ModelRequest) -> str:
        if request.purpose == "background" and not undone:
            undone.append(request)
            agent.undo()
        return answer(request)

    with temporary_runtime() as runtime:
        agent = runtime.agent("ada", parse_definition(yaml), model=ScriptedModel(meddling))

        def texts() -> list[str]:
            return sorted(p.text for p in agent.state.passages.newest(9) if p.kind == "fact")

        agent.send("I live in Lisbon.", speaker="Sam")
        agent.send("I moved to Porto.", speaker="Sam")
        with suppress(Cancelled):
            agent.sleep()
        assert undone
        agent.sleep()
        assert texts() == ["Sam lives in Lisbon."]
        agent.bring_back()
        agent.sleep()
        assert texts() == ["Sam lives in Lisbon.", "Sam lives in Porto."]
