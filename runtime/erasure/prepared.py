"""Prepared: all that an erasure needs to be carried through after its texts are gone, as one JSON
value; and prepare(), which makes it while they still stand.

It holds ids, paths and salted hashes. It is stored before anything is touched, so that a crash at
any instant finds what is to be done next.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from pagemind.runtime.clock import parse_rfc3339
from pagemind.runtime.erasure.outside import Beside, Outside
from pagemind.runtime.erasure.plan import Counts, Plan, hashed
from pagemind.runtime.erasure.scrub import counts_of
from pagemind.runtime.erasure.telltales import TellTales, telltales
from pagemind.runtime.erasure.texts import erased_texts, remaining_texts
from pagemind.runtime.settings import DENIED_REPLY_CHARS
from pagemind.runtime.state.archives import ArchiveRegistry
from pagemind.runtime.state.database import Database, peek
from pagemind.runtime.state.home import Home, Registered
from pagemind.runtime.state.physical import cells
from pagemind.runtime.state.state import State

_ELSEWHERE = 3  # tell-tales that another agent says too: fewer may be chance
_LOCAL = ("local/", "scripted", "none", "hashing")


@dataclass(frozen=True, slots=True)
class Prepared:
    """`denied`: digests for the denylist; `unsure`: what of it nobody can verify; `purged_ns`: when
    the purge began, by the clock of the disk; `holds`: tags and branches that went."""

    plan: Plan
    counts: Counts
    outside: Outside
    tales: tuple[str, ...]
    denied: tuple[str, ...]
    unsure: tuple[str, ...] = ()
    keep_files: bool = False
    by: str = "user"  # or the runtime, where a definition says how long it keeps
    purged_ns: int = 0
    holds: tuple[str, ...] = ()
    gone: int = 0  # files of a person
    kept: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)  # what verifying found

    def to_json(self) -> str:
        return json.dumps(
            {
                "plan": self.plan.to_json(),
                "counts": self.counts.to_dict(),
                "outside": self.outside.as_json(),
                "tales": self.tales,
                "denied": self.denied,
                "unsure": self.unsure,
                "keep_files": self.keep_files,
                "by": self.by,
                "purged_ns": self.purged_ns,
                "holds": self.holds,
                "gone": self.gone,
                "kept": self.kept,
                "facts": self.facts,
            },
            ensure_ascii=False,
            separators=(",", ":"),
        )

    @staticmethod
    def from_json(text: str) -> "Prepared":
        stored = json.loads(text)
        return Prepared(
            plan=Plan.from_json(stored["plan"]),
            counts=Counts.from_dict(stored["counts"]),
            outside=Outside.from_json(stored["outside"]),
            tales=tuple(stored["tales"]),
            denied=tuple(stored["denied"]),
            unsure=tuple(stored["unsure"]),
            keep_files=stored["keep_files"],
            by=stored["by"],
            purged_ns=stored["purged_ns"],
            holds=tuple(stored["holds"]),
            gone=stored["gone"],
            kept=tuple(stored["kept"]),
            facts=stored["facts"],
        )

    def saying(self, **changed: Any) -> "Prepared":
        return replace(self, **changed)


def prepare(
    home: Home,
    archives: ArchiveRegistry,
    agent: Registered,
    state: State,
    plan: Plan,
    matches: Callable[[str], bool],
) -> Prepared:
    """Read the agent, and the rest of its home for what it has in common with it."""
    database, salt = state.database, home.denied.salt
    tales = telltales(erased_texts(state, plan), salt)
    tales = tales.without(remaining_texts(state, plan))
    looked = Beside(home, agent, plan, tales, matches)
    shared = _in_archives(archives, agent, plan, looked)
    unsure = list(_senders(database))
    for name, texts in _others(home, archives, agent, dict(shared)):
        said = _said(tales, texts)
        if len(said) >= _ELSEWHERE:
            unsure.append(f"{name}, who has been told the same: erase it there, too")
        tales = TellTales(salt, tales.runs - said)
    tales = tales.fewer()
    looked = Beside(home, agent, plan, tales, matches)
    outside = looked.look(since=_oldest(database, plan), turn_ids=_turn_ids(database, plan))
    return Prepared(
        plan=plan,
        counts=counts_of(state, plan),
        outside=replace(outside, archives=shared),
        tales=tuple(tales.stored()),
        denied=tuple(dict.fromkeys(_denied(home, state, plan))),
        unsure=tuple(unsure),
    )


def _said(tales: TellTales, texts: Iterator[str]) -> set[tuple[str, int]]:
    found: set[tuple[str, int]] = set()
    if tales:
        for text in texts:
            found |= tales.in_text(text)
    return found


def _others(
    home: Home, archives: ArchiveRegistry, agent: Registered, shared: dict[str, tuple[int, ...]]
) -> Iterator[tuple[str, Iterator[str]]]:
    """Everything that other agents and archives say, without what goes from an archive."""
    for each in home.all():
        if each.id != agent.id:
            path = home.folder(each.id) / "state.db"
            yield f"the agent {each.name}", (text for _, _, text in _cells(path))
    for archive in archives.all():
        path = archives.folder(archive.id) / "state.db"
        gone = frozenset(shared.get(archive.id, ()))
        yield f"the archive {archive.name}", _left(path, gone)


def _left(path: Path, gone: frozenset[int]) -> Iterator[str]:
    if gone:
        with_them = {"passages", "passage_versions", "outbox"}
        for table, _, text in _cells(path):
            if table not in with_them:
                yield text
        for row in peek(path, "SELECT number, text FROM passage_versions"):
            if row["number"] not in gone:
                yield row["text"]
        return
    yield from (text for _, _, text in _cells(path))


def _cells(path: Path) -> Iterator[tuple[str, int, str]]:
    if path.exists():
        yield from cells(path)


def _in_archives(
    archives: ArchiveRegistry, agent: Registered, plan: Plan, looked: Beside
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Passages that the agent wrote to shared archives and that say what is erased; with the whole
    agent all that it wrote there."""
    found = []
    for archive in archives.all():
        path = archives.folder(archive.id) / "state.db"
        if not path.exists():
            continue
        rows = peek(path, "SELECT number, text, origin, origin_detail FROM passages")
        own = (agent.name, agent.id)
        numbers = tuple(
            row["number"]
            for row in rows
            if row["origin"] == "agent"
            and row["origin_detail"] in own
            and looked.meant(row["text"])
        )
        if numbers:
            found.append((archive.id, numbers))
    return tuple(found)


