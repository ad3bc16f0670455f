"""docs/setup.md and docs/trace.md show what is printed: each of their commands is run."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from cli_kit import Cli

ROOT = Path(__file__).resolve().parents[1]
_CLOCK = re.compile(r"\[\w{3} \d{4}-\d\d-\d\d \d\d:\d\d\] ")  # the time on the first message


def examples(page: str) -> list[tuple[str, list[str]]]:
    """Commands and the lines below them, in order."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


@pytest.mark.parametrize("page", ["setup.md", "trace.md"])
def test_the_page_shows_what_is_printed(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a person reads on the page is what the program says."""
    from pagemind.runtime.model_choice import PROVIDERS

    home = tmp_path / "home"
    home.mkdir()
    cli = Cli(home, capsys)
    for name in (*PROVIDERS, "PAGEMIND_MODEL", "PAGEMIND_MODELS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pagemind.runtime.model_choice._loopback", lambda: None)
    monkeypatch.setenv("PAGEMIND_HOME", str(home))
    monkeypatch.chdir(tmp_path)
    commands = examples(page)
    assert len(commands) >= 4
    for command, expected in commands:
        words = shlex.split(command)
        if words[0] != "pagemind":
            subprocess.run(words, check=True, env={"PATH": os.environ["PATH"]})
            continue
        ran = cli(*words[1:])
        printed = (ran.out + ran.err).replace(str(home), "HOME")
        lines = [_CLOCK.sub("", line).rstrip() for line in printed.splitlines() if line.strip()]
        assert lines == expected, command


def test_the_pages_fit_the_reader() -> None:
    """Short pages: each is read in two minutes."""
    for page in ("setup.md", "trace.md"):
        assert len((ROOT / "docs" / page).read_text("utf-8").splitlines()) <= 120
