"""Files that an erasure looks through, line by line, and writes anew without what goes."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path


def text_files(home: Path) -> Iterator[Path]:
    """Logs of the home, and what was typed into its chats."""
    names = ("chat_history", "pagemind.log*", "tasks/*/log.jsonl")
    for name in names:
        yield from (path for path in sorted(home.glob(name)) if path.is_file())


_HEADS = {"export": b"PK\x03\x04", "trace": b'{"v": '}


def is_ours(path: Path, kind: str) -> bool:
    """Whether what lies there is still what was written, and nothing that took its place."""
    try:
        if kind == "folder":
            return (path / "passages").is_dir()
        with path.open("rb") as file:
            head = file.read(8192)
    except OSError:
        return False
    return b"pagemind" in head if kind == "page" else head.startswith(_HEADS.get(kind, b""))


def ids_of(path: Path) -> Iterator[str]:
    """The ids that the event of a file may have had: it may have been renamed on its way."""
    data, changed = path.read_bytes(), path.stat().st_mtime_ns
    stem, ending = path.stem, path.suffix
    plain = stem.rpartition(" (")[0] if stem.endswith(")") else stem
    for name in dict.fromkeys((path.name, f"{plain}{ending}")):
        whole = hashlib.sha256(f"{name}\0{changed}\0".encode("utf-8", "replace") + data)
        yield f"file {whole.hexdigest()[:32]}"


def of_others(path: Path, agent: str) -> Iterator[bytes]:
    """The lines of a trace that are not this agent's."""
    for line in path.read_bytes().splitlines(keepends=True):
        try:
            if json.loads(line)["agent"] != agent:
                yield line
        except (ValueError, KeyError, TypeError):
            continue


def lines_of(path: Path) -> Iterator[str]:
    with suppress(OSError), path.open("rb") as file:
        for line in file:
            yield line.decode("utf-8", "replace").rstrip("\r\n")


def replace(path: Path, lines: Iterable[bytes]) -> None:
    """Whole or not at all; a file without lines goes."""
    data = b"".join(lines)
    if not data:
        remove(path)
        return
    beside = path.with_name(f".{path.name}.new")
    try:
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def remove(path: Path) -> None:
    path.unlink(missing_ok=True)
