"""What every reader gives: a Document, whose sections are read one after the other.

A reader is a function from bytes to a Document. What it cannot read as a whole is a DocumentError
with a plain reason that completes "<file> …"; a row or page that it cannot read is a Broken among
the sections, so that nothing is left out in silence.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pagemind.runtime.errors import DocumentError


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of text in order. `headings`: lines with # are headings. `metadata` goes with each
    passage of it: page, row and the like."""

    text: str
    headings: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Broken:
    """A part that could not be read: `row 7: has 5 fields, and there are 3 columns`."""

    where: str
    why: str


@dataclass(frozen=True, slots=True)
class Document:
    """`sections` can be read once and raises DocumentError where reading cannot go on."""

    kind: str  # text, markdown, html, pdf, docx, csv, jsonl
    sections: Iterator[Section | Broken]
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file, or a row or page of one, that was not taken."""

    path: str
    why: str


def needs_extra(what: str) -> DocumentError:
    """A library that reads this kind of file is not installed."""
    return DocumentError(f"needs pagemind[documents]: pip install 'pagemind[documents]' ({what})")


def check_size(size: int, limit: int) -> None:
    """Raises DocumentError for too many bytes."""
    if size > limit:
        raise DocumentError(f"has more than {limit:,} bytes")
