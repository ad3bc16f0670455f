"""HTML as Markdown, without what is no text: scripts, styles, navigation, forms. The only importer
of beautifulsoup4 and markdownify; lxml is the parser, which knows what may be left unclosed."""

import re
from typing import TYPE_CHECKING

from pagemind.runtime.documents.document import Document, Section, check_size, needs_extra
from pagemind.runtime.documents.encoding import decode
from pagemind.runtime.errors import DocumentError
from pagemind.runtime.settings import HTML_BYTES

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

_DECLARED = re.compile(
    rb"<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE
)
_HEAD = 4096  # where a page may declare its encoding
_NO_TEXT = (
    "script, style, noscript, template, svg, iframe, object, canvas, link, meta,"
    " nav, aside, footer, button, select, input, [hidden], [aria-hidden=true],"
    " [role=navigation], [role=banner], [role=contentinfo], [role=search], [role=menu]"
)
_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")


def read_html(data: bytes) -> Document:
    """A page."""
    check_size(len(data), HTML_BYTES)
    declared = _DECLARED.search(data[:_HEAD])
    return of_html(decode(data, declared[1].decode("ascii") if declared else ""), "html")


def of_html(text: str, kind: str) -> Document:
    """A document from HTML text; other readers make HTML too. Raises DocumentError."""
    try:
        from bs4 import BeautifulSoup, FeatureNotFound
        from markdownify import MarkdownConverter
    except ImportError as error:
        raise needs_extra("beautifulsoup4, markdownify") from error
    try:
        soup = BeautifulSoup(text, "lxml")
        title = soup.title.get_text(" ", strip=True) if soup.title else ""
        _clean(soup)
        convert = MarkdownConverter(
            heading_style="ATX",
            strip=["a"],  # the words of a link; its address says little
            bullets="-",
            escape_asterisks=False,
            escape_underscores=False,
            escape_misc=False,
        )
        markdown = convert.convert_soup(soup)
    except FeatureNotFound as error:
        raise needs_extra("lxml") from error
    except RecursionError as error:
        raise DocumentError("is nested too deeply") from error
    markdown = _LINES.sub("\n\n", markdown).strip("\n")
    return Document(kind, iter([Section(markdown, headings=True)]), title)


def _clean(soup: "BeautifulSoup") -> None:
    """Take out what is no text, and put in the words of pictures."""
    if soup.title:
        soup.title.decompose()
    for element in soup.select(_NO_TEXT):
        if not element.decomposed:
            element.decompose()
    for image in soup.find_all("img"):
        words = str(image.get("alt") or "").strip()
        image.replace_with(f" {words} " if words else " ")
