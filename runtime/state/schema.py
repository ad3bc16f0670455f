"""The tables of state.db, and the steps that bring an older file up to date.

Everything a later feature needs and cannot recover is here from the first version: sequence
numbers, provenance, lines, epochs and steps, versions of blocks, passages, summaries and gists.
Times are RFC 3339 in UTC; lists and mappings are JSON.
"""

from pagemind.runtime.state.semantic_schema import FACETS, FROM_2, SEMANTIC
from pagemind.runtime.state.trust_schema import AUDIT, FROM_3, WAITING

STATE = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- Every message ever, append only. seq is gapless, never reused, and the only order.
CREATE TABLE messages (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    kind TEXT NOT NULL,
    content TEXT NOT NULL,
    turn INTEGER NOT NULL,
    step INTEGER NOT NULL DEFAULT 0,
    conversation INTEGER NOT NULL,
    speaker TEXT NOT NULL,
    said_at TEXT NOT NULL,
    recorded_at TEXT NOT NULL,
    pause INTEGER NOT NULL DEFAULT 0,
    tokens INTEGER NOT NULL,
    origin TEXT NOT NULL,
    origin_detail TEXT NOT NULL DEFAULT '',
    trust INTEGER NOT NULL,
    status TEXT NOT NULL DEFAULT 'active',
    sources TEXT NOT NULL DEFAULT '[]'
);
CREATE INDEX messages_turn ON messages (turn);
CREATE INDEX messages_said_at ON messages (said_at);

-- How many messages can be found, by speaker: a search asks for both, whatever the history's
-- length. Triggers keep it, so that erasure cannot forget to.
CREATE TABLE speakers (speaker TEXT PRIMARY KEY, messages INTEGER NOT NULL) WITHOUT ROWID;
CREATE TRIGGER messages_counted AFTER INSERT ON messages
WHEN new.kind IN ('talk', 'observation') BEGIN
    INSERT INTO speakers VALUES (new.speaker, 1)
    ON CONFLICT (speaker) DO UPDATE SET messages = messages + 1;
END;
-- What was rewound is counted out by the move, and not once more when it is erased.
CREATE TRIGGER messages_uncounted AFTER DELETE ON messages
WHEN old.kind IN ('talk', 'observation') AND (
    NOT EXISTS (SELECT 1 FROM line_ranges) OR EXISTS (
        SELECT 1 FROM line_ranges r WHERE r.first_seq <= old.seq
        AND (r.last_seq IS NULL OR r.last_seq >= old.seq)
        AND r.line = (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'line')
    )
) BEGIN
    UPDATE speakers SET messages = messages - 1 WHERE speaker = old.speaker;
    DELETE FROM speakers WHERE speaker = old.speaker AND messages = 0;
END;

-- How a resident message is shown from a step on, where that is not its full text; `at_seq` is the
-- newest seq when that was settled.
CREATE TABLE views (
    seq INTEGER NOT NULL,
    since_step INTEGER NOT NULL,
    at_seq INTEGER NOT NULL,
    form TEXT NOT NULL,
    tokens INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (seq, since_step, at_seq)
) WITHOUT ROWID;

-- A line is the list of seq ranges that an agent has lived through; last_seq NULL is open. `meta`
-- says which line is the current one.
CREATE TABLE lines (
    line INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    parent INTEGER,
    created_at TEXT NOT NULL
);
CREATE TABLE line_ranges (
    line INTEGER NOT NULL REFERENCES lines (line),
    first_seq INTEGER NOT NULL,
    last_seq INTEGER,
    PRIMARY KEY (line, first_seq)
) WITHOUT ROWID;
-- Each rewind, undo and bring-back; `seq` is that of the notice that stands for it, `before` the
-- first message that it took back.
CREATE TABLE line_moves (
    seq INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    before INTEGER,
    from_line INTEGER NOT NULL,
    to_line INTEGER NOT NULL,
    conversation INTEGER NOT NULL
);

