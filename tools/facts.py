"""Fact functions: fact_add, fact_close, fact_search, fact_history."""

import re
from collections.abc import Sequence
from datetime import tzinfo
from typing import Literal

from pagemind.runtime.errors import BadArguments, ToolFailed
from pagemind.runtime.fact import FactFound, validity
from pagemind.runtime.passage import Passage
from pagemind.runtime.services import Facts, Held
from pagemind.runtime.shorten import shorten
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.tokens import TokenCounter
from pagemind.runtime.tool import ToolContext, ToolResult, tool
from pagemind.runtime.when import Span, last_moment, parse_span
from pagemind.tools.archival import held, named_near, waits

_ID = re.compile(r"[aA]?(\d{1,18})")
_TEXT_TOKENS = 60  # of a fact in a list
_HEAD_TOKENS = 24


@tool(effect="memory")
def fact_add(
    ctx: ToolContext,
    subject: str,
    relation: str,
    object: str,
    text: str | None = None,
    since: str | None = None,
    until: str | None = None,
    importance: float | None = None,
    tags: list[str] | None = None,
) -> str:
    """Keep a fact about someone or something. If it can only have one value (lives_in, works_at,
    manager …), the new one ends the old one, which stays as history. The answer says what ended
    and what else is known.

    Args:
        subject: Who or what it is about, by name. The fact "Sam's sister Ann is ill" is about Ann.
        relation: A verb or noun: lives_in, likes, manager, birthday.
        object: The value: a name, place, number, date.
        text: The fact as one sentence with names and dates. Made from the rest if left out.
        since: The first day it was true: 2026-05-08, May 2026, last week.
        until: The last day it was true, if it is over or will be.
        importance: 1 (trivial) to 10 (vital).
        tags: A few words to filter by later.
    """
    zone = ctx.now().tzinfo
    begins = _day(ctx, "since", since)
    ends = _day(ctx, "until", until)
    sentence = (text or "").strip()
    said = sentence or f"{subject} {relation} {object}".replace("_", " ")
    close = ctx.archival.near(said)
    made = _facts(ctx).add(
        subject,
        relation,
        object,
        sentence,
        valid_from=begins.start if begins else None,
        valid_to=ends.end if ends else None,
        importance=importance,
        tags=tags or (),
    )
    shown = _line(made.passage, zone)
    if made.aside and not made.near:
        return waits(made.passage.short_id)
    if made.aside:
        lines = [
            f"kept aside as {made.passage.short_id}, hidden until a person approves it, since it"
            " says something else than what is known from a better source:"
        ]
        return "\n".join([*lines, *(_known(each, zone) for each in made.near)])
    lines = [f"stored as {shown}" if made.new else f"known already: {shown}"]
    told = {made.passage.number}
    for head, several in (("ended", made.closed), ("also known", made.near)):
        lines += [f"{head}: {_known(each, zone)}" for each in several if each.number not in told]
        told |= {each.number for each in several}
    ids = {f"a{number}" for number in told}
    count = TokenCounter().count
    lines += [named_near(each, count) for each in close if made.new and each.id not in ids]
    return "\n".join(lines)


@tool(effect="memory")
def fact_close(ctx: ToolContext, id: str, until: str | None = None) -> str:
    """Say that a fact is true no longer and nothing took its place. It stays as history. If
    something else is true instead, call fact_add.

    Args:
        id: The fact, such as a7.
        until: The last day it was true; today if left out.
    """
    match = _ID.fullmatch(id.strip().strip("[]()#\"'"))
    if match is None:
        raise BadArguments(f"{id!r} is no fact; ids look like a7, as fact_search shows")
    last, now = _day(ctx, "until", until), ctx.now()
    at = last.end if last is not None else None
    if last is not None and last.start <= now < last.end:  # today: it is over
        at = now
    ended = _facts(ctx).close(int(match[1]), at)
    if isinstance(ended, Held):
        return held(f"a{match[1]}", ended)
    return f"ended: {_line(ended, now.tzinfo)}"


