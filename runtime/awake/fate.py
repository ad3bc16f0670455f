"""Fate: what becomes of an event after its turn was tried. Pure.

done: it is handled, however the turn ended. again: what failed may pass, and the agent rests first.
busy: another process holds the agent. aside: it fails for itself, and must not block what came
after it.
"""

from dataclasses import dataclass
from typing import Literal

from pagemind.runtime.errors import (
    AgentInUse,
    BadRequest,
    HomeUnusable,
    LimitExceeded,
    ModelError,
    PagemindError,
    StorageError,
    UserError,
)
from pagemind.runtime.settings import KEEPER_IN_USE_SECONDS, KEEPER_RETRY_SECONDS, MAIL_TRIES
from pagemind.runtime.turn import TurnResult


@dataclass(frozen=True, slots=True)
class Fate:
    """`seconds`: how long the agent rests before it is tried again; `tried`: the turn began."""

    kind: Literal["done", "again", "busy", "aside"]
    why: str = ""
    seconds: float = 0.0
    tried: bool = True


DONE = Fate("done")


def after_turn(result: TurnResult, *, tries: int, failures: int) -> Fate:
    """`tries` of this event before, `failures` of the agent's model in a row."""
    if result.stop_reason != "model_error":
        return DONE
    error = result.error
    why = error.message if error is not None else "; ".join(result.reasons)
    if isinstance(error, BadRequest) and tries + 1 >= MAIL_TRIES:
        return Fate("aside", why)
    asked = error.retry_after if isinstance(error, ModelError) else None
    return Fate("again", why, max(asked or 0.0, rest(failures)))


def after_error(error: Exception, *, opened: bool, tries: int, failures: int) -> Fate:
    """`opened`: the agent was there, and the event was refused."""
    why = error.message if isinstance(error, PagemindError) else f"{type(error).__name__}: {error}"
    if isinstance(error, AgentInUse):
        return Fate("busy", why, KEEPER_IN_USE_SECONDS)
    if isinstance(error, StorageError | HomeUnusable) or not opened:
        return Fate("again", why, rest(failures))
    if isinstance(error, UserError | LimitExceeded) or tries + 1 >= MAIL_TRIES:
        return Fate("aside", why)
    return Fate("again", why, rest(failures))


def rest(failures: int) -> float:
    """Seconds before the next try, after so many failures in a row before this one."""
    first, most = KEEPER_RETRY_SECONDS
    return min(most, first * 2.0 ** min(failures, 30))