def _senders(database: Database) -> Iterator[str]:
    """Who was sent it, and may have kept it."""
    for row in database.rows("SELECT DISTINCT model FROM steps ORDER BY model"):
        if row["model"] and not row["model"].startswith(_LOCAL):
            yield f"the logs of whoever runs {row['model']}, which was sent it"
    embedding = database.meta("embedding")
    if embedding and not embedding.startswith(_LOCAL):
        yield f"the logs of whoever runs {embedding}, which was sent it"


def _oldest(database: Database, plan: Plan) -> datetime | None:
    """When the first of it was said; None if that is not known."""
    if plan.everything:
        return None
    times = [
        row["at"]
        for sql, keys in (
            ("SELECT min(recorded_at) AS at FROM messages WHERE seq", plan.messages),
            ("SELECT min(created_at) AS at FROM passages WHERE number", plan.passages),
        )
        for row in database.rows_in(sql, keys)
        if row["at"]
    ]
    return parse_rfc3339(min(times)) if times else None


def _turn_ids(database: Database, plan: Plan) -> frozenset[str]:
    if plan.everything:
        rows = database.rows("SELECT client_id FROM turns WHERE client_id IS NOT NULL")
    else:
        sql = "SELECT client_id FROM turns WHERE client_id IS NOT NULL AND turn"
        rows = list(database.rows_in(sql, plan.turns))
    return frozenset(row["client_id"] for row in rows)


def _denied(home: Home, state: State, plan: Plan) -> Iterator[str]:
    """Digests of what must not come back: messages and records by id and by text, files by hash."""
    denied, database = home.denied, state.database
    for table, key, chosen in (
        ("messages", "seq", plan.messages),
        ("passages", "number", plan.passages),
    ):
        for row in database.rows_in(f"SELECT id FROM {table} WHERE {key}", chosen):
            yield denied.of_id(row["id"])
    messages = state.journal.get(plan.messages)
    texts = [
        message.text
        for message in messages.values()
        if message.role == "user"
        or (message.role == "assistant" and len(message.text) >= DENIED_REPLY_CHARS)
    ]
    sql = "SELECT text FROM passage_versions WHERE number"
    texts += [row["text"] for row in database.rows_in(sql, plan.passages)]
    for text in texts:
        if digest := denied.of_text(text):
            yield digest
    sources = set(plan.documents)
    for row in database.rows("SELECT source, sha256 FROM document_versions"):
        if row["sha256"] and (plan.everything or hashed(row["source"]) in sources):
            yield denied.of_document(row["sha256"])
