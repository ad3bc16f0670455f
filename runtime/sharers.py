"""sharers(): which agents of a home have which shared blocks in their main context."""

from collections import defaultdict
from typing import TYPE_CHECKING

from pagemind.runtime.errors import PagemindError

if TYPE_CHECKING:
    from pagemind.runtime.runtime import Runtime


def sharers(runtime: "Runtime") -> dict[str, list[str]]:
    """The names of the agents by the shared block, each in the order of the alphabet. An agent
    that cannot be read shares nothing that is known."""
    found: dict[str, list[str]] = defaultdict(list)
    for registered in sorted(runtime.home.all(), key=lambda each: each.name):
        try:
            with runtime.reader(registered.name) as reader:
                names = reader.definition.shared_blocks.values()
        except PagemindError:
            continue
        for name in names:
            found[name].append(registered.name)
    return dict(found)
