"""Markdown in a terminal: printed once as it arrives, wrapped at words, code as plain text."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagemind.runtime.cli.markdown import MarkdownStream
from pagemind.runtime.cli.wrapping import cells

_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
_WORDS = st.sampled_from(
    [
        *("plain", "**bold**", "*it*", "`code`", "snake_case", "*args", "**kwargs", "2 * 3", "\\*"),
        *("[link](https://example.org/a_(b))", "[1]", "![x](y)", "~~no~~", "``a ` b``", "`open"),
        *(
            "中文文本，没有空格。",
            "日本語",
            "👩\u200d👩\u200d👧",
            "🇵🇹",
            "a" * 70,
            "**a *b***",
            "_x_",
            "__init__",
        ),
    ]
)
_STARTS = st.sampled_from(
    ["", "# ", "### ", "- ", "* ", "1. ", "12) ", "> ", "> > ", "  - ", "    ", "| ", "#tag ", "-"]
)
_LINES = st.one_of(
    st.builds(lambda start, words: start + " ".join(words), _STARTS, st.lists(_WORDS, max_size=9)),
    st.sampled_from(
        ["", "---", "```python", "```", "~~~", "|--|--:|", "***", "## End ##", "    x  "]
    ),
)
_TEXTS = st.lists(_LINES, max_size=12).map("\n".join)


def printed(text: str, width: int = 60, sizes: list[int] | None = None, **more: bool) -> str:
    """What a terminal gets for a text that arrives in pieces of these sizes."""
    out: list[str] = []
    stream = MarkdownStream(out.append, lambda: width, **more)
    at = 0
    for size in sizes or []:
        stream.feed(text[at : at + size])
        at += size
    stream.feed(text[at:])
    stream.end()
    return "".join(out)


def plain(text: str, width: int = 60) -> str:
    return _ESCAPE.sub("", printed(text, width))


@settings(max_examples=150, deadline=None)
@given(_TEXTS, st.lists(st.integers(1, 9), max_size=80), st.sampled_from([24, 60, 100]))
def test_the_pieces_a_text_arrives_in_make_no_difference(
    text: str, sizes: list[int], width: int
) -> None:
    """What is printed depends on the text alone, and is never taken back."""
    whole, pieces = printed(text, width), printed(text, width, sizes)
    assert _ESCAPE.sub("", pieces) == _ESCAPE.sub("", whole)
    assert not re.search(r"\r|\x1b\[[0-9;]*[A-HJK]", pieces)


@settings(max_examples=100, deadline=None)
@given(_TEXTS, st.sampled_from([24, 60, 100]))
def test_no_letter_of_a_text_is_lost(text: str, width: int) -> None:
    """All letters and figures are shown, in their order; only marks go."""

    def letters(some: str) -> str:
        return re.sub(r"[^\w]|_", "", some)

    assert letters(plain(text, width)) == letters(text)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("a **b c** d", "a \x1b[1mb\x1b[0m \x1b[1mc\x1b[0m d\n"),
        ("`x = 1`", "\x1b[36mx\x1b[0m \x1b[36m=\x1b[0m \x1b[36m1\x1b[0m\n"),
        ("# Head #", "\x1b[1mHead\x1b[0m\n"),
        ("*args and **kwargs", "*args and **kwargs\n"),
        ("2 * 3 * 4, a_b_c", "2 * 3 * 4, a_b_c\n"),
        ("* one\n* two", "• one\n• two\n"),
        ("3. three", "3. three\n"),
        ("[x](https://e.org)", "\x1b[4mx\x1b[0m (https://e.org)\n"),
        ("[https://e.org](https://e.org)", "\x1b[4mhttps://e.org\x1b[0m\n"),
        ("[not a link] x", "[not a link] x\n"),
        ("> said", "\x1b[2m│ \x1b[0msaid\n"),
        ("a `b", "a `b\n"),
        ("\\*no\\*", "*no*\n"),
    ],
)
def test_what_marks_become(written: str, shown: str) -> None:
    """A mark that closes is a style; one that does not stays as it was written."""
    assert printed(written) == shown


def test_code_is_plain_text_that_can_be_copied() -> None:
    """No border, no number, no padding, no line end of ours: each line is as it was written."""
    code = 'def f():\n    """' + "long " * 40 + '"""\n\n    return **x**  # `y`\n'
    lines = plain(f"Look:\n\n```python\n{code}```\n").splitlines()
    assert lines[lines.index("```python") + 1 : lines.index("```")] == code.splitlines()


def test_a_fence_in_a_list_takes_its_indent_with_it() -> None:
    """Code that stands under an item is copied without the item's indent."""
    assert plain("- do:\n  ```\n  x\n    y\n  ```\n- then") == "• do:\n```\nx\n  y\n```\n• then\n"


@pytest.mark.parametrize("width", [30, 60, 100])
def test_lines_are_wrapped_at_words_and_no_wider_than_the_terminal(width: int) -> None:
    """Wide letters count twice, and a line may break between them, not before punctuation."""
    text = "Words of many kinds, 中文文本没有空格，所以可以在任何地方换行。 and " * 4
    lines = plain(text, width).splitlines()
    assert len(lines) > 2
    assert all(cells(line) <= width for line in lines)
    assert not any(line[0] in "，。" for line in lines)
    assert all(cells(line) > width // 2 for line in lines[:-1])


def test_wrapped_items_hang_under_their_text() -> None:
    """The mark of an item stands alone at the left."""
    first, second = plain("- " + "word " * 10, 30).splitlines()
    assert first.startswith("• word")
    assert second.startswith("  word")


def test_a_table_is_aligned_and_left_as_it_is_where_it_is_too_wide() -> None:
    """Columns by their width in the terminal; those of numbers to the right."""
    table = "| name | n |\n|---|--:|\n| 中文 | 1 |\n| **b** | 1000 |"
    assert plain(table) == "name     n\n中文     1\nb     1000\n"
    assert plain(table, 8) == table + "\n"


def test_the_first_words_are_shown_as_soon_as_they_come() -> None:
    """Nothing waits for the end of a word, a line or a block that can already be shown."""
    out: list[str] = []
    stream = MarkdownStream(out.append, lambda: 60)
    stream.feed("Hel")
    assert "".join(out) == "Hel"
    stream.feed("lo wor")
    assert "".join(out) == "Hello wor"


def test_a_resize_holds_from_the_next_line_on() -> None:
    """What is printed already is left to the terminal."""
    out: list[str] = []
    width = 60
    stream = MarkdownStream(out.append, lambda: width)
    stream.feed("word " * 20)
    width = 30
    stream.feed("more " * 20)
    stream.end()
    lines = "".join(out).splitlines()
    assert max(map(len, lines[:1])) > 50
    assert max(map(len, lines[2:])) < 30


def test_without_colours_code_keeps_its_marks() -> None:
    """Bold and dim are no colours."""
    shown = printed("**b** `c`\n```\nx\n```", coloured=False)
    assert shown == "\x1b[1mb\x1b[0m `c`\n\x1b[2m```\x1b[0m\nx\n\x1b[2m```\x1b[0m\n"
