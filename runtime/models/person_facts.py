"""Short facts about a person: `lives in Porto`, `dog is called Rex`. Pure.

A very small model words facts loosely; `settle()` holds its notes against the person's own
sentence, mends them or takes the sentence itself, `superseded()` finds the line that a new fact
replaces, and `second_person()` turns a line into what is said to the person. English.
"""

import re
from collections.abc import Sequence

from pagemind.runtime import settings
from pagemind.runtime.models.plain_talk import stem, terms, words

_LEAD = re.compile(
    r"^(?:(?:please|turns out|hi there|hello there|hey there|"
    r"btw|by the way|actually|well|so|and|but|oh|also|hey|hi|hello|no|yes|ok|okay|"
    r"just|remember|note|know|memori[sz]e|keep in mind|don['’]t forget|do not forget)"
    r"(?:\s+that\b)?[\s,:;-]+)+",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"[\s,;:–—-]+(?:(?:and|so|please)\s+)*(?:remember (?:that|this|it)|keep (?:that|this|it)"
    r"(?: in mind)?|don['’]t forget (?:that|this|it)|note (?:that|this|it)(?: down)?|"
    r"save (?:that|this|it)|so be careful\b.*|please)$",
    re.IGNORECASE,
)
_NAME_SAID = re.compile(
    r"\b(?:my name|call me|I['’]?m|I am|this is|name['’]?s|they call me|known as)\b", re.IGNORECASE
)
_CHANGE = re.compile(
    r"\b(?:not|no longer|any ?more|actually|now|instead|changed|moved|renamed|new|correction|"
    r"used to|since then|these days)\b",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"([\w'’][\w'’ -]*?)\s*,?\s+(?:and )?(?:not|instead of|rather than)\s+(?:an? |the )?([\w'’-]+)",
    re.IGNORECASE,
)
_COPULA = re.compile(r"\s+(?:is called|are called|is named|is|are|was)\s+")
_SINGULAR = re.compile(
    r"^(?:name|home|age|birthday|favou?rite \w+|(?:work )?address)$", re.IGNORECASE
)
_MOVED = re.compile(
    r"^(?:has |have |had )?(?:just |recently )?moved (?:house )?to (?=\w)", re.IGNORECASE
)
_CALLED = re.compile(
    r"(?i:(?:you can|people|friends|everyone|everybody|they|my friends) )?(?i:call me) (\w.*)$|"
    r"([A-ZÀ-Þ][\w-]+) here$"
)
_COMMON = frozenset(
    "the a an our my people next last since every all both some many on in at this that these "
    "those it its there here when if as for from with no not is are was has can't turns".split()
)
_MOVE = re.compile(r"\b(?:move|moved|moving)\b", re.IGNORECASE)
_FIRST = frozenset({stem("i"), stem("i'm"), stem("i've"), stem("i'll"), stem("i'd")})
_COVERED = 0.8  # of the telling words of a claim
_THIRD = {
    "am": "is", "are": "is", "were": "was", "have": "has", "do": "does", "go": "goes", "was": "was",
    "don't": "doesn't",
    "haven't": "hasn't", "can": "can", "can't": "can't", "cannot": "cannot", "will": "will",
    "would": "would", "could": "could", "should": "should", "must": "must", "might": "might",
}  # fmt: skip
_SECOND = {
    "is": "are", "has": "have", "does": "do", "goes": "go", "was": "were", "isn't": "aren't",
    "doesn't": "don't", "hasn't": "haven't", "wasn't": "weren't",
}  # fmt: skip
_PAST = frozenset(
    "quit had went got bought sold made met left lost won began grew came became broke ran took "
    "gave found thought told read put cut hurt let set used spent built wrote saw ate drove born "
    "did lived kept heard fell felt taught caught chose forgot knew paid said sent sang swam "
    "slept stood understood wore woke".split()
)
_MODAL = frozenset("can can't cannot will won't would could should must might used".split())
_ADVERBS = frozenset("always never often usually really still only sometimes also just".split())
_AUXILIARY = frozenset(
    "is are was were has have had can can't will would should lives works and of".split()
)


def settle(notes: Sequence[str], claim: str) -> list[str]:
    """The facts to keep from one claim, given how the model worded them; none if it saw none.

    Where the notes add words of their own or lose a name, a number or much of the rest, the claim
    itself is kept, in the third person.
    """
    if _CALLED.match(_LEAD.sub("", claim).rstrip(" .!")):
        return [third_person(claim)]  # a name said outright needs no wording
    grounded = [note for note in map(_plain, notes) if note and _share(note, claim) > 0]
    if not grounded:
        return []
    faithful = all(_share(note, claim) == 1 and not _babbles(note) for note in grounded)
    if faithful and _covered(grounded, claim):
        mended = [_mend(note, claim) for note in grounded]
        return list(dict.fromkeys(note for note in mended if note))
    own = _moved(third_person(claim))
    if len(own) <= settings.GUIDED_FACT_CHARS:
        return [own] if own else []
    return [_mend(note, claim) for note in grounded if _share(note, claim) > 0.6]


