"""`pagemind memory skills`: what an agent has learned to do, and whether it may."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder, Wait

if TYPE_CHECKING:
    from pagemind.runtime.skill import Skill


def skills(
    agent: AgentName,
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="Show this one.", show_default=False)
    ] = "",
    version: Annotated[
        int | None,
        typer.Option("--version", metavar="N", help="Which version.", show_default=False),
    ] = None,
    approve: Annotated[
        bool, typer.Option("--approve", help="Make it active: one that waits, or an older one.")
    ] = False,
    refuse: Annotated[bool, typer.Option("--refuse", help="Decline one that waits.")] = False,
    why: Annotated[
        str, typer.Option("--why", metavar="WHY", help="Your reason.", show_default=False)
    ] = "",
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """List an agent's skills, show one with its versions and tests, or decide about one."""
    from pagemind.runtime.cli.render import answer, listing
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.errors import UserError
    from pagemind.runtime.skill_answers import skill_json, skills_json

    if approve and refuse:
        raise UserError("--approve or --refuse, not both")
    if (approve or refuse or version is not None) and not name:
        raise UserError(
            "say which skill", hint=f"`pagemind memory skills {agent}` lists those there are"
        )
    with opened(home) as runtime:
        if approve or refuse:
            with runtime.writer(agent, wait=wait) as writer:
                done = _decide(writer, name, version, why, approve=approve)
                shown = skill_json(writer.state, name, done.version)
            if as_json:
                answer(shown)
            else:
                print(f"{done.name} version {done.version} is {done.state}")
            return
        with runtime.reader(agent) as reader:
            if name:
                shown = skill_json(reader.state, name, version)
            else:
                items = skills_json(reader.state)
                who = reader.name
    if name:
        answer(shown) if as_json else _show(shown)
    elif as_json:
        listing(items)
    else:
        _list(who, items)


def _decide(writer: Any, name: str, version: int | None, why: str, *, approve: bool) -> "Skill":
    """Raises NotFound, UserError."""
    from pagemind.runtime.errors import UserError
    from pagemind.runtime.skill_answers import chosen, waiting
    from pagemind.runtime.skill_book import SkillBook

    book = SkillBook(writer.state)
    versions = book.versions(name)
    one = chosen(versions, version) if version is not None else waiting(versions)
    if one is None:
        raise UserError(
            f"no version of {name} waits", hint="name another with --version N to go back to it"
        )
    done = (
        book.approve(one, by="user", why=why or "a person approved it")
        if approve
        else book.refuse(one, by="user", why=why)
    )
    writer.changed()
    return done


def _list(agent: str, items: list[dict[str, Any]]) -> None:
    from pagemind.runtime.cli.render import one_line, plural, table

    table(
        ["name", "version", "state", "went", "when to use"],
        [
            [one["name"], one["version"], one["state"], _went(one), one_line(one["when_to_use"])]
            for one in items
        ],
        right="version",
        spare="went",
    )
    if waits := [one["name"] for one in items if one["waiting"] is not None]:
        print(
            f"{plural(len(waits), 'skill')} waiting for you:"
            f" `pagemind memory skills {agent} {waits[0]} --approve`"
        )


def _show(one: dict[str, Any]) -> None:
    from rich.text import Text

    from pagemind.runtime.cli.render import console, fields, local, one_line, table, visible
    from pagemind.runtime.clock import parse_rfc3339

    fields(
        [
            ("skill", f"{one['called']}, version {one['version']} ({one['id']})"),
            ("state", f"{one['state']}: {one['why']}"),
            ("when to use", one["when_to_use"]),
            ("went", _went(one) or "not used yet"),
            ("trust", f"{one['trust']}, from {', '.join(one['sources']) or 'nowhere'}"),
        ]
    )
    out = console()
    for title, text in ((one["form"], one["body"]), ("tests", one["tests"])):
        if text:
            out.print(Text(f"\n{title}", style="bold"))
            for line in text.splitlines():
                out.print(Text(f"  {visible(line)}"), soft_wrap=True)
    print()
    table(
        ["version", "id", "saved", "state", "went", "why"],
        [
            [
                each["version"],
                each["id"],
                local(parse_rfc3339(each["saved_at"])),
                each["state"],
                _went(each),
                one_line(each["why"]),
            ]
            for each in one["history"]
        ],
        right="version",
        spare="saved",
    )


def _went(one: dict[str, Any]) -> str:
    return f"{one['good']} good, {one['bad']} bad" if one["good"] or one["bad"] else ""
