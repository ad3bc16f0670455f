"""memory dump and load: stable bytes, edits, conflicts, bad files, all or nothing."""

import re
from collections.abc import Iterator
from pathlib import Path

import foreign_kit as kit
import pytest
from portable_kit import sound

from pagemind.runtime.definition import parse_definition
from pagemind.runtime.errors import ExportTooNew, UserError
from pagemind.runtime.facts import FactBook
from pagemind.runtime.portable.folder.dump import dump_memory
from pagemind.runtime.portable.folder.load import Loaded, load_memory
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import ScriptedModel

TEXTS = ("The spare key lies under the stone.", "灯台\r\n\r\nis: a # lighthouse ", "---\nx: 1\n---")


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    """ada, who has talked and keeps three passages."""
    with Runtime(tmp_path / "home", background=False) as made:
        model = ScriptedModel([], after="Well.")
        agent = made.agent("ada", definition=parse_definition(kit.PLAIN), model=model)
        agent.send("My boat is called Nomad.", speaker="sam")
        agent.close()
        with made.writer("ada") as writer:
            for text in TEXTS:
                writer.insert(text, tags=["yes", "a: b"], importance=7)
        yield made


@pytest.fixture
def folder(runtime: Runtime, tmp_path: Path) -> Path:
    dump_memory(runtime, "ada", tmp_path / "mem")
    return tmp_path / "mem"


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def file_of(folder: Path, number: int) -> Path:
    (found,) = (folder / "passages").glob(f"a{number}-*.md")
    return found


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def block(runtime: Runtime, label: str = "human") -> str:
    with runtime.reader("ada") as reader:
        sound(reader)
        return next(b.value for b in reader.state.blocks.all() if b.label == label)


def passages(runtime: Runtime) -> dict[str, str]:
    with runtime.reader("ada") as reader:
        return {p.short_id: p.text for p in reader.state.passages.newest(99)}


def load(runtime: Runtime, folder: Path, *, sync: bool = False, force: bool = False) -> Loaded:
    return load_memory(runtime, "ada", folder, sync=sync, force=force)


def test_the_same_memory_is_the_same_bytes(runtime: Runtime, folder: Path, tmp_path: Path) -> None:
    """Into the same folder, of which nothing is written, and into another one."""
    before = files(folder)
    assert dump_memory(runtime, "ada", folder).written == 0
    dump_memory(runtime, "ada", tmp_path / "other")
    assert files(folder) == before == files(tmp_path / "other")
    assert not load(runtime, folder).plan.changes


def test_a_conversation_can_be_read(folder: Path) -> None:
    """Who said what, under ids that can be searched for."""
    (path,) = (folder / "conversations").iterdir()
    text = path.read_text(encoding="utf-8")
    assert re.search(r"## m1 · sam · \d{4}-\d\d-\d\d \d\d:\d\d\n\nMy boat is called Nomad\.", text)


def test_edits_become_versions_of_a_person(runtime: Runtime, folder: Path) -> None:
    """Of a block and of a passage, with tags and importance; the folder follows."""
    with (folder / "blocks" / "human.md").open("a") as file:
        file.write("Likes tea.")
    path = file_of(folder, 1)
    edit(path, "stone", "fourth stone")
    edit(path, 'tags: ["yes", "a: b"]\nimportance: 7\n', "tags: [key]\n")
    assert len(load(runtime, folder).plan.changes) == 2
    assert block(runtime) == "Likes tea."
    with runtime.reader("ada") as reader:
        passage = reader.state.passages.get([1])[1]
        assert (passage.tags, passage.importance) == (("key",), None)
        for history in (reader.state.blocks.history("human"), reader.state.passages.history(1)):
            assert (history[-1].version, history[-1].author, history[-1].reason) == (
                2,
                "user",
                "load",
            )
        assert "Likes tea." in str(reader.request())
    edit(path, "fourth", "fifth")  # it can be edited on
    assert load(runtime, folder).plan.changes[0].conflict is False
    assert dump_memory(runtime, "ada", folder).written == 0


