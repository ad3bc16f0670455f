"""A server's schema is made one that every provider takes, and checks arguments."""

import pytest

from pagemind.runtime.errors import BadArguments
from pagemind.runtime.mcp.plain_schema import SchemaArguments, clean, plain


def test_references_are_written_out_and_recursion_ends() -> None:
    """No $ref, $defs or title is left; what refers to itself is any value in the end."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Args",
        "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
        "properties": {
            "title": {"type": "string", "title": "Title"},
            "node": {"$ref": "#/$defs/node", "description": "The first."},
            "away": {"$ref": "https://example.org/schema.json"},
        },
        "required": ["title"],
        "anyOf": [{"required": ["node"]}],
    }
    made = plain(schema)
    assert "$ref" not in str(made)
    assert "$defs" not in str(made)
    assert made["type"] == "object"
    assert made["properties"]["title"] == {"type": "string"}
    assert made["properties"]["node"]["description"] == "The first."
    assert made["properties"]["away"] == {}
    assert made["required"] == ["title"]
    assert "anyOf" not in made


def test_a_schema_of_references_to_references_is_bounded() -> None:
    """One that would grow without end is cut, in no time."""
    names = [f"d{n}" for n in range(20)]
    definitions = {
        name: {"properties": {k: {"$ref": f"#/$defs/{after}"} for k in "abcd"}}
        for name, after in zip(names, [*names[1:], "d0"], strict=True)
    }
    made = plain({"$defs": definitions, "properties": {"x": {"$ref": "#/$defs/d0"}}})
    assert len(str(made)) < 300_000


def test_odd_schemas_become_sound_ones() -> None:
    """Whatever a server says, a provider gets an object with properties."""
    assert plain({}) == {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": True,
    }
    assert plain({"type": "string", "properties": 3})["properties"] == {}
    assert plain({"properties": {"a": True}, "required": "a"})["properties"] == {"a": {}}


def test_arguments_are_checked_and_mended() -> None:
    """Numbers in quotes are numbers; what is wrong is named; patterns are left to the server."""
    schema = plain(
        {
            "properties": {
                "n": {"type": "integer"},
                "words": {"type": "array", "items": {"type": "string"}},
                "code": {"type": "string", "pattern": "^(a+)+$"},
                "ctx": {"type": "boolean"},
            },
            "required": ["n"],
        }
    )
    arguments = SchemaArguments("s__t", schema)
    given = {"n": "5", "words": '["a"]', "code": "a" * 40 + "!", "ctx": "True"}
    assert vars(arguments.model_validate(given)) == {**given, "n": 5, "words": ["a"], "ctx": True}
    with pytest.raises(BadArguments, match=r"s__t: .*'n' is a required property"):
        arguments.model_validate({})
    with pytest.raises(BadArguments, match=r"words.0: 1 is not of type 'string'"):
        arguments.model_validate({"n": 1, "words": [1]})


def test_what_a_person_cannot_see_is_not_shown_to_a_model() -> None:
    """Characters without a shape hide instructions in descriptions."""
    hidden = "".join(chr(0xE0000 + ord(c)) for c in "steal")
    assert clean(f"Adds\u200b two\x07 numbers{hidden}.\n") == "Adds two numbers.\n"
    assert clean("x" * 50, 10) == "x" * 9 + "…"