def third_person(claim: str) -> str:
    """`My sister Nina works in Rome.` is `sister Nina works in Rome`; `I drive` is `drives`."""
    text = _TAIL.sub("", _LEAD.sub("", claim.strip()).rstrip(" .!…"))
    if named := _CALLED.match(text):
        return f"name is {named[1] or named[2]}"
    text = re.sub(r"^(?:my|our)\s+", "", text, flags=re.IGNORECASE)
    text = re.sub(r"\bI['’]?m\b", "I am", text)
    text = re.sub(r"\b([Ww]e)['’]re\b", r"\1 are", text)
    text = re.sub(r"\b(I|[Ww]e)['’]ve\b", r"\1 have", text)
    text = re.sub(r"\b(I|[Ww]e)['’]ll\b", r"\1 will", text)
    text = re.sub(r"\b(?:I|we)\s+(?=(\S+))", _verb_after_i, text, flags=re.IGNORECASE)
    text = re.sub(r"\b(?:my|our)\b", "their", text, flags=re.IGNORECASE)
    text = re.sub(r"\b(?:me|us)\b", "them", text)
    text = _lower_first(_conjugated(text).strip(" ,"))
    # Whoever says "I'm Marta" tells a name.
    return re.sub(r"^is (?=[A-ZÀ-Þ][\w-]+(?: [A-ZÀ-Þ][\w-]+)?$)", "name is ", text)


def second_person(line: str) -> str:
    """`lives in Porto` is `You live in Porto.`; `dog is called Rex` is `Your dog is called Rex.`"""
    line = line.strip().lstrip("-•* ").rstrip(" .")
    if not line or words(line)[:1] in (["you"], ["your"]):
        return _sentence(line)
    line = re.sub(r"\btheir\b", "your", re.sub(r"\b(?:they|them)\b", "you", line))
    first, _, rest = line.partition(" ")
    key = first.lower()
    following = (words(rest) or [""])[0]
    if key in _ADVERBS:
        return _sentence(f"You {key} {_base(rest)}")
    if key in _SECOND or key in _MODAL or key in _PAST or key.endswith("ed"):
        return _sentence(f"You {_SECOND.get(key, key)} {rest}")
    verb = (
        key.isalpha()
        and key.endswith("s")
        and not key.endswith("ss")
        and following not in _AUXILIARY
    )
    if verb and rest and key == first:
        return _sentence(f"You {_base(line)}")
    if key in ("a", "an"):
        return _sentence(f"You are {line}")
    if key in ("the", "this", "that", "it", "it's", "there") or not rest:
        return _sentence(line)
    return _sentence(f"Your {line}")


def to_you(said: str) -> str:
    """The person's own words, turned to them: `I parked my car` is `You parked your car.`"""
    text = re.sub(r"\bI['’]?m\b|\bI am\b", "you are", said.strip())
    text = re.sub(r"\bI was\b", "you were", text)
    text = re.sub(r"\b(I|[Ww]e)(?=['’])", "you", text)
    text = re.sub(r"\b(?:I|me|[Ww]e|us)\b", "you", text)
    text = re.sub(r"\b(?:[Mm]y|[Oo]ur)\b", "your", text)
    text = re.sub(r"\b(?:mine|ours)\b", "yours", text)
    return _sentence(_TAIL.sub("", _LEAD.sub("", text).rstrip(" .!")))


def is_known(note: str, lines: Sequence[str]) -> bool:
    """Whether a line says it already."""
    mine = terms(note)
    return any(mine <= terms(line) for line in lines) if mine else note in lines


def superseded(note: str, claim: str, lines: Sequence[str]) -> tuple[str, str] | None:
    """The line that a new fact replaces and what stands there instead, if there is one."""
    for match in _NOT.finditer(claim):
        new, old = match[1].split()[-1], match[2]
        for line in reversed(lines):
            if stem(old) in terms(line) and stem(new) not in terms(line):
                if len(terms(note) & terms(line)) > 0 and stem(old) not in terms(note):
                    return line, note
                return line, re.sub(rf"\b{re.escape(old)}\b", new, line, flags=re.IGNORECASE)
    head = _head(note)
    for line in reversed(lines):
        if head and _head(line) == head and (_CHANGE.search(claim) or _SINGULAR.match(head)):
            return line, note
    return None


def _plain(note: str) -> str:
    """A note of the model without who it is about."""
    note = " ".join(note.split()).strip(" .;,\"'!")
    return re.sub(r"^(?:the )?(?:person|user|they|he|she|i)\s+(?=\w)", "", note, flags=re.I)


