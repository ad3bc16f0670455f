"""What two texts tell, beside one another."""

import pytest

from pagemind.runtime.definition import parse_definition
from pagemind.runtime.testing import ScriptedModel, call, temporary_runtime
from pagemind.runtime.wording import contradicts, ends, likeness, tells_alike


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("The boat lies in slip 14.", "The boat lies in berth 14.", True),
        ("The boat lies in slip 14.", "The boat lies in slip 15.", False),
        ("Sam lives in Lisbon.", "Sam lives in Porto.", False),
        ("Sam eats meat.", "Sam does not eat meat.", False),
    ],
)
def test_names_numbers_and_denials_tell_texts_apart(one: str, other: str, alike: bool) -> None:
    """However near they are in meaning."""
    assert tells_alike(one, other) is alike
    assert contradicts(one, other) is not alike
    assert likeness(one, other) > 0.5


def test_another_subject_is_no_contradiction() -> None:
    """It only looks like it."""
    assert not contradicts("Sam lives in Lisbon.", "Ann lives in Porto.")


def test_what_is_over_is_said_of_its_value() -> None:
    """A text that says of something else that it is over ends nothing."""
    assert ends("Sam no longer likes jazz.", "jazz")
    assert ends("Sam does not play the oboe any more.", "oboe")
    assert not ends("Sam no longer likes jazz.", "rum")
    assert not ends("Sam does not like jazz.", "jazz")


def test_an_insert_names_what_it_perhaps_contradicts() -> None:
    """So that the agent can edit what is out of date."""
    old, new = (f"The old harbour office in Cascais opens at {n} on weekdays." for n in (8, 9))
    script = [call("archival_insert", content=old), "ok", call("archival_insert", content=new)]
    definition = parse_definition("name: x\ncontext_window: 8192\ntools: [archival]\n")
    with temporary_runtime() as runtime:
        agent = runtime.agent("ada", definition, model=ScriptedModel([*script, "ok"]))
        agent.send("It opens at 8.")
        agent.send("It opens at 9.")
        result = next(m for m in agent.state.journal.newest(9) if m.role == "tool")
    assert result.text.splitlines() == ["stored as a2", f"perhaps contradicts a1: {old}"]
