"""Search results as text for a model: short ids, one date a group, in parts. Pure."""

from collections.abc import Callable, Sequence
from datetime import tzinfo

from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.services import Hit, SearchResult
from pagemind.runtime.shorten import shorten
from pagemind.runtime.tiers.recipe import spoken_date

Count = Callable[[str], int]
_HEAD_TOKENS = 32  # the first line, and the header of a group
_MIN_TOKENS = 24  # a line cut shorter says nothing


def format_hits(
    result: SearchResult,
    *,
    part: int,
    budget_tokens: int,
    count_tokens: Count,
    timezone: tzinfo,
    total_name: str,
) -> str:
    """One part of a result within the budget, `part` counted from 1.

    The best hits come in the first part. Within a part, messages stand in time order under their
    conversation and date, passages best first. What is in context is marked, not repeated.
    `total_name` says what was searched: "messages". Raises ToolFailed for a part that is not there.
    """
    lines = [_line(hit, timezone, budget_tokens, count_tokens) for hit in result.hits]
    parts = _parts(lines, budget_tokens, count_tokens)
    if part < 1 or part > max(1, len(parts)):
        there = f"parts 1 to {len(parts)}" if len(parts) > 1 else "part 1 only"
        raise ToolFailed(f"part {part} is not there: this search has {there}")
    found = len(result.hits)
    matches = "match" if found == 1 else "matches"
    name = total_name.removesuffix("s") if result.searched == 1 else total_name
    head = f"{found:,} {matches} among {result.searched:,} {name}"
    if len(parts) > 1:
        head += f", part {part} of {len(parts)}"
    text = [head, *(f"({warning})" for warning in result.warnings)]
    chosen = parts[part - 1] if parts else []
    if all(hit.tier == "archival" for hit in result.hits):
        text.extend(lines[i] for i in chosen)
    else:
        header = ""
        for i in sorted(chosen, key=lambda i: (result.hits[i].seq, i)):
            group = _header(result.hits[i], timezone)
            if group != header:
                text.append(group)
                header = group
            text.append(lines[i])
    return "\n".join(text)


def _parts(lines: Sequence[str], budget: int, count: Count) -> list[list[int]]:
    """Which lines stand in which part: in rank order, each part as full as the budget lets it."""
    parts: list[list[int]] = []
    used = 0
    for i, line in enumerate(lines):
        # Each line may need a header of its own: a part never comes out longer than planned.
        cost = count(line) + _HEAD_TOKENS // 2
        if not parts or used + cost > budget:
            parts.append([])
            used = _HEAD_TOKENS
        parts[-1].append(i)
        used += cost
    return parts


def _header(hit: Hit, zone: tzinfo) -> str:
    date = spoken_date(hit.said_at.astimezone(zone)) if hit.said_at else "no date"
    return f"-- conversation {hit.conversation}, {date}"


def _line(hit: Hit, zone: tzinfo, budget: int, count: Count) -> str:
    """`m42 (p17) 14:03 Sam: text`, or `a7 2026-05-08 [boat] text`, on one line."""
    local = hit.said_at.astimezone(zone) if hit.said_at else None
    if hit.tier == "recall":
        page = f" ({hit.page})" if hit.page else ""
        time = f" {local:%H:%M}" if local else ""
        start = f"{hit.id}{page}{time} {hit.speaker or hit.role}:"
        if hit.in_context:
            return f"{start} [in context]"
    else:
        date = f" {local:%Y-%m-%d}" if local else ""
        tags = f" [{', '.join(hit.tags)}]" if hit.tags else ""
        start = f"{hit.id}{date}{tags}"
    if hit.parts > 1:
        start += f" [piece {hit.part} of {hit.parts}]"
    room = max(_MIN_TOKENS, budget // 2 - count(start) - _HEAD_TOKENS)
    return f"{start} {shorten(' '.join(hit.text.split()), room, count)}"
