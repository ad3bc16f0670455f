"""`pagemind memory search`: the agent's own search, for people."""

from enum import StrEnum
from typing import Annotated

import typer

from pagemind.runtime.cli.options import (
    AgentName,
    AsJson,
    End,
    HomeFolder,
    InScope,
    MaxTokens,
    Part,
    Query,
    Start,
    Tags,
)
from pagemind.runtime.settings import CLI_PART_TOKENS


class TierChoice(StrEnum):
    """Where to look."""

    recall = "recall"
    archival = "archival"
    pages = "pages"
    both = "both"


class RoleChoice(StrEnum):
    """Whose messages."""

    user = "user"
    assistant = "assistant"
    tool = "tool"


class DepthChoice(StrEnum):
    """How a question is searched."""

    shallow = "shallow"
    deep = "deep"


def search(
    agent: AgentName,
    query: Query = "",
    tier: Annotated[
        TierChoice, typer.Option("--tier", help="Messages, passages, both, or page gists.")
    ] = TierChoice.both,
    role: Annotated[
        RoleChoice | None, typer.Option("--role", help="Only messages of this role.")
    ] = None,
    speaker: Annotated[
        str | None, typer.Option("--speaker", metavar="NAME", help="Only what this person said.")
    ] = None,
    start: Start = None,
    end: End = None,
    tag: Tags = None,
    any_tag: Annotated[
        list[str] | None,
        typer.Option("--any-tag", metavar="TAG", help="At least one of these; repeatable."),
    ] = None,
    importance: Annotated[
        str | None,
        typer.Option("--importance", metavar="N", help="At least N, or a range: 7, 7-9, -3."),
    ] = None,
    origin: Annotated[
        list[str] | None,
        typer.Option("--origin", metavar="ORIGIN", help="user, model, tool, document, …"),
    ] = None,
    id: Annotated[
        list[str] | None,
        typer.Option("--id", metavar="ID", help="Only these: m42, a7, p17; repeatable."),
    ] = None,
    scope: InScope = None,
    viewer: Annotated[
        str | None,
        typer.Option("--viewer", metavar="NAME", help="As this one sees it; all by default."),
    ] = None,
    standing: Annotated[
        list[str] | None,
        typer.Option(
            "--standing", metavar="STANDING", help="active (default), cold, past, pending, …"
        ),
    ] = None,
    cold: Annotated[
        bool, typer.Option("--cold", help="What the worker let go cold: --standing cold.")
    ] = False,
    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", metavar="KIND", help="note, fact, insight, digest, skill, …"),
    ] = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="DATE", help="Passages that were true then.")
    ] = None,
    past: Annotated[bool, typer.Option("--past", help="What is over or superseded, too.")] = False,
    ranking: Annotated[
        str | None,
        typer.Option("--ranking", metavar="NAME", help="relevance, park, park-raw, crewai, …"),
    ] = None,
    depth: Annotated[
        DepthChoice, typer.Option("--depth", help="deep: a model takes the question apart first.")
    ] = DepthChoice.shallow,
    max_tokens: MaxTokens = CLI_PART_TOKENS,
    part: Part = 1,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Search everything that was ever said and kept; works while another process runs the agent.

    --role and --speaker are of messages: with them, passages are left out; --kind, --as-of and
    --scope are of passages.
    """
    from pagemind.runtime.cli.hits import tell_found
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.errors import BadFilter
    from pagemind.runtime.filters import filters_of
    from pagemind.runtime.search_answer import search as search_memory
    from pagemind.runtime.tiers.composite import ranking_of

    of_messages = role is not None or speaker is not None
    if of_messages and tier in (TierChoice.archival, TierChoice.pages):
        raise typer.BadParameter(f"{tier} have no role and no speaker", param_hint="--tier")
    if of_messages:
        tier = TierChoice.recall
    given = {
        "role": role.value if role else None,
        "speaker": speaker,
        "start": start,
        "end": end,
        "tags": tag,
        "any_tags": any_tag,
        "importance": importance,
        "origins": origin,
        "ids": id,
        "scopes": scope,
        "viewer": viewer,
        "standings": [
            *(standing or ()),
            *(["cold"] if cold else ()),
            *(["active", "past"] if past else ()),
        ],
        "kinds": kind,
        "as_of": as_of,
    }
    with opened(home) as runtime, runtime.reader(agent) as reader:
        try:
            filters = filters_of(given, runtime.clock.now().astimezone(reader.zone))
            ranking_of(ranking)
        except BadFilter as refused:
            raise typer.BadParameter(refused.message) from None
        deep = runtime.background_model(agent) if depth is DepthChoice.deep else None
        found = search_memory(reader, tier.value, query, filters, ranking, deep)
        tell_found(found, part, max_tokens, runtime.counter.count, reader.zone, as_json)
