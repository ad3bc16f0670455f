"""Hydration: ranked rows become Hits with the text as the authority has it now."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from pagemind.runtime.message import Message
from pagemind.runtime.outbox import Tier
from pagemind.runtime.page import Page
from pagemind.runtime.passage import Passage
from pagemind.runtime.services import Hit
from pagemind.runtime.tiers.recipe import chunks
from pagemind.runtime.tiers.store import Match
from pagemind.runtime.tiers.view import View


@dataclass(frozen=True, slots=True)
class Ranked:
    """A row, its fused score and each leg's share of it."""

    match: Match
    score: float = 0.0
    scores: dict[str, float] = field(default_factory=dict)


def hydrate(view: View, tier: Tier, ranked: Iterable[Ranked], limit: int) -> list[Hit]:
    """The first `limit` hits, one for each parent; what the authority no longer has is skipped."""
    firsts: dict[str, Ranked] = {}
    for each in ranked:
        firsts.setdefault(each.match.parent, each)
    waiting = list(firsts.values())
    hits: list[Hit] = []
    while waiting and len(hits) < limit:
        batch, waiting = waiting[:limit], waiting[limit:]
        numbers = [int(each.match.parent[1:]) for each in batch]
        if tier == "recall":
            messages = view.messages(numbers)
            hits.extend(
                _of_message(view, messages[number], each)
                for number, each in zip(numbers, batch, strict=True)
                if number in messages
            )
        elif tier == "pages":
            pages = view.pages(numbers)
            hits.extend(
                _of_page(pages[number], each)
                for number, each in zip(numbers, batch, strict=True)
                if number in pages
            )
        else:
            passages = view.passages(numbers)
            hits.extend(
                _of_passage(passages[number], each)
                for number, each in zip(numbers, batch, strict=True)
                if number in passages
            )
    return hits[:limit]


def _of_message(view: View, message: Message, ranked: Ranked) -> Hit:
    text, part, parts = _piece(message.said, ranked.match)
    return Hit(
        id=message.short_id,
        tier="recall",
        text=text,
        score=round(ranked.score, 4),
        seq=message.seq,
        page=view.page_of(message.seq),
        role=message.role,
        speaker=ranked.match.speaker,
        conversation=message.conversation,
        origin=message.provenance.origin,
        source=message.provenance.detail,
        said_at=message.said_at,
        scores=ranked.scores,
        in_context=view.in_context(message.seq),
        part=part,
        parts=parts,
    )


def _of_passage(passage: Passage, ranked: Ranked) -> Hit:
    text, part, parts = _piece(passage.text, ranked.match)
    return Hit(
        id=passage.short_id,
        tier="archival",
        text=text,
        score=round(ranked.score, 4),
        seq=passage.seq,
        origin=passage.provenance.origin,
        source=passage.provenance.detail,
        said_at=passage.created_at,
        tags=passage.tags,
        importance=passage.importance,
        scores=ranked.scores,
        part=part,
        parts=parts,
    )


def _of_page(page: Page, ranked: Ranked) -> Hit:
    return Hit(
        id=page.short_id,
        tier="pages",
        text=page.gist,
        score=round(ranked.score, 4),
        seq=page.first_seq,
        page=page.short_id,
        origin="runtime",
        said_at=page.first_at,
        scores=ranked.scores,
    )


def _piece(text: str, match: Match) -> tuple[str, int, int]:
    """The chunk that matched, cut from the current text; the whole text if it is one chunk."""
    if match.parts == 1:
        return text, 1, 1
    pieces = chunks(text)
    part = min(match.part, len(pieces))
    return pieces[part - 1], part, len(pieces)
