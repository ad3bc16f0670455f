"""What a server answered, as a result that the model reads: texts as they are, images and files
beside the database, links as their addresses."""

import base64
import binascii
import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.image_header import read_header
from pagemind.runtime.tool import File, ToolResult

if TYPE_CHECKING:
    from mcp_types import CallToolResult, ReadResourceResult


def result_of(answer: "CallToolResult", function: str) -> ToolResult:
    """The result. Raises ToolFailed for what the server calls an error."""
    texts, files = _parted(piece for block in answer.content for piece in _pieces(block))
    # A server repeats structured content as text for those who read only that.
    if answer.structured_content is not None and not any(texts):
        texts.append(json.dumps(answer.structured_content, ensure_ascii=False, default=str))
    text = "\n".join(texts)
    if answer.is_error:
        raise ToolFailed(f"{function} failed: {text or 'the server does not say why'}")
    return _result(text or ("" if files else "done, and the server answered nothing"), files)


def resource_of(answer: "ReadResourceResult") -> ToolResult:
    """What a resource holds."""
    texts, files = _parted(_contents(each) for each in answer.contents)
    return _result("\n".join(texts) or ("" if files else "it is empty"), files)


def _result(text: str, files: list[File]) -> ToolResult:
    if not text:
        text = "1 file" if len(files) == 1 else f"{len(files)} files"
    return ToolResult(text, files=tuple(files))


def _parted(pieces: Iterable[str | File]) -> tuple[list[str], list[File]]:
    texts: list[str] = []
    files: list[File] = []
    for piece in pieces:
        if isinstance(piece, File):
            files.append(piece)
        else:
            texts.append(piece)
    return texts, files


def _pieces(block: Any) -> Iterator[str | File]:
    kind = getattr(block, "type", "")
    if kind == "text":
        yield block.text
    elif kind in ("image", "audio"):
        yield _file(block.data, block.mime_type, kind)
    elif kind == "resource":
        yield _contents(block.resource)
    elif kind == "resource_link":
        about = f": {block.description}" if block.description else ""
        yield f"[{block.name} at {block.uri}{about}]"
    else:
        yield f"[{kind or 'something'} that is not shown here]"


def _contents(inside: Any) -> str | File:
    if hasattr(inside, "text"):
        return f"[{inside.uri}]\n{inside.text}"
    return _file(inside.blob, inside.mime_type, str(inside.uri))


def _file(data: str, media_type: str | None, caption: str) -> str | File:
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return f"[{media_type or 'a file'} that is damaged]"
    header = read_header(content)
    if header is not None:  # what it is, not what it is said to be
        return File(content, header.media_type, f"{caption}, {header.width}×{header.height}")
    return File(content, _media_type(media_type), f"{caption}, {len(content):,} bytes")


def _media_type(said: str | None) -> str:
    """As it is said, unless it claims an image that is none: a provider would refuse it."""
    if not said or said.startswith("image/") or len(said) > 100 or not said.isprintable():
        return "application/octet-stream"
    return said
