"""What can be told about a sentence without a model: question, request, pleasantry, or a claim.

English, by its first and smallest words. Where a language gives no sign, nothing is ruled out:
the model then decides alone. Pure.
"""

import re
from functools import lru_cache

_SENTENCE = re.compile(
    r"(?<!\bSt\.)(?<!\bMr\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bMrs\.)(?<!\bProf\.)(?<=[.!?…])\s+|\n+"
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_TURN_TO_QUESTION = re.compile(
    r"(?:[,;:–—-]\s*|\s+)(?:(?:and|but|so)\s+)?"
    r"(?=(?:can|could|would|will|do|does|did|what|which|who|where|when|why|how)"
    r"\s+(?:i|you|we|it|they|is|are|was|do|does|did|should|can|much|many|old|long)\b)",
    re.IGNORECASE,
)
_QUESTION = frozenset(
    "what what's whats who who's whos whom whose which where where's when when's why how how's is "
    "isn't are aren't was were do does did don't didn't can could would should may am any".split()
)
_REQUEST = frozenset(
    "tell write explain show give help make let's lets let sing translate list find suggest "
    "recommend describe summarise summarize search look read repeat say stop try answer remind ask "
    "start continue compare define calculate count imagine draw check finish rewrite sum guess "
    "have wish thank".split()
)
_ASKED_TO = frozenset("can could will would".split())
_LEAD = frozenset(
    "please now then ok okay so hey oh well and but also btw actually just yes yeah no hi hello "
    "anyway by the way".split()
)
# "Please don't suggest seafood": a wish that lasts, not a thing to do.
_FROM_NOW_ON = re.compile(r"\W*(?:please\W+)?(?:don['’]t|do not|never|always)\b", re.IGNORECASE)
_KEEP = re.compile(
    r"\b(?:remember|memori[sz]e|don['’]t forget|do not forget|keep (?:\w+ )?in mind|note|"
    r"write (?:this|that|it) down|keep (?:it|this|that)|save (?:it|this|that)|call me|for later)\b",
    re.IGNORECASE,
)
_PLEASANTRY = frozenset(
    "hello hi hey thanks thank good great nice cool ok okay yes no yeah yep nope bye goodbye see "
    "never nevermind haha lol wow sorry sure right fine perfect awesome amazing welcome cheers "
    "well that's thats interesting funny talk later exactly indeed true understood hm hmm".split()
)
# Words that say little about what a text is about, though they may carry a fact.
_THIN = frozenset(
    "go goes going went gone come comes came make makes made take takes took give gives gave put "
    "need needs want wants wanted think thinks thought like likes see seen look looks find happen "
    "happens happened again much many more most less few lot lots often ever never always "
    "already still yet only even really quite way kind sort stuff bit time times day today now "
    "tomorrow yesterday maybe perhaps actually using use used work works try tried into out up "
    "down over off back here's there's we're we've we'll they're he's she's wasn't weren't won't "
    "wouldn't couldn't shouldn't please because while after before during both each every other "
    "another same own ours hers his her him us next last first new old long great big small".split()
)
# What a message of nothing else says elsewhere: thanks, yes, no, hello, good.
_PLEASANTRY_ABROAD = frozenset(
    "danke dankeschön bitte ja nein gut hallo tschüss gracias vale sí si hola adiós merci oui non "
    "bonjour salut bien obrigado obrigada sim não olá grazie ciao bene prego dank nee tak nej "
    "tack takk kiitos dziękuję nie спасибо да нет привет хорошо пока дякую teşekkürler evet "
    "hayır شكرا نعم لا תודה כן לא धन्यवाद हाँ नहीं pls plz thx ty tysm yw np lmao k kk".split()
)
_COURTESY = re.compile(
    "谢谢|多谢|好的?|是的?|不是|你好|再见|ありがとう(?:ございます)?|はい|いいえ|こんにちは|"
    "감사합니다|고마워(?:요)?|네|아니요|안녕(?:하세요)?|ขอบคุณ(?:ครับ|ค่ะ)?"
)
# Thai, Lao, Tibetan, Burmese, Khmer, kana, Han; Hangul has spaces, but its words are inflected.
_SPACELESS = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3130-\u318f"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]+"
)
_FIRST_PERSON = re.compile(
    r"\b(?:I|me|my|mine|myself|we|us|our|ours|I['’](?:m|ve|d|ll))\b", re.IGNORECASE
)
_OWNED = re.compile(r"\b(?:my|our)\s+(?:(?:old|new|own|dear)\s+)*([\w-]+)", re.IGNORECASE)
_FOR_ME = re.compile(
    r"\b(?:tell|give|show|help|teach|write|sing|send|let|make|find|get|bring|ask|wish|(?:to|for|with))"
    r" (?:me|us)\b",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"^(?:and |but |so |well |oh )*(?:(?:I['’]?m|I am|we['’]?re|it['’]?s|that['’]?s|I feel) "
    r"(?:so |very |really |a bit |just |not )*(?:bored|tired|fine|good|ok|okay|happy|sad|back|here|"
    r"sorry|sure|hungry|ready|done|late|confused|lost|glad|curious|kidding|joking|wrong|right|"
    r"correct|great|funny|strange|interesting)|"
    r"I (?:do not |don['’]?t |did not |didn['’]?t |can(?:no|['’])t )?"
    r"(?:understand|think|guess|mean|see|agree|wonder|hope|know|get (?:it|that)|believe|suppose|"
    r"mind|care))\b",
    re.IGNORECASE,
)
_ENGLISH = re.compile(
    r"\b(?:the|is|are|it|that|this|and|you|to|of|was|let|there|please)\b", re.IGNORECASE
)
_WEAK = frozenset(
    "a an the is are was were be been being am do does did done i me my mine we us our ours you "
    "your yours he she it its they them their this that these those there here what which who whom "
    "whose where when why how of in on at to for from with by about as and or but not no so if "
    "than then too very just also now please tell told know knew known remember said say have has "
    "had having can could will would shall should may might must let get got one some any thing "
    "something anything i'm i've i'd i'll you're it's that's what's who's where's when's how's "
    "don't doesn't didn't isn't aren't can't call called name named mention mentioned".split()
)


