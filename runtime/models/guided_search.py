"""The guided question for looking things up, and the facts that go with a reply.

`choose()` searches where a question is about the person or the past and what is at hand does not
answer it; `said_with_facts()` sets what bears on a question before it, said to the person.
"""

import re
from typing import Any

from pagemind.runtime import settings
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.models import person_facts, plain_talk
from pagemind.runtime.models.guided_facts import Answer
from pagemind.runtime.models.guided_prompt import guided_prompt
from pagemind.runtime.models.guided_turn import Found, GuidedTurn, own_words
from pagemind.runtime.models.relevance import Relevance
from pagemind.runtime.template import load

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"search": {"type": "string", "maxLength": 60}},
    "required": ["search"],
    "additionalProperties": False,
}
_PAST = re.compile(
    r"\b(?:remember|remind|recall|earlier|before|yesterday|last (?:time|week|month|year|night)|"
    r"ago|again|previous(?:ly)?|mention(?:ed)?|discuss(?:ed)?|(?:you|we|I) (?:said|told|talked)|"
    r"(?:did|have) (?:I|we|you)|tell you|told you|say about|search|look up|your (?:notes|memory|"
    r"archive))\b",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"^(?:\W*(?:please|and|so|now|ok|hey)\W+)*(?:can|could|would|will|should|what should|"
    r"how (?:can|do|should|could)|what (?:can|could)|where (?:can|should|could))\b",
    re.IGNORECASE,
)
_ARCHIVE = re.compile(r"\b(?:archive|your notes|documents?|passages?|files?)\b", re.IGNORECASE)
_EVERYTHING = re.compile(
    r"\b(?:know|learn(?:ed|t)?|remember|noted?)\b.*\b(?:about )?(?:me|us)\b|\bwho am I\b",
    re.IGNORECASE,
)
_NOTHING = re.compile(r"^0 matches\b")


def question(asked: str) -> ModelRequest:
    """The request for the words to search for."""
    prompt = guided_prompt(load("guided_lookup"), message=asked)
    return ModelRequest(
        system=(prompt.instructions,),
        messages=prompt.turns,
        max_tokens=settings.GUIDED_ASK_TOKENS,
        response_schema=_SCHEMA,
    )


def choose(turn: GuidedTurn, relevance: Relevance, answer: Answer) -> tuple[str, str] | None:
    """The search function and its query, or None if nothing is to be looked up (any more)."""
    if turn.searched:
        return _second(turn)
    asked = _asked(turn)
    if not asked or not {"recall_search", "archival_search"} & turn.functions:
        return None
    past = bool(_PAST.search(asked))
    if not past and not plain_talk.asks_about_person(asked):
        return None
    if not past and _ADVICE.match(asked) and not plain_talk.owned(asked):
        return None
    if _EVERYTHING.search(asked) and not plain_talk.owned(asked):
        return None
    if not _wants_search(asked) and _answered(turn, asked, relevance):
        return None
    query = _query(asked, answer)
    if not query and (past or not _ADVICE.match(asked)):
        query = _own_query(asked)
    if not query:
        return None
    archive = "archival_search" in turn.functions and _ARCHIVE.search(asked)
    first = "archival_search" if archive or "recall_search" not in turn.functions else None
    return first or "recall_search", query


def said_with_facts(turn: GuidedTurn, relevance: Relevance) -> tuple[str, bool]:
    """What the reply answers, and whether facts that bear on it stand in front of it.

    What was just noted stands alone: beside the person's own words a small model repeats those.
    """
    if not _asked(turn):
        new = [person_facts.second_person(note) for note in turn.noted]
        return (f"[New: {' '.join(new)}]", True) if new else (turn.said, False)
    facts = facts_for_reply(turn, relevance)
    return (f"[{facts}] {turn.said}", True) if facts else (turn.said, False)


