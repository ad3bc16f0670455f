"""The tables of home.db, and the steps that bring an older file up to date; see schema.py."""

from pagemind.runtime.state.trust_schema import AUDIT

# The ledger of tasks (state/ledger.py): the same in a new home and in one that is brought up.
_LEDGER = """
CREATE TABLE tasks (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    folded TEXT NOT NULL UNIQUE,
    path TEXT NOT NULL,
    text TEXT NOT NULL,
    vars TEXT NOT NULL,
    status TEXT NOT NULL,
    why TEXT NOT NULL DEFAULT '',
    total INTEGER,
    cancel INTEGER NOT NULL DEFAULT 0,
    made_agents INTEGER NOT NULL DEFAULT 0,
    begun_at TEXT NOT NULL,
    ended_at TEXT
) WITHOUT ROWID;
CREATE TABLE task_inputs (
    task TEXT NOT NULL,
    key TEXT NOT NULL,
    label TEXT NOT NULL,
    number INTEGER NOT NULL,
    digest TEXT NOT NULL,
    status TEXT NOT NULL,
    agent TEXT NOT NULL DEFAULT '',
    error TEXT NOT NULL DEFAULT '',
    skipped INTEGER NOT NULL DEFAULT 0,
    begun_at TEXT NOT NULL,
    ended_at TEXT,
    PRIMARY KEY (task, key)
) WITHOUT ROWID;
CREATE INDEX task_inputs_number ON task_inputs (task, status, number);
CREATE TABLE task_actions (
    task TEXT NOT NULL,
    input TEXT NOT NULL,
    place TEXT NOT NULL,
    kind TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    status TEXT NOT NULL,
    result TEXT NOT NULL DEFAULT '',
    error TEXT NOT NULL DEFAULT '',
    steps INTEGER NOT NULL DEFAULT 0,
    prompt_tokens INTEGER NOT NULL DEFAULT 0,
    completion_tokens INTEGER NOT NULL DEFAULT 0,
    cached_tokens INTEGER NOT NULL DEFAULT 0,
    cost REAL NOT NULL DEFAULT 0,
    unpriced INTEGER NOT NULL DEFAULT 0,
    ms REAL NOT NULL DEFAULT 0,
    at TEXT NOT NULL,
    PRIMARY KEY (task, input, place)
) WITHOUT ROWID;
CREATE TABLE task_outputs (
    task TEXT NOT NULL,
    path TEXT NOT NULL,
    start INTEGER NOT NULL,
    length INTEGER NOT NULL,
    PRIMARY KEY (task, path)
) WITHOUT ROWID;
"""

# Tasks inside tasks (state/task_family.py), and what a task asks a person (state/questions.py).
_OF_TASKS = """
CREATE TABLE task_parents (
    task TEXT PRIMARY KEY,
    parent TEXT NOT NULL,
    input TEXT NOT NULL,
    place TEXT NOT NULL,
    digest TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX task_parents_parent ON task_parents (parent, input, place);
CREATE TABLE task_files (
    task TEXT NOT NULL,
    path TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (task, path)
) WITHOUT ROWID;
CREATE TABLE task_questions (
    task TEXT NOT NULL,
    input TEXT NOT NULL,
    place TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    choices TEXT NOT NULL,
    answer TEXT NOT NULL DEFAULT '',
    asked_at TEXT NOT NULL,
    PRIMARY KEY (task, input)
) WITHOUT ROWID;
"""

# What wakes an agent: events that wait for it (state/mailbox.py), and its timers.
_AWAKE = """
CREATE TABLE mail (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    agent TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    event TEXT NOT NULL,
    at TEXT NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    aside INTEGER NOT NULL DEFAULT 0,
    why TEXT NOT NULL DEFAULT '',
    UNIQUE (agent, id)
);
CREATE INDEX mail_waiting ON mail (aside, agent, number);
CREATE TABLE schedules (
    agent TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    made_by TEXT NOT NULL,
    recurrence TEXT NOT NULL,
    zone TEXT NOT NULL,
    message TEXT NOT NULL,
    created_at TEXT NOT NULL,
    due_at TEXT,
    fired_for TEXT,
    fired INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (agent, number)
) WITHOUT ROWID;
CREATE INDEX schedules_due ON schedules (due_at) WHERE due_at IS NOT NULL;
CREATE TABLE inboxes (
    agent TEXT PRIMARY KEY REFERENCES agents (id) ON DELETE CASCADE,
    folder TEXT NOT NULL
) WITHOUT ROWID;
"""

