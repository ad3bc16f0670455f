"""`pagemind audit`: what was done to memory, and whether anything was done behind its back."""

import re
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from pagemind.runtime.cli.options import AsJson, HomeFolder

if TYPE_CHECKING:
    from pagemind.runtime.audit import Verified
    from pagemind.runtime.runtime import Runtime
    from pagemind.runtime.state.audit import AuditRow

_HEAD = 12  # characters of a hash that are shown
_HASH = re.compile(r"[0-9a-f]{64}")


def verify(
    agent: Annotated[
        str | None,
        typer.Argument(metavar="AGENT", help="Only its chain; else all.", show_default=False),
    ] = None,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Verify the audit log: the exit code is 1 if a row, or what it tells of, was tampered with."""
    from pagemind.runtime.cli.render import listing
    from pagemind.runtime.cli.session import opened

    with opened(home) as runtime:
        found = runtime.audit.verify(agent)
    well = not any(each.fault for each in found)
    if as_json:
        listing([each.as_json() for each in found], ok=well)
    else:
        _print_verified(found)
    return 0 if well else 1


def show(
    agent: Annotated[
        str | None,
        typer.Argument(metavar="AGENT", help="Whose; else the home's own.", show_default=False),
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="DATE", help="From then on: 2026-05, today.")
    ] = None,
    op: Annotated[
        str | None, typer.Option("--op", metavar="OP", help="Only these, such as 'trust raised'.")
    ] = None,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Show the rows of the audit log, the oldest first: ids and hashes, no content."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import listing
    from pagemind.runtime.cli.session import opened

    op = _known(op) if op is not None else ""
    with opened(home) as runtime:
        begun = _begun(since, runtime) if since is not None else None
        rows = runtime.audit.show(agent, since=begun, op=op)
        names = {each.id: each.name for each in runtime.home.all()}
    if as_json:
        listing([each.as_json() for each in rows])
    elif not rows:
        say("no such rows" if since or op else "no rows yet")
    else:
        _print_rows(rows, names)


def _known(op: str) -> str:
    """Raises UserError with the ops there are."""
    from pagemind.runtime.errors import UserError
    from pagemind.runtime.naming import nearest
    from pagemind.runtime.state.audit import OPS

    op = " ".join(op.lower().replace("-", " ").replace("_", " ").split())
    if op not in OPS:
        raise UserError(
            f"the audit log has no op {op!r}", hint=nearest(op, OPS, otherwise=", ".join(OPS))
        )
    return op


def _begun(since: str, runtime: "Runtime") -> datetime:
    from pagemind.runtime.clock import LocalZone
    from pagemind.runtime.when import parse_span

    try:
        return parse_span(since, runtime.clock.now().astimezone(LocalZone())).start
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--since") from None


def _print_verified(found: "list[Verified]") -> None:
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import table, visible

    table(
        ["what", "name", "rows", "texts", "newest hash", "is"],
        [
            [
                each.kind,
                visible(each.name),
                f"{each.rows:,}" if each.kind != "receipt" else "",
                f"{each.texts:,}" if each.kind != "receipt" else "",
                each.head[:_HEAD],
                "whole" if not each.fault else "NOT AS WRITTEN",
            ]
            for each in found
        ],
        right="rows texts",
    )
    for each in found:
        if each.fault:
            row = f" row {each.row:,}:" if each.row else ""
            say(f"{each.kind} {visible(each.name)}:{row} {each.fault}")


def _print_rows(rows: "list[AuditRow]", names: dict[str, str]) -> None:
    """`names` of agents by their ids: where these stand, people see both."""
    from pagemind.runtime.cli.render import local, one_line, table

    table(
        ["row", "at", "what", "of", "by", "trust", "and"],
        [
            [
                each.number,
                local(each.at),
                each.op,
                one_line(_target(each, names)),
                one_line(each.by),
                each.trust,
                one_line(", ".join(f"{key} {_brief(value)}" for key, value in each.detail.items())),
            ]
            for each in rows
        ],
        right="row trust",
    )


def _target(row: "AuditRow", names: dict[str, str]) -> str:
    if row.target in names:
        return f"{names[row.target]} ({row.target})"
    target = _brief(row.target)
    return f"{target}@{row.version}" if row.version else target


def _brief(value: object) -> str:
    """A hash is shown by its head, as by `verify`; `--json` has all of it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = str(value)
    return text[:_HEAD] if _HASH.fullmatch(text) else text
