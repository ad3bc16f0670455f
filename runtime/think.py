"""Reasoning that a model writes into its text as `<think>…</think>`: told apart from the answer.

Only blocks at the start are reasoning; a later `<think>` is something the model talks about. A
closing tag alone on its line without an opening one ends reasoning too (some chat templates put
the opening tag into the prompt). `ThinkFilter` does the same piece by piece as a reply streams.
"""

import re

_OPEN = "<think>"
_CLOSE = "</think>"
_LONE_CLOSE = re.compile(r"^[ \t]*</think>[ \t]*(?:\n|\Z)", re.MULTILINE)


def strip_think(text: str) -> tuple[str, str]:
    """What is meant for the person, and what was thought. A block never closed is all thought."""
    thoughts: list[str] = []
    rest = text
    while rest.lstrip().startswith(_OPEN):
        thought, closed, rest = rest.lstrip()[len(_OPEN) :].partition(_CLOSE)
        thoughts.append(thought.strip())
        if not closed:
            return "", _join(thoughts)
        rest = rest.lstrip()
    if not thoughts and (lone := _LONE_CLOSE.search(rest)):
        thoughts.append(rest[: lone.start()].strip())
        rest = rest[lone.end() :].lstrip()
    return rest, _join(thoughts)


def _join(thoughts: list[str]) -> str:
    return "\n\n".join(t for t in thoughts if t)


class ThinkFilter:
    """Feed it the pieces of a stream; it hands back what may be shown.

    Holds back only while the text so far could still be the start of a block. What was shown may
    differ from `result()` in one case: a lone closing tag is seen only when it arrives.
    """

    def __init__(self) -> None:
        self._all: list[str] = []
        self._held = ""
        self._inside = False
        self._passing = False

    def feed(self, piece: str) -> str:
        """The part of what is held back, plus this piece, that is meant for the person."""
        self._all.append(piece)
        if self._passing:
            return piece
        self._held += piece
        while True:
            if self._inside:
                start = self._held.find(_CLOSE)
                if start < 0:
                    # Only a possible beginning of the closing tag is still of interest.
                    self._held = self._held[-len(_CLOSE) + 1 :]
                    return ""
                self._held = self._held[start + len(_CLOSE) :]
                self._inside = False
            head = self._held.lstrip()
            if head.startswith(_OPEN):
                self._held = head[len(_OPEN) :]
                self._inside = True
                continue
            if _OPEN.startswith(head):  # "" or "<", "<th", …: not decided yet
                return ""
            self._passing = True
            shown, self._held = (head if self._thought_before() else self._held), ""
            return shown

    def finish(self) -> str:
        """What was held back at the end of the stream and turns out to be plain text."""
        held, self._held = self._held, ""
        if self._inside or self._passing or not held.strip():
            return ""
        self._passing = True
        return held.lstrip() if self._thought_before() else held

    def result(self) -> tuple[str, str]:
        """`strip_think` of everything fed."""
        return strip_think("".join(self._all))

    def _thought_before(self) -> bool:
        return "".join(self._all).lstrip().startswith(_OPEN)
