"""Text and Markdown files."""

import re

from pagemind.runtime.documents.document import Document, Section, check_size
from pagemind.runtime.documents.encoding import decode
from pagemind.runtime.settings import TEXT_BYTES

_FRONT = re.compile(r"---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:[ \t]*(.+?)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_FRONT_CHARS = 10_000  # more is no front matter, but a text between two rules


def read_text(data: bytes) -> Document:
    """Plain text. Its lines with # may be anything, and are no headings."""
    check_size(len(data), TEXT_BYTES)
    return Document("text", iter([Section(decode(data))]))


def read_markdown(data: bytes) -> Document:
    """Markdown. The title of its front matter is the document's; the front matter stays text."""
    check_size(len(data), TEXT_BYTES)
    text = decode(data)
    front = _FRONT.match(text[:_FRONT_CHARS])
    if front is None:
        return Document("markdown", iter([Section(text, headings=True)]))
    title = _FRONT_TITLE.search(front[1])
    sections = [Section(front[1]), Section(text[front.end() :], headings=True)]
    return Document("markdown", iter(sections), title[1].strip("'\"") if title else "")
