"""Epochs, steps and views: what makes any past request reconstructible.

An epoch is the head of the prompt and where the queue starts; it changes at a flush or when the
head does. A step is one model call. A view says how a resident message is shown from a step on.
Long texts lie once, by hash, in `texts`.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pagemind.runtime.clock import Clock, rfc3339
from pagemind.runtime.model import Usage
from pagemind.runtime.state.database import Database
from pagemind.runtime.state.lines import NOW
from pagemind.runtime.view import View

_ENDLESS = 1 << 62
# Of a step: made by this agent, and not by one that it was forked from.
OWN = "step > coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'copied_steps'), 0)"


@dataclass(frozen=True, slots=True)
class Epoch:
    """The head of the prompt. `held` is an evicted event still shown until its turn ends; `pins`
    are the targets whose copies stand in the pinned text."""

    epoch: int
    reason: str
    system_sha256: str
    tools_sha256: str
    blocks: Mapping[str, int]
    summary: int | None
    table_sha256: str
    pins: tuple[str, ...]
    queue_start: int
    held: int | None
    pinned_sha256: str = ""
    seq: int = 0  # the newest when it began


class History:
    """Epochs, steps, views and texts of one agent."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock

    # --- texts --------------------------------------------------------------------------------

    def keep_text(self, text: str) -> str:
        """Store a text once; its SHA-256, or "" for the empty text."""
        if not text:
            return ""
        sha256 = hashlib.sha256(text.encode("utf-8")).hexdigest()
        self._db.write("INSERT OR IGNORE INTO texts VALUES (?, ?)", (sha256, text))
        return sha256

    def text(self, sha256: str) -> str:
        row = self._db.one("SELECT text FROM texts WHERE sha256 = ?", (sha256,))
        return str(row["text"]) if row else ""

    # --- epochs -------------------------------------------------------------------------------

    def begin_epoch(
        self,
        reason: str,
        *,
        system: str,
        tools: str,
        blocks: Mapping[str, int],
        summary: int | None,
        table: str,
        pins: Sequence[str],
        queue_start: int,
        held: int | None,
        pinned: str = "",
    ) -> Epoch:
        """Record what the head of the prompt is from now on. `pins` are the targets that the text
        `pinned` has copies of."""
        with self._db.transaction():
            number = self._db.write(
                "INSERT INTO epochs (at, reason, system_sha256, tools_sha256, blocks, summary,"
                f" table_sha256, pins, queue_start, held, seq) VALUES (?,?,?,?,?,?,?,?,?,?,{NOW})",
                (
                    rfc3339(self._clock.now()),
                    reason,
                    self.keep_text(system),
                    self.keep_text(tools),
                    json.dumps(dict(blocks)),
                    summary,
                    self.keep_text(table),
                    json.dumps({"targets": list(pins), "sha256": self.keep_text(pinned)}),
                    queue_start,
                    held,
                ),
            )
            found = self.epoch(number)
            assert found is not None
        return found

    def take_up(self, epoch: Epoch, reason: str, blocks: Mapping[str, int]) -> None:
        """Begin an epoch that is like an earlier one, with the instructions and functions of the
        newest; `blocks` are the versions that it shows."""
        self._db.write(
            "INSERT INTO epochs (at, reason, system_sha256, tools_sha256, blocks, summary,"
            " table_sha256, pins, queue_start, held, seq) SELECT ?, ?, newest.system_sha256,"
            " newest.tools_sha256, ?, old.summary, old.table_sha256, old.pins, old.queue_start,"
            f" old.held, {NOW} FROM epochs old, epochs newest WHERE old.epoch = ?"
            " AND newest.epoch = (SELECT max(epoch) FROM epochs)",
            (rfc3339(self._clock.now()), reason, json.dumps(dict(blocks)), epoch.epoch),
        )

    def epoch_before(self, seq: int) -> Epoch | None:
        """The epoch in force just before a message was given its seq."""
        number = self._db.number("SELECT max(epoch) FROM epochs WHERE seq < ?", (seq,))
        return self.epoch(number) if number else None

    def epoch(self, number: int | None = None) -> Epoch | None:
        """An epoch, the newest by default."""
        if number is None:
            number = self._db.number("SELECT max(epoch) FROM epochs")
        row = self._db.one("SELECT * FROM epochs WHERE epoch = ?", (number,))
        if row is None:
            return None
        pins = json.loads(row["pins"]) or {"targets": [], "sha256": ""}
        return Epoch(
            row["epoch"],
            row["reason"],
            row["system_sha256"],
            row["tools_sha256"],
            json.loads(row["blocks"]),
            row["summary"],
            row["table_sha256"],
            tuple(pins["targets"]),
            row["queue_start"],
            row["held"],
            pins["sha256"],
            row["seq"],
        )

    # --- steps --------------------------------------------------------------------------------

    @property
    def last_step(self) -> int:
        return self._db.number("SELECT max(step) FROM steps")

    def shown_blocks(self, epoch: Epoch, before: int = _ENDLESS) -> Mapping[str, int]:
        """The versions of the blocks in the head: of the epoch's newest step (before a seq), else
        its own."""
        newest = self._db.number(
            "SELECT max(step) FROM steps WHERE epoch = ? AND last_seq < ?", (epoch.epoch, before)
        )
        return self.blocks_of_step(newest) or epoch.blocks

    def blocks_of_step(self, step: int) -> Mapping[str, int]:
        """The versions of the blocks that a step's request showed."""
        row = self._db.one("SELECT settings FROM steps WHERE step = ?", (step,))
        shown = json.loads(row["settings"]).get("blocks") if row else None
        return shown if isinstance(shown, dict) else {}

    def begin_step(
        self,
        *,
        turn: int,
        epoch: int,
        model: str,
        settings: Mapping[str, Any],
        last_seq: int,
        prefetch: str,
        request_sha256: str,
        estimated_tokens: int,
        min_trust: int,
    ) -> int:
        with self._db.transaction():
            return self._db.write(
                "INSERT INTO steps (turn, epoch, at, model, settings, last_seq, prefetch_sha256,"
                " request_sha256, estimated_tokens, min_trust) VALUES (?,?,?,?,?,?,?,?,?,?)",
                (
                    turn,
                    epoch,
                    rfc3339(self._clock.now()),
                    model,
                    json.dumps(dict(settings)),
                    last_seq,
                    self.keep_text(prefetch),
                    request_sha256,
                    estimated_tokens,
                    min_trust,
                ),
            )

    def prefetch_of_step(self, step: int) -> str:
        """The memories that a step's request showed before the event; "" for none."""
        row = self._db.one("SELECT prefetch_sha256 FROM steps WHERE step = ?", (step,))
        return self.text(row["prefetch_sha256"]) if row else ""

    def prefetched(self, turn: int) -> list[str]:
        """The memories that requests of a turn showed before its event, each once."""
        rows = self._db.rows(
            "SELECT DISTINCT prefetch_sha256 AS sha256 FROM steps"
            " WHERE turn = ? AND prefetch_sha256 <> ''",
            (turn,),
        )
        return [self.text(row["sha256"]) for row in rows]

    def end_step(self, step: int, *, usage: Usage, cost: float | None, finish: str) -> None:
        self._db.write(
            "UPDATE steps SET prompt_tokens = ?, completion_tokens = ?, cached_tokens = ?,"
            " cost = ?, finish = ? WHERE step = ?",
            (
                usage.prompt_tokens,
                usage.completion_tokens,
                usage.cached_tokens,
                cost,
                finish,
                step,
            ),
        )

    def copy_steps(self) -> None:
        """All steps so far were made and paid by the agent that this one is a copy of."""
        self._db.set_meta("copied_steps", str(self.last_step))

    def cost_since(self, at: str) -> float:
        """US dollars of known cost since a time (RFC 3339)."""
        row = self._db.one(f"SELECT sum(cost) AS cost FROM steps WHERE at >= ? AND {OWN}", (at,))
        return float(row["cost"] or 0.0) if row else 0.0

    def least_trust(self, turn: int) -> int:
        """The lowest trust of any text that stood in the window of a turn's steps."""
        row = self._db.one("SELECT min(min_trust) AS trust FROM steps WHERE turn = ?", (turn,))
        return int(row["trust"]) if row is not None and row["trust"] is not None else 100

    def usage(self, since: str = "") -> tuple[int, Usage, float, bool]:
        """Over all steps of its own, or those since a time (RFC 3339): how many, tokens, cost in US
        dollars, and whether all of it is known."""
        row = self._db.one(
            "SELECT count(*) AS steps, sum(prompt_tokens) AS prompt, sum(completion_tokens) AS"
            " completion, sum(cached_tokens) AS cached, sum(cost) AS cost, count(cost) AS known"
            f" FROM steps WHERE at >= ? AND {OWN}",
            (since,),
        )
        assert row is not None
        usage = Usage(row["prompt"] or 0, row["completion"] or 0, row["cached"] or 0)
        return row["steps"], usage, float(row["cost"] or 0.0), row["known"] == row["steps"]

    def usage_of(self, client_ids: str) -> tuple[int, Usage, float, int]:
        """Over the turns of the client's ids that begin so: steps, tokens, known cost in US
        dollars, and how many steps have no known price. Steps of a process that was killed count:
        what was reported of them was stored."""
        row = self._db.one(
            "SELECT count(*) AS steps, sum(prompt_tokens) AS prompt, sum(completion_tokens) AS"
            " completion, sum(cached_tokens) AS cached, sum(cost) AS cost, count(cost) AS known"
            " FROM steps JOIN turns USING (turn) WHERE client_id >= ? AND client_id < ?",
            (client_ids, client_ids + "\x7f"),
        )
        assert row is not None
        usage = Usage(row["prompt"] or 0, row["completion"] or 0, row["cached"] or 0)
        return row["steps"], usage, float(row["cost"] or 0.0), row["steps"] - row["known"]

    # --- views --------------------------------------------------------------------------------

    def set_views(self, views: Mapping[int, View], *, since_step: int) -> None:
        self._db.write_many(
            f"INSERT OR REPLACE INTO views VALUES (?,?,{NOW},?,?)",
            [(seq, since_step, view.form, view.tokens) for seq, view in views.items()],
        )

    def views(
        self,
        first_seq: int,
        last_seq: int = _ENDLESS,
        *,
        at_step: int = _ENDLESS,
        before: int = _ENDLESS,
    ) -> dict[int, View]:
        """The newest view of each message from `first_seq` to `last_seq`; or as it was for a step,
        or just before a message was given its seq."""
        found: dict[int, View] = {}
        for row in self._db.rows(
            "SELECT seq, form, tokens FROM views WHERE seq BETWEEN ? AND ? AND since_step <= ?"
            " AND at_seq < ? ORDER BY seq, since_step, at_seq",
            (first_seq, last_seq, at_step, before),
        ):
            found[row["seq"]] = View(row["form"], row["tokens"])
        return found
