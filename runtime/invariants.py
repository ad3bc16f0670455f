"""What always holds of an agent's stores, at every committed instant and after every kill.

check_state() looks at the state database alone, check_tiers() compares LanceDB with it. Both only
read, may run beside a writer, and return what they found: "wrong" breaks an invariant; "note" is
a state that the next opening or write-back mends by itself. An empty list: all is well.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from pagemind.runtime import record_laws
from pagemind.runtime.errors import EmbeddingMismatch, PagemindError, SchemaTooNew
from pagemind.runtime.finding import Finding, Repair, listed, wrong
from pagemind.runtime.message import Message
from pagemind.runtime.outbox import Tier
from pagemind.runtime.page import Page
from pagemind.runtime.semantic_invariants import check_records
from pagemind.runtime.settings import FANOUT, OPTIMIZE_COMMITS, WRITE_BACK_ROWS
from pagemind.runtime.state.history import Epoch
from pagemind.runtime.state.lines import on_line
from pagemind.runtime.state.passages import digest
from pagemind.runtime.state.state import State
from pagemind.runtime.tiers.schema import (
    LEXICAL,
    rows_of_message,
    rows_of_page,
    rows_of_passage,
    text_digest,
)
from pagemind.runtime.tiers.store import TIERS, TierStore
from pagemind.runtime.trust_invariants import check_trust

_Compare = Callable[[State, TierStore, Tier], Iterator["Finding"]]
_CHUNK = 1000  # messages read at once
_TRIES = 3  # of a comparison beside a busy writer
_UNINDEXED = OPTIMIZE_COMMITS * WRITE_BACK_ROWS  # rows between two compactions at most


# --- the state database ---------------------------------------------------------------------------


def check_state(state: State) -> list[Finding]:
    """Everything that must be true of the authority, read as of one instant."""
    with state.database.reading():
        found = list(_messages(state))
        found += _queries(state)
        found += _pages(state)
        found += _directories(state)
        found += _epochs(state)
        found += check_records(state)
        found += check_trust(state)
        found += _unfinished(state)
        for check, what, ids, repair in record_laws.faults(state):
            found += wrong(check, what, ids, repair)
        return found


def _messages(state: State) -> Iterator[Finding]:
    """seq without gaps; every message readable; no empty reply; calls beside their results."""
    gaps: list[str] = []
    unreadable: list[str] = []
    empty: list[str] = []
    loose: list[str] = []
    split: list[str] = []
    open_turns = {row.turn for row in state.turns.unfinished()}
    if waits := state.database.meta("approval"):  # a call that waits has no result yet
        open_turns.add(json.loads(waits)["turn"])
    expected, last = 1, state.journal.last_seq
    waiting: list[str] = []  # the ids of calls whose results are due
    caller: Message | None = None
    for first in range(1, last + 1, _CHUNK):
        try:
            some = state.journal.range(first, min(last, first + _CHUNK - 1))
        except (ValueError, KeyError, TypeError) as error:
            unreadable.append(f"m{first} … m{first + _CHUNK - 1} ({error})")
            expected, waiting = first + _CHUNK, []
            continue
        for message, _, _ in some:
            if message.seq != expected:
                gaps.append(f"m{expected}" + ("" if message.seq == expected + 1 else " …"))
            expected = message.seq + 1
            if message.role == "assistant" and not (message.parts or message.tool_calls):
                empty.append(message.short_id)
            if message.role == "tool":
                if waiting and message.tool_call_id == waiting[0]:
                    waiting.pop(0)
                    if caller is not None and _page(state, message) != _page(state, caller):
                        split.append(message.short_id)
                else:
                    loose.append(message.short_id)
                continue
            if waiting and caller is not None:
                loose.append(caller.short_id)
            caller, waiting = message, [call.id for call in message.tool_calls]
    if expected <= last:
        gaps.append(f"m{expected}" + ("" if expected == last else f" … m{last}"))
    if waiting and caller is not None and caller.turn not in open_turns:
        loose.append(caller.short_id)
    yield from wrong("seq", "messages are missing", gaps)
    yield from wrong("messages", "cannot be read", unreadable)
    yield from wrong("messages", "empty replies", empty)
    yield from wrong("calls", "a call without its result, or a result without its call", loose)
    yield from wrong("calls", "a result and its call are in different places", split)


def _page(state: State, message: Message) -> int:
    return state.pages.of([message.seq]).get(message.seq, 0)


_COUNTED = (
    "SELECT speaker, count(*) FROM messages WHERE kind IN ('talk', 'observation')"
    f" AND status <> 'retired' AND {on_line('seq')} GROUP BY speaker"
)
# What is asked of SQLite: each query gives the names of what breaks the invariant.
_QUERIES: tuple[tuple[str, str, str], ...] = (
    (
        "blocks",
        "longer than the limit",
        "SELECT label FROM blocks WHERE length(value) > char_limit",
    ),
    (
        "blocks",
        "not equal to the newest version",
        "SELECT b.label FROM blocks b LEFT JOIN block_versions v ON v.label = b.label AND"
        " v.version = b.version WHERE v.value IS NULL OR v.value <> b.value",
    ),
    (
        "blocks",
        "versions are missing",
        "SELECT b.label FROM blocks b JOIN block_versions v ON v.label = b.label GROUP BY b.label"
        " HAVING count(*) <> b.version OR max(v.version) <> b.version OR min(v.version) <> 1",
    ),
    (
        "passages",
        "not equal to the newest version",
        "SELECT 'a' || p.number FROM passages p LEFT JOIN passage_versions v ON v.number = p.number"
        " AND v.version = p.version WHERE v.text IS NULL OR v.text <> p.text OR"
        " v.status <> p.status",
    ),
    (
        "passages",
        "versions are missing",
        "SELECT 'a' || p.number FROM passages p LEFT JOIN passage_versions v ON v.number = p.number"
        " GROUP BY p.number HAVING count(v.version) <> p.version OR max(v.version) <> p.version"
        " OR min(v.version) <> 1",
    ),
    (
        "speakers",
        "counts that are not those of the messages",
        f"SELECT speaker FROM (SELECT * FROM speakers EXCEPT {_COUNTED}) UNION"
        f" SELECT speaker FROM ({_COUNTED} EXCEPT SELECT * FROM speakers)",
    ),
    (
        "turns",
        "messages of turns that are not there",
        "SELECT 'm' || seq FROM messages WHERE turn <> 0 AND turn NOT IN (SELECT turn FROM turns)",
    ),
    (
        "turns",
        "ended without a reason",
        "SELECT turn FROM turns WHERE (ended_at IS NULL) <> (stop_reason IS NULL)",
    ),
    (
        "turns",
        "replies that are not there",
        "SELECT 'm' || value FROM turns, json_each(turns.reply_seqs)"
        " WHERE value NOT IN (SELECT seq FROM messages)",
    ),
    (
        "steps",
        "in an epoch that is not there",
        "SELECT step FROM steps WHERE epoch NOT IN (SELECT epoch FROM epochs)",
    ),
    (
        "steps",
        "a prefetch whose text is not there",
        "SELECT step FROM steps WHERE prefetch_sha256 <> '' AND"
        " prefetch_sha256 NOT IN (SELECT sha256 FROM texts)",
    ),
    (
        "views",
        "of messages that are not there",
        "SELECT 'm' || seq FROM views WHERE seq NOT IN (SELECT seq FROM messages)",
    ),
    (
        "views",
        "an unknown form",
        "SELECT 'm' || seq FROM views"
        " WHERE form NOT IN ('full', 'excerpt', 'handle', 'reading', 'gone', 'aside')",
    ),
    (
        "pins",
        "of messages or pages that are not there",
        "SELECT target FROM pins WHERE NOT (CASE substr(target, 1, 1)"
        " WHEN 'm' THEN CAST(substr(target, 2) AS INTEGER) IN (SELECT seq FROM messages)"
        " WHEN 'p' THEN CAST(substr(target, 2) AS INTEGER) IN"
        " (SELECT number FROM pages WHERE kind = 'page') ELSE 0 END)",
    ),
    (
        "pins",
        "of what was taken back",
        "SELECT target FROM pins WHERE (CASE substr(target, 1, 1)"
        f" WHEN 'm' THEN NOT ({on_line('CAST(substr(target, 2) AS INTEGER)')})"
        " ELSE CAST(substr(target, 2) AS INTEGER) IN"
        " (SELECT number FROM pages WHERE kind = 'page' AND NOT live) END)",
    ),
    (
        "outbox",
        "of messages or passages that are not there",
        "SELECT tier || ' ' || key FROM outbox WHERE op = 'put' AND NOT (CASE tier"
        " WHEN 'recall' THEN key IN (SELECT seq FROM messages)"
        " WHEN 'archival' THEN key IN (SELECT number FROM passages)"
        " WHEN 'pages' THEN key IN (SELECT number FROM pages WHERE kind = 'page') ELSE 0 END)",
    ),
    (
        "line",
        "a range that ends before it begins or goes past the newest message",
        "SELECT line || ':' || first_seq FROM line_ranges WHERE last_seq < first_seq OR last_seq >"
        " (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'messages')",
    ),
    (
        "line",
        "another line than the current one is open, or that one is not",
        "SELECT line FROM lines WHERE (line = (SELECT CAST(value AS INTEGER) FROM meta"
        " WHERE key = 'line')) <> (SELECT count(*) FROM line_ranges r WHERE r.line = lines.line"
        " AND r.last_seq IS NULL)",
    ),
    (
        "line",
        "a move that no notice stands for",
        "SELECT 'm' || seq FROM line_moves WHERE seq NOT IN"
        " (SELECT seq FROM messages WHERE kind = 'notice')",
    ),
    (
        "line",
        "a page that is live on another line, or hidden on this one",
        "SELECT substr(kind, 1, 1) || number FROM pages p WHERE live <>"
        f" ({on_line('(SELECT e.seq FROM epochs e WHERE e.epoch = p.epoch)')})",
    ),
)


def _queries(state: State) -> Iterator[Finding]:
    for check, what, sql in _QUERIES:
        yield from wrong(check, what, [str(row[0]) for row in state.database.rows(sql)])
    stale = [
        f"a{row['number']}"
        for row in state.database.rows("SELECT number, text, digest FROM passages")
        if digest(row["text"]) != row["digest"]
    ]
    yield from wrong("passages", "a digest that is not that of the text", stale)
    broken = [
        row["sha256"][:12]
        for row in state.database.rows("SELECT sha256, text FROM texts")
        if hashlib.sha256(row["text"].encode("utf-8")).hexdigest() != row["sha256"]
    ]
    yield from wrong("texts", "not what their hash says", broken)


def _pages(state: State) -> Iterator[Finding]:
    """Pages follow each other from the first live message to the queue: with it they are a
    partition of what is live."""
    epoch = state.history.epoch()
    pages = state.pages.all()
    if epoch is None:
        yield from wrong("pages", "without an epoch", [page.short_id for page in pages])
        return
    lines = state.journal.lines
    expected = lines.onward(1)
    before = 0
    for page in pages:
        if page.number <= before:
            yield Finding("pages", "wrong", f"{page.short_id} comes after p{before}")
        before = page.number
        if page.first_seq != expected or page.last_seq < page.first_seq:
            detail = f"{page.short_id} is m{page.first_seq} … m{page.last_seq}, not m{expected} …"
            yield Finding("pages", "wrong", detail)
        if not lines.contains(page.last_seq):
            yield Finding("pages", "wrong", f"{page.short_id} ends at m{page.last_seq}, not live")
        expected = lines.onward(page.last_seq + 1)
    if expected != lines.onward(epoch.queue_start):
        detail = f"pages end at m{expected - 1}, and the queue begins at m{epoch.queue_start}"
        yield Finding("pages", "wrong", detail)
    miscounted = [
        f"p{row['number']}"
        for row in state.database.rows(
            "SELECT number FROM pages p WHERE kind = 'page' AND live AND messages <>"
            " (SELECT count(*) FROM messages m WHERE m.seq BETWEEN p.first_seq AND p.last_seq"
            f" AND m.kind IN ('talk', 'observation') AND {on_line('m.seq')})"
        )
    ]
    yield from wrong("pages", "not as many messages as they say", miscounted)


def _directories(state: State) -> Iterator[Finding]:
    """The tree over the pages: full directories of siblings that follow each other, each page in
    one or among the newest, nothing in what is not there."""
    pages = state.pages
    tops = pages.tops()
    full = [f"level {level}" for level, n in Counter(t.level for t in tops).items() if n >= FANOUT]
    if full:
        # A home of the first version, or a kill between two openings: opening it closes them.
        yield Finding("directories", "note", f"not closed yet: {', '.join(full)}", "open")
    broken: list[str] = []
    for made in pages.directories():
        if fault := _directory_fault(made, pages.children(made.number)):
            broken.append(f"{made.short_id} ({fault})")
    yield from wrong("directories", "not what stands in them", broken, "directories")
    lost = [
        f"{row['kind'][0]}{row['number']}"
        for row in state.database.rows(
            "SELECT kind, number FROM pages WHERE live AND parent IS NOT NULL AND parent NOT IN"
            " (SELECT number FROM pages WHERE kind = 'directory' AND live)"
        )
    ]
    yield from wrong("directories", "in one that is not there", lost, "directories")
    levels = [(top.level, top.first_seq) for top in tops]
    if levels != sorted(levels, key=lambda each: -each[0]):
        detail = f"an older top on a lower level: {listed([t.short_id for t in tops])}"
        yield Finding("directories", "wrong", detail, "directories")


def _directory_fault(made: Page, children: Sequence[Page]) -> str:
    """What a directory says and its children do not; "" for nothing."""
    if len(children) != FANOUT:
        return f"{len(children)} children"
    if {child.level for child in children} != {made.level - 1}:
        return "children of another level"
    if any(a.last_seq >= b.first_seq for a, b in pairwise(children)):
        return "children that overlap"
    if (made.first_seq, made.last_seq) != (children[0].first_seq, children[-1].last_seq):
        return "another span"
    told = (made.messages, made.tokens)
    if told != (sum(c.messages for c in children), sum(c.tokens for c in children)):
        return "another size"
    return ""


def _epochs(state: State) -> Iterator[Finding]:
    """Every epoch can be shown again, and the queue only ever moves on, but where the time machine
    moved it."""
    database, last = state.database, state.journal.last_seq
    texts = {row["sha256"] for row in database.rows("SELECT sha256 FROM texts")} | {""}
    versions = {(r[0], r[1]) for r in database.rows("SELECT label, version FROM block_versions")}
    covers = {r[0]: r[1] for r in database.rows("SELECT summary, covers_last FROM summaries")}
    lost: list[str] = []
    start, newest = 1, database.number("SELECT max(epoch) FROM epochs")
    moved = {move.seq for move in state.journal.lines.moves()}
    for number in range(1, newest + 1):
        epoch = state.history.epoch(number)
        if epoch is None:
            yield Finding("epochs", "wrong", f"epoch {number} is missing")
            continue
        if epoch.seq in moved:
            moved.discard(epoch.seq)
            start = 1
        if not start <= epoch.queue_start <= last + 1:
            detail = f"epoch {number}: the queue begins at m{epoch.queue_start} after m{start}"
            yield Finding("epochs", "wrong", detail)
        start = epoch.queue_start
        if fault := _fault(epoch, texts, versions, covers, last):
            lost.append(f"{number} ({fault})")
    yield from wrong("epochs", "cannot be shown again", lost)


def _fault(
    epoch: Epoch,
    texts: set[str],
    versions: set[tuple[str, int]],
    covers: dict[int, int],
    last: int,
) -> str:
    """What an epoch refers to and is not there; "" for nothing."""
    used = {epoch.system_sha256, epoch.tools_sha256, epoch.table_sha256, epoch.pinned_sha256}
    if not used <= texts:
        return "a text is missing"
    if not set(epoch.blocks.items()) <= versions:
        return "a version of a block is missing"
    if epoch.held is not None and not 1 <= epoch.held <= last:
        return f"m{epoch.held} is not there"
    if epoch.summary is not None and covers.get(epoch.summary) != epoch.queue_start - 1:
        return "its summary does not end where its queue begins"
    return ""


def _unfinished(state: State) -> Iterator[Finding]:
    if numbers := [str(row.turn) for row in state.turns.unfinished()]:
        yield Finding("unfinished turns", "note", ", ".join(numbers), "open")
    if left := state.database.number("SELECT count(*) FROM inbox"):
        yield Finding("inbox", "note", f"{left:,} left by other processes", "open")


# --- the tiers ------------------------------------------------------------------------------------


def check_tiers(state: State, store: TierStore) -> list[Finding]:
    """LanceDB holds what the authority says, but for what the outbox still has to carry over."""
    try:
        store.check()
        found: list[Finding] = []
        for tier in TIERS:
            found += _rows(state, store, tier, _compare)
            if tier == "archival":
                found += _rows(state, store, tier, _compare_standings)
            found += _indices(state, store, tier)
            if store.embeds and (missing := store.count_missing(tier)):
                detail = f"{tier}: {missing:,} rows without"
                found.append(Finding("vectors", "note", detail, "open"))
    except PagemindError as error:
        # Another embedder is a person's choice, and a newer table not ours to drop.
        chosen = isinstance(error, EmbeddingMismatch | SchemaTooNew)
        repair: Repair = "" if chosen else "rebuild"
        return [Finding("tiers", "wrong", error.message, repair, error.hint if chosen else "")]
    return found


def _rows(state: State, store: TierStore, tier: Tier, compare: _Compare) -> list[Finding]:
    """What compare() finds. Beside a writer: again, if something was written meanwhile."""
    for _ in range(_TRIES):
        before = _written(state)
        found = list(compare(state, store, tier))
        if not found or before == _written(state):
            return found
    return [Finding("tiers", "note", f"{tier}: too busy to be compared", "open")]


def _compare_standings(state: State, store: TierStore, tier: Tier) -> Iterator[Finding]:
    """Records stand where they are found, and are seen by those who may."""
    waiting = {
        f"a{row['key']}"
        for row in state.database.rows("SELECT key FROM outbox WHERE tier = ?", (tier,))
    }
    theirs = store.standings(tier)
    other = [
        row.id
        for passage in state.passages.kept()
        if passage.short_id not in waiting
        for row in rows_of_passage(passage)
        if row.id in theirs and theirs[row.id] != (row.status, row.tags)
    ]
    what = "another standing or other tags than the state database's"
    yield from wrong(f"{tier} rows", what, other, "rebuild")


def _written(state: State) -> str:
    """Changes whenever something is put into the outbox or carried over from it."""
    row = state.database.one("SELECT count(*), min(number), max(number) FROM outbox")
    newest = state.database.one("SELECT seq FROM sqlite_sequence WHERE name = 'outbox'")
    return json.dumps([*(row or ()), *(newest or ())])


def _compare(state: State, store: TierStore, tier: Tier) -> Iterator[Finding]:
    prefix = {"recall": "m", "archival": "a", "pages": "p"}[tier]
    waiting = {
        f"{prefix}{row['key']}"
        for row in state.database.rows("SELECT key FROM outbox WHERE tier = ?", (tier,))
    }
    twice: list[str] = []
    theirs: dict[str, str] = {}
    for row_id, parent, text in store.digests(tier):
        if parent in waiting:
            continue
        if row_id in theirs:
            twice.append(row_id)
        theirs[row_id] = text
    missing: list[str] = []
    other: list[str] = []
    for parent, row_id, text in _wanted(state, tier):
        if parent in waiting:
            continue
        there = theirs.pop(row_id, None)
        if there is None:
            missing.append(row_id)
        elif there != text:
            other.append(row_id)
    check = f"{tier} rows"
    yield from wrong(check, "missing", missing, "rebuild")
    yield from wrong(check, "there twice", twice, "rebuild")
    yield from wrong(check, "another text than the state database's", other, "rebuild")
    yield from wrong(check, "of nothing that is kept", sorted(theirs), "rebuild")


def _wanted(state: State, tier: Tier) -> Iterator[tuple[str, str, str]]:
    """Parent, row id and digest of every row that should be there."""
    if tier == "archival":
        for passage in state.passages.kept():
            for row in rows_of_passage(passage):
                yield row.parent, row.id, text_digest(row.text)
        return
    if tier == "pages":
        for page in state.pages.all():
            for row in rows_of_page(page):
                yield row.parent, row.id, text_digest(row.text)
        return
    for first in range(1, state.journal.last_seq + 1, _CHUNK):
        for message, _, _ in state.journal.range(first, first + _CHUNK - 1):
            for row in rows_of_message(message):
                yield row.parent, row.id, text_digest(row.text)


def _indices(state: State, store: TierStore, tier: Tier) -> Iterator[Finding]:
    """Full-text search needs its three indices; rows they do not cover yet cost a look each."""
    # Asked first: a table's first rows leave the outbox only when its indices are there.
    due = state.database.number("SELECT count(*) FROM outbox WHERE tier = ?", (tier,))
    unindexed = store.unindexed(tier)
    if unindexed is None:
        return
    absent = [field for field in LEXICAL if field not in unindexed]
    if absent and due:
        detail = f"{tier}: {', '.join(absent)} made with the next rows"
        yield Finding("indices", "note", detail, "open")
    else:
        yield from wrong("indices", f"{tier}: absent", absent, "rebuild")
    if (most := max(unindexed.values(), default=0)) > _UNINDEXED:
        detail = f"{tier}: {most:,} rows wait for the next compaction"
        yield Finding("indices", "note", detail, "open")
