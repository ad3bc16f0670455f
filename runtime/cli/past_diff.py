"""`pagemind agents diff`: what changed in an agent's memory between two moments."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder

if TYPE_CHECKING:
    from pagemind.runtime.memory_diff import MemoryDiff, PassageSeen, TextChange

_MOST = 20  # passages or pages of a kind; --json has all
_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def diff(
    agent: AgentName,
    a: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help="From when: m45, s12 (a step), 2026-05-08, yesterday.",
            show_default=False,
        ),
    ],
    b: Annotated[str, typer.Argument(metavar="B", help="Until when.")] = "now",
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Show what changed in an agent's memory from one moment to a later one."""
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.past import Past

    with opened(home) as runtime, runtime.reader(agent) as reader:
        found = Past(reader, runtime.counter).changes(a, b)
    if as_json:
        answer({"agent": agent, **found.as_json()})
        return
    print_diff(agent, found)


def print_diff(agent: str, found: "MemoryDiff") -> None:
    """What changed, kind by kind."""
    from rich.text import Text

    from pagemind.runtime.cli.render import console, one_line, plural

    out = console()
    b = found.b.written if not found.b.now else f"now (m{found.b.seq})"
    out.print(
        Text.assemble(
            (f"{agent} from {found.a.written} to {b}", "bold"),
            f" · {plural(found.messages, 'message')} in {plural(found.turns, 'turn')}",
        ),
        soft_wrap=True,
    )
    if not found:
        out.print("nothing changed in memory")
        return
    for change in found.blocks:
        _section(f"block {change.id}")
        _lines(change)
    if found.added or found.edited or found.retired:
        counted = [
            f"{len(some):,} {word}"
            for word, some in (
                ("added", found.added),
                ("edited", found.edited),
                ("retired", found.retired),
            )
            if some
        ]
        _section(f"passages: {', '.join(counted)}")
        _passages("+", found.added)
        for old, new in found.edited[:_MOST]:
            _passages("-", [old])
            _passages("+", [new])
        _rest(len(found.edited))
        _passages("-", found.retired)
    if found.pages or found.hidden:
        hidden = f", {found.hidden:,} hidden by a rewind" if found.hidden else ""
        _section(f"pages: {len(found.pages):,} written{hidden}")
        for page in found.pages[:_MOST]:
            span = f"m{page.first_seq} to m{page.last_seq}"
            out.print(
                Text(f"+ {page.short_id} ({span}) {one_line(page.gist)}", "green"), soft_wrap=True
            )
        _rest(len(found.pages))
    if found.pinned or found.unpinned:
        _section("pins")
        out.print(Text(" ".join(f"+{target}" for target in found.pinned), "green"), end="")
        gap = "  " if found.pinned and found.unpinned else ""
        out.print(Text(gap + " ".join(f"-{target}" for target in found.unpinned), "red"))
    if found.summary is not None:
        _section("summary")
        _lines(found.summary)


def _section(title: str) -> None:
    from rich.text import Text

    from pagemind.runtime.cli.render import console

    out = console()
    out.print()
    out.print(Text(title, "bold"), soft_wrap=True)


def _lines(change: "TextChange") -> None:
    """Without the names of files: the title says what it is."""
    lines: Sequence[str] = change.unified()
    _coloured(line for line in lines if not line.startswith(("--- ", "+++ ")))


def _rest(count: int) -> None:
    """How many were not shown."""
    if count > _MOST:
        _coloured([f"… {count - _MOST:,} more (--json has all)"])


def _passages(sign: str, passages: "Sequence[PassageSeen]") -> None:
    from pagemind.runtime.cli.render import one_line

    for each in passages[:_MOST]:
        tags = f" [{', '.join(each.tags)}]" if each.tags else ""
        _coloured([f"{sign} {each.id}{tags} {one_line(each.text)}"])
    _rest(len(passages))


def _coloured(lines: "Iterable[str]") -> None:
    from rich.text import Text

    from pagemind.runtime.cli.render import console, visible

    out = console()
    for line in lines:
        out.print(Text(visible(line), _STYLES.get(line[:1], "")), soft_wrap=True)
