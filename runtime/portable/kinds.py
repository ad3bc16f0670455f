"""What a file to import is, told by its content and never by its name: pagemind's own .pmz, or
what another tool has written, so that a person who took the wrong file learns which it is.

An importer of another kind needs its row in KINDS and its reader in the table that the command
`agents import` looks in.
"""

import json
import re
import zipfile
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import NoReturn

from pagemind.runtime.errors import BadExport

# Each with what a person calls it.
KINDS = {
    "pmz": "an agent exported by pagemind",
    "letta": "a Letta agent file (.af)",
    "chatgpt": "a ChatGPT data export",
    "claude": "a Claude data export",
    "mem0": "a mem0 export",
    "chat": "an OpenAI-style chat in JSON",
    "chat lines": "an OpenAI-style chat in JSON lines",
    "sqlite": "a SQLite database",
    "json": "JSON of no kind known here",
    "zip": "a zip of no kind known here",
    "text": "text",
    "empty": "empty",
    "unknown": "of no kind known here",
}
_HEAD = 1 << 16
# What ChatGPT and Claude call their conversations; large exports come in several files.
CONVERSATIONS = re.compile(r"conversations(?:[-_]\d+)?\.json")


def recognise(path: Path, *, inside: Collection[str] | None = None) -> str:
    """A key of KINDS. `inside` are the names in a zip that was opened already. Raises BadExport
    for what is no file that can be read."""
    if inside is not None:
        return _of_zip(inside)
    try:
        if not path.is_file():
            what = "is a folder" if path.is_dir() else "is not there"
            raise BadExport(f"{path} {what}", hint="give the file that an export has written")
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise BadExport(f"{path} cannot be read: {error.strerror or error}") from error
    if not head:
        return "empty"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        try:
            with zipfile.ZipFile(path) as archive:
                return _of_archive(archive)
        except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError):
            return "zip"
    if head.startswith(b"SQLite format 3\0"):
        return "sqlite"
    return _of_text(head)


def refuse(path: Path, kind: str) -> NoReturn:
    """Say what a file is instead of an export of pagemind."""
    if kind == "empty":
        raise BadExport(f"{path} is empty", hint="the export may have been cut off: make it again")
    raise BadExport(
        f"{path} is not an agent exported by pagemind; it is {KINDS[kind]}",
        hint="`pagemind agents import` reads the .pmz files of `pagemind agents export`, and what"
        " other tools export (docs/portability.md)",
    )


def _of_zip(names: Collection[str]) -> str:
    if "manifest.json" in names and "definition.json" in names:
        return "pmz"
    base = {name.rsplit("/", 1)[-1] for name in names}
    if any(CONVERSATIONS.fullmatch(name) for name in base):
        return "chatgpt" if base & {"chat.html", "message_feedback.json"} else "claude"
    return "zip"


def _of_archive(archive: zipfile.ZipFile) -> str:
    """By the beginning of its conversations, where it has some that can be read."""
    kind = _of_zip(archive.namelist())
    if kind == "pmz":
        return kind
    for info in archive.infolist():
        if CONVERSATIONS.fullmatch(info.filename.replace("\\", "/").rsplit("/", 1)[-1]):
            try:
                with archive.open(info) as member:
                    inside = _of_text(member.read(_HEAD))
            except (RuntimeError, EOFError, zlib.error):  # encrypted or damaged
                return kind
            return inside if inside in ("chatgpt", "claude") else kind
    return kind


def _of_text(head: bytes) -> str:
    """By the keys at the beginning: a large file need not be read for it."""
    if b"\0" in head:
        return "unknown"
    text = head.decode("utf-8-sig", "replace").lstrip()
    if not text.startswith(("{", "[")):
        return "text"
    keys = set(re.findall(r'"(\w+)"\s*:', text))
    letta = ({"agent_type", "core_memory"}, {"agents", "blocks", "tools"}, {"agents", "block_ids"})
    if any(those <= keys for those in letta):
        return "letta"
    if ("mapping" in keys and "current_node" in keys) or {"mapping", "create_time"} <= keys:
        return "chatgpt"
    if "chat_messages" in keys:
        return "claude"
    if "memory" in keys and keys & {"user_id", "hash", "agent_id"}:
        return "mem0"
    if text.startswith("{") and _is_line(text) and {"role", "content"} <= keys | {"messages"}:
        return "chat lines" if "\n" in text.strip() else "chat"
    if {"role", "content"} <= keys:
        return "chat"
    return "json"


def _is_line(text: str) -> bool:
    """Whether the first line is a whole JSON object."""
    try:
        return isinstance(json.loads(text.split("\n", 1)[0]), dict)
    except (ValueError, RecursionError):
        return False
