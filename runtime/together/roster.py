"""The roster: who is in a home, with the tags and the description that their definitions give."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pagemind.runtime.errors import PagemindError, ToolFailed, UnknownAgent
from pagemind.runtime.house import House
from pagemind.runtime.naming import folded, nearest
from pagemind.runtime.services import Member, Reach
from pagemind.runtime.state.home import Registered

ALL = "*"


@dataclass(frozen=True, slots=True)
class Listed:
    """An agent with its id."""

    id: str
    member: Member

    @property
    def name(self) -> str:
        return self.member.name


def within(runtime: House, reach: Reach, *, without: str) -> list[Listed]:
    """The agents within reach, by name; without the one of that id."""
    found = []
    for registered in runtime.home.all():
        wanted = _named(registered, reach)
        if registered.id == without or not (wanted or reach.tags):
            continue
        listed = _listed(runtime, registered)
        if listed is not None and (wanted or set(listed.member.tags) & set(reach.tags)):
            found.append(listed)
    return sorted(found, key=lambda each: folded(each.name))


def _named(registered: Registered, reach: Reach) -> bool:
    """Whether it is within reach by its name."""
    return any(name == ALL or folded(name) == folded(registered.name) for name in reach.names)


def _listed(runtime: House, registered: Registered) -> Listed | None:
    """None for one that cannot be read: nobody could talk with it."""
    try:
        with runtime.reader(registered.name) as reader:
            made = reader.definition
    except PagemindError:
        return None
    return Listed(registered.id, Member(registered.name, made.description, made.tags))


def find(runtime: House, name: str, reach: Reach, *, sender: Registered) -> Registered:
    """The agent of that name. Raises ToolFailed if it is not there or out of reach, with the
    nearest that can be reached."""
    try:
        registered = runtime.home.find(name)
    except UnknownAgent:
        registered = None
    if registered is not None and registered.id == sender.id:
        raise ToolFailed("you cannot send a message to yourself")
    if registered is not None:  # no other definition need be read
        if _named(registered, reach):
            return registered
        listed = _listed(runtime, registered) if reach.tags else None
        if listed is not None and set(listed.member.tags) & set(reach.tags):
            return registered
    others = within(runtime, reach, without=sender.id)
    names = [each.name for each in others]
    there = f"you can write to {', '.join(names)}" if names else "you can write to nobody"
    hint = nearest(name, names, otherwise=there)
    what = "no agent is called" if registered is None else "you may not write to"
    raise ToolFailed(f"{what} {name!r}; {hint}")


def tagged(others: Iterable[Listed], tags: Sequence[str]) -> list[Listed]:
    """Those with one of the tags. Raises ToolFailed if there are none."""
    everybody = list(others)
    found = [each for each in everybody if set(each.member.tags) & set(tags)]
    if not found:
        known = sorted({tag for each in everybody for tag in each.member.tags})
        there = f"there are {', '.join(known)}" if known else "nobody has a tag"
        raise ToolFailed(f"no agent has the tag {' or '.join(tags) or '(none given)'}; {there}")
    return found
