"""What becomes of each kind of file of another tool: messages, calls, times, memories, blocks."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import foreign_kit as kit
import pytest
from portable_kit import sound

from pagemind.runtime.definition import parse_definition
from pagemind.runtime.message import Message
from pagemind.runtime.portable.foreign.importer import Imported
from pagemind.runtime.runtime import Runtime


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    with Runtime(tmp_path / "home", background=False) as made:
        yield made


def take(runtime: Runtime, path: Path, name: str = "ada", **more: Any) -> Imported:
    made = {"definition": parse_definition(kit.PLAIN)} if "into" not in more else {}
    named = {} if "into" in more else {"name": name}
    return runtime.import_chats(path, **named, **made, **more)


def messages(runtime: Runtime, name: str = "ada") -> list[Message]:
    with runtime.reader(name) as reader:
        sound(reader)
        return [m for m, _, _ in reader.state.journal.range(1, 1 << 30)]


def left(done: Imported) -> dict[str, int]:
    return {each["what"]: each["count"] for each in done.as_json()["skipped"]}


def test_a_chat_keeps_speakers_times_and_calls(runtime: Runtime, tmp_path: Path) -> None:
    """Results stand in the order of their calls; a message without a time has the last one's."""
    done = take(runtime, kit.put(tmp_path / "chat.json", kit.CHAT))
    said = messages(runtime)
    assert [m.role for m in said] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
        "user",
        "assistant",
    ]
    assert [m.text for m in said[2:4]] == ["berth 42", "high at noon"]
    assert [m.tool_call_id for m in said[2:4]] == [call.id for call in said[1].tool_calls]
    assert said[1].tool_calls[1].parsed() == {"input": "high?"}
    assert said[0].said_at == datetime(2024, 3, 1, 10, tzinfo=UTC)
    assert said[5].said_at == datetime(2024, 3, 1, 10, 0, 5, tzinfo=UTC)
    assert [m.speaker for m in said[4:]] == ["assistant", "kim", "assistant"]
    assert {m.provenance.origin for m in said} == {"import"}
    assert {m.provenance.trust for m in said} == {50}
    assert said[0].provenance.detail == "openai: chat.json"
    assert left(done) == {"system prompt": 1, "image": 1}


def test_a_chat_is_the_same_in_every_layout(runtime: Runtime, tmp_path: Path) -> None:
    """A list, an object with messages, lines of messages: the same messages."""
    one = take(runtime, kit.put(tmp_path / "a.json", kit.CHAT))
    for path in (
        kit.put(tmp_path / "b.json", {"model": "x", "messages": kit.CHAT}),
        kit.lines(tmp_path / "c.jsonl", kit.CHAT),
        kit.put(tmp_path / "d.json", "\ufeff" + (tmp_path / "a.json").read_text()),
    ):
        done = take(runtime, path, into="ada")
        assert (done.taken.messages, done.taken.duplicates) == (0, one.taken.messages), path


def test_chats_on_lines_are_conversations_of_their_own(runtime: Runtime, tmp_path: Path) -> None:
    """Each line with messages is one, also where two begin alike."""
    hello = {"role": "user", "content": "hi"}
    talks = [{"messages": [hello, {"role": "assistant", "content": f"Hello {n}."}]} for n in "abb"]
    done = take(runtime, kit.lines(tmp_path / "x.jsonl", talks))
    assert done.taken.conversations == 3
    assert [m.conversation for m in messages(runtime)] == [1, 1, 2, 2, 3, 3]
    again = take(runtime, tmp_path / "x.jsonl", into="ada")
    assert (again.taken.messages, again.taken.duplicates) == (0, 6)


def test_chatgpt_gives_its_current_branch(runtime: Runtime, tmp_path: Path) -> None:
    """The others are counted; a message to a function is a call, the tool's is its result."""
    done = take(runtime, kit.put(tmp_path / "conversations.json", kit.chatgpt()))
    said = messages(runtime)
    assert [m.text for m in said] == [
        "Where is the tea house?",
        "In Uji.",
        "Compute 6*7",
        "",
        "42",
        "It is 42.",
        "?",
        "A cat.",
    ]
    assert said[3].tool_calls[0].name == said[4].name == "python"
    assert said[3].tool_calls[0].parsed() == {"input": "6*7"}
    assert said[0].said_at == datetime.fromtimestamp(1700000000.5, UTC)
    assert left(done) == {"image": 1, "message of another branch": 1}


