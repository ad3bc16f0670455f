"""Files go into archival memory once, stay in step with it, and survive any cut."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from document_kit import docx, pdf, write
from processes import python

from pagemind.runtime import ingest as module
from pagemind.runtime.definition import parse_definition
from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.ingest import Ingested, Progress, ingest, ingest_text
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import FrozenClock, HashingEmbedder
from pagemind.runtime.writer import AgentWriter

PLAIN = "name: ada\nembedding: none\ncontext_window: 4096\n"


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[AgentWriter]:
    """An agent at rest, held for writing."""
    home = tmp_path / "home"
    with Runtime(home, clock=FrozenClock(), embedder=HashingEmbedder(32)) as runtime:
        runtime.create("ada", parse_definition(PLAIN))
        with runtime.writer("ada") as writer:
            yield writer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(
        tmp_path / "handbook",
        {
            "ports.md": "# Horta\n\nBerth 42.\n",
            "deep/er/fuel.txt": "Fuel is at the pier.",
            ".hidden/secret.txt": "not this",
            ".hidden.txt": "nor this",
            "deep/photo.jpg": b"\xff\xd8\0",
        },
    )


def active(writer: AgentWriter) -> dict[str, str]:
    """The passages that are there: text and document."""
    found = writer.state.passages.newest(1 << 30)
    return {passage.text: passage.provenance.detail for passage in found}


def whole(writer: AgentWriter) -> None:
    """Every number of the table is a passage, and every file has a hash."""
    for document in writer.state.documents.all():
        assert len(document.sha256) == 64
        assert len(writer.state.passages.get(document.numbers)) == len(document.numbers)


def test_a_folder_goes_in_with_all_below_it(writer: AgentWriter, folder: Path) -> None:
    """Hidden files do not; what is no text is named."""
    done = ingest(writer, [folder], tags=["handbook"], importance=7)
    assert active(writer) == {
        "# Horta\n\nBerth 42.": "handbook/ports.md",
        "Fuel is at the pier.": "handbook/deep/er/fuel.txt",
    }
    assert (done.files, done.chunks, len(done.ids)) == (2, 2, 2)
    assert [(Path(s.path).name, s.why) for s in done.skipped] == [
        ("photo.jpg", "is not a text file")
    ]
    kept = writer.state.passages.newest(1)[0]
    assert (kept.tags, kept.importance) == (("handbook",), 7)
    whole(writer)


def test_what_is_unchanged_is_not_parsed_again(
    writer: AgentWriter, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its hash is enough, wherever the run starts; its passages are told as there already."""
    first = ingest(writer, [folder])
    monkeypatch.setattr(module, "parse", lambda *_: pytest.fail("it was parsed"))
    monkeypatch.chdir(folder.parent)
    (folder / "deep" / "photo.jpg").unlink()
    again = ingest(writer, [Path("handbook"), Path("handbook/ports.md")])
    assert (again.unchanged, again.files, again.ids) == (2, 2, [])
    assert sorted(again.duplicates) == sorted(first.ids)


def test_what_changed_is_brought_up_to_date(writer: AgentWriter, folder: Path) -> None:
    """Passages that are the same stay with their numbers, new ones come, vanished ones go."""
    part = "x" * 1000
    write(folder, {"ports.md": f"# A\n\n{part}\n\n# B\n\n{part}b\n"})
    first = ingest(writer, [folder / "ports.md"])
    assert first.ids == ["a1", "a2"]
    write(folder, {"ports.md": f"# A\n\n{part}\n\n# C\n\n{part}c\n"})
    done = ingest(writer, [folder / "ports.md"])
    assert (done.updated, done.duplicates, done.ids) == (1, ["a1"], ["a3"])
    assert done.retired == ["a2"]
    assert [text[:3] for text in active(writer)] == ["# C", "# A"]
    whole(writer)


def test_an_edit_outlives_a_change_of_its_file(writer: AgentWriter, folder: Path) -> None:
    """What somebody corrected or deleted is not undone as long as the file says the same there."""
    part = "x" * 1400
    write(folder, {"a.txt": f"one {part}\n\ntwo {part}\n\nthree {part}"})
    assert ingest(writer, [folder / "a.txt"]).ids == ["a1", "a2", "a3"]
    writer.state.passages.edit(1, "corrected", author="model", reason="edited", seq=0)
    writer.retire(2, reason="deleted")
    write(folder, {"a.txt": f"one {part}\n\ntwo {part}\n\nfour {part}"})
    done = ingest(writer, [folder / "a.txt"])
    assert (done.ids, done.retired) == (["a4"], ["a3"])
    assert [text[:9] for text in active(writer)] == [f"four {'x' * 4}", "corrected"]


