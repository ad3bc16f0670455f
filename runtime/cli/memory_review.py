"""`pagemind memory review`: what waits for a person, one by one or by id: records in quarantine and
planned changes of memory.

Each is shown as what goes and what comes, with what it came from; every character is seen, hidden
ones by their names. Floods of nearly the same are folded.
"""

import re
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder, Wait

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pagemind.runtime.quarantine import Kept
    from pagemind.runtime.reviewing import Reviewing, Seen

    Item = Seen | Kept

_DONE = {"approve": "made", "reject": "rejected", "reword": "reworded", "retry": "to be tried anew"}
_DONE |= {"undo": "undone"}
_EXCERPT = 100  # characters of a message that something came from


def review(
    agent: AgentName,
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="Records, changes: a7 c3.", show_default=False),
    ] = None,
    approve: Annotated[bool, typer.Option("--approve", help="Let these in, make these.")] = False,
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
    source: Annotated[
        str,
        typer.Option(
            "--source",
            metavar="SOURCE",
            help="Only what came from a message, function, address, document or agent.",
            show_default=False,
        ),
    ] = "",
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Look at what waits for a person, and decide on it: records that an agent wrote while text
    from outside was in view, and changes that its worker plans.

    Without ids: what waits, one after another in a terminal.
    """
    from pagemind.runtime.cli.render import listing
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.errors import UserError
    from pagemind.runtime.reviewing import WAITING, Reviewing, states_of

    named = [id for each in ids or () for id in re.split(r"[\s,]+", each) if id]
    verbs = {"approve": approve, "reject": reject, "reword": reword is not None}
    chosen = [name for name, on in {**verbs, "retry": retry, "undo": undo}.items() if on]
    if len(chosen) > 1 or (chosen and not named) or (reword is not None and len(named) != 1):
        raise UserError(
            "say one thing of what is named: --approve, --reject, --reword TEXT (of one), --retry"
            " or --undo",
            hint=f"`pagemind memory review {agent}` lists what waits",
        )
    states = states_of(state) if state else WAITING
    if not chosen and (as_json or named or state or not sys.stdin.isatty()):
        with opened(home) as runtime, runtime.reader(agent) as reader:
            looking = Reviewing(reader.state, _nobody)
            found = (
                [looking.shown(each) for each in named]
                if named
                else looking.list(states, source=source)
            )
        if as_json:
            listing([each.as_json() for each in found])
        else:
            _show_all(found, folded=not named)
        return 0
    with opened(home) as runtime, runtime.writer(agent, wait=wait) as writer:
        deciding = Reviewing(writer.state, writer.editor)
        if not chosen:
            code = one_by_one(deciding, source, _typed)
        else:
            code, done = _decide_all(deciding, chosen[0], named, reword or "", quiet=as_json)
        writer.changed()
    if chosen and as_json:
        listing([each.as_json() for each in done])
    return code


def _nobody() -> Any:
    raise AssertionError("a reader writes nothing")


def _decide_all(
    deciding: "Reviewing", verb: str, ids: "Sequence[str]", text: str, *, quiet: bool
) -> "tuple[int, list[Item]]":
    """Of several, one that cannot be decided keeps none of the others from it."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.errors import PagemindError

    done, failed = list["Item"](), 0
    for each in ids:
        try:
            made = _decide(deciding, verb, each, text)
        except PagemindError as error:
            if len(ids) == 1:
                raise
            say(f"{each}: {error.message}")
            failed += 1
            continue
        done.append(made)
        if not quiet:
            say(f"{made.id} is {_done(verb, made)}")
    return int(bool(failed)), done


def _done(verb: str, item: "Item") -> str:
    return "approved" if verb == "approve" and item.id.startswith("a") else _DONE[verb]


def _decide(deciding: "Reviewing", verb: str, id: str, text: str) -> "Item":
    if verb == "reword":
        return deciding.reword(id, text)
    does: dict[str, Callable[[str], Item]] = {
        "approve": deciding.approve,
        "reject": deciding.reject,
        "retry": deciding.retry,
        "undo": deciding.undo,
    }
    return does[verb](id)


def _show_all(found: "Sequence[Item]", *, folded: bool = True) -> None:
    from pagemind.runtime.cli.failure import say

    for each, others in _folded(found) if folded else [(each, []) for each in found]:
        print_item(each)
        if others:
            print(f"  … and {len(others):,} nearly the same: {' '.join(others)}")
        print()
    if not found:
        say("nothing waits for review")


