"""A text file in parts of about equal size, each with its lines; and whether bytes are text."""

from collections.abc import Callable
from dataclasses import dataclass

from pagemind.runtime.documents.encoding import decode
from pagemind.runtime.errors import DocumentError, ToolFailed
from pagemind.runtime.settings import FILE_TOKENS_SAMPLE

_KINDS = (
    (b"%PDF-", "a PDF file"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"PK\x03\x04", "a ZIP file (DOCX, XLSX and others are such)"),
    (b"\x1f\x8b", "a gzip file"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\0", "an SQLite database"),
)


@dataclass(frozen=True, slots=True)
class FilePart:
    """`text` without a line end; lines count from 1. A line longer than a part is in several."""

    first_line: int
    last_line: int
    text: str


def text_of(data: bytes, shown: str) -> str:
    """The text of a file. Raises ToolFailed that names what else it is."""
    try:
        return decode(data)
    except DocumentError as error:
        kind = next((name for start, name in _KINDS if data.startswith(start)), "")
        if not kind:
            raise ToolFailed(f"{shown} {error.message}; it has {len(data):,} bytes") from None
        documents = "PDF" in kind or "DOCX" in kind
        instead = "; read_document reads PDF and DOCX" if documents else ""
        raise ToolFailed(f"{shown} is {kind} of {len(data):,} bytes, no text{instead}") from None


def parts_of(text: str, tokens: int, count: Callable[[str], int]) -> list[FilePart]:
    """The text in parts of about so many tokens, cut at line ends where lines allow it."""
    sample = text[:FILE_TOKENS_SAMPLE] + text[len(text) // 2 :][:FILE_TOKENS_SAMPLE]
    size = max(64, int(tokens * len(sample) / max(1, count(sample))))
    parts: list[FilePart] = []
    lines: list[str] = []
    first, held = 1, 0

    def close(last: int) -> None:
        parts.append(FilePart(first, last, "\n".join(lines)))

    number = 0
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        if lines and held + len(line) + 1 > size:
            close(number - 1)
            lines, first, held = [], number, 0
        while len(line) > size:
            parts.append(FilePart(number, number, line[:size]))
            line = line[size:]
        lines.append(line)
        held += len(line) + 1
    close(number)
    return parts
