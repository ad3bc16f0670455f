"""PartSize: how long a part is of what is read in parts, and that it stays so.

Part 2 begins where part 1 ended only if both were cut alike. Room changes with every edit of core
memory and every calibration of the counter: the size follows it in leaps, and not from one step to
the next. Whoever reads on over such a leap is told (`must_be_cut_alike`).
"""

from collections.abc import Callable

from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.settings import PAGE_IN_FRACTION, PART_LEAP, PART_MIN_TOKENS
from pagemind.runtime.state.state import State

KEY = "part_tokens"  # of the state's meta table


class PartSize:
    """Of one agent, in tokens. `room` is what all messages have now."""

    def __init__(self, state: State, room: Callable[[], int]) -> None:
        self._state = state
        self._room = room

    def __call__(self) -> int:
        fits = max(PART_MIN_TOKENS, int(self._room() * PAGE_IN_FRACTION))
        kept = int(self._state.database.meta(KEY) or 0)
        if fits / PART_LEAP <= kept <= fits * PART_LEAP:
            return kept
        self._state.database.set_meta(KEY, str(fits))
        return fits


def must_be_cut_alike(state: State, target: str, part: int, tokens: int, parts: int) -> None:
    """Raises ToolFailed where the part before was read and was cut at another size: what stands
    between the two would be missed."""
    if part < 2:
        return
    before = state.journal.newest_reading(target)
    if before is None or before["part"] != part - 1 or before["tokens"] == tokens:
        return
    raise ToolFailed(
        f"{target} is cut into {parts} parts of another size since you read part {part - 1} of it;"
        " begin again with part 1"
    )
