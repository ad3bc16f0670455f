"""docs/chat.md tells the truth: its talk is what the chat prints, and it names every command."""

import re
from pathlib import Path

import pytest
from cli_kit import Cli

from pagemind.runtime.cli.commands import COMMANDS
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.testing import ScriptedModel, call

DOC = Path(__file__).resolve().parents[2] / "docs" / "chat.md"
_DEFINITION = """
name: sailor
description: For docs/chat.md.
system: You are a sailor's friend.
embedding: none
context_window: 4096
blocks:
  human: {value: "", limit: 2000, description: What I know about the person.}
tools: [core_append, recall_search]
"""
_ANSWERS = {
    "My boat": ["core_append", "Sam's boat is called Nomad.", "A fine name for a boat."],
    "She lies": ["core_append", "Nomad lies in Porto.", "I have noted the harbour."],
}


def answer(request: ModelRequest) -> object:
    """What the talk of the page needs."""
    events = [m for m in request.messages if m.role == "user" and m.kind == "talk"]
    event = events[-1].text
    for start, (function, fact, said) in _ANSWERS.items():
        if start in event:
            if request.messages[-1].role == "tool":
                return said
            return call(function, block="human", content=fact)
    return "Tell me more."


def talk() -> list[tuple[str, str]]:
    """What is typed in the page, and what it says is printed."""
    blocks = re.findall(r"```text\n(.*?)```", DOC.read_text(encoding="utf-8"), re.DOTALL)
    found = []
    for block in blocks:
        for piece in re.split(r"^› ", block, flags=re.MULTILINE)[1:]:
            line, _, output = piece.partition("\n")
            found.append((line, output.strip("\n")))
    return found


def comparable(text: str) -> str:
    """Without what differs from run to run: times, sizes, durations."""
    text = re.sub(r"\d{4}-\d\d-\d\d( \d\d:\d\d)?|\d\d:\d\d", "TIME", text)
    text = re.sub(r"\w+day \d+ \w+ \d{4}", "DAY", text)
    text = re.sub(r"[\d.,]+ (s|ms|kB)\b", r"N \1", text)
    return re.sub(r" +$", "", text, flags=re.MULTILINE)


def played(cli: Cli, lines: list[str]) -> list[str]:
    """What the chat prints for each line, typed one after another."""
    definition = cli.home / "sailor.yaml"
    definition.write_text(_DEFINITION, encoding="utf-8")
    new = ("-d", str(definition), "-m", "scripted/sailor")
    assert cli("agents", "new", "ada", *new).code == 0
    shown = []
    for line in lines:
        ran = cli("chat", "ada", stdin=line.encode() + b"\n")
        shown.append((ran.out + ran.err).strip("\n"))
    return shown


@pytest.fixture
def _sailor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import pagemind.runtime.runtime as runtime

    monkeypatch.setattr(
        runtime, "make_model", lambda choice, *_: ScriptedModel(answer, name=choice.name)
    )
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("_sailor")
def test_the_talk_of_the_page_is_what_the_chat_prints(cli: Cli) -> None:
    """Line by line, apart from times."""
    typed = talk()
    assert len(typed) > 8
    shown = played(cli, [line for line, _ in typed])
    for (line, told), printed in zip(typed, shown, strict=True):
        assert comparable(told) == comparable(printed), line


def test_the_page_names_every_command() -> None:
    """As the help does."""
    text = DOC.read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"`{name}" not in text and f"{name} " not in text] == []
