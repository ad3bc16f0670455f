"""`pagemind memory erase` and /erase: shown first, asked for, done with a receipt."""

import json
import re
from pathlib import Path

import pytest
from cli_kit import Cli

from pagemind.runtime.cli import erase_view
from pagemind.runtime.cli.memory_erase import erase as command
from pagemind.runtime.erasure.receipt import ALWAYS
from pagemind.runtime.runtime import Runtime

DOC = Path(__file__).resolve().parents[2] / "docs" / "erasure.md"
SECRET = "Zenobia keeps the spare key in the blue teapot"


def test_it_is_shown_asked_for_and_proved(cli: Cli) -> None:
    """A dry run touches nothing, nobody to ask is no yes, --yes erases and gives a receipt whose
    edit the audit finds; the second time there is nothing of it."""
    cli.ada(SECRET, "The ferry to Oban leaves at nine")
    erase = ("memory", "erase", "ada", "--subject", "Zenobia")
    shown = cli(*erase, "--dry-run")
    assert (shown.code, "would go from ada: 2 messages" in shown.out) == (0, True)
    assert SECRET in shown.out
    asked = cli(*erase)
    assert "say --yes" in asked.err
    assert cli(*erase, "--dry-run", "--json").json["erased"]["messages"] == 2
    done = cli(*erase, "--yes")
    assert done.code == 0, done.err
    assert "verified: nothing of it is left" in done.out
    assert "disk" in done.err
    assert "has nothing of that" in cli(*erase, "--yes").err
    assert cli("audit", "verify").code == 0
    told = cli("audit", "show", "ada", "--op", "erased").out
    assert re.search(r"  [0-9a-f]{12}  user ", told), told  # a hash by its head
    assert "verified yes" in cli("audit", "show").out
    (path,) = (cli.home / "receipts").glob("*.json")
    body = json.loads(path.read_bytes())
    assert body["verified"] is True
    assert "teapot" not in path.read_text()
    path.write_text(path.read_text().replace('"messages": 2', '"messages": 9'))
    ran = cli("audit", "verify")
    assert ran.code != 0
    assert path.name in ran.out


def test_what_is_no_wish_is_said_before_anything(cli: Cli) -> None:
    """Nothing, two ways at once, ids of nothing, a time that is none."""
    cli.ada(SECRET)
    for words, said in (
        ([], "nothing says what to erase"),
        (["--id", "m1", "--query", "x"], "not both ids and query"),
        (["--id", "m99"], "there is no message m99"),
        (["--id", "x9"], "is not an id"),
        (["--before", "soonish"], "is not a date"),
    ):
        ran = cli("memory", "erase", "ada", *words, "--yes")
        assert ran.code != 0
        assert said in ran.err, words


def test_who_erases_most_of_it_is_asked_twice(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A query that matches half of it, or everything, asks more plainly than one that matches a
    little."""
    from pagemind.runtime.erasure.wanted import wanted

    cli.ada(*(f"number {n} of the sea" for n in range(4)), SECRET)
    with Runtime(cli.home) as runtime, runtime.erasing("ada") as erasing:
        little = erasing.preview(wanted(subject="Zenobia"))
        most = erasing.preview(wanted(query="sea"))
        whole = erasing.preview(wanted(everything=True))
    assert not erase_view.is_most(little)
    assert erase_view.is_most(most)
    assert "this is 80% of what ada remembers" in erase_view.question_of("ada", most)
    assert "this is ALL of what ada remembers" in erase_view.question_of("ada", whole)
    answers = iter(["bob", "ada"])
    monkeypatch.setattr("pagemind.runtime.cli.session.confirmed", lambda *a, **k: True)
    monkeypatch.setattr("typer.prompt", lambda *a, **k: next(answers))
    assert not erase_view.agreed("ada", most, yes=False)
    assert erase_view.agreed("ada", most, yes=False)
    assert erase_view.agreed("ada", most, yes=True)


def test_what_was_cut_off_is_named_by_doctor_and_finished_by_the_command(cli: Cli) -> None:
    """What was cut off is named by `doctor`, and finished by the same command."""
    from pagemind.runtime.erasure.wanted import wanted

    def stop(step: str) -> None:
        if step == "purge":
            raise KeyboardInterrupt

    cli.ada(SECRET)
    with (
        Runtime(cli.home) as runtime,
        pytest.raises(KeyboardInterrupt),
        runtime.erasing("ada", at_step=stop) as erasing,
    ):
        erasing.erase(erasing.preview(wanted(subject="Zenobia")))
    ran = cli("doctor")
    assert ran.code == 3
    assert "cut off before its step purge" in ran.out
    ran = cli("memory", "erase", "ada")
    assert ran.code == 0, ran.err
    assert "an erasure that was cut off is finished" in ran.err
    assert cli("doctor").code == 0


def test_the_page_has_every_option_and_what_nobody_can_verify() -> None:
    """docs/erasure.md names every way there is, and its commands have those options."""
    text = DOC.read_text(encoding="utf-8")
    options = set(re.findall(r"`(--[a-z-]+)`", text)) | set(re.findall(r" (--[a-z-]+)", text))
    known = {f"--{name.replace('_', '-')}" for name in command.__annotations__} | {
        *("--all", "--json", "--yes", "--wait")
    }
    assert options <= known
    assert {"--id", "--query", "--subject", "--source", "--before", "--all"} <= options
    assert all(word in text for word in ("backups", "snapshots", "overwritten yet"))
    assert len(ALWAYS) == 3
