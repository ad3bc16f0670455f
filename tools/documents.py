"""read_document: the text of a PDF, DOCX, HTML, Markdown, CSV or JSONL file."""

from pathlib import Path

from pagemind.runtime.documents.document import Broken, Document
from pagemind.runtime.documents.read import parse
from pagemind.runtime.errors import DocumentError, ToolFailed
from pagemind.runtime.settings import DOCUMENT_BYTES
from pagemind.runtime.tool import ToolContext, tool
from pagemind.tools.roots import Roots


@tool(effect="none", foreign=True)
def read_document(ctx: ToolContext, path: str) -> str:
    """Read the text of a document: PDF, DOCX, HTML, CSV and others.

    Args:
        path: The file, as list_files shows it.
    """
    roots = Roots.of(ctx)
    place = roots.find(path)
    return text_of_document(place.shown, roots.read(place, DOCUMENT_BYTES))


def text_of_document(shown: str, data: bytes) -> str:
    """The text of a file by its name's ending. Raises ToolFailed."""
    try:
        return as_text(parse(Path(shown), data))
    except DocumentError as error:
        raise ToolFailed(f"{shown} {error.message}") from None


def as_text(document: Document) -> str:
    """All of a document; a part that cannot be read says so in its place. Raises DocumentError."""
    title = f"# {document.title}\n\n" if document.title else ""
    pieces = [
        f"({each.where}: {each.why})" if isinstance(each, Broken) else each.text
        for each in document.sections
    ]
    return title + "\n\n".join(piece for piece in pieces if piece.strip())
