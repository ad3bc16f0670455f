"""The table of state.db that came with version 4, and of home.db: the audit log (state/audit.py).
The same in a new file and in one that is brought up; see schema.py.

It holds ids and keyed hashes, no content. Nothing ever changes or deletes a row: not a move of the
time machine, not an erasure. Two triggers see to it; who works around them is found by the hashes.
"""

# `hash` is that of the row and of `previous`, the hash of the row before: a chain. `digest` is a
# keyed hash of what was written, "" where nothing was.
AUDIT_STATEMENTS = (
    """CREATE TABLE audit (
    number INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    op TEXT NOT NULL,
    target TEXT NOT NULL,
    version INTEGER NOT NULL DEFAULT 0,
    by TEXT NOT NULL,
    trust INTEGER NOT NULL DEFAULT 100,
    digest TEXT NOT NULL DEFAULT '',
    detail TEXT NOT NULL DEFAULT '{}',
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
)""",
    """CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'a row of the audit log is never changed'); END""",
    """CREATE TRIGGER audit_kept BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'a row of the audit log is never deleted'); END""",
)
AUDIT = "".join(f"{statement};\n" for statement in AUDIT_STATEMENTS)

# What waits for a person is counted in status lines and reviews, and is most often nothing.
WAITING = "CREATE INDEX passages_waiting ON passages (number) WHERE status = 'pending';\n"

# From version 3. Summaries were made only from rows at or above their own trust (design D4), and
# yet said the least trust of the pages that they stand for.
FROM_3 = f"""{AUDIT}{WAITING}UPDATE summaries SET trust = max(trust, 60);
UPDATE segments SET trust = min(trust, coalesce(
    (SELECT min(p.trust) FROM segment_pages s JOIN pages p ON p.kind = 'page' AND p.number = s.page
     WHERE s.segment = segments.number), trust));
INSERT OR REPLACE INTO meta SELECT 'trust_since', coalesce(max(seq), 0) FROM messages;
"""
