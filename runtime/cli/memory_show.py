"""`pagemind memory blocks|passages|history`: read what an agent holds, running or not."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder, Last

if TYPE_CHECKING:
    from pagemind.runtime.core_memory import Block
    from pagemind.runtime.profile import Profile
    from pagemind.runtime.state.blocks import BlockVersion

Target = Annotated[
    str,
    typer.Argument(
        metavar="BLOCK|ID",
        help="A block such as human, or a passage such as a7.",
        show_default=False,
    ),
]


def blocks(agent: AgentName, as_json: AsJson = False, home: HomeFolder = None) -> None:
    """Show core memory: the blocks that the agent always sees and edits itself."""
    from pagemind.runtime.cli.render import listing
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.memory_answers import blocks_json

    with opened(home) as runtime, runtime.reader(agent) as reader:
        if as_json:
            listing(blocks_json(reader, runtime.counter.count))
            return
        shared, profiles = reader.shared_blocks, reader.definition.profiles
        found = shared.now(reader.state.blocks.all())
    print_blocks(
        found, {b.label: shared.name_of(b.label) for b in found if b.label in shared}, profiles
    )


def print_blocks(
    found: list["Block"], shared: Mapping[str, str], profiles: Mapping[str, "Profile"]
) -> None:
    """Each block under a line that says how full it is, of which shared block it is one, and
    whether it is a profile; with what does not fit its schema."""
    from rich.text import Text

    from pagemind.runtime.cli.render import console, visible
    from pagemind.runtime.core_memory import misfits

    out = console()
    wrong = misfits(found, profiles)
    for block in found:
        flags = ", read-only" if block.read_only else ""
        flags += ", profile" if block.label in profiles else ""
        if name := shared.get(block.label):
            flags += f", shared as {name}"
        out.print(
            Text.assemble(
                (block.label, "bold"),
                (f"  {len(block.value):,} of {block.limit:,} characters{flags}", "dim"),
            ),
            soft_wrap=True,
        )
        for line in block.value.splitlines() or ["(empty)"]:
            out.print(Text(f"  {visible(line)}"), soft_wrap=True)
        if why := wrong.get(block.label):
            out.print(Text(f"  does not fit its profile: {visible(why)}", "yellow"), soft_wrap=True)


def passages(
    agent: AgentName, last: Last = None, as_json: AsJson = False, home: HomeFolder = None
) -> None:
    """List the passages of archival memory, the newest first."""
    from pagemind.runtime.cli.render import listing, local, one_line, table
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.memory_answers import passage_json

    with opened(home) as runtime, runtime.reader(agent) as reader:
        total = reader.state.passages.count()
        found = reader.state.passages.newest(last or max(1, total))
    if as_json:
        listing([passage_json(each) for each in found], total)
        return
    table(
        ["id", "stored", "tags", "text"],
        [[p.short_id, local(p.created_at), ", ".join(p.tags), one_line(p.text)] for p in found],
        spare="stored tags",
    )


def history(
    agent: AgentName, target: Target, as_json: AsJson = False, home: HomeFolder = None
) -> None:
    """Show every version of a block or a passage, with its author and reason."""
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.memory_answers import versions_of

    with opened(home) as runtime, runtime.reader(agent) as reader:
        versions = versions_of(reader, target)
    tell_versions(versions, as_json)


def tell_versions(versions: list["BlockVersion"], as_json: bool) -> None:
    """The oldest first."""
    from pagemind.runtime.cli.render import listing, local, one_line, table
    from pagemind.runtime.memory_answers import version_json

    if as_json:
        listing([version_json(each) for each in versions])
        return
    table(
        ["version", "at", "author", "reason", "value"],
        [[v.version, local(v.at), v.author, v.reason, one_line(v.value)] for v in versions],
        right="version",
        spare="reason author",
    )
