"""docs/mcp.md is true, and so is examples/mcp_time.yaml, with a public server."""

import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from pagemind.runtime import settings
from pagemind.runtime.cli.app import main
from pagemind.runtime.definition import parse_definition
from pagemind.runtime.mcp_server.functions import MemoryFunctions
from pagemind.runtime.mcp_use import McpTerms
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.tasks.hired import Hiring
from pagemind.runtime.tasks.runner import run_task
from pagemind.runtime.tasks.task_file import load_task
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel, call, temporary_runtime

ROOT = Path(__file__).resolve().parents[2]
DOC = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
(YAML,) = re.findall(r"```yaml\n(.*?)```", DOC, re.S)


@pytest.fixture(autouse=True)
def _there(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mcp_server_time", reason="mcp-server-time is not installed")
    beside = str(Path(sys.executable).parent)  # where the dev extra has put it
    monkeypatch.setenv("PATH", os.pathsep.join([beside, os.environ["PATH"]]))
    if shutil.which("mcp-server-time") is None:
        pytest.skip("the program mcp-server-time is not on PATH")


def test_the_example_is_a_definition_and_every_option_stands_in_the_table() -> None:
    """What the page says a server may have is what it may have."""
    assert [each.name for each in parse_definition(YAML).servers] == ["time", "wiki"]
    table = DOC[DOC.index("| option of a server") : DOC.index("## Look first")]
    named = {name for row in re.findall(r"(?m)^\| (`.*?) \|", table) for name in row.split(", ")}
    assert {name.strip("`") for name in named} == set(McpTerms.model_fields)
    assert f"default {settings.MCP_SECONDS:g}" in table
    assert f"{settings.MCP_TOOLS} at most" in table
    assert f"more than {settings.MCP_BYTES >> 20} MB" in DOC
    assert f"{settings.MCP_START_SECONDS:g} seconds at most" in DOC
    assert f"up to {settings.MCP_BACKOFF_MAX_SECONDS:g}" in DOC


def test_every_tool_of_ours_stands_in_its_table() -> None:
    """With its arguments, in their order."""
    with temporary_runtime() as runtime:
        runtime.create("ada", parse_definition("name: x\nembedding: none\n"))
        tools = MemoryFunctions(runtime, "ada", sends=True).tools()
    table = DOC[DOC.index("| tool | arguments") :]
    rows = re.findall(r"(?m)^\| `(\w+)`.*? \| (.*?)\| .*\|$", table)
    told = {name: re.findall(r"`(\w+)`", arguments) for name, arguments in rows}
    real = {tool.name: list(tool.parameters["properties"]) for tool, _ in tools}
    assert told == real


def test_its_commands_say_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The console of the page, where … stands for the rest of a line or of what is said."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAGEMIND_HOME", str(tmp_path / "home"))
    text = YAML[: YAML.index("      wiki:")] + "embedding: none\n"
    (tmp_path / "clock.yaml").write_text(text, encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", DOC[: DOC.index("## An agent's memory")], re.S)
    for example in [each for block in blocks for each in re.split(r"(?m)^\$ ", block) if each]:
        command, _, told = example.partition("\n")
        capsys.readouterr()
        assert main(shlex.split(command)[1:]) == 0
        said = capsys.readouterr().out
        pattern = re.escape(told.strip()).replace("…", ".*" if "\n" in told.strip() else "(?s:.*)")
        assert re.fullmatch(pattern, said.strip()), command


def test_the_example_asks_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """examples/mcp_time.yaml as shipped, with a scripted model for the real one."""
    shutil.copy(ROOT / "examples" / "mcp_time.yaml", tmp_path)
    shutil.copytree(ROOT / "examples" / "mcp_time", tmp_path / "mcp_time")

    def answer(request: ModelRequest) -> Any:
        # What the server answered before is set aside when it is asked again: a notice says so.
        last = next(m for m in reversed(request.messages) if m.kind != "notice")
        if last.role == "tool":
            found = re.search(r'"target".*?T(\d\d:\d\d)', last.text, re.S)
            return found[1] if found else last.text
        asked = re.search(r"(\d\d:\d\d) in (\S+)\. What", last.text)
        assert asked
        return call(
            "time__convert_time",
            source_timezone=asked[2],
            time=asked[1],
            target_timezone="Europe/Lisbon",
        )

    with Runtime(tmp_path / "home", embedder=HashingEmbedder(64)) as runtime:
        task = load_task(tmp_path / "mcp_time.yaml")
        report = run_task(runtime, task, hiring=Hiring(model=ScriptedModel(answer)))
    assert report.row.status == "done"
    rows = [json.loads(line) for line in (tmp_path / "mcp_time/times.jsonl").open()]
    assert [row["lisbon"][-2:] for row in rows] == ["00", "30"]
    assert rows[0]["lisbon"] in ("00:00", "01:00")  # summer time comes and goes
