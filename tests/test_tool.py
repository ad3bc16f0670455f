"""Tools: a plain function becomes a schema, and its arguments are checked leniently."""

from typing import Any, Literal

import pytest

from pagemind.runtime.errors import BadArguments, UnknownTool
from pagemind.runtime.heartbeat import FLAG, wants_heartbeat, with_heartbeat
from pagemind.runtime.message import ToolCall
from pagemind.runtime.tool import ToolContext, ToolRegistry, make_tool, takes_context, tool


@tool(effect="memory")
def remember(
    ctx: ToolContext,
    fact: str,
    tags: list[str] | None = None,
    weight: float = 1.0,
    kind: Literal["name", "date"] = "name",
) -> str:
    """Keep a fact.

    It is found again by its words.

    Args:
        fact: One fact, with
            names and dates.
        tags: Words to filter by.

    Returns:
        Nothing that a model should read.
    """
    return fact


def test_the_docstring_is_what_the_model_reads() -> None:
    """The text before Args is the description, each argument has its own, over several lines."""
    assert remember.name == "remember"
    assert remember.description == "Keep a fact.\n\nIt is found again by its words."
    properties = remember.parameters["properties"]
    assert properties["fact"]["description"] == "One fact, with names and dates."
    assert properties["tags"]["description"] == "Words to filter by."
    assert "description" not in properties["weight"]


def test_the_schema_is_slim() -> None:
    """No titles, no null branches, no context, no null defaults: they cost tokens."""
    assert set(remember.parameters["properties"]) == {"fact", "tags", "weight", "kind"}
    assert remember.parameters["required"] == ["fact"]
    assert remember.parameters["properties"]["tags"] == {
        "type": "array",
        "items": {"type": "string"},
        "description": "Words to filter by.",
    }
    assert "title" not in str(remember.parameters)
    assert "null" not in str(remember.parameters)
    assert remember.parameters["properties"]["kind"]["enum"] == ["name", "date"]


def test_undeclared_means_world() -> None:
    """Who does not say what a function may change is not trusted to repeat it."""

    def ring() -> str:
        """Ring."""
        return "rung"

    assert make_tool(ring).effect == "world"
    assert not takes_context(ring)
    assert takes_context(remember.function)


def test_a_function_that_says_nothing_is_refused() -> None:
    """Without a docstring or a type the model would have to guess."""

    def bare() -> str:
        return ""

    def untyped(x) -> str:
        """Do."""
        return ""

    with pytest.raises(TypeError, match="docstring"):
        make_tool(bare)
    with pytest.raises(TypeError, match="'x' has no type"):
        make_tool(untyped)


@pytest.mark.parametrize(
    ("given", "understood"),
    [
        ({"fact": "x"}, {"fact": "x"}),
        ({"fact": 42}, {"fact": "42"}),
        ({"fact": "x", "weight": "2.5"}, {"fact": "x", "weight": 2.5}),
        ({"fact": "x", "tags": None}, {"fact": "x"}),
        ({"fact": "x", "tags": "null"}, {"fact": "x"}),
        ({"fact": "x", "tags": ["a", "b"]}, {"fact": "x", "tags": ["a", "b"]}),
        ({"fact": ""}, {"fact": ""}),
    ],
)
def test_lenient_where_a_model_is_sloppy(given: dict[str, Any], understood: dict[str, Any]) -> None:
    """Numbers as text, text as numbers, null for left out."""
    assert remember.validate(given) == understood


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "fact"),
        ({"fact": None}, "fact"),
        ({"fact": "x", "wieght": 1}, "does not take wieght; its arguments: fact, tags, weight"),
        ({"fact": "x", "weight": "heavy"}, "weight"),
        ({"fact": "x", "kind": "colour"}, "kind"),
        ({"fact": ["x"]}, "fact"),
    ],
)
def test_each_wrong_argument_is_named(given: dict[str, Any], told: str) -> None:
    """And with it what would be right."""
    with pytest.raises(BadArguments, match="remember") as refused:
        remember.validate(given)
    assert told in refused.value.message
    assert "\n" not in refused.value.message


def test_an_unknown_name_brings_the_nearest() -> None:
    """Names in their order, and the closest."""
    registry = ToolRegistry([remember])
    assert registry.find("remember") is remember
    with pytest.raises(UnknownTool, match=r"Did you mean remember\? Functions: remember\."):
        registry.find("rememberr")
    with pytest.raises(UnknownTool, match="Functions: none"):
        ToolRegistry().find("x")


def test_two_functions_of_one_name_are_refused() -> None:
    """A call must have one meaning."""
    with pytest.raises(ValueError, match="'remember'"):
        ToolRegistry([remember, remember])


def test_the_heartbeat_flag_never_reaches_the_function() -> None:
    """It is one more argument in the schema and taken off before the call."""
    (beating,) = with_heartbeat([remember])
    assert FLAG in beating.parameters["properties"]
    assert beating.validate({"fact": "x", FLAG: "true"}) == {"fact": "x"}
    assert FLAG not in remember.parameters["properties"]


@pytest.mark.parametrize(
    ("flag", "wanted"),
    [
        *(("true", True), ('"true"', True), ('"True "', True), ('"yes"', True), ("1", True)),
        *(("false", False), ('"False"', False), ('""', False), ("null", False), ("0", False)),
        *(('"no"', False), ("[]", False)),
    ],
)
def test_the_flag_is_read_as_it_is_meant(flag: str, wanted: bool) -> None:
    """Models write booleans as words and numbers."""
    assert wants_heartbeat(ToolCall("c", "f", f'{{"{FLAG}": {flag}}}')) is wanted


def test_arguments_that_are_no_object_want_nothing() -> None:
    """No crash over broken JSON."""
    assert not wants_heartbeat(ToolCall("c", "f", "not json"))
