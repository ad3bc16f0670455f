"""Search results for people and programs: in parts by tokens, under their conversation and day."""

from collections.abc import Callable, Sequence
from datetime import tzinfo
from itertools import groupby
from typing import TYPE_CHECKING, Any

from pagemind.runtime.cli.failure import say
from pagemind.runtime.cli.render import answer, console, one_line, plural

if TYPE_CHECKING:
    from pagemind.runtime.search_answer import Found
    from pagemind.runtime.services import Hit

_NAMES = {"recall": "message", "archival": "passage", "pages": "page"}


def tell_found(
    found: "Found",
    part: int,
    budget: int,
    count: Callable[[str], int],
    zone: tzinfo,
    as_json: bool,
) -> None:
    """Print one part of at most `budget` tokens. Raises NotFound for a part that is not there."""
    from pagemind.runtime.search_answer import part_of

    shown = part_of(found, part, budget, count)
    if as_json:
        answer(shown.as_json())
        return
    for warning in found.warnings:
        say(warning)
    total = len(found.hits)
    matches = "no match" if not total else "1 match" if total == 1 else f"{total:,} matches"
    looked = " and ".join(plural(rows, _NAMES[tier]) for tier, rows in found.searched.items())
    of = f", part {part} of {shown.parts}" if shown.parts > 1 else ""
    print(f"{matches} among {looked}{of}")
    print_hits(shown.hits, zone)


def print_hits(hits: Sequence["Hit"], zone: tzinfo, *, most: int | None = None) -> None:
    """Messages in the order they were said, under their conversation and day; then gists of pages,
    then passages. `most` characters of each."""
    from rich.text import Text

    out = console()
    messages = sorted((h for h in hits if h.tier == "recall"), key=lambda h: (h.seq, h.part))
    for header, group in groupby(messages, key=lambda h: _day(h, zone)):
        out.print(Text(header, "dim"), soft_wrap=True)
        for hit in group:
            out.print(_message(hit, zone, most), soft_wrap=True)
    for tier, name in (("pages", "pages"), ("archival", "passages")):
        some = [h for h in hits if h.tier == tier]
        if some:
            out.print(Text(name, "dim"))
        for hit in some:
            out.print(_passage(hit, zone, most), soft_wrap=True)


def _day(hit: "Hit", zone: tzinfo) -> str:
    if hit.said_at is None:
        return f"conversation {hit.conversation}"
    return f"conversation {hit.conversation}, {hit.said_at.astimezone(zone):%A %d %B %Y}"


def _message(hit: "Hit", zone: tzinfo, most: int | None) -> Any:
    from rich.text import Text

    when = f"{hit.said_at.astimezone(zone):%H:%M} " if hit.said_at else ""
    where = hit.page or ("window" if hit.in_context else "")
    return Text.assemble(
        (f"  {hit.id:<6}", "cyan"),
        (f"{where:<8}", "dim"),
        (when, "dim"),
        (f"{hit.speaker or hit.role}: ", "bold"),
        _text(hit, most),
    )


def _passage(hit: "Hit", zone: tzinfo, most: int | None) -> Any:
    from rich.text import Text

    from pagemind.runtime.services import validity_of

    when = f"{hit.said_at.astimezone(zone):%Y-%m-%d} " if hit.said_at else ""
    tags = f"[{', '.join(hit.tags)}] " if hit.tags else ""
    true = validity_of(hit, zone)
    return Text.assemble(
        (f"  {hit.id:<6}", "cyan"),
        (when + tags, "dim"),
        _text(hit, most),
        (f" {true}" if true else "", "dim"),
    )


def _text(hit: "Hit", most: int | None) -> str:
    piece = f"({hit.part} of {hit.parts}) " if hit.parts > 1 else ""
    text = one_line(hit.text)
    return piece + (text if most is None or len(text) <= most else text[:most].rstrip() + " …")
