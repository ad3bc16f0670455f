"""`pagemind archives`: make, fill, sync, search and delete shared archives."""

import shutil
from pathlib import Path

import pytest
from cli_kit import Cli

from pagemind.runtime.runtime import Runtime


@pytest.fixture
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    (folder / "hours.md").write_text("# Hours\n\nThe office closes at six.\n", encoding="utf-8")
    (folder / "parking.txt").write_text("Parking is behind the house.\n", encoding="utf-8")
    return folder


@pytest.fixture
def handbook(cli: Cli) -> Cli:
    made = cli("archives", "new", "handbook", "--embedding", "none")
    assert (made.code, made.out) == (0, "made handbook with none\n")
    return cli


def test_the_life_of_an_archive(handbook: Cli, docs: Path) -> None:
    """Insert, search, list, show, delete."""
    assert handbook("archives", "insert", "handbook", "The code is 12.").out == "kept as a1\n"
    ran = handbook("archives", "insert", "handbook", "--file", str(docs))
    assert (ran.code, "kept as a2, a3" in ran.out) == (0, True)
    found = handbook("archives", "search", "handbook", "office")
    assert "1 match among 3 passages" in found.out
    assert "closes at six" in found.out
    assert "no match" in handbook("archives", "search", "handbook", "zebra").out
    assert "handbook" in handbook("archives", "list").out
    assert "passages" in handbook("archives", "show", "handbook").out
    assert handbook("archives", "delete", "handbook").code == 1
    assert handbook("archives", "delete", "handbook", "--yes").code == 0
    assert handbook("archives", "list", "--json").json["total"] == 0


def test_a_sync_follows_the_folder(handbook: Cli, docs: Path) -> None:
    """Changed files are updated, the passages of vanished ones retired; the rest stays."""
    assert handbook("archives", "sync", "handbook", str(docs)).code == 0
    handbook("archives", "insert", "handbook", "The code is 12.")
    (docs / "hours.md").write_text("# Hours\n\nThe office closes at five.\n", encoding="utf-8")
    (docs / "parking.txt").unlink()
    done = handbook("archives", "sync", "handbook", str(docs), "--json").json
    assert (done["updated"], len(done["retired"])) == (1, 2)
    assert handbook("archives", "list", "--json").json["items"][0]["passages"] == 2
    assert "five" in handbook("archives", "search", "handbook", "office").out
    assert handbook("archives", "sync", "handbook", str(docs / "hours.md")).code == 2


def test_mistakes_are_one_line(handbook: Cli, docs: Path) -> None:
    """With what to do next, and the exit code of scripts."""
    unknown = handbook("archives", "insert", "handbok", "x")
    assert unknown.code == 1
    assert "did you mean handbook?" in unknown.err
    assert handbook("archives", "new", "handbook").code == 1
    assert handbook("archives", "new", "a b").code == 1
    assert handbook("archives", "new", "x", "-e", "local/nothing").code == 1
    assert handbook("archives", "insert", "handbook").code == 2
    assert handbook("archives", "insert", "handbook", "x", "--file", str(docs)).code == 2
    assert handbook("archives", "insert", "handbook", "  ").code == 1
    assert handbook("archives", "search", "handbook", "x", "--start", "never").code == 1
    assert handbook("archives", "search", "handbook", "x", "--part", "9").code == 1
    for ran in (unknown, handbook("archives", "show", "zzz")):
        assert "Traceback" not in ran.err


def test_an_archive_that_is_written_to_is_in_use(handbook: Cli) -> None:
    """Exit code 75, or --wait; it can be searched meanwhile."""
    with Runtime(handbook.home) as runtime, runtime.archives.writer("handbook") as writer:
        writer.insert("The office closes at six.")
        refused = handbook("archives", "insert", "handbook", "x", "--json")
        assert (refused.code, refused.json["error"]["type"]) == (75, "ArchiveInUse")
        assert handbook("archives", "delete", "handbook", "--yes").code == 75
        assert "closes at six" in handbook("archives", "search", "handbook", "office").out
        assert handbook("archives", "list", "--json").json["items"][0]["in_use"]
    assert handbook("archives", "insert", "handbook", "x").code == 0


def test_an_agent_without_its_archive_says_so(cli: Cli) -> None:
    """`send` and `memory search` name the command that makes it; then it is searched."""
    with cli.definition.open("a", encoding="utf-8") as file:
        file.write("archives: [handbook]\n")
    cli.ada()
    assert "pagemind archives new handbook" in cli("send", "ada", "Hello").err
    assert "pagemind archives new handbook" in cli("memory", "search", "ada", "x").err
    doctor = cli("doctor")
    assert doctor.code == 0
    assert "pagemind archives new handbook" in doctor.out
    cli("archives", "new", "handbook", "-e", "none")
    cli("archives", "insert", "handbook", "The office closes at six.")
    assert cli("send", "ada", "Hello").err == ""
    (hit,) = cli("memory", "search", "ada", "office", "--json").json["results"]
    assert (hit["id"], hit["archive"]) == ("handbook:a1", "handbook")


def test_the_doctor_looks_at_archives(handbook: Cli) -> None:
    """Rows that wait, vectors that are missing, a state that cannot be read."""
    handbook("archives", "insert", "handbook", "The office closes at six.")
    items = handbook("doctor", "--json").json["items"]
    mine = {each["check"]: each for each in items if each["archive"] == "handbook"}
    assert mine["openable"]["status"] == "ok"
    assert mine["unwritten rows"]["detail"] == "1"
    assert all(each["archive"] is None for each in items if each["agent"])
    assert handbook("agents", "list", "--json").json["total"] == 0
    with Runtime(handbook.home) as runtime:
        state = runtime.archives.path("handbook") / "state.db"
    shutil.copy(__file__, state)
    ran = handbook("doctor")
    assert (ran.code, "handbook" in ran.out) == (3, True)
    assert handbook("archives", "list", "--json").json["items"][0]["problem"]


def test_an_upgrade_takes_archives_along(handbook: Cli) -> None:
    """They are files with a version, as agents are."""
    items = handbook("upgrade", "--json").json["items"]
    assert [each["archive"] for each in items] == [None, "handbook"]
    assert {each["status"] for each in items} == {"current"}
