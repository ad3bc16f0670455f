"""Which files a dump has, and the bytes of each: a pure function of what the agent holds.

A passage keeps the name it got from its first words, whatever becomes of it. Conversations are
there to be read; nothing is loaded from them.
"""

import re
import unicodedata
from collections.abc import Iterator
from datetime import tzinfo

from pagemind.runtime.clock import rfc3339
from pagemind.runtime.core_memory import Block
from pagemind.runtime.message import Message
from pagemind.runtime.passage import Passage
from pagemind.runtime.portable.folder.front_matter import written
from pagemind.runtime.scope import ROOT
from pagemind.runtime.settings import FOLDER_FORMAT
from pagemind.runtime.state.state import State

README = "README.md"
FORMAT = "pagemind memory"
BLOCKS, PASSAGES, CONVERSATIONS = "blocks", "passages", "conversations"
_SLUG_WORDS = 6
_SLUG_CHARS = 48
_ROWS = 1000
_ABOUT = """# What {agent} remembers

Written by `pagemind memory dump`, taken back by `pagemind memory load`.

- `blocks/`: core memory. Edit the text.
- `passages/`: archival memory. Edit text, tags and importance; a new file without an `id` is a new
  passage; a file that is gone is retired with `--sync`.
- `conversations/`: to be read. Nothing is loaded from here.

Leave `version` as it is: it says what an edit was made of."""


def readme(agent: str, state: State) -> bytes:
    """The index: what the folder is of, and up to which change of passages."""
    row = state.database.one("SELECT max(at) AS at FROM passage_versions")
    values = {
        "format": FORMAT,
        "schema": FOLDER_FORMAT,
        "agent": agent,
        "passages_until": str(row["at"]) if row and row["at"] else None,
    }
    return written(values, _ABOUT.format(agent=agent))


def block_file(block: Block) -> tuple[str, bytes]:
    """Its path in the folder, and its bytes."""
    values = {
        "label": block.label,
        "version": block.version,
        "limit": block.limit,
        "description": block.description or None,
    }
    return f"{BLOCKS}/{block.label}.md", written(values, block.value)


def passage_file(passage: Passage, first_text: str) -> tuple[str, bytes]:
    """The same. `first_text` is what it was when it was stored."""
    assert passage.created_at is not None
    values = {
        "id": passage.short_id,
        "version": passage.version,
        "tags": list(passage.tags) or None,
        "importance": passage.importance,
        "created": rfc3339(passage.created_at),
        "origin": passage.provenance.origin,
        "source": passage.provenance.detail or None,
        **told(passage),
    }
    return f"{PASSAGES}/{passage_name(passage.number, first_text)}", written(values, passage.text)


def told(passage: Passage) -> dict[str, str | None]:
    """What a record is beside its text, for a person to read: it is not loaded."""
    facets = passage.facets
    begins, ends, next_one = facets.valid_from, facets.valid_to, facets.superseded_by
    return {
        "kind": facets.kind if facets.kind != "note" else None,
        "scope": facets.scope if facets.scope != ROOT else None,
        "valid_from": rfc3339(begins) if begins is not None else None,
        "valid_to": rfc3339(ends) if ends is not None else None,
        "superseded_by": f"a{next_one}" if next_one is not None else None,
        "hidden": "cold" if facets.cold else None,
    }


def passage_name(number: int, first_text: str) -> str:
    """`a7-the-boat-is-called-nomad.md`"""
    plain = unicodedata.normalize("NFKD", first_text[:400]).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", plain.lower())[:_SLUG_WORDS]
    slug = "-".join(words)[:_SLUG_CHARS].strip("-")
    return f"a{number}-{slug}.md" if slug else f"a{number}.md"


def first_texts(state: State) -> dict[int, str]:
    """What each active passage was when it was stored."""
    rows = state.database.rows(
        "SELECT v.number, v.text FROM passage_versions v JOIN passages p ON p.number = v.number"
        " WHERE v.version = 1 AND p.status = 'active'"
    )
    return {row["number"]: row["text"] for row in rows}


def passages(state: State) -> Iterator[Passage]:
    """The active ones, the oldest first; not the values of the store, whose text is made of
    them."""
    number = 0
    while some := state.passages.after(number, _ROWS):
        yield from (each for each in some if each.kind != "item")
        number = some[-1].number


def memory_files(state: State) -> Iterator[tuple[str, bytes]]:
    """Blocks and passages."""
    for block in state.blocks.all():
        yield block_file(block)
    first = first_texts(state)
    for passage in passages(state):
        yield passage_file(passage, first.get(passage.number, passage.text))


def conversation_pieces(state: State, zone: tzinfo) -> Iterator[tuple[int, str, str]]:
    """Each live message as its conversation, the day of that, and a piece of its file. One after
    the other: a history is longer than memory."""
    for low, high in state.journal.live_ranges() or [(1, state.journal.last_seq)]:
        for first in range(low, high + 1, _ROWS):
            for message, _, _ in state.journal.range(first, min(high, first + _ROWS - 1)):
                if message.kind in ("talk", "observation"):
                    at = (message.said_at or message.recorded_at).astimezone(zone)  # type: ignore[union-attr] # stored messages have both
                    yield message.conversation, f"{at:%Y-%m-%d}", _piece(message, zone)


def conversation_head(number: int, day: str) -> str:
    """How the file of a conversation begins."""
    return written({"conversation": number, "began": day}, "").decode().rstrip("\n") + "\n"


def _piece(message: Message, zone: tzinfo) -> str:
    assert message.said_at is not None
    who = message.speaker or message.name or message.role
    at = f"{message.said_at.astimezone(zone):%Y-%m-%d %H:%M}"
    lines = [f"\n## {message.short_id} · {' '.join(who.split())} · {at}\n"]
    if message.text:
        lines.append(f"{message.text}\n")
    lines += [f"`{call.name}({call.arguments})`\n" for call in message.tool_calls]
    return "\n".join(lines)
