"""What an image file is, from its first bytes: media type, width and height. Pure.

PNG, JPEG, GIF and WebP: what models with eyes take.
"""

import struct
from dataclasses import dataclass

_NO_SIZE = frozenset({0xC4, 0xC8, 0xCC})  # among the frames of a JPEG: tables, not pictures


@dataclass(frozen=True, slots=True)
class ImageHeader:
    """Width and height in pixels."""

    media_type: str
    width: int
    height: int


def read_header(data: bytes) -> ImageHeader | None:
    """None for what is no such image, or says no size."""
    try:
        found = _read(data)
    except (struct.error, IndexError):  # it ends too early
        return None
    return found if found is not None and found.width > 0 and found.height > 0 else None


def _read(data: bytes) -> ImageHeader | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR":
        return ImageHeader("image/png", *struct.unpack(">II", data[16:24]))
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return ImageHeader("image/gif", *struct.unpack("<HH", data[6:10]))
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return _webp(data)
    if data.startswith(b"\xff\xd8"):
        return _jpeg(data)
    return None


def _webp(data: bytes) -> ImageHeader | None:
    kind = data[12:16]
    if kind == b"VP8X":
        width = int.from_bytes(data[24:27], "little") + 1
        height = int.from_bytes(data[27:30], "little") + 1
    elif kind == b"VP8L" and data[20] == 0x2F:
        (bits,) = struct.unpack("<I", data[21:25])
        width, height = (bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1
    elif kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = (side & 0x3FFF for side in struct.unpack("<HH", data[26:30]))
    else:
        return None
    return ImageHeader("image/webp", width, height)


def _jpeg(data: bytes) -> ImageHeader | None:
    """Segment by segment up to the first frame."""
    at = 2
    while data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:  # padding
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in _NO_SIZE:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return ImageHeader("image/jpeg", width, height)
        elif marker == 0x01 or 0xD0 <= marker <= 0xD7:  # without a length
            at += 2
        else:
            at += 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]
    return None
