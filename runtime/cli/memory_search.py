"""`pagemind memory search`: the agent's own search, for people."""

from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder, Tags
from pagemind.runtime.settings import CLI_PART_TOKENS

if TYPE_CHECKING:
    from pagemind.runtime.reader import AgentReader
    from pagemind.runtime.services import Hit, SearchFilters


class TierChoice(StrEnum):
    """Where to look."""

    recall = "recall"
    archival = "archival"
    both = "both"


class RoleChoice(StrEnum):
    """Whose messages."""

    user = "user"
    assistant = "assistant"
    tool = "tool"


def search(
    agent: AgentName,
    query: Annotated[
        str,
        typer.Argument(
            metavar="QUERY", help="What to look for; without it, the newest.", show_default=False
        ),
    ] = "",
    tier: Annotated[
        TierChoice, typer.Option("--tier", help="Messages, passages, or both.")
    ] = TierChoice.both,
    role: Annotated[
        RoleChoice | None, typer.Option("--role", help="Only messages of this role.")
    ] = None,
    speaker: Annotated[
        str | None, typer.Option("--speaker", metavar="NAME", help="Only what this person said.")
    ] = None,
    start: Annotated[
        str | None,
        typer.Option("--start", metavar="DATE", help="From then on: 2026-05, yesterday, …"),
    ] = None,
    end: Annotated[
        str | None, typer.Option("--end", metavar="DATE", help="Up to and including then.")
    ] = None,
    tag: Tags = None,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", metavar="N", min=1, help="The size of one part.")
    ] = CLI_PART_TOKENS,
    part: Annotated[int, typer.Option("--part", metavar="N", min=1, help="Which part.")] = 1,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Search everything that was ever said and kept; works while another process runs the agent.

    --role and --speaker are of messages: with them, passages are left out.
    """
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.hits import hit_json, parts_of, print_hits
    from pagemind.runtime.cli.render import answer, plural
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.errors import NotFound

    of_messages = role is not None or speaker is not None
    if of_messages and tier is TierChoice.archival:
        raise typer.BadParameter("passages have no role and no speaker", param_hint="--tier")
    if of_messages:
        tier = TierChoice.recall
    with opened(home) as runtime, runtime.reader(agent) as reader:
        filters = _filters(reader, runtime.clock.now(), role, speaker, start, end, tag)
        hits, searched, warnings = _search(reader, tier, query, filters)
        parts = parts_of(hits, max_tokens, runtime.counter.count)
        zone = reader.zone
    if part > len(parts):
        raise NotFound(f"there is no part {part}", hint=f"this search has {len(parts)}")
    shown = parts[part - 1]
    if as_json:
        answer(
            {
                "total": len(hits),
                "part": part,
                "parts": len(parts),
                "results": [hit_json(hit) for hit in shown],
                "searched": searched,
                "warnings": warnings,
            }
        )
        return
    looked = " and ".join(
        plural(number, "message" if name == "recall" else "passage")
        for name, number in searched.items()
    )
    found = "no match" if not hits else "1 match" if len(hits) == 1 else f"{len(hits):,} matches"
    of = f", part {part} of {len(parts)}" if len(parts) > 1 else ""
    for warning in warnings:
        say(warning)
    print(f"{found} among {looked}{of}")
    print_hits(shown, zone)


def _filters(
    reader: "AgentReader",
    now: datetime,
    role: RoleChoice | None,
    speaker: str | None,
    start: str | None,
    end: str | None,
    tags: list[str] | None,
) -> "SearchFilters":
    from pagemind.runtime.services import SearchFilters
    from pagemind.runtime.when import parse_span

    local = now.astimezone(reader.zone)
    first = last = None
    for option, text in (("--start", start), ("--end", end)):
        if not text:
            continue
        try:
            span = parse_span(text, local)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint=option) from None
        if option == "--start":
            first = span.start
        else:
            last = span.end
    return SearchFilters(
        role=role.value if role else None,
        speaker=speaker,
        start=first,
        end=last,
        tags=tuple(tags or ()),
    )


def _search(
    reader: "AgentReader", tier: TierChoice, query: str, filters: "SearchFilters"
) -> tuple[list["Hit"], dict[str, int], list[str]]:
    """Hits best first (without a query newest first), what each tier holds, warnings."""
    from pagemind.runtime.outbox import Tier
    from pagemind.runtime.settings import SEARCH_LIMIT

    wanted: list[Tier] = ["recall", "archival"]
    hits: list[Hit] = []
    searched: dict[str, int] = {}
    warnings: dict[str, None] = {}
    for name in wanted:
        if tier not in (TierChoice.both, TierChoice(name)):
            continue
        result = reader.search.search(name, query.strip() or None, filters, SEARCH_LIMIT)
        hits += result.hits
        searched[name] = result.searched
        warnings.update(dict.fromkeys(result.warnings))
    if query.strip():
        hits.sort(key=lambda hit: -hit.score)
    else:
        if name == "archival" and reader.shared is not None:
            warnings.update(dict.fromkeys(reader.shared.warnings()))
        hits.sort(key=lambda hit: -(hit.said_at.timestamp() if hit.said_at else 0.0))
    return hits, searched, list(warnings)
