"""`pagemind inspect --html`: a file that is whole or not there, and what the command says."""

from pathlib import Path

import pytest
from cli_kit import Cli
from inspector_kit import embedded


def test_the_page_is_written(cli: Cli) -> None:
    """Its path on standard output, what is in it on standard error."""
    cli.ada("Hello.")
    path = cli.home / "ada.html"
    ran = cli("inspect", "ada", "--html", str(path))
    assert (ran.code, ran.out) == (0, f"{path}\n")
    assert "1 turn, 2 messages, 0 passages" in ran.err
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert page.endswith("</html>\n")
    assert len(embedded(page)["messages"]) == 2


def test_json_says_what_was_written(cli: Cli) -> None:
    """Beside the window's own keys."""
    cli.ada("Hello.")
    path = cli.home / "ada.html"
    answer = cli("inspect", "ada", "--html", str(path), "--json").json
    assert answer["html"] == {
        "path": str(path),
        "bytes": path.stat().st_size,
        "messages": 2,
        "turns": 1,
        "pages": 0,
        "passages": 0,
    }
    assert answer["queue"]["messages"] == 2


@pytest.mark.parametrize("name", ["nowhere/ada.html", "."])
def test_a_path_that_cannot_be_written_is_refused_in_one_line(cli: Cli, name: str) -> None:
    """Nothing is left behind."""
    cli.ada("Hello.")
    before = sorted(path.name for path in cli.home.iterdir())
    ran = cli("inspect", "ada", "--html", str(cli.home / name))
    assert ran.code == 1
    assert "cannot be written" in ran.err
    assert "Traceback" not in ran.err
    assert sorted(path.name for path in cli.home.iterdir()) == before


def test_an_older_page_is_replaced_when_the_new_one_is_whole(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure half-way leaves the old one, and no half of a new one."""
    cli.ada("Hello.")
    path = cli.home / "ada.html"
    path.write_text("old", encoding="utf-8")

    def fails(*given: object) -> dict[str, int]:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pagemind.runtime.inspector.page.write_page", fails)
    assert cli("inspect", "ada", "--html", str(path)).code == 1
    assert path.read_text(encoding="utf-8") == "old"
    assert [p for p in Path(cli.home).iterdir() if "unfinished" in p.name] == []
    monkeypatch.undo()
