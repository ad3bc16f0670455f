"""Scores of an answer against the right one: token F1 and BLEU-1 of LoCoMo, and a judge's prompt.

The F1 is that of LoCoMo's own evaluation (Maharana et al., 2024): lower case, no punctuation, no
articles, Porter stems, counted with multiplicity. Of multi-hop questions each comma-separated part
of the right answer is matched with the best part of the answer; of open-domain ones the part before
the first semicolon counts; of adversarial ones only whether the answer says that it is not there.
Other tables use other variants: numbers compare only with the same one.
"""

import math
import re
import string
from collections import Counter

JUDGE = (
    "You compare an answer with the right one. Say CORRECT if the answer states the same fact, in"
    " whatever words, and WRONG if it states another, leaves it open or only touches the topic."
    " One word.\n\nQuestion: {question}\nRight answer: {gold}\nAnswer: {answer}"
)
_NOT_THERE = ("no information available", "not mentioned")
_ARTICLES = re.compile(r"\b(a|an|the|and)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def f1(answer: str, gold: str, kind: str = "") -> float:
    """From 0 to 1."""
    if kind == "adversarial":
        return float(any(phrase in answer.lower() for phrase in _NOT_THERE))
    if kind == "open-domain":
        gold = gold.split(";")[0].strip()
    if kind != "multi-hop":
        return _overlap(answer, gold)
    golds, answers = gold.split(","), answer.split(",")
    best = [max(_overlap(each, one) for each in answers) for one in golds]
    return sum(best) / len(best)


def bleu1(answer: str, gold: str) -> float:
    """Clipped unigram precision with the brevity penalty, from 0 to 1."""
    said, right = _words(answer), _words(gold)
    if not said or not right:
        return 0.0
    hits = sum((Counter(said) & Counter(right)).values())
    penalty = 1.0 if len(said) >= len(right) else math.exp(1 - len(right) / len(said))
    return penalty * hits / len(said)


def _overlap(answer: str, gold: str) -> float:
    said = [stem(word) for word in _words(answer)]
    right = [stem(word) for word in _words(gold)]
    hits = sum((Counter(said) & Counter(right)).values())
    return 2 * hits / (len(said) + len(right)) if hits else 0.0


def _words(text: str) -> list[str]:
    plain = text.replace(",", "").lower().translate(_PUNCTUATION)
    return _ARTICLES.sub(" ", plain).split()


# --- the stemmer (M. F. Porter, 1980, with the departures of his own later programs) -------------

_STEP2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize",
    "bli": "ble", "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize",
    "ation": "ate", "ator": "ate", "alism": "al", "iveness": "ive", "fulness": "ful",
    "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
_STEP3 = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
_STEP4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "sion",
    "tion", "ou", "ism", "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip


def stem(word: str) -> str:
    """The Porter stem of a lower-case word."""
    if len(word) <= 2:
        return word
    for step in (_plurals, _endings, _y, _step2, _step3, _step4, _e):
        word = step(word)
    return word


def _shape(word: str) -> str:
    """c and v for each letter; y is a vowel after a consonant."""
    shape = ""
    for at, letter in enumerate(word):
        vowel = letter in "aeiou" or (letter == "y" and at > 0 and shape[-1] == "c")
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    """How many times a vowel is followed by a consonant."""
    return len(re.findall("vc", _shape(word)))


def _short(word: str) -> bool:
    """Ends in consonant, vowel, consonant, the last none of w, x and y."""
    return _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"


def _double(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c"


def _plurals(word: str) -> str:
    if word.endswith("sses") or word.endswith("ies"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _endings(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        rest = word.removesuffix(ending)
        if rest == word or "v" not in _shape(rest):
            continue
        if rest.endswith(("at", "bl", "iz")):
            return rest + "e"
        if _double(rest) and rest[-1] not in "lsz":
            return rest[:-1]
        return rest + "e" if _measure(rest) == 1 and _short(rest) else rest
    return word


def _y(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and "v" in _shape(word[:-1]) else word


def _replaced(word: str, endings: dict[str, str]) -> str:
    for ending in sorted(endings, key=len, reverse=True):
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return rest + endings[ending] if _measure(rest) > 0 else word
    return word


def _step2(word: str) -> str:
    return _replaced(word, _STEP2)


def _step3(word: str) -> str:
    return _replaced(word, _STEP3)


def _step4(word: str) -> str:
    for ending in sorted(_STEP4, key=len, reverse=True):
        if word.endswith(ending):
            # Of -sion and -tion only the -ion goes.
            rest = word[:-3] if ending in ("sion", "tion") else word[: -len(ending)]
            return rest if _measure(rest) > 1 else word
    return word


def _e(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        if _measure(rest) > 1 or (_measure(rest) == 1 and not _short(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word
