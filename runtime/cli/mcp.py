"""`pagemind mcp tools`: what the MCP servers of an agent offer, before a model reads of it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagemind.runtime.cli.options import AsJson, HomeFolder, Wait
from pagemind.runtime.cli.shell_completion import agent_names

if TYPE_CHECKING:
    from pagemind.runtime.mcp.look import Looked

Target = Annotated[
    str,
    typer.Argument(
        metavar="AGENT|FILE.yaml",
        help="An agent, or a definition of which none is made yet.",
        show_default=False,
        autocompletion=agent_names,
    ),
]


def tools(
    target: Target,
    accept: Annotated[
        bool,
        typer.Option("--accept", help="Accept them as they are: new and changed tools, too."),
    ] = False,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Start the MCP servers of an agent, show what they offer, and end them.

    A tool is accepted, new, or changed since it was accepted. What the server says of the last two
    no model reads; calls of a changed one, and of one that came later, are asked for, whatever
    their rule.
    """
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.errors import UserError
    from pagemind.runtime.mcp.look import look
    from pagemind.runtime.mcp.offered import KEY, seen_in
    from pagemind.runtime.mcp.servers import require_mcp

    agent = not target.endswith((".yaml", ".yml"))
    if accept and not agent:
        raise UserError(
            f"{target} is a definition, and an agent accepts",
            hint="make one of it (`pagemind agents new`), and name that here",
        )
    with opened(home) as runtime:
        if agent:
            with runtime.reader(target) as reader:
                definition = reader.definition
                before = seen_in(reader.state.database.meta(KEY))
        else:
            from pagemind.runtime.definition import load_definition

            definition, before = load_definition(Path(target)), {}
        if any(name.startswith("MCP server ") for name in definition.closed):
            raise UserError(
                f"{target} was imported, and what it reaches is closed: looking would start it",
                hint=f"`pagemind agents accept {target}` shows what it is, and opens it",
            )
        if not definition.servers:
            raise UserError(
                f"{target} names no MCP servers",
                hint="a definition names them under tools: (docs/mcp.md)",
            )
        require_mcp(definition.source)
        found = look(definition.servers, definition.folder, before)
        if accept:
            with runtime.writer(target, wait=wait) as writer:
                writer.accept_tools({each.use.name: each.seen for each in found if each.seen})
    _tell(target, found, agent=agent, accepted=accept, as_json=as_json)
    return 3 if any(each.fault for each in found) else 0


def _tell(
    target: str, found: "list[Looked]", *, agent: bool, accepted: bool, as_json: bool
) -> None:
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import answer

    items = [item for each in found for item in _items(each)]
    if as_json:
        servers = [
            {
                "name": each.use.name,
                "reached": each.use.shown,
                "told": each.seen.told if each.seen else "",
                "fault": each.fault or None,
            }
            for each in found
        ]
        answer({"servers": servers, "items": items, "total": len(items), "accepted": accepted})
        return
    for each in found:
        if each.seen is None:
            print(f"{each.use.name}: {each.fault}\n")
            continue
        told = f", which calls itself {each.seen.told}" if each.seen.told else ""
        print(f"{each.use.name}: {each.use.shown}{told}")
        for item in (i for i in items if i["server"] == each.use.name):
            effect = "changes nothing" if item["effect"] == "none" else "changes the world"
            standing = "" if item["standing"] == "accepted" else f"  {item['standing'].upper()}"
            offered = "" if item["offered"] else ", left out by allow"
            print(f"  {item['function']}  ({item['rule']}, {effect}{offered}){standing}")
            about = " ".join(item["description"].split())
            if about:
                print(f"      {about if len(about) <= 300 else about[:299] + '…'}")
        print()
    if accepted:
        print(f"{target} accepts these as they are")
    elif agent and any(item["standing"] != "accepted" for item in items):
        say(f"`pagemind mcp tools {target} --accept` accepts them as they are now")


def _items(looked: "Looked") -> list[dict[str, Any]]:
    from pagemind.runtime.mcp.plain_schema import plain
    from pagemind.runtime.mcp.servers import function_name

    use, seen = looked.use, looked.seen
    if seen is None:
        return []
    items: list[dict[str, Any]] = []
    for tool in seen.tools:
        terms = use.terms_of(tool.name)
        items.append(
            {
                "server": use.name,
                "tool": tool.name,
                "function": function_name(use.name, tool.name),
                "description": tool.description,
                "parameters": plain(tool.schema),
                "standing": seen.standing(tool),
                "offered": use.wants(tool.name),
                "rule": terms.rule,
                "effect": terms.effect,
            }
        )
    for name in seen.gone:
        items.append(
            {
                "server": use.name,
                "tool": name,
                "function": function_name(use.name, name),
                "description": "",
                "parameters": {},
                "standing": "gone",
                "offered": False,
                "rule": use.terms_of(name).rule,
                "effect": use.terms_of(name).effect,
            }
        )
    return items
