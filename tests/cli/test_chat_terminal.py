"""The chat as a terminal sees it: keys that complete and search, resizing, hanging up, Ctrl-C."""

import json
import signal
import sqlite3
import struct
import zlib
from pathlib import Path

import pytest
from cli_kit import PLAIN, clean_environ
from pty_kit import CTRL_C, CTRL_D, ENTER, Terminal

# The real program on a model that speaks Markdown, and slowly when it is asked to.
CODE = '''
import sys
from pagemind.runtime.testing import ScriptedModel
import pagemind.runtime.runtime as runtime

class Slow(ScriptedModel):
    def complete(self, request, *, on_text=None, on_retry=None, cancel=None):
        if request.messages[-1].text.endswith("slowly"):
            for word in range(600):
                on_text(f"word{word} ")
                cancel.wait(0.02)
        return super().complete(request, on_text=on_text, on_retry=on_retry, cancel=cancel)

REPLY = """# Sails

Some **bold** words and `code`:

```python
def sail(wind):
    return "a line of code that is longer than any terminal of a test, and then some more" * wind
```

| boat | length |
|------|-------:|
| *Nomad* | 9 |
| 中文船 | 12 |
"""
runtime.make_model = lambda choice, *_: Slow(
    lambda r: REPLY if "sails" in r.messages[-1].text else "Yes. " + r.messages[-1].text[-40:],
    name=choice.name, count=lambda text: len(text) // 4)
from pagemind.runtime.cli.app import main
sys.exit(main(sys.argv[1:]))
'''
UP, TAB, CTRL_R = "\x1b[A", "\t", "\x12"


@pytest.fixture
def definition(tmp_path: Path) -> Path:
    path = tmp_path / "plain.yaml"
    path.write_text(PLAIN, encoding="utf-8")
    return path


def chat(home: Path, definition: Path, *, columns: int = 80, reports: bool = False) -> Terminal:
    arguments = ["chat", "ada", "-d", str(definition), "-m", "scripted/chat"]
    return Terminal(CODE, arguments, clean_environ(home), columns=columns, reports=reports)


def test_keys_of_the_line_editor(tmp_path: Path, definition: Path) -> None:
    """Tab completes, the status stands under the prompt, history is searched, also in the next
    run; the first Ctrl-C leaves the search, and no key is taken for another."""
    with chat(tmp_path, definition, columns=100, reports=True) as terminal:
        terminal.expect("made from plain")
        terminal.expect("ada · scripted/chat ▕")
        terminal.send("/cont" + TAB)
        terminal.expect("ext")
        terminal.send(ENTER)
        terminal.expect("flush")
        terminal.expect("›")
        terminal.send("/edit hu" + TAB)
        terminal.expect("man")
        terminal.send(CTRL_C)
        terminal.line("Where is my anchor?")
        terminal.expect("Yes. ")
        terminal.expect(" · turn ")
        terminal.expect(" tokens")
        terminal.send(CTRL_D)
        assert terminal.finish() == 0
    with chat(tmp_path, definition) as terminal:
        terminal.expect("coming back")
        terminal.send(CTRL_R + "anch")
        terminal.expect("Where is my anchor?")
        terminal.send(ENTER)  # takes what was found
        terminal.send(ENTER)
        terminal.expect("Yes. ")
        terminal.expect("▏ ")
        terminal.expect("›")
        terminal.send(UP)
        terminal.expect("Where is my anchor?")
        terminal.send(CTRL_C)
        terminal.send(CTRL_D)
        assert terminal.finish() == 0
        assert "Traceback" not in terminal.text


