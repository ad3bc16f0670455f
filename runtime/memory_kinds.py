"""The four kinds of memory (CoALA), and what an agent may do with each: `rw`, `r` or `none`.

working: core memory and what is pinned into main context. episodic: what happened, in recall and
pages. semantic: facts, in archival memory and archives. procedural: skills and instructions. The
table says which kinds each function reads and writes; what an agent may not do it is not offered,
and a call of it is refused.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator

from pagemind.runtime.definition_parts import Section

Kind = Literal["working", "episodic", "semantic", "procedural"]
Access = Literal["rw", "r", "none"]
KINDS: tuple[Kind, ...] = get_args(Kind)
# Each with what may be read, and what may be written, for it to work.
_NEEDS: dict[str, tuple[tuple[Kind, ...], tuple[Kind, ...]]] = {
    **dict.fromkeys(("core_append", "core_edit", "core_rewrite", "core_set"), ((), ("working",))),
    **dict.fromkeys(
        ("recall_search", "page_in", "page_find", "episode_search"), (("episodic",), ())
    ),
    "page_pin": (("episodic",), ("working",)),
    "page_unpin": ((), ("working",)),
    **dict.fromkeys(
        (
            "archival_search",
            "fact_search",
            "fact_history",
            "store_get",
            "store_search",
            "store_list",
        ),
        (("semantic",), ()),
    ),
    **dict.fromkeys(
        ("archival_insert", "archival_edit", "archival_delete", "archive_insert", "archive_edit"),
        ((), ("semantic",)),
    ),
    **dict.fromkeys(
        ("archive_delete", "fact_add", "fact_close", "store_put", "store_delete"),
        ((), ("semantic",)),
    ),
    **dict.fromkeys(("skill_search", "skill_run"), (("procedural",), ())),
    "skill_save": ((), ("procedural",)),
}


def _access(value: Any) -> Any:
    if value not in get_args(Access):
        raise ValueError(f"must be rw, r or none, not {value!r}")
    return value


class MemoryKinds(Section):
    """What the agent may do with each kind. Instructions are its maker's: it only reads them."""

    working: Annotated[Access, BeforeValidator(_access)] = "rw"
    episodic: Annotated[Access, BeforeValidator(_access)] = "rw"
    semantic: Annotated[Access, BeforeValidator(_access)] = "rw"
    procedural: Annotated[Access, BeforeValidator(_access)] = "r"

    def reads(self, kind: Kind) -> bool:
        return self._of(kind) != "none"

    def writes(self, kind: Kind) -> bool:
        return self._of(kind) == "rw"

    def _of(self, kind: Kind) -> Access:
        found: Access = getattr(self, kind)
        return found

    def forbids(self, function: str) -> str:
        """Why the agent may not have a function; "" where it may."""
        reads, writes = _NEEDS.get(function, ((), ()))
        for kind in writes:
            if not self.writes(kind):
                may = "may only read" if self.reads(kind) else "does not have"
                return f"it writes {kind} memory, which this agent {may}"
        for kind in reads:
            if not self.reads(kind):
                return f"it reads {kind} memory, which this agent does not have"
        return ""

    def allowing(self, function: str) -> str:
        """What a definition would say to let the agent have a function that is forbidden now."""
        reads, writes = _NEEDS.get(function, ((), ()))
        wanted = {kind: "rw" for kind in writes if not self.writes(kind)}
        wanted |= {kind: "r" for kind in reads if not self.reads(kind)}
        return f"memory: {{{', '.join(f'{kind}: {access}' for kind, access in wanted.items())}}}"

    def forbidden(self, functions: Iterable[str]) -> dict[str, str]:
        """Those of the functions that the agent may not have, with the reason."""
        return {name: why for name in functions if (why := self.forbids(name))}
