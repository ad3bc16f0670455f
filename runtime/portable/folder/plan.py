"""What a folder says otherwise than the agent: edits to take in, conflicts, things to know.

A file says which version it was made of. What the agent changed since is no conflict where the file
was not edited; where both changed, it is. Nothing is changed here.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pagemind.runtime.archival_memory import each_once
from pagemind.runtime.clock import parse_rfc3339
from pagemind.runtime.errors import ExportTooNew, ProfileMismatch, UserError
from pagemind.runtime.naming import folded, nearest
from pagemind.runtime.portable.folder.files import (
    BLOCKS,
    FORMAT,
    PASSAGES,
    README,
    block_file,
    first_texts,
    passage_file,
    passages,
    told,
)
from pagemind.runtime.portable.folder.front_matter import Page, bad, parsed
from pagemind.runtime.profile import Profile
from pagemind.runtime.settings import FOLDER_FORMAT, PASSAGE_CHARS
from pagemind.runtime.state.state import State

Action = Literal["edit", "insert", "retire"]
_ID = re.compile(r"a([1-9]\d{0,17})")


@dataclass(frozen=True, slots=True)
class Change:
    """One thing to do. `id` is a label or a short id, "" for what is new."""

    action: Action
    what: Literal["block", "passage"]
    id: str
    path: str
    before: str = ""
    text: str = ""
    tags: tuple[str, ...] = ()
    importance: float | None = None
    conflict: bool = False  # the agent has changed it since, too


@dataclass(slots=True)
class Plan:
    """All of it. `behind`: the agent has passages that the folder does not know."""

    changes: list[Change] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    behind: bool = False

    @property
    def conflicts(self) -> list[Change]:
        return [change for change in self.changes if change.conflict]


@dataclass(frozen=True, slots=True)
class _Content:
    text: str
    tags: tuple[str, ...] = ()
    importance: float | None = None

    def same(self, other: "_Content") -> bool:
        """Line ends and those at the end of a file are the editor's."""
        return (_plain(self.text), self.tags, self.importance) == (
            _plain(other.text),
            other.tags,
            other.importance,
        )


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").rstrip("\n")


def read_index(folder: Path) -> Page:
    """The README of a dump. Raises UserError for what is none, and for one of a newer version."""
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder", hint="`pagemind memory dump` makes one")
    path = folder / README
    page = parsed(_bytes(path), path) if path.is_file() else Page({}, "")
    if page.values.get("format") != FORMAT:
        raise UserError(
            f"{folder} holds no memory of an agent: its {README} does not say so",
            hint="`pagemind memory dump AGENT DIR` makes such a folder",
        )
    found = page.values.get("schema")
    if type(found) is not int or found < 1:
        bad(path, page.lines.get("schema", 1), "it has no schema")
    if found > FOLDER_FORMAT:
        raise ExportTooNew(
            f"{path} was written by a newer pagemind (schema {found}; this one knows"
            f" {FOLDER_FORMAT})",
            hint="upgrade pagemind; nothing was loaded",
        )
    return page


def plan(
    state: State,
    folder: Path,
    agent: str,
    *,
    sync: bool = False,
    profiles: Mapping[str, Profile] | None = None,
) -> Plan:
    """Raises UserError with file and line for the first thing that is wrong."""
    index = read_index(folder)
    if folded(str(index.values.get("agent"))) != folded(agent):
        raise UserError(
            f"{folder} is the memory of {index.values.get('agent')!r}, not of {agent!r}",
            hint=f"if it is the same agent under another name, say so in {README}",
        )
    made = _Planner(state, folder, profiles or {})
    made.blocks()
    made.passages()
    made.gone(str(index.values.get("passages_until") or ""), retire=sync)
    return made.plan


