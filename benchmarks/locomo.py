"""LoCoMo (locomo10.json, or some of its conversations): turns, questions, repaired evidence.

CC BY-NC 4.0: read it where it lies; nothing of it may be copied into this project. The names of the
categories are those of the paper and its evaluation script; others are in circulation.
"""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from corpus import Conversation, Corpus, Question, Turn, WrongFile

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
TURN_SECONDS = 20  # the data dates sessions only; turns follow each other
_DATE = "%I:%M %p on %d %B, %Y"  # 1:56 pm on 8 May, 2023
# Nine entries are malformed: 'D8:6; D9:17', lists joined by spaces, 'D:11:26', 'D30:05', 'D'.
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


def load_locomo(path: Path) -> Corpus:
    """The corpus of a file. Raises WrongFile."""
    try:
        samples = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise WrongFile(f"{path}: expected LoCoMo, a JSON list of samples: {error}") from None
    if not isinstance(samples, list) or not samples:
        raise WrongFile(f"{path}: expected LoCoMo, a JSON list of samples")
    dropped: list[str] = []
    made = []
    for number, sample in enumerate(samples, 1):
        try:
            made.append(_conversation(sample, dropped))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            where = f"sample {number} ({type(error).__name__}: {error})"
            raise WrongFile(
                f"{path}: expected LoCoMo {{sample_id, conversation, qa}}; it broke at {where}"
            ) from None
    names = tuple(CATEGORIES.values())
    return Corpus("locomo", tuple(made), names, names[:4], {"evidence_dropped": dropped})


def _conversation(sample: dict[str, Any], dropped: list[str]) -> Conversation:
    talk, turns = sample["conversation"], []
    numbers = sorted(
        int(key.removeprefix("session_")) for key in talk if re.fullmatch(r"session_\d+", key)
    )
    for session in numbers:
        start = datetime.strptime(talk[f"session_{session}_date_time"], _DATE).replace(tzinfo=UTC)
        for place, said in enumerate(talk[f"session_{session}"]):
            text = said["text"]
            if caption := said.get("blip_caption"):
                text = f"{text} [{caption}]".strip()
            at = start + timedelta(seconds=TURN_SECONDS * place)
            turns.append(Turn(said["dia_id"], session, "user", said["speaker"], text, at))
    known = {turn.id for turn in turns}
    questions = []
    for number, asked in enumerate(sample["qa"], 1):
        evidence, strange = repaired(asked.get("evidence") or [], known)
        dropped += [f"{sample['sample_id']} {each}" for each in strange]
        questions.append(
            Question(
                f"{sample['sample_id']}-q{number}",
                asked["question"],
                CATEGORIES[asked["category"]],
                evidence,
                str(asked.get("answer", "")),
            )
        )
    return Conversation(sample["sample_id"], tuple(turns), tuple(questions))


def repaired(written: list[str], known: set[str]) -> tuple[tuple[str, ...], list[str]]:
    """The turns that an evidence list means, and what of it means none."""
    found: dict[str, None] = {}
    strange = []
    for entry in written:
        ids = [f"D{int(s)}:{int(t)}" for s, t in _EVIDENCE.findall(entry)]
        if not ids:
            strange.append(entry)
        for each in ids:
            if each in known:
                found[each] = None
            else:
                strange.append(each)
    return tuple(found), strange
