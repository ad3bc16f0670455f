"""The JSON of a request: read whole, an object, with the keys that are known; and the images in it.

Each fault is a 400 that names the key.
"""

import base64
import binascii
import json
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any

from anyio import to_thread
from starlette.requests import ClientDisconnect, Request

from pagemind.runtime.http.faults import HttpFault
from pagemind.runtime.message import clean_json
from pagemind.runtime.settings import IMAGE_BYTES, IMAGES_PER_MESSAGE

_LARGE = 1 << 20


async def json_of(request: Request) -> dict[str, Any]:
    """The object that a request brings. Raises HttpFault."""
    try:
        data = await request.body()
    except ClientDisconnect:
        raise HttpFault(400, "the body was cut off") from None
    if len(data) < _LARGE:
        return _object(data)
    return await to_thread.run_sync(_object, data)  # others are served meanwhile


def _object(data: bytes) -> dict[str, Any]:
    try:
        body = json.loads(data or b"{}", parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise HttpFault(400, "the body is not UTF-8") from None
    except RecursionError:
        raise HttpFault(400, "the body is nested too deeply") from None
    except ValueError as error:
        raise HttpFault(400, f"the body is not JSON: {error}") from None
    if not isinstance(body, dict):
        raise HttpFault(400, "the body is not a JSON object")
    return dict(clean_json(body))


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def check_keys(given: Collection[str], known: Collection[str], where: str) -> None:
    """Raises HttpFault for a key that nobody would read, with the nearest."""
    for key in given:
        if key not in known:
            close = get_close_matches(key, known, n=1)
            hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(known)}"
            raise HttpFault(400, f"{where} has no {key!r}", hint=hint, param=key)


def text_in(body: Mapping[str, Any], key: str, default: str | None = None, *, most: int = 0) -> str:
    """A text. Without a default it must be there. Raises HttpFault."""
    value = body.get(key)
    if value is None and default is not None:
        return default
    if value is None:
        raise HttpFault(400, f"{key!r} is missing", param=key)
    if not isinstance(value, str):
        raise HttpFault(400, f"{key!r} must be a text", param=key)
    if most and len(value) > most:
        raise HttpFault(400, f"{key!r} has more than {most} characters", param=key)
    return value


def texts_in(body: Mapping[str, Any], key: str) -> list[str]:
    """A list of texts; empty where it is not there. Raises HttpFault."""
    value = body.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise HttpFault(400, f"{key!r} must be a list of texts", param=key)
    return value


def image_of(url: str, where: str) -> bytes:
    """The bytes of `data:image/png;base64,…`. Nothing is fetched. Raises HttpFault."""
    head, comma, data = url.partition(",")
    if not head.startswith("data:"):
        raise HttpFault(
            400,
            f"{where} is no image but an address, and nothing is fetched",
            hint="send the image itself: data:image/png;base64,…",
            param=where,
        )
    if not comma or not head.endswith(";base64"):
        raise HttpFault(400, f"{where} is no data:image/…;base64,…", param=where)
    if len(data) > IMAGE_BYTES * 4 // 3 + 4:
        raise HttpFault(
            400,
            f"{where} is larger than {IMAGE_BYTES >> 20} MB, which no provider takes",
            hint="make it smaller",
            param=where,
        )
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise HttpFault(400, f"{where} is no base64", param=where) from None


def check_images(count: int, where: str) -> None:
    """Raises HttpFault for more than one message may have."""
    if count > IMAGES_PER_MESSAGE:
        raise HttpFault(
            400,
            f"{count} images are too many for one message",
            hint=f"send up to {IMAGES_PER_MESSAGE} at once",
            param=where,
        )
