"""Markdown in a terminal, printed once while it arrives: nothing is redrawn or re-wrapped.

Prose is wrapped at words, code is printed as it is, so that it copies as plain text; tables wait
for their last row. A line is held back only while its first characters can still become something
else. Colours are those of the terminal's own sixteen.
"""

import re
from collections.abc import Callable

from pagemind.runtime.cli.inline import CODE, Piece, pieces
from pagemind.runtime.cli.markdown_table import table_lines
from pagemind.runtime.cli.wrapping import Wrapping, cells, styled

_DIM, _HEADING, _BULLET = "2", "1", "•"
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[^`]*$")
_RULE = re.compile(r" {0,3}([-*_])(?:\s*\1){2,}\s*$")
_HEAD = re.compile(r" {0,3}(#{1,6})\s+")
_HEAD_END = re.compile(r"\s+#*\s*$")
_ITEM = re.compile(r"(\s*)([-*+]|\d{1,9}[.)])\s+(?=\S)")
_QUOTE = re.compile(r" {0,3}((?:> ?)+)")
# What a line that has only begun may still become.
_UNDECIDED = re.compile(
    r"\s*(?:`{1,2}|~{1,2}|#{1,6}\s*|[-*+]\s*|\d{1,9}[.)]?\s*|>[> ]*|[-*_](?:\s*[-*_])*\s*)?$"
)
_RULE_COLUMNS = 40


class MarkdownStream:
    """`coloured` False keeps to bold and dim (NO_COLOR), and `code` between its marks."""

    def __init__(
        self, write: Callable[[str], None], width: Callable[[], int], *, coloured: bool = True
    ) -> None:
        self._write = write
        self._width = width
        self._coloured = coloured
        self._wrapping = Wrapping(write, width)
        self._line = ""  # of the line that arrives, what is not printed yet
        self._kind = ""  # "", "code", "text": "" while it is not decided
        self._style = ""
        self._before = " "
        self._fence = ""  # the mark that closes the code
        self._fence_indent = 0
        self._blank = False  # an empty line, printed once something follows it
        self._spoke = False
        self._listed = False
        self._table: list[str] = []

    def feed(self, text: str) -> None:
        """More text."""
        *whole, rest = text.split("\n")
        for line in whole:
            self._line += line
            self._advance(ended=True)
        if rest:
            self._line += rest
            self._advance(ended=False)

    def end(self) -> None:
        """Print what is held; the cursor stands at the start of a line then."""
        if self._line or self._kind:
            self._advance(ended=True)
        self._close_table()
        self._fence = ""
        self._blank = self._listed = False

    # --- lines ----------------------------------------------------------------------------------

    def _advance(self, *, ended: bool) -> None:
        if not self._kind:
            self._decide(ended=ended)
        if self._kind == "code":
            self._write(styled(self._line, self._colour(CODE)) + ("\n" if ended else ""))
            self._line = ""
        elif self._kind == "text":
            self._inline(ended=ended)
        if ended:
            self._kind, self._line = "", ""

    def _decide(self, *, ended: bool) -> None:
        line = self._line
        if self._fence:
            self._in_code(line, ended=ended)
            return
        if not line.strip():
            if ended:
                self._close_table()
                self._blank = self._spoke
            return
        if line.lstrip().startswith("|"):
            if ended:
                self._table.append(line)
            return
        self._close_table()
        if not ended and _UNDECIDED.match(line):
            return
        if fence := _FENCE.match(line):
            if ended:
                self._fence = fence[1]
                self._fence_indent = len(line) - len(line.lstrip())
                self._print_line(line.strip(), _DIM)
            return
        if _RULE.match(line):
            if ended:
                self._print_line("─" * min(_RULE_COLUMNS, self._width() - 1), _DIM)
            return
        self._begin(line)

    def _in_code(self, line: str, *, ended: bool) -> None:
        stripped = line.strip()
        closing = stripped and not stripped.strip(self._fence[0])
        if closing and not ended:
            return
        if closing and len(stripped) >= len(self._fence):
            self._fence = ""
            self._print_line(stripped, _DIM)
            self._spoke = True
            return
        indent = len(line) - len(line.lstrip(" "))
        if indent == len(line) and not ended and indent < self._fence_indent:
            return
        self._line = line[min(indent, self._fence_indent) :]
        self._kind = "code"

    def _begin(self, line: str) -> None:
        """The line is text; what stands before it, and how it goes on."""
        self._gap()
        self._kind, self._style, self._before = "text", "", " "
        if head := _HEAD.match(line):
            self._style = _HEADING
            self._wrapping.begin("", "")
            self._listed = False
            self._line = line[head.end() :]
        elif item := _ITEM.match(line):
            mark = item[2] if item[2][0].isdigit() else _BULLET
            indent = item[1].expandtabs(4)
            self._wrapping.begin(f"{indent}{mark} ", " " * (len(indent) + len(mark) + 1))
            self._listed = True
            self._line = line[item.end() :]
        elif quote := _QUOTE.match(line):
            bars = "│ " * quote[1].count(">")
            self._wrapping.begin(bars, bars, _DIM)
            self._line = line[quote.end() :]
        else:
            indent = line[: len(line) - len(line.lstrip())].expandtabs(4)
            if len(indent) >= 4 and not self._listed:
                self._kind = "code"  # the older way to write it
                return
            self._listed = self._listed and bool(indent)
            self._wrapping.begin(indent, indent)
            self._line = line.lstrip()

    def _inline(self, *, ended: bool) -> None:
        line, closing = self._line, ""
        if self._style == _HEADING and (found := _HEAD_END.search(line)):
            line, closing = line[: found.start()], "" if ended else found[0]
        shown, taken = pieces(line, final=ended, style=self._style, before=self._before)
        if taken:
            self._before = line[taken - 1]
        self._line = line[taken:] + closing
        for piece in shown:
            self._wrapping.put(*self._shown(piece))
        if ended:
            self._wrapping.end()
        else:
            self._wrapping.show()

    def _shown(self, piece: Piece) -> Piece:
        """As this terminal can show it."""
        if self._coloured or CODE not in piece.style.split(";"):
            return piece
        kept = ";".join(each for each in piece.style.split(";") if each != CODE)
        return Piece(f"`{piece.text}`", kept)

    def _colour(self, style: str) -> str:
        return style if self._coloured else ""

    # --- blocks ---------------------------------------------------------------------------------

    def _gap(self) -> None:
        if self._blank:
            self._write("\n")
        self._blank, self._spoke = False, True

    def _print_line(self, text: str, style: str) -> None:
        self._gap()
        self._listed = False
        self._write(styled(text, style) + "\n")

    def _close_table(self) -> None:
        if not self._table:
            return
        lines, self._table = self._table, []
        self._gap()
        for line in table_lines(lines, self._width() - 1, cells):
            self._write("".join(styled(*self._shown(piece)) for piece in line) + "\n")
