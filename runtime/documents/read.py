"""read_document(): a file as a Document, by its ending and its first bytes."""

import stat
from collections.abc import Callable
from pathlib import Path

from pagemind.runtime.documents.document import Document, check_size
from pagemind.runtime.documents.docx_reader import read_docx
from pagemind.runtime.documents.html_reader import read_html
from pagemind.runtime.documents.pdf_reader import read_pdf
from pagemind.runtime.documents.row_reader import read_csv, read_jsonl
from pagemind.runtime.documents.text_reader import read_markdown, read_text
from pagemind.runtime.errors import DocumentError
from pagemind.runtime.settings import DOCUMENT_BYTES, TEXT_BYTES

Reader = Callable[[bytes], Document]
# Every other ending is text, if it is text.
READERS: dict[str, Reader] = {
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".mdx": read_markdown,
    ".html": read_html,
    ".htm": read_html,
    ".xhtml": read_html,
    ".pdf": read_pdf,
    ".docx": read_docx,
    ".csv": read_csv,
    ".tsv": read_csv,
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
}
_LARGE = (read_pdf, read_docx)


def read_document(path: Path) -> Document:
    """The file as text. Raises DocumentError with a plain reason."""
    return parse(path, load(path))


def load(path: Path) -> bytes:
    """The bytes of a file, within the limit of its kind. Raises DocumentError."""
    limit = DOCUMENT_BYTES if READERS.get(path.suffix.lower()) in _LARGE else TEXT_BYTES
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise DocumentError("is a folder")
        if not stat.S_ISREG(status.st_mode):
            raise DocumentError("is not a file")  # a pipe would be waited for
        check_size(status.st_size, limit)
        with path.open("rb") as file:
            data = file.read(limit + 1)  # it may grow meanwhile
    except OSError as error:
        raise DocumentError((error.strerror or str(error)).lower()) from error
    check_size(len(data), limit)
    return data


def parse(path: Path, data: bytes) -> Document:
    """These bytes of the file as text. Raises DocumentError."""
    if not data.strip():
        raise DocumentError("is empty")
    reader = READERS.get(path.suffix.lower(), read_text)
    if data.startswith(b"%PDF-"):
        reader = read_pdf
    return reader(data)
