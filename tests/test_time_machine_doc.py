"""docs/time-machine.md is true: its commands, run in order, say what it says they do."""

import re
import shlex
from pathlib import Path

import pytest

from pagemind.runtime.cli.app import main

DOC = Path(__file__).resolve().parents[1] / "docs" / "time-machine.md"
HARBOUR = """
name: harbour
system: You look after a harbour.
embedding: none
context_window: 4096
blocks:
  human: {value: "", limit: 400, description: The person.}
tools: [core, recall, archival, pages]
"""
_TIME = re.compile(r"(?:[A-Z][a-z]{2} )?\d{4}-\d\d-\d\d \d\d:\d\d")


def test_the_page_is_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every example, times apart."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAGEMIND_HOME", str(tmp_path / "home"))
    (tmp_path / "harbour.yaml").write_text(HARBOUR, encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", DOC.read_text(encoding="utf-8"), re.S)
    examples = [each for block in blocks for each in re.split(r"(?m)^\$ ", block) if each]
    assert len(examples) > 10
    for example in examples:
        command, _, told = example.partition("\n")
        capsys.readouterr()
        main(shlex.split(command)[1:])
        out, err = capsys.readouterr()
        said = [line.rstrip() for line in (out + err).splitlines()]
        assert _TIME.sub("…", "\n".join(said)) == _TIME.sub("…", told.rstrip()), command
