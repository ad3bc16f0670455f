"""The sections of a definition that bound what passages an agent sees and keeps: `scope`,
`scopes`, `forget`.
"""

from datetime import timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, field_validator

from pagemind.runtime import settings
from pagemind.runtime.definition_parts import Number, Section, Whole, Words
from pagemind.runtime.errors import UserError
from pagemind.runtime.keeping import ttl_of
from pagemind.runtime.scope import ROOT, scope_of, seen
from pagemind.runtime.sight import Sight

_INFER = "infer"
_BELOW = "/*"


def _path(written: str) -> str:
    try:
        return scope_of(written)
    except UserError as error:
        raise ValueError(f"{error.message}; {error.hint}") from None


def _home(written: str) -> str:
    """`/team/project`; `infer`, which is `/*`; `/team/*`."""
    if written.strip() == _INFER:
        return _BELOW
    if written.strip().endswith(_BELOW):
        above = _path(written.strip().removesuffix("*"))
        return f"{above.rstrip('/')}{_BELOW}"
    return _path(written)


def _several(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


def _duration(written: str) -> str:
    try:
        ttl_of(written)
    except UserError as error:
        raise ValueError(f"{error.message}; {error.hint}") from None
    return written


Duration = Annotated[Words, AfterValidator(_duration)]  # 90d, 12h
ScopePath = Annotated[Words, AfterValidator(_path)]
HomeScope = Annotated[Words, AfterValidator(_home)]
_Paths = Annotated[tuple[ScopePath, ...], BeforeValidator(_several)]


class Scopes(Section):
    """Which scopes, with all below them, the agent may read, and which it may change; all where
    nothing is said, and of those it reads."""

    read: _Paths = ()
    write: _Paths = ()


class Forgetting(Section):
    """What the worker lets go cold: hidden, recoverable. `limits`: of so many passages in a scope
    those of least heat; `cold_after`: those unused for so long, less important than
    `keep_importance`."""

    limits: dict[ScopePath, Whole] = Field(default_factory=dict)
    cold_after: Duration | None = None
    keep_importance: Number = Field(default=settings.FORGET_KEEP_IMPORTANCE, ge=1, le=10)

    @field_validator("limits")
    @classmethod
    def _are_limits(cls, value: dict[str, int]) -> dict[str, int]:
        for scope, limit in value.items():
            if limit < 1:
                raise ValueError(f"{scope} must hold at least 1, not {limit}")
        return value

    @property
    def unused(self) -> timedelta | None:
        """How long something may be unused."""
        return ttl_of(self.cold_after)


def sight_of(scope: str, scopes: Scopes, viewer: str | None) -> Sight:
    """What an agent sees, and where it writes."""
    infers = scope.endswith(_BELOW)
    home = scope_of(scope.removesuffix("*")) if infers else scope
    return Sight(viewer, _all_or(scopes.read), _all_or(scopes.write), home, infers)


def fault_of(scope: str, scopes: Scopes) -> str:
    """Why the agent could not use what it writes by default; "" if it can."""
    home = sight_of(scope, scopes, None).home
    for does, allowed in (("read", scopes.read), ("write", scopes.write)):
        if not seen(home, allowed):
            where = ", ".join(allowed)
            mend = f"say `scope: {allowed[0]}`, or add it there" if home == ROOT else "add it there"
            return f"it writes to {home}, and scopes.{does} has only {where}; {mend}"
    return ""


def _all_or(scopes: tuple[str, ...]) -> tuple[str, ...]:
    return () if ROOT in scopes else scopes
