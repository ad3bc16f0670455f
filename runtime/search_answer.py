"""A search for people and programs: both tiers or one, hits in parts by tokens, as JSON.

One function asks, one cuts into parts, one makes the answer of contract.md; the command line and
HTTP share them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pagemind.runtime.clock import rfc3339
from pagemind.runtime.deep_recall import DeepRecall
from pagemind.runtime.errors import NotFound
from pagemind.runtime.model import Model
from pagemind.runtime.outbox import Tier
from pagemind.runtime.reader import AgentReader
from pagemind.runtime.services import Hit, Recall, SearchFilters, merged
from pagemind.runtime.settings import SEARCH_LIMIT
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.tiers.search import TierSearch
from pagemind.runtime.untrusted import Fences

Where = Literal["recall", "archival", "pages", "both"]  # both: messages and passages
_TIERS: dict[Where, list[Tier]] = {
    "recall": ["recall"],
    "archival": ["archival"],
    "pages": ["pages"],
    "both": ["recall", "archival"],
}


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to: hits best first, how many rows each tier holds, what to tell."""

    hits: Sequence[Hit]
    searched: Mapping[str, int]
    warnings: Sequence[str]


@dataclass(frozen=True, slots=True)
class FoundPart:
    """One part of it: `number` of `parts`."""

    found: Found
    hits: Sequence[Hit]
    number: int
    parts: int

    def as_json(self) -> dict[str, Any]:
        """The answer of `memory search` (contract)."""
        return {
            "total": len(self.found.hits),
            "part": self.number,
            "parts": self.parts,
            "results": [hit_json(hit) for hit in self.hits],
            "searched": dict(self.found.searched),
            "warnings": list(self.found.warnings),
        }


def search(
    reader: AgentReader,
    tier: Where,
    query: str,
    filters: SearchFilters,
    ranking: str | None,
    deep: Model | None = None,
) -> Found:
    """Hits best first; without a query newest first. A model for `deep` takes the query apart."""
    wanted = _TIERS[tier]
    if tier == "both" and any(id.startswith("p") for id in filters.ids):
        wanted = [*wanted, "pages"]  # a page that is asked for by its id
    groups: list[Sequence[Hit]] = []
    searched: dict[str, int] = {}
    warnings: dict[str, None] = {}
    for name in wanted:
        asked: Recall = TierSearch(name, reader.search)
        if deep is not None:
            of = reader.state.passages.scopes if name == "archival" else tuple
            asked = DeepRecall(asked, lambda: deep, reader.local_now, of)
        result = asked.search(query.strip() or None, filters, SEARCH_LIMIT, ranking=ranking)
        groups.append(result.hits)
        searched[name] = result.searched
        warnings.update(dict.fromkeys(result.warnings))
        if name == "archival" and reader.shared is not None:
            warnings.update(dict.fromkeys(reader.shared.warnings()))
    if query.strip():
        hits = merged(groups)
    else:
        hits = [hit for each in groups for hit in each]
        hits.sort(key=lambda hit: -(hit.said_at.timestamp() if hit.said_at else 0.0))
    return Found(hits, searched, list(warnings))


def fenced(found: Found, fences: Fences) -> Found:
    """The same for a model that is not the agent's: what came from outside stands in fences."""

    def shown(hit: Hit) -> Hit:
        if not untrusted(hit.trust):
            return hit
        source = fences.name(hit.source)
        return replace(hit, text=fences.around(hit.id, hit.text), source=source)

    return replace(found, hits=[shown(hit) for hit in found.hits])


def part_of(found: Found, part: int, budget: int, count: Callable[[str], int]) -> FoundPart:
    """One part of at most `budget` tokens. Raises NotFound for a part that is not there."""
    parts = parts_of(found.hits, budget, count)
    if part > len(parts):
        raise NotFound(f"there is no part {part}", hint=f"this search has {len(parts)}")
    return FoundPart(found, parts[part - 1], part, len(parts))


def parts_of(hits: Sequence[Hit], budget: int, count: Callable[[str], int]) -> list[list[Hit]]:
    """The hits in parts of at most `budget` tokens, in their order; never without one."""
    parts: list[list[Hit]] = [[]]
    used = 0
    for hit in hits:
        cost = count(hit.text)
        if parts[-1] and used + cost > budget:
            parts.append([])
            used = 0
        parts[-1].append(hit)
        used += cost
    return parts


def hit_json(hit: Hit) -> dict[str, Any]:
    """One of `results` (contract)."""
    return {
        "id": hit.id,
        "seq": hit.seq,
        "page": hit.page,
        "tier": hit.tier,
        "archive": hit.archive,
        "role": hit.role,
        "speaker": hit.speaker,
        "conversation": hit.conversation,
        "origin": hit.origin,
        "source": hit.source,
        "trust": hit.trust,
        "text": hit.text,
        "said_at": rfc3339(hit.said_at) if hit.said_at else None,
        "tags": list(hit.tags),
        "importance": hit.importance,
        "score": round(hit.score, 4),
        "scores": dict(hit.scores),
        "in_context": hit.in_context,
        "piece": hit.part,
        "pieces": hit.parts,
        "kind": hit.kind,
        "scope": hit.scope,
        "valid_from": rfc3339(hit.valid_from) if hit.valid_from else None,
        "valid_to": rfc3339(hit.valid_to) if hit.valid_to else None,
        "superseded_by": hit.superseded_by,
    }
