"""Many messages at once, out of a file: known() says which are there, append_many() stores rows
whose seq, id, times and conversation are settled, and queues them for LanceDB."""

from collections.abc import Sequence

from pagemind.runtime.clock import rfc3339
from pagemind.runtime.message import Message, parts_to_json
from pagemind.runtime.state.database import Database
from pagemind.runtime.state.provenance_columns import columns_of

_COLUMNS = (
    "seq, id, role, kind, content, turn, step, conversation, speaker, said_at, recorded_at, pause,"
    " tokens, origin, origin_detail, trust, status, sources"
)


def known(database: Database, ids: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Seq and conversation of those messages that are there, by id."""
    marks = ",".join("?" * len(ids))
    rows = database.rows(
        f"SELECT id, seq, conversation FROM messages WHERE id IN ({marks})", list(ids)
    )
    return {row["id"]: (row["seq"], row["conversation"]) for row in rows}


def append_many(database: Database, messages: Sequence[tuple[Message, int, bool]]) -> None:
    """Inside a transaction: store messages, each with its tokens and whether it follows a pause.
    They follow on from the newest seq without a gap."""
    rows = []
    for message, tokens, pause in messages:
        assert message.said_at is not None
        assert message.recorded_at is not None
        rows.append(
            (
                message.seq,
                message.id,
                message.role,
                message.kind,
                parts_to_json(message),
                message.turn,
                0,
                message.conversation,
                message.speaker,
                rfc3339(message.said_at),
                rfc3339(message.recorded_at),
                pause,
                tokens,
                *columns_of(message.provenance),
            )
        )
    places = ",".join("?" * 18)
    database.write_many(f"INSERT INTO messages ({_COLUMNS}) VALUES ({places})", rows)
    database.write_many(
        "INSERT OR REPLACE INTO outbox (tier, key, op) VALUES ('recall', ?, 'put')",
        [(message.seq,) for message, _, _ in messages if message.kind in ("talk", "observation")],
    )
