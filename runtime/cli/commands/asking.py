"""Commands that search: all that was said, and the passages that were kept."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from pagemind.runtime.cli.commands.command import Command, Scene

if TYPE_CHECKING:
    from pagemind.runtime.outbox import Tier

_HITS = 10
_HIT_CHARS = 240  # of a result: /page and `pagemind memory search` show all of it


def _search(tier: "Tier", noun: str) -> Callable[[Scene, str], None]:
    def search(scene: Scene, rest: str) -> None:
        from pagemind.runtime.cli.failure import say
        from pagemind.runtime.cli.hits import print_hits
        from pagemind.runtime.cli.render import plural
        from pagemind.runtime.services import SearchFilters

        found = scene.agent.engine.search(tier, rest, SearchFilters(), _HITS)
        for warning in found.warnings:
            say(warning)
        if not found.hits:
            print(f"no match among {plural(found.searched, noun)}")
        print_hits(found.hits, scene.agent.zone, most=_HIT_CHARS)

    return search


COMMANDS = (
    Command("/recall", "QUERY", "search everything that was said", _search("recall", "message")),
    Command(
        "/archival",
        "QUERY",
        "search the passages that were kept",
        _search("archival", "passage"),
    ),
)
