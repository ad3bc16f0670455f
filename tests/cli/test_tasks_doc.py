"""docs/tasks.md and docs/scale.md are true: what they show is what the commands print."""

import re
from pathlib import Path

import pytest
from cli_kit import Cli

DOCS = Path(__file__).resolve().parents[2] / "docs"
_SHOWN = re.compile(r"^```console\n(.+?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^```yaml\n# (\S+)\n(.+?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("page", "least"), [("tasks", 5), ("scale", 4)])
def test_the_page_shows_what_the_commands_print(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str, least: int
) -> None:
    """Each `$ command`, with all its output but what `…` stands for."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    monkeypatch.setattr("pagemind.runtime.tasks.executors.TASK_CLUSTER_SECONDS", 1)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAGEMIND_HOME", str(tmp_path / "home"))
    for name, body in _FILE.findall(text):
        (tmp_path / name).write_text(body, encoding="utf-8")
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("Tide tables.\n", encoding="utf-8")
    (notes / "b.md").write_text("Ropes.\n", encoding="utf-8")
    (notes / "c.md").write_bytes(b"\xff\xfe\xfa")
    commands = 0
    for block in _SHOWN.findall(text):
        for shown in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = shown.partition("\n")
            words = command.split()
            if words[0] == "cat":
                printed = Path(words[1]).read_text(encoding="utf-8")
            else:
                ran = cli(*words[1:])
                printed = (ran.out + ran.err).replace(f"{tmp_path}/", "")
            commands += 1
            at = 0
            for piece in re.split(r"…\n?", expected):
                piece = piece.strip("\n")
                assert piece in printed[at:], f"{command}\n{printed}"
                at = printed.index(piece, at) + len(piece)
    assert commands >= least