def test_a_new_file_is_a_passage_and_a_lost_one_retires(runtime: Runtime, folder: Path) -> None:
    """The new one gets its id and name, the lost one goes only with sync."""
    (folder / "passages" / "new.md").write_text("A new fact.\n")
    file_of(folder, 2).unlink()
    load(runtime, folder)
    assert passages(runtime)["a4"] == "A new fact."
    assert "a2" in passages(runtime)
    assert file_of(folder, 4).name == "a4-a-new-fact.md"
    assert not (folder / "passages" / "new.md").exists()
    load(runtime, folder, sync=True)
    assert "a2" not in passages(runtime)
    file_of(folder, 4).unlink()
    load(runtime, folder, sync=True)
    assert set(passages(runtime)) == {"a1", "a3"}


def test_what_the_agent_kept_meanwhile_is_not_retired(runtime: Runtime, folder: Path) -> None:
    """A folder that does not know a passage says nothing about it."""
    with runtime.writer("ada") as writer:
        writer.insert("Kept meanwhile.")
    edit(file_of(folder, 1), "stone", "rock")
    load(runtime, folder, sync=True)
    load(runtime, folder, sync=True)
    assert "a4" in passages(runtime)


def test_both_changed_is_a_conflict(runtime: Runtime, folder: Path) -> None:
    """Refused as a whole; force takes the folder's. A file that was not edited is none."""
    with runtime.writer("ada") as writer:
        for number in (1, 2):
            writer.state.passages.edit(
                number, "The agent says.", author="model", reason="edited", seq=2
            )
    edit(file_of(folder, 1), "stone", "rock")
    edit(file_of(folder, 3), "x: 1", "x: 2")
    with pytest.raises(UserError, match="has changed these since the dump"):
        load(runtime, folder)
    assert "x: 1" in passages(runtime)["a3"]
    done = load(runtime, folder, force=True)
    assert [each.id for each in done.plan.changes] == ["a1", "a3"]
    assert "a2" in done.plan.notes[0]
    assert passages(runtime)["a1"].endswith("rock.")
    assert passages(runtime)["a2"] == "The agent says."


def test_a_dump_keeps_edits_and_files_of_others(runtime: Runtime, folder: Path) -> None:
    """Unless it is forced; what is not its own it never removes."""
    (folder / "notes.txt").write_text("mine")
    edit(file_of(folder, 1), "stone", "rock")
    with pytest.raises(UserError, match="edits that were not loaded: passages/a1"):
        dump_memory(runtime, "ada", folder)
    dump_memory(runtime, "ada", folder, force=True)
    assert "rock" not in file_of(folder, 1).read_text()
    assert (folder / "notes.txt").read_text() == "mine"
    with runtime.writer("ada") as writer:
        writer.retire(1, reason="wrong")
    assert dump_memory(runtime, "ada", folder).removed == 1


@pytest.mark.parametrize(
    ("name", "old", "new", "told"),
    [
        ("blocks/human.md", "version: 1", "version: [", r"human\.md:5: expected"),
        ("blocks/human.md", "version: 1\n", "", r"human\.md:1: it has no version"),
        ("blocks/human.md", "version: 1", "version: 9", r"human\.md:3: version 9 is not there"),
        ("blocks/human.md", "label: human", "label: ../x", r"human\.md:2: its label"),
        ("blocks/human.md", "---\n\n", "", r"human\.md:1: the front matter has no end"),
        ("passages/a1.md", "id: a1", "id: a99", r"a1-.*:2: there is no passage 'a99'"),
        ("passages/a1.md", "id: a1", "id: a2", r"a2 stands in another file too"),
        ("passages/a1.md", "importance: 7", "importance: 70", r":5: importance is a number"),
        ("passages/a1.md", 'tags: ["yes", "a: b"]', "tags: 3", r":4: tags is a list"),
        ("passages/a1.md", TEXTS[0], "", r"the text is empty"),
        ("README.md", "schema: 1", "schema: 9", "newer pagemind"),
        ("README.md", "agent: ada", "agent: eva", "memory of 'eva', not of 'ada'"),
        ("README.md", "format: pagemind memory", "format: x", "holds no memory of an agent"),
    ],
)
def test_a_bad_file_is_told_with_its_line(
    runtime: Runtime, folder: Path, name: str, old: str, new: str, told: str
) -> None:
    """And nothing is loaded, also of what was right."""
    edit(folder / "blocks" / "persona.md", "I am a test.", "I am another test.")
    path = file_of(folder, 1) if "a1" in name else folder / name
    text = path.read_text(encoding="utf-8") + ("More." if "human" in name else "")
    assert old in text
    head, _, tail = text.rpartition(old) if old.startswith("---") else text.partition(old)
    path.write_text(head + new + tail, encoding="utf-8")
    with pytest.raises(UserError, match=told):
        load(runtime, folder)
    assert block(runtime, "persona") == "I am a test."


