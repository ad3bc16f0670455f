"""Deep recall: a question is taken apart by a model before it is searched (after CrewAI's deep
recall: at most three sub-queries, dates from the model).

What the model says only narrows: a search it asks for is made within the caller's filters, and what
the question itself finds stands among the results whatever it says. The lists are fused by
reciprocal rank (Cormack et al., 2009). Where no model answers, the search is a shallow one and says
so.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import PagemindError
from pagemind.runtime.json_reply import read_json
from pagemind.runtime.message import Message, Provenance, Text, clean_text
from pagemind.runtime.model import Model, ModelRequest
from pagemind.runtime.scope import seen
from pagemind.runtime.services import Hit, Recall, SearchFilters, SearchResult
from pagemind.runtime.settings import (
    DEEP_QUERIES,
    DEEP_REPLY_TOKENS,
    DEEP_SCOPES,
    FUSION_RANK,
    SEARCH_QUERY_CHARS,
)
from pagemind.runtime.structured import faults_of
from pagemind.runtime.template import load
from pagemind.runtime.untrusted import marker
from pagemind.runtime.when import parse_span

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "searches": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "words": {"type": "string"},
                    "start": {"type": "string"},
                    "end": {"type": "string"},
                    "scope": {"type": "string"},
                },
                "required": ["words"],
            },
        }
    },
    "required": ["searches"],
}
_FEW_WORDS = 3  # of a question that nobody need take apart


@dataclass(frozen=True, slots=True)
class SubQuery:
    """One search of a plan; times are aware, None is no bound; scope "" is any."""

    words: str
    start: datetime | None = None
    end: datetime | None = None
    scope: str = ""

    def within(self, filters: SearchFilters) -> SearchFilters:
        """The caller's filters, narrowed by its time and scope; never wider."""
        starts = [at for at in (filters.start, self.start) if at is not None]
        ends = [at for at in (filters.end, self.end) if at is not None]
        scopes = (self.scope,) if self.scope else filters.scopes
        return replace(
            filters,
            start=max(starts, default=None),
            end=min(ends, default=None),
            scopes=scopes,
        )


def plan(
    model: Model,
    question: str,
    now: datetime,
    scopes: Sequence[str] = (),
    cancel: CancelToken | None = None,
) -> list[SubQuery]:
    """What the model would search for, in one of these scopes where it names one. Raises what it
    raises, and PagemindError for a reply that is no plan. `now` is in the agent's zone."""
    question = question[:SEARCH_QUERY_CHARS]
    prompt = load("deep_recall").fill(
        question=question,
        today=f"{now:%A, %Y-%m-%d}",
        most=DEEP_QUERIES,
        scopes=", ".join(scopes) or "-",
        fence=marker(question),
    )
    message = Message("user", (Text(prompt),), provenance=Provenance("runtime"))
    request = ModelRequest(
        system=(),
        messages=(message,),
        max_tokens=DEEP_REPLY_TOKENS,
        response_schema=_SCHEMA,
        purpose="background",
    )
    reply = model.complete(request, cancel=cancel)
    try:
        value = read_json(clean_text(reply.text))
        fault = faults_of(value, _SCHEMA)
    except ValueError as error:
        fault = str(error)
    if fault:
        raise PagemindError(f"the model gave no plan ({fault})")
    found = [_sub_query(each, now, scopes) for each in value["searches"]]
    return [each for each in found if any(c.isalnum() for c in each.words)][:DEEP_QUERIES]


def _sub_query(said: dict[str, Any], now: datetime, scopes: Sequence[str]) -> SubQuery:
    start, end = (_day(str(said.get(key) or ""), now) for key in ("start", "end"))
    if start and end and start[0] >= end[1]:
        start = end = None
    scope = str(said.get("scope") or "").strip()
    return SubQuery(
        " ".join(said["words"].split()),
        start[0] if start else None,
        end[1] if end else None,
        scope if scope in scopes else "",
    )


def _day(text: str, now: datetime) -> tuple[datetime, datetime] | None:
    """A date as the model wrote it; None for what is none."""
    try:
        span = parse_span(text, now) if text.strip() else None
    except ValueError:
        return None
    return (span.start, span.end) if span else None


class DeepRecall:
    """A search of one tier that takes questions apart. `model` None: it is a shallow one."""

    def __init__(
        self,
        shallow: Recall,
        model: Callable[[], Model | None],
        now: Callable[[], datetime],
        scopes: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._shallow = shallow
        self._model = model
        self._now = now
        self._scopes = scopes  # those there are, of what the tier holds

    def search(
        self, query: str | None, filters: SearchFilters, limit: int, *, ranking: str | None = None
    ) -> SearchResult:
        first = self._shallow.search(query, filters, limit, ranking=ranking)
        if query is None or len(query.split()) < _FEW_WORDS:
            return first
        model = self._model()
        if model is None:
            return _warned(first, "searched without sub-queries: no model may be asked")
        try:
            planned = plan(model, query, self._now(), self._choice(filters))
        except PagemindError as error:
            return _warned(first, f"searched without sub-queries: {error.message}")
        lists = [first.hits]
        for each in planned:
            within = each.within(filters)
            if each.words.casefold() == query.strip().casefold() and within == filters:
                continue
            lists.append(self._shallow.search(each.words, within, limit, ranking=ranking).hits)
        return replace(first, hits=tuple(fused(lists)[:limit]))

    def _choice(self, filters: SearchFilters) -> list[str]:
        """The scopes that a sub-query may be bound to: within the caller's."""
        within = [each for each in self._scopes() if seen(each, filters.scopes)]
        return within[:DEEP_SCOPES]


def fused(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    """One list by the sum of reciprocal ranks; of a hit that is in several its first."""
    scores: dict[str, float] = {}
    hits: dict[str, Hit] = {}
    for found in lists:
        for rank, hit in enumerate(found, 1):
            scores[hit.id] = scores.get(hit.id, 0.0) + 1 / (FUSION_RANK + rank)
            hits.setdefault(hit.id, hit)
    order = sorted(hits.values(), key=lambda hit: -scores[hit.id])
    return [replace(hit, score=round(scores[hit.id], 4)) for hit in order]


def _warned(result: SearchResult, warning: str) -> SearchResult:
    return replace(result, warnings=(*result.warnings, warning))
