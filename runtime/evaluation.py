"""evaluate(): how well an agent's search finds what its owner knows to be there.

Asks the agent's own search each question of a cases file, through a reader: no model, no lock, and
nothing is written. A case that names what the agent does not have is an error of the file, never a
miss.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean
from typing import Any, Literal

from pagemind.runtime.eval_cases import Case, EvalCases, Where
from pagemind.runtime.outbox import Tier
from pagemind.runtime.reader import AgentReader
from pagemind.runtime.services import Hit, SearchFilters, merged
from pagemind.runtime.settings import EVAL_MAX_K
from pagemind.runtime.tiers.recipe import SPACELESS
from pagemind.runtime.when import parse_span

Status = Literal["hit", "miss", "error"]


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What a case came to. Of an absent case, `found` counts what should not have been there."""

    line: int
    question: str
    absent: bool
    status: Status
    rank: int | None  # of the first right hit, from 1; of an absent case, of the first wrong one
    found: int  # of what was wanted …
    wanted: int  # … texts and ids
    tokens: int  # of everything that was retrieved
    hits: tuple[str, ...]  # ids, best first
    missing: tuple[str, ...] = ()  # what was wanted and not found
    error: str = ""

    def as_json(self) -> dict[str, Any]:
        """An item of `cases` in `eval --json`."""
        return {
            "line": self.line,
            "question": self.question,
            "absent": self.absent,
            "status": self.status,
            "rank": self.rank,
            "found": self.found,
            "wanted": self.wanted,
            "tokens": self.tokens,
            "hits": list(self.hits),
            "missing": list(self.missing),
            "error": self.error or None,
        }


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All cases of a file. Rates are over the cases that could be judged; None where there is
    none."""

    agent: str
    k: int | None
    max_tokens: int | None
    tier: Where
    floor: float | None
    cases: tuple[CaseResult, ...]
    warnings: tuple[str, ...]

    def count(self, status: Status) -> int:
        return sum(case.status == status for case in self.cases)

    @property
    def judged(self) -> list[CaseResult]:
        return [case for case in self.cases if case.status != "error"]

    @property
    def hit_rate(self) -> float | None:
        """The share of cases with a right hit, or, of absent ones, without a wrong one."""
        return _mean([case.status == "hit" for case in self.judged])

    @property
    def mrr(self) -> float | None:
        """The mean of 1 ÷ rank of the first right hit, 0 for a miss; absent cases have no rank."""
        present = [case for case in self.judged if not case.absent]
        return _mean([1 / case.rank if case.rank else 0.0 for case in present])

    @property
    def all_rate(self) -> float | None:
        """The share of cases of which everything wanted was found; absent cases left out."""
        present = [case for case in self.judged if not case.absent]
        return _mean([case.found == case.wanted for case in present])

    @property
    def tokens_mean(self) -> float | None:
        return _mean([case.tokens for case in self.judged])

    @property
    def passed(self) -> bool:
        """Whether the hit rate reaches the floor, if there is one."""
        return self.floor is None or (self.hit_rate or 0.0) >= self.floor

    def as_json(self) -> dict[str, Any]:
        """The answer of `eval --json`."""
        return {
            "agent": self.agent,
            "tier": self.tier,
            "k": self.k,
            "max_tokens": self.max_tokens,
            "hit_rate": _rounded(self.hit_rate),
            "mrr": _rounded(self.mrr),
            "all_rate": _rounded(self.all_rate),
            "tokens_mean": _rounded(self.tokens_mean),
            "hits": self.count("hit"),
            "misses": self.count("miss"),
            "errors": self.count("error"),
            "floor": self.floor,
            "passed": self.passed,
            "cases": [case.as_json() for case in self.cases],
            "warnings": list(self.warnings),
        }


def evaluate(
    reader: AgentReader, cases: EvalCases, *, now: datetime, count: Callable[[str], int]
) -> Evaluation:
    """Ask every question. `now` is what relative dates count from, `count` counts tokens."""
    warnings: dict[str, None] = {}
    results = []
    for number, case in enumerate(cases.cases):
        error = _unknown(reader, case)
        if error:
            error = f"{cases.where(number, 'evidence')}: {error}"
            hits: list[Hit] = []
        else:
            hits, said = _asked(reader, cases, case, now, count)
            warnings.update(dict.fromkeys(said))
        results.append(_judged(case, cases.line(number), hits, count, error))
    k, max_tokens = cases.bound
    return Evaluation(
        reader.name, k, max_tokens, cases.tier, cases.floor, tuple(results), tuple(warnings)
    )


def _asked(
    reader: AgentReader,
    cases: EvalCases,
    case: Case,
    now: datetime,
    count: Callable[[str], int],
) -> tuple[list[Hit], Sequence[str]]:
    """What the search gives to this question, within the bound, best first."""
    local = now.astimezone(reader.zone)
    filters = SearchFilters(
        role=case.role,
        speaker=case.speaker,
        start=parse_span(case.start, local).start if case.start else None,
        end=parse_span(case.end, local).end if case.end else None,
        tags=case.tags,
    )
    tiers: list[Tier] = ["recall", "archival"] if cases.tier == "both" else [cases.tier]
    if case.of_messages:
        tiers = ["recall"]
    elif case.tags:
        tiers = [tier for tier in tiers if tier == "archival"]  # messages have no tags
    k, max_tokens = cases.bound
    found: list[Sequence[Hit]] = []
    warnings: list[str] = []
    for tier in tiers:
        result = reader.search.search(tier, case.question, filters, k or EVAL_MAX_K)
        found.append(result.hits)
        warnings += result.warnings
    hits = merged(found)
    return (hits[:k] if k else _within(hits, max_tokens or 0, count)), warnings


def _within(hits: Sequence[Hit], budget: int, count: Callable[[str], int]) -> list[Hit]:
    """As many hits from the best on as fit the budget; the best one in any case."""
    kept: list[Hit] = []
    used = 0
    for hit in hits:
        used += count(hit.text)
        if kept and used > budget:
            break
        kept.append(hit)
    return kept


def _judged(
    case: Case, line: int, hits: Sequence[Hit], count: Callable[[str], int], error: str
) -> CaseResult:
    ranks: dict[str, int | None] = {}
    texts = [_plain(hit.text) for hit in hits]
    for text in case.expected:
        wanted = _pattern(text)
        ranks[text] = next((n for n, each in enumerate(texts, 1) if wanted.search(each)), None)
    for name in case.evidence:
        # A page is found when a message of it is.
        ranks[name] = next((n for n, hit in enumerate(hits, 1) if name in (hit.id, hit.page)), None)
    first = min((rank for rank in ranks.values() if rank), default=None)
    if case.absent and not ranks:
        first = 1 if hits else None
    right = (first is None) == case.absent
    return CaseResult(
        line=line,
        question=case.question,
        absent=case.absent,
        status="error" if error else "hit" if right else "miss",
        rank=first,
        found=sum(rank is not None for rank in ranks.values()),
        wanted=len(ranks),
        tokens=sum(count(hit.text) for hit in hits),
        hits=tuple(hit.id for hit in hits),
        missing=tuple(name for name, rank in ranks.items() if rank is None),
        error=error,
    )


def _pattern(text: str) -> re.Pattern[str]:
    """The text as whole words, whatever its case and spaces; `4` does not stand in `42`."""
    plain = _plain(text)
    before = r"(?<!\w)" if _bounded(plain[0]) else ""
    after = r"(?!\w)" if _bounded(plain[-1]) else ""
    return re.compile(f"{before}{re.escape(plain)}{after}")


def _bounded(character: str) -> bool:
    """Whether words of this script end at spaces."""
    return (character.isalnum() or character == "_") and not SPACELESS.match(character)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _unknown(reader: AgentReader, case: Case) -> str:
    """Which evidence the agent does not have; "" if it has all of it."""
    state = reader.state
    absent = []
    for name in case.evidence:
        if ":" in name:  # of a shared archive, which is no part of the agent
            continue
        kind, number = name[0], int(name[1:])
        if kind == "m":
            if not state.journal.get([number]):
                absent.append(f"there is no message {name}")
            elif not _lived(state.journal.live_ranges(), number):
                absent.append(f"message {name} was undone by a rewind")
        elif kind == "p":
            if state.pages.get(number) is None:
                absent.append(f"there is no page {name}")
        elif (passage := state.passages.get([number]).get(number)) is None:
            absent.append(f"there is no passage {name}")
        elif passage.provenance.status != "active" and not case.absent:
            absent.append(f"passage {name} was deleted")
    return f"{'; '.join(absent)} in agent {reader.name}" if absent else ""


def _lived(ranges: Sequence[tuple[int, int]] | None, seq: int) -> bool:
    return ranges is None or any(first <= seq <= last for first, last in ranges)


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
