"""Bytes as text: UTF-8 with or without a byte order mark, UTF-16 and UTF-32 with one. No guessing:
a wrong guess would be kept for ever."""

import codecs

from pagemind.runtime.errors import DocumentError

# The marks of UTF-32 begin with those of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8", "UTF-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16"),
)
_HEAD = 8192  # bytes in which a file that is no text shows it


def decode(data: bytes, declared: str = "") -> str:
    """The text, with \\n at line ends. `declared` is an encoding that the file names itself; a mark
    goes before it. Raises DocumentError."""
    mark, codec, name = next((each for each in _MARKS if data.startswith(each[0])), (b"", "", ""))
    if not codec:
        if b"\0" in data:
            raise DocumentError("is not a text file")
        codec, name = _known(declared)
    try:
        text = data[len(mark) :].decode(codec)
    except UnicodeDecodeError as error:
        if not mark and _controls(data):
            raise DocumentError("is not a text file") from error
        at = error.start + len(mark)
        raise DocumentError(f"is not {name} text (byte {at:,})") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _known(declared: str) -> tuple[str, str]:
    """The codec of a declared encoding, if there is one for text."""
    try:
        found = codecs.lookup(declared.strip() or "utf-8")
        b"x".decode(found.name)  # refuses rot13, which makes text from text, and UTF-16 in ASCII
    except (LookupError, ValueError):
        return "utf-8", "UTF-8"
    return found.name, "UTF-8" if found.name == "utf-8" else declared.strip()


def _controls(data: bytes) -> bool:
    """Whether the head holds more control characters than text does."""
    head = data[:_HEAD]
    odd = sum(1 for byte in head if byte < 32 and byte not in b"\t\n\v\f\r\x1b")
    return odd * 50 > len(head)
