"""`pagemind blocks`: shared blocks, texts that several agents have in their main context."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagemind.runtime.cli.options import AsJson, HomeFolder, Yes
from pagemind.runtime.settings import BLOCK_LIMIT

if TYPE_CHECKING:
    from pagemind.runtime.state.shared_blocks import SharedBlock

BlockName = Annotated[
    str, typer.Argument(metavar="BLOCK", help="The shared block's name.", show_default=False)
]


def new(
    block: BlockName,
    text: Annotated[
        str, typer.Option("--text", metavar="TEXT", help="What it says; - reads standard input.")
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, help="Of its characters.")
    ] = BLOCK_LIMIT,
    description: Annotated[
        str, typer.Option("--description", metavar="TEXT", help="What it is for.")
    ] = "",
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Make a shared block. Agents have it once their definition says
    `blocks: {LABEL: {shared: BLOCK}}`; the first of them makes one that is not there.
    """
    from pagemind.runtime.cli.session import opened, text_or_stdin
    from pagemind.runtime.core_memory import Block
    from pagemind.runtime.naming import checked_label

    name = checked_label(block, "shared block")
    value = Block(name, "", limit).with_value(text_or_stdin(text)).value
    with opened(home) as runtime:
        made = runtime.shared_blocks.make(
            name, value, limit=limit, description=description, author="user", origin="user"
        )
    _tell(made, [], as_json, f"made {made.name}: {_full(made)}")


def list_blocks(as_json: AsJson = False, home: HomeFolder = None) -> None:
    """List the shared blocks, who has them and who changed them last."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import ago, listing, table
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.sharers import sharers

    with opened(home) as runtime:
        found, users = runtime.shared_blocks.all(), sharers(runtime)
        now = runtime.clock.now()
    if as_json:
        listing([_as_json(each, users.get(each.name, [])) for each in found])
        return
    if not found:
        say("no shared blocks yet; `pagemind blocks new NAME` makes one")
        return
    table(
        ["block", "characters", "version", "changed", "by", "agents"],
        [
            [
                each.name,
                f"{len(each.value):,} of {each.limit:,}",
                each.version,
                ago(each.newest.at, now),
                each.newest.author,
                ", ".join(users.get(each.name, [])) or "–",
            ]
            for each in found
        ],
        right="characters version",
        spare="changed by",
    )


def show(block: BlockName, as_json: AsJson = False, home: HomeFolder = None) -> None:
    """Show what a shared block says now."""
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.sharers import sharers

    with opened(home) as runtime:
        found = runtime.shared_blocks.find(block)
        users = sharers(runtime).get(found.name, []) if as_json else []
    _tell(found, users, as_json, found.value or "(empty)")


def edit(
    block: BlockName,
    text: Annotated[
        str | None,
        typer.Option(
            "--text",
            metavar="TEXT",
            help="What it says from now on; - reads standard input.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=1, help="Of its characters, from now on."),
    ] = None,
    description: Annotated[
        str | None, typer.Option("--description", metavar="TEXT", help="What it is for.")
    ] = None,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Change a shared block, in your $EDITOR; agents see it from their next turn on.

    If somebody else changes it meanwhile, nothing is written. With --limit or --description alone
    the text stays.
    """
    from pagemind.runtime.cli.session import opened, text_or_stdin
    from pagemind.runtime.cli.text_editor import edited
    from pagemind.runtime.core_memory import Block
    from pagemind.runtime.errors import UserError
    from pagemind.runtime.message import clean_text
    from pagemind.runtime.sharers import held

    with opened(home) as runtime:
        before = runtime.shared_blocks.find(block)
        if limit is not None or description is not None:
            before = runtime.shared_blocks.describe(
                before.name, limit=limit, description=description
            )
            if text is None:
                _tell(before, [], as_json, f"{before.name}: {_full(before)}")
                return
        given = edited(before.value, name=before.name) if text is None else text_or_stdin(text)
        given = held(runtime, before.name, before.value, clean_text(given))

        def value(now: "SharedBlock") -> str:
            if now.version != before.version:
                raise UserError(
                    f"{now.name} was changed by {now.newest.author} while you edited it",
                    hint=f"nothing of yours was written; `pagemind blocks show {now.name}`",
                )
            return Block(now.name, now.value, now.limit).with_value(given).value

        made = runtime.shared_blocks.change(
            before.name, value, author="user", reason="edit", origin="user"
        )
    same = made.version == before.version
    done = "is as it was" if same else f"is changed: {_full(made)}"
    _tell(made, [], as_json, f"{made.name} {done}")


def history(block: BlockName, as_json: AsJson = False, home: HomeFolder = None) -> None:
    """Show every version of a shared block, with its author and reason."""
    from pagemind.runtime.cli.memory_show import tell_versions
    from pagemind.runtime.cli.session import opened

    with opened(home) as runtime:
        name = runtime.shared_blocks.find(block).name
        versions = runtime.shared_blocks.history(name)
    tell_versions(versions, as_json)


def restore(
    block: BlockName,
    version: Annotated[
        int, typer.Argument(metavar="VERSION", help="A version of its history.", min=1)
    ],
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Give a shared block the value of an earlier version, as a new version."""
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.errors import NotFound

    with opened(home) as runtime:
        found = runtime.shared_blocks.find(block)
        versions = runtime.shared_blocks.history(found.name)
        if version > len(versions):
            raise NotFound(
                f"block {found.name!r} has no version {version}",
                hint=f"its versions are 1 to {len(versions)}",
            )
        value = versions[version - 1].value
        made = runtime.shared_blocks.change(
            found.name,
            lambda now: value,
            author="user",
            reason=f"restored version {version}",
            origin="user",
            most=runtime.shared_blocks.trust_of(found.name, version),
        )
    _tell(made, [], as_json, f"{made.name} is as in version {version}: {_full(made)}")


def delete(
    block: BlockName, yes: Yes = False, as_json: AsJson = False, home: HomeFolder = None
) -> int:
    """Delete a shared block with all its versions. One that an agent has stays."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.session import confirmed, opened
    from pagemind.runtime.errors import UserError
    from pagemind.runtime.sharers import sharers

    with opened(home) as runtime:
        found = runtime.shared_blocks.find(block)
        if users := sharers(runtime).get(found.name):
            raise UserError(
                f"{found.name} is shared by {', '.join(users)}",
                hint="take it out of their definitions, or delete these agents first",
            )
        if not confirmed(f"delete {found.name} ({_full(found)})?", yes=yes, doing="deleting"):
            say("nothing was deleted")
            return 1
        runtime.shared_blocks.delete(found.name)
    _tell(found, [], as_json, f"deleted {found.name}")
    return 0


def _full(block: "SharedBlock") -> str:
    return f"{len(block.value):,} of {block.limit:,} characters"


def _tell(block: "SharedBlock", users: list[str], as_json: bool, done: str) -> None:
    from pagemind.runtime.cli.render import answer, visible

    if as_json:
        answer(_as_json(block, users))
    else:
        print("\n".join(visible(line) for line in done.splitlines()))


def _as_json(block: "SharedBlock", users: list[str]) -> dict[str, Any]:
    from pagemind.runtime.clock import rfc3339

    return {
        "name": block.name,
        "value": block.value,
        "limit": block.limit,
        "description": block.description,
        "version": block.version,
        "updated_at": rfc3339(block.newest.at),
        "author": block.newest.author,
        "reason": block.newest.reason,
        "agents": users,
    }