def test_an_answer_in_markdown_at_sixty_columns(tmp_path: Path, definition: Path) -> None:
    """Code is printed to the letter; nothing that was printed is printed again; what follows a
    resize has the new width."""
    with chat(tmp_path, definition, columns=60) as terminal:
        terminal.expect("made from plain")
        terminal.line("Tell me of sails")
        terminal.expect("▏ ")
        shown = terminal.text
        start = shown.index("Sails\n\nSome bold words and code:")
        assert shown[start : shown.index("ada ", start)].splitlines() == [
            "Sails",
            "",
            "Some bold words and code:",
            "",
            "```python",
            "def sail(wind):",
            '    return "a line of code that is longer than any terminal of a test,'
            ' and then some more" * wind',
            "```",
            "",
            "boat    length",
            "Nomad        9",
            "中文船      12",
        ]
        assert "\x1b[1mbold\x1b[0m" in terminal.raw
        terminal.line("Speak slowly")
        terminal.expect("word30 ")
        terminal.resize(100)
        terminal.expect("word125")
        terminal.send(CTRL_C)
        terminal.expect("stopped; what was said is kept")
        widths = [len(line) for line in terminal.lines if line.startswith("word")]
        assert max(widths[:3]) < 60 < widths[-2] < 100
        terminal.send(CTRL_D)
        assert terminal.finish() == 0


def test_a_lost_connection_keeps_what_was_said(tmp_path: Path, definition: Path) -> None:
    """The turn ends as if it had been stopped, the process is gone, and the next chat goes on."""
    with chat(tmp_path, definition) as terminal:
        terminal.expect("made from plain")
        terminal.line("Speak slowly")
        terminal.expect("word9 ")
        terminal.process.send_signal(signal.SIGHUP)
        terminal.hang_up()
        assert terminal.process.wait(timeout=30) == 0
    (folder,) = (tmp_path / "agents").iterdir()
    with sqlite3.connect(folder / "state.db") as database:
        ((reason, result),) = database.execute("SELECT stop_reason, result FROM turns").fetchall()
        ((said,),) = database.execute(
            "SELECT content FROM messages WHERE role = 'assistant'"
        ).fetchall()
    assert reason == "interrupted"
    assert json.loads(result)["stop_reason"] == "interrupted"
    assert "word9 " in said
    with chat(tmp_path, definition) as terminal:
        terminal.expect("coming back: 2 messages")
        terminal.line("/retry")
        terminal.expect("Yes. ")
        terminal.expect("▏ ")
        terminal.expect("›")
        terminal.process.send_signal(signal.SIGHUP)  # at the prompt it just leaves
        assert terminal.finish() == 0


def test_no_ctrl_c_at_the_prompt_is_lost(tmp_path: Path, definition: Path) -> None:
    """However soon the second follows the first: it leaves."""
    for _ in range(3):
        with chat(tmp_path, definition) as terminal:
            terminal.expect("ada on scripted/chat")
            terminal.line("Hello")
            terminal.expect("▏ ")
            terminal.expect("›")
            terminal.send(CTRL_C)
            terminal.expect("Ctrl-C again leaves")  # the prompt is being drawn now
            terminal.send(CTRL_C)
            assert terminal.finish() == 0
            assert "Traceback" not in terminal.text


def test_the_path_of_an_image_sends_it_along(tmp_path: Path, definition: Path) -> None:
    """As a terminal types it for a file that is dropped on it; also alone, with its slash first."""
    head = struct.pack(">IIBBBBB", 4, 3, 8, 0, 0, 0, 0)
    path = tmp_path / "my boat.png"
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + struct.pack(">I", 13)
        + b"IHDR"
        + head
        + struct.pack(">I", zlib.crc32(b"IHDR" + head))
    )
    fake = tmp_path / "fake.png"
    fake.write_bytes(b"text")
    with chat(tmp_path, definition) as terminal:
        terminal.expect("made from plain")
        terminal.line(f"'{path}' is it?")
        terminal.expect("with my boat.png")
        terminal.expect("my boat.png, 4×3]")
        terminal.line(str(path).replace(" ", "\\ "))
        terminal.expect("with my boat.png")
        terminal.expect("my boat.png, 4×3]")
        terminal.line(str(fake))
        terminal.expect("is no PNG, JPEG, GIF or WebP image")
        terminal.send(CTRL_D)
        assert terminal.finish() == 0
