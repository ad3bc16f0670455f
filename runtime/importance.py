"""Importance: from 1 to 10, how much a text would matter later, told without a model. Pure.

It stands wherever a number is wanted and nobody has rated a text: for the reflection's sum, for
insights and digests whose model gave none. It counts signs, and English has the most of them:

    nothing, or a greeting                                1   I ate toast. Hello!
    names, numbers and dates                             +1   each of the two: The train is at 8:15.
    what is so of somebody                               +2   My cat is called Miso. I work nights.
    what was agreed, is due or is to be remembered       +2   I promise to call. The rent is due.
    feelings                                             +2   I love her. We quarrelled.
    health, money, law, family, home and work            +3   The doctor called. I was fired.
    life and limb                                        +9   The house is on fire. She died.

A question tells little: it is worth half of what it names.
"""

import re

from pagemind.runtime.gist import telling
from pagemind.runtime.settings import IMPORTANCE_CHARS

LEAST, MOST = 1.0, 10.0


def _any(words: str) -> re.Pattern[str]:
    """Any of these words, with what may follow their stem where one ends in `~`."""
    either = "|".join(word.replace("~", r"\w*").replace("_", r"\s+") for word in words.split())
    return re.compile(rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE)


_OWN = re.compile(
    r"\b(?:my|our|his|her|their)\s+\w+(?:\s+\w+)?\s+(?:is|are|was|were|has|likes|hates|lives|works)\b"
    r"|\b(?:I|we|he|she|they)(?:\s+am|['’]m|\s+are|['’]re)\s+(?:an?|allerg\w+|vegetarian|vegan|from|"
    r"called|married|divorced|pregnant|moving|leaving)\b"
    r"|\b(?:I|we|he|she|they)\s+(?:live|lives|work|works|moved|own|owns|have|has|prefer|prefers|"
    r"always|never|hate|hates|cannot|can['’]t\s+eat)\b|\bcall\s+me\b",
    re.IGNORECASE,
)
_DUE = _any(
    "promise~ remember~ remind~ agreed agree deadline~ due appointment~ meeting must decided decide"
    " decision~ plan planned plans booked book scheduled owe owes don['’]t_forget by_tomorrow"
    " by_monday by_tuesday by_wednesday by_thursday by_friday vergiss~ versprochen termin~ recuerda"
    " prometo rappelle~ promis~"
)
_FELT = _any(
    "love loves loved hate hates hated afraid scared worried worry worries anxious angry furious"
    " happy happiest sad heartbroken proud ashamed excited crying cried lonely jealous grateful"
    " quarrel~ argued broke_up break-up breakup miss misses disappoint~ devastat~ upset hurt"
    " thrilled regret~ trust~ betray~ dream~"
)
_GRAVE = _any(
    "doctor~ hospital~ clinic surgery operation medicine medication~ diagnos~ allerg~ asthma"
    " diabet~ illness sick disease~ pain~ pregnan~ therap~ vaccin~ money salary loan~ debt~"
    " mortgage invoice~ rent bank~ insur~ tax~ contract~ lawyer~ court police theft stolen robbed"
    " visa passport~ fired laid_off redundant promoted promotion resign~ job married marriage"
    " wedding engaged divorce~ birth born baby funeral mother father daughter son wife husband"
    " passwort~ password~ pin_code safety unsafe danger~ accident~ burglar~ evict~"
)
_ALARM = _any(
    "on_fire is_burning burning_down died dies death dead dying killed suicid~ cancer stroke"
    " heart_attack emergency ambulance overdose~ kidnap~ missing_child explosion earthquake flood~"
    " bleeding unconscious raped attacked anaphyla~ notfall krebs gestorben muri[oó] d[eé]c[eé]d~"
)


def importance_of(text: str) -> float:
    """1 to 10; the beginning of a long text speaks for it."""
    text = text[:IMPORTANCE_CHARS]
    named = telling(text)
    numbers = any(any(c.isdigit() for c in word) for word in named)
    worth = int(numbers) + int(any(not any(c.isdigit() for c in word) for word in named))
    for pattern, points in ((_OWN, 2), (_DUE, 2), (_FELT, 2), (_GRAVE, 3), (_ALARM, 9)):
        worth += points if pattern.search(text) else 0
    if text.rstrip(" \"'”’)").endswith("?") and not _ALARM.search(text):
        worth //= 2
    return min(MOST, LEAST + worth)
