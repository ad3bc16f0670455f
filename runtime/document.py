"""A document as passages: paragraphs packed together, headings kept with what follows. Pure."""

import re

from pagemind.runtime.settings import DOCUMENT_CHARS

_HEADING = re.compile(r"#{1,6} \S|[^\n]{1,80}\n(=+|-+)\s*$")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n")


def split_document(text: str, limit: int = DOCUMENT_CHARS) -> list[str]:
    """Passages of at most `limit` characters, in order. A heading begins a new one once the one
    before is half full; nothing but white space between paragraphs is lost."""
    passages: list[str] = []
    packed = ""
    for paragraph in _paragraphs(text, limit):
        heading = _HEADING.match(paragraph) is not None and len(packed) > limit // 2
        if packed and (heading or len(packed) + 2 + len(paragraph) > limit):
            passages.append(packed)
            packed = ""
        packed = f"{packed}\n\n{paragraph}" if packed else paragraph
    return [*passages, packed] if packed else passages


def _paragraphs(text: str, limit: int) -> list[str]:
    """Paragraphs, the long ones cut at sentences, and what has none at the limit."""
    found: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text.replace("\r\n", "\n")):
        rest = paragraph.strip("\n")
        while len(rest) > limit:
            ends = [match.end() for match in _SENTENCE.finditer(rest, 0, limit)]
            at = ends[-1] if ends and ends[-1] > limit // 4 else limit
            found.append(rest[:at].rstrip())
            rest = rest[at:].lstrip()
        if rest.strip():
            found.append(rest)
    return found
