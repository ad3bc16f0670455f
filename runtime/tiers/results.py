"""Search results as text for a model: short ids, one date a group, in parts. Pure.

lay_out() gives the text and the hits that stand in it; format_hits() the text alone;
within_tokens() cuts a result to a budget of tokens, for who asks for tokens instead of a number.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.services import Hit, SearchResult, validity_of
from pagemind.runtime.settings import LINKED_TOKENS, UNTRUSTED_LINE_CHARS
from pagemind.runtime.shorten import shorten
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.tiers.recipe import spoken_date

Count = Callable[[str], int]
_HEAD_TOKENS = 32  # the first line, and the header of a group
_FENCE_TOKENS = 20  # of a result that repeats what came from outside
_MIN_TOKENS = 24  # a line cut shorter says nothing
_LINKED_BUDGET = 2 * (LINKED_TOKENS + _HEAD_TOKENS)  # a line takes half of its budget
_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|(?<=[。！？])|\n+")


@dataclass(frozen=True, slots=True)
class Shown:
    """One part of a result: its text, and the hits whose text stands in it."""

    text: str
    hits: tuple[Hit, ...]


def format_hits(
    result: SearchResult,
    *,
    part: int,
    budget_tokens: int,
    count_tokens: Count,
    timezone: tzinfo,
    total_name: str,
) -> str:
    """The text of `lay_out`."""
    return lay_out(
        result,
        part=part,
        budget_tokens=budget_tokens,
        count_tokens=count_tokens,
        timezone=timezone,
        total_name=total_name,
    ).text


def lay_out(
    result: SearchResult,
    *,
    part: int,
    budget_tokens: int,
    count_tokens: Count,
    timezone: tzinfo,
    total_name: str,
) -> Shown:
    """One part of a result within the budget, `part` counted from 1.

    The best hits come in the first part. Within a part, messages stand in time order under their
    conversation and date, then page gists and passages, best first. What is in context is marked,
    not repeated. A piece of a long text is shown with the sentences around it while the budget
    lasts; what is linked to a hit comes last, in a part of the budget of its own. `total_name` says
    what was searched: "messages". Raises ToolFailed for a part that is not there.
    """
    if any(map(_is_data, result.hits)):
        budget_tokens -= _FENCE_TOKENS
    lines = [_line(hit, timezone, budget_tokens, count_tokens) for hit in result.hits]
    beside = [(hit, _line(hit, timezone, _LINKED_BUDGET, count_tokens)) for hit in result.linked]
    needed = sum(_cost(line, count_tokens) for _, line in beside)
    parts = _parts(lines, budget_tokens - min(needed, budget_tokens // 6), count_tokens)
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
    spare = budget_tokens - _HEAD_TOKENS - sum(_cost(lines[i], count_tokens) for i in chosen)
    seen = [result.hits[i] for i in chosen]
    last: list[str] = []
    for hit, line in beside:
        cost = _cost(line, count_tokens)
        if spare >= cost and any(hit.linked == each.id for each in seen[: len(chosen)]):
            last.append(line)
            seen.append(hit)
            spare -= cost
    for i in chosen:
        if spare < _MIN_TOKENS:
            break
        lines[i], used = _widened(lines[i], result.hits[i], spare, count_tokens)
        spare -= used
    text.extend(_grouped(result.hits, chosen, lines, timezone))
    text.extend(last)
    return Shown("\n".join(text), tuple(hit for hit in seen if not hit.in_context))


def within_tokens(hits: Iterable[Hit], max_tokens: int, count: Count) -> list[Hit]:
    """The best hits whose texts fit into a budget together; a first one that is longer is cut."""
    kept: list[Hit] = []
    left = max_tokens
    for hit in hits:
        cost = count(hit.text)
        if cost > left:
            if not kept and max_tokens > 0:
                kept.append(replace(hit, text=shorten(hit.text, max_tokens, count)))
            break
        kept.append(hit)
        left -= cost
    return kept


def _parts(lines: Sequence[str], budget: int, count: Count) -> list[list[int]]:
    """Which lines stand in which part: in rank order, each part as full as the budget lets it."""
    parts: list[list[int]] = []
    used = 0
    for i, line in enumerate(lines):
        cost = _cost(line, count)
        if not parts or used + cost > budget:
            parts.append([])
            used = _HEAD_TOKENS
        parts[-1].append(i)
        used += cost
    return parts


def _cost(line: str, count: Count) -> int:
    """Each line may need a header of its own, and marks: a part never comes out longer than
    planned."""
    return count(line) + _HEAD_TOKENS // 2 + len(line) // UNTRUSTED_LINE_CHARS


def _grouped(
    hits: Sequence[Hit], chosen: Sequence[int], lines: Sequence[str], zone: tzinfo
) -> list[str]:
    text: list[str] = []
    header = ""
    messages = [i for i in chosen if hits[i].tier == "recall"]
    for i in sorted(messages, key=lambda i: (hits[i].seq, i)):
        group = _header(hits[i], zone)
        if group != header:
            text.append(group)
            header = group
        text.append(lines[i])
    for tier, name in (("pages", "pages"), ("archival", "passages")):
        some = [i for i in chosen if hits[i].tier == tier]
        if some and len(some) < len(chosen):
            text.append(f"-- {name}")
        text.extend(lines[i] for i in some)
    return text


def _header(hit: Hit, zone: tzinfo) -> str:
    date = spoken_date(hit.said_at.astimezone(zone)) if hit.said_at else "no date"
    return f"-- conversation {hit.conversation}, {date}"


def _line(hit: Hit, zone: tzinfo, budget: int, count: Count) -> str:
    """`m42 (p17) 14:03 Sam: text`, or `a7 2026-05-08 [boat] text`, on one line."""
    local = hit.said_at.astimezone(zone) if hit.said_at else None
    if hit.tier == "recall":
        page = f" ({hit.page})" if hit.page else ""
        time = f" {local:%H:%M}" if local else ""
        origin = f" ({hit.origin})" if _is_data(hit) and hit.origin != hit.speaker else ""
        start = _one_line(f"{hit.id}{page}{time} {hit.speaker or hit.role}{origin}:")
        if hit.in_context:
            return f"{start} [in context]"
    else:
        date = f" {local:%Y-%m-%d}" if local else ""
        tags = f" [{', '.join(hit.tags)}]" if hit.tags else ""
        origin = f" ({hit.origin})" if _is_data(hit) else ""
        start = _one_line(f"{hit.id}{date}{tags}{origin}")
    if hit.parts > 1:
        start += f" [piece {hit.part} of {hit.parts}]"
    if hit.under or hit.linked:
        start = (
            f"  {'evidence of' if hit.under else 'linked to'} {hit.under or hit.linked}: {start}"
        )
    room = max(_MIN_TOKENS, budget // 2 - count(start) - _HEAD_TOKENS)
    when = f" {said}" if (said := validity_of(hit, zone)) else ""
    return f"{start} {shorten(_one_line(hit.text), room, count)}{when}"


def _widened(line: str, hit: Hit, spare: int, count: Count) -> tuple[str, int]:
    """The line with the sentences around its piece, as many as the spare tokens allow; their
    cost. What is cut already stays as it is."""
    piece = _one_line(hit.text)
    if hit.in_context or not (hit.before or hit.after) or not line.endswith(f" {piece}"):
        return line, 0
    before, after = _sentences(hit.before), _sentences(hit.after)
    wider, used = piece, 0
    while before or after:
        # What follows first: it is what the piece was cut off from.
        forward = bool(after)
        sentence = after.pop(0) if forward else before.pop()
        cost = count(sentence) + 1
        if used + cost > spare:
            if not forward:
                break
            after = []
            continue
        used += cost
        wider = f"{wider} {sentence}" if forward else f"{sentence} {wider}"
    return f"{line[: -len(piece)]}{wider}", used


def _sentences(text: str) -> list[str]:
    return [said for each in _SENTENCE.split(text) if (said := _one_line(each))]


def _is_data(hit: Hit) -> bool:
    """Whether it came from outside."""
    return untrusted(hit.trust)


def _one_line(text: str) -> str:
    return " ".join(text.split())