class _Planner:
    def __init__(self, state: State, folder: Path, profiles: Mapping[str, Profile]) -> None:
        self.plan = Plan()
        self._state = state
        self._folder = folder
        self._profiles = profiles
        self._there: set[int] = set()

    # --- blocks ---------------------------------------------------------------------------------

    def blocks(self) -> None:
        known = {block.label: block for block in self._state.blocks.all()}
        expected = dict(block_file(block) for block in known.values())
        for path in _files(self._folder, BLOCKS):
            shown = f"{BLOCKS}/{path.name}"
            data = _bytes(path)
            if expected.get(shown) == data:
                continue
            page = parsed(data, path)
            label = page.values.get("label", path.stem)
            if label != path.stem:
                bad(path, page.lines.get("label", 1), f"its label is {label!r}, not its name")
            if label not in known:
                hint = nearest(path.stem, list(known), otherwise="a definition makes blocks")
                bad(path, 1, f"there is no block {path.stem!r}", hint)
            self._trust(page, shown)
            block = known[label]
            new, now = _Content(page.text), _Content(block.value)
            for key, value in (("limit", block.limit), ("description", block.description)):
                if page.values.get(key, value) != value:
                    self.plan.notes.append(f"{shown}: {key} is not loaded: the definition has it")
            if new.same(now):
                continue
            text = page.text
            if profile := self._profiles.get(label):
                try:
                    text = profile.rewritten(block.value, text, by_person=True)
                except ProfileMismatch as error:
                    bad(path, page.line, error.message)
                if text == block.value:
                    continue
            if len(text) > block.limit:
                line = page.line + text.count("\n", 0, block.limit)
                over = len(text) - block.limit
                why = f"{len(text):,} of {block.limit:,} characters, {over:,} too many"
                bad(path, line, why, "shorten it; nothing was loaded")
            version = _version(page, path, block.version)
            old = self._state.blocks.version(label, version)
            edited = old is None or not new.same(_Content(old.value))
            self._add(
                Change("edit", "block", label, shown, block.value, text),
                edited=edited,
                behind=version < block.version,
            )

    # --- passages -------------------------------------------------------------------------------

    def passages(self) -> None:
        first = first_texts(self._state)
        expected = {}
        for passage in passages(self._state):
            name, data = passage_file(passage, first.get(passage.number, passage.text))
            expected[name] = (passage.number, data)
        for path in _files(self._folder, PASSAGES):
            shown = f"{PASSAGES}/{path.name}"
            data = _bytes(path)
            number, same = expected.get(shown, (0, b""))
            if data == same:
                self._once(number, path)
                continue
            self._passage(path, shown, parsed(data, path))

    def _trust(self, page: Page, shown: str) -> None:
        """A file does not say how far it is trusted."""
        if "trust" in page.values:
            self.plan.notes.append(
                f"{shown}: trust is not loaded: only a person says it, with `pagemind memory trust`"
            )

    def _once(self, number: int, path: Path) -> None:
        if number in self._there:
            bad(path, 1, f"a{number} stands in another file too")
        self._there.add(number)

    def _passage(self, path: Path, shown: str, page: Page) -> None:
        new = _content(page, path)
        self._trust(page, shown)
        id = page.values.get("id")
        if id is None:
            change = Change("insert", "passage", "", shown, "", new.text, new.tags, new.importance)
            self.plan.changes.append(change)
            return
        line = page.lines.get("id", 1)
        match = _ID.fullmatch(str(id))
        number = int(match[1]) if match else 0
        now = self._state.passages.get([number]).get(number)
        if now is None:
            bad(path, line, f"there is no passage {id!r}", "without an id it is a new one")
        self._once(number, path)
        version = _version(page, path, now.version)
        said = {"origin": now.provenance.origin, "source": now.provenance.detail}
        if version == now.version:
            said |= {key: value or "" for key, value in told(now).items()}
        for key, value in said.items():
            if (page.values.get(key) or value) != value:
                self.plan.notes.append(f"{shown}: {key} is not loaded: it is what it was")
        there = _Content(now.text, now.tags, now.importance)
        gone = now.provenance.status == "retired"
        if new.same(there) and not gone:
            return
        edited = not new.same(self._old(number, version))
        self._add(
            Change(
                "edit",
                "passage",
                now.short_id,
                shown,
                now.text,
                new.text,
                new.tags,
                new.importance,
            ),
            edited=edited,
            behind=version < now.version or gone,
        )

    def _old(self, number: int, version: int) -> _Content:
        row = self._state.database.one(
            "SELECT text, tags, importance FROM passage_versions WHERE number = ? AND version = ?",
            (number, version),
        )
        if row is None:
            return _Content("")
        return _Content(row["text"], tuple(json.loads(row["tags"])), row["importance"])

    def gone(self, until: str, *, retire: bool) -> None:
        """Passages that have no file: the folder has known them, or they came later."""
        try:
            known = parse_rfc3339(until) if until else None
        except ValueError:
            bad(self._folder / README, 1, "passages_until is not a time")
        for passage in passages(self._state):
            if passage.number in self._there:
                continue
            versions = self._state.passages.history(passage.number)
            later = known is None or versions[-1].at > known
            self.plan.behind |= later
            if retire and known is not None and versions[0].at <= known:
                self._add(
                    Change("retire", "passage", passage.short_id, "", passage.text),
                    edited=True,
                    behind=later,
                )

    def _add(self, change: Change, *, edited: bool, behind: bool) -> None:
        if not edited:
            what = f"{change.path}: {change.id} is another one in the agent by now; dump it again"
            self.plan.notes.append(what)
            return
        fields = {name: getattr(change, name) for name in Change.__slots__}
        self.plan.changes.append(Change(**{**fields, "conflict": behind}))


def _content(page: Page, path: Path) -> _Content:
    """What a person may edit of a passage."""
    tags: Any = page.values.get("tags") or []
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        bad(path, page.lines.get("tags", 1), 'tags is a list of words: tags: ["boat"]')
    importance: Any = page.values.get("importance")
    if importance is not None and (
        isinstance(importance, bool)
        or not isinstance(importance, int | float)
        or not 1 <= importance <= 10
    ):
        bad(path, page.lines.get("importance", 1), "importance is a number from 1 to 10")
    if not page.text.strip():
        bad(path, page.line, "the text is empty", "remove the file, and say --sync, to retire it")
    if len(page.text) > PASSAGE_CHARS:
        why = f"{len(page.text):,} characters; a passage holds {PASSAGE_CHARS:,}"
        bad(path, page.line, why)
    return _Content(page.text, each_once(tags), None if importance is None else float(importance))


def _version(page: Page, path: Path, newest: int) -> int:
    found = page.values.get("version")
    line = page.lines.get("version", 1)
    if type(found) is not int or found < 1:
        bad(path, line, "it has no version: which one was edited?", "dump it again")
    if found > newest:
        bad(path, line, f"version {found} is not there yet; the newest is {newest}")
    return found


def _files(folder: Path, name: str) -> Iterator[Path]:
    """The Markdown files of a part of the folder. Raises UserError for links: they lead out of
    it."""
    part = folder / name
    if part.is_symlink():
        bad(part, 1, "it is a link, not a folder")
    if not part.is_dir():
        return
    for path in sorted(part.iterdir()):
        if path.name.startswith(".") or path.suffix != ".md":
            continue
        if path.is_symlink() or not path.is_file():
            bad(path, 1, "it is a link or a folder, not a file")
        yield path


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from error
