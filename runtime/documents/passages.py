"""A Document as passages: what goes into archival memory, each with where it is from."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pagemind.runtime.document import pieces, under
from pagemind.runtime.documents.document import Broken, Document
from pagemind.runtime.settings import DOCUMENT_CHARS, HEADING_CHARS


@dataclass(frozen=True, slots=True)
class Cut:
    """One passage. The metadata has the document's title, the section, the page or row."""

    text: str
    metadata: dict[str, Any] = field(default_factory=dict)


def passages(document: Document) -> Iterator[Cut | Broken]:
    """In order, while the document is read. Raises DocumentError where that cannot go on."""
    title = " ".join(document.title.split())[:HEADING_CHARS]
    context = (title,) if title else ()
    for section in document.sections:
        if isinstance(section, Broken):
            yield section
            continue
        for piece in pieces(section.text, DOCUMENT_CHARS, headings=section.headings):
            metadata: dict[str, Any] = {**document.metadata, **section.metadata}
            if title:
                metadata["title"] = title
            if piece.path:
                metadata["section"] = " › ".join(piece.path)
            yield Cut(under(context, piece).text, metadata)