def test_a_sync_retires_what_is_gone(writer: AgentWriter, folder: Path, tmp_path: Path) -> None:
    """Of this folder only, and not without being told to sync."""
    other = write(tmp_path / "handbook2", {"other.txt": "Another folder."})
    ingest(writer, [folder, other])
    shutil.rmtree(folder / "deep")
    (other / "other.txt").unlink()
    assert ingest(writer, [folder]).retired == []
    done = ingest(writer, [folder], sync=True)
    assert done.retired == ["a1"]
    assert set(active(writer)) == {"# Horta\n\nBerth 42.", "Another folder."}
    assert len(writer.state.documents.sources()) == 2
    write(folder, {"deep/er/fuel.txt": "Fuel is at the pier."})
    assert ingest(writer, [folder], sync=True).ids == ["a4"]


def test_a_passage_of_two_files_goes_with_the_last(writer: AgentWriter, folder: Path) -> None:
    """What another file holds stays; so does what a person had said before."""
    said, _ = writer.insert("The person said so.")
    write(folder, {"a.txt": "The same.", "b.txt": "The same.", "c.txt": "The person said so."})
    done = ingest(writer, [folder])
    assert sorted(done.duplicates) == [said.short_id, "a2"]
    (folder / "a.txt").unlink()
    (folder / "c.txt").unlink()
    assert ingest(writer, [folder], sync=True).retired == []
    (folder / "b.txt").unlink()
    assert ingest(writer, [folder], sync=True).retired == ["a2"]
    assert "The person said so." in active(writer)


def test_two_files_with_one_text_may_go_together(writer: AgentWriter, folder: Path) -> None:
    """Neither keeps the other's passage alive."""
    write(folder, {"a.txt": "The same.", "b.txt": "The same."})
    ingest(writer, [folder])
    (folder / "a.txt").unlink()
    (folder / "b.txt").unlink()
    assert len(ingest(writer, [folder], sync=True).retired) == 1


def test_what_cannot_be_read_now_is_not_gone(writer: AgentWriter, folder: Path) -> None:
    """A file that broke keeps its passages, a folder that cannot be read those of its files."""
    ingest(writer, [folder])
    write(folder, {"ports.md": b"\xff\xfe\xff"})
    done = ingest(writer, [folder], sync=True)
    assert done.retired == []
    assert len(active(writer)) == 2
    found = module.find_files([folder])
    found.unseen.append(module.find_files([folder / "deep"]).folders[0])
    found.files.clear()
    gone = found.gone(writer.state.documents.sources())
    assert [Path(source).name for source in gone] == ["ports.md"]


def test_a_file_that_was_emptied_has_no_passages(writer: AgentWriter, folder: Path) -> None:
    """A new empty file is named as such."""
    ingest(writer, [folder])
    write(folder, {"ports.md": " \n", "new.txt": ""})
    done = ingest(writer, [folder])
    assert len(done.retired) == 1
    assert [s.why for s in done.skipped if s.path.endswith("new.txt")] == ["is empty"]


def test_a_loop_of_links_ends(writer: AgentWriter, folder: Path) -> None:
    """Each folder is entered once."""
    (folder / "deep" / "up").symlink_to(folder, target_is_directory=True)
    (folder / "deep" / "none").symlink_to(folder / "nowhere")
    done = ingest(writer, [folder])
    assert (done.files, len(done.ids)) == (2, 2)
    assert ("none", "no such file or directory") in [
        (Path(s.path).name, s.why) for s in done.skipped
    ]


def test_every_kind_of_file_goes_in(writer: AgentWriter, tmp_path: Path) -> None:
    """With where it is from."""
    files = {
        "a.pdf": pdf(["Horta in a PDF."]),
        "b.docx": docx([("Heading1", "Title"), ("Normal", "Horta in a DOCX.")]),
        "c.html": "<title>Page</title><p>Horta in HTML.",
        "d.csv": "port,berths\nHorta in a CSV,300\n",
        "e.jsonl": '{"text": "Horta in JSONL.", "lang": "en"}\n{"text": \n',
        "f.md": "Horta in Markdown.",
    }
    done = ingest(writer, [write(tmp_path / "files", files)])
    assert (done.files, len(done.ids)) == (6, 6)
    assert [(Path(s.path).name, s.why[:18]) for s in done.skipped] == [
        ("e.jsonl", "row 2: is not JSON")
    ]
    kept = {p.provenance.detail: p for p in writer.state.passages.newest(10)}
    assert kept["files/a.pdf"].metadata == {"page": 1}
    assert kept["files/c.html"].text == "Page\n\nHorta in HTML."
    assert kept["files/e.jsonl"].metadata == {"row": 1, "fields": {"lang": "en"}}


def test_ten_thousand_broken_rows_are_said_once(writer: AgentWriter, tmp_path: Path) -> None:
    """The first ones by name, the others as a count."""
    path = write(tmp_path, {"a.jsonl": "{\n" * 10_000 + '"fine"\n'}) / "a.jsonl"
    done = ingest(writer, [path])
    assert len(done.skipped) == 21
    assert done.skipped[-1].why == "and 9,980 more of that"
    assert len(done.ids) == 1


