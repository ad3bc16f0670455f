"""The corpus of a data file: which format it is, and its loader."""

import json
from collections.abc import Callable
from pathlib import Path

from corpus import Corpus, WrongFile
from locomo import load_locomo
from longmemeval import load_longmemeval
from msc import load_msc

LOADERS: dict[str, Callable[[Path], Corpus]] = {
    "locomo": load_locomo,
    "longmemeval": load_longmemeval,
    "msc": load_msc,
}
# A field that only one format has. It stands near the start of the file.
_MARKS = {"sample_id": "locomo", "haystack_sessions": "longmemeval", "self_instruct": "msc"}
_HEAD_CHARS = 4 << 20


def load(path: Path, format: str | None = None) -> Corpus:
    """The corpus of a file, by the named format or by what stands in it. Raises WrongFile."""
    return LOADERS[format or recognised(path)](path)


def recognised(path: Path) -> str:
    """The format of a file. Raises WrongFile."""
    try:
        with path.open(encoding="utf-8") as file:
            head = file.read(_HEAD_CHARS)
    except (OSError, ValueError) as error:
        raise WrongFile(f"{path}: not readable as text: {error}") from None
    places = {head.find(json.dumps(mark)): name for mark, name in _MARKS.items()}
    found = [(at, name) for at, name in places.items() if at >= 0]
    if not found:
        known = ", ".join(f"{name} (has {mark})" for mark, name in _MARKS.items())
        raise WrongFile(f"{path}: none of the formats that are known: {known}")
    return min(found)[1]
