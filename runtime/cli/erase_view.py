"""How an erasure is shown: what would go, the question, the steps, the receipt. For the command
line and the chat."""

import sys
from typing import TYPE_CHECKING

from pagemind.runtime.settings import ERASE_PREVIEW_LINES

if TYPE_CHECKING:
    from pagemind.runtime.erasure.erasing import Preview
    from pagemind.runtime.erasure.plan import Counts
    from pagemind.runtime.erasure.receipt import Receipt

_MOST = 0.5  # of all there is: then it is asked more plainly
_STEPS = {
    "scrub": "erasing from the agent's memory",
    "outside": "erasing beside it",
    "purge": "making its files anew",
    "verify": "reading all that is left",
}


def told(step: str) -> None:
    """Where an erasure is, for who watches."""
    from pagemind.runtime.cli.failure import say

    if sys.stderr.isatty() and step in _STEPS:
        say(f"{_STEPS[step]} …")


def show(name: str, preview: "Preview", *, keep_files: bool) -> None:
    """What would go, counted by kind, and the beginning of it as text."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import one_line, table

    whole = "everything" if preview.prepared.plan.everything else counted(preview.counts)
    print(f"would go from {name}: {whole}")
    for what, number in preview.beside.items():
        stays = keep_files and what == "files"
        print(f"  {'stay' if stays else 'and'}: {_so_many(number, what)}")
    if not keep_files:
        for path in preview.files[:ERASE_PREVIEW_LINES]:
            print(f"    {path}")
    if preview.items:
        shown = preview.items[:ERASE_PREVIEW_LINES]
        table(
            ["id", "what", "text"],
            [[each.id, each.what, one_line(each.text)] for each in shown],
            spare="what",
        )
        if (more := len(preview.items) - len(shown)) > 0:
            say(f"and {more:,} more")


def _so_many(number: int, what: str) -> str:
    """`1 file`, `2 events that wait`."""
    noun, space, rest = what.partition(" ")
    one = {"entries": "entry"}.get(noun, noun.removesuffix("s"))
    rest = rest.replace("that wait", "that waits") if number == 1 else rest
    return f"{number:,} {one if number == 1 else noun}{space}{rest}"


def counted(counts: "Counts") -> str:
    """In words; what is nought is left out."""
    from pagemind.runtime.cli.render import plural

    gone = [
        plural(number, noun)
        for number, noun in (
            (counts.messages, "message"),
            (counts.passages, "passage"),
            (counts.records, "record"),
        )
        if number
    ]
    anew = [plural(counts.pages, "page")] if counts.pages else []
    if counts.derived:
        anew.append(plural(counts.derived, "derived text"))
    said = ", ".join(gone) or "no message"
    return f"{said}; made anew or gone with it: {', '.join(anew)}" if anew else said


def agreed(name: str, preview: "Preview", *, yes: bool) -> bool:
    """Whether the person wants it. Raises UserError where nobody can be asked."""
    from pagemind.runtime.cli.session import confirmed

    if not confirmed(question_of(name, preview), yes=yes, doing="erasing"):
        return False
    if yes or not is_most(preview):
        return True
    import typer

    return bool(
        typer.prompt(f"type {name} to be sure", err=True, default="", show_default=False).strip()
        == name
    )


def is_most(preview: "Preview") -> bool:
    """Whether it is so much that a person is asked twice."""
    return preview.prepared.plan.everything or preview.share >= _MOST


def question_of(name: str, preview: "Preview") -> str:
    if not is_most(preview):
        return "nothing brings it back. Erase this for good?"
    whole = preview.prepared.plan.everything or preview.share == 1
    much = "ALL" if whole else f"{preview.share:.0%}"
    return f"this is {much} of what {name} remembers. Erase it for good?"


def tell(receipt: "Receipt", *, as_json: bool) -> int:
    """The receipt; the exit code."""
    from pagemind.runtime.cli.failure import say, say_error
    from pagemind.runtime.cli.render import answer, size

    body = receipt.as_json()
    del body["receipt_format"]
    if as_json:
        answer({**body, "receipt": str(receipt.path)})
        return 0 if receipt.verified else 1
    print(f"erased from {receipt.agent}: {counted(receipt.erased)}")
    for what, number in receipt.beside.items():
        print(f"  and {_so_many(number, what)}")
    looked = receipt.looked
    read = f"{looked['files']:,} files, {looked['rows']:,} rows, {size(looked['bytes'])}"
    if receipt.verified:
        print(f"verified: nothing of it is left in the home ({read} were read)")
    print(f"receipt: {receipt.path}")
    for hold in receipt.holds:
        say(f"removed, for it kept old versions: {hold}")
    say("what nobody can verify:")
    for each in receipt.unverifiable:
        say(f"  {each}")
    if not receipt.verified:
        places = "; ".join(receipt.found[:5])
        hint = "files that pagemind did not write are yours to remove; the receipt has all places"
        say_error(f"something is left: {places}", hint)
        return 1
    return 0
