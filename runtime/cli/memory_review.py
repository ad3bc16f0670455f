"""`pagemind memory review`: changes of memory that wait for a person, one by one or by id.

Each is shown as what goes and what comes; every character is seen, hidden ones by their names.
"""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder, Wait

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pagemind.runtime.reviewing import Reviewing, Seen

_DONE = {"approve": "made", "reject": "rejected", "reword": "reworded", "retry": "to be tried anew"}
_DONE |= {"undo": "undone"}


def review(
    agent: AgentName,
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[CHANGE]...", help="Changes: c3 c7.", show_default=False),
    ] = None,
    approve: Annotated[bool, typer.Option("--approve", help="Make these.")] = False,
    reject: Annotated[bool, typer.Option("--reject", help="Never make these.")] = False,
    reword: Annotated[
        str | None,
        typer.Option("--reword", metavar="TEXT", help="Keep this one in other words."),
    ] = None,
    retry: Annotated[
        bool, typer.Option("--retry", help="Try these anew that were put aside.")
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take these back that were made.")] = False,
    state: Annotated[
        list[str] | None,
        typer.Option("--state", metavar="STATE", help="pending, dead, applied …; repeatable."),
    ] = None,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Look at the changes that an agent's worker plans, and decide on them.

    Without ids: what waits, one after another in a terminal.
    """
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import listing
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.errors import UserError
    from pagemind.runtime.reviewing import WAITING, Reviewing, states_of

    verbs = {"approve": approve, "reject": reject, "reword": reword is not None}
    chosen = [name for name, on in {**verbs, "retry": retry, "undo": undo}.items() if on]
    if len(chosen) > 1 or (chosen and not ids) or (reword is not None and len(ids or ()) != 1):
        raise UserError(
            "say one thing of changes that are named: --approve, --reject, --reword TEXT (of one),"
            " --retry or --undo",
            hint=f"`pagemind memory review {agent}` lists what waits",
        )
    states = states_of(state) if state else WAITING
    if not chosen and (as_json or ids or state or not sys.stdin.isatty()):
        with opened(home) as runtime, runtime.reader(agent) as reader:
            looking = Reviewing(reader.state, _nobody)
            found = (
                [looking.seen(looking.find(each)) for each in ids] if ids else looking.list(states)
            )
        if as_json:
            listing([each.as_json() for each in found])
        else:
            _show_all(found)
        return 0
    with opened(home) as runtime, runtime.writer(agent, wait=wait) as writer:
        deciding = Reviewing(writer.state, writer.editor)
        if not chosen:
            return _one_by_one(deciding)
        done = [_decide(deciding, chosen[0], each, reword or "") for each in ids or ()]
    if as_json:
        listing([each.as_json() for each in done])
    else:
        for each in done:
            say(f"{each.change.short_id} is {_DONE[chosen[0]]}")
    return 0


def _nobody() -> Any:
    raise AssertionError("a reader writes nothing")


def _decide(deciding: "Reviewing", verb: str, id: str, text: str) -> "Seen":
    if verb == "reword":
        return deciding.reword(id, text)
    does: dict[str, Callable[[str], Seen]] = {
        "approve": deciding.approve,
        "reject": deciding.reject,
        "retry": deciding.retry,
        "undo": deciding.undo,
    }
    return does[verb](id)


def _show_all(found: "Sequence[Seen]") -> None:
    from pagemind.runtime.cli.failure import say

    for each in found:
        print_change(each)
        print()
    if not found:
        say("nothing waits for review")


def _one_by_one(deciding: "Reviewing") -> int:
    """Ask about each that waits; what is skipped waits on."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.errors import PagemindError

    waiting = deciding.list()
    if not waiting:
        say("nothing waits for review")
    for number, each in enumerate(waiting, 1):
        print_change(each)
        dead = each.change.state == "dead"
        keys = "t = try anew, r = reject" if dead else "a = approve, r = reject, w = other words"
        while True:
            answer = typer.prompt(
                f"{number} of {len(waiting)}: {keys}, s = skip, q = quit", default="s", err=True
            )
            verb = {"a": "approve", "r": "reject", "w": "reword", "t": "retry"}.get(answer.strip())
            if answer.strip() in ("q", "s"):
                break
            if verb is None or (verb == "retry") != (dead and verb != "reject"):
                say(f"{answer!r} is none of these")
                continue
            try:
                text = typer.prompt("in these words", err=True) if verb == "reword" else ""
                done = _decide(deciding, verb, each.change.short_id, text)
                if verb == "reword":
                    done = deciding.approve(each.change.short_id)
            except PagemindError as error:
                say(error.message)
                continue
            say(f"{done.change.short_id} is {done.change.state}")
            break
        if answer.strip() == "q":
            break
    return 0


def print_change(seen: "Seen") -> None:
    """What goes and what comes, why, and what it rests on."""
    from pagemind.runtime.cli.consent_view import exact
    from pagemind.runtime.cli.render import console, local

    change = seen.change
    out = console()
    target = f" {change.target}" if change.target else ""
    what = f"{change.short_id}  {change.job}: {change.op or 'not decided'}{target}"
    out.print(what, style="bold", end="", markup=False, highlight=False)
    about = f"  {change.state}, {local(change.at)}, trust {change.trust}"
    out.print(about, style="dim", markup=False, highlight=False)
    for sign, text, style in (("-", seen.before, "red"), ("+", seen.after, "green")):
        for line in text.splitlines():
            out.print(f"{sign} {exact(line)}", style=style, markup=False, highlight=False)
    for name, text in (("why", change.why), ("error", change.error)):
        if text:
            out.print(f"  {name}: {exact(text)}", markup=False, highlight=False)
    if change.sources:
        out.print(f"  from: {', '.join(change.sources)}", markup=False, highlight=False)
