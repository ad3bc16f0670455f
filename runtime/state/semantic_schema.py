"""The tables of state.db that came with version 3: what makes memory a life cycle. The same in a
new file and in one that is brought up; see schema.py.

Records are passages: the columns here are their facets (passage.py). Times are RFC 3339 in UTC.
"""

# Columns of `passages`, and what an older passage has.
FACETS = """
    kind TEXT NOT NULL DEFAULT 'note',
    subject TEXT NOT NULL DEFAULT '',
    relation TEXT NOT NULL DEFAULT '',
    object TEXT NOT NULL DEFAULT '',
    subject_entity INTEGER,
    object_entity INTEGER,
    speaker TEXT NOT NULL DEFAULT '',
    scope TEXT NOT NULL DEFAULT '/',
    owner TEXT NOT NULL DEFAULT '',
    key TEXT NOT NULL DEFAULT '',
    valid_from TEXT,
    valid_to TEXT,
    superseded_by INTEGER,
    level INTEGER NOT NULL DEFAULT 0,
    expires_at TEXT,
    evergreen INTEGER NOT NULL DEFAULT 0,
    cold INTEGER NOT NULL DEFAULT 0
"""

LINEAGE_OF_OLD = """
INSERT OR IGNORE INTO lineage
    SELECT 'a' || p.number, s.value, 'from', 1, p.seq, p.created_at
    FROM passages p, json_each(p.sources) s
"""

SEMANTIC = f"""
CREATE INDEX passages_subject ON passages (subject_entity, relation)
WHERE subject_entity IS NOT NULL;
CREATE INDEX passages_object ON passages (object_entity, relation) WHERE object_entity IS NOT NULL;
CREATE INDEX passages_key ON passages (kind, scope, key) WHERE key <> '';
CREATE INDEX passages_owner ON passages (owner) WHERE owner <> '';
CREATE INDEX passages_scope ON passages (scope) WHERE scope <> '/';
CREATE INDEX passages_superseded ON passages (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX passages_expiry ON passages (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX passages_over ON passages (valid_to) WHERE valid_to > updated_at;
CREATE INDEX passages_kind ON passages (kind, number) WHERE kind <> 'note';

-- What each derived thing came from, by short ids: m42, a7, p17, s3 (a summary), t12 (a turn),
-- block:human, seg4. `version` is that of the derived thing.
CREATE TABLE lineage (
    derived TEXT NOT NULL,
    source TEXT NOT NULL,
    how TEXT NOT NULL,
    version INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (derived, source, how, version)
) WITHOUT ROWID;
CREATE INDEX lineage_source ON lineage (source);
{LINEAGE_OF_OLD};

-- Records that belong together, both ways; `low` is the smaller number. Once on each line.
CREATE TABLE links (
    low INTEGER NOT NULL,
    high INTEGER NOT NULL,
    author TEXT NOT NULL,
    why TEXT NOT NULL DEFAULT '',
    at TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (low, high, seq),
    CHECK (low < high)
) WITHOUT ROWID;
CREATE INDEX links_high ON links (high);

-- Whom and what facts are about. On a line a name leads to one entity; `key` is the name made
-- plain.
CREATE TABLE entities (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    at TEXT NOT NULL,
    seq INTEGER NOT NULL
);
CREATE TABLE entity_names (
    key TEXT NOT NULL,
    seq INTEGER NOT NULL,
    entity INTEGER NOT NULL REFERENCES entities (number),
    name TEXT NOT NULL,
    how TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (key, seq)
) WITHOUT ROWID;
CREATE INDEX entity_names_entity ON entity_names (entity);

-- Every change of memory that is planned, before it is made: by the worker, or for a person to
-- look at. `base` is the version of the target that it was planned on, `born` the state that it was
-- found in, `decided_seq` the newest seq when it was settled.
CREATE TABLE changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    job TEXT NOT NULL,
    op TEXT NOT NULL,
    target TEXT NOT NULL DEFAULT '',
    base INTEGER,
    body TEXT NOT NULL,
    why TEXT NOT NULL DEFAULT '',
    sources TEXT NOT NULL DEFAULT '[]',
    origin TEXT NOT NULL,
    trust INTEGER NOT NULL,
    state TEXT NOT NULL,
    born TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    error TEXT NOT NULL DEFAULT '',
    result TEXT NOT NULL DEFAULT '',
    seq INTEGER NOT NULL,
    at TEXT NOT NULL,
    decided_at TEXT,
    decided_by TEXT NOT NULL DEFAULT '',
    decided_seq INTEGER
);
CREATE INDEX changes_state ON changes (state, number);
CREATE INDEX changes_decided ON changes (decided_seq) WHERE decided_seq IS NOT NULL;
CREATE INDEX changes_target ON changes (target) WHERE target <> '';

-- Pages of one topic, warm by use; hidden: out of the mid-term view, never out of recall.
CREATE TABLE segments (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    gist TEXT NOT NULL,
    keywords TEXT NOT NULL,
    length INTEGER NOT NULL,
    visits INTEGER NOT NULL DEFAULT 0,
    last_visit TEXT NOT NULL,
    promoted_length INTEGER NOT NULL DEFAULT 0,
    promoted_at TEXT,
    hidden INTEGER NOT NULL DEFAULT 0,
    trust INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at TEXT NOT NULL
);
CREATE TABLE segment_pages (
    page INTEGER PRIMARY KEY,
    segment INTEGER NOT NULL REFERENCES segments (number)
);
CREATE INDEX segment_pages_segment ON segment_pages (segment);

-- How often what a record says to do went well or badly.
CREATE TABLE tallies (
    number INTEGER PRIMARY KEY,
    good INTEGER NOT NULL DEFAULT 0,
    bad INTEGER NOT NULL DEFAULT 0,
    at TEXT NOT NULL
);
"""

_COLUMNS = [line.strip().rstrip(",") for line in FACETS.strip().splitlines()]
# From version 2: SEMANTIC after the columns that it speaks of.
FROM_2 = "\n".join(
    (
        *(f"ALTER TABLE passages ADD COLUMN {column};" for column in _COLUMNS),
        "ALTER TABLE passage_versions ADD COLUMN facets TEXT NOT NULL DEFAULT '{}';",
        "ALTER TABLE accesses ADD COLUMN visits INTEGER NOT NULL DEFAULT 1;",
        SEMANTIC,
    )
)
