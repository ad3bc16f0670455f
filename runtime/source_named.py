"""Sources by the names that people have for them: a message (m12), a turn (t3), a page (p4), a
record (a7); a function (fetch), an address or file that one was called with, a document, another
agent, an import. `tool:fetch`, `document:rules.md`, `agent:bob` say which of these is meant.

    roots_of(state, named)   short ids of all that came in by it
    teller_of(message)       the name by which its source is asked for
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from pagemind.runtime.errors import NotFound
from pagemind.runtime.function_names import tells_new
from pagemind.runtime.message import TRUST, Message
from pagemind.runtime.state.state import State

_ID = re.compile(r"(m|a|t|p)(\d{1,18})")
_NAMED = 8  # in a hint


@dataclass(frozen=True, slots=True)
class Told:
    """A message, or a record, that something came from; `source` is the name to ask for it by."""

    id: str
    by: str  # who said it, or which function
    source: str
    text: str


def roots_of(state: State, named: str) -> list[str]:
    """The messages and records that are this source, the oldest first. Raises NotFound."""
    name = named.strip()
    if match := _ID.fullmatch(name.lower()):
        found = _of_id(state, match[1], int(match[2]))
    else:
        origin, colon, detail = name.partition(":")
        origin, detail = (origin, detail) if colon and origin in TRUST else ("", name)
        found = _of_name(state, origin, detail) if detail else []
    if not found:
        known = ", ".join(known_sources(state)[:_NAMED])
        raise NotFound(
            f"nothing came from {named!r}",
            hint="say an id such as m12" + (f", or one of: {known}" if known else ""),
        )
    return found


def teller_of(message: Message) -> str:
    """The name of what a message came from: the function, document, agent or speaker."""
    if message.role == "tool":
        return message.name
    return message.provenance.detail or message.speaker or message.provenance.origin


def told_by(state: State, sources: Iterable[str]) -> list[Told]:
    """The messages and records of these short ids that are there, in this order."""
    ids = list(dict.fromkeys(sources))
    seqs = [int(id[1:]) for id in ids if id[:1] == "m" and id[1:].isdigit()]
    numbers = [int(id[1:]) for id in ids if id[:1] == "a" and id[1:].isdigit()]
    messages, records = state.journal.get(seqs), state.passages.get(numbers)
    found: list[Told] = []
    for id in ids:
        key = int(id[1:]) if id[1:].isdigit() else 0
        if id[:1] == "m" and (message := messages.get(key)):
            who = message.name or message.speaker or message.role
            found.append(Told(id, who, teller_of(message), message.said))
        elif id[:1] == "a" and (record := records.get(key)):
            origin = record.provenance.origin
            found.append(Told(id, origin, record.provenance.detail or origin, record.text))
    return found


def known_sources(state: State) -> list[str]:
    """Names that may be asked for, those of untrusted sources first."""
    rows = state.database.rows(
        "SELECT name, min(trust) AS trust FROM ("
        " SELECT CASE role WHEN 'tool' THEN speaker ELSE origin_detail END AS name, trust"
        " FROM messages WHERE origin NOT IN ('runtime', 'model', 'user')"
        " UNION ALL SELECT origin_detail, trust FROM passages"
        " WHERE origin IN ('document', 'agent', 'import'))"
        " WHERE name <> '' GROUP BY name ORDER BY trust, name LIMIT 50"
    )
    return [row["name"] for row in rows if tells_new(row["name"])]


def _of_id(state: State, kind: str, number: int) -> list[str]:
    if kind == "m":
        return [f"m{number}"] if state.journal.get([number]) else []
    if kind == "a":
        return [f"a{number}"] if state.passages.get([number]) else []
    if kind == "t":
        return [each.short_id for each in state.journal.of_turn(number)]
    page = state.pages.get(number)
    rows = state.journal.span(page.first_seq, page.last_seq) if page is not None else []
    return [each.short_id for each, _, _ in rows]


def _of_name(state: State, origin: str, name: str) -> list[str]:
    """By an exact name; a document also by the last part of its path."""
    database = state.database
    seqs = [
        row["seq"]
        for row in database.rows(
            "SELECT seq FROM messages WHERE origin NOT IN ('runtime', 'model')"
            " AND (? = '' OR origin = ?) AND (origin_detail = ? OR speaker = ?)",
            (origin, origin, name, name),
        )
    ]
    if origin in ("", "tool"):
        seqs += _called_with(state, name)
    numbers = [
        row["number"]
        for row in database.rows(
            "SELECT number, origin_detail FROM passages WHERE origin_detail <> ''"
            " AND origin NOT IN ('runtime', 'model', 'tool') AND (? = '' OR origin = ?)"
            " AND (origin_detail = ? OR origin_detail LIKE '%' || ?)",
            (origin, origin, name, name),
        )
        if name in (row["origin_detail"], PurePath(row["origin_detail"]).name)
    ]
    return [*(f"m{seq}" for seq in sorted(set(seqs))), *(f"a{n}" for n in sorted(set(numbers)))]


def _called_with(state: State, value: str) -> list[int]:
    """The seqs of results of calls that were given this very value: an address, a path."""
    quoted = json.dumps(json.dumps(value, ensure_ascii=False), ensure_ascii=False)[1:-1]
    calls: dict[str, int] = {}
    rows = state.database.rows(
        "SELECT seq, turn FROM messages WHERE role = 'assistant' AND instr(content, ?) > 0",
        (quoted,),
    )
    found = state.journal.get([row["seq"] for row in rows])
    for message in found.values():
        for call in message.tool_calls:
            if value in set(_values(call.parsed())):
                calls[call.id] = message.turn
    results: list[int] = []
    for turn in set(calls.values()):
        results += [
            each.seq
            for each in state.journal.of_turn(turn)
            if each.role == "tool" and calls.get(each.tool_call_id) == turn
        ]
    return results


def _values(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _values(each)
    elif isinstance(value, Sequence):
        for each in value:
            yield from _values(each)
