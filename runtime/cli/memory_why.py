"""`pagemind memory why`: what a memory rests on, as a tree down to what was said."""

from typing import TYPE_CHECKING, Annotated

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder

if TYPE_CHECKING:
    from rich.tree import Tree

    from pagemind.runtime.why import Reason, Why

_HOW = {
    "": "",
    "from": "from ",
    "evidence": "rests on ",
    "supersedes": "took the place of ",
    "merged": "says what was said in ",
    "promoted": "lifted from ",
    "covers": "covers ",
    "holds": "holds ",
}


def why(
    agent: AgentName,
    id: Annotated[
        str, typer.Argument(metavar="ID", help="A record (a7), message, page, or block.")
    ],
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Show why an agent thinks so: what a memory came from, step by step, and what rests on it."""
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.why import why as reasons

    with opened(home) as runtime, runtime.reader(agent) as reader:
        found, name = reasons(reader.state, id), reader.name
    if as_json:
        answer({"agent": name, **found.as_json()})
    else:
        print_why(found)


def print_why(found: "Why") -> None:
    """The tree, and what else is known."""
    from pagemind.runtime.cli.render import console, visible

    console().print(_tree(found.reason), soft_wrap=False)
    known = f"{found.standing}, trust {found.trust}, origin {found.origin or 'unknown'}"
    console().print(known, style="dim")
    for change in found.changes:
        why_so = f": {visible(change['why'])}" if change["why"] else ""
        print(f"{change['id']} {change['job']} {change['op']} ({change['state']}){why_so}")
    if found.supports:
        print(f"what rests on it: {', '.join(found.supports)}")


def _tree(reason: "Reason") -> "Tree":
    from rich.text import Text
    from rich.tree import Tree

    from pagemind.runtime.cli.render import local, one_line

    at = f" {local(reason.at)}" if reason.at else ""
    label = Text.assemble(
        _HOW.get(reason.how, f"{reason.how} "),
        (reason.id.removeprefix("block:"), "bold"),
        (f"  {one_line(reason.by)}{at}", "dim"),
        f"\n{one_line(reason.text)}",
    )
    tree = Tree(label)
    for each in reason.because:
        tree.children.append(_tree(each))
    if reason.more:
        tree.add(Text(f"… and {reason.more:,} more", "dim"))
    return tree
