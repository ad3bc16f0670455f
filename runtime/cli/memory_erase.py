"""`pagemind memory erase`: remove for good what an agent remembers, and prove it."""

import re
from typing import TYPE_CHECKING, Annotated

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, DryRun, HomeFolder, Wait, Yes

if TYPE_CHECKING:
    from datetime import datetime

    from pagemind.runtime.erasure.wanted import Wanted


def erase(
    agent: AgentName,
    id: Annotated[
        list[str] | None,
        typer.Option(
            "--id", metavar="ID", help="m42 a message, a7 a record, p17 a page, t12 a turn."
        ),
    ] = None,
    query: Annotated[
        str,
        typer.Option("--query", "-q", metavar="WORDS", help="All that has these words."),
    ] = "",
    subject: Annotated[
        str,
        typer.Option("--subject", metavar="NAME", help="All that was said by or about somebody."),
    ] = "",
    source: Annotated[
        str,
        typer.Option(
            "--source", metavar="SOURCE", help="All that came from a file, address or function."
        ),
    ] = "",
    before: Annotated[
        str, typer.Option("--before", metavar="TIME", help="All from before then: 90d, 2026-05.")
    ] = "",
    everything: Annotated[
        bool, typer.Option("--all", help="The whole agent, with its folder.")
    ] = False,
    evergreen: Annotated[
        bool, typer.Option("--evergreen", help="With --before: what is evergreen, too.")
    ] = False,
    keep_files: Annotated[
        bool, typer.Option("--keep-files", help="Leave exports and other files made for you.")
    ] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Remove messages, records and all that was made of them for good; a receipt says what is
    proved.

    It is shown first what would go. Nothing brings it back: `memory forget` hides what may be
    wanted again.
    """
    from pagemind.runtime.cli import erase_view
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.cli.session import opened

    with opened(home) as runtime:
        now = runtime.clock.now().astimezone()
        asked = _Asked(id, query, subject, source, before, everything, evergreen)
        if not asked.nothing:
            asked.wanted(now)  # what is no wish is said before an agent is held for it
        with runtime.erasing(agent, wait=wait, at_step=erase_view.told) as erasing:
            name = erasing.agent.name
            for receipt in erasing.resumed:
                say(f"an erasure that was cut off is finished: {receipt.path}")
            if asked.nothing and erasing.resumed:
                return erase_view.tell(erasing.resumed[-1], as_json=as_json)
            preview = erasing.preview(asked.wanted(now))
            if preview.nothing:
                erasing.erase(preview)  # raises what says so
            if not as_json:
                erase_view.show(name, preview, keep_files=keep_files)
            if dry_run:
                if as_json:
                    answer({"agent": name, "dry_run": True, **preview.as_json()})
                return 0
            if not erase_view.agreed(name, preview, yes=yes):
                say("nothing was erased")
                return 1
            receipt = erasing.erase(preview, keep_files=keep_files)
    return erase_view.tell(receipt, as_json=as_json)


class _Asked:
    """The options as they were written."""

    def __init__(
        self,
        ids: list[str] | None,
        query: str,
        subject: str,
        source: str,
        before: str,
        everything: bool,
        evergreen: bool,
    ) -> None:
        self._ids = [word for each in ids or () for word in re.split(r"[\s,]+", each) if word]
        self._query = query
        self._subject = subject
        self._source = source
        self._before = before
        self._everything = everything
        self._evergreen = evergreen

    @property
    def nothing(self) -> bool:
        said = (self._ids, self._query, self._subject, self._source, self._before)
        return not (any(said) or self._everything)

    def wanted(self, now: "datetime") -> "Wanted":
        """Raises UserError."""
        from pagemind.runtime.erasure.wanted import wanted

        return wanted(
            ids=self._ids,
            query=self._query,
            subject=self._subject,
            source=self._source,
            everything=self._everything,
            before=before_of(self._before, now) if self._before else None,
            evergreen=self._evergreen,
        )


def before_of(written: str, now: "datetime") -> "datetime":
    """`90d` ago, or the beginning of a day, month or moment. Raises UserError."""
    from pagemind.runtime.errors import UserError
    from pagemind.runtime.keeping import ttl_of
    from pagemind.runtime.when import parse_span

    if re.fullmatch(r"\s*\d+\s*[a-z]+\s*", written):
        age = ttl_of(written)
        assert age is not None
        return now - age
    try:
        return parse_span(written, now).start
    except ValueError as error:
        raise UserError(str(error), hint="or an age, like 90d") from None