CREATE TABLE turns (
    turn INTEGER PRIMARY KEY,
    event TEXT NOT NULL,
    client_id TEXT UNIQUE,
    client_digest TEXT,
    conversation INTEGER NOT NULL,
    speaker TEXT NOT NULL,
    first_seq INTEGER NOT NULL,
    started_at TEXT NOT NULL,
    ended_at TEXT,
    stop_reason TEXT,
    reasons TEXT NOT NULL DEFAULT '[]',
    reply_seqs TEXT NOT NULL DEFAULT '[]',
    result TEXT NOT NULL DEFAULT '{{}}'
);

-- One row for each flush or change of the prompt's head; `seq` is the newest one then.
CREATE TABLE epochs (
    epoch INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    reason TEXT NOT NULL,
    system_sha256 TEXT NOT NULL,
    tools_sha256 TEXT NOT NULL,
    blocks TEXT NOT NULL,
    summary INTEGER,
    table_sha256 TEXT NOT NULL DEFAULT '',
    pins TEXT NOT NULL DEFAULT '[]',
    queue_start INTEGER NOT NULL,
    held INTEGER,
    seq INTEGER NOT NULL DEFAULT 0
);
-- One row for each model call.
CREATE TABLE steps (
    step INTEGER PRIMARY KEY,
    turn INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    at TEXT NOT NULL,
    model TEXT NOT NULL,
    settings TEXT NOT NULL DEFAULT '{{}}',
    last_seq INTEGER NOT NULL,
    prefetch_sha256 TEXT NOT NULL DEFAULT '',
    request_sha256 TEXT NOT NULL DEFAULT '',
    estimated_tokens INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL DEFAULT 0,
    completion_tokens INTEGER NOT NULL DEFAULT 0,
    cached_tokens INTEGER NOT NULL DEFAULT 0,
    cost REAL,
    finish TEXT NOT NULL DEFAULT '',
    min_trust INTEGER NOT NULL DEFAULT 100
);
CREATE INDEX steps_turn ON steps (turn);

