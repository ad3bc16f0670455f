"""`pagemind memory facts`: what an agent knows of whom, now or at a time."""

from datetime import datetime
from typing import Annotated

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder


def facts(
    agent: AgentName,
    entity: Annotated[
        str | None,
        typer.Argument(metavar="ENTITY", help="Whom or what it is about.", show_default=False),
    ] = None,
    relation: Annotated[
        str | None,
        typer.Option("--relation", metavar="NAME", help="Only this one, such as lives_in."),
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", metavar="DATE", help="What was true then."),
    ] = None,
    known_at: Annotated[
        str | None,
        typer.Option("--known-at", metavar="DATE", help="What the agent believed then."),
    ] = None,
    history: Annotated[
        bool, typer.Option("--history", help="What is over, too, the oldest first.")
    ] = False,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """List facts: of one person or thing, or of all; what is true now, or was at a time."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import listing, one_line, table
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.fact import validity
    from pagemind.runtime.memory_answers import fact_json, facts_of

    with opened(home) as runtime, runtime.reader(agent) as reader:
        now = runtime.clock.now().astimezone(reader.zone)
        then, known = _moment("--as-of", as_of, now), _moment("--known-at", known_at, now)
        found = facts_of(
            reader, entity, relation=relation, as_of=then, known_at=known, past=history
        )
        zone = reader.zone
    if as_json:
        listing([fact_json(each, now) for each in found])
        return
    if not found:
        say("no such fact" if entity or relation or then or known else "no facts yet")
        return
    rows = [
        [
            each.short_id,
            each.facets.subject,
            each.facets.relation,
            one_line(each.facets.object),
            validity(
                each.facets.valid_from,
                each.facets.valid_to,
                f"a{each.facets.superseded_by}" if each.facets.superseded_by else None,
                zone,
            ).strip("()"),
        ]
        for each in found
    ]
    table(["id", "subject", "relation", "object", "when"], rows)


def _moment(option: str, written: str | None, now: datetime) -> datetime | None:
    """How things stood at the end of a day, or stand now. Raises typer.BadParameter."""
    from pagemind.runtime.when import last_moment, parse_span

    if written is None:
        return None
    try:
        return last_moment(parse_span(written, now), now)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None
