"""`pagemind memory insert`: texts, files and folders."""

from pathlib import Path

import pytest
from cli_kit import Cli
from document_kit import encrypted, pdf, write

from pagemind.runtime.runtime import Runtime


def test_files_become_passages(cli: Cli, tmp_path: Path) -> None:
    """Text and Markdown; what cannot be read is listed, and the rest is kept."""
    cli.ada()
    note, binary = tmp_path / "notes.md", tmp_path / "photo.jpg"
    note.write_text(f"# Boat\n\nBerth 42.\n\n{' '.join(map(str, range(2000)))}", encoding="utf-8")
    binary.write_bytes(b"\xff\xd8\x00\x01")
    files = [str(note), str(binary), str(tmp_path / "none.txt")]
    words = [each for path in files for each in ("--file", path)]
    ran = cli("memory", "insert", "ada", *words, "--json")
    assert ran.code == 3
    assert len(ran.json["ids"]) == ran.json["chunks"] > 1
    why = {Path(each["path"]).name: each["why"] for each in ran.json["skipped"]}
    assert why["photo.jpg"] == "is not a text file"
    assert why["none.txt"] == "no such file or directory"
    kept = cli("memory", "passages", "ada", "--json").json["items"]
    assert {(each["origin"], each["source"]) for each in kept} == {("document", "notes.md")}


def test_the_same_text_is_kept_once(cli: Cli) -> None:
    """The second insert names the passage that is there."""
    cli.ada()
    assert cli("memory", "insert", "ada", "Berth 42.", "--json").json["ids"] == ["a1"]
    again = cli("memory", "insert", "ada", "Berth 42.", "--json").json
    assert (again["ids"], again["duplicates"]) == ([], ["a1"])


@pytest.mark.parametrize(
    "words", [[], ["text", "--file", "x.md"], ["text", "--sync"], ["--file", "x.md", "--sync"]]
)
def test_insert_takes_a_text_or_files(words: list[str], cli: Cli) -> None:
    """Neither and both are wrong usage, and so is syncing what is no folder."""
    cli.ada()
    assert cli("memory", "insert", "ada", *words).code == 2


def test_a_folder_is_kept_in_step(cli: Cli, tmp_path: Path) -> None:
    """Unchanged, changed and gone, for people and for programs."""
    cli.ada()
    folder = write(tmp_path / "notes", {"a.md": "Berth 42.", "b.txt": "Fuel.", "c.txt": "Ice."})
    words = ("memory", "insert", "ada", "--file", str(folder), "--sync")
    assert cli(*words).out == "3 files\nkept as a1, a2, a3\n"
    write(folder, {"a.md": "Berth 43."})
    (folder / "b.txt").unlink()
    ran = cli(*words, "--json")
    assert ran.code == 0
    answer = ran.json
    assert [answer[key] for key in ("files", "unchanged", "updated")] == [2, 1, 1]
    assert (answer["ids"], answer["duplicates"]) == (["a4"], ["a3"])
    assert sorted(answer["retired"]) == ["a1", "a2"]
    assert cli(*words).out == "2 files, 2 unchanged\nthere already: a4, a3\n"


def test_what_cannot_be_read_is_said(cli: Cli, tmp_path: Path) -> None:
    """One line each; nothing at all is a failure."""
    cli.ada()
    files = {"a.pdf": encrypted(pdf(["x"]), "secret", "owner"), "b.pdf": b"%PDF-1.7 broken"}
    folder = write(tmp_path / "notes", {**files, "c.docx": b"no", "d.txt": b"\0"})
    ran = cli("memory", "insert", "ada", "--file", str(folder))
    assert ran.code == 1
    assert ran.out == ""
    lines = ran.err.splitlines()
    assert lines[0] == f"skipped {folder}/a.pdf: is a PDF with a password"
    assert lines[1].startswith(f"skipped {folder}/b.pdf: is a broken PDF: ")
    assert lines[2].startswith(f"skipped {folder}/c.docx: is a broken DOCX: ")
    assert lines[3:] == [f"skipped {folder}/d.txt: is not a text file"]


def test_a_text_that_is_too_long_for_one_passage_is_cut(cli: Cli) -> None:
    """What standard input brings has a limit too, which is named."""
    cli.ada()
    text = b" ".join(b"word%d" % n for n in range(20_000))
    ran = cli("memory", "insert", "ada", "-", "--json", stdin=text)
    assert len(ran.json["ids"]) == ran.json["chunks"] > 100
    ran = cli("memory", "insert", "ada", "-", stdin=b"x" * ((64 << 20) + 1))
    assert ran.code == 1
    assert "more than 67,108,864 bytes" in ran.err


def test_an_agent_in_use_gets_files_in_its_inbox(cli: Cli, tmp_path: Path) -> None:
    """They are taken up in its next turn, with where they are from; too many are refused."""
    cli.ada()
    folder = write(tmp_path / "notes", {"a.csv": "port\nHorta\n", "b.txt": b"\0"})
    words = ("memory", "insert", "ada", "--file", str(folder))
    with Runtime(cli.home) as runtime:
        agent = runtime.agent("ada")
        ran = cli(*words, "--json")
        assert (ran.code, ran.json["left"], ran.json["files"]) == (3, 1, 1)
        assert cli(*words, "--sync").code == 75
        write(folder, {"c.csv": "n\n" + "".join(f"{n}\n" for n in range(300))})
        ran = cli(*words)
        assert ran.code == 75
        assert "its inbox takes 200 passages" in ran.err
        agent.send("Hello")
        kept = agent.state.passages.newest(9)
    assert [(p.text, p.metadata, p.provenance.detail) for p in kept] == [
        ("port: Horta", {"row": 2}, "notes/a.csv")
    ]
    again = cli(*words, "--json").json
    assert again["duplicates"] == ["a1"]
    assert len(again["ids"]) == 300