def test_what_breaks_in_the_middle_keeps_what_was_read(writer: AgentWriter, tmp_path: Path) -> None:
    """It is not entered as read, and the next run says so again."""
    path = write(tmp_path, {"a.csv": 'a,b\n1,2\n3,"' + "x\n" * 100_000}) / "a.csv"
    for _ in range(2):
        done = ingest(writer, [path])
        assert "the 1 passages before that are kept" in done.skipped[0].why
        assert done.chunks == 1
        assert active(writer) == {"a: 1\nb: 2": "a.csv"}


def test_a_near_duplicate_is_named(writer: AgentWriter, tmp_path: Path) -> None:
    """What is new but means nearly the same as what was there."""

    class Near:
        """The agent, with an embedder that finds everything alike."""

        state = writer.state
        insert = staticmethod(writer.insert)
        retire = staticmethod(writer.retire)

        def near(self, text: str, limit: int) -> list[tuple[str, float]]:
            return [("a9", 0.95)]

    done = ingest(Near(), [write(tmp_path, {"a.txt": "Berth 42."}) / "a.txt"])
    assert done.as_json()["near"] == [{"id": "a1", "near": "a9", "similarity": 0.95}]


def test_progress_goes_from_nothing_to_all(writer: AgentWriter, folder: Path) -> None:
    """In files and in bytes, also within a long file."""
    write(folder, {"long.txt": "\n\n".join(f"{n} {'x' * 1400}" for n in range(300))})
    seen: list[Progress] = []
    ingest(writer, [folder], on_progress=seen.append)
    assert [now.bytes for now in seen] == sorted(now.bytes for now in seen)
    assert (seen[0].files, seen[0].bytes) == (0, 0)
    assert (seen[-1].files, seen[-1].bytes) == (seen[-1].of_files, seen[-1].of_bytes)
    assert sum(now.path.name == "long.txt" for now in seen) == 4


def test_a_very_long_text_becomes_several_passages(writer: AgentWriter) -> None:
    """A passage given directly is one up to a limit, which is named to whoever exceeds it."""
    assert len(ingest_text(writer, "word " * 10_000).ids) == 1
    done = ingest_text(writer, "word " * 40_000)
    assert len(done.ids) + len(done.duplicates) == done.chunks > 100
    assert {p.provenance.origin for p in writer.state.passages.newest(10)} == {"user"}
    with pytest.raises(ToolFailed, match="100,000"):
        writer.insert("x" * 100_001)


def test_all_of_it_can_be_made_searchable_at_once(writer: AgentWriter, tmp_path: Path) -> None:
    """A search looks through a part of what LanceDB does not have yet; carry_over() empties it."""
    text = "\n\n".join(f"{n} {'x' * 1400}" for n in range(600))
    ingest(writer, [write(tmp_path, {"long.txt": text}) / "long.txt"])
    seen: list[tuple[int, int]] = []
    assert writer.carry_over(lambda done, total: seen.append((done, total)))
    assert writer.state.outbox.count() == 0
    assert seen == sorted(seen)


KILLED = """
import os, sys
from pathlib import Path
from pagemind.runtime.ingest import ingest
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import HashingEmbedder

def progress(now):
    if now.passages >= int(sys.argv[3]):
        os.kill(os.getpid(), 9)

with Runtime(sys.argv[1], embedder=HashingEmbedder(32)) as runtime:
    with runtime.writer("ada") as writer:
        ingest(writer, [Path(sys.argv[2])], on_progress=progress)
"""


@pytest.mark.parametrize("changed", [False, True])
def test_a_killed_run_is_finished_by_the_next(tmp_path: Path, changed: bool) -> None:
    """Nothing is lost or doubled, even if the file changes between the two."""
    home = tmp_path / "home"
    lines = [f"{n} {'x' * 1400}" for n in range(500)]
    path = write(tmp_path, {"long.txt": "\n\n".join(lines)}) / "long.txt"
    with Runtime(home, embedder=HashingEmbedder(32)) as runtime:
        runtime.create("ada", parse_definition(PLAIN))
    child = python(KILLED, home, path, 200)
    assert child.wait() == -9, child.communicate()[1]
    if changed:
        lines = [*lines[100:], f"new {'x' * 1400}"]
        write(tmp_path, {"long.txt": "\n\n".join(lines)})
    with Runtime(home, embedder=HashingEmbedder(32)) as runtime, runtime.writer("ada") as writer:
        there = writer.state.passages.count()
        assert 100 < there < 500
        done: Ingested = ingest(writer, [path])
        texts = [p.text for p in writer.state.passages.after(0, 1 << 30)]
        assert sorted(texts) == sorted(lines)
        assert len(done.retired) == (100 if changed else 0)
        assert len(done.duplicates) == there - len(done.retired)
        assert done.updated == 0
        whole(writer)


def test_a_name_that_is_not_unicode_is_no_obstacle(writer: AgentWriter, folder: Path) -> None:
    """Its bytes are kept apart from those of others."""
    for name in (b"\xff.txt", b"\xfe.txt"):
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text(repr(name))
    ingest(writer, [folder])
    assert {r"handbook/\xff.txt", r"handbook/\xfe.txt"} <= set(active(writer).values())
