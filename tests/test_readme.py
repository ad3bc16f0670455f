"""The README tells the truth: its commands exist, its YAML loads, its Python runs."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from pagemind.runtime.cli.app import COMMANDS
from pagemind.runtime.definition import parse_definition
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel
from pagemind.runtime.trace import TraceKind

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
KNOWN = {words for _, words, _, _ in COMMANDS}


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def commands() -> list[str]:
    """Every command line of a console block, without its prompt, `&&` split."""
    lines = [line[2:] for block in blocks("console") for line in block.splitlines()]
    return [part.strip() for line in lines for part in line.split("&&")]


def in_table() -> list[str]:
    """Every command of the table, its further verbs spelt out."""
    found = []
    for row in re.findall(r"^\| (`pagemind [^|]*) \|", README, re.MULTILINE):
        first, *more = re.findall(r"`([^`]+)`", row)
        words = first.removeprefix("pagemind ").split()
        found.append(" ".join(words))
        found += [" ".join([*words[:-1], other]) for other in more]
    return found


@pytest.mark.parametrize("line", [c for c in commands() if "pagemind " in c and "export" not in c])
def test_a_command_of_the_readme_exists(line: str) -> None:
    """Its verbs are in the table of commands."""
    words = line.split("pagemind ", 1)[1].split()
    assert " ".join(words[:2]) in KNOWN or words[0] in KNOWN


@pytest.mark.parametrize("row", in_table())
def test_a_command_of_the_readmes_table_exists(row: str) -> None:
    """So it does in the table, with every verb that is listed."""
    words = row.split()
    assert " ".join(words[:2]) in KNOWN or words[0] in KNOWN


def test_the_two_commands_install_and_check() -> None:
    """One command installs, pulls and chats; one runs the check that CI runs."""
    text = " ".join(commands())
    assert ".venv/bin/pip install '.[local]'" in text
    assert ".venv/bin/pagemind models pull --yes" in text
    assert "scripts/check" in text
    assert (ROOT / "scripts/check").stat().st_mode & 0o111
    assert "exec scripts/check" in (ROOT / ".ci/run").read_text(encoding="utf-8")


def test_the_definition_of_the_readme_loads() -> None:
    """The YAML example is a whole definition."""
    (text,) = blocks("yaml")
    assert parse_definition(text).name == "harbour"


def test_the_python_of_the_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The examples, one after the other, with a scripted model for the one a user has."""
    code = "\n".join(blocks("python"))
    ast.parse(code)

    class Scripted(Runtime):
        def __init__(self) -> None:
            super().__init__(tmp_path, embedder=HashingEmbedder(64))

        def agent(self, *args: Any, **options: Any) -> Any:
            return super().agent(*args, model=ScriptedModel(["Noted.", "Rex."]), **options)

    monkeypatch.setattr("pagemind.runtime.Runtime", Scripted)
    exec(compile(code, "README.md", "exec"), {})
    said = capsys.readouterr().out
    assert said.startswith("Noted. answered")
    assert "Rex." in said
    assert said.endswith("a1 Sam's boat Nomad lies at berth 14.\n")


def test_the_events_of_the_readme_are_those_that_are_sent() -> None:
    """The tree names every kind of TraceEvent, and no other."""
    tree = next(block for block in blocks("text") if block.startswith("turn_started"))
    named = set(re.findall(r"[a-z]+_[a-z_]+|warned|prefetched|summarised|slept", tree))
    assert named == set(TraceKind.__args__)


def test_every_link_of_the_readme_leads_somewhere() -> None:
    """Files that it links to are there."""
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert target.startswith("https://") or (ROOT / target).exists(), target
