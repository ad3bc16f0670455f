"""docs/awake.md is true: what it shows is what the commands print."""

import os
import re
import signal
import threading
from pathlib import Path

import pytest
from cli_kit import Cli

DOC = Path(__file__).resolve().parents[2] / "docs" / "awake.md"
_SHOWN = re.compile(r"^```console\n(.+?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^```yaml\n# (\S+)\n(.+?)^```$", re.MULTILINE | re.DOTALL)


def test_the_page_shows_what_the_commands_print(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each `$ command`, with all its output but what `…` stands for."""
    text = DOC.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAGEMIND_HOME", str(tmp_path / "home"))
    for name, body in _FILE.findall(text):
        (tmp_path / name).write_text(body, encoding="utf-8")
    commands = 0
    for block in _SHOWN.findall(text):
        for shown in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = shown.partition("\n")
            words = [quoted or plain for quoted, plain in re.findall(r'"(.+?)"|(\S+)', command)]
            if words[1] == "up":
                _stop_soon(monkeypatch)
            ran = cli(*words[1:])
            printed = re.sub(r" +", " ", ran.out + ran.err)
            commands += 1
            at = 0
            for piece in re.split(r"…\n?", re.sub(r" +", " ", expected)):
                piece = piece.strip("\n ")
                assert piece in printed[at:], f"{command}\n{printed}"
                at = printed.index(piece, at) + len(piece)
    assert commands >= 6


def _stop_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once a turn has ended, as SIGTERM does."""
    from pagemind.runtime.awake.awake import Awake

    look, stopped = Awake.look, threading.Event()

    def looks(awake: Awake) -> float:
        done = not awake.keeper.mailbox.counts()[0] and awake.keeper.running == 0
        if done and not stopped.is_set():
            stopped.set()
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGTERM)).start()
        return min(0.1, look(awake))

    monkeypatch.setattr(Awake, "look", looks)
