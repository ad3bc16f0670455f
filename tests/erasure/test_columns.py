"""Every column of state.db that holds text is known to erasure: whoever adds one says what becomes
of it."""

from pathlib import Path

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.state.state import State

# Deleted with its row, or made anew: scrub.py, tombstones.py, records.py, retold.py, past_texts.py.
ERASED = {
    "messages": "id content speaker origin_detail sources",
    "turns": "client_id client_digest speaker reasons result",
    "texts": "text",
    "epochs": "table_sha256 pins",
    "steps": "prefetch_sha256",
    "block_versions": "value reason",
    "blocks": "value",
    "passages": "text digest tags metadata origin_detail sources subject relation object speaker"
    " scope owner key id",
    "passage_versions": "text tags metadata reason facets",
    "documents": "source sha256 numbers",
    "document_versions": "source sha256 numbers",
    "pages": "gist keywords",
    "gist_versions": "gist keywords",
    "pins": "target",
    "pin_versions": "target",
    "summaries": "text",
    "lineage": "derived source",
    "links": "why",
    "entities": "name",
    "entity_names": "key name",
    "changes": "target body why sources error result",
    "segments": "gist keywords",
    "inbox": "body",
    "speakers": "speaker",
    "meta": "value",  # what waits; answers of calls; all else is numbers, names and the definition
}
# Words of ours, times, ids and hashes of what an agent is made with.
OURS = {
    "messages": "role kind said_at recorded_at origin status",
    "turns": "event started_at ended_at stop_reason reply_seqs",
    "texts": "sha256",
    "epochs": "at reason system_sha256 tools_sha256 blocks",
    "steps": "at model settings request_sha256 finish",
    "blocks": "label description",
    "block_versions": "label at author origin",
    "passages": "created_at updated_at last_accessed origin status kind valid_from valid_to"
    " expires_at",
    "passage_versions": "status at author",
    "documents": "at",
    "document_versions": "at",
    "pages": "kind id first_at last_at gist_author created_at",
    "gist_versions": "kind at author",
    "pins": "at",
    "pin_versions": "pinned_at",
    "summaries": "rung at author",
    "lineage": "how at",
    "links": "author at",
    "entities": "at",
    "entity_names": "how at",
    "changes": "job op origin state born at decided_at decided_by",
    "segments": "last_visit promoted_at at",
    "inbox": "kind at",
    "meta": "key",
    "accesses": "tier at",
    "tallies": "at",
    "outbox": "tier op",
    "calibration": "model at",
    "lines": "name created_at",  # "rewind to m45"
    "line_moves": "at kind",
    "views": "form",
    "audit": "at op target by digest detail previous hash",  # ids and keyed hashes, for ever
}


def test_what_becomes_of_every_text_is_known(tmp_path: Path) -> None:
    """In both lists, or in none, is a column that nobody has thought of."""
    state = State(tmp_path, FrozenClock())
    tables = state.database.rows(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    )
    there = {
        (table["name"], row["name"])
        for table in tables
        for row in state.database.rows(f"PRAGMA table_info({table['name']})")
        if row["type"] == "TEXT"
    }
    state.close()
    erased, ours = (
        {(table, column) for table, named in known.items() for column in named.split()}
        for known in (ERASED, OURS)
    )
    assert not erased & ours
    assert erased | ours == there
