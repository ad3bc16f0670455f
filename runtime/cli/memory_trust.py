"""`pagemind memory trust`: a person trusts messages, records, pages or blocks, or no more."""

from typing import TYPE_CHECKING, Annotated

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder, Wait, Yes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pagemind.runtime.trusting import Trusted

_MOST = 20  # things that are shown whole; of more only the first ones
_ROWS = 40  # of one text


def trust(
    agent: AgentName,
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="m42 a7 p17 block:human.", show_default=False),
    ] = None,
    imported: Annotated[
        bool, typer.Option("--imported", help="All that came in an import and is trusted as one.")
    ] = False,
    distrust: Annotated[
        bool, typer.Option("--distrust", help="Trust them no more, and nothing that rests on them.")
    ] = False,
    yes: Yes = False,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Say that what something tells may be believed: you have read it, hidden characters included.

    It is shown first. Only a person does this; the audit log keeps it. What was made of it before
    stays as it is, and can be made anew by `memory sleep`.
    """
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.cli.session import confirmed, opened
    from pagemind.runtime.errors import UserError

    if bool(ids) == imported or (imported and distrust):
        raise UserError(
            "say what: either ids or --imported",
            hint=f"`pagemind memory trust {agent} m42` (messages, records a7, pages p17,"
            " block:human)",
        )
    with opened(home) as runtime, runtime.writer(agent, wait=wait) as writer:
        trusting, name = writer.trusting, writer.name
        found = trusting.imported() if imported else trusting.find(ids or (), distrust=distrust)
        wanted = [each for each in found if each.was != each.now]
        changed: Sequence[Trusted] = ()
        if wanted:
            if not as_json:
                show(wanted)
            these = "this" if len(wanted) == 1 else f"these {len(wanted):,}"
            question = f"{'distrust' if distrust else 'trust'} {these}?"
            if not confirmed(question, yes=yes, doing="saying whom to trust"):
                say("nothing was changed")
                return 1
            changed = writer.trusted(wanted)
    if as_json:
        items = [each.as_json() for each in (changed or found)]
        answer({"agent": name, "changed": len(changed), "items": items, "total": len(items)})
    elif not changed:
        level = "no more than that" if distrust else "as far as that goes"
        told_all = f"{_many(len(found))} trusted {level} already"
        say(f"nothing to change: {told_all if found else 'nothing is trusted as an import'}")
    else:
        told(changed, wanted)
    return 0


def show(wanted: "Sequence[Trusted]") -> None:
    """What would be trusted: each with where it is from and all that it says, to the letter."""
    import shutil

    from pagemind.runtime.cli.consent_view import exact, fenced

    width = shutil.get_terminal_size().columns
    for each in wanted[:_MOST]:
        of = f" of {each.of}" if each.of else ""
        where = ", ".join(filter(None, (exact(each.origin), exact(each.source))))
        print(f"{each.id}{of} ({where or 'core memory'}): trust {each.was} → {each.now}")
        if hidden := _hidden(each.text):
            print(f"  {hidden:,} characters in it that cannot be seen are named below")
        rows = fenced(each.text, width)
        for row in rows[:_ROWS]:
            print(row)
        if len(rows) > _ROWS:
            print(f"  … {len(rows) - _ROWS:,} more lines are not shown here …")
    if len(wanted) > _MOST:
        rest = wanted[_MOST:]
        hidden = sum(bool(_hidden(each.text)) for each in rest)
        also = f", {hidden:,} with characters that cannot be seen" if hidden else ""
        print(f"… and {len(rest):,} more, from {rest[0].id} to {rest[-1].id}{also}")


def told(changed: "Sequence[Trusted]", wanted: "Sequence[Trusted]") -> None:
    """What was done."""
    asked = {each.id for each in wanted}
    own = [each for each in changed if each.id in asked]
    verb = "trusted" if own and own[0].now > own[0].was else "not trusted any more"
    print(f"{', '.join(each.id for each in own[:8])}{', …' if len(own) > 8 else ''}: {verb}")
    if resting := [each for each in changed if each.id not in asked]:
        named = ", ".join(each.id for each in resting[:8])
        print(f"nor what rests on it: {named}{', …' if len(resting) > 8 else ''}")


def _hidden(text: str) -> int:
    """How many characters of a text are not seen as they are."""
    from pagemind.runtime.cli.consent_view import exact

    return sum(exact(letter) != letter for letter in text if letter not in "\n\t")


def _many(number: int) -> str:
    return "it is" if number == 1 else f"all {number:,} are"
