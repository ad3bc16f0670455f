"""What tests of the command line share: a home of their own, a plain agent, commands in process."""

import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pagemind.runtime.cli.app import main
from pagemind.runtime.runtime import Runtime

PLAIN = """
name: plain
description: For tests.
system: You are a test agent.
embedding: none
context_window: 2048
output_reserve: 128
blocks:
  human: {value: "", limit: 200, description: The person.}
tools: [core_append, recall_search, archival_insert, page_in]
"""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command left: its exit code, standard output and standard error."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Cli:
    """Runs commands in this process, in one home."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home = home
        self.definition = home / "plain.yaml"
        self.definition.write_text(PLAIN, encoding="utf-8")
        self._capsys = capsys

    def __call__(self, *words: str, stdin: bytes | None = None) -> Ran:
        self._capsys.readouterr()
        with _stdin(stdin):
            code = main(list(words))
        out, err = self._capsys.readouterr()
        return Ran(code, out, err)

    def ada(self, *said: str) -> None:
        """An agent called ada on the echoing model, which was told these things."""
        new = ("-d", str(self.definition), "-m", "scripted/echo")
        assert self("agents", "new", "ada", *new).code == 0
        for text in said:
            assert self("send", "ada", text).code == 0

    def tell_much(self, turns: int = 26) -> None:
        """Tell ada so much that pages leave the window."""
        with Runtime(self.home) as runtime:
            agent = runtime.agent("ada")
            for number in range(turns):
                agent.send(f"{number}: " + "a long sentence about the sea " * 8)


@contextmanager
def _stdin(data: bytes | None) -> Iterator[None]:
    """Standard input holds these bytes; without any it is no terminal and empty."""
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(data or b""), encoding="utf-8")
    try:
        yield
    finally:
        sys.stdin = before


def clean_environ(home: Path) -> dict[str, str]:
    """An environment that names no model, for subprocesses."""
    kept = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
    return {**kept, "PAGEMIND_HOME": str(home)}