def _babbles(note: str) -> bool:
    """`peanuts are allergic to peanuts`"""
    said = [stem(word) for word in words(note)]
    return len(said) > 2 and said[0] == said[-1]


def _share(note: str, claim: str) -> float:
    """How much of a note the claim says. `lives` follows from `moved`."""
    said = {*terms(claim), *(("liv",) if _MOVE.search(claim) else ())}
    told = terms(note)
    return len(told & said) / len(told) if told else 0.0


def _covered(notes: Sequence[str], claim: str) -> bool:
    """Whether the notes lose nothing that matters: no name, no number, and little of the rest."""
    claim = _TAIL.sub("", _LEAD.sub("", claim).rstrip(" .!"))
    denied = {stem(match[2]) for match in _NOT.finditer(claim)}
    wanted = terms(claim) - denied - {"mov"}
    have = {stem(word) for note in notes for word in words(note)}
    numbers = {word for word in words(claim) if any(c.isdigit() for c in word)}
    names = set(re.findall(r"(?<=[\w,;]\s)[A-ZÀ-Þ][\w-]+", claim)) - {"I"}
    exact = {stem(word) for word in numbers | names} - denied - _FIRST
    return exact <= have and len(wanted & have) >= _COVERED * len(wanted)


def _mend(note: str, claim: str) -> str:
    """A faithful note in the form that is kept."""
    if re.match(r"name is\b", note, re.IGNORECASE) and not _NAME_SAID.search(claim):
        return third_person(claim)
    first = note.partition(" ")[0]
    am = r"\b(?:I['’]?m|I am|[Ww]e['’]re|[Ww]e are) "
    if match := re.search(rf"{am}(an? )?{re.escape(first)}\b", claim, re.IGNORECASE):
        return f"is {match[1] or ''}{note}"
    if re.search(rf"\b(?:I|we) {re.escape(first)}\b", claim, re.IGNORECASE):
        note = _conjugated("\x00" + note)
    note = re.sub(r"^(?:they|we)['’]re\b|\bI am\b", "is", note)
    note = re.sub(r"\b(?:my|our)\b ?", "", note, flags=re.IGNORECASE)
    note = re.sub(r"\b(?:me|us)\b", "them", note)
    note = re.sub(r"\b(?:I|we)\b", "they", note).replace("they was", "they were")
    return _moved(note)


def _moved(note: str) -> str:
    return "lives in " + _MOVED.sub("", note) if _MOVED.match(note) else note


def _verb_after_i(match: re.Match[str]) -> str:
    return "they " if match.start() else "\x00"


def _conjugated(text: str) -> str:
    """A sentence that began with I, marked by NUL, with its verb in the third person."""
    if not text.startswith("\x00"):
        return re.sub(r"\bthey (am|was)\b", lambda m: {"am": "are", "was": "were"}[m[1]], text)
    pieces = text[1:].split(" ", 2)
    at = 1 if len(pieces) > 1 and pieces[0].lower() in _ADVERBS else 0
    pieces[at] = _third(pieces[at].lower())
    return re.sub(r"\bthey was\b", "they were", " ".join(pieces))


def _third(verb: str) -> str:
    if verb in _THIRD:
        return _THIRD[verb]
    if verb in _PAST or verb in _MODAL or verb.endswith(("ed", "s", "n't")):
        return verb
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("ch", "sh", "x", "z", "o")) else "s")


def _base(text: str) -> str:
    """The first verb of a text back in its base form: lives → live, studies → study."""
    first, _, rest = text.partition(" ")
    key = first.lower()
    if key in _SECOND:
        base = _SECOND[key]
    elif key.endswith("ies") and len(key) > 4:
        base = key[:-3] + "y"
    elif key.endswith(("ches", "shes", "sses", "xes", "zes", "oes")):
        base = key[:-2]
    elif key.endswith("s") and not key.endswith("ss"):
        base = key[:-1]
    else:
        base = first
    return f"{base} {rest}".strip()


def _head(line: str) -> str:
    """What a fact is about: the words before its copula, or `home` for where somebody lives."""
    if re.match(r"(?:lives|is living|moved|resides)\b", line, re.IGNORECASE):
        return "home"
    if re.match(r"is \d+ years old|age is", line, re.IGNORECASE):
        return "age"
    parts = _COPULA.split(line, maxsplit=1)
    return parts[0].lower().replace("colour", "color") if len(parts) == 2 else ""


def _lower_first(text: str) -> str:
    """Without the capital of a sentence's start, unless it may be a name."""
    first = text.split(" ", 1)[0].lower()
    return text[:1].lower() + text[1:] if first in _COMMON else text


def _sentence(text: str) -> str:
    text = text.strip()
    if not text:
        return ""
    return text[0].upper() + text[1:] + ("" if text[-1] in ".!?" else ".")
