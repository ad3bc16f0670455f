"""The grammar of {reply | call}."""

import json

import pytest

from pagemind.runtime.model import ToolSchema
from pagemind.runtime.models.call_grammar import ReplyDecoder, call_schema, describe, parse
from pagemind.tools import find

TEXT = 'He said "hi"\n\tC:\\x – naïve 🍸 \u2028 end'


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_reply_streams_out_of_its_json(size: int, ascii_only: bool) -> None:
    """However the JSON is cut, the pieces add up to the text; escapes and pairs are whole."""
    encoded = json.dumps({"reply": TEXT}, ensure_ascii=ascii_only)
    decoder = ReplyDecoder()
    pieces = [decoder.feed(encoded[i : i + size]) for i in range(0, len(encoded), size)]
    assert "".join(pieces) == TEXT
    assert all(c < "\ud800" or c > "\udfff" for piece in pieces for c in piece)


def test_a_call_streams_nothing() -> None:
    """A call's arguments are not for the reader, even if they say reply."""
    decoder = ReplyDecoder()
    assert decoder.feed('{"call": "x", "arguments": {"reply": "secret"}}') == ""


def test_a_finished_answer_is_parsed() -> None:
    """A reply becomes text, a call its name and arguments."""
    assert parse('{ "reply" : "hi" }') == ("hi", None)
    text, call = parse('{"call": "core_append", "arguments": {"block": "human"}}')
    assert (text, call) == ("", ("core_append", '{"block": "human"}'))


def test_what_was_cut_off_is_kept_as_it_is() -> None:
    """A cut reply gives its beginning; a cut call its broken arguments, for the loop to refuse."""
    assert parse('{"reply": "half a sen') == ("half a sen", None)
    assert parse('{"call": "core_append", "arguments": {"blo') == (
        "",
        ("core_append", '{"blo'),
    )


def test_the_schema_bounds_every_string_argument() -> None:
    """A small model cannot babble inside an argument."""
    tool = ToolSchema(
        "t",
        "d",
        {
            "type": "object",
            "properties": {
                "a": {"type": "string", "description": "x"},
                "b": {"type": "array", "items": {"type": "string"}},
                "c": {"enum": ["x"], "type": "string"},
            },
            "required": ["a"],
        },
    )
    properties = call_schema([tool])["anyOf"][1]["properties"]["arguments"]["properties"]
    assert properties["a"]["maxLength"] == properties["b"]["items"]["maxLength"] == 400
    assert "maxLength" not in properties["c"]
    assert "description" not in properties["a"]


def test_functions_are_listed_on_one_line_each() -> None:
    """Name, arguments with the optional ones marked, and the first line of the description."""
    listed = describe([tool.schema for tool in find(["core_append", "archival_search"])])
    assert listed.splitlines()[0].startswith("core_append(block, content): ")
    assert "archival_search(query, tags?, " in listed
