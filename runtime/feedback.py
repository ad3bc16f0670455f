"""Feedback: what a person thought of a turn, or a task's check of it. It is kept with the turn's
result, under `feedback`: {"verdict": "good" | "bad", "why", "at"}, and under `expect`:
{"ok", "why"}; judging again replaces it. The turn's episode, where there is one, learns of it.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pagemind.runtime.clock import rfc3339
from pagemind.runtime.episodes import remember, stored_of
from pagemind.runtime.errors import UserError
from pagemind.runtime.message import clean_text
from pagemind.runtime.skill_book import SkillBook

if TYPE_CHECKING:
    from pagemind.runtime.state.state import State

VERDICTS = ("good", "bad")


def judge(state: "State", verdict: str, why: str = "") -> int:
    """Mark the agent's last turn; its number. Raises UserError if it was not answered."""
    if verdict not in VERDICTS:
        raise UserError(f"{verdict!r} is no verdict", hint="say good or bad")
    last = next(iter(state.turns.newest(1)), None)
    if last is None:
        raise UserError("there is no turn to judge", hint="say something first")
    if not last.reply_seqs:
        raise UserError("the last turn has no answer to judge", hint="/retry takes it up again")
    at = rfc3339(state.clock.now())
    feedback = {"verdict": verdict, "why": clean_text(why), "at": at}
    before = (last.result.get("feedback") or {}).get("verdict")
    with state.database.transaction():
        _note(state, last.turn, "feedback", feedback)
        if before != verdict:
            good, bad = verdict == "good", verdict == "bad"
            SkillBook(state).judged(
                last.turn,
                good=good - (before == "good"),
                bad=bad - (before == "bad"),
            )
    return last.turn


def expected(state: "State", turn: int, why: str) -> None:
    """Note whether a turn's answer was what a task expected; `why` it was not, "" where it was."""
    _note(state, turn, "expect", {"ok": not why, "why": clean_text(why)})


def _note(state: "State", turn: int, key: str, judged: Mapping[str, object]) -> None:
    with state.database.transaction():
        state.turns.add_to_result(turn, key, judged)
        if stored_of(state, turn) is not None:
            remember(state, turn)
