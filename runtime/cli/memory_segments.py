"""`pagemind memory segments`: the topics that an agent's pages are about, the warmest first."""

from typing import Annotated

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder

_PAGES = 6  # of a topic that are named


def segments(
    agent: AgentName,
    everything: Annotated[
        bool, typer.Option("--all", help="Those too that have gone cold and left the view.")
    ] = False,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Show the topics that pages were put together by, as the sleep-time worker keeps them."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import listing, local, one_line, table
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.clock import parse_rfc3339
    from pagemind.runtime.memory_answers import segments_json

    with opened(home) as runtime, runtime.reader(agent) as reader:
        found = segments_json(reader.state, reader.state.clock.now(), hidden=everything)
        if as_json:
            listing(found)
            return
        if not found:
            say(
                "no topics yet: pages are put together by `pagemind memory sleep"
                f" {reader.name}`, and by the worker where the definition says `sleep:`"
            )
            return
        table(
            ["topic", "pages", "heat", "visits", "last visit", "which", "about"],
            [
                [
                    f"{each['id']}{' (cold)' if each['hidden'] else ''}",
                    len(each["pages"]),
                    f"{each['heat']:.1f}",
                    each["visits"],
                    local(parse_rfc3339(each["last_visit"])),
                    _some(each["pages"]),
                    one_line(each["gist"]),
                ]
                for each in found
            ],
            right="pages heat visits",
            spare="visits which",
        )


def _some(pages: list[str]) -> str:
    return " ".join(pages[:_PAGES]) + (" …" if len(pages) > _PAGES else "")
