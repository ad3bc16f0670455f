"""Paths of images in what a person typed or pasted: a terminal that a file is dropped on types its
path, in quotes or with a backslash before each space."""

import re
from pathlib import Path

from pagemind.runtime.written_path import expanded

_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_PATH = re.compile(
    r"""(?<!\S)(?:'(?P<single>[^'\n]+)'|"(?P<double>[^"\n]+)"|(?P<bare>(?:\\.|[^\s\\'"])+))(?!\S)"""
)
_SCHEME = "file://"


def images_in(text: str) -> list[Path]:
    """Files that are there and are named like images, each once."""
    found: dict[Path, None] = {}
    for match in _PATH.finditer(text):
        written = match["single"] or match["double"]
        if written is None:
            written = re.sub(r"\\(.)", r"\1", match["bare"])
        if not written.lower().endswith(_SUFFIXES):
            continue
        path = expanded(written.removeprefix(_SCHEME))
        try:
            if path.is_file():
                found[path] = None
        except OSError:  # longer than a path may be
            continue
    return list(found)
