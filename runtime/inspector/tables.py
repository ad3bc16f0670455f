"""What the inspector's page embeds: each table as rows of plain values, in order, one at a time.

TABLES names the tables with their fields; the page's data.js gives the values of a row these names.
Times are whole seconds since 1970, texts are cut at INSPECTOR_TEXT_CHARS.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pagemind.runtime.clock import parse_rfc3339
from pagemind.runtime.message import Message
from pagemind.runtime.settings import HEAT_DECAY, INSPECTOR_TEXT_CHARS
from pagemind.runtime.state.chronicle import Chronicle
from pagemind.runtime.state.passages import passage_of
from pagemind.runtime.state.state import State

Values = list[Any]

TABLES: dict[str, Sequence[str]] = {
    "turns": "turn event speaker conversation first at ended stop reasons".split(),
    "steps": "step turn epoch at model estimated prompt completion cached cost finish".split(),
    "epochs": "epoch at seq reason summary start pins".split(),
    "summaries": "summary at tokens covers rung author text".split(),
    "pages": (
        "kind number level parent first last from to messages tokens gist author keywords heat"
        " trust epoch live"
    ).split(),
    "gists": "number version at author gist".split(),
    "blocks": "label version at author reason seq value".split(),
    "passages": (
        "number at updated version status origin detail trust importance tags sources text"
        " kind standing subject relation object speaker scope owner from to superseded level"
    ).split(),
    "passage_versions": "number version at author reason status text".split(),
    "messages": (
        "seq role kind speaker at turn conversation tokens origin detail trust live text calls ok"
    ).split(),
}


class Tables:
    """The rows of one agent. Everything is read at one instant if the caller sees to it."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._chronicle = Chronicle(state.database)

    def rows(self, table: str) -> Iterator[Values]:
        """The rows of one of TABLES, their values in the order of its fields."""
        made: Callable[[], Iterator[Values]] = getattr(self, f"_{table}")
        return made()

    def _turns(self) -> Iterator[Values]:
        for row in self._chronicle.turns():
            yield [
                row["turn"],
                row["event"],
                row["speaker"],
                row["conversation"],
                row["first_seq"],
                _seconds(row["started_at"]),
                _seconds(row["ended_at"]),
                row["stop_reason"] or "",
                json.loads(row["reasons"]),
            ]

    def _steps(self) -> Iterator[Values]:
        for row in self._chronicle.steps():
            yield [
                row["step"],
                row["turn"],
                row["epoch"],
                _seconds(row["at"]),
                row["model"],
                row["estimated_tokens"],
                row["prompt_tokens"],
                row["completion_tokens"],
                row["cached_tokens"],
                row["cost"],
                row["finish"],
            ]

    def _epochs(self) -> Iterator[Values]:
        for row in self._chronicle.epochs():
            pins = json.loads(row["pins"])
            yield [
                row["epoch"],
                _seconds(row["at"]),
                row["seq"],
                row["reason"],
                row["summary"],
                row["queue_start"],
                pins["targets"] if isinstance(pins, dict) else pins,
            ]

    def _summaries(self) -> Iterator[Values]:
        for row in self._chronicle.summaries():
            yield [
                row["summary"],
                _seconds(row["at"]),
                row["tokens"],
                row["covers_last"],
                row["rung"],
                row["author"],
                _cut(row["text"]),
            ]

    def _pages(self) -> Iterator[Values]:
        turn = self._state.turns.next_number() - 1
        for row in self._chronicle.pages():
            yield [
                row["kind"],
                row["number"],
                row["level"],
                row["parent"],
                row["first_seq"],
                row["last_seq"],
                _seconds(row["first_at"]),
                _seconds(row["last_at"]),
                row["messages"],
                row["tokens"],
                row["gist"],
                row["gist_author"],
                json.loads(row["keywords"]),
                round(row["heat"] * HEAT_DECAY ** max(0, turn - row["heat_turn"]), 2),
                row["trust"],
                row["epoch"],
                bool(row["live"]),
            ]

    def _gists(self) -> Iterator[Values]:
        for row in self._chronicle.gists():
            if row["kind"] == "page":
                at = _seconds(row["at"])
                yield [row["number"], row["version"], at, row["author"], row["gist"]]

    def _blocks(self) -> Iterator[Values]:
        for row in self._chronicle.blocks():
            yield [
                row["label"],
                row["version"],
                _seconds(row["at"]),
                row["author"],
                row["reason"],
                row["seq"],
                _cut(row["value"]),
            ]

    def _passages(self) -> Iterator[Values]:
        for row in self._chronicle.passages():
            passage = passage_of(row)
            facets = passage.facets
            yield [
                row["number"],
                _seconds(row["created_at"]),
                _seconds(row["updated_at"]),
                row["version"],
                row["status"],
                row["origin"],
                row["origin_detail"],
                row["trust"],
                row["importance"],
                json.loads(row["tags"]),
                json.loads(row["sources"]),
                _cut(row["text"]),
                facets.kind,
                passage.standing,
                facets.subject,
                facets.relation,
                facets.object,
                facets.speaker,
                facets.scope,
                facets.owner,
                _seconds(row["valid_from"]),
                _seconds(row["valid_to"]),
                facets.superseded_by,
                facets.level,
            ]

    def _passage_versions(self) -> Iterator[Values]:
        for row in self._chronicle.passage_versions():
            yield [
                row["number"],
                row["version"],
                _seconds(row["at"]),
                row["author"],
                row["reason"],
                row["status"],
                _cut(row["text"]),
            ]

    def _messages(self) -> Iterator[Values]:
        lived = self._lived()
        for message, tokens in self._chronicle.messages():
            yield [
                message.seq,
                message.role,
                message.kind,
                message.name if message.role == "tool" else message.speaker,
                int(message.said_at.timestamp()) if message.said_at else 0,
                message.turn,
                message.conversation,
                tokens,
                message.provenance.origin,
                message.provenance.detail,
                message.provenance.trust,
                lived(message.seq),
                _cut(_text(message)),
                [[call.name, _cut(call.arguments)] for call in message.tool_calls],
                message.ok,
            ]

    def _lived(self) -> Callable[[int], bool]:
        """Whether a message is on the agent's line: what was rewound is not."""
        ranges = self._state.journal.live_ranges()
        if ranges is None:
            return lambda seq: True
        return lambda seq: any(first <= seq <= last for first, last in ranges)


def _text(message: Message) -> str:
    if message.reference:
        return f"[read {message.reference['target']} part {message.reference.get('part', 1)}]"
    return message.text


def _cut(text: str) -> str:
    if len(text) <= INSPECTOR_TEXT_CHARS:
        return text
    more = len(text) - INSPECTOR_TEXT_CHARS
    return f"{text[:INSPECTOR_TEXT_CHARS]}\n[… {more:,} more characters]"


def _seconds(at: str | None) -> int:
    return int(parse_rfc3339(at).timestamp()) if at else 0
