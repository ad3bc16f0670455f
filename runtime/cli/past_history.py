"""`pagemind agents history`: what was said, turn by turn, with flushes and rewinds."""

from typing import TYPE_CHECKING, Annotated

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder, Last

if TYPE_CHECKING:
    from datetime import tzinfo

    from pagemind.runtime.past_turns import PastEvent, PastTurn, PastTurns

_SHOWN = 20  # turns of a history, where nobody says how many


def history(
    agent: AgentName,
    last: Last = None,
    before: Annotated[
        str,
        typer.Option(
            "--before",
            metavar="SEQ|TIME",
            help="Only turns that began before that: m45, 2026-05-08, yesterday.",
            show_default=False,
        ),
    ] = "",
    every: Annotated[
        bool, typer.Option("--all", help="Also turns that were taken back; all of them.")
    ] = False,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Read what was said to an agent and what it answered, the oldest first; a page of 20 turns."""
    from pagemind.runtime.cli.render import listing
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.past import Past

    with opened(home) as runtime, runtime.reader(agent) as reader:
        shown = last or (None if as_json or every else _SHOWN)
        found = Past(reader, runtime.counter).turns(
            last=shown, before=before or None, every_line=every
        )
        zone = reader.zone
    if as_json:
        events = [event.as_json() for event in found.events]
        listing([turn.as_json() for turn in found.turns], found.total, events=events)
        return
    print_history(agent, found, zone)


def print_history(agent: str, found: "PastTurns", zone: "tzinfo") -> None:
    """Turns and what happened between them, under their days."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.past_turns import PastTurn

    if not found.turns:
        say(f"nothing was said to {agent} {'before that' if found.total else 'yet'}")
        return
    rows: list[PastTurn | PastEvent] = [*found.turns, *found.events]
    newest = found.turns[-1]
    widths = len(str(newest.turn)), len(f"m{newest.seq}")
    begun = ""
    for row in sorted(rows, key=lambda each: (each.seq, not isinstance(each, PastTurn))):
        day = f"{row.at.astimezone(zone):%a %Y-%m-%d}"
        if day != begun:
            _heading(day, first=not begun)
            begun = day
        if isinstance(row, PastTurn):
            _turn(agent, row, f"{row.at.astimezone(zone):%H:%M}", widths)
        else:
            _event(agent, row, sum(widths) + 13)
    if found.earlier:
        command = f"pagemind agents history {agent} --before m{found.turns[0].seq}"
        say(f"{found.earlier:,} earlier: {command}")


def _heading(day: str, *, first: bool) -> None:
    from pagemind.runtime.cli.render import console

    out = console()
    if not first:
        out.print()
    out.print(day, style="bold")


def _turn(agent: str, turn: "PastTurn", at: str, widths: tuple[int, int]) -> None:
    """What was said on one line, what came of it on the next."""
    from rich.text import Text

    from pagemind.runtime.cli.render import console, one_line

    out = console()
    style = "dim strike" if turn.taken_back else ""
    head = f"  {turn.turn:>{widths[0]}}  {f'm{turn.seq}':<{widths[1]}}  {at}  "
    said = one_line(f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text)
    out.print(Text.assemble((head, "dim"), (_cut(said, out.width - len(head)), style)))
    end = "" if turn.stop_reason == "answered" else f"[{turn.stop_reason or 'open'}] "
    if turn.reply or end:
        reply = _cut(one_line(f"{agent}: {turn.reply}"), out.width - len(head) - len(end))
        out.print(Text.assemble(" " * len(head), (end, "yellow"), (reply, style or "dim")))


def _event(agent: str, event: "PastEvent", indent: int) -> None:
    from rich.text import Text

    from pagemind.runtime.cli.render import console

    span = f"m{event.first_seq} to m{event.last_seq}"
    if event.kind == "flush":
        pages = event.pages[0] if len(event.pages) == 1 else f"{event.pages[0]}–{event.pages[-1]}"
        said = f"flush: {span} left the window for {pages}"
    elif event.kind == "bring back":
        said = f"bring back: on from where another line was left (line {event.line} ended here)"
    else:
        back = f"pagemind agents bring-back {agent} {event.line}"
        said = f"{event.kind}: {span} were taken back ({back})"
    console().print(Text(f"{' ' * indent}— {said}", "cyan"), soft_wrap=True)


def _cut(line: str, width: int) -> str:
    from rich.cells import cell_len, set_cell_size

    width = max(20, width)
    return line if cell_len(line) <= width else set_cell_size(line, width - 1) + "…"
