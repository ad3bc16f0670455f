"""MSC-Self-Instruct (JSONL of MemGPT/MSC-Self-Instruct): five sessions and a question each.

The data says the answer and not where it stands. Turns that hold every telling word of the answer
count as evidence, and one of them is enough; questions without such a turn are not scored, and
the notes of the corpus say how many.
"""

import json
import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from corpus import Conversation, Corpus, Question, Turn, WrongFile

KIND = "deep-memory"
TURN_SECONDS = 20
NOW = datetime(2022, 1, 5, 12, tzinfo=UTC)  # sessions are dated by how long ago they were
_FORMAT = "MSC-Self-Instruct, a line each of {previous_dialogs, dialog, self_instruct{A, B}}"
_AGO = re.compile(r"(\d+)\s*(hour|day|week|month|year)")
_HOURS = {"hour": 1, "day": 24, "week": 168, "month": 730, "year": 8766}
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_EMPTY = frozenset(
    "a about after all also am an and any are as at be because been but by can could did do does"
    " for from get got had has have he her him his i i'm if in is it it's its just like me "
    "mentioned"
    " my no not of oh on one or our said she so some than that the their them then there they this"
    " to told too up us was we were what when where which who will with would yeah yes you "
    "your".split()
)


def load_msc(path: Path) -> Corpus:
    """The corpus of a file. Raises WrongFile."""
    made = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise WrongFile(f"{path}: expected {_FORMAT}: {error}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            made.append(_conversation(f"msc-{number}", json.loads(line)))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            where = f"line {number} ({type(error).__name__}: {error})"
            raise WrongFile(f"{path}: expected {_FORMAT}; it broke at {where}") from None
    if not made:
        raise WrongFile(f"{path}: expected {_FORMAT}; there is no line in it")
    without = sum(not each.questions[0].evidence for each in made)
    return Corpus("msc", tuple(made), (KIND,), (KIND,), {"not_scored": without})


def _conversation(id: str, row: dict[str, Any]) -> Conversation:
    talks = [each["dialog"] for each in row["previous_dialogs"]]
    times = _times(row["previous_dialogs"])
    if row.get("dialog"):  # the newest session before the question
        talks.append(row["dialog"])
        times.append(NOW)
    turns = []
    for session, (start, talk) in enumerate(zip(times, talks, strict=True), 1):
        for place, said in enumerate(talk):
            if said["text"].strip():
                turns.append(
                    Turn(
                        f"{session}:{place + 1}",
                        session,
                        "user",
                        said.get("id") or f"Speaker {place % 2 + 1}",
                        said["text"],
                        start + timedelta(seconds=TURN_SECONDS * place),
                    )
                )
    if not turns:
        raise ValueError("no turns in previous_dialogs and dialog")
    asked, answer = row["self_instruct"]["B"], row["self_instruct"]["A"]
    telling = _words(answer) - _words(asked) or _words(answer)
    evidence = [turn.id for turn in turns if telling and telling <= _words(turn.text)]
    question = Question(id, asked, KIND, tuple(evidence), answer, one_is_enough=True)
    return Conversation(id, tuple(turns), (question,))


def _times(dialogs: list[dict[str, Any]]) -> list[datetime]:
    """When the sessions began: as they say if that is in order, else a week apart."""
    found = []
    for each in dialogs:
        ago = _AGO.findall(str(each.get("time_back", "")))
        found.append(NOW - timedelta(hours=sum(int(n) * _HOURS[unit] for n, unit in ago)))
    whole = [*found, NOW]
    if all(earlier < later for earlier, later in pairwise(whole)):
        return found
    return [NOW - timedelta(weeks=len(dialogs) - i) for i in range(len(dialogs))]


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in _WORD.findall(text.lower()) if word not in _EMPTY)