-- Texts of prompts, tables and prefetches by hash: outside recall and search, covered by erasure.
CREATE TABLE texts (sha256 TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE blocks (
    label TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    value TEXT NOT NULL,
    char_limit INTEGER NOT NULL,
    description TEXT NOT NULL,
    read_only INTEGER NOT NULL,
    version INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE block_versions (
    label TEXT NOT NULL,
    version INTEGER NOT NULL,
    value TEXT NOT NULL,
    at TEXT NOT NULL,
    author TEXT NOT NULL,
    reason TEXT NOT NULL,
    seq INTEGER NOT NULL,
    origin TEXT NOT NULL,
    trust INTEGER NOT NULL,
    PRIMARY KEY (label, version)
) WITHOUT ROWID;

CREATE TABLE passages (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL,
    digest TEXT NOT NULL,
    tags TEXT NOT NULL,
    importance REAL,
    metadata TEXT NOT NULL,
    version INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    last_accessed TEXT,
    origin TEXT NOT NULL,
    origin_detail TEXT NOT NULL DEFAULT '',
    trust INTEGER NOT NULL,
    status TEXT NOT NULL,
    sources TEXT NOT NULL DEFAULT '[]',{FACETS});
CREATE INDEX passages_digest ON passages (digest);
CREATE TABLE passage_versions (
    number INTEGER NOT NULL,
    version INTEGER NOT NULL,
    text TEXT NOT NULL,
    tags TEXT NOT NULL,
    importance REAL,
    metadata TEXT NOT NULL,
    status TEXT NOT NULL,
    at TEXT NOT NULL,
    author TEXT NOT NULL,
    reason TEXT NOT NULL,
    seq INTEGER NOT NULL,
    facets TEXT NOT NULL DEFAULT '{{}}',
    PRIMARY KEY (number, version)
) WITHOUT ROWID;
CREATE INDEX passage_versions_seq ON passage_versions (seq);

-- Immutable runs of evicted messages (level 0), and directories of 16 siblings (one level above
-- them); parent is a directory's number. heat is that of heat_turn and decays by the turn. live 0:
-- written on another line than the current one, and hidden.
CREATE TABLE pages (
    kind TEXT NOT NULL,
    number INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE,
    line INTEGER NOT NULL,
    parent INTEGER,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    first_at TEXT NOT NULL,
    last_at TEXT NOT NULL,
    messages INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    gist TEXT NOT NULL,
    gist_author TEXT NOT NULL,
    keywords TEXT NOT NULL,
    heat REAL NOT NULL DEFAULT 0,
    trust INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    level INTEGER NOT NULL DEFAULT 0,
    heat_turn INTEGER NOT NULL DEFAULT 0,
    live INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (kind, number)
) WITHOUT ROWID;
CREATE INDEX pages_range ON pages (kind, first_seq, last_seq);
CREATE INDEX pages_parent ON pages (parent, first_seq);
CREATE INDEX pages_heat ON pages (heat_turn) WHERE heat > 0;
CREATE INDEX pages_author ON pages (gist_author, kind, number);
CREATE TABLE gist_versions (
    kind TEXT NOT NULL,
    number INTEGER NOT NULL,
    version INTEGER NOT NULL,
    gist TEXT NOT NULL,
    keywords TEXT NOT NULL,
    at TEXT NOT NULL,
    author TEXT NOT NULL,
    PRIMARY KEY (kind, number, version)
) WITHOUT ROWID;
CREATE TABLE pins (
    target TEXT PRIMARY KEY,
    at TEXT NOT NULL,
    seq INTEGER NOT NULL
) WITHOUT ROWID;
-- What a pin was like after the newest change at a seq; pinned_at NULL: it was none.
CREATE TABLE pin_versions (
    target TEXT NOT NULL,
    seq INTEGER NOT NULL,
    pinned_at TEXT,
    pinned_seq INTEGER,
    PRIMARY KEY (target, seq)
) WITHOUT ROWID;

CREATE TABLE summaries (
    summary INTEGER PRIMARY KEY,
    text TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    covers_last INTEGER NOT NULL,
    rung TEXT NOT NULL,
    at TEXT NOT NULL,
    author TEXT NOT NULL,
    trust INTEGER NOT NULL
);

-- When a model was last shown a message, passage or page by a search; for rankings that decay.
CREATE TABLE accesses (
    tier TEXT NOT NULL,
    key INTEGER NOT NULL,
    at TEXT NOT NULL,
    visits INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (tier, key)
) WITHOUT ROWID;

-- Files that were read into passages: what a later run compares with. `numbers` are those of the
-- passages, in order.
CREATE TABLE documents (
    source TEXT PRIMARY KEY,
    sha256 TEXT NOT NULL,
    numbers TEXT NOT NULL,
    at TEXT NOT NULL
) WITHOUT ROWID;
-- What a file was like after the newest change at a seq; sha256 NULL: it was not known.
CREATE TABLE document_versions (
    source TEXT NOT NULL,
    seq INTEGER NOT NULL,
    sha256 TEXT,
    numbers TEXT NOT NULL DEFAULT '[]',
    at TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (source, seq)
) WITHOUT ROWID;
CREATE INDEX document_versions_seq ON document_versions (seq);

-- Changes that LanceDB does not have yet; the row goes when they are committed there.
CREATE TABLE outbox (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    tier TEXT NOT NULL,
    key INTEGER NOT NULL,
    op TEXT NOT NULL,
    UNIQUE (tier, key)
);

-- What other processes left for this agent while it was in use.
CREATE TABLE inbox (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    at TEXT NOT NULL
);

CREATE TABLE calibration (
    model TEXT PRIMARY KEY,
    ratio REAL NOT NULL,
    last REAL NOT NULL,
    samples INTEGER NOT NULL,
    at TEXT NOT NULL
) WITHOUT ROWID;
{SEMANTIC}{AUDIT}{WAITING}"""

# From version n to n + 1: statements run in one transaction after an automatic backup.
STATE_MIGRATIONS: dict[int, str] = {
    1: """
CREATE TABLE accesses (
    tier TEXT NOT NULL, key INTEGER NOT NULL, at TEXT NOT NULL, PRIMARY KEY (tier, key)
) WITHOUT ROWID;
CREATE TABLE documents (
    source TEXT PRIMARY KEY, sha256 TEXT NOT NULL, numbers TEXT NOT NULL, at TEXT NOT NULL
) WITHOUT ROWID;
INSERT OR REPLACE INTO outbox (tier, key, op)
    SELECT 'pages', number, 'put' FROM pages WHERE kind = 'page';
ALTER TABLE pages ADD COLUMN level INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pages ADD COLUMN heat_turn INTEGER NOT NULL DEFAULT 0;
CREATE INDEX pages_parent ON pages (parent, first_seq);
CREATE INDEX pages_heat ON pages (heat_turn) WHERE heat > 0;
CREATE INDEX pages_author ON pages (gist_author, kind, number);
ALTER TABLE pages ADD COLUMN live INTEGER NOT NULL DEFAULT 1;
DROP TRIGGER messages_uncounted;
CREATE TRIGGER messages_uncounted AFTER DELETE ON messages
WHEN old.kind IN ('talk', 'observation') AND (
    NOT EXISTS (SELECT 1 FROM line_ranges) OR EXISTS (
        SELECT 1 FROM line_ranges r WHERE r.first_seq <= old.seq
        AND (r.last_seq IS NULL OR r.last_seq >= old.seq)
        AND r.line = (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'line')
    )
) BEGIN
    UPDATE speakers SET messages = messages - 1 WHERE speaker = old.speaker;
    DELETE FROM speakers WHERE speaker = old.speaker AND messages = 0;
END;
ALTER TABLE views RENAME TO views_1;
CREATE TABLE views (
    seq INTEGER NOT NULL, since_step INTEGER NOT NULL, at_seq INTEGER NOT NULL,
    form TEXT NOT NULL, tokens INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (seq, since_step, at_seq)
) WITHOUT ROWID;
INSERT INTO views SELECT seq, since_step, coalesce(
    (SELECT last_seq FROM steps WHERE step = since_step),
    (SELECT max(seq) FROM messages), 0), form, tokens FROM views_1;
DROP TABLE views_1;
CREATE TABLE line_moves (
    seq INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL, before INTEGER,
    from_line INTEGER NOT NULL, to_line INTEGER NOT NULL, conversation INTEGER NOT NULL
);
ALTER TABLE epochs ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
UPDATE epochs SET seq = coalesce(
    (SELECT min(last_seq) FROM steps WHERE steps.epoch >= epochs.epoch),
    (SELECT max(seq) FROM messages), 0);
UPDATE epochs SET seq = 0 WHERE epoch = (SELECT min(epoch) FROM epochs);
CREATE INDEX passage_versions_seq ON passage_versions (seq);
CREATE TABLE pin_versions (
    target TEXT NOT NULL, seq INTEGER NOT NULL, pinned_at TEXT, pinned_seq INTEGER,
    PRIMARY KEY (target, seq)
) WITHOUT ROWID;
INSERT INTO pin_versions SELECT target, seq, at, seq FROM pins;
CREATE TABLE document_versions (
    source TEXT NOT NULL, seq INTEGER NOT NULL, sha256 TEXT, numbers TEXT NOT NULL DEFAULT '[]',
    at TEXT NOT NULL DEFAULT '', PRIMARY KEY (source, seq)
) WITHOUT ROWID;
CREATE INDEX document_versions_seq ON document_versions (seq);
""",
    2: FROM_2,
    3: FROM_3,
}