# What agents share: blocks, who waits for whom, and how much one message has led to.
_TOGETHER = """
CREATE TABLE shared_blocks (
    name TEXT PRIMARY KEY,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    value TEXT NOT NULL,
    char_limit INTEGER NOT NULL,
    description TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE shared_block_versions (
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    value TEXT NOT NULL,
    at TEXT NOT NULL,
    author TEXT NOT NULL,
    reason TEXT NOT NULL,
    origin TEXT NOT NULL,
    PRIMARY KEY (name, version)
) WITHOUT ROWID;
CREATE TABLE agent_waits (
    agent TEXT NOT NULL,
    waits_for TEXT NOT NULL,
    PRIMARY KEY (agent, waits_for)
) WITHOUT ROWID;
CREATE TABLE agent_chains (
    id TEXT PRIMARY KEY,
    messages INTEGER NOT NULL,
    steps INTEGER NOT NULL DEFAULT 0,
    prompt_tokens INTEGER NOT NULL DEFAULT 0,
    completion_tokens INTEGER NOT NULL DEFAULT 0,
    cached_tokens INTEGER NOT NULL DEFAULT 0,
    cost REAL NOT NULL DEFAULT 0,
    unpriced INTEGER NOT NULL DEFAULT 0,
    at TEXT NOT NULL
) WITHOUT ROWID;
"""

# What is erased, and what proves it (state/erasures.py, state/denied.py, state/audit.py).
# The home's own chain, AUDIT, holds what outlives an agent.
_TRUST = f"""{AUDIT}-- The last row of each agent's chain that the home has seen: a shorter
-- chain was cut.
CREATE TABLE audit_heads (
    agent TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    hash TEXT NOT NULL,
    at TEXT NOT NULL
) WITHOUT ROWID;
-- An erasure from its plan to its receipt. `plan` holds ids and salted hashes, no content, and is
-- emptied when it is done; `state` is the step that comes next.
CREATE TABLE erasures (
    id TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    state TEXT NOT NULL,
    plan TEXT NOT NULL,
    receipt TEXT NOT NULL DEFAULT '',
    at TEXT NOT NULL,
    ended_at TEXT
) WITHOUT ROWID;
CREATE INDEX erasures_open ON erasures (agent) WHERE ended_at IS NULL;
-- Salted hashes of what was erased: no import, replay or run of a task brings it back.
CREATE TABLE denied (
    digest TEXT PRIMARY KEY,
    erasure TEXT NOT NULL
) WITHOUT ROWID;
-- Files that pagemind wrote for an agent outside its folder (state/made_files.py).
CREATE TABLE made_files (
    path TEXT NOT NULL,
    agent TEXT NOT NULL,
    kind TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (path, agent)
) WITHOUT ROWID;
CREATE INDEX made_files_agent ON made_files (agent);
-- As the least of what stands in it. What was there is trusted as its origin, of agents as theirs.
ALTER TABLE shared_block_versions ADD COLUMN trust INTEGER NOT NULL DEFAULT 60;
UPDATE shared_block_versions SET trust = 100 WHERE origin IN ('user', 'operator');
"""

HOME = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE agents (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    folded TEXT NOT NULL UNIQUE,
    definition TEXT NOT NULL,
    model TEXT NOT NULL DEFAULT '',
    created_at TEXT NOT NULL,
    last_active_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE archives (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    folded TEXT NOT NULL UNIQUE,
    embedding TEXT NOT NULL,
    created_at TEXT NOT NULL
) WITHOUT ROWID;
{_LEDGER}{_OF_TASKS}{_AWAKE}{_TOGETHER}{_TRUST}"""

# From version n to n + 1: statements run in one transaction after an automatic backup.
HOME_MIGRATIONS: dict[int, str] = {
    1: f"""
CREATE TABLE archives (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, folded TEXT NOT NULL UNIQUE,
    embedding TEXT NOT NULL, created_at TEXT NOT NULL
) WITHOUT ROWID;
{_LEDGER}""",
    # No version before wrote to the tables that are made anew.
    2: f"""
DROP TABLE schedules;
DROP TABLE ledgers;
DROP TABLE shared_blocks;
{_OF_TASKS}{_AWAKE}{_TOGETHER}""",
    3: _TRUST,
}
