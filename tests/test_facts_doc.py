"""docs/facts.md is true: its calls and commands, in order, answer what it says they do."""

import ast
import re
import shlex
from datetime import UTC, datetime
from pathlib import Path

import pytest
from kernel_kit import last_result, small

from pagemind.runtime.cli.app import main
from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.message import ToolCall
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.relations import is_single, relation_of
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel, call

DOC = (Path(__file__).resolve().parents[1] / "docs" / "facts.md").read_text(encoding="utf-8")


def examples(language: str) -> list[str]:
    """The blocks of a language."""
    return re.findall(rf"```{language}\n(.*?)```", DOC, re.S)


def asked(line: str) -> ToolCall:
    """A call as it is written."""
    made = ast.parse(line, mode="eval").body
    assert isinstance(made, ast.Call)
    assert isinstance(made.func, ast.Name)
    arguments = {each.arg: ast.literal_eval(each.value) for each in made.keywords if each.arg}
    return call(made.func.id, **arguments)


def test_the_page_is_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every example."""
    due: list[ToolCall] = []

    def reply(request: ModelRequest) -> ToolCall | str:
        return due.pop() if due else "done"

    model = ScriptedModel(reply)
    home = tmp_path / "home"
    clock = FrozenClock(datetime(2026, 7, 1, 15, tzinfo=UTC))
    with Runtime(home, clock=clock, embedder=HashingEmbedder(8), background=False) as runtime:
        agent = runtime.agent("ada", small(8192, "facts"), model=model)
        parts = [each for block in examples("text") for each in block.strip().split("\n\n")]
        assert len(parts) > 8
        for part in parts:
            line, _, told = part.partition("\n")
            due.append(asked(line))
            agent.send("go", speaker="Mara")
            assert last_result(model).text == told, line
    monkeypatch.setenv("PAGEMIND_HOME", str(home))
    commands = [each for each in re.split(r"(?m)^\$ ", "".join(examples("console"))) if each]
    for each in commands:
        line, _, told = each.partition("\n")
        capsys.readouterr()
        assert main(shlex.split(line)[1:]) == 0
        out, _ = capsys.readouterr()
        assert [said.rstrip() for said in out.splitlines()] == told.rstrip().splitlines(), line


def test_the_relations_that_it_names_are_such() -> None:
    """One value at a time; one name for several."""
    for name in ("lives_in", "works_at", "manager", "phone"):
        assert f"`{name}`" in DOC
        assert is_single(name)
    for name in ("reportsTo", "is managed by", "boss"):
        assert name in DOC
        known = relation_of(name)
        assert known is not None
        assert known.name == "manager"
