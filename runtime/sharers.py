"""sharers(): which agents of a home have which shared blocks in their main context; held(): a text
for one of these, by the profiles that they have of it."""

from collections import defaultdict
from typing import TYPE_CHECKING

from pagemind.runtime.errors import PagemindError
from pagemind.runtime.profile import Profile

if TYPE_CHECKING:
    from pagemind.runtime.runtime import Runtime


def held(runtime: "Runtime", block: str, before: str, text: str) -> str:
    """A person's text for a shared block, as the profiles of those who have it lay it out. Raises
    ProfileMismatch for what does not fit one of them."""
    for agent in sharers(runtime).get(block, []):
        with runtime.reader(agent) as reader:
            named, profiles = reader.definition.shared_blocks, reader.definition.profiles
        for label, profile in profiles.items():
            if named.get(label) == block:
                told = Profile(f"{block} (a profile of {agent})", profile.schema)
                text = told.rewritten(before, text, by_person=True)
    return text


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
