"""An image that a person sends along: checked, stored beside the database, and a part of a message.

A model that sees images gets the image, others its caption.
"""

from math import ceil
from pathlib import Path

from pagemind.runtime.errors import UserError
from pagemind.runtime.image_header import read_header
from pagemind.runtime.message import Blob, clean_text
from pagemind.runtime.settings import (
    IMAGE_BYTES,
    IMAGE_MAX_TOKENS,
    IMAGE_MIN_TOKENS,
    IMAGE_PIXELS_PER_TOKEN,
)
from pagemind.runtime.state.blobs import Blobs
from pagemind.runtime.written_path import expanded

KINDS = "PNG, JPEG, GIF or WebP"


def attach(blobs: Blobs, path: Path) -> Blob:
    """The image in a file. Raises UserError for one that is absent, too large, or no image."""
    path = expanded(path)
    return attach_bytes(blobs, _read(path), path.name, str(path))


def attach_bytes(blobs: Blobs, data: bytes, name: str, where: str = "") -> Blob:
    """The image in these bytes, called `name`; `where` it comes from is for the error."""
    where = where or name
    if len(data) > IMAGE_BYTES:
        raise UserError(
            f"{where} is larger than {IMAGE_BYTES >> 20} MB, which no provider takes",
            hint="make it smaller",
        )
    header = read_header(data)
    if header is None:
        raise UserError(
            f"{where} is no {KINDS} image",
            hint="a text file is inserted with `pagemind memory insert AGENT --file FILE`",
        )
    pixels = header.width * header.height
    tokens = min(IMAGE_MAX_TOKENS, max(IMAGE_MIN_TOKENS, ceil(pixels / IMAGE_PIXELS_PER_TOKEN)))
    name = " ".join(clean_text(name).split())
    return Blob(
        sha256=blobs.keep(data),
        media_type=header.media_type,
        bytes=len(data),
        tokens=tokens,
        caption=f"{name}, {header.width}×{header.height}",
    )


def _read(path: Path) -> bytes:
    """One byte more than is allowed is enough to be refused."""
    try:
        with path.open("rb") as file:
            return file.read(IMAGE_BYTES + 1)
    except FileNotFoundError:
        raise UserError(f"{path} is not there", hint="name an image file") from None
    except IsADirectoryError:
        raise UserError(f"{path} is a folder", hint="name an image file in it") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from error
