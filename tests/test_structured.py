"""Structured output: a reply fits its schema, or it is said why not."""

import pytest
from kernel_kit import small
from pydantic import BaseModel

from pagemind.runtime.errors import UserError
from pagemind.runtime.json_reply import read_json
from pagemind.runtime.structured import faults_of
from pagemind.runtime.testing import ScriptedModel, temporary_runtime

BOAT = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "berth": {"type": "integer"}},
    "required": ["name", "berth"],
}


class Boat(BaseModel):
    name: str
    berth: int


def test_the_value_is_in_the_answer() -> None:
    """Asked again where it does not fit, told why; what all of it took is one sum."""
    model = ScriptedModel(['{"name": "Nomad"}', '{"name": "Nomad", "berth": 42}'])
    with temporary_runtime() as runtime:
        agent = runtime.agent("ada", small(), model=model)
        turn = agent.send("Where is she?", schema=BOAT)
        assert turn.data == {"name": "Nomad", "berth": 42}
        assert turn.steps == 2
        assert turn.as_json()["data"]["berth"] == 42
        assert "'berth' is a required property" in model.requests[-1].messages[-1].text


def test_a_pydantic_model_gives_its_instance() -> None:
    """Its own checks count as well."""
    model = ScriptedModel(['```json\n{"name": "Nomad", "berth": 42}\n```'])
    with temporary_runtime() as runtime:
        turn = runtime.agent("ada", small(), model=model).send("Where?", schema=Boat)
        assert turn.data == Boat(name="Nomad", berth=42)
        assert turn.as_json()["data"] == {"name": "Nomad", "berth": 42}


def test_it_is_asked_a_bounded_number_of_times() -> None:
    """Then there is no value, and the reasons say why."""
    model = ScriptedModel(after="I would rather not.")
    with temporary_runtime() as runtime:
        turn = runtime.agent("ada", small(), model=model).send("Where?", schema=BOAT)
        assert turn.data is None
        assert turn.reasons[-1] == "schema: it holds no JSON"
        assert len(model.requests) == 3
        assert "data" not in turn.as_json()


def test_the_same_id_gives_the_same_value() -> None:
    """Also what was asked again is not asked a second time."""
    model = ScriptedModel(["no", '{"name": "Nomad", "berth": 42}'])
    with temporary_runtime() as runtime:
        agent = runtime.agent("ada", small(), model=model)
        for _ in range(2):
            assert agent.send("Where?", id="x", schema=BOAT).data["berth"] == 42
        assert len(model.requests) == 2


def test_what_is_no_schema_is_refused() -> None:
    """Before anything is said."""
    with temporary_runtime() as runtime:
        agent = runtime.agent("ada", small(), model=ScriptedModel())
        with pytest.raises(UserError, match="no JSON schema"):
            agent.send("x", schema={"type": "nonsense"})
        assert agent.state.journal.count() == 0


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[1, 2]", [1, 2]),
        ('Sure:\n```\n{"a": 1}\n```\nDone.', {"a": 1}),
        ("Here it is: {'a': 1, }", {"a": 1}),
        ("7", 7),
    ],
)
def test_json_is_found_in_a_reply(text: str, value: object) -> None:
    """Alone, fenced, or to be mended."""
    assert read_json(text) == value


def test_faults_are_told_in_one_line() -> None:
    """Where they are, and a few at most."""
    told = faults_of({"name": 1, "berth": "x"}, BOAT)
    assert "name: 1 is not of type 'string'" in told
    assert "\n" not in told


@pytest.mark.parametrize("text", ["[" * 3000, "Here: " + "[" * 3000, '{"a":' * 3000])
def test_brackets_without_end_are_no_json(text: str) -> None:
    """A weak model's answer, and no fault of ours."""
    with pytest.raises(ValueError, match=r"deeply|no JSON"):
        read_json(text)