def test_chatgpt_without_a_current_node_gives_the_newest_leaf(
    runtime: Runtime, tmp_path: Path
) -> None:
    """And a tree that is a circle ends."""
    talks = kit.chatgpt()
    del talks[0]["current_node"]
    talks[0]["mapping"]["r"]["parent"] = "a4"
    take(runtime, kit.put(tmp_path / "c.json", talks), source="chatgpt")
    assert messages(runtime)[-1].text == "A cat."


def test_claude_gives_text_calls_and_what_was_read(runtime: Runtime, tmp_path: Path) -> None:
    """An answer with a call in it becomes steps; the text of an attachment is kept."""
    done = take(runtime, kit.put(tmp_path / "conversations.json", kit.claude()))
    said = messages(runtime)
    assert [m.role for m in said] == ["user", "assistant", "tool", "assistant"]
    assert said[0].text.endswith("[log.txt]\nThe hull is oak.")
    assert said[0].said_at == datetime(2024, 5, 1, 8, 0, 0, 500000, UTC)
    assert (said[1].text, said[2].text, said[3].text) == (
        "Let me look.",
        "ochre",
        "They are ochre.",
    )
    assert left(done) == {"attachment": 1, "thought": 1}


def test_claude_gives_the_branch_of_the_newest_message(runtime: Runtime, tmp_path: Path) -> None:
    """Where messages name their parents."""
    talks = kit.claude()
    first, second = talks[0]["chat_messages"]
    first |= {"parent_message_uuid": "root"}
    second |= {"parent_message_uuid": "m1"}
    other = {**first, "uuid": "m0", "text": "An old question."}
    talks[0]["chat_messages"] = [other, first, second]
    done = take(runtime, kit.put(tmp_path / "c.json", talks))
    assert "An old question." not in [m.text for m in messages(runtime)]
    assert left(done)["message of another branch"] == 1


@pytest.mark.parametrize("value", [kit.letta(), kit.letta_new()], ids=["older", "newer"])
def test_letta_gives_talk_and_blocks(runtime: Runtime, tmp_path: Path, value: Any) -> None:
    """What send_message said is what was said; its receipt and notices are not taken."""
    done = take(runtime, kit.put(tmp_path / "iris.af", value))
    assert [m.text for m in messages(runtime)] == ["Is the fog bell working?", "It rings."]
    with runtime.reader("ada") as reader:
        blocks = {block.label: block for block in reader.state.blocks.all()}
        assert blocks["persona"].value == "I am Iris, a pilot."
        assert blocks["human"].value == "The person is Sam."
        assert ("ships" in blocks) == (done.taken.blocks == 3)
        assert "I am Iris, a pilot." in str(reader.request())
        version = reader.state.database.one(
            "SELECT author, origin, trust FROM block_versions WHERE label = 'persona'"
            " ORDER BY version DESC LIMIT 1"
        )
        assert version is not None
        assert tuple(version) == ("user", "import", 50)
    assert left(done)["function"] == 1


def test_blocks_with_a_text_are_left_alone(runtime: Runtime, tmp_path: Path) -> None:
    """In an agent that is there, only what is empty is filled."""
    runtime.create("ada", parse_definition(kit.PLAIN))
    done = take(runtime, kit.put(tmp_path / "iris.af", kit.letta()), into="ada")
    with runtime.reader("ada") as reader:
        blocks = {block.label: block.value for block in reader.state.blocks.all()}
    assert blocks["persona"] == "I am a test."
    assert blocks["human"] == "The person is Sam."
    assert left(done)["block"] == 1


def test_a_block_too_long_for_the_window_becomes_a_passage(
    runtime: Runtime, tmp_path: Path
) -> None:
    """Or the agent could not be opened."""
    value = kit.letta(core_memory=[{"label": "log", "value": "gull " * 2000, "limit": 20000}])
    done = take(runtime, kit.put(tmp_path / "iris.af", value))
    assert (done.taken.blocks, done.passages) == (0, 1)
    with runtime.reader("ada") as reader:
        assert reader.queue_manager.measure().room > 0


