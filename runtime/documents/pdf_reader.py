"""PDF files, page by page. The only importer of pypdf.

A page that cannot be read is said, and the others are read. Pages, text and time are bounded.
"""

import io
import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pagemind.runtime.clock import Clock, SystemClock
from pagemind.runtime.documents.document import (
    Broken,
    Document,
    Section,
    check_size,
    needs_extra,
)
from pagemind.runtime.errors import DocumentError
from pagemind.runtime.settings import DOCUMENT_BYTES, PDF_PAGES, PDF_SECONDS, TEXT_BYTES

if TYPE_CHECKING:
    from pypdf import PdfReader


def read_pdf(data: bytes, clock: Clock | None = None) -> Document:
    """The text of a PDF, without any recognition of pictures."""
    check_size(len(data), DOCUMENT_BYTES)
    try:
        import pypdf
        from pypdf.errors import DependencyError
    except ImportError as error:
        raise needs_extra("pypdf") from error
    log = logging.getLogger("pypdf")
    if not log.handlers:  # its remarks on a file's faults are for logs, not for the screen
        log.addHandler(logging.NullHandler())
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):  # many have none for reading
            raise DocumentError("is a PDF with a password")
        pages = len(reader.pages)
        title = str((reader.metadata and reader.metadata.title) or "").strip()
    except DocumentError:
        raise
    except DependencyError as error:
        raise needs_extra("cryptography, for an encrypted PDF") from error
    except Exception as error:  # whatever a damaged file makes pypdf raise
        raise _broken(error) from error
    if not pages:
        raise DocumentError("is a broken PDF: it has no pages")
    if pages > PDF_PAGES:
        raise DocumentError(f"has more than {PDF_PAGES:,} pages")
    return Document("pdf", _pages(reader, pages, clock or SystemClock()), title)


def _pages(reader: "PdfReader", pages: int, clock: Clock) -> Iterator[Section | Broken]:
    until = clock.monotonic() + PDF_SECONDS
    chars = 0
    for number in range(1, pages + 1):
        if clock.monotonic() > until:
            raise DocumentError(f"takes more than {PDF_SECONDS:g} seconds (page {number:,})")
        try:
            text = reader.pages[number - 1].extract_text()
        except Exception as error:  # as above, of one page
            yield Broken(f"page {number}", _reason(error))
            continue
        chars += len(text)
        if chars > TEXT_BYTES:
            raise DocumentError(f"has more than {TEXT_BYTES:,} characters of text")
        if text.strip():
            yield Section(text, metadata={"page": number})
    if not chars:
        raise DocumentError("has no text (scanned?)")


def _broken(error: Exception) -> DocumentError:
    return DocumentError(f"is a broken PDF: {_reason(error)}")


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return " ".join(str(error).split())[:120].rstrip(".") or type(error).__name__
