"""Which time a question is about: now, what was before, or a time that it names. Pure, English.

Most questions are about now, and what is over is then kept from them. What only looks like a
question for the past costs little: it is shown what is over beside what is true, each marked.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from pagemind.runtime.when import find_spans, last_moment

_CHARS: Final = 2000  # of a question that are looked at
_ALWAYS: Final = re.compile(
    r"\b(?:used to (?!it\b|this\b|that\b|the\b)|previous(?:ly)?|former(?:ly)?|originally"
    r"|in the past|back then|over time|over the years|history of|what (?:has |had )?changed|ex-\w+"
    r"|(?:my|your|his|her|its|our|their|\w+['’]s?) old )",
    re.IGNORECASE,
)
_ACCUSTOMED: Final = re.compile(
    r"\b(?:am|is|are|be|been|gets?|got|getting|become)(?: \w+)? used to\b", re.IGNORECASE
)
_BEFORE: Final = re.compile(r"\b(?:before|earlier|until|till|prior to|at first)\b", re.IGNORECASE)
_PAST: Final = re.compile(
    r"\b(?:did|was|were|had|could|[a-z]{2,}ed|wrote|stood|went|kept|took|drove|ran|held|led|had|ate"
    r"|gave|sat|paid|slept|came|rode|taught|bought)\b",
    re.IGNORECASE,
)
_PRESENT: Final = re.compile(
    r"\b(?:do|does|is|are|am|will|would|should|shall|must|can|now|currently|nowadays|today"
    r"|tomorrow|still|latest|please)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class TimeAsked:
    """now: what is true; before: what was; then: what was at `at`."""

    kind: Literal["now", "before", "then"] = "now"
    at: datetime | None = None


NOW: Final = TimeAsked()


def time_asked(question: str, now: datetime) -> TimeAsked:
    """`now` is in the agent's time zone."""
    text = " ".join(question[:_CHARS].split())
    past = bool(_PAST.search(text)) and not _PRESENT.search(text)
    if past and (spans := find_spans(text, now)):
        at = last_moment(spans[0], now)
        return NOW if at > now - timedelta(days=1) else TimeAsked("then", at)
    if _ALWAYS.search(_ACCUSTOMED.sub(" ", text)):
        return TimeAsked("before")
    return TimeAsked("before") if past and _BEFORE.search(text) else NOW
