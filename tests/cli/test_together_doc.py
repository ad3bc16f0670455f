"""docs/together.md is true: what it shows is what the commands print."""

import re
import shlex
from pathlib import Path

import pytest
from cli_kit import Cli

from pagemind.runtime.runtime import Runtime

DOC = Path(__file__).resolve().parents[2] / "docs" / "together.md"
_SHOWN = re.compile(r"^```console\n(.+?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^```yaml\n# (\S+)\n(.+?)^```$", re.MULTILINE | re.DOTALL)
_PYTHON = re.compile(r"^```python\n(.+?)^```$", re.MULTILINE | re.DOTALL)


def test_the_page_shows_what_the_commands_print(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each `$ command`, with all its output but what `…` stands for; what is Python runs."""
    text = DOC.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAGEMIND_HOME", str(tmp_path / "home"))
    for name, body in _FILE.findall(text):
        (tmp_path / name).write_text(body, encoding="utf-8")
    commands = 0
    for block in _SHOWN.findall(text):
        for shown in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = shown.partition("\n")
            ran = cli(*shlex.split(command)[1:])
            printed = (ran.out + ran.err).replace(f"{tmp_path}/", "")
            commands += 1
            at = 0
            for piece in re.split(r"…\n?", expected):
                piece = piece.strip("\n").strip()
                assert piece in printed[at:], f"{command}\n{printed}"
                at = printed.index(piece, at) + len(piece)
    assert commands >= 5
    monkeypatch.setenv("PAGEMIND_HOME", str(tmp_path / "other"))
    for code in _PYTHON.findall(text):
        exec(compile(code, str(DOC), "exec"), {"Runtime": Runtime})
