"""LongMemEval (S, M or oracle, JSON): each question with a history of its own.

Evidence is given twice: by turn (`has_answer`) and by session (`answer_session_ids`). Questions
whose id ends in _abs have no answer in their history and are not scored.
"""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from corpus import Conversation, Corpus, Question, Turn, WrongFile

KINDS = (
    "single-session-user",
    "single-session-assistant",
    "single-session-preference",
    "multi-session",
    "knowledge-update",
    "temporal-reasoning",
)
ABSTENTION = "_abs"
TURN_SECONDS = 20  # the data dates sessions only
_DATE = "%Y/%m/%d (%a) %H:%M"  # 2023/05/20 (Sat) 02:21
_FORMAT = "LongMemEval, a JSON list of {question_id, question_type, question, haystack_sessions, …}"


def load_longmemeval(path: Path) -> Corpus:
    """The corpus of a file. Raises WrongFile."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise WrongFile(f"{path}: expected {_FORMAT}: {error}") from None
    if not isinstance(entries, list) or not entries:
        raise WrongFile(f"{path}: expected {_FORMAT}")
    made = []
    for number, entry in enumerate(entries, 1):
        try:
            made.append(_conversation(entry))
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            where = f"entry {number} ({type(error).__name__}: {error})"
            raise WrongFile(f"{path}: expected {_FORMAT}; it broke at {where}") from None
    left_out = [each.id for each in made if not each.questions[0].evidence]
    return Corpus("longmemeval", tuple(made), KINDS, KINDS, {"not_scored": len(left_out)})


def _conversation(entry: dict[str, Any]) -> Conversation:
    names, dates = entry["haystack_session_ids"], entry["haystack_dates"]
    sessions = list(zip(dates, names, entry["haystack_sessions"], strict=True))
    dated = sorted(
        ((_date(date), name, talk) for date, name, talk in sessions), key=lambda each: each[0]
    )
    turns, evidence, wanted = [], [], []
    for session, (start, name, talk) in enumerate(dated, 1):
        if name in entry["answer_session_ids"]:
            wanted.append(session)
        for place, said in enumerate(talk):
            if not said["content"].strip():
                continue
            turn = Turn(
                f"{session}:{place + 1}",
                session,
                _role(said["role"]),
                said["role"],
                said["content"],
                start + timedelta(seconds=TURN_SECONDS * place),
            )
            turns.append(turn)
            if said.get("has_answer"):
                evidence.append(turn.id)
    if not turns:
        raise ValueError("no turns in haystack_sessions")
    id = str(entry["question_id"])
    answerable = not id.endswith(ABSTENTION)
    question = Question(
        id,
        entry["question"],
        entry["question_type"],
        tuple(evidence) if answerable else (),
        str(entry.get("answer", "")),
        as_of=_date(entry["question_date"]),
        sessions=tuple(wanted) if answerable else (),
    )
    return Conversation(id, tuple(turns), (question,))


def _role(written: str) -> str:
    if written not in ("user", "assistant"):
        raise ValueError(f"role {written!r} is neither user nor assistant")
    return written


def _date(written: str) -> datetime:
    return datetime.strptime(written, _DATE).replace(tzinfo=UTC)
