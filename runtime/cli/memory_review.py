"""`pagemind memory review`: what waits for a person, one by one or by id: records in quarantine and
planned changes of memory. `/review` and `archives review` are the same.
"""

import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder, Wait
from pagemind.runtime.cli.review_view import folded_of, print_item, show_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pagemind.runtime.quarantine import Kept
    from pagemind.runtime.reviewing import Reviewing, Seen
    from pagemind.runtime.tiers_reader import TiersReader
    from pagemind.runtime.tiers_writer import TiersWriter

    Item = Seen | Kept

_DONE = {"approve": "made", "reject": "rejected", "reword": "reworded", "retry": "to be tried anew"}
_DONE |= {"undo": "undone"}


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
    from pagemind.runtime.cli.session import opened

    asked = Asked(
        tuple(id for each in ids or () for id in re.split(r"[\s,]+", each) if id),
        approve,
        reject,
        reword,
        retry,
        undo,
        tuple(state or ()),
        source,
    )
    with opened(home) as runtime:
        return answered(
            asked,
            lambda: runtime.reader(agent),
            lambda: runtime.writer(agent, wait=wait),
            as_json=as_json,
        )


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person asks for, of an agent or an archive."""

    ids: tuple[str, ...] = ()
    approve: bool = False
    reject: bool = False
    reword: str | None = None
    retry: bool = False
    undo: bool = False
    states: tuple[str, ...] = ()
    source: str = ""

    @property
    def verb(self) -> str:
        """ "" for a look. Raises UserError for more than one, and for none that it is said of."""
        from pagemind.runtime.errors import UserError

        said = {
            "approve": self.approve,
            "reject": self.reject,
            "reword": self.reword is not None,
            "retry": self.retry,
            "undo": self.undo,
        }
        chosen = [name for name, on in said.items() if on]
        if (
            len(chosen) > 1
            or (chosen and not self.ids)
            or (self.reword is not None and len(self.ids) != 1)
        ):
            raise UserError(
                "say one thing of what is named: --approve, --reject, --reword TEXT (of one),"
                " --retry or --undo",
                hint="without any of these, `review` lists what waits",
            )
        return chosen[0] if chosen else ""


def answered(
    asked: Asked,
    read: "Callable[[], TiersReader]",
    write: "Callable[[], TiersWriter]",
    *,
    as_json: bool,
) -> int:
    """Show what is asked for, or decide on it."""
    from pagemind.runtime.cli.render import listing
    from pagemind.runtime.reviewing import WAITING, Reviewing, states_of

    verb = asked.verb
    states = states_of(asked.states) if asked.states else WAITING
    if not verb and (as_json or asked.ids or asked.states or not sys.stdin.isatty()):
        with read() as reader:
            looking = Reviewing(reader.state, _nobody)
            found = (
                [looking.shown(each) for each in asked.ids]
                if asked.ids
                else looking.list(states, source=asked.source)
            )
        if as_json:
            listing([each.as_json() for each in found])
        else:
            show_all(found, folded=not asked.ids)
        return 0
    with write() as writer:
        deciding = Reviewing(writer.state, getattr(writer, "editor", _nobody))
        if verb:
            code, done = _decide_all(deciding, verb, asked.ids, asked.reword or "", quiet=as_json)
        else:
            code, done = one_by_one(deciding, asked.source, _typed), []
        writer.changed()
    if verb and as_json:
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


def _typed(question: str) -> str:
    return str(typer.prompt(question, default="s", err=True))


def one_by_one(deciding: "Reviewing", source: str, ask: "Callable[[str], str]") -> int:
    """Ask about each that waits; what is skipped, or nobody answers for, waits on."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.errors import PagemindError

    waiting = folded_of(deciding.list(source=source))
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
