"""Candidates: what a model found in some talk, held against the words that were said. Pure.

The quote of each must stand in what a person said; who said it and from when it holds follow from
that message, not from the model, and it is trusted as the least of all that the model was shown.
What names somebody or something that nobody spoke of is dropped.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any

from pagemind.runtime.clock import rfc3339
from pagemind.runtime.entity_names import is_first_person
from pagemind.runtime.gist import telling
from pagemind.runtime.models.plain_talk import content, sentences
from pagemind.runtime.settings import (
    ENTITY_NAME_CHARS,
    EXTRACT_FACTS,
    EXTRACT_TEXT_CHARS,
    RELATION_CHARS,
)
from pagemind.runtime.sleep.answer import Item, text_of
from pagemind.runtime.sleep.talk import Line, Talk
from pagemind.runtime.when import Span, find_spans, parse_span
from pagemind.runtime.wording import plain

_FIRST = re.compile(r"\b(?:I|me|my|mine|myself)\b|\bI['’]", re.IGNORECASE)
_I_SAY = re.compile(r"^\W*(?:(?:and|but|so|well|oh|yes|no|actually)\W+)*I\b", re.IGNORECASE)
# "My friend Jack hates football" is about Jack; of "my car is a Volvo" the model must know.
_SOMEBODY = (
    "friend|buddy|mate|pal|brother|sister|sibling|twin|mother|mum|mom|father|dad|son|daughter|child|"
    "kid|baby|cousin|aunt|uncle|nephew|niece|grandmother|grandfather|grandma|grandpa|granny|"
    "[a-z]+-in-law|wife|husband|spouse|partner|fianc[eé]e?|girlfriend|boyfriend|ex|neighbou?r|"
    "colleague|co-?worker|boss|manager|assistant|teacher|tutor|pupil|student|doctor|dentist|nurse|"
    "flatmate|roommate|housemate|landlord|landlady|tenant|client|customer|trainer|dog|cat|horse"
)
_MY_SOMEBODY = re.compile(
    r"^\W*(?:\w+\W+){0,4}?[Mm]y (?:[a-z-]+ ){0,2}"
    rf"(?:{_SOMEBODY}) ([A-ZÀ-Þ][\w-]+(?: [A-ZÀ-Þ][\w-]+)?)(?=[ '’])"
)
# "If you look for me" and "you will find me there" are no plans.
_AHEAD = re.compile(
    r"\b(?:(?<!\byou )(?:will|would|might|may)|['’]ll|going to|gonna|plan(?:s|ning)? to|"
    r"want(?:s|ed)? to|hop(?:e|es|ing) to|tomorrow|thinking (?:of|about)|considering|"
    r"if(?! you\b)|next (?:week|month|year|spring|summer|autumn|fall|winter))\b",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{1,4}(?:[-/.]\d{1,2}){0,2}(?:st|nd|rd|th)?")
_CALENDAR = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june"
    " july august september october november december".split()
)
_FOREIGN = re.compile(
    "[\u0400-\u04ff\u0590-\u06ff\u0900-\u0fff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
# What stands before a message where it is shown.
_HEAD = re.compile(r"^(?:\[?m\d+[^\]]{0,40}\]\s*)?(?:[\w .'’-]{1,40}:\s+)?")
_LEAST_CHARS = 3  # of a quote that is no whole message
_COVERED = 0.8  # of a candidate's words that stand in what somebody asked to forget


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fact that may be kept. `source` is the message of the quote."""

    text: str
    subject: str
    relation: str
    object: str
    speaker: str
    quote: str
    source: str
    valid_from: datetime
    importance: float | None
    trust: int

    @property
    def body(self) -> dict[str, Any]:
        """As a planned change has it."""
        return {
            "text": self.text,
            "subject": self.subject,
            "relation": self.relation,
            "object": self.object,
            "speaker": self.speaker,
            "quote": self.quote,
            "valid_from": rfc3339(self.valid_from),
            "importance": self.importance,
        }


def checked(found: Iterable[Item], talk: Talk, zone: tzinfo) -> tuple[list[Candidate], int]:
    """Those that hold, each once, and how many do not."""
    named = _Named(talk)
    kept: dict[tuple[str, ...], Candidate] = {}
    dropped = 0
    for item in found:
        candidate = _candidate(item, talk, named, zone)
        if candidate is None or len(kept) >= EXTRACT_FACTS:
            dropped += 1
            continue
        same = tuple(map(plain, (candidate.subject, candidate.relation, candidate.object)))
        key = same if all(same) else (plain(candidate.text),)
        kept.setdefault(key, candidate)
    return list(kept.values()), dropped


