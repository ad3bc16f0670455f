"""`pagemind memory revoke`: take back all that came from a source, after a look at what that is."""

from typing import TYPE_CHECKING, Annotated

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, DryRun, HomeFolder, Wait, Yes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pagemind.runtime.core_editor import CoreEditor
    from pagemind.runtime.revoke import Revocation
    from pagemind.runtime.tiers_writer import TiersWriter

_TEXT_CHARS = 160


def revoke(
    agent: AgentName,
    source: Annotated[
        str,
        typer.Option(
            "--source",
            metavar="SOURCE",
            help="m12, t3, a7; a function, address, file, document or agent.",
            show_default=False,
        ),
    ],
    dry_run: DryRun = False,
    yes: Yes = False,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Take back what an agent has made of a source: its records, planned changes, lines of core
    memory and skills. What they had ended holds again.

    Nothing is erased: `memory restore` brings back what is hidden. What was said stays as it was.
    """
    from pagemind.runtime.cli.session import opened

    with opened(home) as runtime, runtime.writer(agent, wait=wait) as writer:
        return taken_back(
            writer, source, {"agent": writer.name}, dry_run=dry_run, yes=yes, as_json=as_json
        )


def taken_back(
    writer: "TiersWriter",
    source: str,
    whose: "Mapping[str, str]",
    *,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Show what came from a source, and take it back once that is confirmed."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.cli.session import confirmed
    from pagemind.runtime.revoke import Revoking

    revoking = Revoking(writer.state, getattr(writer, "editor", _no_blocks))
    found, done = revoking.preview(source), False
    if not as_json:
        print_revocation(found)
    if found.taken and not dry_run:
        if not confirmed("take this back?", yes=yes, doing="revoking a source"):
            say("nothing was taken back")
            return 1
        found, done = revoking.revoke(source), True
        writer.changed()
    if as_json:
        answer({**whose, "revoked": done, **found.as_json()})
        return 0
    if done:
        say("taken back; `pagemind memory restore` brings back what is hidden, one by one")
        for each in found.taken:
            if each.what == "left":
                say(f"{each.id} was left: {each.why}")
    return 0


def _no_blocks() -> "CoreEditor":
    raise AssertionError("an archive has no core memory")


def print_revocation(found: "Revocation") -> None:
    """What would be taken back, every character seen."""
    from pagemind.runtime.cli.consent_view import exact
    from pagemind.runtime.cli.render import console

    out = console()
    roots = ", ".join(found.roots[:8]) + (" …" if len(found.roots) > 8 else "")
    out.print(f"{exact(found.source)}: {roots}", style="bold", markup=False, highlight=False)
    for each in found.taken:
        text = " ".join(each.text.split()) or each.why
        cut = f"{text[:_TEXT_CHARS]}…" if len(text) > _TEXT_CHARS else text
        line = f"  {each.id}  {each.what}: {exact(cut)}"
        out.print(line, markup=False, highlight=False)
    if found.kept:
        out.print(f"  kept, since others say it too: {', '.join(found.kept)}", markup=False)
    if not found.taken:
        out.print("  nothing rests on it", markup=False)
