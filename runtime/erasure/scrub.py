"""scrub(): carries out a plan in state.db, in one transaction.

After it no table holds a text of what is erased: messages are tombstones, records and their
versions are gone, and what rested on them is told anew (retold.py, past_texts.py). LanceDB follows
by the outbox. The second time it does nothing and says the same: what was done stands in the file.
The agent is closed; whoever calls holds its lock.
"""

import json
from collections.abc import Iterable
from typing import Any

from pagemind.runtime import retold
from pagemind.runtime.erasure import past_texts
from pagemind.runtime.erasure.block_lines import without
from pagemind.runtime.erasure.plan import Counts, Plan, hashed
from pagemind.runtime.erasure.records import keep_versions, take_out
from pagemind.runtime.erasure.tombstones import bury, close_turns
from pagemind.runtime.function_executor import ONCE
from pagemind.runtime.state.database import Database
from pagemind.runtime.state.state import State
from pagemind.runtime.tokens import TokenCounter

DONE = "erased"  # of meta: the plan that was carried out last, and what it came to
_NOTHING = Counts()


def scrub(
    state: State, plan: Plan, counter: TokenCounter | None = None, *, by: str = "user"
) -> Counts:
    """Erase what the plan says; how much that was. `by` is who wants it, for the audit log."""
    if (done := scrubbed(state, plan)) is None:
        with state.database.transaction():
            done = _scrub(state, plan, counter or TokenCounter())
            state.database.set_meta(
                DONE, json.dumps({"plan": plan.sha256, "counts": done.to_dict()})
            )
            told: dict[str, Any] = {**done.to_dict()}
            state.audit.add("erased", plan.sha256, by=by, **told)
            state.audit.new_key(by)  # no guess of what was erased can be tried on its hash
    for sha256 in plan.blobs:  # after the commit: a message must not name what is not there
        state.blobs.remove(sha256)
    return done


def scrubbed(state: State, plan: Plan) -> Counts | None:
    """What this plan came to, where it was carried out as the last one."""
    stored = json.loads(state.database.meta(DONE, "{}"))
    return Counts.from_dict(stored["counts"]) if stored.get("plan") == plan.sha256 else None


def counts_of(state: State, plan: Plan) -> Counts:
    """What a plan comes to, as long as it is not carried out."""
    there = [m for m in state.journal.get(plan.messages).values() if not m.erased]
    records = state.passages.get(plan.passages).values()
    notes = sum(each.kind == "note" for each in records)
    rest = (
        *(plan.kept, plan.lines, plan.directories, plan.summaries, plan.segments),
        *(plan.changes, plan.entities, plan.inbox, plan.texts),
    )
    return Counts(
        messages=len(there),
        passages=notes,
        records=len(records) - notes,
        pages=len(plan.pages),
        derived=sum(map(len, rest)),
    )


def _scrub(state: State, plan: Plan, counter: TokenCounter) -> Counts:
    db, done = state.database, counts_of(state, plan)
    there = [m for m in state.journal.get(plan.messages).values() if not m.erased]
    bury(state, there, counter)
    close_turns(state, plan.turns, frozenset(plan.asked))
    keep_versions(state, plan.kept)
    take_out(state, plan.passages)
    _lineage(db, plan)
    _blocks(db, plan)
    _rest(db, plan)
    _meta(state, plan)
    retold.pages(state, plan.pages, counter.count)
    retold.directories(state, plan.directories, counter.count)
    retold.summaries(state, plan.summaries, counter.count)
    past_texts.rewrite(state, plan, counter.count)
    return done


def _lineage(db: Database, plan: Plan) -> None:
    """Nothing descends any more from what is gone, nor does that from anything."""
    gone = [f"m{seq}" for seq in plan.messages]
    gone += [f"a{number}" for number in plan.passages]
    gone += [f"seg{number}" for number in plan.segments]
    listed = json.dumps(gone)
    for column in ("derived", "source"):
        db.write(
            f"DELETE FROM lineage WHERE {column} IN (SELECT value FROM json_each(?))", (listed,)
        )
    left = (
        "(SELECT json_group_array(value) FROM json_each({0}.sources)"
        " WHERE value NOT IN (SELECT value FROM json_each(?1)))"
    )
    for table in ("passages", "messages", "changes"):
        db.write(
            f"UPDATE {table} SET sources = {left.format(table)} WHERE EXISTS (SELECT 1 FROM"
            f" json_each({table}.sources) WHERE value IN (SELECT value FROM json_each(?1)))",
            (listed,),
        )


