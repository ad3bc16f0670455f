"""`pagemind memory forget`: hide passages, named by id or found by a query. Nothing is erased."""

import re
from typing import TYPE_CHECKING, Annotated

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, DryRun, HomeFolder, Wait, Yes

if TYPE_CHECKING:
    from pagemind.runtime.errors import NotFound
    from pagemind.runtime.passage import Passage
    from pagemind.runtime.writer import AgentWriter


def forget(
    agent: AgentName,
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="Passages: a7 a9.", show_default=False),
    ] = None,
    query: Annotated[
        str,
        typer.Option(
            "--query", "-q", metavar="QUERY", help="Those that match best, ten at most, once seen."
        ),
    ] = "",
    dry_run: DryRun = False,
    yes: Yes = False,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Hide passages from the agent and from every search; `memory restore` brings them back."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import answer, one_line, table
    from pagemind.runtime.cli.session import confirmed, opened
    from pagemind.runtime.errors import UserError

    if bool(ids) == bool(query.strip()):
        raise UserError(
            "say which passages: either their ids or --query",
            hint=f"`pagemind memory passages {agent}` lists them",
        )
    with opened(home) as runtime, runtime.writer(agent, wait=wait) as writer:
        found = _named(writer, ids) if ids else _matching(writer, query)
        if not as_json:
            table(["id", "text"], [[each.short_id, one_line(each.text)] for each in found])
        if not dry_run:
            # Ids were chosen one by one; what a query finds has to be seen first.
            sure = yes or bool(ids)
            if not confirmed("forget these?", yes=sure, doing="forgetting what a query finds"):
                say("nothing was forgotten")
                return 1
            for each in found:
                writer.archival().delete(each.number)
        name = writer.name
    if as_json:
        passages = [{"id": p.short_id, "text": p.text, "version": p.version} for p in found]
        answer({"agent": name, "forgotten": not dry_run, "passages": passages})
    elif not dry_run:
        one = found[0]
        back = f"pagemind memory restore {name} {one.short_id} {one.version}"
        say(f"hidden, not erased: `{back}` brings it back")
    return 0


def _named(writer: "AgentWriter", ids: list[str]) -> "list[Passage]":
    """Each once. Raises NotFound, UserError."""
    from pagemind.runtime.cli.forgetting import active
    from pagemind.runtime.errors import UserError
    from pagemind.runtime.memory_answers import passage_number

    numbers = []
    for id in [word for each in ids for word in re.split(r"[\s,]+", each) if word]:
        number = passage_number(id)
        if number is None:
            raise UserError(f"{id!r} names no passage", hint="say a7, or --query QUERY")
        numbers.append(number)
    return active(
        writer.state.passages,
        numbers,
        lambda number: _absent(writer, f"{writer.name} has no passage a{number}"),
    )


def _matching(writer: "AgentWriter", query: str) -> "list[Passage]":
    """The agent's own, best first. Raises NotFound for none."""
    from pagemind.runtime.cli.forgetting import matching

    ids = matching(writer.search, query)
    if not ids:
        raise _absent(writer, f"no passage of {writer.name} matches {query!r}")
    return _named(writer, ids)


def _absent(writer: "AgentWriter", message: str) -> "NotFound":
    from pagemind.runtime.errors import NotFound

    return NotFound(message, hint=f"`pagemind memory passages {writer.name}` lists them")
