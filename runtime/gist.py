"""The gist of a page, made from its own words without a model. Pure.

It names the page's first request and its telling terms (names, numbers, dates) verbatim, so that
a model that only sees the page table knows what is worth reading.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence

from pagemind.runtime.message import Message
from pagemind.runtime.settings import GIST_KEYWORDS, GIST_TOKENS, SUMMARY_TRUST
from pagemind.runtime.shorten import shorten

_WORD = re.compile(r"[^\W\d_][\w'’-]+|\d[\w.,:/-]*\w|\d", re.UNICODE)
_TELLING = re.compile(r"[A-Z][\w'’-]+|[\w.,+-]*\d[\w.,:/-]*|\S+@\S+|https?://\S+")
_LONGEST = 40  # characters of a word that names something; longer ones are data
_COMMON = frozenset(
    "a about after all also am an and any are as at be been but by can could did do does doing "
    "for from get got had has have he her here him his how i if in into is it its just know let "
    "like me more my no not now of ok okay on one or our out please she should so some than thank "
    "thanks that the their them then there they this to too up us very want was we well were what "
    "when where which who why will with would yes you your hello hi hey sure yeah oh".split()
)


def keywords(texts: Sequence[str], limit: int = GIST_KEYWORDS) -> tuple[str, ...]:
    """The telling words of a page: names, numbers and dates first, then frequent content words."""
    telling: Counter[str] = Counter()
    plain: Counter[str] = Counter()
    for text in texts:
        sentence_start = True
        for match in _WORD.finditer(text):
            word = match[0].strip("'’-.,:")
            if not word or len(word) > _LONGEST or word.lower() in _COMMON:
                sentence_start = False
                continue
            # A capital at the start of a sentence says nothing about the word.
            if _TELLING.fullmatch(word) and not (sentence_start and word[1:].islower()):
                telling[word] += 1
            elif len(word) > 3:
                plain[word.lower()] += 1
            after = text[match.end() : match.end() + 1]
            sentence_start = after in ".!?\n"
    best = [word for word, _ in telling.most_common(limit)]
    seen = {word.lower() for word in best}
    for word, _ in plain.most_common(limit):
        if len(best) >= limit:
            break
        if word not in seen:
            best.append(word)
    return tuple(best)


def gist(messages: Sequence[Message], words: Sequence[str], count: Callable[[str], int]) -> str:
    """One line about a page in its own words: its first request, then its telling terms.

    Sentences of strangers (observations, results of the world) are not quoted: the line stands in
    the head of the prompt and in the summary.
    """
    told = [m for m in messages if m.said.strip() and m.provenance.trust >= SUMMARY_TRUST]
    opening = next((m for m in told if m.role == "user"), told[0] if told else None)
    # More than this is never shown, and an opening may be very long.
    first = " ".join(opening.said[:2000].split()) if opening else "results and observations"
    first = shorten(first, GIST_TOKENS // 2, count)
    terms = ", ".join(word for word in words if word not in first)
    line = f"“{first}”" + (f" · {terms}" if terms else "")
    return shorten(line, GIST_TOKENS, count)