def sentences(text: str) -> list[str]:
    """The sentences of a text; a statement and the question after it become two."""
    found = []
    for sentence in _SENTENCE.split(text):
        sentence = " ".join(sentence.split())
        turn = _TURN_TO_QUESTION.search(sentence) if sentence.endswith("?") else None
        if turn and turn.start() > 0 and _FIRST_PERSON.search(sentence[: turn.start()]):
            found += [sentence[: turn.start()].strip(), sentence[turn.end() :].strip()]
        elif sentence:
            found.append(sentence)
    return found


def words(text: str) -> list[str]:
    """Lower-case words; an apostrophe stays inside its word."""
    return [word.lower().replace("’", "'") for word in _WORD.findall(text)]


def is_question(sentence: str) -> bool:
    """Whether a sentence asks something."""
    first = _first(sentence)
    if _KEEP.search(sentence) and (first in _ASKED_TO or first not in _QUESTION):
        return False  # "can you keep that in mind?" tells more than it asks
    if sentence.rstrip("\"') ").endswith("?"):
        return True
    return first in _QUESTION and not _FROM_NOW_ON.match(sentence)


def is_request(sentence: str) -> bool:
    """Whether a sentence asks for something to be done now, other than keeping a fact."""
    if _KEEP.search(sentence) or _FROM_NOW_ON.match(sentence):
        return False
    return _first(sentence) in _REQUEST


def claims(text: str) -> list[str]:
    """The sentences that may hold something lasting about the person."""
    stated = [s for s in sentences(text) if not is_question(s) and not is_request(s)]
    told = [_without_pleasantries(s) for s in stated if _says_something(s)]
    return [sentence for sentence in told if sentence]


def questions(text: str) -> list[str]:
    """The sentences that want an answer."""
    return [each for each in sentences(text) if is_question(each) or is_request(each)]


def asks_about_person(asked: str) -> bool:
    """Whether a question is about the person: `tell me a joke` is not, `tell me my name` is."""
    return bool(_FIRST_PERSON.search(_FOR_ME.sub("", asked)))


@lru_cache(maxsize=4096)
def terms(text: str) -> frozenset[str]:
    """The stems of the words that carry meaning."""
    return frozenset(stem(word) for word in words(text) if word not in _WEAK)


@lru_cache(maxsize=4096)
def content(text: str) -> frozenset[str]:
    """What a text is about: its terms without pleasantries; pairs of characters in scripts that
    put no spaces between words. Empty for `thanks!`, `ok`, or a lone emoji."""
    spaced = _SPACELESS.sub(" ", text)
    said = [word for word in words(spaced) if word not in _WEAK | _THIN | _PLEASANTRY]
    found = {stem(word) for word in said if word not in _PLEASANTRY_ABROAD}
    for run in _SPACELESS.findall(text):
        run = _COURTESY.sub("", run)
        found.update(run[at : at + 2] for at in range(len(run) - 1))
    return frozenset(found)


def stem(word: str) -> str:
    """A crude stem, enough to match lives with live, parties with party."""
    word = word.lower().removesuffix("'s").replace("colour", "color").replace("favour", "favor")
    for ending in ("ies", "ing", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def owned(sentence: str) -> list[str]:
    """What a question says the person has: sister for `my sister's dog`, name and dog for `my
    name and my dog`."""
    return [stem(match[1]) for match in _OWNED.finditer(sentence)]


def _first(sentence: str) -> str:
    found = words(sentence)
    while len(found) > 1 and found[0] in _LEAD:
        found = found[1:]
    return found[0] if found else ""


def _without_pleasantries(sentence: str) -> str:
    """`I'm Priya, nice to meet you!` is `I'm Priya`."""
    pieces = re.split(r",\s+", sentence)
    kept = [
        piece
        for piece in pieces
        if _FIRST_PERSON.search(piece)
        or re.search(r"[A-ZÀ-Þ][\w-]+ here[.!]?$", piece)
        or len(pieces) == 1
        or (words(piece) or [""])[0] not in _PLEASANTRY
    ]
    return ", ".join(kept)


def _says_something(sentence: str) -> bool:
    if _KEEP.search(sentence):
        return True
    found = words(sentence)
    mine = bool(_FIRST_PERSON.search(sentence))
    if len(found) < 2 or _PASSING.match(sentence):
        return False
    mine = mine or bool(re.search(r"[A-ZÀ-Þ][\w-]+ here[.!]?$", sentence))
    if found[0] in _PLEASANTRY and not mine and len(found) <= 8 and "not" not in found:
        return False
    if mine or re.search(r"\d|\bnot\b|\bno longer\b", sentence):
        return True
    names = re.findall(r"(?<=\s)[A-ZÀ-Þ][\w'’-]+", sentence)
    return bool(names) or not _ENGLISH.search(sentence)
