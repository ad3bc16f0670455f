"""dump_memory: writes an agent's memory as Markdown into a folder; the same memory is the same
bytes, and what is the same is not written again.

Edits that were not loaded are not overwritten unless asked; other people's files never are.
"""

import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pagemind.runtime.errors import UserError
from pagemind.runtime.portable.folder.files import (
    BLOCKS,
    CONVERSATIONS,
    PASSAGES,
    README,
    conversation_head,
    conversation_pieces,
    memory_files,
    readme,
)
from pagemind.runtime.portable.folder.plan import plan, read_index
from pagemind.runtime.state.state import State
from pagemind.runtime.written_path import expanded

if TYPE_CHECKING:
    from pagemind.runtime.runtime import Runtime

# Names of ours: what has none of them is somebody else's.
_OURS = {
    BLOCKS: re.compile(r"[a-z][a-z0-9_-]*\.md"),
    PASSAGES: re.compile(r"a[1-9]\d*(-[a-z0-9-]+)?\.md"),
    CONVERSATIONS: re.compile(r"\d{4}-\d\d-\d\d-\d+\.md"),
}


@dataclass(frozen=True, slots=True)
class Dumped:
    """How many of each there are, and how many files were written or removed for it."""

    agent: str
    folder: Path
    blocks: int
    passages: int
    conversations: int
    written: int
    removed: int

    def as_json(self) -> dict[str, Any]:
        """The answer of `memory dump` (docs/json.md)."""
        return {name: getattr(self, name) for name in self.__slots__} | {"folder": str(self.folder)}


def dump_memory(
    runtime: "Runtime", name: str, folder: str | Path, *, force: bool = False
) -> Dumped:
    """Write it; the agent may be in use. Raises UnknownAgent, UserError."""
    folder = expanded(folder)
    with runtime.reader(name) as reader, reader.state.database.reading():
        try:
            _check(reader.state, folder, reader.name, force)
            runtime.home.made_files.note(reader.registered.id, folder, "folder")
            return _Dump(reader.state, folder, reader.name, reader.zone).run()
        except OSError as error:
            raise UserError(
                f"{error.filename or folder} cannot be written: {error.strerror or error}",
                hint="check the permissions and the space on the disk",
            ) from error


def _check(state: State, folder: Path, agent: str, force: bool) -> None:
    """Raises UserError where something would be lost."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file", hint="give a folder")
    for part in (folder / name for name in _OURS):
        if part.is_symlink():
            raise UserError(f"{part} is a link: it leads out of the folder", hint="remove it")
    there = (
        [each for each in folder.iterdir() if not each.name.startswith(".")]
        if (folder.is_dir())
        else []
    )
    if not there or force:
        return
    read_index(folder)
    edits = plan(state, folder, agent).changes
    if edits:
        named = ", ".join(change.path for change in edits[:5])
        more = f" and {len(edits) - 5} more" if len(edits) > 5 else ""
        raise UserError(
            f"{folder} has edits that were not loaded: {named}{more}",
            hint=f"`pagemind memory load {agent} {folder}` first, or --force to lose them",
        )


class _Dump:
    def __init__(self, state: State, folder: Path, agent: str, zone: tzinfo) -> None:
        self._state = state
        self._folder = folder
        self._agent = agent
        self._zone = zone
        self._written = 0
        self._removed = 0

    def run(self) -> Dumped:
        for name in _OURS:
            (self._folder / name).mkdir(parents=True, exist_ok=True)
        kept = set()
        for path, data in memory_files(self._state):
            kept.add(path)
            self._put(path, data)
        talks = self._conversations()
        kept |= talks
        for name, ours in _OURS.items():
            for old in (self._folder / name).iterdir():
                if ours.fullmatch(old.name) and f"{name}/{old.name}" not in kept:
                    old.unlink()
                    self._removed += 1
        self._put(README, readme(self._agent, self._state))
        return Dumped(
            agent=self._agent,
            folder=self._folder,
            blocks=sum(path.startswith(f"{BLOCKS}/") for path in kept),
            passages=sum(path.startswith(f"{PASSAGES}/") for path in kept),
            conversations=len(talks),
            written=self._written,
            removed=self._removed,
        )

    def _put(self, name: str, data: bytes) -> None:
        self._written += put(self._folder / name, data)

    def _conversations(self) -> set[str]:
        """Written beside as they come, then put in place where they differ."""
        beside = self._folder / CONVERSATIONS / ".new"
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir()
        names: dict[int, str] = {}
        try:
            for number, day, piece in conversation_pieces(self._state, self._zone):
                fresh = number not in names
                path = beside / names.setdefault(number, f"{day}-{number}.md")
                with path.open("a", encoding="utf-8", newline="\n") as file:
                    if fresh:
                        file.write(conversation_head(number, day))
                    file.write(piece)
            for name in names.values():
                target = self._folder / CONVERSATIONS / name
                if not target.is_file() or target.read_bytes() != (beside / name).read_bytes():
                    (beside / name).replace(target)
                    self._written += 1
        finally:
            shutil.rmtree(beside, ignore_errors=True)
        return {f"{CONVERSATIONS}/{name}" for name in names.values()}


def put(path: Path, data: bytes) -> bool:
    """Write a file as a whole, if it is another one; whether it was. A link is replaced, and what
    it leads to is left alone."""
    if not path.is_symlink() and path.is_file() and path.read_bytes() == data:
        return False
    beside = path.with_name(f".{path.name}.new")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    finally:
        with suppress(OSError):
            beside.unlink()
    return True
