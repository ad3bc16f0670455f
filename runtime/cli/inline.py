"""Inline Markdown as styled pieces, from text that is still arriving.

pieces() takes what it can decide and says how much of the text that was: from an opening mark on it
waits for the closing one, to the end of the line at most. A mark that is never closed stays as it
was written, so that nothing of a text is lost: `*args and **kwargs` is shown whole.
"""

import re
from typing import NamedTuple

HELD_CHARS = 400  # behind an opening mark; then it is plain text
_STYLES = {"**": "1", "~~": "9", "*": "3", "_": "3"}  # not __: it is `__init__` far more often
CODE, LINK = "36", "4"
_SPECIAL = re.compile(r"[\\`*_~\[!]")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"\n]*\")?\)")
_LINK_BEGUN = re.compile(r"!?\[[^\]\n]*(?:\](?:\((?:[^()\n]|\([^()\n]*\))*(?:\([^()\n]*)?)?)?\Z")


class Piece(NamedTuple):
    """Some text and the numbers of its style (`1;36`), "" for plain."""

    text: str
    style: str


def pieces(
    text: str, *, final: bool, style: str = "", before: str = " "
) -> tuple[list[Piece], int]:
    """The pieces of what can be decided, and how many characters that is. `final`: the line ends
    here; `before`: the character that stands before the text."""
    found: list[Piece] = []
    at = 0
    while at < len(text):
        special = _SPECIAL.search(text, at)
        start = special.start() if special else len(text)
        if start > at:
            found.append(Piece(text[at:start], style))
            before = text[start - 1]
            at = start
            continue
        rest = text[at:]
        some, length = _marked(rest, before, style, final)
        if not length:
            if not final and len(rest) < HELD_CHARS and _may_close(rest, before):
                break
            run = re.match(r"`+|\*+|_+|~+|.", rest)
            assert run is not None
            some, length = [Piece(run[0], style)], len(run[0])
        found += some
        at += length
        before = text[at - 1]
    return found, at


def _marked(rest: str, before: str, style: str, final: bool) -> tuple[list[Piece], int]:
    """What a mark at the start of `rest` makes of it; nothing if it is not closed (yet)."""
    if rest[0] == "\\":
        escapes = len(rest) > 1 and not rest[1].isalnum() and rest[1].isascii() and rest[1] != " "
        return ([Piece(rest[1], style)], 2) if escapes else ([], 0)
    if rest[0] == "`":
        run = len(rest) - len(rest.lstrip("`"))
        close = re.compile(rf"(?<!`)`{{{run}}}(?!`)").search(rest, run)
        if close is None or (close.end() == len(rest) and not final):
            return [], 0  # another ` may follow, which would make it another mark
        inside = rest[run : close.start()]
        return [Piece(inside.strip() or inside, _with(style, CODE))], close.end()
    if rest[0] in "[!":
        link = _LINK.match(rest)
        if link is None:
            return [], 0
        label, address = link[1], link[2]
        if not label or label == address:
            return [Piece(address, _with(style, LINK))], link.end()
        shown, _ = pieces(label, final=True, style=_with(style, LINK))
        return [*shown, Piece(f" ({address})", style)], link.end()
    mark = next((each for each in _STYLES if rest.startswith(each)), None)
    if mark is None or not _opens(rest, mark, before):
        return [], 0
    end = _closing(rest, mark, final)
    if end < 0:
        return [], 0
    inner, _ = pieces(rest[len(mark) : end], final=True, style=_with(style, _STYLES[mark]))
    return inner, end + len(mark)


def _opens(rest: str, mark: str, before: str) -> bool:
    after = rest[len(mark) : len(mark) + 1]
    if not after or after.isspace() or after == mark[0]:
        return False
    if rest.startswith("__") or (mark == "~~" and after == "~"):
        return False
    return len(mark) == 2 or not before.isalnum()


def _closing(rest: str, mark: str, final: bool) -> int:
    """Where the closing mark stands; -1 if it does not (yet)."""
    at = len(mark)
    while (at := rest.find(mark, at + 1)) > 0:
        after = rest[at + len(mark) : at + len(mark) + 1]
        if not after and not final:
            return -1  # what follows decides
        single = len(mark) == 1
        if single and (after == mark or rest[at - 1] == mark):
            at += 1
            continue
        word = single and after.isalnum() and after.isascii()
        if not rest[at - 1].isspace() and not word:
            # `**a *b***`: the outer mark closes last.
            while len(mark) == 2 and rest[at + 2 : at + 3] == mark[0]:
                at += 1
            return at
    return -1


def _may_close(rest: str, before: str) -> bool:
    """Whether what is still to come can make a mark of the start of `rest`."""
    if rest[0] == "\\":
        return len(rest) == 1
    if rest[0] == "`":
        return True
    if rest[0] in "[!":
        return rest == "!" or _LINK_BEGUN.match(rest) is not None
    mark = next((each for each in _STYLES if rest.startswith(each)), None)
    if mark is None or len(rest) <= len(mark):
        return True
    return _opens(rest, mark, before)


def _with(style: str, more: str) -> str:
    return f"{style};{more}" if style else more
