"""Tombstones: what stays of an erased message. Its place (seq is gapless, turns and pages stay
whole), its role, and the ids and names of calls, without which no provider takes the rest.

Text, arguments, thoughts, images, speaker, where it came from and when it was said are gone; it is
in no count of speakers, and in no search.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from pagemind.runtime.message import ERASED, Message, Provenance, Text, parts_to_json
from pagemind.runtime.state.lines import on_line
from pagemind.runtime.state.provenance_columns import columns_of
from pagemind.runtime.state.state import State
from pagemind.runtime.state.turns import hidden_id
from pagemind.runtime.tokens import TokenCounter

_OUR_ID = re.compile(r"[0-9a-fA-F-]{32,36}")
_PLAIN_ID = re.compile(r"[\w.:/#+-]{1,200}")  # no address


def tombstone(message: Message) -> Message:
    """The message without anything that it said."""
    return replace(
        message,
        parts=(Text(ERASED),),
        tool_calls=tuple(replace(call, arguments="{}") for call in message.tool_calls),
        speaker="",
        said_at=message.recorded_at,
        provenance=Provenance("runtime", "erased", status="retired"),
        reference=None,
    )


def bury(state: State, messages: Sequence[Message], counter: TokenCounter) -> None:
    """Inside a transaction: put tombstones in the place of these, and tidy what names them."""
    db = state.database
    seqs = json.dumps([message.seq for message in messages])
    _uncount(state, seqs)
    for message in messages:
        left = tombstone(message)
        id = message.id if _OUR_ID.fullmatch(message.id) else state.clock.new_id()
        db.write(
            "UPDATE messages SET id = ?, content = ?, speaker = '', said_at ="
            " recorded_at, tokens = ?, origin = ?, origin_detail = ?, trust = ?, status = ?,"
            " sources = ? WHERE seq = ?",
            (
                id,
                parts_to_json(left),
                counter.message(left),
                *columns_of(left.provenance),
                message.seq,
            ),
        )
    db.write(
        "INSERT OR REPLACE INTO outbox (tier, key, op)"
        " SELECT 'recall', value, 'delete' FROM json_each(?)",
        (seqs,),
    )
    named = "(SELECT 'm' || value FROM json_each(?))"
    for sql in (
        "DELETE FROM views WHERE form NOT IN ('gone', 'aside')"
        " AND seq IN (SELECT value FROM json_each(?))",
        "DELETE FROM accesses WHERE tier = 'recall' AND key IN (SELECT value FROM json_each(?))",
        f"DELETE FROM pins WHERE target IN {named}",
        f"DELETE FROM pin_versions WHERE target IN {named}",
    ):
        db.write(sql, (seqs,))


def _uncount(state: State, seqs: str) -> None:
    """Out of `speakers`, which counts what can be found: not what was rewound."""
    db = state.database
    for row in list(
        db.rows(
            "SELECT speaker, count(*) AS n FROM messages WHERE kind IN ('talk', 'observation')"
            f" AND status <> 'retired' AND {on_line('messages.seq')}"
            " AND seq IN (SELECT value FROM json_each(?)) GROUP BY speaker",
            (seqs,),
        )
    ):
        db.write(
            "UPDATE speakers SET messages = messages - ? WHERE speaker = ?",
            (row["n"], row["speaker"]),
        )
    db.write("DELETE FROM speakers WHERE messages = 0")


def close_turns(state: State, turns: Sequence[int], asked: frozenset[int]) -> None:
    """Inside a transaction: turns keep what they cost, and no text. One whose event went is not
    done again when its client asks for it by its id: no text has its digest. `asked` are those
    whose ids say too much: they are known by a hash from now on."""
    db = state.database
    for number in turns:
        row = db.one("SELECT * FROM turns WHERE turn = ?", (number,))
        if row is None:
            continue
        event = state.journal.get([row["first_seq"]]).get(row["first_seq"])
        gone = event is None or event.erased
        id = row["client_id"]
        if id and (number in asked or (gone and not _PLAIN_ID.fullmatch(id))):
            id = hidden_id(id)
        db.write(
            "UPDATE turns SET result = ?, reasons = '[]', client_id = ?, client_digest = ?,"
            " speaker = ? WHERE turn = ?",
            (
                json.dumps(_result(json.loads(row["result"]))),
                id,
                None if gone else row["client_digest"],
                "" if gone else row["speaker"],
                number,
            ),
        )


def _result(stored: dict[str, object]) -> dict[str, object]:
    """A turn's result without what was said in it."""
    left: dict[str, object] = {}
    for key, value in stored.items():
        if key in ("text", "speaker"):
            left[key] = ""
        elif key == "tool_calls" and isinstance(value, list):
            left[key] = [{**call, "arguments": {}, "error": None} for call in value]
        elif key in ("feedback", "expect") and isinstance(value, dict):
            left[key] = {**value, "why": ""}
        elif key == "warnings":
            left[key] = []
        elif key not in ("pending", "data", "error"):
            left[key] = value
    return left
