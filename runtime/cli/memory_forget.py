"""`pagemind memory forget`: hide passages, named by id or found by a query and conditions. Nothing
is erased."""

import re
from typing import TYPE_CHECKING, Annotated

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, DryRun, HomeFolder, Tags, Wait, Yes

if TYPE_CHECKING:
    from pagemind.runtime.cli.forgetting import Wanted
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
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", metavar="/PATH", help="Those in it or below; repeatable."),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", metavar="KIND", help="note, fact, insight, …; repeatable."),
    ] = None,
    tag: Tags = None,
    older_than: Annotated[
        str, typer.Option("--older-than", metavar="TIME", help="Stored before that: 90d.")
    ] = "",
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="So many at most.")
    ] = None,
    evergreen: Annotated[
        bool, typer.Option("--evergreen", help="What is evergreen, too, though nobody named it.")
    ] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Hide passages from the agent and from every search; `memory restore` brings them back.

    What --query and the other conditions find is shown first. All of them hold together.
    """
    from pagemind.runtime.cli import forgetting
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import answer, one_line, table
    from pagemind.runtime.cli.session import confirmed, opened
    from pagemind.runtime.errors import UserError

    wanted = _wanted(query, scope, kind, tag, older_than, limit)
    if bool(ids) != wanted.nothing:
        raise UserError(
            "say which passages: either their ids or --query, --scope, --kind, --tag, --older-than",
            hint=f"`pagemind memory passages {agent}` lists them",
        )
    kept: list[Passage] = []
    with opened(home) as runtime, runtime.writer(agent, wait=wait) as writer:
        if ids:
            found = _named(writer, ids)
        else:
            now = runtime.clock.now()
            found = forgetting.found_by(writer.search, writer.state.passages, wanted, now)
            if not evergreen:
                kept = [each for each in found if forgetting.evergreen(each)]
                found = [each for each in found if each not in kept]
            if not found and not kept:
                what = repr(wanted.query) if wanted.query else "that"
                raise _absent(writer, f"no passage of {writer.name} matches {what}")
        if not as_json:
            table(["id", "text"], [[each.short_id, one_line(each.text)] for each in found])
            _tell_counts(found, kept)
        if not dry_run and found:
            # Ids were chosen one by one; what a query finds has to be seen first.
            sure = yes or bool(ids)
            if not confirmed("forget these?", yes=sure, doing="forgetting what a query finds"):
                say("nothing was forgotten")
                return 1
            for each in found:
                writer.retire(each.number, reason=f"forgotten: {query}" if query else "forgotten")
        name = writer.name
    if as_json:
        passages = [{"id": p.short_id, "text": p.text, "version": p.version} for p in found]
        body = {"agent": name, "forgotten": not dry_run, "passages": passages, "total": len(found)}
        answer({**body, "evergreen": [each.short_id for each in kept]})
    elif not dry_run and found:
        one = found[0]
        back = f"pagemind memory restore {name} {one.short_id} {one.version}"
        which = "it" if len(found) == 1 else "that one"
        say(f"hidden, not erased: `{back}` brings {which} back")
    return 0


def _wanted(
    query: str,
    scope: list[str] | None,
    kind: list[str] | None,
    tag: list[str] | None,
    older_than: str,
    limit: int | None,
) -> "Wanted":
    """Raises UserError."""
    from pagemind.runtime.cli.forgetting import Wanted
    from pagemind.runtime.errors import UserError
    from pagemind.runtime.keeping import ttl_of
    from pagemind.runtime.passage import KINDS
    from pagemind.runtime.scope import scope_of

    for each in kind or ():
        if each not in KINDS:
            raise UserError(f"{each!r} is no kind of record", hint=f"kinds: {', '.join(KINDS)}")
    return Wanted(
        query.strip(),
        tuple(scope_of(each) for each in scope or ()),
        tuple(kind or ()),
        tuple(tag or ()),
        ttl_of(older_than),
        limit,
    )


def _tell_counts(found: "list[Passage]", kept: "list[Passage]") -> None:
    from pagemind.runtime.cli.failure import say

    if len(found) > 1:
        say(f"{len(found):,} passages")
    if kept:
        names = ", ".join(each.short_id for each in kept[:5])
        more = f" and {len(kept) - 5:,} more" if len(kept) > 5 else ""
        say(f"evergreen, and left alone without --evergreen: {names}{more}")


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


def _absent(writer: "AgentWriter", message: str) -> "NotFound":
    from pagemind.runtime.errors import NotFound

    return NotFound(message, hint=f"`pagemind memory passages {writer.name}` lists them")
