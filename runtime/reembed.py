"""Reembed: makes an agent's LanceDB tiers anew with another embedder, beside the old ones.

The old tables serve readers until the new ones are complete; then one commit points to those. How
far it came is kept with each batch, so that a process that was killed, an embedder that failed or
a full disk costs one batch: the next run goes on from there. The caller holds the agent.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import tzinfo
from pathlib import Path

from pagemind.runtime.errors import ModelError
from pagemind.runtime.model import Embedder
from pagemind.runtime.outbox import Tier
from pagemind.runtime.settings import WRITE_BACK_ROWS
from pagemind.runtime.state.state import State
from pagemind.runtime.tiers.schema import TierRow, rows_of_message, rows_of_page, rows_of_passage
from pagemind.runtime.tiers.store import TIERS, TierStore
from pagemind.runtime.tiers.write_back import with_vectors

_PLAN = "reembedding"  # the key of meta


@dataclass(frozen=True, slots=True)
class Reembedded:
    """What was done. `resumed` counts what an earlier run that was cut off had done already."""

    before: str
    after: str
    rows: int
    resumed: int
    missing_vectors: int


@dataclass(slots=True)
class _Plan:
    """How far it came: all up to `recall` (a seq), `archival` and `pages` (numbers) is there.

    `versions` counts the versions of passages when it began: one more, and a passage that was
    carried over may have changed.
    """

    folder: str
    embedding: str
    identity: str
    versions: int
    recall: int = 0
    archival: int = 0
    pages: int = 0

    @property
    def done(self) -> int:
        return self.recall + self.archival + self.pages


def reembed(
    state: State,
    embedder: Embedder | None,
    embedding: str,
    *,
    zone: tzinfo,
    agent: str,
    on_rows: Callable[[int, int], None],
) -> Reembedded:
    """Make the tiers anew; `embedding` is the embedder's name, None embedder: text only.

    Raises ModelError where the embedder fails, StorageError; what was done is kept.
    """
    plan = _plan(state, embedder, embedding)
    identity = embedder.identity if embedder is not None else None
    store = TierStore(state.folder / plan.folder, identity, agent=agent)
    total = state.journal.last_seq + state.passages.count() + state.pages.count()
    resumed = plan.done
    for tier in TIERS:
        for last, rows in _SOURCES[tier](state, plan, zone):
            store.put(tier, _embedded(embedder, rows, agent))
            setattr(plan, tier, last)
            _keep(state, plan)
            on_rows(min(plan.done, total), total)
    # What was retired or rewound since it was carried over.
    store.delete("archival", [f"a{number}" for number in state.passages.retired()])
    store.delete("pages", [f"p{number}" for number in state.pages.hidden()])
    store.maintain(force=True)
    rows_made = sum(store.count(tier) for tier in TIERS)
    missing = 0 if embedder is None else sum(store.count_missing(tier) for tier in TIERS)
    before = state.database.meta("embedding")
    with state.database.transaction():
        state.point_to_tiers(plan.folder)
        state.database.set_meta("embedding", embedding)
        state.database.set_meta(_PLAN, "")
        state.outbox.clear()  # what waited for the old tables stands in the new ones
    sweep_tiers(state)
    return Reembedded(before, embedding, rows_made, resumed, missing)


def unused_tiers(state: State) -> list[Path]:
    """Folders of tiers that nothing points to any more."""
    kept = {state.tiers.name}
    if stored := state.database.meta(_PLAN):
        kept.add(json.loads(stored)["folder"])
    folders = (each for each in state.folder.glob("lance*") if each.is_dir())
    return [each for each in folders if each.name not in kept]


def sweep_tiers(state: State) -> None:
    """Remove them."""
    for each in unused_tiers(state):
        shutil.rmtree(each, ignore_errors=True)
        each.with_name(f"{each.name}.lock").unlink(missing_ok=True)


def _plan(state: State, embedder: Embedder | None, embedding: str) -> _Plan:
    """Where to go on; a new beginning if there is none, or if it was for another embedder."""
    stored = state.database.meta(_PLAN)
    identity = json.dumps(embedder.identity.as_json() if embedder else None, sort_keys=True)
    versions = state.passages.version_count()
    if stored:
        plan = _Plan(**json.loads(stored))
        whole = plan.done == 0 or (state.folder / plan.folder).is_dir()
        if (plan.embedding, plan.identity) == (embedding, identity) and whole:
            if plan.versions != versions:
                plan.versions, plan.archival = versions, 0
            return plan
        state.database.set_meta(_PLAN, "")
    sweep_tiers(state)
    number = int(state.tiers.name.partition(".")[2] or 1) + 1
    plan = _Plan(f"lance.{number}", embedding, identity, versions)
    _keep(state, plan)
    return plan


def _keep(state: State, plan: _Plan) -> None:
    state.database.set_meta(_PLAN, json.dumps(asdict(plan)))


def _messages(state: State, plan: _Plan, zone: tzinfo) -> Iterator[tuple[int, list[TierRow]]]:
    """Batches of rows, each with the seq up to which it goes."""
    journal = state.journal
    rows: list[TierRow] = []
    first, newest = plan.recall + 1, journal.last_seq
    while first <= newest:
        last = min(newest, first + WRITE_BACK_ROWS - 1)
        messages = [message for message, _, _ in journal.range(first, last)]
        before = journal.before_each([m.seq for m in messages], 2)
        for message in messages:
            rows += rows_of_message(message, before.get(message.seq, ()), zone)
        if len(rows) >= WRITE_BACK_ROWS or last == newest:
            yield last, rows
            rows = []
        first = last + 1


def _passages(state: State, plan: _Plan, zone: tzinfo) -> Iterator[tuple[int, list[TierRow]]]:
    """The same of passages, with their numbers."""
    while some := state.passages.after(plan.archival, WRITE_BACK_ROWS):
        yield some[-1].number, [row for passage in some for row in rows_of_passage(passage, zone)]


def _pages(state: State, plan: _Plan, zone: tzinfo) -> Iterator[tuple[int, list[TierRow]]]:
    """The same of the gists of pages."""
    for first in range(plan.pages + 1, state.pages.last_number + 1, WRITE_BACK_ROWS):
        some = state.pages.get_all(range(first, first + WRITE_BACK_ROWS))
        yield (
            max(some),
            [row for number in sorted(some) for row in rows_of_page(some[number], zone)],
        )


_Source = Callable[[State, _Plan, tzinfo], Iterator[tuple[int, list[TierRow]]]]
_SOURCES: dict[Tier, _Source] = {"recall": _messages, "archival": _passages, "pages": _pages}


def _embedded(embedder: Embedder | None, rows: Sequence[TierRow], agent: str) -> Sequence[TierRow]:
    if embedder is None:
        return rows
    made: list[TierRow] = []
    try:
        for at in range(0, len(rows), WRITE_BACK_ROWS):  # a huge message is many rows
            made += with_vectors(embedder, rows[at : at + WRITE_BACK_ROWS])
    except ModelError as error:
        error.hint = (
            f"`pagemind memory reembed {agent}` goes on where it stopped; the old tables are in use"
            " until then"
        )
        raise
    return made
