"""What a record that is made of others has from them: the least trust, the narrowest sight. Pure.

What is private to one owner never meets what is private to another. Whoever sees the made record
sees all that it was made of: its scope is the deepest that lies above all of theirs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pagemind.runtime.message import TRUST
from pagemind.runtime.passage import Passage
from pagemind.runtime.scope import ROOT, chain


@dataclass(frozen=True, slots=True)
class Inherited:
    trust: int
    owner: str
    scope: str
    level: int  # the highest among them


def inherited(
    records: Sequence[Passage], *, shown_trust: int, scope: str, messages: bool = False
) -> Inherited | None:
    """`shown_trust` is the least trust of all that the maker was shown, cited or not, and `scope`
    where messages belong, if any are among the sources. None where owners differ."""
    owners = {record.facets.owner for record in records} - {""}
    if len(owners) > 1:
        return None
    scopes = [record.facets.scope for record in records]
    if messages or not scopes:
        scopes.append(scope)
    return Inherited(
        trust=min(TRUST["model"], shown_trust, *(r.provenance.trust for r in records)),
        owner=owners.pop() if owners else "",
        scope=above(scopes),
        level=max((record.facets.level for record in records), default=0),
    )


def above(scopes: Sequence[str]) -> str:
    """The deepest scope that all of these lie in."""
    chains = [(ROOT, *chain(scope)) for scope in scopes]
    shared = ROOT
    for same in zip(*chains, strict=False):
        if len(set(same)) > 1:
            break
        shared = same[0]
    return shared
