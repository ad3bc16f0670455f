"""Search results for people and programs: in parts by tokens, under their conversation and day."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from itertools import groupby
from typing import TYPE_CHECKING, Any

from pagemind.runtime.cli.failure import say
from pagemind.runtime.cli.render import answer, console, one_line, plural
from pagemind.runtime.clock import rfc3339
from pagemind.runtime.errors import NotFound

if TYPE_CHECKING:
    from pagemind.runtime.services import Hit

_NAMES = {"recall": "message", "archival": "passage", "pages": "page"}


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to: hits best first, how many rows each tier holds, what to tell."""

    hits: Sequence["Hit"]
    searched: Mapping[str, int]
    warnings: Sequence[str]


def tell_found(
    found: Found,
    part: int,
    budget: int,
    count: Callable[[str], int],
    zone: tzinfo,
    as_json: bool,
) -> None:
    """Print one part of at most `budget` tokens. Raises NotFound for a part that is not there."""
    parts = parts_of(found.hits, budget, count)
    if part > len(parts):
        raise NotFound(f"there is no part {part}", hint=f"this search has {len(parts)}")
    shown = parts[part - 1]
    if as_json:
        answer(
            {
                "total": len(found.hits),
                "part": part,
                "parts": len(parts),
                "results": [hit_json(hit) for hit in shown],
                "searched": dict(found.searched),
                "warnings": list(found.warnings),
            }
        )
        return
    for warning in found.warnings:
        say(warning)
    total = len(found.hits)
    matches = "no match" if not total else "1 match" if total == 1 else f"{total:,} matches"
    looked = " and ".join(plural(rows, _NAMES[tier]) for tier, rows in found.searched.items())
    of = f", part {part} of {len(parts)}" if len(parts) > 1 else ""
    print(f"{matches} among {looked}{of}")
    print_hits(shown, zone)


def parts_of(hits: Sequence["Hit"], budget: int, count: Callable[[str], int]) -> list[list["Hit"]]:
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


def hit_json(hit: "Hit") -> dict[str, Any]:
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
        "text": hit.text,
        "said_at": rfc3339(hit.said_at) if hit.said_at else None,
        "tags": list(hit.tags),
        "importance": hit.importance,
        "score": round(hit.score, 4),
        "scores": dict(hit.scores),
        "in_context": hit.in_context,
        "piece": hit.part,
        "pieces": hit.parts,
    }


def print_hits(hits: Sequence["Hit"], zone: tzinfo, *, most: int | None = None) -> None:
    """Messages in the order they were said, under their conversation and day; then gists of pages,
    then passages. `most` characters of each."""
    from rich.text import Text

    out = console()
    messages = sorted((h for h in hits if h.tier == "recall"), key=lambda h: (h.seq, h.part))
    for header, group in groupby(messages, key=lambda h: _day(h, zone)):
        out.print(Text(header, "dim"), soft_wrap=True)
        for hit in group:
            out.print(_message(hit, zone, most), soft_wrap=True)
    for tier, name in (("pages", "pages"), ("archival", "passages")):
        some = [h for h in hits if h.tier == tier]
        if some:
            out.print(Text(name, "dim"))
        for hit in some:
            out.print(_passage(hit, zone, most), soft_wrap=True)


def _day(hit: "Hit", zone: tzinfo) -> str:
    if hit.said_at is None:
        return f"conversation {hit.conversation}"
    return f"conversation {hit.conversation}, {hit.said_at.astimezone(zone):%A %d %B %Y}"


def _message(hit: "Hit", zone: tzinfo, most: int | None) -> Any:
    from rich.text import Text

    when = f"{hit.said_at.astimezone(zone):%H:%M} " if hit.said_at else ""
    where = hit.page or ("window" if hit.in_context else "")
    return Text.assemble(
        (f"  {hit.id:<6}", "cyan"),
        (f"{where:<8}", "dim"),
        (when, "dim"),
        (f"{hit.speaker or hit.role}: ", "bold"),
        _text(hit, most),
    )


def _passage(hit: "Hit", zone: tzinfo, most: int | None) -> Any:
    from rich.text import Text

    when = f"{hit.said_at.astimezone(zone):%Y-%m-%d} " if hit.said_at else ""
    tags = f"[{', '.join(hit.tags)}] " if hit.tags else ""
    return Text.assemble((f"  {hit.id:<6}", "cyan"), (when + tags, "dim"), _text(hit, most))


def _text(hit: "Hit", most: int | None) -> str:
    piece = f"({hit.part} of {hit.parts}) " if hit.parts > 1 else ""
    text = one_line(hit.text)
    return piece + (text if most is None or len(text) <= most else text[:most].rstrip() + " …")
