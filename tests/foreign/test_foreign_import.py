"""Importing as a whole: bad files, into an agent that lives, twice, cut off, large, in a search."""

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import foreign_kit as kit
import pytest
from portable_kit import sound

from pagemind.runtime.definition import parse_definition
from pagemind.runtime.errors import AgentExists, BadExport, UserError
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.testing import ScriptedModel


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    with Runtime(tmp_path / "home", background=False) as made:
        yield made


PLAIN = parse_definition(kit.PLAIN)


def talk(number: int, turns: int) -> dict[str, Any]:
    messages = []
    for at in range(turns):
        said = f"Talk {number}, line {at}: the crate K{number:03}{at:03} holds lamps and rope."
        messages.append({"role": "user", "content": said, "id": f"{number}-{at}"})
        messages.append({"role": "assistant", "content": "Noted.", "id": f"{number}-{at}a"})
    return {"id": f"talk {number}", "created_at": 1.6e9 + number * 1e5, "messages": messages}


def nothing(runtime: Runtime) -> bool:
    """No agent, and no folder of one."""
    return not runtime.agents() and not list((runtime.home.path / "agents").iterdir())


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("", "is empty"),
        ('[{"role": "user", "content": "hi', "truncated"),
        ('[{"role": "user", "content": "hi"}, nope]', "not JSON"),
        ('{"role": "user", "content": "a"}\n{"role": "user", "con', "line 2 is cut off"),
        ('{"role": "user", "content": "a"}\n[[\n', "line 2 is not JSON"),
        ('[{"role": "user", "content": ""}]', "nothing that can be imported"),
        ('{"a": 1}', "JSON of no kind known here"),
        ("Dear diary", "it is text"),
        (b"\x89PNG\0\0", "of no kind"),
        (b'[{"role": "user", "content": "\xff\xfe"}]', "not JSON"),
        ('[{"role": "user", "content": ' + "[" * 100_000, "nested too deeply"),
        ('{"agents": [], "blocks": [], "tools": []}', "holds 0 agents"),
        ('{"agent_type": "x", "core_memory": []}', "not known here"),
    ],
)
def test_a_bad_file_says_what_it_is(
    runtime: Runtime, tmp_path: Path, value: str | bytes, told: str
) -> None:
    """One line with a hint, and nothing is there."""
    path = kit.put(tmp_path / "file", value)
    with pytest.raises(BadExport, match=told) as caught:
        runtime.import_chats(path, name="ada", definition=PLAIN)
    assert caught.value.hint
    assert "\n" not in caught.value.message
    assert nothing(runtime)


def test_the_wrong_tool_is_named(runtime: Runtime, tmp_path: Path) -> None:
    """With the --from that reads it."""
    path = kit.put(tmp_path / "x.json", kit.claude())
    with pytest.raises(BadExport, match="it is a Claude data export") as caught:
        runtime.import_chats(path, name="ada", source="chatgpt")
    assert caught.value.hint == "--from claude reads it"
    with pytest.raises(UserError, match="no tool known"):
        runtime.import_chats(path, name="ada", source="gemini")


def test_a_folder_names_the_file_in_it(runtime: Runtime, tmp_path: Path) -> None:
    """An export that was unpacked."""
    kit.put(tmp_path / "conversations.json", kit.chatgpt())
    with pytest.raises(BadExport, match="is a folder") as caught:
        runtime.import_chats(tmp_path, name="ada")
    assert caught.value.hint.endswith("conversations.json")


def test_who_gets_it_must_be_said(runtime: Runtime, tmp_path: Path) -> None:
    """Either a new name or an agent that is there; a name that is taken is refused."""
    path = kit.put(tmp_path / "x.json", kit.CHAT)
    with pytest.raises(UserError, match="which agent"):
        runtime.import_chats(path)
    with pytest.raises(UserError, match="which agent"):
        runtime.import_chats(path, name="ada", into="eva")
    runtime.create("ada", PLAIN)
    with pytest.raises(AgentExists):
        runtime.import_chats(path, name="ada", definition=PLAIN)
    with runtime.reader("ada") as reader:
        assert reader.state.journal.count() == 0


