"""A call that waits, answered from the command line: shown to the letter, run once."""

from pathlib import Path

import pytest
from cli_kit import Cli

from pagemind.runtime.cli.consent_view import exact, rows_of
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.model_choice import ModelChoice
from pagemind.runtime.person import ApprovalRequest
from pagemind.runtime.testing import ScriptedModel, call
from pagemind.runtime.untrusted import unmarked

DEFINITION = (
    "name: hand\nembedding: none\ncontext_window: 8192\ntools: [shell, clock]\n"
    "trust: {world: allow}\n"
)


@pytest.fixture
def hand(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """An agent whose model asks to run what it is told; its first call waits."""

    def answer(request: ModelRequest) -> object:
        last = request.messages[-1]
        if last.role == "tool":
            return f"It said: {unmarked(last.text)}"
        said = last.text.rpartition("] ")[2]
        return call("shell", command=said) if said.startswith("echo") else "Fine."

    def make(choice: ModelChoice, *_: object) -> ScriptedModel:
        return ScriptedModel(answer, name=choice.name)

    monkeypatch.setattr("pagemind.runtime.runtime.make_model", make)
    path = cli.home / "hand.yaml"
    path.write_text(DEFINITION, encoding="utf-8")
    ran = cli("send", "ada", f"echo x >> {cli.home}/ran", "-d", str(path), "-m", "scripted/x")
    assert (ran.code, ran.out) == (5, "")
    assert f"│ echo x >> {cli.home}/ran" in ran.err.replace("\n  ┆ ", "")
    assert "it waits: `pagemind send ada --approve` runs it" in ran.err
    return cli


def ran(cli: Cli) -> str:
    path = cli.home / "ran"
    return path.read_text() if path.exists() else ""


def test_a_call_is_approved(hand: Cli) -> None:
    """It is seen until it is answered, and runs once."""
    shown = hand("agents", "show", "ada", "--json").json["pending"]
    assert shown["name"] == "shell"
    assert "ada waits for approval of shell" in hand("agents", "list").err
    assert "it waits" in hand("agents", "show", "ada").err
    assert hand("send", "ada", "--approve", "--call", "other").code == 1
    assert ran(hand) == ""
    done = hand("send", "ada", "--approve", "--call", shown["id"])
    assert (done.code, done.out) == (0, "It said: [it printed nothing]\n")
    assert ran(hand) == "x\n"
    assert hand("agents", "show", "ada", "--json").json["pending"] is None
    again = hand("send", "ada", "--approve")
    assert (again.code, ran(hand)) == (1, "x\n")
    assert "no call of ada waits" in again.err


def test_a_call_is_denied_with_a_reason(hand: Cli) -> None:
    """The agent reads why."""
    done = hand("send", "ada", "--deny", "--reason", "not today", "--json")
    assert done.code == 0
    assert done.json["text"] == "It said: shell was not run: a person declined it: not today"
    assert ran(hand) == ""


def test_another_message_lets_it_lapse_and_says_so(hand: Cli) -> None:
    """Nobody wonders what became of it."""
    done = hand("send", "ada", "Never mind.")
    assert (done.code, done.out) == (0, "Fine.\n")
    assert "the call of shell that waited for approval (turn 1) lapsed: it was not run" in done.err
    assert ran(hand) == ""
    assert hand("send", "ada", "--approve").code == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "TEXT: say something, or --approve or --deny"),
        (("hello", "--approve"), "TEXT: not together with --approve"),
        (("--approve", "--deny"), "--deny: not together with --approve"),
        (("--approve", "--reason", "x"), "--reason: goes with --deny"),
        (("hello", "--always"), "--always: goes with --approve"),
        (("hello", "--call", "x"), "--call: goes with --approve, --deny"),
        (("--deny", "--id", "x"), "--id: not together with --deny"),
    ],
)
def test_wrong_usage_is_told(cli: Cli, words: tuple[str, ...], said: str) -> None:
    """Before anything is opened."""
    done = cli("send", "ada", *words)
    assert done.code == 2
    assert said in done.err


def test_what_is_approved_is_seen_to_the_letter() -> None:
    """Nothing steers the terminal, hides behind another direction, or looks like a line of ours."""
    assert exact("a\x1b[2K\r\u202eb\u200b\u00a0\t\x7f\u3164") == (
        "a␛[2K␍⟨U+202E⟩b⟨U+200B⟩⟨U+00A0⟩␉␡⟨U+3164⟩"
    )
    command = "rm -rf ~" + " " * 40 + "# 日本語\nrun it? y"
    request = ApprovalRequest("ada", 1, "c1", "shell", {"command": command, "n": [1]}, "world")
    rows = rows_of(request, 30)
    assert rows[0] == "ada wants to call shell (it acts outside of the agent)"
    assert all(row.startswith(("  │ ", "  ┆ ")) or row.endswith(":") for row in rows[1:])
    assert "".join(row[4:] for row in rows[2:5]) == command.partition("\n")[0]
    assert rows[-3:] == ["  │ run it? y", "  n:", "  │ [1]"]
    long = ApprovalRequest("ada", 1, "c1", "shell", {"command": "x\n" * 500}, "world")
    cut = rows_of(long, 80, 40)
    assert len(cut) == 40
    assert "  … 464 lines are not shown here …" in cut


def test_a_chat_that_is_piped_answers_by_commands(hand: Cli, tmp_path: Path) -> None:
    """It says what waits when it begins."""
    done = hand("chat", "ada", stdin=b"/approve\n")
    assert "/approve runs it, /deny [WHY] refuses it" in done.err
    assert done.out == "It said: [it printed nothing]\n"
    done = hand("chat", "ada", stdin=f"echo y >> {tmp_path}/ran\n/deny no\n".encode())
    assert done.out == "It said: shell was not run: a person declined it: no\n"
    assert ran(hand) == "x\n"
