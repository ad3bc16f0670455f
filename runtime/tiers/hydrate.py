"""Hydration: ranked rows become Hits with the text as the authority has it now."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from pagemind.runtime.message import Message
from pagemind.runtime.outbox import Tier
from pagemind.runtime.page import Page
from pagemind.runtime.passage import Passage
from pagemind.runtime.services import Hit
from pagemind.runtime.tiers.legs import Candidate, Source
from pagemind.runtime.tiers.recipe import chunks
from pagemind.runtime.tiers.schema import speaker_of
from pagemind.runtime.tiers.store import Match
from pagemind.runtime.tiers.view import View

_AROUND_CHARS = 400  # on each side: some sentences


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate, its score and the features that made it."""

    candidate: Candidate
    score: float = 0.0
    features: Mapping[str, float] = field(default_factory=dict)
    cosine: float | None = None

    @property
    def scores(self) -> dict[str, float]:
        """The features, for people: rounded, without the sum of the legs."""
        return {name: round(v, 4) for name, v in self.features.items() if name != "base"}

    @property
    def id(self) -> str:
        """As people and models see it: m42, handbook:a7."""
        archive = self.candidate.source.archive
        return f"{archive}:{self.match.parent}" if archive else self.match.parent

    @property
    def match(self) -> Match:
        return self.candidate.match

    @property
    def number(self) -> int:
        """Of the short id: a seq, or the number of a passage or page."""
        return int(self.match.parent[1:])


def any_passage(passage: Passage) -> bool:
    return True


def hydrate(
    tier: Tier, ranked: Iterable[Ranked], limit: int, keep: Callable[[Passage], bool] = any_passage
) -> list[Hit]:
    """The first `limit` hits, one for each parent; what the authority no longer has is skipped,
    and passages that are not to be kept."""
    firsts: dict[tuple[str, str], Ranked] = {}
    for each in ranked:
        firsts.setdefault(each.candidate.parent, each)
    waiting = list(firsts.values())
    hits: list[Hit] = []
    while waiting and len(hits) < limit:
        batch, waiting = waiting[:limit], waiting[limit:]
        known = _read(tier, batch)
        for each in batch:
            found = known.get(_key(each))
            if found is not None and (not isinstance(found, Passage) or keep(found)):
                hits.append(_hit(found, each))
    return hits[:limit]


_Key = tuple[str, int]  # archive and number


def _key(ranked: Ranked) -> _Key:
    return ranked.candidate.source.archive, ranked.number


def _read(tier: Tier, batch: Sequence[Ranked]) -> dict[_Key, Message | Passage | Page]:
    """What the authorities have of these candidates."""
    numbers: dict[str, list[int]] = {}
    sources: dict[str, Source] = {}
    for each in batch:
        source = each.candidate.source
        sources[source.archive] = source
        numbers.setdefault(source.archive, []).append(each.number)
    known: dict[_Key, Message | Passage | Page] = {}
    for archive, wanted in numbers.items():
        view = sources[archive].view
        found: Mapping[int, Message | Passage | Page]
        if tier == "recall":
            found = view.messages(wanted)
        else:
            found = view.passages(wanted) if tier == "archival" else view.pages(wanted)
        known.update({(archive, number): each for number, each in found.items()})
    return known


def _hit(known: Message | Passage | Page, ranked: Ranked) -> Hit:
    if isinstance(known, Message):
        return _of_message(ranked.candidate.source.view, known, ranked)
    return _of_passage(known, ranked) if isinstance(known, Passage) else _of_page(known, ranked)


def _of_message(view: View, message: Message, ranked: Ranked) -> Hit:
    return Hit(
        id=ranked.id,
        tier="recall",
        **_piece(message.said, ranked.match),
        score=round(ranked.score, 4),
        seq=message.seq,
        page=view.page_of(message.seq),
        role=message.role,
        speaker=ranked.match.speaker,
        conversation=message.conversation,
        origin=message.provenance.origin,
        trust=message.provenance.trust,
        source=message.provenance.detail,
        said_at=message.said_at,
        scores=ranked.scores,
        cosine=ranked.cosine,
        in_context=view.in_context(message.seq),
    )


def _of_passage(passage: Passage, ranked: Ranked) -> Hit:
    facets = passage.facets
    return Hit(
        id=ranked.id,
        archive=ranked.candidate.source.archive,
        tier="archival",
        **_piece(passage.text, ranked.match),
        score=round(ranked.score, 4),
        seq=passage.seq,
        origin=passage.provenance.origin,
        trust=passage.provenance.trust,
        source=passage.provenance.detail,
        said_at=passage.created_at,
        tags=passage.tags,
        importance=passage.importance,
        kind=facets.kind,
        scope=facets.scope,
        valid_from=facets.valid_from,
        valid_to=facets.valid_to,
        superseded_by=f"a{facets.superseded_by}" if facets.superseded_by else None,
        scores=ranked.scores,
        cosine=ranked.cosine,
    )


def hit_of(passage: Passage, id: str, beside: Hit) -> Hit:
    """A whole passage that is shown for a hit of the same tier and archive, with its score."""
    facets = passage.facets
    return Hit(
        id=id,
        archive=beside.archive,
        tier="archival",
        text=passage.text,
        score=beside.score,
        seq=passage.seq,
        origin=passage.provenance.origin,
        trust=passage.provenance.trust,
        source=passage.provenance.detail,
        said_at=passage.created_at,
        tags=passage.tags,
        importance=passage.importance,
        kind=facets.kind,
        scope=facets.scope,
        valid_from=facets.valid_from,
        valid_to=facets.valid_to,
        superseded_by=f"a{facets.superseded_by}" if facets.superseded_by else None,
    )


def message_for(view: View, message: Message, beside: Hit) -> Hit:
    """A message that is shown for a hit of the same tier, with its score: its first piece."""
    pieces = chunks(message.said) or [message.said]
    return Hit(
        id=message.short_id,
        tier="recall",
        text=pieces[0],
        parts=len(pieces),
        after=pieces[1][:_AROUND_CHARS] if len(pieces) > 1 else "",
        score=beside.score,
        seq=message.seq,
        page=view.page_of(message.seq),
        role=message.role,
        speaker=speaker_of(message),
        conversation=message.conversation,
        origin=message.provenance.origin,
        trust=message.provenance.trust,
        source=message.provenance.detail,
        said_at=message.said_at,
        in_context=view.in_context(message.seq),
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
        cosine=ranked.cosine,
    )


class _Piece(TypedDict):
    """Fields of a Hit."""

    text: str
    part: int
    parts: int
    before: str
    after: str


def _piece(text: str, match: Match) -> _Piece:
    """The chunk that matched, cut from the current text, and what stands around it."""
    pieces = chunks(text) if match.parts > 1 else [text]
    at = min(match.part, len(pieces)) - 1
    return {
        "text": pieces[at],
        "part": at + 1,
        "parts": len(pieces),
        "before": pieces[at - 1][-_AROUND_CHARS:] if at else "",
        "after": pieces[at + 1][:_AROUND_CHARS] if at + 1 < len(pieces) else "",
    }
