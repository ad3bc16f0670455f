"""What stands in a trace, and what must not."""

import json
import logging
from pathlib import Path

import pytest
import warm
from trace_kit import definition, kinds, model, talk, weather

from pagemind.runtime.errors import UserError
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.settings import TRACE_SCHEMA
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel
from pagemind.runtime.trace import TraceEvent
from pagemind.runtime.trace_file import TraceFile, read

_APPEND = """
import sys
from pathlib import Path
from pagemind.runtime.trace_file import TraceFile
file = TraceFile(Path(sys.argv[1]))
for number in range(200):
    file.append(at="", agent=sys.argv[2], kind="stored", data={"n": number, "x": "é" * 20_000})
"""


def test_every_trace_event_is_a_line(tmp_path: Path) -> None:
    """What an observer of the turn sees stands in the file, in that order."""
    trace, seen = tmp_path / "t.jsonl", list[TraceEvent]()
    with Runtime(
        tmp_path / "home", embedder=HashingEmbedder(32), background=False, trace=trace
    ) as runtime:
        agent = runtime.agent("ada", definition(), model=model(), tools=[weather])
        agent.send("What at 2", observer=seen.append)
    watched = [event.kind for event in seen]
    written = [kind for kind in kinds(trace) if kind in set(watched)]
    assert written == watched
    first = json.loads(trace.read_text().splitlines()[0])
    assert (first["v"], first["agent"], first["kind"]) == (TRACE_SCHEMA, "ada", "opened")


def test_lines_of_several_processes_do_not_mix(tmp_path: Path) -> None:
    """Each line is written at once."""
    trace = tmp_path / "t.jsonl"
    running = [warm.start(["-c", _APPEND, str(trace), name]) for name in "abc"]
    assert [each.wait() for each in running] == [0, 0, 0]
    lines = list(read(trace))
    assert len(lines) == 600
    for name in "abc":
        assert [line.data["n"] for line in lines if line.agent == name] == list(range(200))


def test_without_content_no_text_is_left(tmp_path: Path) -> None:
    """Names, counts and hashes stay; what people, models and functions said does not."""
    trace = tmp_path / "t.jsonl"
    talk(trace, tmp_path / "home", turns=range(1, 16), content=False)
    text = trace.read_text()
    for said in ("lighthouse", "Sam", "Porto", "test agent", "rain"):
        assert said not in text
    assert "state" not in kinds(trace)
    for kept in ("core_append", "weather", "busy", '"sha256"', '"prompt_tokens"', '"answered"'):
        assert kept in text


def test_keys_never_stand_in_a_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither what looks like one, nor one from the environment, nor one that streams in pieces."""
    monkeypatch.setenv("OPENAI_API_KEY", "plain-looking-secret")
    trace = tmp_path / "t.jsonl"
    with Runtime(
        tmp_path / "home", embedder=HashingEmbedder(32), background=False, trace=trace
    ) as runtime:
        answers = ["It is sk-1234567890abcdef.", "And plain-looking-secret it is."]
        agent = runtime.agent("ada", definition(), model=ScriptedModel(answers), tools=[weather])
        agent.send("Say my key")
        agent.send("And plain-looking-secret")
        agent.observe("Bearer abcdefgh12345678", source="log")
        agent.send("Bye")
    text = trace.read_text()
    for secret in ("1234567890abcdef", "plain-looking", "abcdefgh12345678"):
        assert secret not in text
    pieces = [json.loads(line) for line in text.splitlines() if '"text_delta"' in line]
    assert pieces
    assert all(set(line["data"]) == {"chars"} for line in pieces)


def test_another_file_is_not_appended_to(tmp_path: Path) -> None:
    """A path that holds something else, or cannot be written, is refused by name."""
    other = tmp_path / "notes.txt"
    other.write_text("dear diary\n")
    with pytest.raises(UserError, match="is not a trace"):
        TraceFile(other)
    assert other.read_text() == "dear diary\n"
    with pytest.raises(UserError, match="cannot be written"):
        TraceFile(tmp_path / "no" / "where.jsonl")
    newer = tmp_path / "newer.jsonl"
    newer.write_text('{"v": 9, "kind": "opened"}\n')
    with pytest.raises(UserError, match="newer pagemind"):
        TraceFile(newer)


def test_a_line_that_was_cut_off_does_not_spoil_the_next(tmp_path: Path) -> None:
    """Who appends after a kill begins a line of its own."""
    trace = tmp_path / "t.jsonl"
    TraceFile(trace).append(at="", agent="ada", kind="stored", data={})
    with trace.open("a") as file:
        file.write('{"v": 1, "at": "", "ag')
    TraceFile(trace).append(at="", agent="ada", kind="stored", data={"n": 2})
    assert json.loads(trace.read_text().splitlines()[-1])["data"] == {"n": 2}


def test_a_full_disk_ends_the_trace_and_not_the_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The turn goes on, one warning says that the trace does not."""
    trace = tmp_path / "t.jsonl"

    def full(file: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(logging.getLogger("pagemind"), "propagate", True)
    with Runtime(
        tmp_path / "home", embedder=HashingEmbedder(32), background=False, trace=trace
    ) as runtime:
        agent = runtime.agent("ada", definition(), model=ScriptedModel(["Hi."]), tools=[weather])
        monkeypatch.setattr("pagemind.runtime.trace_file.os.write", full)
        assert agent.send("Hello").text == "Hi."
    told = {record.message for record in caplog.records if "ends here" in record.message}
    assert told == {f"the trace {trace} ends here: [Errno 28] No space left on device"}
