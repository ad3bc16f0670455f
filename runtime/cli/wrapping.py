"""Words into lines, while they arrive: what is printed is never printed again.

A word is shown at once where it will fit, also in pieces; near the right edge it waits until it is
whole. Between wide letters (Chinese, Japanese, Korean) a line may break anywhere, but not before
closing punctuation. A word longer than a line is left to the terminal, which copies it whole.
"""

import re
from collections.abc import Callable

_SLACK = 24  # columns that a word which has begun may still need
_WIDE = r"[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff01-\uff60]"
_CLOSERS = "、。，．：；？！）」』】》〉〕”’・ー々"
_UNITS = re.compile(rf"\s+|{_WIDE}[{_CLOSERS}]*|(?:(?!{_WIDE})\S)+")


class Wrapping:
    """`write` prints, `width` gives the columns of the terminal now."""

    def __init__(self, write: Callable[[str], None], width: Callable[[], int]) -> None:
        self._write = write
        self._width = width
        self._column = 0
        self._indent = ("", "")  # of what a line is wrapped into, and its style
        self._space = 0  # not written until a word follows on the same line
        self._word: list[tuple[str, str]] = []  # pieces and their styles, not written
        self._letters = ""  # of the whole word: an emoji may arrive in several pieces
        self._start = 0  # the column of the word, once its start is written
        self._begun = False  # the start of the word is written already
        self._empty = True  # no word stands in this line yet

    def begin(self, first: str, rest: str, style: str = "") -> None:
        """A new line: `first` stands before it, `rest` before those it is wrapped into."""
        self._indent = (rest, style)
        self._write(styled(first, style))
        self._column = cells(first)
        self._space = 0
        self._begun = False
        self._empty = True

    def put(self, text: str, style: str) -> None:
        """More of the line."""
        for unit in _UNITS.findall(text):
            if unit.isspace():
                self._flush()
                self._space = 0 if self._empty else 1
                continue
            wide = re.match(_WIDE, unit) is not None
            if wide and unit[0] not in _CLOSERS:
                self._flush()
            self._word.append((unit, style))
            self._letters += unit
            if wide:
                self._flush()

    def show(self) -> None:
        """Print of the last word what can be printed already."""
        if self._word:
            end = self._column + self._space + cells(self._letters) + _SLACK
            if self._begun or self._empty or end <= self._width() - 1:
                self._place()
                self._begun = True

    def end(self) -> None:
        """The rest of the line, and its end."""
        self._flush()
        self._write("\n")
        self._column = 0

    def _flush(self) -> None:
        """The word is whole."""
        if self._word:
            self._place()
        self._begun = False
        self._letters = ""

    def _place(self) -> None:
        room = self._width() - 1
        if not self._begun:
            if not self._empty and self._column + self._space + cells(self._letters) > room:
                self._write("\n" + styled(*self._indent))
                self._column = cells(self._indent[0])
            elif self._space:
                self._write(" ")
                self._column += 1
            self._start = self._column
        self._space = 0
        for unit, style in self._word:
            self._write(styled(unit, style))
        self._column = (self._start + cells(self._letters)) % max(2, room + 1)
        self._word.clear()
        self._empty = False


def styled(text: str, style: str) -> str:
    """The text between escape sequences; as it is without a style."""
    return f"\x1b[{style}m{text}\x1b[0m" if style and text else text


def cells(text: str) -> int:
    """Columns that a text takes in a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
