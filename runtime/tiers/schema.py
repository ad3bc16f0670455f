"""A tier row: one chunk of a message or passage as LanceDB holds it, and its Arrow schema.

Rows are derived from the authority and can always be rebuilt from it. The table's metadata
carries the schema and recipe versions; the vector column's carries the EmbeddingIdentity.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any

from pagemind.runtime.function_names import ECHOES, names
from pagemind.runtime.message import SPEAK, Message
from pagemind.runtime.model import EmbeddingIdentity
from pagemind.runtime.outbox import OutboxItem
from pagemind.runtime.page import Page
from pagemind.runtime.passage import Passage
from pagemind.runtime.scope import chain
from pagemind.runtime.settings import TEXT_RECIPE, TIER_SCHEMA
from pagemind.runtime.tiers.recipe import before_text, chunks, grams_text, line_text, spoken

if TYPE_CHECKING:
    import pyarrow as pa

# The agent's own look-ups: their results are copies of what is found anyway.
# Results of memory functions echo what stands elsewhere: found again they would feed on
# themselves. What send_message said stands in its call.
_ECHOES = frozenset({*names(), *ECHOES, SPEAK})
LEXICAL = ("line", "lines", "grams")
_IDENTITY = b"pagemind.embedding"
HIDDEN = "\x02"  # what tags begin with that rows have and their passages have not
PRIVATE = f"{HIDDEN}private"


@dataclass(frozen=True, slots=True)
class TierRow:
    """One chunk. `id` is `m42.1`: the parent's short id and the part, counted from 1."""

    id: str
    parent: str
    part: int
    parts: int
    seq: int
    turn: int
    conversation: int
    role: str
    speaker: str
    kind: str
    origin: str
    trust: int
    status: str
    tags: tuple[str, ...]
    importance: float | None
    metadata: str
    said_at: datetime | None
    last_accessed: datetime | None
    text: str
    line: str
    lines: str
    grams: str
    vector: Sequence[float] | None = None


COLUMNS = tuple(f.name for f in fields(TierRow) if f.name != "vector")


def indexable(message: Message) -> bool:
    """Whether a message has rows: not notices, readings, bare calls, echoes of memory, and what was
    erased."""
    if message.erased or message.kind in ("notice", "reading") or not message.said.strip():
        return False
    return not (message.role == "tool" and message.name in _ECHOES)


def rows_of_message(
    message: Message, before: Sequence[Message] = (), zone: tzinfo = UTC
) -> list[TierRow]:
    """The rows of a message without vectors; none if it is not indexable.

    `before` holds the messages that precede it in its conversation, oldest first; `zone` is the
    agent's, for the date in the line.
    """
    if not indexable(message):
        return []
    speaker = speaker_of(message)
    context = "\n".join(before_text(speaker_of(m), m.said) for m in before if indexable(m))
    texts = chunks(message.said)
    rows = []
    for part, text in enumerate(texts, 1):
        rows.append(
            TierRow(
                id=f"{message.short_id}.{part}",
                parent=message.short_id,
                part=part,
                parts=len(texts),
                seq=message.seq,
                turn=message.turn,
                conversation=message.conversation,
                role=message.role,
                speaker=speaker,
                kind=message.kind,
                origin=message.provenance.origin,
                trust=message.provenance.trust,
                status=message.provenance.status,
                tags=(),
                importance=None,
                metadata="{}",
                said_at=message.said_at,
                last_accessed=None,
                text=text,
                line=line_text(message.said_at, zone, speaker, text),
                lines=f"{context}\n{spoken(speaker, text)}".lstrip("\n"),
                grams=grams_text(text),
            )
        )
        context = before_text(speaker, text)
    return rows


def row_kind(kind: str) -> str:
    """A passage's kind as its rows say it: plain ones are as old as the tables."""
    return "passage" if kind == "note" else kind


def scope_tag(scope: str) -> str:
    """The hidden tag of what is in a scope or below it."""
    return f"{HIDDEN}in:{scope}"


def owner_tag(owner: str) -> str:
    """The hidden tag of what is private to one."""
    return f"{HIDDEN}of:{owner}"


def sight_tags(passage: Passage) -> tuple[str, ...]:
    """Who may see a passage, as hidden tags: matched before ranking, in tables of any age."""
    facets = passage.facets
    scopes = tuple(scope_tag(each) for each in chain(facets.scope))
    return (*scopes, PRIVATE, owner_tag(facets.owner)) if facets.owner else scopes


