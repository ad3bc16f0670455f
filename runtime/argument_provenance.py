"""Argument provenance: which arguments of a call were first named by text from outside. Pure.

A value counts as named by outside where it, or a part of it that leads somewhere by itself (a host,
a folder), can be read out of untrusted text in view and stands in no trusted one. Every text and
number in the arguments is looked at, also inside longer ones and put together from several. What
the model knows by itself, and nobody has named, is no finding.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pagemind.runtime.targets import (
    Target,
    Written,
    lax,
    numbers,
    plain,
    squeezed,
    stands,
    targets,
)

# Arguments of these names say where something goes, whatever their values look like.
_LEADING = frozenset(
    "to cc bcc recipient recipients addressee receiver payee account iban user username handle"
    " phone mobile email mail address url uri link host hostname domain server channel webhook"
    " path file folder directory destination target amount sum price total command".split()
)
_LEADING_CHARS = 200  # what is longer is a text, not a value
_JOINED_LEAST = 6  # letters and digits of what is put together from several arguments
_NUMBER_LEAST = 3  # digits: what is shorter counts only where its name says what it is
_SHOWN = 80  # characters of a value that are repeated
_MOST = 3


@dataclass(frozen=True, slots=True)
class InView:
    """A text in the window: by which id, and from whom."""

    id: str
    who: str
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """`argument` as in rows[0].url; `value` what of it was named by `source`."""

    argument: str
    value: str
    source: InView


@dataclass(frozen=True, slots=True)
class _Leaf:
    argument: str
    name: str  # of the nearest key that holds it
    text: str


def named_outside(
    arguments: Mapping[str, Any], outside: Sequence[InView], trusted: Sequence[str]
) -> list[Finding]:
    """The first few findings, in the order of the arguments. `outside` is all untrusted text in
    view, the oldest first, `trusted` all other."""
    if not outside:
        return []
    return _Search(outside, trusted).of(list(_leaves(arguments, "")))


class _Search:
    def __init__(self, outside: Sequence[InView], trusted: Sequence[str]) -> None:
        self._outside = [(each, Written(each.text)) for each in outside]
        # A value may be spread over several messages.
        self._together = Written("\n".join(each.text for each in outside))
        # As it is written: a letter that only looks alike is another one.
        self._trusted = plain("\n".join(trusted))
        self._trusted_numbers = numbers(self._trusted)
        self._trusted_squeezed = squeezed(self._trusted)

    def of(self, leaves: Sequence[_Leaf]) -> list[Finding]:
        found: dict[str, Finding] = {}
        for leaf in leaves:
            for kind, value in self._values(leaf):
                source = self._source(kind, value)
                found.setdefault(leaf.argument, Finding(leaf.argument, value[:_SHOWN], source))
        for finding in self._put_together(leaves):
            found.setdefault(finding.argument, finding)
        return list(found.values())[:_MOST]

    def _values(self, leaf: _Leaf) -> Iterator[tuple[str, str]]:
        """What of one argument was named outside and nowhere else."""
        text = plain(leaf.text)
        whole = text.strip()
        leading = _leads(leaf.name)
        for target in targets(text):
            if target.kind == "number" and not _counts(target.text, leading, whole):
                continue
            if piece := self._piece(target):
                yield target.kind, piece
        word = leading and 0 < len(whole) <= _LEADING_CHARS and not whole[0].isdigit()
        if word and not stands(whole, self._trusted) and self._together.has("word", whole):
            yield "word", whole

    def _piece(self, target: Target) -> str:
        if self._known(target.kind, target.text):
            return ""
        for piece in target.pieces:
            if not self._known(target.kind, piece) and self._together.has(target.kind, piece):
                return piece
        return ""

    def _known(self, kind: str, piece: str) -> bool:
        """Whether a trusted text names it."""
        if kind == "number":
            return piece in self._trusted_numbers
        if stands(piece, self._trusted):
            return True
        return kind == "code" and squeezed(piece) in self._trusted_squeezed

    def _source(self, kind: str, value: str) -> InView:
        return next((e for e, text in self._outside if text.has(kind, value)), self._outside[-1][0])

    def _put_together(self, leaves: Sequence[_Leaf]) -> Iterator[Finding]:
        """What outside names and the arguments hold in pieces, one after the other."""
        pieces = [squeezed(lax(leaf.text)) for leaf in leaves]
        stream = "".join(pieces)
        for source, text in self._outside:
            for target in dict.fromkeys(targets(text.plain)):
                wanted = squeezed(lax(target.text))
                at = stream.find(wanted) if len(wanted) >= _JOINED_LEAST else -1
                if at < 0 or self._known(target.kind, target.text):
                    continue
                for leaf, piece in zip(leaves, pieces, strict=True):
                    if at < len(piece):
                        yield Finding(leaf.argument, target.text[:_SHOWN], source)
                        break
                    at -= len(piece)


def _leaves(value: Any, argument: str, name: str = "") -> Iterator[_Leaf]:
    """Every text and number, and what keys say."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            if argument:  # the names of the arguments themselves are the function's
                yield _Leaf(argument, "", str(key))
            yield from _leaves(each, f"{argument}.{key}" if argument else str(key), str(key))
    elif isinstance(value, list | tuple):
        for at, each in enumerate(value):
            yield from _leaves(each, f"{argument}[{at}]", name)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield _Leaf(argument, name, str(value))


def _leads(name: str) -> bool:
    words = re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
    return any(word in _LEADING for word in re.split(r"[\W_]+", words))


def _counts(number: str, leading: bool, whole: str) -> bool:
    digits = len(number.replace(".", ""))
    return digits >= _NUMBER_LEAST or (leading and squeezed(whole).isdigit())
