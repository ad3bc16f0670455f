"""Rows of messages and passages."""

from dataclasses import replace

from tier_fakes import START

from pagemind.runtime.message import Message, Provenance, Text, ToolCall
from pagemind.runtime.passage import Passage
from pagemind.runtime.tiers.schema import (
    arrow_schema,
    embedded_text,
    from_arrow,
    indexable,
    rows_of_message,
    rows_of_passage,
    to_arrow,
)

SAID = Message(
    "user", (Text("The boat is called Nomad."),), seq=42, speaker="Sam", said_at=START, turn=7
)


def test_notices_readings_lookups_and_bare_calls_have_no_rows() -> None:
    """What the runtime said, what was read back and what was looked up is never found again."""
    call = ToolCall("1", "recall_search", "{}")
    for message in (
        replace(SAID, kind="notice"),
        replace(SAID, kind="reading"),
        Message("tool", (Text("m1 …"),), name="recall_search", seq=1),
        Message("tool", (Text("a1 …"),), name="archival_search", seq=1),
        Message("tool", (Text("[read p1]"),), name="page_in", seq=1),
        Message("assistant", (), (call,), seq=1),
        Message("user", (Text(" \n"),), seq=1),
    ):
        assert not indexable(message)
        assert rows_of_message(message) == []


def test_text_beside_a_call_and_the_results_of_other_functions_have_rows() -> None:
    """They say something."""
    call = ToolCall("1", "recall_search", "{}")
    assert indexable(Message("assistant", (Text("Let me look."),), (call,), seq=1))
    assert indexable(Message("tool", (Text("12 °C"),), name="weather", seq=1))


def test_the_three_line_field_holds_what_was_said_before() -> None:
    """Notices between the lines do not count."""
    before = (
        Message("user", (Text("What is it called?"),), seq=40, speaker="Ada"),
        Message("user", (Text("memory is nearly full"),), seq=41, kind="notice"),
    )
    (row,) = rows_of_message(SAID, before)
    assert row.lines == "Ada: What is it called?\nSam: The boat is called Nomad."
    assert row.line.endswith("Friday 1 May 2026 Sam: The boat is called Nomad.")


def test_a_long_message_becomes_several_rows_of_one_parent() -> None:
    """Each with its part, and with the end of nothing lost."""
    long = Message("user", (Text("Sentence number one. " * 200),), seq=9, speaker="Sam")
    rows = rows_of_message(long)
    assert len(rows) > 3
    assert {row.parent for row in rows} == {"m9"}
    assert [row.id for row in rows] == [f"m9.{i}" for i in range(1, len(rows) + 1)]
    assert {row.parts for row in rows} == {len(rows)}


def test_a_passage_is_indexed_with_its_tags() -> None:
    """They are words that someone chose to find it by."""
    passage = Passage(7, "x", "Slip 14.", tags=("boat", "harbour"), metadata={"b": 1, "a": "é"})
    (row,) = rows_of_passage(passage)
    assert row.line == "boat harbour: Slip 14."
    assert row.metadata == '{"a": "é", "b": 1}'
    assert (row.parent, row.kind, row.role) == ("a7", "passage", "")


def test_the_speaker_is_embedded_unless_it_only_repeats_the_role() -> None:
    """A name says who is meant; "user: " says nothing."""
    (named,) = rows_of_message(SAID)
    (plain,) = rows_of_message(replace(SAID, speaker="user"))
    assert embedded_text(named) == "Sam: The boat is called Nomad."
    assert embedded_text(plain) == "The boat is called Nomad."


def test_rows_survive_arrow() -> None:
    """Empty tags, missing times and importance included."""
    passage = Passage(
        1, "x", "It's 100 %\n“ok”", importance=7.5, provenance=Provenance("tool", trust=40)
    )
    rows = [*rows_of_message(SAID), *rows_of_passage(passage)]
    assert from_arrow(to_arrow(rows, arrow_schema(None))) == rows