def rows_of_passage(passage: Passage, zone: tzinfo = UTC) -> list[TierRow]:
    """The rows of a passage without vectors. Its tags are indexed with each chunk."""
    texts = chunks(passage.text)
    named = f"{' '.join(passage.tags)}: " if passage.tags else ""
    return [
        TierRow(
            id=f"{passage.short_id}.{part}",
            parent=passage.short_id,
            part=part,
            parts=len(texts),
            seq=passage.seq,
            turn=0,
            conversation=0,
            role="",
            speaker="",
            kind=row_kind(passage.kind),
            origin=passage.provenance.origin,
            trust=passage.provenance.trust,
            status=passage.standing,
            tags=(*(tag for tag in passage.tags if tag[:1] != HIDDEN), *sight_tags(passage)),
            importance=passage.importance,
            metadata=json.dumps(passage.metadata, ensure_ascii=False, sort_keys=True, default=str),
            said_at=passage.created_at,
            last_accessed=passage.last_accessed,
            text=text,
            line=line_text(passage.created_at, zone, "", named + text),
            lines="",  # a passage stands alone
            grams=grams_text(text),
        )
        for part, text in enumerate(texts, 1)
    ]


def rows_of_page(page: Page, zone: tzinfo = UTC) -> list[TierRow]:
    """The one row of a page: its gist and keywords, without a vector."""
    text = page.gist if not page.keywords else f"{page.gist} ({', '.join(page.keywords)})"
    return [
        TierRow(
            id=f"{page.short_id}.1",
            parent=page.short_id,
            part=1,
            parts=1,
            seq=page.first_seq,
            turn=0,
            conversation=0,
            role="",
            speaker="",
            kind="gist",
            origin="runtime",
            trust=page.trust,
            status="active",
            tags=(),
            importance=None,
            metadata="{}",
            said_at=page.first_at,
            last_accessed=None,
            text=text,
            line=line_text(page.first_at, zone, "", text),
            lines="",
            grams=grams_text(text),
        )
    ]


def rows_of(item: OutboxItem, zone: tzinfo = UTC) -> list[TierRow]:
    """The rows of what an outbox item holds; none if there is nothing to be found of it."""
    if item.message is not None:
        return rows_of_message(item.message, item.before, zone)
    if item.passage is not None:
        return rows_of_passage(item.passage, zone)
    return rows_of_page(item.page, zone) if item.page is not None else []


def speaker_of(message: Message) -> str:
    """Whose message it is, as its rows say it."""
    return message.speaker or message.name or message.role


def text_digest(text: str) -> str:
    """What tells a row's text from another, short enough for millions in memory."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def embedded_text(row: TierRow) -> str:
    """What is embedded for a row: with the speaker's name where it is one (measured: +2)."""
    return row.text if row.speaker == row.role else spoken(row.speaker, row.text)


def arrow_schema(identity: EmbeddingIdentity | None) -> "pa.Schema":
    """The schema of a new table; without an identity it has no vector column yet."""
    import pyarrow as pa

    types: Mapping[str, Any] = {
        **{name: pa.int32() for name in ("part", "parts", "turn", "conversation", "trust")},
        "seq": pa.int64(),
        "tags": pa.list_(pa.string()),
        "importance": pa.float32(),
        **{name: pa.timestamp("us", "UTC") for name in ("said_at", "last_accessed")},
    }
    columns = [pa.field(name, types.get(name, pa.string())) for name in COLUMNS]
    if identity is not None:
        columns.append(vector_field(identity))
    versions = {"pagemind.schema": str(TIER_SCHEMA), "pagemind.recipe": str(TEXT_RECIPE)}
    return pa.schema(columns, metadata=versions)


def vector_field(identity: EmbeddingIdentity) -> "pa.Field[Any]":
    """The vector column: nullable, since vectors may come later than their text."""
    import pyarrow as pa

    stamp = json.dumps(identity.as_json(), sort_keys=True)
    return pa.field(
        "vector",
        pa.list_(pa.float32(), identity.dimensions),
        metadata={_IDENTITY: stamp.encode()},
    )


def versions_of(schema: "pa.Schema") -> tuple[int, int]:
    """Schema and recipe version of a stored table; 0 where it does not say."""
    stamps = schema.metadata or {}
    return int(stamps.get(b"pagemind.schema", b"0")), int(stamps.get(b"pagemind.recipe", b"0"))


def identity_of(schema: "pa.Schema") -> EmbeddingIdentity | None:
    """The identity of a stored table's vectors; None if it has no vector column."""
    if "vector" not in schema.names:
        return None
    stamps = schema.field("vector").metadata or {}
    return EmbeddingIdentity(**json.loads(stamps[_IDENTITY])) if _IDENTITY in stamps else None


def to_arrow(rows: Sequence[TierRow], schema: "pa.Schema") -> "pa.Table":
    """Rows as a table of this schema."""
    import pyarrow as pa

    columns = [
        pa.array([getattr(row, field.name) for row in rows], type=field.type) for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def from_arrow(table: "pa.Table") -> list[TierRow]:
    """The rows of a table read with COLUMNS."""
    return list(_rows(table.select(list(COLUMNS)).to_pylist()))


def _rows(values: Iterable[dict[str, Any]]) -> Iterable[TierRow]:
    for value in values:
        yield TierRow(**{**value, "tags": tuple(value["tags"] or ())})
