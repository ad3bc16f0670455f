"""The life of indices over a real LanceDB: what is not indexed is found, what pays is made."""

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tier_fakes import START, Authority

from pagemind.runtime.message import Message, Text
from pagemind.runtime.model import EmbeddingIdentity
from pagemind.runtime.tiers import census, store, upkeep, write_back
from pagemind.runtime.tiers.row_filter import RowFilter
from pagemind.runtime.tiers.schema import TierRow, rows_of_message
from pagemind.runtime.tiers.store import TierStore
from pagemind.runtime.tiers.write_back import WriteBack

EVERY = RowFilter(statuses=("active",))
SIZE = 128  # codes of fewer dimensions tell less apart
IDENTITY = EmbeddingIdentity("synthetic", SIZE)
ROWS = 3_000


def rows_from(first: int, count: int) -> list[TierRow]:
    """So many rows with vectors around forty directions, tags and a minute between them."""
    import numpy as np

    draw = np.random.default_rng(first)
    centres = np.random.default_rng(1).standard_normal((40, SIZE), dtype=np.float32)
    rows = []
    for seq in range(first, first + count):
        vector = centres[seq % 40] + 0.4 * draw.standard_normal(SIZE, dtype=np.float32)
        message = Message(
            "user",
            (Text(f"number {seq} of the harbour log"),),
            seq=seq,
            speaker=("Sam", "Ada")[seq // 40 % 2],
            said_at=START + timedelta(minutes=seq),
        )
        (row,) = rows_of_message(message)
        tags = ("rare",) if seq % 100 == 0 else ("common",)
        rows.append(replace(row, tags=tags, vector=[float(x) for x in vector]))
    return rows


def exact(rows: Sequence[TierRow], asked: Sequence[float], where: RowFilter) -> list[str]:
    import numpy as np

    some = [row for row in rows if where.matches(row)]
    matrix = np.array([row.vector for row in some], dtype=np.float32)
    cosines = matrix @ np.array(asked) / np.linalg.norm(matrix, axis=1)
    return [some[int(i)].id for i in np.argsort(-cosines)[:10]]


def recall_at_10(tiers: TierStore, rows: Sequence[TierRow], where: RowFilter) -> float:
    found = 0
    asked = [row.vector for row in rows[::150] if row.vector is not None]
    for vector in asked:
        best = tiers.search_vector("recall", vector, where, 100)[:10]
        found += len({m.id for m in best} & set(exact(rows, vector, where)))
    return found / (10 * len(asked))


def indexed(tiers: TierStore) -> set[str]:
    state = tiers.state("recall")
    return set(state.indices) if state is not None else set()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thresholds that a small table reaches."""
    monkeypatch.setattr(upkeep, "SCALAR_INDEX_ROWS", 500)
    monkeypatch.setattr(upkeep, "VECTOR_INDEX_ROWS", 1_000)
    monkeypatch.setattr(census, "VECTOR_EXACT_ROWS", 200)


@pytest.fixture
def tiers(tmp_path: Path, small: None) -> TierStore:
    return TierStore(tmp_path / "lance", IDENTITY)


def test_an_index_keeps_the_recall_with_and_without_filters(tiers: TierStore) -> None:
    """Everything, half of it, and a hundredth of it; what came after the index is found too."""
    rows = rows_from(1, ROWS)
    tiers.put("recall", rows)
    assert tiers.maintain(force=True)
    assert {"vector", "said_at", "tags", "parent"} <= indexed(tiers)
    late = rows_from(ROWS + 1, 200)
    tiers.put("recall", late)
    rows += late
    for where in (
        EVERY,
        replace(EVERY, speakers=("Sam",)),
        replace(EVERY, tags=("rare",)),
        replace(EVERY, start=START + timedelta(minutes=ROWS - 30)),
        replace(EVERY, seqs=((1, 900), (2_000, 1 << 40))),
    ):
        assert recall_at_10(tiers, rows, where) >= 0.95


def test_a_selective_filter_is_compared_exactly(tiers: TierStore) -> None:
    """Few rows that match are all looked at; many go by the index."""
    rows = rows_from(1, ROWS)
    tiers.put("recall", rows)
    tiers.maintain(force=True)
    table = tiers._open("recall")
    assert table is not None
    known = tiers._census("recall", table)
    assert known.condition(EVERY) is None
    assert known.probes(None) is not None
    rare = replace(EVERY, tags=("rare",))
    assert known.probes(known.condition(rare)) is None
    vector = rows[99].vector
    assert vector is not None
    found = tiers.search_vector("recall", vector, rare, 10)
    assert [m.id for m in found] == exact(rows, vector, rare)


def test_what_every_row_meets_is_not_asked_of_the_table(tiers: TierStore) -> None:
    """Until one row does not meet it."""
    tiers.put("recall", rows_from(1, 10))
    table = tiers._open("recall")
    assert table is not None
    assert tiers._census("recall", table).condition(EVERY) is None
    tiers.put("recall", [replace(rows_from(11, 1)[0], status="retired")])
    assert tiers._census("recall", table).condition(EVERY) == "status IN ('active')"
    assert {m.parent for m in tiers.search_text("recall", "line", "harbour", EVERY, 20)} == {
        f"m{seq}" for seq in range(1, 11)
    }


def test_no_index_is_made_by_writing_or_searching(tiers: TierStore) -> None:
    """However large the table has grown: that is for maintenance."""
    for first in range(1, ROWS, 500):
        tiers.put("recall", rows_from(first, 500))
    vector = rows_from(1, 1)[0].vector
    assert vector is not None
    assert tiers.search_vector("recall", vector, EVERY, 5)[0].parent == "m1"
    assert tiers.search_text("recall", "line", "2999", EVERY, 5)[0].parent == "m2999"
    assert indexed(tiers) == {"line", "lines", "grams"}


def test_many_new_rows_are_reason_enough(tiers: TierStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few large commits are maintained as many small ones are, by any process."""
    monkeypatch.setattr(upkeep, "OPTIMIZE_MIN_ROWS", 1_000)
    tiers.put("recall", rows_from(1, 800))
    tiers.maintain()
    state = tiers.state("recall")
    assert state is not None
    assert state.indices["line"] == 800
    tiers.put("recall", rows_from(801, 200))
    other = TierStore(tiers.location, IDENTITY)
    assert other.maintain()
    state = other.state("recall")
    assert state is not None
    assert set(state.indices.values()) == {0}


def test_a_vector_index_is_made_anew_when_the_table_has_outgrown_it(tiers: TierStore) -> None:
    """Four times over; the old one goes, and there is never none."""
    tiers.put("recall", rows_from(1, 1_000))
    tiers.maintain(force=True)
    assert names(tiers) == ["vector_1000"]
    tiers.put("recall", rows_from(1_001, 2_000))
    tiers.maintain(force=True)
    assert names(tiers) == ["vector_1000"]
    tiers.put("recall", rows_from(3_001, 1_000))
    tiers.maintain(force=True)
    assert names(tiers) == ["vector_4000"]


def test_a_vector_index_in_many_pieces_is_made_anew(
    tiers: TierStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each compaction adds one, and each search looks into all."""
    monkeypatch.setattr(upkeep, "VECTOR_SEGMENTS", 3)
    tiers.put("recall", rows_from(1, 1_000))
    seen = set()
    for first in range(1_001, 2_001, 100):
        tiers.maintain(force=True)
        table = tiers._open("recall")
        assert table is not None
        (index,) = [i for i in table.list_indices() if "vector" in i.columns]
        assert (index.num_segments or 1) <= 3 + 1
        seen.add(index.name)
        tiers.put("recall", rows_from(first, 100))
    assert len(seen) > 1


def names(tiers: TierStore) -> list[str]:
    table = tiers._open("recall")
    assert table is not None
    return sorted(index.name for index in table.list_indices() if "vector" in index.columns)


def test_maintenance_that_is_stopped_goes_on_where_it_was(tiers: TierStore) -> None:
    """Also in another process; after every step the table is searched as before."""
    rows = rows_from(1, ROWS)
    tiers.put("recall", rows)
    steps = 0
    while True:
        one = TierStore(tiers.location, IDENTITY)
        asked = iter((False, True))
        if not one.maintain(stop=lambda asked=asked: next(asked, True)):
            break
        steps += 1
        vector = rows[7].vector
        assert vector is not None
        assert one.search_vector("recall", vector, EVERY, 1)[0].parent == "m8"
    assert steps > 5
    assert {"vector", "said_at", "tags", "parent"} <= indexed(tiers)


def test_two_vector_indices_after_a_kill_become_one(tiers: TierStore) -> None:
    """A process was killed between making the new one and dropping the old one."""
    tiers.put("recall", rows_from(1, 1_000))
    tiers.maintain(force=True)
    tiers.put("recall", rows_from(1_001, 3_000))
    table = tiers._open("recall")
    assert table is not None
    upkeep._make(table, "vector_4000")
    assert len(names(tiers)) == 2
    vector = rows_from(1, 1)[0].vector
    assert vector is not None
    assert tiers.search_vector("recall", vector, EVERY, 1)[0].parent == "m1"
    TierStore(tiers.location, IDENTITY).maintain(force=True)
    assert names(tiers) == ["vector_4000"]


def test_files_stay_few_however_many_commits(
    tiers: TierStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files, bytes of manifests and pieces are no more after 300 commits than after 100."""
    monkeypatch.setattr(upkeep, "CLEANUP_AGE_SECONDS", 0.0)
    monkeypatch.setattr(store, "OPTIMIZE_COMMITS", 20)
    sizes = []
    for first in range(1, 301):
        tiers.put("recall", rows_from(first, 1))
        tiers.maintain()
        if first % 100 == 0:
            files = [p for p in tmp_path.rglob("*") if p.is_file()]
            manifests = sum(p.stat().st_size for p in files if "_versions" in p.parts)
            state = tiers.state("recall")
            assert state is not None
            sizes.append((len(files), manifests, state.fragments))
    assert sizes[2][0] <= sizes[0][0] + 5
    assert sizes[2][1] <= 1.5 * sizes[0][1]
    assert sizes[2][2] <= sizes[0][2] + 1


def test_a_purge_leaves_every_index_and_no_trace(tiers: TierStore, tmp_path: Path) -> None:
    """Scalar and vector indices keep deleted values unless they are made anew."""
    rows = rows_from(1, ROWS)
    marker = "xylophonquartz"
    rows[5] = replace(rows[5], speaker=marker, tags=(marker,), text=marker, line=marker)
    tiers.put("recall", rows)
    tiers.maintain(force=True)
    before = indexed(tiers)
    tiers.purge("recall", ["m6"])
    assert indexed(tiers) == before
    blobs = [p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()]
    assert not any(marker.encode() in blob or b"'m6'" in blob for blob in blobs)
    assert recall_at_10(tiers, rows[:5] + rows[6:], EVERY) >= 0.95


def test_upkeep_waits_for_a_pause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not while somebody writes, and not within a search: the write-back thread does it later."""
    monkeypatch.setattr(store, "OPTIMIZE_COMMITS", 1)
    monkeypatch.setattr(write_back, "UPKEEP_IDLE_SECONDS", 0.4)
    authority = Authority()
    tiers = TierStore(tmp_path / "lance", None)
    done: list[tuple[str, float]] = []
    inner = tiers.maintain

    def maintain(**more: Any) -> bool:
        done.append((threading.current_thread().name, time.monotonic()))
        return inner(**more)

    monkeypatch.setattr(tiers, "maintain", maintain)
    writer = WriteBack()
    writer.register("a", authority, tiers, None)
    authority.say("The boat is red.")
    kicked = time.monotonic()
    writer.kick("a")
    assert writer.drain("a", 30.0)
    deadline = time.monotonic() + 30.0
    while not done and time.monotonic() < deadline:
        time.sleep(0.05)
    writer.close()
    assert done[0][0] == "pagemind-write-back"
    assert done[0][1] - kicked >= 0.4


def test_searches_that_read_much_without_an_index_do_not_wait_for_a_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once they cost as much as the upkeep it is done between two batches; where nobody searches
    it is not."""
    monkeypatch.setattr(store, "OPTIMIZE_REREAD", 100)
    monkeypatch.setattr(write_back, "UPKEEP_IDLE_SECONDS", 600.0)
    authority = Authority()
    tiers = TierStore(tmp_path / "lance", None)
    writer = WriteBack()
    writer.register("a", authority, tiers, None)

    def say(number: int) -> None:
        authority.say(f"The boat number {number} is red.")
        writer.kick("a")
        assert writer.drain("a", 30.0)

    for number in range(20):
        say(number)
    assert unindexed(tiers) >= 19  # its table was made with an index of nothing
    assert not tiers.worn()
    searches = 0
    while not tiers.worn():
        searches += 1
        assert tiers.search_text("recall", "line", "boat 7", EVERY, 5)
    assert 4 < searches < 10
    say(20)
    writer.close()
    assert not tiers.worn()
    assert unindexed(tiers) == 0
    assert len(tiers.search_text("recall", "line", "boat", EVERY, 50)) == 21


def unindexed(tiers: TierStore) -> int:
    """Rows that a search by words reads one by one."""
    return max((tiers.unindexed("recall") or {}).values())


def test_a_process_that_leaves_sees_to_what_is_overdue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many short processes never pause."""
    monkeypatch.setattr(store, "OPTIMIZE_COMMITS", 2)
    authority = Authority()
    for number in range(1, 5):
        tiers = TierStore(tmp_path / "lance", None)
        writer = WriteBack()
        writer.register("a", authority, tiers, None)
        authority.say(f"number {number}")
        writer.kick("a")
        assert writer.drain("a", 30.0)
        writer.unregister("a")
        writer.close()
        state = tiers.state("recall")
        assert state is not None
        assert state.fragments == (number if number < 4 else 1)


def test_no_vector_is_read_to_learn_that_none_is_missing(
    tiers: TierStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once looked, it is noted, for every process, until a row without a vector is written."""
    tiers.put("recall", rows_from(1, 5))
    assert not tiers.missing_vectors("recall", 10)
    other = TierStore(tiers.location, IDENTITY)
    with monkeypatch.context() as patch:
        patch.setattr(other, "_read", lambda *_: pytest.fail("it was read"))
        assert not other.missing_vectors("recall", 10)
        assert other.count_missing("recall") == 0
    other.put("recall", [replace(rows_from(6, 1)[0], vector=None)])
    assert tiers.count_missing("recall") == 1
    assert [row.parent for row in tiers.missing_vectors("recall", 10)] == ["m6"]
    vector = rows_from(6, 1)[0].vector
    assert vector is not None
    assert tiers.fill_vectors("recall", {"m6.1": vector}) == 1
    assert not tiers.missing_vectors("recall", 10)
    tiers.reset()
    tiers.put("recall", [replace(rows_from(7, 1)[0], vector=None)])
    assert tiers.count_missing("recall") == 1
