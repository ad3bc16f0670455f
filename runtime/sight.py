"""Sight: which passages somebody may see, which of them change, and where what is new is put.

Two things bound it: scopes (scope.py) and what is private to one owner. It narrows a search before
anything is ranked, and says of one passage whether it is there at all. The default is a person's:
all of it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pagemind.runtime.errors import ToolFailed, UserError
from pagemind.runtime.passage import Passage
from pagemind.runtime.scope import ROOT, scope_of, seen, within
from pagemind.runtime.services import SearchFilters

_OWN = ("episode", "skill")


@dataclass(frozen=True, slots=True)
class Sight:
    """`viewer` sees what is private to it, None all that is private. `readable` and `writable` are
    scopes with all below them, () every one; what may not be read may not be changed either.
    `home` is where what says nothing is put; `infers`: below it, where the like of it stands."""

    viewer: str | None = None
    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    home: str = ROOT
    infers: bool = False

    @property
    def bounded(self) -> bool:
        """Whether scopes mean anything to it."""
        return bool(self.readable or self.writable or self.infers or self.home != ROOT)

    @property
    def of_person(self) -> "Sight":
        """The same place to put things, without bounds."""
        return Sight(home=self.home, infers=self.infers)

    def of_program(self, name: str) -> "Sight":
        """The same bounds for another viewer."""
        return replace(self, viewer=name)

    def narrowed(self, filters: SearchFilters) -> SearchFilters | None:
        """These filters within what may be seen; None where nothing of that is left."""
        asked = tuple(each for each in filters.scopes if each != ROOT)
        scopes = asked if len(asked) == len(filters.scopes) else ()
        if self.readable:
            scopes = common(scopes or (ROOT,), self.readable)
            if not scopes:
                return None
        viewer = filters.viewer if self.viewer is None else self.viewer
        return replace(filters, scopes=() if ROOT in scopes else scopes, viewer=viewer)

    @property
    def own(self) -> "Sight":
        """What is the agent's own, wherever it stands: its episodes and skills have no scope."""
        return Sight(self.viewer)

    def sees(self, passage: Passage) -> bool:
        scopes = () if passage.kind in _OWN else self.readable
        return visible(passage, scopes, self.viewer)

    def changes(self, passage: Passage) -> bool:
        """Whether it may change a passage that it sees."""
        return seen(passage.facets.scope, self.writable)

    def place(self, written: str | None) -> str:
        """The scope to write to: the one that is named, `home` where none is. Raises ToolFailed
        for what is none, or may not be written to."""
        if written is None or not written.strip():
            return self.home
        try:
            scope = scope_of(written)
        except UserError as error:
            raise ToolFailed(f"{error.message}; {error.hint}") from None
        for allowed in (self.writable, self.readable):
            if not seen(scope, allowed):
                raise ToolFailed(
                    f"you cannot write to {scope}; you can to {', '.join(allowed)} and below"
                )
        return scope


EVERYTHING = Sight()


def common(some: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    """What two lists of scopes have in common: of two that lie within one another, the narrower."""
    both: dict[str, None] = {}
    several = tuple(others)
    for one in some:
        for other in several:
            if within(one, other):
                both[one] = None
            elif within(other, one):
                both[other] = None
    return tuple(both)


def visible(passage: Passage, scopes: Iterable[str], viewer: str | None) -> bool:
    """Whether a passage is in one of the scopes (none: any) and not private to somebody else."""
    owner = passage.facets.owner
    return (viewer is None or owner in ("", viewer)) and seen(passage.facets.scope, scopes)
