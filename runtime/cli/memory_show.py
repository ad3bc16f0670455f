"""`pagemind memory blocks|passages|history`: read what an agent holds, running or not."""

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder, Last

if TYPE_CHECKING:
    from pagemind.runtime.core_memory import Block
    from pagemind.runtime.passage import Passage
    from pagemind.runtime.reader import AgentReader
    from pagemind.runtime.state.blocks import BlockVersion

Target = Annotated[
    str,
    typer.Argument(
        metavar="BLOCK|ID",
        help="A block such as human, or a passage such as a7.",
        show_default=False,
    ),
]
_PASSAGE = re.compile(r"[aA](\d{1,18})")


def blocks(agent: AgentName, as_json: AsJson = False, home: HomeFolder = None) -> None:
    """Show core memory: the blocks that the agent always sees and edits itself."""
    from pagemind.runtime.cli.render import listing
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.clock import rfc3339

    with opened(home) as runtime, runtime.reader(agent) as reader:
        found = reader.state.blocks.all()
        newest = {b.label: reader.state.blocks.history(b.label)[-1] for b in found}
        tokens = {b.label: runtime.counter.count(b.value) for b in found} if as_json else {}
    if as_json:
        listing(
            [
                {
                    "label": b.label,
                    "value": b.value,
                    "limit": b.limit,
                    "tokens": tokens[b.label],
                    "description": b.description,
                    "read_only": b.read_only,
                    "version": b.version,
                    "updated_at": rfc3339(newest[b.label].at),
                    "author": newest[b.label].author,
                }
                for b in found
            ]
        )
        return
    print_blocks(found)


def print_blocks(found: list["Block"]) -> None:
    """Each block under a line that says how full it is."""
    from rich.text import Text

    from pagemind.runtime.cli.render import console, visible

    out = console()
    for block in found:
        flags = ", read-only" if block.read_only else ""
        out.print(
            Text.assemble(
                (block.label, "bold"),
                (f"  {len(block.value):,} of {block.limit:,} characters{flags}", "dim"),
            ),
            soft_wrap=True,
        )
        for line in block.value.splitlines() or ["(empty)"]:
            out.print(Text(f"  {visible(line)}"), soft_wrap=True)


def passages(
    agent: AgentName, last: Last = None, as_json: AsJson = False, home: HomeFolder = None
) -> None:
    """List the passages of archival memory, the newest first."""
    from pagemind.runtime.cli.render import listing, local, one_line, table
    from pagemind.runtime.cli.session import opened

    with opened(home) as runtime, runtime.reader(agent) as reader:
        total = reader.state.passages.count()
        found = reader.state.passages.newest(last or max(1, total))
    if as_json:
        listing([_passage_json(each) for each in found], total)
        return
    table(
        ["id", "stored", "tags", "text"],
        [[p.short_id, local(p.created_at), ", ".join(p.tags), one_line(p.text)] for p in found],
        spare="stored tags",
    )


def _passage_json(passage: "Passage") -> dict[str, Any]:
    from pagemind.runtime.clock import rfc3339

    assert passage.created_at is not None
    assert passage.updated_at is not None
    return {
        "id": passage.short_id,
        "text": passage.text,
        "tags": list(passage.tags),
        "importance": passage.importance,
        "metadata": passage.metadata,
        "version": passage.version,
        "created_at": rfc3339(passage.created_at),
        "updated_at": rfc3339(passage.updated_at),
        "origin": passage.provenance.origin,
        "source": passage.provenance.detail,
        "trust": passage.provenance.trust,
    }


def history(
    agent: AgentName, target: Target, as_json: AsJson = False, home: HomeFolder = None
) -> None:
    """Show every version of a block or a passage, with its author and reason."""
    from pagemind.runtime.cli.session import opened

    with opened(home) as runtime, runtime.reader(agent) as reader:
        versions = versions_of(reader, target)
    tell_versions(versions, as_json)


def versions_of(reader: "AgentReader", target: str) -> list["BlockVersion"]:
    """The versions of a block or passage. Raises NotFound."""
    from pagemind.runtime.errors import NotFound

    found = reader.state.blocks.history(target)
    if not found and (number := passage_number(target)):
        found = reader.state.passages.history(number)
    if not found:
        labels = ", ".join(block.label for block in reader.state.blocks.all())
        raise NotFound(
            f"{reader.name} has no block or passage {target!r}",
            hint=f"blocks: {labels}; `pagemind memory passages {reader.name}` lists passages",
        )
    return found


def passage_number(target: str) -> int | None:
    """7 of a7."""
    match = _PASSAGE.fullmatch(target.strip())
    return int(match[1]) if match else None


def tell_versions(versions: list["BlockVersion"], as_json: bool) -> None:
    """The oldest first."""
    from pagemind.runtime.cli.render import listing, local, one_line, table
    from pagemind.runtime.clock import rfc3339

    if as_json:
        listing(
            [
                {
                    "version": v.version,
                    "at": rfc3339(v.at),
                    "author": v.author,
                    "reason": v.reason,
                    "value": v.value,
                }
                for v in versions
            ]
        )
        return
    table(
        ["version", "at", "author", "reason", "value"],
        [[v.version, local(v.at), v.author, v.reason, one_line(v.value)] for v in versions],
        right="version",
        spare="reason author",
    )
