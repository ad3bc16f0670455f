"""An agent with an MCP server: through the executor, its approvals, its images, in a task."""

import shutil
import sys
from pathlib import Path
from typing import Any

import mcp_kit
import pytest
from cli_kit import PLAIN, Cli
from task_kit import Bench

from pagemind.runtime.message import Blob
from pagemind.runtime.person import ApprovalRequest, Consent
from pagemind.runtime.replay import replay
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import ScriptedModel, call

DEFINITION = f"""
name: plain
system: You are a test agent.
embedding: none
context_window: 8192
trust: {{world: allow}}
tools:
  - core_append
  - page_in
  - mcp:
      n: {{command: [{sys.executable}, {mcp_kit.NASTY}], allow: [echo, picture, pid, giant],
           tools: {{pid: {{rule: allow}}, giant: {{rule: allow}}, picture: {{rule: allow}}}}}}
"""


class Yes:
    """A person who consents."""

    def __init__(self) -> None:
        self.asked: list[ApprovalRequest] = []

    def approve(self, request: ApprovalRequest) -> Consent:
        self.asked.append(request)
        return Consent(True)


def test_a_turn_with_a_server(tmp_path: Path) -> None:
    """Calls are asked for, images are kept, long results are read in parts, and at the end the
    process is gone."""
    (tmp_path / "a.yaml").write_text(DEFINITION)
    script = [
        call("n__pid"),
        call("n__echo", text="hello"),
        call("n__picture"),
        call("n__giant", megabytes=1),
        "done",
    ]
    person: Any = Yes()
    model = ScriptedModel(script)
    with Runtime(tmp_path / "home", background=False) as runtime:
        agent = runtime.agent("ada", tmp_path / "a.yaml", model=model)
        agent.person = person
        turn = agent.send("go")
        assert turn.text == "done"
        assert [warning[:24] for warning in turn.warnings] == ["nobody has looked at wha"]
        assert [(each.name, each.effect) for each in person.asked] == [("n__echo", "world")]
        results = [m for m in agent.state.journal.of_turn(turn.turn) if m.role == "tool"]
        pid, echo, picture, giant = results
        assert echo.text == f"hello [ada/1/{echo.tool_call_id}]"
        assert echo.provenance.origin == "tool"
        assert echo.provenance.trust < 50
        (blob,) = [part for part in picture.parts if isinstance(part, Blob)]
        assert (blob.media_type, blob.caption) == ("image/png", "image, 2×1")
        assert agent.state.blobs.read(blob.sha256).startswith(b"\x89PNG")
        assert len(giant.text) == 1 << 20  # whole in the journal; the model saw an excerpt
        seen = model.requests[-1].messages[-1].text
        assert len(seen) < 20_000
        assert f'page_in("m{giant.seq}")' in seen
        assert mcp_kit.runs(int(pid.text))
    assert mcp_kit.ends(int(pid.text))


def test_readers_know_the_functions_and_start_nothing(tmp_path: Path) -> None:
    """inspect counts them from what was seen last."""
    (tmp_path / "a.yaml").write_text(DEFINITION)
    with Runtime(tmp_path / "home", background=False) as runtime:
        runtime.agent("ada", tmp_path / "a.yaml", model=ScriptedModel(["hi"])).send("hi")
    with Runtime(tmp_path / "home", background=False) as runtime, runtime.reader("ada") as reader:
        names = [schema.name for schema in reader.context.tools]
        assert names == ["core_append", "page_in", "n__echo", "n__giant", "n__picture", "n__pid"]


@pytest.mark.parametrize("protocol", ["heartbeat", "guided"])
def test_other_protocols(tmp_path: Path, protocol: str) -> None:
    """Heartbeat adds its flag, guided leaves them out."""
    (tmp_path / "a.yaml").write_text(DEFINITION + f"protocol: {protocol}\n")
    speak = call("send_message", message="done")
    script = [call("n__pid", request_heartbeat=True), speak] if protocol == "heartbeat" else ["hi"]
    with Runtime(tmp_path / "home", background=False) as runtime:
        agent = runtime.agent("ada", tmp_path / "a.yaml", model=ScriptedModel(script))
        turn = agent.send("go")
        assert [each.ok for each in turn.tool_calls if each.name == "n__pid"] == (
            [True] if protocol == "heartbeat" else []
        )


def test_a_task_calls_a_function_of_a_server(tmp_path: Path) -> None:
    """Which ones there are is known when it is called."""
    bench = Bench(tmp_path)
    bench.file("plain.yaml", DEFINITION.replace("pid: {", "echo: {rule: allow}, pid: {"))
    report = bench.run(
        "do: [{call: n__echo, with: {text: tide}, save: {file: out.txt, text: '{{ result }}'}}]\n"
    )
    assert report.row.status == "done"
    assert bench.text("out.txt").startswith("tide [")


def test_a_replay_starts_no_server(tmp_path: Path) -> None:
    """What it answered stands in the trace, images too, and each request is the same."""
    nasty = shutil.copy(mcp_kit.NASTY, tmp_path / "nasty.py")
    (tmp_path / "a.yaml").write_text(DEFINITION.replace(mcp_kit.NASTY, str(nasty)))
    script = [call("n__pid"), call("n__picture"), "done"]
    trace = tmp_path / "talk.jsonl"
    with Runtime(tmp_path / "home", background=False, trace=trace) as runtime:
        agent = runtime.agent("ada", tmp_path / "a.yaml", model=ScriptedModel(script))
        assert agent.send("go").text == "done"
    nasty.unlink()
    replayed = replay(trace)
    assert (replayed.difference, replayed.turns) == (None, 1)


def test_an_imported_agent_starts_nothing_until_it_is_accepted(cli: Cli) -> None:
    """Neither by a turn nor by a look; then it does."""
    started = cli.home / "started"
    script = f"open({str(started)!r}, 'w')"
    servers = f'{{n: {{command: [{sys.executable}, -c, "{script}"]}}}}'
    text = PLAIN.replace("[core_append, recall", f"[{{mcp: {servers}}}, core_append, recall")
    cli.definition.write_text(text, encoding="utf-8")
    cli.ada("Hello.")
    assert started.exists()
    started.unlink()
    file = str(cli.home / "ada.pmz")
    assert cli("agents", "export", "ada", file).code == 0
    assert cli("agents", "import", file, "--as", "eva").code == 0
    assert cli("send", "eva", "Hello.").code == 0
    looked = cli("mcp", "tools", "eva")
    assert looked.code == 1
    assert "pagemind agents accept eva" in looked.err
    assert not started.exists()
    assert script in cli("agents", "accept", "eva", "--yes").out
    assert cli("mcp", "tools", "eva").code == 3
    assert started.exists()
