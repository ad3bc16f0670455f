"""Being asked in the middle of a turn, at a terminal."""

import signal
from pathlib import Path

from cli_kit import clean_environ
from pty_kit import CTRL_C, CTRL_D, Terminal

CODE = """
import sys, time
from pagemind.runtime.testing import ScriptedModel, call
from pagemind.runtime.untrusted import unmarked
import pagemind.runtime.runtime as runtime

def answer(request):
    last = request.messages[-1]
    if last.role == "tool":
        return "It said: " + unmarked(last.text)
    said = last.text.rpartition("] ")[2]
    if said.startswith("wait"):
        time.sleep(1.5)
    words = [call("shell", command="echo " + word) for word in said.split()[1:]]
    return words or call("ask_user", question="Which boat?", choices=["Nomad", "Vega"])

runtime.make_model = lambda choice, *_: ScriptedModel(
    answer, name=choice.name, count=lambda text: len(text) // 4)
from pagemind.runtime.cli.app import main
sys.exit(main(sys.argv[1:]))
"""
DEFINITION = "name: hand\nembedding: none\ncontext_window: 8192\ntools: [shell, ask_user]\n"
ASKED = "n [WHY] no: "


def chat(home: Path, *, columns: int = 80) -> Terminal:
    definition = home / "hand.yaml"
    definition.write_text(DEFINITION, encoding="utf-8")
    arguments = ["chat", "ada", "-d", str(definition), "-m", "scripted/x"]
    return Terminal(CODE, arguments, clean_environ(home), columns=columns)


def test_a_person_is_asked_before_a_call_runs(tmp_path: Path) -> None:
    """Once, always, no and why; a question is answered by its number. What was typed before the
    question is no answer to it, and stands at the next prompt."""
    with chat(tmp_path) as terminal:
        terminal.expect("made from hand")
        terminal.line("wait one")
        terminal.expect("…")
        terminal.line("y")  # typed ahead, as the next message
        terminal.expect("│ echo one")
        terminal.expect(ASKED)
        terminal.line("what?")
        terminal.expect(ASKED)
        terminal.line("no, keep it")
        terminal.expect("It said: shell was not run: a person declined it: keep it")
        terminal.expect("Which boat?")  # the agent's answer to the y
        terminal.expect("none): ")
        terminal.line("2")
        terminal.expect("It said: Vega")
        terminal.expect("›")
        terminal.line("do two three")
        terminal.expect(ASKED)
        terminal.line("a")
        terminal.expect("It said: three")
        assert terminal.text.count("echo three") < terminal.text.count("echo two")
        terminal.expect("›")
        terminal.send(CTRL_D)
        assert terminal.finish() == 0
        assert "Traceback" not in terminal.text


def test_a_question_can_be_left(tmp_path: Path) -> None:
    """Ctrl-C refuses and stops the turn; Ctrl-D leaves the call waiting, and the next chat, in a
    narrow terminal, begins with it."""
    with chat(tmp_path) as terminal:
        terminal.expect("made from hand")
        terminal.line("do one")
        terminal.expect(ASKED)
        terminal.send(CTRL_C)
        terminal.expect("stopped; what was said is kept")
        terminal.expect("›")
        terminal.line("do two")
        terminal.expect(ASKED)
        terminal.send(CTRL_D)
        terminal.expect("/approve runs it")
        terminal.expect("›")
        terminal.send(CTRL_D)
        assert terminal.finish() == 0
    with chat(tmp_path, columns=30) as terminal:
        terminal.expect("│ echo two")
        terminal.expect("it waits")
        terminal.line("/approve")
        terminal.expect("It said: two")
        terminal.expect("›")
        terminal.send(CTRL_D)
        assert terminal.finish() == 0
        assert "Traceback" not in terminal.text


def test_a_connection_lost_while_asked_leaves_the_call_waiting(tmp_path: Path) -> None:
    """The process is gone, and the next chat begins with the call."""
    with chat(tmp_path) as terminal:
        terminal.expect("made from hand")
        terminal.line("do one")
        terminal.expect(ASKED)
        terminal.process.send_signal(signal.SIGHUP)
        terminal.hang_up()
        assert terminal.process.wait(timeout=60) == 0
    with chat(tmp_path) as terminal:
        terminal.expect("it waits")
        terminal.line("/deny later")
        terminal.expect("a person declined it: later")
        terminal.expect("›")
        terminal.send(CTRL_D)
        assert terminal.finish() == 0
