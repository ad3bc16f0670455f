"""`pagemind agents`: make, look at, change and delete agents."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pagemind.runtime.cli.options import (
    AgentName,
    AsJson,
    DefinitionName,
    HomeFolder,
    ModelName,
    Tags,
    Wait,
    Yes,
)

if TYPE_CHECKING:
    from pagemind.runtime.reader import AgentInfo
    from pagemind.runtime.runtime import Runtime


def list_agents(tag: Tags = None, as_json: AsJson = False, home: HomeFolder = None) -> None:
    """List the agents, or those with one of the tags, the one used last first."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import listing, money, size, table
    from pagemind.runtime.cli.session import opened

    with opened(home) as runtime:
        found = runtime.agents(tag or ())
        now = runtime.clock.now()
    if as_json:
        listing([each.as_json() for each in found])
        return
    if not found:
        none = f"no agent has the tag {' or '.join(tag or [])}; a definition gives them: tags: [x]"
        say(none if tag else "no agents yet; `pagemind chat` makes one")
        return
    from pagemind.runtime.cli.render import ago

    tagged = any(each.tags for each in found)
    table(
        [
            "agent",
            *(["tags"] if tagged else []),
            "made-from",
            "messages",
            "passages",
            "pages",
            "size",
            "cost",
            "used",
            "model",
        ],
        [
            [
                each.name + (" *" if each.in_use else ""),
                *([", ".join(each.tags) or "–"] if tagged else []),
                each.definition,
                f"{each.messages:,}",
                f"{each.passages:,}",
                f"{each.pages:,}",
                size(each.bytes),
                money(each.cost, each.cost_known),
                ago(each.last_active_at, now),
                each.model or "–",
            ]
            for each in found
        ],
        right="messages passages pages size cost",
        spare="passages cost size pages made-from" + (" tags" if tagged else ""),
    )
    if any(each.in_use for each in found):
        say("* in use now")
    for each in found:
        if each.pending is not None:
            say(f"{each.name} waits for approval of {each.pending.name}; see agents show")
        if each.problem:
            say(f"{each.name} cannot be read: {each.problem}; see pagemind doctor")


def show(
    agent: AgentName,
    at: Annotated[
        str,
        typer.Option(
            "--at",
            metavar="SEQ|TIME",
            help="Show the request of then: m45, s12 (a step), 2026-05-08, yesterday.",
            show_default=False,
        ),
    ] = "",
    request: Annotated[
        bool, typer.Option("--request", help="With --at: print all of the request, as JSON.")
    ] = False,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Show one agent: what it is made from, runs on and holds; or what it saw at a past moment."""
    from pagemind.runtime.cli.past_show import show_past
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.errors import UserError

    if request and not at:
        raise UserError(
            "--request shows a past request, and needs --at",
            hint=f"`pagemind inspect {agent} --request` shows the next one",
        )
    with opened(home) as runtime:
        if at:
            with runtime.reader(agent) as reader:
                show_past(runtime, reader, at, as_json=as_json, request=request)
            return
        info = runtime.info(agent)
        folder = runtime.path(agent)
    _tell(info, folder, as_json)


def new(
    agent: AgentName,
    definition: DefinitionName = None,
    model: ModelName = None,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Make an agent without talking to it."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.session import opened

    with opened(home) as runtime:
        made = runtime.create(agent, definition, model=model)
        info = runtime.info(made.name)
        folder = runtime.path(made.name)
        with runtime.reader(made.name) as reader:
            servers = reader.definition.servers
    _tell(info, folder, as_json, done=f"made {made.name} from {made.definition}")
    if servers and not as_json:
        say(
            f"`pagemind mcp tools {made.name} --accept` shows what its MCP servers offer; till then"
            " its model is told their names only"
        )


def update(
    agent: AgentName,
    definition: Annotated[
        str,
        typer.Option(
            "--definition",
            "-d",
            metavar="NAME|FILE",
            help="The new definition.",
            show_default=False,
        ),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")
    ] = False,
    yes: Yes = False,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Give an agent another definition: show what changes, ask, and apply it.

    Its memory stays: blocks that exist keep their value, new ones are added.
    """
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import answer, visible
    from pagemind.runtime.cli.session import confirmed, opened

    with opened(home) as runtime:
        diff = runtime.update(agent, definition, apply=False)
        wrong = _misfits(runtime, agent, definition)
        if not as_json:
            print("\n".join(map(visible, diff)) if diff else "nothing changes")
            for label, why in wrong.items():
                say(f"{label} keeps its value, which does not fit the profile: {visible(why)}")
        applied = False
        question = f"apply this to {agent}?"
        if diff and not dry_run and confirmed(question, yes=yes, doing="an update"):
            runtime.update(agent, definition, apply=True, wait=wait)
            applied = True
        info = runtime.info(agent)
    if as_json:
        answer({**info.as_json(), "diff": diff, "misfits": wrong, "applied": applied})
    elif applied:
        say(f"{info.name} is made from {info.definition} now")
    return 0


def _misfits(runtime: "Runtime", agent: str, definition: str) -> dict[str, str]:
    """What of its blocks would not fit the profiles of a definition."""
    from pagemind.runtime.core_memory import misfits
    from pagemind.runtime.definition import load_definition

    with runtime.reader(agent) as reader:
        blocks = reader.shared_blocks.now(reader.state.blocks.all())
    return misfits(blocks, load_definition(definition).profiles)


def delete(
    agent: AgentName,
    yes: Yes = False,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Delete an agent with everything it remembers."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import answer, plural
    from pagemind.runtime.cli.session import confirmed, opened

    with opened(home) as runtime:
        info = runtime.info(agent)
        holds = f"{plural(info.messages, 'message')} and {plural(info.passages, 'passage')}"
        question = f"delete {info.name} with {holds}?"
        if not confirmed(question, yes=yes, doing="deleting"):
            say("nothing was deleted")
            return 1
        runtime.delete(agent, wait=wait)
    if as_json:
        answer(info.as_json())
    else:
        print(f"deleted {info.name} ({holds})")
    return 0


def path(agent: AgentName, as_json: AsJson = False, home: HomeFolder = None) -> None:
    """Print the folder that holds all of an agent."""
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.cli.session import opened

    with opened(home) as runtime:
        folder = runtime.path(agent)
        info = runtime.info(agent)
    if as_json:
        answer({**info.as_json(), "path": str(folder)})
    else:
        print(folder)


def _tell(info: "AgentInfo", folder: Path, as_json: bool, done: str = "") -> None:
    from pagemind.runtime.cli.render import answer, fields, local, money, plural, size

    if as_json:
        answer(info.as_json())
        return
    if done:
        print(done)
        return
    fields(
        [
            ("agent", info.name + (" (in use)" if info.in_use else "")),
            ("definition", info.definition),
            ("model", info.model or "chosen when it is opened"),
            ("messages", f"{info.messages:,} on {plural(info.pages, 'page')} and in the window"),
            ("passages", f"{info.passages:,}"),
            ("cost", money(info.cost, info.cost_known)),
            ("made", local(info.created_at)),
            ("last used", local(info.last_active_at)),
            ("folder", f"{folder} ({size(info.bytes)})"),
        ]
    )
    if info.pending is not None:
        from pagemind.runtime.cli.consent_view import tell_waiting

        tell_waiting(
            info.pending,
            approve=f"`pagemind send {info.name} --approve`",
            deny="`--deny --reason WHY`",
            whole=True,
        )