class _Named:
    """What may be named: all that stands in the talk, and who speaks in it."""

    def __init__(self, talk: Talk) -> None:
        said = [line.text for line in talk.lines]
        self._text = plain("\n".join([*said, *(line.speaker for line in talk.lines)]))
        self._foreign = bool(_FOREIGN.search(self._text))

    def has(self, text: str) -> bool:
        """Whether every name and number of a text is among it; dates may be worked out."""
        if not self._foreign and _FOREIGN.search(text):
            return False
        for word in telling(text):
            if word.lower() in _CALENDAR or _DATE.fullmatch(word):
                continue
            if plain(word) not in self._text:
                return False
        return True


def _candidate(item: Item, talk: Talk, named: _Named, zone: tzinfo) -> Candidate | None:
    quote = text_of(item, "quote", 4 * EXTRACT_TEXT_CHARS)
    line = _quoted(quote, talk.people)
    if line is None and (quote := _HEAD.sub("", quote)):
        line = _quoted(quote, talk.people)
    if line is None or _is_asked(quote, line.text):
        return None
    subject = text_of(item, "subject", ENTITY_NAME_CHARS)
    relation = text_of(item, "relation", RELATION_CHARS)
    value = text_of(item, "object", EXTRACT_TEXT_CHARS)
    text = text_of(item, "text", EXTRACT_TEXT_CHARS)
    about = _subject(subject, quote, line)
    if not all(map(named.has, (about, value, text))):
        return None
    misattributed = subject and not is_first_person(subject) and plain(about) != plain(subject)
    if not text or _FIRST.search(text) or misattributed:
        text = f"{line.speaker}: {quote}"[:EXTRACT_TEXT_CHARS]
    if not about or not value or plain(value) == plain(about) or _AHEAD.search(quote):
        relation, value = "", ""  # a note: what is only planned does not end what is
    candidate = Candidate(
        text=text,
        subject=about,
        relation=relation,
        object=value,
        speaker=line.speaker,
        quote=quote,
        source=line.id,
        valid_from=_since(text_of(item, "since", 40), quote, value, line, zone),
        importance=_importance(item.get("importance")),
        trust=talk.trust,
    )
    return None if _unsaid(candidate, talk.unsaid) else candidate


def _quoted(quote: str, people: Sequence[Line]) -> Line | None:
    """The last message of a person that has the quote, word for word."""
    wanted = plain(quote)
    if not wanted:
        return None
    for line in reversed(people):
        said = plain(line.text)
        if said == wanted:
            return line
        if len(wanted) < _LEAST_CHARS or (" " not in wanted and not content(quote)):
            continue
        if re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", said):
            return line
    return None


def _is_asked(quote: str, said: str) -> bool:
    """Whether a quote is all question: what somebody asks is no fact."""
    bare = quote.strip().rstrip(".!,;")
    at = said.casefold().find(bare.casefold())
    marked = at >= 0 and said[at + len(bare) : at + len(bare) + 1] == "?"
    return all(each.rstrip("\"') ").endswith("?") for each in sentences(bare + "?" * marked))


def _subject(named: str, quote: str, line: Line) -> str:
    """Whom a quote is about, where the words leave no doubt; else what the model says."""
    if is_first_person(named) or not named:
        named = line.speaker if named or _FIRST.search(quote) else ""
    somebody = _MY_SOMEBODY.search(quote)
    if somebody and plain(named) == plain(line.speaker) and not _I_SAY.search(quote):
        return somebody[1]
    if _I_SAY.search(quote) and named and not _mentioned(named, quote):
        return line.speaker
    return named


def _mentioned(name: str, quote: str) -> bool:
    """Whether any word of a name stands in the quote, or what is hers or his is spoken of."""
    said = f" {plain(quote)} "
    return any(f" {word} " in said for word in plain(name).split()) or bool(
        re.search(r"\b(?:he|she|they|his|her|their|him|them)\b", said)
    )


def _since(said: str, quote: str, value: str, line: Line, zone: tzinfo) -> datetime:
    """From when it holds: a day that the person named and the model took for it, else when it was
    said."""
    if not said or (value and plain(said) in plain(value)):
        return line.said_at
    local = line.said_at.astimezone(zone)
    try:
        meant = parse_span(said, local)
    except ValueError:
        return line.said_at
    for span in find_spans(line.text, local):
        if plain(value) and _is_value(span, value, local):
            continue  # a birthday is no beginning
        if span.start <= meant.start < span.end or meant.start <= span.start < meant.end:
            return min(max(span.start, datetime(1, 1, 2, tzinfo=UTC)), line.said_at)
    return line.said_at


def _is_value(span: Span, value: str, local: datetime) -> bool:
    return span in find_spans(value, local)


def _importance(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return min(10.0, max(1.0, round(number, 1))) if number == number else None


def _unsaid(candidate: Candidate, unsaid: Sequence[str]) -> bool:
    """Whether somebody asked to forget it, in the same talk."""
    words = content(candidate.quote)
    for text in unsaid:
        if plain(candidate.quote) in plain(text):
            return True
        if words and len(words & content(text)) >= _COVERED * len(words):
            return True
    return False