def _blocks(db: Database, plan: Plan) -> None:
    """In every version, so that nothing brings a line back."""
    lines = frozenset(plan.lines)
    for label in plan.blocks:
        for row in db.rows("SELECT version, value FROM block_versions WHERE label = ?", (label,)):
            if (left := without(row["value"], lines)) != row["value"]:
                db.write(
                    "UPDATE block_versions SET value = ? WHERE label = ? AND version = ?",
                    (left, label, row["version"]),
                )
        db.write(
            "UPDATE blocks SET value = (SELECT v.value FROM block_versions v WHERE v.label ="
            " blocks.label AND v.version = blocks.version) WHERE label = ?",
            (label,),
        )


def _rest(db: Database, plan: Plan) -> None:
    for table, column, numbers in (
        ("segment_pages", "segment", plan.segments),
        ("segments", "number", plan.segments),
        ("changes", "number", plan.changes),
        ("inbox", "number", plan.inbox),
        ("entity_names", "entity", plan.entities),
        ("entities", "number", plan.entities),
    ):
        _delete(db, table, column, numbers)
    for row in list(db.rows("SELECT DISTINCT key FROM entity_names")):
        if hashed(row["key"]) in plan.names:
            db.write("DELETE FROM entity_names WHERE key = ?", (row["key"],))
    db.write_many(
        "UPDATE entities SET name = coalesce((SELECT n.name FROM entity_names n WHERE n.entity ="
        " entities.number ORDER BY n.seq LIMIT 1), '') WHERE number = ?",
        [(number,) for number in plan.renamed],
    )
    db.write_many(
        "DELETE FROM links WHERE low = ? AND high = ? AND seq = ?",
        [each.split() for each in plan.links],
    )
    for each in plan.reasons:
        id, _, version = each.rpartition("@")
        if id.startswith("block:"):
            where, key = "block_versions SET reason = '' WHERE label = ?", id.removeprefix("block:")
        else:
            where, key = "passage_versions SET reason = '' WHERE number = ?", id[1:]
        db.write(f"UPDATE {where} AND version = ?", (key, version))
    for table in ("documents", "document_versions"):
        for row in list(db.rows(f"SELECT DISTINCT source FROM {table}")):
            if hashed(row["source"]) in plan.documents:
                db.write(f"DELETE FROM {table} WHERE source = ?", (row["source"],))
        gone = json.dumps(plan.passages)
        db.write(
            f"UPDATE {table} SET numbers = (SELECT json_group_array(value) FROM"
            f" json_each({table}.numbers) WHERE value NOT IN (SELECT value FROM json_each(?1)))"
            f" WHERE EXISTS (SELECT 1 FROM json_each({table}.numbers) WHERE value IN"
            " (SELECT value FROM json_each(?1)))",
            (gone,),
        )


def _delete(db: Database, table: str, column: str, numbers: Iterable[int]) -> None:
    db.write(
        f"DELETE FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))",
        (json.dumps(list(numbers)),),
    )


def _meta(state: State, plan: Plan) -> None:
    """What waits, or is remembered, of turns and records that go."""
    db, turns = state.database, set(plan.turns)
    waits = json.loads(db.meta("approval") or "{}")
    if waits.get("turn") in turns and "lapsed" not in waits:
        db.set_meta("approval", json.dumps({"turn": waits["turn"], "lapsed": True}))
    if json.loads(db.meta("errand") or "{}").get("turn") in turns:
        db.set_meta("errand", "{}")
    if failures := json.loads(db.meta("skill_failures") or "{}"):
        left = {k: v for k, v in failures.items() if int(k) not in set(plan.passages)}
        if left != failures:
            db.set_meta("skill_failures", json.dumps(left))
    for row in list(db.rows("SELECT key FROM meta WHERE key GLOB ?", (f"{ONCE}*",))):
        if hashed(row["key"]) in plan.answers:  # done once it stays: it is not done again
            db.set_meta(row["key"], json.dumps("[erased]"))
