"""Pins: copies of messages and pages that stay in view, each in a frame. Pure.

lay_out() gives the pinned section of the context head within a budget. A copy is made once, at a
flush, and stays as it is until the next; what is pinned pages out like everything else.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

from pagemind.runtime.template import load
from pagemind.runtime.untrusted import closed


@dataclass(frozen=True, slots=True)
class Pin:
    """A pinned message (m42) or page (p17): messages first_seq … last_seq. `text` is its copy with
    the frame, `tokens` what that costs."""

    target: str
    text: str
    tokens: int
    first_seq: int
    last_seq: int
    trust: int = 100

    def holds(self, other: "Pin") -> bool:
        """Whether the other one stands in this one, word for word."""
        return self.first_seq <= other.first_seq and other.last_seq <= self.last_seq


@dataclass(frozen=True, slots=True)
class Pinned:
    """The pinned section as it is shown: its text, and the targets whose copies stand in it."""

    text: str = ""
    targets: tuple[str, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()  # the seqs that can be read in it, both ends included
    trust: int = 100  # the lowest of any

    def __contains__(self, seq: int) -> bool:
        return any(first <= seq <= last for first, last in self.spans)


def framed(target: str, who: str, when: str, text: str) -> str:
    """A copy that cannot be mistaken for anything else, whatever stands in it."""
    return (
        f"<pin id={quoteattr(target)} from={quoteattr(who)} at={quoteattr(when)}>\n"
        f"{closed(text, 'pin')}\n</pin>"
    )


def lay_out(pins: Sequence[Pin], budget: int, count: Callable[[str], int]) -> Pinned:
    """The section of these pins, in their order, within `budget` tokens.

    Pins are checked against the budget when they are made, but room may shrink afterwards: what
    does not fit any more is named, so that nobody takes it for unpinned.
    """
    shown: list[Pin] = []
    lines: list[str] = []
    left = budget
    for pin in pins:
        if pin.tokens <= left:
            shown.append(pin)
            lines.append(pin.text)
            left -= pin.tokens
            continue
        note = load("pin_left_out").fill(id=pin.target, tokens=f"{pin.tokens:,}").strip()
        cost = count(note) + 1
        if cost <= left:
            lines.append(note)
            left -= cost
    return Pinned("\n".join(lines), *_what(shown))


def again(text: str, pins: Sequence[Pin]) -> Pinned:
    """A section as it was shown before, with the pins that stand in it."""
    return Pinned(text, *_what(pins))


def _what(pins: Sequence[Pin]) -> tuple[tuple[str, ...], tuple[tuple[int, int], ...], int]:
    return (
        tuple(pin.target for pin in pins),
        tuple((pin.first_seq, pin.last_seq) for pin in pins),
        min((pin.trust for pin in pins), default=100),
    )
