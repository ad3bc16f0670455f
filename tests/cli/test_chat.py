"""`pagemind chat` in a terminal of its own: what a person sees, and what keys do."""

from pathlib import Path

import pytest
from cli_kit import PLAIN, Cli, clean_environ
from pty_kit import ALT_ENTER, CTRL_C, CTRL_D, Terminal

# The real program on a model of our own: it answers in a way that shows what it was told, calls a
# function when asked to, and speaks slowly when asked to.
CODE = """
import sys, threading
from pagemind.runtime.testing import ScriptedModel, call
from pagemind.runtime.errors import ModelUnreachable
import pagemind.runtime.runtime as runtime

class Slow(ScriptedModel):
    def complete(self, request, *, on_text=None, on_retry=None, cancel=None):
        if request.messages[-1].text.endswith("slowly"):
            for word in range(600):
                on_text(f"word{word} ")
                cancel.wait(0.1)
        return super().complete(request, on_text=on_text, on_retry=on_retry, cancel=cancel)

failed = []
def script(request):
    last = request.messages[-1]
    said = last.text.partition("] ")[2] or last.text
    if last.role == "tool":
        return "It is noted."
    if "note that" in said:
        return call("core_append", block="human", content=said.partition("note that ")[2])
    if "fail" in said and not failed:
        failed.append(1)
        return ModelUnreachable("nobody answers", hint="start the server")
    return f"You said {len(said)} characters: {said[:40]}"

runtime.make_model = lambda *_: Slow(script, name="scripted/chat")
from pagemind.runtime.cli.app import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def definition(tmp_path: Path) -> Path:
    path = tmp_path / "plain.yaml"
    path.write_text(PLAIN, encoding="utf-8")
    return path


def chat(
    tmp_path: Path, definition: Path, *words: str, columns: int = 80, **environ: str
) -> Terminal:
    """A chat with ada."""
    arguments = ["chat", "ada", "-d", str(definition), "-m", "scripted/chat", *words]
    return Terminal(CODE, arguments, {**clean_environ(tmp_path), **environ}, columns=columns)


def test_a_chat_from_its_banner_to_coming_back(tmp_path: Path, definition: Path) -> None:
    """Who answers and why, a turn with its line of status, Ctrl-D; then what was."""
    with chat(tmp_path, definition) as terminal:
        terminal.expect("ada on scripted/chat (--model), window 2,048 tokens")
        terminal.expect("a new agent, made from plain")
        terminal.line("Hello")
        terminal.expect("You said 5 characters: Hello")
        terminal.expect("/1,829")
        terminal.send(CTRL_D)
        assert terminal.finish() == 0
        assert "Traceback" not in terminal.text
    arguments = ["chat"]
    with Terminal(CODE, arguments, clean_environ(tmp_path)) as terminal:
        terminal.expect("ada on scripted/chat (the agent's stored choice)")
        terminal.expect("coming back: 2 messages, just now, window ")
        terminal.line("/quit")
        assert terminal.finish() == 0


def test_commands_of_the_chat(tmp_path: Path, definition: Path) -> None:
    """Each prints what it says; an unknown one names the nearest and sends nothing."""
    with chat(tmp_path, definition) as terminal:
        terminal.expect("made from plain")
        terminal.line("My boat is called Nomad.")
        terminal.expect("You said")
        for line, answer in (
            ("/help", "searches what you typed before"),
            ("/context", "flushes at"),
            ("/blocks", "human  0 of 200 characters"),
            ("/recall Nomad", "m1"),
            ("/archival Nomad", "no match among 0 passages"),
            ("/pages", "no pages yet"),
            ("/page p9", "hint: there are no pages yet"),
            ("/retry", "error: there is nothing to retry"),
            ("/new", "conversation 2 begins"),
            ("/agents", "← this one"),
            ("/model", "ada runs on scripted/chat"),
            ("/model scripted/other", "now, and will next time"),
            ("/flush", "paged out p1, 1 message"),
            ("/pagse", "did you mean /page"),
            (" /etc is a folder", "You said"),
        ):
            terminal.line(line)
            terminal.expect(answer)
        terminal.send(CTRL_D)
        assert terminal.finish() == 0


def test_ctrl_c_stops_the_turn_and_not_the_program(tmp_path: Path, definition: Path) -> None:
    """What was said is kept; at the prompt it clears the line, then warns, then leaves."""
    with chat(tmp_path, definition) as terminal:
        terminal.expect("made from plain")
        terminal.line("Speak slowly")
        terminal.expect("word3")
        terminal.send(CTRL_C)
        terminal.expect("stopped; what was said is kept")
        terminal.line("/recall word3")
        terminal.expect("[interrupted]")
        terminal.line("Still there?")
        terminal.expect("You said 12 characters")
        terminal.expect("/1,829")  # until then it would be typed ahead, and Ctrl-C for the turn
        terminal.send("half a line")
        terminal.expect("half a line")
        terminal.send(CTRL_C)
        terminal.send(CTRL_C)
        terminal.expect("Ctrl-C again leaves")
        terminal.expect("›")  # a key pressed while the prompt is drawn may be lost
        terminal.send(CTRL_C)
        assert terminal.finish() == 0
        assert "Traceback" not in terminal.text


def test_a_note_is_shown_and_taken_back(tmp_path: Path, definition: Path) -> None:
    """A call is one line with its end; /undo restores the block."""
    with chat(tmp_path, definition) as terminal:
        terminal.expect("made from plain")
        terminal.line("Please note that Sam lives in Porto")
        terminal.expect('→ core_append human "Sam lives in Porto" ✓')
        terminal.expect("It is noted.")
        terminal.line("/blocks")
        terminal.expect("  Sam lives in Porto")
        terminal.line("/undo")
        terminal.expect("taken back: 1 turn")
        terminal.expect("human is as it was: (empty)")
        terminal.expect("/bring-back undoes this")
        terminal.line("Please note that " + "x" * 300)
        terminal.expect("✗ human: 300 of 200 characters")
        terminal.send(CTRL_D)
        assert terminal.finish() == 0


def test_a_failed_turn_is_one_line_and_retried(tmp_path: Path, definition: Path) -> None:
    """The message need not be typed again."""
    with chat(tmp_path, definition) as terminal:
        terminal.expect("made from plain")
        terminal.line("This will fail once")
        terminal.expect("error: nobody answers")
        terminal.expect("hint: start the server")
        terminal.expect("/retry tries again")
        terminal.line("/retry")
        terminal.expect("You said 19 characters")
        terminal.send(CTRL_D)
        assert terminal.finish() == 0


def test_lines_and_pastes_of_any_size(tmp_path: Path, definition: Path) -> None:
    """Alt-Enter and a paste make lines; a long paste stands as a word until it is sent."""
    with chat(tmp_path, definition) as terminal:
        terminal.expect("made from plain")
        terminal.send("one" + ALT_ENTER + "two")
        terminal.line("")
        terminal.expect("You said 7 characters: one\n")
        terminal.send("\x1b[200~first\rsecond\x1b[201~")
        terminal.expect("second")
        terminal.line("")
        terminal.expect("You said 12 characters: first\n")
        terminal.send("look: \x1b[200~" + "sea " * 500_000 + "\x1b[201~ end")
        terminal.expect("[pasted 2,000,000 characters] end")
        terminal.line("")
        terminal.expect("You said ")
        terminal.expect("/1,829")
        terminal.send(CTRL_D)
        assert terminal.finish() == 0
    with Terminal(CODE, ["memory", "search", "ada"], clean_environ(tmp_path)) as terminal:
        terminal.finish()
    history = (tmp_path / "chat_history").read_text(encoding="utf-8")
    assert "+first" in history
    assert "pasted" not in history


def test_typing_begins_before_the_agent_is_open(tmp_path: Path, definition: Path) -> None:
    """The prompt takes a line at once; it is answered when the agent is there."""
    with chat(tmp_path, definition) as terminal:
        terminal.expect("›")
        terminal.line("Early bird")
        terminal.expect("You said 10 characters: Early bird")
        terminal.send(CTRL_D)
        assert terminal.finish() == 0


def test_a_narrow_terminal_and_no_colours(tmp_path: Path, definition: Path) -> None:
    """Sixty columns are enough, and NO_COLOR is obeyed."""
    with chat(tmp_path, definition, columns=60, NO_COLOR="1") as terminal:
        terminal.expect("made from plain")
        terminal.line("Please note that " + "Sam lives in Porto, by the sea, " * 3)
        terminal.expect("✓")
        terminal.expect("/1,829")
        terminal.line("/context")
        terminal.expect("flushes at")
        terminal.send(CTRL_D)
        assert terminal.finish() == 0
        bars = [line for line in terminal.lines if "▕" in line or "→" in line]
        assert bars
        assert all(len(line) <= 60 for line in bars)
    assert not any(f"\x1b[{colour}m" in terminal.raw for colour in range(31, 38))


def test_escape_sequences_in_a_reply_are_shown_not_obeyed(tmp_path: Path, definition: Path) -> None:
    """A text cannot steer the terminal."""
    with chat(tmp_path, definition) as terminal:
        terminal.expect("made from plain")
        terminal.send("\x1b[200~red \x1b[31m text\x1b[201~")
        terminal.line("")
        terminal.expect("You said 14 characters: red ␛[31m text")
        terminal.send(CTRL_D)
        assert terminal.finish() == 0


def test_no_model_ends_the_chat_with_three_ways_on(tmp_path: Path) -> None:
    """Before a person has typed anything, and with nothing made."""
    code = (
        "import sys\nimport pagemind.runtime.model_choice as choice\n"
        "choice._loopback = lambda: None\n"
        "from pagemind.runtime.cli.app import main\nsys.exit(main(sys.argv[1:]))"
    )
    with Terminal(code, ["chat"], clean_environ(tmp_path)) as terminal:
        terminal.expect("no model is chosen")
        terminal.expect("pagemind models pull")
        terminal.expect("--model NAME")
        assert terminal.finish() == 1
        assert "Traceback" not in terminal.text


def test_an_agent_in_use_ends_the_chat_with_75(tmp_path: Path, definition: Path) -> None:
    """The second process says so and leaves."""
    with chat(tmp_path, definition) as first:
        first.expect("made from plain")
        with chat(tmp_path, definition) as second:
            second.expect("in use by another process")
            assert second.finish() == 75
        first.line("Hello")
        first.expect("You said 5")
        first.send(CTRL_D)
        assert first.finish() == 0


def test_piped_lines_are_one_turn_each(cli: Cli) -> None:
    """Only answers are on standard output; the exit code is that of the last failure."""
    new = ("-d", str(cli.definition), "-m", "scripted/echo")
    ran = cli("chat", "ada", *new, stdin=b"One\n\nTwo\r\n\xff\x00\n")
    assert ran.code == 0
    answers = [line.partition("] ")[2] or line for line in ran.out.splitlines()]
    assert answers == ["One", "You said: Two", "You said: \ufffd\u2400"]
    assert cli("agents", "show", "ada", "--json").json["messages"] == 6
    ran = cli("chat", "ada", stdin=b"/nonsense\n/quit\nnot said\n")
    assert ran.code == 1
    assert "there is no command /nonsense" in ran.err
    assert cli("agents", "show", "ada", "--json").json["messages"] == 6
    assert cli("chat", "ada", "-m", "local/nothing", stdin=b"").code == 1


def test_what_was_paged_out_in_the_idle_is_told(tmp_path: Path, definition: Path) -> None:
    """A flush after a turn holds nobody up, and the next line says what left the window."""
    with chat(tmp_path, definition) as terminal:
        terminal.expect("made from plain")
        for _ in range(6):
            terminal.line("\x1b[200~" + "the sea and the harbour " * 38 + "\x1b[201~")
            terminal.expect("/1,829")
        terminal.line("/pages")
        terminal.expect("gist")
        assert "paged out p1" in terminal.text
        terminal.send(CTRL_D)
        assert terminal.finish() == 0