def facts_for_reply(turn: GuidedTurn, relevance: Relevance) -> str:
    """Facts in the second person, most telling first; "" for none."""
    asked = _asked(turn)
    known = turn.person.lines if turn.person else []
    if _EVERYTHING.search(asked) and not plain_talk.owned(asked):
        lines = known[-settings.GUIDED_ALL_FACTS :]
        return " ".join(map(person_facts.second_person, lines))
    told = [_told(found) for found in turn.found]
    candidates = list(dict.fromkeys([*_at_hand(turn), *told]))
    scored = sorted(
        zip(relevance.scores(asked, candidates), candidates, strict=True), key=lambda s: -s[0]
    )
    personal = plain_talk.asks_about_person(asked) or bool(_PAST.search(asked))
    owned = plain_talk.owned(asked)
    scored = [(score, text) for score, text in scored if _may_answer(text, owned)]
    if not scored or (scored[0][0] < settings.GUIDED_UNASKED and not personal):
        chosen = []
    else:
        floor = max(settings.GUIDED_BESIDE, scored[0][0] * 0.5)
        chosen = [text for score, text in scored[: settings.GUIDED_FACTS] if score >= floor]
    if not chosen and personal and (turn.searched or not _ADVICE.match(asked)):
        return "Nothing found."
    return " ".join(chosen)


def _second(turn: GuidedTurn) -> tuple[str, str] | None:
    """After a search that found nothing: the other tier, once, with the same words."""
    other = {"recall_search": "archival_search", "archival_search": "recall_search"}
    last = turn.searched[-1]
    results = [result.text for result in turn.results if result.name == last and result.ok]
    if len(turn.searched) > 1 or other[last] not in turn.functions or not results:
        return None
    return (other[last], turn.query) if _NOTHING.match(results[-1]) else None


def _asked(turn: GuidedTurn) -> str:
    return " ".join(plain_talk.questions(turn.said[-2000:]))[:300] if turn.by_person else ""


def _wants_search(asked: str) -> bool:
    return bool(re.search(r"\b(?:search|look up|look for)\b", asked, re.IGNORECASE))


def _answered(turn: GuidedTurn, asked: str, relevance: Relevance) -> bool:
    """Whether what is at hand answers: something is near, and nothing the person has is missing."""
    at_hand = [*_at_hand(turn), *(_told(found) for found in turn.found)]
    near = [
        text
        for score, text in zip(relevance.scores(asked, at_hand), at_hand, strict=True)
        if score >= settings.GUIDED_RELEVANT
    ]
    if not near:
        return False
    owned = plain_talk.owned(asked)
    if owned and _PAST.search(asked):  # what was said is asked for, not what is so
        return all(any(thing in _stems(text) for text in near) for thing in owned)
    return any(_may_answer(text, owned) for text in near)


def _may_answer(text: str, owned: list[str]) -> bool:
    """`Your dog is called Rex` says nothing of my cat, `You work as a nurse` may tell my job."""
    stems = _stems(text)
    return not owned or text.startswith("You ") or any(thing in stems for thing in owned)


def _stems(text: str) -> set[str]:
    return {plain_talk.stem(word) for word in plain_talk.words(text)}


def _at_hand(turn: GuidedTurn) -> list[str]:
    """Known facts, and what the person said in the talk that is still in the window."""
    known = turn.person.lines if turn.person else []
    facts = [person_facts.second_person(line) for line in known]
    seen = frozenset().union(*(plain_talk.terms(line) for line in known)) if known else frozenset()
    for message in turn.earlier:
        if message.role != "user":
            continue
        for claim in plain_talk.claims(own_words(message)[: settings.GUIDED_CLAIM_CHARS]):
            # What a fact says already need not be said twice.
            mine = plain_talk.terms(claim) - {"mov"}  # whoever moved there lives there
            if len(mine - seen) > len(mine) * 0.4:
                facts.append(person_facts.to_you(claim))
    return list(dict.fromkeys(facts))


def _told(found: Found) -> str:
    """A memory, as it is said to the person."""
    if found.who in ("", "assistant"):
        return found.text
    return person_facts.to_you(found.text)


def _query(asked: str, answer: Answer) -> str:
    said = answer(question(asked))
    query = str(said.get("search", "")).strip() if isinstance(said, dict) else ""
    # Words that the person did not use come from the model's imagination.
    if query and not plain_talk.terms(query) & plain_talk.terms(asked):
        return _own_query(asked)
    return query


def _own_query(asked: str) -> str:
    """The question's own telling words."""
    wanted = plain_talk.terms(asked)
    kept = [word for word in plain_talk.words(asked) if plain_talk.stem(word) in wanted]
    return " ".join(dict.fromkeys(kept)) or " ".join(plain_talk.owned(asked))
