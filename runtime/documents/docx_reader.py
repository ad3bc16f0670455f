"""Word files (DOCX): headings, lists, tables and footnotes as Markdown. The only importer of
mammoth. What a file unpacks to is bounded before anything is unpacked."""

import io
import zipfile

from pagemind.runtime.documents.document import Document, check_size, needs_extra
from pagemind.runtime.documents.html_reader import of_html
from pagemind.runtime.errors import DocumentError
from pagemind.runtime.settings import DOCUMENT_BYTES, DOCX_XML_BYTES

_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => p:fresh
"""
_BODY = "word/document.xml"
_ENTRIES = 10_000
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # an encrypted DOCX, or a DOC


def read_docx(data: bytes) -> Document:
    """A Word document. Pictures are left out."""
    check_size(len(data), DOCUMENT_BYTES)
    if data.startswith(_OLE):
        raise DocumentError("is a Word file with a password, or one older than DOCX")
    _check(data)
    try:
        import mammoth
    except ImportError as error:
        raise needs_extra("mammoth") from error
    try:
        html = mammoth.convert_to_html(
            io.BytesIO(data),
            style_map=_STYLES,
            convert_image=mammoth.images.img_element(lambda image: {"src": ""}),
        ).value
    except RecursionError as error:
        raise DocumentError("is nested too deeply") from error
    except Exception as error:  # whatever a damaged file makes its parsers raise
        raise DocumentError(f"is a broken DOCX: {_brief(error)}") from error
    return of_html(html, "docx")


def _check(data: bytes) -> None:
    """Raises DocumentError unless this is a DOCX that unpacks to a size that can be held. The
    sizes an archive declares bind: zipfile never unpacks more than that."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if len(entries) > _ENTRIES:
                raise DocumentError(f"is a broken DOCX: it has more than {_ENTRIES:,} parts")
            if _BODY not in archive.NameToInfo:
                raise DocumentError("is a broken DOCX: there is no document in it")
            xml = sum(e.file_size for e in entries if e.filename.endswith((".xml", ".rels")))
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        raise DocumentError(f"is a broken DOCX: {_brief(error)}") from error
    if xml > DOCX_XML_BYTES:
        raise DocumentError(f"has more than {DOCX_XML_BYTES:,} bytes of text when unpacked")


def _brief(error: Exception) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__
