"""Scopes: paths of memory, such as /team/project. Pure.

A scope holds what is written to it and to every scope below it, segment by segment: /app is not
above /apple.
"""

import re
from collections.abc import Iterable

from pagemind.runtime.errors import UserError

ROOT = "/"
_SEGMENT = re.compile(r"[^\s/*\x00-\x1f\x7f]{1,64}")
_LEVELS = 16


def scope_of(written: str) -> str:
    """A path as it is stored: `/team/project`, whatever slashes surround it. Raises UserError."""
    segments = [each for each in written.strip().split("/") if each]
    if len(segments) > _LEVELS or any(
        not _SEGMENT.fullmatch(each) or each in (".", "..") for each in segments
    ):
        raise UserError(
            f"{written[:80]!r} is no scope",
            hint=f"write a path such as /team/project: at most {_LEVELS} names, no spaces, no *",
        )
    return ROOT + "/".join(segments)


def chain(scope: str) -> tuple[str, ...]:
    """A scope and all above it, the widest first; the root, which is above everything, left out."""
    segments = [each for each in scope.split("/") if each]
    return tuple(ROOT + "/".join(segments[:n]) for n in range(1, len(segments) + 1))


def within(scope: str, above: str) -> bool:
    """Whether a scope is this one or below it."""
    return above == ROOT or above in chain(scope)


def seen(scope: str, readable: Iterable[str]) -> bool:
    """Whether a scope is within one of these; all are where none is named."""
    named = tuple(readable)
    return not named or any(within(scope, above) for above in named)
