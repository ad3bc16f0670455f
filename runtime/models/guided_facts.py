"""The guided question for lasting facts: what a message tells about the person, as edits of core
memory.

The model words the facts of each claim; person_facts.py holds them against the claim.
"""

from collections.abc import Callable
from typing import Any

from pagemind.runtime import settings
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.models import person_facts, plain_talk
from pagemind.runtime.models.guided_prompt import guided_prompt
from pagemind.runtime.models.guided_turn import GuidedTurn
from pagemind.runtime.template import load

Answer = Callable[[ModelRequest], object]

_SCHEMA: dict[str, Any] = {
    "type": "array",
    "items": {"type": "string", "minLength": 3, "maxLength": 80},
    "maxItems": settings.GUIDED_NOTES,
}


def question(claim: str) -> ModelRequest:
    """The request for the facts of one claim."""
    prompt = guided_prompt(load("guided_note"), message=claim)
    return ModelRequest(
        system=(prompt.instructions,),
        messages=prompt.turns,
        max_tokens=settings.GUIDED_ASK_TOKENS,
        response_schema=_SCHEMA,
    )


def edits(turn: GuidedTurn, answer: Answer) -> list[tuple[str, dict[str, str]]]:
    """Function and arguments for each fact that is new, at most a few."""
    block = turn.person
    if block is None or block.read_only or "core_append" not in turn.functions:
        return []
    lines = block.lines
    room = block.room
    made: list[tuple[str, dict[str, str]]] = []
    for claim in plain_talk.claims(turn.said[: settings.GUIDED_CLAIM_CHARS]):
        for note in _facts(claim, answer):
            if len(made) >= settings.GUIDED_NOTES or person_facts.is_known(note, lines):
                continue
            old = person_facts.superseded(note, claim, lines)
            if old and "core_edit" in turn.functions and block.value.count(old[0]) == 1:
                before, after = old
                made.append(
                    ("core_edit", {"block": block.label, "old_text": before, "new_text": after})
                )
                lines = [after if line == before else line for line in lines]
            elif room is None or len(note) < room:
                made.append(("core_append", {"block": block.label, "content": note}))
                lines = [*lines, note]
                room = room and room - len(note) - 1
    return made


def _facts(claim: str, answer: Answer) -> list[str]:
    notes = answer(question(claim))
    if not isinstance(notes, list):
        return []
    return person_facts.settle([str(note) for note in notes], claim)