@tool(effect="none")
def fact_search(
    ctx: ToolContext,
    entity: str,
    relation: str | None = None,
    direction: Literal["out", "in", "both"] | None = None,
    hops: int = 1,
    as_of: str | None = None,
) -> ToolResult:
    """Look up what is true of someone or something, exactly: by name and relation, not by likeness.
    For what used to be true, call fact_history.

    Args:
        entity: A name, such as Sam; "I" is the person speaking.
        relation: Only this relation, such as manager or lives_in.
        direction: out: facts about it. in: facts it is the value of, such as whose manager it is.
        hops: 2 also follows each fact one step: the city of Sam's employer.
        as_of: What was true on this day.
    """
    if hops not in (1, 2):
        raise BadArguments(f"hops is 1 or 2, not {hops}")
    day = _day(ctx, "as_of", as_of)
    found = _facts(ctx).search(
        entity,
        relation or None,
        direction=direction,
        hops=hops,
        as_of=last_moment(day, ctx.now()) if day is not None else None,
    )
    what = f"{relation} of {entity}" if relation else entity
    when = f" as of {as_of}" if day is not None else ""
    return _told(ctx, found, f"about {what}{when}")


@tool(effect="none")
def fact_history(ctx: ToolContext, entity: str, relation: str | None = None) -> ToolResult:
    """List what was true of someone or something over time, the oldest first: what came before,
    what changed when.

    Args:
        entity: A name, such as Sam; "I" is the person speaking.
        relation: Only this relation, such as lives_in.
    """
    facts = _facts(ctx).history(entity, relation or None)
    what = f"{relation} of {entity}" if relation else entity
    return _told(ctx, [FactFound(each) for each in facts], f"about {what} over time")


def _facts(ctx: ToolContext) -> Facts:
    if ctx.facts is None:
        raise ToolFailed("there are no facts here")
    return ctx.facts


def _day(ctx: ToolContext, name: str, written: str | None) -> Span | None:
    if not written or not written.strip():
        return None
    try:
        return parse_span(written, ctx.now())
    except ValueError as error:
        raise BadArguments(f"{name}: {error}") from None


def _told(ctx: ToolContext, found: Sequence[FactFound], what: str) -> ToolResult:
    """As many as fit, the first first; trusted as the least of them."""
    count, zone = TokenCounter().count, ctx.now().tzinfo
    lines = [_found_line(each, zone) for each in found]
    if not lines:
        return ToolResult(f"no fact {what}; recall_search and archival_search look elsewhere")
    many = "1 fact" if len(lines) == 1 else f"{len(lines):,} facts"
    kept: list[str] = []
    left = ctx.result_tokens - _HEAD_TOKENS
    for line in lines:
        left -= count(line) + 1
        if left < 0 and kept:
            break
        kept.append(line)
    more = f"; the first {len(kept):,}, name a relation for fewer" if len(kept) < len(lines) else ""
    least = min(each.fact.provenance.trust for each in found[: len(kept)])
    return ToolResult("\n".join([f"{many} {what}{more}", *kept]), trust=least)


def _known(fact: Passage, zone: tzinfo) -> str:
    """A fact that was not asked for: of one that is untrusted only where it is."""
    return fact.short_id if untrusted(fact.provenance.trust) else _line(fact, zone)


def _found_line(found: FactFound, zone: tzinfo) -> str:
    line = _line(found.fact, zone)
    return f"{line} (by {found.through.short_id})" if found.through is not None else line


def _line(fact: Passage, zone: tzinfo) -> str:
    """`a7 Sam lives in Lisbon. (since May 2026)`"""
    facets = fact.facets
    by = f"a{facets.superseded_by}" if facets.superseded_by else None
    text = shorten(" ".join(fact.text.split()), _TEXT_TOKENS, TokenCounter().count)
    when = validity(facets.valid_from, facets.valid_to, by, zone)
    return " ".join(each for each in (fact.short_id, text, when) if each)
