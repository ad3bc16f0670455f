"""Pinning: pin and unpin what is kept in view, within a budget, and make the section of it.

What is pinned stands in the state at once and in the window from the next flush on, so that the
prompt's prefix stays the same in between.
"""

import re
from collections.abc import Callable
from datetime import datetime, tzinfo

from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.message import Message
from pagemind.runtime.page import Page
from pagemind.runtime.pins import Pin, Pinned, again, framed, lay_out
from pagemind.runtime.pressure import Pressure
from pagemind.runtime.services import PinAnswer
from pagemind.runtime.settings import PAGE_TABLE_FRACTION, PIN_FRACTION, SUMMARY_FRACTION
from pagemind.runtime.state.history import Epoch
from pagemind.runtime.state.state import State
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.untrusted import OPEN, Fences

_ID = re.compile(r"([a-zA-Z])(\d{1,18})")
_LISTED = 8  # pins that an error names


def pin_budget(pressure: Pressure) -> int:
    """Tokens that all pins may take: their share of room, and no more than a flush keeps beside
    summary and table."""
    kept = pressure.keep_at - pressure.room * (SUMMARY_FRACTION + PAGE_TABLE_FRACTION)
    return max(0, int(min(pressure.room * PIN_FRACTION, kept)))


class Pinning:
    """The pins of one agent. `budget` gives the tokens that all of them may take now."""

    def __init__(
        self,
        state: State,
        *,
        count: Callable[[str], int],
        zone: tzinfo,
        budget: Callable[[], int],
        fences: Callable[[], Fences] = lambda: OPEN,
    ) -> None:
        self._state = state
        self._count = count
        self._zone = zone
        self._budget = budget
        self._fences = fences

    # --- for the model and for people ---------------------------------------------------------

    def pin(self, id: str) -> PinAnswer:
        """Pin a message or page. Raises ToolFailed: not there, nothing to pin, over the budget."""
        target = self._target(id)
        pin = self._pin(target)
        if pin is None:
            raise ToolFailed(self._missing(target))
        budget, pins = self._budget(), self.all()
        used = sum(each.tokens for each in pins)
        if any(each.target == target for each in pins):
            return PinAnswer(target, pin.tokens, budget - used, changed=False)
        if around := next((each for each in pins if each.holds(pin)), None):
            raise ToolFailed(f"{target} stands in {around.target}, which is pinned already")
        if pin.tokens > budget:
            raise ToolFailed(
                f"{target} takes {pin.tokens:,} tokens and all pins together may take {budget:,};"
                + (" pin single messages of it" if target[0] == "p" else " page_in reads it")
            )
        if used + pin.tokens > budget:
            raise ToolFailed(
                f"{target} takes {pin.tokens:,} tokens and {max(0, budget - used):,} of"
                f" {budget:,} are free for pins; unpin first: {_listed(pins)}"
            )
        self._state.pins.add(target, seq=self._state.journal.last_seq)
        return PinAnswer(target, pin.tokens, budget - used - pin.tokens)

    def unpin(self, id: str) -> PinAnswer:
        """Let a pin go. Raises ToolFailed if it is none."""
        target = self._target(id)
        pins = self.all()
        if target not in self._state.pins.all():
            there = f"pinned are {_listed(pins)}" if pins else "nothing is pinned"
            raise ToolFailed(f"{target} is not pinned; {there}")
        self._state.pins.remove(target)
        kept = [each for each in pins if each.target != target]
        gone = sum(each.tokens for each in pins if each.target == target)
        return PinAnswer(target, gone, self._budget() - sum(each.tokens for each in kept))

    def all(self) -> list[Pin]:
        """Everything that is pinned, the oldest pin first."""
        made = (self._pin(target) for target in self._state.pins.all())
        return [pin for pin in made if pin is not None]

    # --- for the flush --------------------------------------------------------------------------

    def section(self, budget: int) -> Pinned:
        """What the window shows from now on."""
        return lay_out(self.all(), budget, self._count)

    def of_epoch(self, epoch: Epoch) -> Pinned:
        """What the window showed in an epoch, to the letter."""
        made = (self._pin(target) for target in epoch.pins)
        text = self._state.history.text(epoch.pinned_sha256)
        return again(text, [pin for pin in made if pin is not None])

    # --- targets --------------------------------------------------------------------------------

    def _target(self, id: str) -> str:
        match = _ID.fullmatch(id.strip().strip("[]()\"'"))
        kind = match[1].lower() if match else ""
        if match is not None and kind in "mp":
            return f"{kind}{int(match[2])}"
        if kind == "d":
            raise ToolFailed(f"{id.strip()} is a directory; pin a page of it, or a message")
        if kind == "a":
            raise ToolFailed(
                f"{id.strip()} is a passage; what must always be in view belongs in core memory"
            )
        raise ToolFailed(f"{id!r} is not an id; pinned can be messages (m42) and pages (p17)")

    def _missing(self, target: str) -> str:
        """Why there is nothing to pin."""
        number = int(target[1:])
        if target[0] == "p":
            newest = next(iter(self._state.pages.newest(1)), None)
            known = f"the pages are p1 to {newest.short_id}" if newest else "there are no pages yet"
            return f"there is no page {target}; {known}"
        message = self._state.journal.get([number]).get(number)
        if message is None:
            last = self._state.journal.last_seq
            return f"there is no message {target}; the newest is m{last}"
        if not self._state.journal.lines.contains(number):
            return f"there is no message {target} any more: it was taken back"
        if message.erased:
            return f"{target} was erased"
        if message.reference:
            read = str(message.reference["target"])
            there = f"pin {read} or a message of it" if read[0] in "pm" else "it cannot be pinned"
            return f"{target} is only a reading of {read}; {there}"
        return f"{target} has no text to pin"

    def _pin(self, target: str) -> Pin | None:
        """The copy; None where nothing is there to be copied."""
        number = int(target[1:])
        if target[0] == "p":
            page = self._state.pages.get(number)
            return self._of_page(page) if page is not None else None
        message = self._state.journal.get([number]).get(number)
        live = message is not None and self._state.journal.lines.contains(number)
        return self._of_message(message) if message is not None and live else None

    def _of_message(self, message: Message) -> Pin | None:
        said = _said(message)
        if message.erased or message.kind in ("notice", "reading") or not said.strip():
            return None
        who = self._fences().name(_who(message))
        text = framed(
            message.short_id, who, self._when(message.said_at), self._shown(message, said)
        )
        trust, seq = message.provenance.trust, message.seq
        return Pin(message.short_id, text, self._count(text) + 1, seq, seq, trust)

    def _of_page(self, page: Page) -> Pin | None:
        stored = self._state.journal.span(page.first_seq, page.last_seq)
        lines = [self._line(m) for m, _, _ in stored if m.kind not in ("notice", "reading")]
        if not lines:
            return None
        when = f"{self._when(page.first_at)} – {self._when(page.last_at)}"
        text = framed(page.short_id, "a page", when, "\n".join(lines))
        tokens = self._count(text) + 1
        return Pin(page.short_id, text, tokens, page.first_seq, page.last_seq, page.trust)

    def _line(self, message: Message) -> str:
        said = _said(message)
        shown = self._shown(message, said)
        who = self._fences().name(_who(message))
        start = f"{message.short_id} [{self._when(message.said_at)}] {who}:"
        return f"{start} {said}" if shown == said else f"{start}\n{shown}"

    def _shown(self, message: Message, said: str) -> str:
        """What came from outside is data in a pin, too."""
        if not untrusted(message.provenance.trust):
            return said
        return self._fences().around(message.short_id, said)

    def _when(self, at: datetime | None) -> str:
        return f"{at.astimezone(self._zone):%Y-%m-%d %H:%M}" if at else ""


def _who(message: Message) -> str:
    """The speaker and where the words come from: `Sam (user)`, `fetch (tool)`."""
    origin = message.provenance.origin
    who = message.name if message.role == "tool" else message.speaker or message.role
    return who if who == origin else f"{who} ({origin})"


def _said(message: Message) -> str:
    calls = "".join(f" [called {c.name}({c.arguments})]" for c in message.tool_calls)
    return f"{message.text}{calls}".strip()


def _listed(pins: list[Pin]) -> str:
    """The largest first: it is the one that makes room."""
    largest = sorted(pins, key=lambda pin: -pin.tokens)
    named = [f"{pin.target} ({pin.tokens:,} tokens)" for pin in largest[:_LISTED]]
    more = len(pins) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")