def test_a_zip_that_is_a_bomb_is_refused(
    runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what it says of itself, and by what comes out of it."""
    monkeypatch.setattr("pagemind.runtime.portable.container.PORTABLE_FREE_BYTES", 10_000)
    chat = '[{"mapping": {}, "current_node": "x", "title": "' + "0" * 5_000_000 + '"}]'
    path = kit.zipped(tmp_path / "x.zip", conversations_json=chat)
    with pytest.raises(BadExport, match="would unfold to"):
        runtime.import_chats(path, name="ada", definition=PLAIN)
    # A zip's directory may say less than it holds.
    data = path.read_bytes()
    size = len(chat).to_bytes(4, "little")
    kit.put(path, data.replace(size, (100).to_bytes(4, "little")))
    with pytest.raises(BadExport):
        runtime.import_chats(path, name="ada", definition=PLAIN)
    assert nothing(runtime)


def test_names_in_a_zip_are_never_paths(runtime: Runtime, tmp_path: Path) -> None:
    """Nothing is unpacked; a link or a second file of the name is refused."""
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../conversations.json", json.dumps(kit.chatgpt()))
    before = sorted(tmp_path.iterdir())
    assert runtime.import_chats(path, name="ada", definition=PLAIN).messages == 8
    assert sorted(tmp_path.iterdir()) == before
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("../../conversations.json", "[]")
    with pytest.raises(BadExport, match="twice"):
        runtime.import_chats(path, into="ada")
    link = zipfile.ZipInfo("conversations.json")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(BadExport, match="link"):
        runtime.import_chats(path, into="ada", source="claude")


def test_a_file_that_breaks_off_leaves_an_agent_as_it_was(runtime: Runtime, tmp_path: Path) -> None:
    """After many messages were read, and stored."""
    agent = runtime.agent("ada", definition=PLAIN, model=ScriptedModel([], after="Well."))
    agent.send("Call me Sam.")
    agent.close()
    with runtime.reader("ada") as reader:
        before = (reader.request(), reader.info().messages, reader.state.journal.last_seq)
    text = json.dumps([talk(n, 300) for n in range(4)])
    with pytest.raises(BadExport, match="truncated"):
        runtime.import_chats(kit.put(tmp_path / "x.json", text[:-9]), into="ada")
    with runtime.reader("ada") as reader:
        assert (reader.request(), reader.info().messages, reader.state.journal.last_seq) == before
        sound(reader)


def test_an_agent_that_lives_goes_on(runtime: Runtime, tmp_path: Path) -> None:
    """Its talk is paged out, its summary kept, and the next turn is like any other."""
    agent = runtime.agent("ada", definition=PLAIN, model=ScriptedModel([], after="Well."))
    for at in range(12):
        agent.send(f"Message {at} about the harbour light and the winter berth of Nomad.")
    agent.close()
    done = runtime.import_chats(kit.put(tmp_path / "x.json", [talk(1, 60)]), into="ada")
    assert done.taken.messages == 120
    assert any("paged out" in note for note in done.notes)
    with runtime.reader("ada") as reader:
        sound(reader)
        assert len(reader.context.queue) == 0
        assert "120 messages imported from an OpenAI-style chat" in reader.context.summary
        assert "harbour light" in reader.context.summary
        assert "holds lamps" not in str(reader.request())  # nothing that it says is quoted
    agent = runtime.agent("ada", model=ScriptedModel([], after="Fine."))
    turn = agent.send("And now?")
    assert turn.text == "Fine."
    assert turn.conversation == 1  # it goes on where it was
    agent.close()
    with runtime.reader("ada") as reader:
        sound(reader)


def test_what_was_imported_is_found_and_read(runtime: Runtime, tmp_path: Path) -> None:
    """By words, by day and by page, beside what was said here."""
    runtime.import_chats(
        kit.put(tmp_path / "x.json", [talk(n, 20) for n in range(8)]), name="ada", definition=PLAIN
    )
    with runtime.reader("ada") as reader:
        hits = reader.search.search("recall", "K003007", SearchFilters(), 3).hits
        assert "K003007" in hits[0].text
        page = reader.state.pages.get(int(re.sub(r"\D", "", str(hits[0].page))))
        assert page is not None
        assert f"{page.first_at:%Y-%m-%d}" == "2020-09-16"
        assert page.gist == "imported from an OpenAI-style chat"


def test_no_word_of_a_file_stands_in_the_head(runtime: Runtime, tmp_path: Path) -> None:
    """Neither in the summary nor in the page table: both count as trusted."""
    runtime.import_chats(
        kit.put(tmp_path / "x.json", [talk(n, 20) for n in range(8)]), name="ada", definition=PLAIN
    )
    with runtime.reader("ada") as reader:
        assert "imported from" in reader.context.head()
        assert not re.search(r"K00\d|lamps|crate", reader.context.head())


def test_a_file_that_grew_adds_what_is_new(runtime: Runtime, tmp_path: Path) -> None:
    """In the conversations that are there, and new ones."""
    path = kit.put(tmp_path / "x.json", [talk(1, 3)])
    runtime.import_chats(path, name="ada", definition=PLAIN)
    kit.put(path, [talk(1, 5), talk(2, 2)])
    done = runtime.import_chats(path, into="ada")
    assert (done.taken.messages, done.taken.duplicates, done.taken.conversations) == (8, 6, 1)
    with runtime.reader("ada") as reader:
        numbers = [m.conversation for m, _, _ in reader.state.journal.range(1, 99)]
        assert numbers == [1] * 10 + [2] * 4
        sound(reader)


def test_an_id_that_stands_twice_is_told(runtime: Runtime, tmp_path: Path) -> None:
    """The first one is taken."""
    one = talk(1, 1)
    one["messages"].append({"role": "user", "content": "Another.", "id": "1-0"})
    done = runtime.import_chats(kit.put(tmp_path / "x.json", [one]), name="ada", definition=PLAIN)
    assert done.taken.messages == 2
    assert done.as_json()["skipped"][0]["why"] == "its id stands twice in the file"


def test_a_message_of_two_megabytes_is_stored_whole(runtime: Runtime, tmp_path: Path) -> None:
    """And does not fill the window."""
    long = [{"role": "user", "content": "gull rope " * 200_000}]
    runtime.import_chats(kit.put(tmp_path / "x.json", long), name="ada", definition=PLAIN)
    with runtime.reader("ada") as reader:
        assert len(reader.state.journal.get([1])[1].text) == 2_000_000
        assert str(reader.queue_manager.measure().level) == "normal"


def test_half_characters_and_nuls_are_cleaned(runtime: Runtime, tmp_path: Path) -> None:
    """What UTF-8 and SQLite cannot hold."""
    text = r'[{"role": "user", "name": "a\u0000b", "content": "x \ud83c y \u0000 z \ud83c\udf78"}]'
    runtime.import_chats(kit.put(tmp_path / "x.json", text), name="ada", definition=PLAIN)
    with runtime.reader("ada") as reader:
        said = reader.state.journal.get([1])[1]
        assert "\0" not in said.text + said.speaker
        assert said.text.encode("utf-8").endswith("🍸".encode())


def test_an_import_travels_in_an_export(runtime: Runtime, tmp_path: Path) -> None:
    """As a .pmz, and is known there: the file adds nothing to the copy."""
    path = kit.put(tmp_path / "x.json", kit.chatgpt())
    runtime.import_chats(path, name="ada", definition=PLAIN)
    runtime.export_agent("ada", tmp_path / "ada.pmz")
    runtime.import_agent(tmp_path / "ada.pmz", name="eva")
    done = runtime.import_chats(path, into="eva")
    assert (done.taken.messages, done.taken.duplicates) == (0, 8)


def test_memory_stays_flat(runtime: Runtime, tmp_path: Path) -> None:
    """However many messages a file has: ten times as many take about the same."""
    import tracemalloc

    peaks = []
    for talks in (4, 40):
        path = kit.put(tmp_path / f"{talks}.json", [talk(n, 20) for n in range(talks)])
        tracemalloc.start()
        runtime.import_chats(path, name=f"a{talks}", definition=PLAIN, source="openai")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0] + 8_000_000
