"""What is typed while a turn runs: it is seen at once, waits for the prompt, and Ctrl-C stops."""

import os
import pty
import signal
import termios
import threading
import time
from contextlib import nullcontext
from pathlib import Path

import pytest
from cli_kit import PLAIN, clean_environ
from prompt_toolkit.keys import Keys
from pty_kit import CTRL_C, CTRL_D, ENTER, Terminal

from pagemind.runtime.cli.paste_input import PasteInput
from pagemind.runtime.cli.typed_ahead import TypedAhead, typed

# The real program on a model that speaks until it is told to stop.
CODE = """
import sys
from pagemind.runtime.testing import ScriptedModel
import pagemind.runtime.runtime as runtime

class Slow(ScriptedModel):
    def complete(self, request, *, on_text=None, on_retry=None, cancel=None):
        said = request.messages[-1].text
        if said.endswith("slowly"):
            for word in range(int(said.split()[-2]) if said.split()[-2].isdecimal() else 600):
                on_text(f"word{word} ")
                cancel.wait(0.05)
        return super().complete(request, on_text=on_text, on_retry=on_retry, cancel=cancel)

runtime.make_model = lambda choice, *_: Slow(
    lambda r: f"You said {(r.messages[-1].text.partition('] ')[2] or r.messages[-1].text)!r}.",
    name=choice.name)
from pagemind.runtime.cli.app import main
sys.exit(main(sys.argv[1:]))
"""


def chat(home: Path) -> Terminal:
    definition = home / "plain.yaml"
    definition.write_text(PLAIN, encoding="utf-8")
    arguments = ["chat", "ada", "-d", str(definition), "-m", "scripted/chat"]
    terminal = Terminal(CODE, arguments, clean_environ(home), rows=12)
    terminal.expect("made from plain")
    return terminal


def test_keys_are_seen_during_a_turn_and_sent_after_it(tmp_path: Path) -> None:
    """The last row shows them while the answer goes on above; Enter among them sends; a paste
    of lines is one message; the row is given back."""
    with chat(tmp_path) as terminal:
        terminal.line("Speak 80 slowly")
        terminal.expect("word3 ")
        terminal.send("Sec")
        terminal.expect("› Sec")
        terminal.expect("word")
        terminal.send("ond船x\x7f")
        terminal.expect("› Second船")
        terminal.send(ENTER + "\x1b[200~one\rtwo\x1b[201~")
        terminal.expect("› Second船 ⏎ one ⏎ two")
        shown = terminal.raw.rpartition("\x1b[r")
        assert not shown[1]  # not given back yet
        terminal.expect("word79 ")
        terminal.expect("You said 'Second船'.")
        assert "\x1b[r" in terminal.raw
        terminal.send(ENTER)
        terminal.expect("You said 'one\\ntwo'.")
        terminal.send(CTRL_D)
        assert terminal.finish() == 0
        assert "Traceback" not in terminal.text


def test_nothing_is_reserved_for_who_does_not_type(tmp_path: Path) -> None:
    """An answer that nobody types into sets no margins."""
    with chat(tmp_path) as terminal:
        terminal.line("Speak 3 slowly")
        terminal.expect("You said")
        terminal.send(CTRL_D)
        assert terminal.finish() == 0
        assert "\x1b[1;11r" not in terminal.raw


def test_a_resize_moves_the_row(tmp_path: Path) -> None:
    """The last row of the new size is taken, without another key."""
    with chat(tmp_path) as terminal:
        terminal.line("Speak slowly")
        terminal.expect("word3 ")
        terminal.send("later")
        terminal.expect("› later")
        terminal.resize(60, 20)
        terminal.expect("› later")
        assert "\x1b[1;19r" in terminal.raw
        terminal.send(CTRL_C)
        terminal.expect("stopped; what was said is kept")
        terminal.expect("› later")
        terminal.send(CTRL_C + CTRL_D)
        assert terminal.finish() == 0


@pytest.mark.parametrize("pause", [0.0, 0.002, 0.02, 0.2])
def test_ctrl_c_right_after_enter_is_not_lost(tmp_path: Path, pause: float) -> None:
    """Read with Enter by the prompt, left by it to the turn, or a signal: it stops the turn, or
    while the agent is still opening the message, and says so."""
    with chat(tmp_path) as terminal:
        terminal.send("Speak slowly" + ENTER)
        time.sleep(pause)
        terminal.send(CTRL_C)
        end = time.monotonic() + 60
        while not ("stopped" in terminal.text or "Ctrl-C again leaves" in terminal.text):
            assert time.monotonic() < end, terminal.text
            terminal.watch(0.1)
        assert "word99 " not in terminal.text  # it would speak for half a minute
        while terminal.process.poll() is None:  # the prompt may not be there yet
            assert time.monotonic() < end, terminal.text
            terminal.send(CTRL_D)
            terminal.watch(0.5)
        assert terminal.finish() == 0


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (b"abc", "abc"),
        (b"abc\x7f\x7fd", "ad"),
        (b"one two\x17three", "one three"),
        (b"one\x15two", "two"),
        (b"one\rtwo", "one ⏎ two"),
        (b"\x1b[200~one\rtwo\x1b[201~", "one ⏎ two"),
        (b"a\x1b[Ab\x1bOAc\x1b", "abc"),
        ("船\xe9".encode()[:-1], "船"),
        (b"\x1b[31", "[31"),
    ],
)
def test_keys_as_a_line(keys: bytes, line: str) -> None:
    """What they leave on a line, without the keys that move."""
    assert typed(keys) == line


def test_what_was_typed_ahead_is_given_in_keys() -> None:
    """Keys of a paste are one; a key is taken back with all that was before it."""
    ours, theirs = pty.openpty()
    with os.fdopen(theirs) as stdin:
        source = PasteInput(stdin)
        source.type_ahead(b"ab\x03cd")
        assert source.takes_back(Keys.ControlC)
        assert not source.takes_back(Keys.ControlC)
        before = termios.tcgetattr(theirs)
        with source.raw_mode():
            raw = termios.tcgetattr(theirs)
            with source.cooked_mode():  # something is printed above the prompt
                assert termios.tcgetattr(theirs) == raw != before
    os.close(ours)


def test_no_listener_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would take every later key. Ctrl-C may come while it starts: it makes that itself."""

    class Interrupted(threading.Thread):
        def start(self) -> None:
            super().start()
            if self.name == "pagemind-typed-ahead":
                os.kill(os.getpid(), signal.SIGINT)

    ours, theirs = pty.openpty()
    with os.fdopen(theirs) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        monkeypatch.setattr("threading.Thread", Interrupted)
        with pytest.raises(KeyboardInterrupt), TypedAhead(nullcontext()).listening():
            pass
        assert "pagemind-typed-ahead" not in [each.name for each in threading.enumerate()]
    os.close(ours)