def _folded(found: "Sequence[Item]") -> "list[tuple[Item, list[str]]]":
    """Each with the ids of the rest of its flood, which is not listed for itself."""
    rest: dict[str, list[str]] = {}
    heads: list[Item] = []
    for each in found:
        burst = getattr(each, "burst", "")
        if burst in rest:
            rest[burst].append(each.id)
            continue
        heads.append(each)
        if burst:
            rest[burst] = []
    return [(each, rest.get(getattr(each, "burst", ""), [])) for each in heads]


def _typed(question: str) -> str:
    return str(typer.prompt(question, default="s", err=True))


def one_by_one(deciding: "Reviewing", source: str, ask: "Callable[[str], str]") -> int:
    """Ask about each that waits; what is skipped, or nobody answers for, waits on."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.errors import PagemindError

    waiting = _folded(deciding.list(source=source))
    if not waiting:
        say("nothing waits for review")
    for number, (each, others) in enumerate(waiting, 1):
        print_item(each)
        if others:
            print(f"  … and {len(others):,} nearly the same: {' '.join(others)}")
        dead = each.state == "dead"
        keys = "t = try anew, r = reject" if dead else "a = approve, r = reject, w = other words"
        keys += ", f = reject the whole flood" if others else ""
        while True:
            answer = ask(f"{number} of {len(waiting)}: {keys}, s = skip, q = quit").strip() or "s"
            verb = {"a": "approve", "r": "reject", "w": "reword", "t": "retry"}.get(answer)
            if answer in ("q", "s"):
                break
            if answer == "f" and others:
                _decide_all(deciding, "reject", [each.id, *others], "", quiet=False)
                break
            if verb is None or (verb == "retry") != (dead and verb != "reject"):
                say(f"{answer!r} is none of these")
                continue
            try:
                text = ask("in these words") if verb == "reword" else ""
                done = _decide(deciding, verb, each.id, text)
                if verb == "reword":
                    verb, done = "approve", deciding.approve(each.id)
            except PagemindError as error:
                say(error.message)
                continue
            say(f"{done.id} is {_done(verb, done)}")
            break
        if answer == "q":
            break
    return 0


def print_item(item: "Item") -> None:
    """What goes and what comes, why, and what it rests on."""
    from pagemind.runtime.cli.consent_view import exact
    from pagemind.runtime.cli.render import console, local

    body = item.as_json()
    record = item.id.startswith("a")
    out = console()
    target = f" {body['target']}" if body["target"] else ""
    what = f"{body['job']}: {body['op'] or 'not decided'}{target}"
    if record:
        what = f"{body['kind']}, {'waits' if item.state == 'pending' else item.state}"
    out.print(f"{item.id}  {what}", style="bold", end="", markup=False, highlight=False)
    at = _time(body["at"])
    about = f"  {'' if record else f'{item.state}, '}{local(at) if at else ''}"
    about += f", trust {body['trust']}"
    out.print(about, style="dim", markup=False, highlight=False)
    for sign, text, style in (("-", body["before"], "red"), ("+", body["after"], "green")):
        for line in text.split("\n") if text else ():
            out.print(f"{sign} {exact(line)}", style=style, markup=False, highlight=False)
    for name, text in (("why", body["why"]), ("error", body["error"])):
        if text:
            out.print(f"  {name}: {exact(text)}", markup=False, highlight=False)
    told = {each["id"] for each in body["messages"]}
    if rest := [each for each in item.sources if each not in told]:
        out.print(f"  from: {', '.join(rest)}", markup=False, highlight=False)
    for each in body["messages"]:
        text = " ".join(each["text"].split())
        cut = f"{text[:_EXCERPT]}…" if len(text) > _EXCERPT else text
        said = f"  from {each['id']} ({exact(each['source'])}): {exact(cut)}"
        out.print(said, style="dim", markup=False, highlight=False)
    if len(body["told_by"]) > 1 and body["like"]:
        by = ", ".join(map(exact, body["told_by"]))
        out.print(f"  said by {len(body['told_by'])} sources: {by}", markup=False, highlight=False)


def _time(written: str | None) -> "Any":
    from pagemind.runtime.clock import parse_rfc3339

    return parse_rfc3339(written) if written else None