def test_too_long_unknown_not_utf8_and_links(runtime: Runtime, folder: Path) -> None:
    """Each names its file, and the line where it can."""
    human = folder / "blocks" / "human.md"
    before = human.read_bytes()
    human.write_bytes(before + b"line\n" * 50)
    with pytest.raises(UserError, match=r"human\.md:48: 249 of 200 characters, 49 too many"):
        load(runtime, folder)
    human.write_bytes(before + b"a\nb\xff")
    with pytest.raises(UserError, match=r"human\.md:9: not UTF-8"):
        load(runtime, folder)
    human.write_bytes(before)
    other = folder / "blocks" / "humam.md"
    other.write_bytes(b"x")
    with pytest.raises(UserError, match="no block 'humam'") as caught:
        load(runtime, folder)
    assert "human" in caught.value.hint
    other.unlink()
    other.symlink_to("/etc/passwd")
    with pytest.raises(UserError, match="is a link"):
        load(runtime, folder)
    other.unlink()
    (folder / "passages").rename(folder / "away")
    (folder / "passages").symlink_to(folder / "away")
    for act in (lambda: load(runtime, folder), lambda: dump_memory(runtime, "ada", folder)):
        with pytest.raises(UserError, match="is a link"):
            act()


def test_a_folder_of_something_else_is_left_alone(runtime: Runtime, tmp_path: Path) -> None:
    """It has no README of ours; a hidden file does no harm."""
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / ".git").mkdir()
    dump_memory(runtime, "ada", tmp_path / "x")
    (tmp_path / "y").mkdir()
    (tmp_path / "y" / "notes.md").write_text("mine")
    with pytest.raises(UserError, match="holds no memory"):
        dump_memory(runtime, "ada", tmp_path / "y")
    assert [path.name for path in (tmp_path / "y").iterdir()] == ["notes.md"]


def test_a_newer_schema_is_its_own_error(runtime: Runtime, folder: Path) -> None:
    """So that a program can tell."""
    edit(folder / "README.md", "schema: 1", "schema: 2")
    with pytest.raises(ExportTooNew):
        load(runtime, folder)


def test_line_ends_of_an_editor_change_nothing(runtime: Runtime, folder: Path) -> None:
    """CRLF, a byte order mark, one line end more at the end or none."""
    for path in [*(folder / "passages").iterdir(), *(folder / "blocks").iterdir()]:
        data = path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        path.write_bytes(b"\xef\xbb\xbf" + data + b"\r\n")
    assert not load(runtime, folder).plan.changes


def test_a_fact_says_when_it_holds_and_keeps_that(runtime: Runtime, tmp_path: Path) -> None:
    """What ended, and what took its place, stands in its file; an edit of the text keeps it."""
    agent = runtime.agent("ada", model=ScriptedModel(after="Well."))
    book = FactBook(agent.state)
    old, new = (book.add("Sam", "lives_in", city).passage for city in ("Lisbon", "Porto"))
    agent.close()
    folder = tmp_path / "facts"
    dump_memory(runtime, "ada", folder)
    text = file_of(folder, old.number).read_text(encoding="utf-8")
    assert "kind: fact" in text
    assert f"superseded_by: {new.short_id}" in text
    assert "valid_to: " in text
    edit(file_of(folder, old.number), "Lisbon.", "Lisbon, by the river.")
    edit(file_of(folder, new.number), "kind: fact", "kind: note")
    loaded = load_memory(runtime, "ada", folder)
    assert any("kind is not loaded" in note for note in loaded.plan.notes)
    with runtime.reader("ada") as reader:
        sound(reader)
        records = reader.state.passages.get([old.number, new.number])
        assert records[old.number].text.endswith("by the river.")
        assert records[old.number].standing == "past"
        assert records[new.number].kind == "fact"