def test_mem0_gives_passages(runtime: Runtime, tmp_path: Path) -> None:
    """With time, tags and whose they are; once, also after one was forgotten."""
    path = kit.put(tmp_path / "mem0.json", kit.mem0())
    done = take(runtime, path)
    assert (done.taken.passages, done.pages, left(done)) == (1, 0, {"memory": 1})
    with runtime.writer("ada") as writer:
        passage = writer.state.passages.newest(1)[0]
        assert passage.tags == ("health",)
        assert passage.metadata == {"sure": True, "user_id": "sam"}
        assert passage.created_at == datetime(2024, 7, 1, 17, tzinfo=UTC)
        assert passage.provenance.origin == "import"
        writer.retire(passage.number, reason="wrong")
    again = take(runtime, path, into="ada")
    assert (again.taken.passages, again.taken.duplicates, again.passages) == (0, 1, 0)


def test_a_zip_is_read_as_its_conversations(runtime: Runtime, tmp_path: Path) -> None:
    """ChatGPT's and Claude's are told apart; what else is in it is named."""
    one = kit.zipped(
        tmp_path / "g.zip", conversations_json=kit.chatgpt(), chat_html="<html>", user_json={}
    )
    two = kit.zipped(tmp_path / "c.zip", conversations_json=kit.claude(), users_json=[])
    done = take(runtime, one)
    assert (done.source, done.taken.messages) == ("chatgpt", 8)
    assert done.notes == ("not read in the zip: chat.html, user.json",)
    done = take(runtime, two, into="ada")
    assert (done.source, done.taken.messages) == ("claude", 4)
    assert messages(runtime)[-1].text == "They are ochre."


def test_a_large_export_in_several_files_is_one(runtime: Runtime, tmp_path: Path) -> None:
    """conversations-000.json, conversations-001.json."""
    more = kit.chatgpt()
    more[0]["conversation_id"] = "conv-2"
    path = kit.zipped(
        tmp_path / "g.zip",
        **{"conversations-000_json": kit.chatgpt(), "conversations-001_json": more},
    )
    assert take(runtime, path).taken.conversations == 2


def test_naive_and_broken_times_are_told(runtime: Runtime, tmp_path: Path) -> None:
    """One without a zone is the agent's; one that is none is that of the message before."""
    chat = [
        {"role": "user", "content": "One.", "created_at": "2024-07-01T10:00:00"},
        {"role": "assistant", "content": "Two.", "created_at": "soon"},
        {"role": "user", "content": "Three.", "created_at": "2024-07-01T12:00:00+03:00"},
        {"role": "user", "content": "Four.", "created_at": 1719831660000},
    ]
    done = take(runtime, kit.put(tmp_path / "c.json", chat))
    at = [m.said_at for m in messages(runtime)]
    nine = datetime(2024, 7, 1, 9, tzinfo=UTC)
    assert at == [nine, nine, nine, datetime(2024, 7, 1, 11, 1, tzinfo=UTC)]
    assert any("Europe/Lisbon" in note for note in done.notes)
    assert any("cannot be read" in note for note in done.notes)


def test_calls_and_results_that_are_alone_are_made_legal(runtime: Runtime, tmp_path: Path) -> None:
    """A call gets a result that says there is none; a result is something observed."""
    call = {"id": "c1", "function": {"name": "tide", "arguments": "{}"}}
    chat = [
        {"role": "user", "content": "Tide?"},
        {"role": "assistant", "tool_calls": [call, call]},
        {"role": "user", "content": "Well?"},
        {"role": "tool", "tool_call_id": "c9", "name": "tide", "content": "low at six"},
        {"role": "assistant", "content": ""},
    ]
    done = take(runtime, kit.put(tmp_path / "c.json", chat))
    said = messages(runtime)
    assert [m.role for m in said] == ["user", "assistant", "tool", "user", "user"]
    assert (said[2].ok, said[2].tool_call_id) == (False, "c1")
    assert (said[4].kind, said[4].text) == ("observation", "low at six")
    assert left(done) == {"call": 1, "message": 1}
