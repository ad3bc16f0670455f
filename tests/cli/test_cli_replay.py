"""--trace, --no-content and `pagemind replay`, as a person types them."""

from pathlib import Path

from cli_kit import Cli
from trace_kit import edit

ECHO = ("--model", "scripted/echo")


def recorded(cli: Cli, trace: Path) -> None:
    made = cli("send", "ada", "one", "-d", str(cli.definition), *ECHO, "--trace", str(trace))
    assert made.code == 0, made.err
    assert cli("send", "ada", "two", "--trace", str(trace)).code == 0


def test_what_send_recorded_is_replayed(cli: Cli, tmp_path: Path) -> None:
    """Two processes, one file, the same requests: exit code 0."""
    trace = tmp_path / "talk.jsonl"
    recorded(cli, trace)
    ran = cli("replay", str(trace))
    assert (ran.code, ran.out) == (0, "same: ada, 2 turns, 2 requests\n")
    answer = cli("replay", str(trace), "--json").json
    assert answer["same"] is True
    assert answer["difference"] is None


def test_a_difference_is_exit_code_4(cli: Cli, tmp_path: Path) -> None:
    """Named with its step and section, and a short diff."""
    trace = tmp_path / "talk.jsonl"
    recorded(cli, trace)
    edit(trace, "asked", 1, lambda data: data.update(text="three"))
    ran = cli("replay", str(trace))
    assert ran.code == 4
    assert "step 2, queue: m3 is not the same" in ran.out
    assert "two" in ran.out
    assert "three" in ran.out
    found = cli("replay", str(trace), "--json").json["difference"]
    assert (found["step"], found["section"]) == (2, "queue")


def test_a_replay_stays_in_a_home(cli: Cli, tmp_path: Path) -> None:
    """--home leaves the agent there."""
    trace = tmp_path / "talk.jsonl"
    recorded(cli, trace)
    assert cli("replay", str(trace), "--home", str(tmp_path / "again")).code == 0
    shown = cli("agents", "history", "ada", "--home", str(tmp_path / "again"), "--json").json
    assert [item["text"] for item in shown["items"]] == ["one", "two"]


def test_no_content_is_recorded_and_refused(cli: Cli, tmp_path: Path) -> None:
    """Such a trace holds no texts, and replay says why it will not do."""
    trace = tmp_path / "talk.jsonl"
    words = ("send", "ada", "one", "-d", str(cli.definition), *ECHO)
    assert cli(*words, "--trace", str(trace), "--no-content").code == 0
    assert "You said" not in trace.read_text()
    ran = cli("replay", str(trace))
    assert ran.code == 1
    assert "--no-content" in ran.err
    alone = cli(*words, "--no-content")
    assert alone.code == 1
    assert "--trace" in alone.err


def test_a_trace_that_cannot_be_written_stops_before_anything_is_made(
    cli: Cli, tmp_path: Path
) -> None:
    """No agent is left behind by a wrong path."""
    bad = str(tmp_path / "no" / "talk.jsonl")
    ran = cli("send", "ada", "one", "-d", str(cli.definition), *ECHO, "--trace", bad)
    assert ran.code == 1
    assert "cannot be written" in ran.err
    assert cli("agents", "list", "--json").json["total"] == 0


def test_chat_is_recorded(cli: Cli, tmp_path: Path) -> None:
    """Piped lines are turns of the trace."""
    trace = tmp_path / "talk.jsonl"
    words = ("chat", "ada", "-d", str(cli.definition), *ECHO, "--trace", str(trace))
    assert cli(*words, stdin=b"one\ntwo\nthree\n").code == 0
    assert cli("replay", str(trace)).out == "same: ada, 3 turns, 3 requests\n"
