"""TierStore over a real LanceDB in a temporary folder."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tier_fakes import START

from pagemind.runtime.errors import (
    EmbeddingMismatch,
    ModelUnreachable,
    SchemaTooNew,
    StorageError,
    TierOutdated,
)
from pagemind.runtime.message import Message, Text
from pagemind.runtime.model import EmbeddingIdentity
from pagemind.runtime.models.hashing_embedder import HashingEmbedder
from pagemind.runtime.tiers import store, upkeep
from pagemind.runtime.tiers.row_filter import RowFilter
from pagemind.runtime.tiers.schema import TierRow, rows_of_message
from pagemind.runtime.tiers.store import TierStore

EVERY = RowFilter()
HASHING = HashingEmbedder()


def said(seq: int, text: str, speaker: str = "Sam") -> list[TierRow]:
    message = Message("user", (Text(text),), seq=seq, speaker=speaker, said_at=START)
    return rows_of_message(message)


def with_vectors(rows: list[TierRow]) -> list[TierRow]:
    vectors = HASHING.embed([row.text for row in rows])
    return [replace(row, vector=v) for row, v in zip(rows, vectors, strict=True)]


@pytest.fixture
def tiers(tmp_path: Path) -> TierStore:
    return TierStore(tmp_path / "agent" / "lance", HASHING.identity, agent="ada")


def test_nothing_is_created_before_the_first_write(tiers: TierStore, tmp_path: Path) -> None:
    """Reading an agent that never wrote leaves no trace and finds nothing."""
    assert tiers.count("recall") == 0
    assert tiers.search_text("recall", "line", "boat", EVERY, 10) == []
    assert tiers.search_vector("recall", [1.0] * 64, EVERY, 10) == []
    assert tiers.missing_vectors("recall", 10) == []
    tiers.delete("recall", ["m1"])
    assert not tiers.maintain(force=True)
    assert list(tmp_path.iterdir()) == []


def test_putting_a_batch_again_changes_nothing(tiers: TierStore) -> None:
    """A crash between the commit and the outbox repeats the batch."""
    rows = with_vectors(said(1, "The boat is red.") + said(2, "Long. " * 400))
    for _ in range(3):
        tiers.put("recall", rows)
    assert tiers.count("recall") == len(rows)


def test_an_edit_that_is_shorter_leaves_no_old_pieces(tiers: TierStore) -> None:
    """Replacing is by parent, not by row."""
    tiers.put("recall", said(1, "A long one. " * 300))
    tiers.put("recall", said(1, "short"))
    assert [row.text for row in tiers.scan("recall", EVERY)] == ["short"]


def test_rows_are_found_before_any_optimise_and_after_it(tiers: TierStore) -> None:
    """The indices exist from the first write; new rows do not wait for them."""
    tiers.put("recall", said(1, "We moored at the harbour."))
    tiers.put("recall", said(2, "The harbours were full. ABC-1234 東京タワー"))
    for _ in range(2):
        found = tiers.search_text("recall", "line", "harbour", EVERY, 10)
        assert {match.parent for match in found} == {"m1", "m2"}
        grams = tiers.search_text("recall", "grams", "タワ", EVERY, 10)
        assert [match.parent for match in grams] == ["m2"]
        assert tiers.maintain(force=True)


def test_a_query_is_words_and_never_syntax(tiers: TierStore) -> None:
    """Quotes, operators and SQL in a query do no harm."""
    tiers.put("recall", said(1, "It's a test"))
    for query in (
        '"',
        "'",
        "it's",
        "+test -it",
        "test AND",
        "a:b",
        "(",
        "\\",
        "%",
        "*",
        "😀",
        "\n",
    ):
        tiers.search_text("recall", "line", query, EVERY, 10)
    assert tiers.search_text("recall", "line", '"test" AND (', EVERY, 10)[0].parent == "m1"


def test_vectors_may_come_later(tiers: TierStore) -> None:
    """Rows without a vector are counted, listed and filled; the text stays as it was."""
    rows = said(1, "red boat") + said(2, "blue car")
    tiers.put("recall", rows)
    assert tiers.count_missing("recall") == 2
    missing = tiers.missing_vectors("recall", 10)
    assert sorted(row.id for row in missing) == ["m1.1", "m2.1"]
    vectors = HASHING.embed([row.text for row in missing])
    filled = dict(zip([row.id for row in missing], vectors, strict=True))
    assert tiers.fill_vectors("recall", filled) == 2
    assert tiers.fill_vectors("recall", {"m99.1": vectors[0]}) == 0
    assert tiers.count_missing("recall") == 0
    assert tiers.count("recall") == 2
    nearest = tiers.search_vector("recall", HASHING.embed(["red boat"])[0], EVERY, 1)[0]
    assert (nearest.parent, round(nearest.score, 4)) == ("m1", 1.0)
    assert tiers.search_text("recall", "line", "car", EVERY, 5)[0].parent == "m2"


def test_rows_without_vectors_are_no_ones_neighbours(tiers: TierStore) -> None:
    """NULL is not near to anything."""
    tiers.put("recall", with_vectors(said(1, "red boat")) + said(2, "red boat"))
    found = tiers.search_vector("recall", HASHING.embed(["red boat"])[0], EVERY, 10)
    assert [match.parent for match in found] == ["m1"]


def test_a_store_without_an_embedder_works_with_text(tmp_path: Path) -> None:
    """And takes vectors on when an embedder comes, without a rebuild."""
    plain = TierStore(tmp_path / "lance", None)
    plain.put("recall", said(1, "red boat"))
    assert plain.search_vector("recall", [1.0] * 64, EVERY, 5) == []
    assert plain.count_missing("recall") == 1
    later = TierStore(tmp_path / "lance", lambda: HASHING.identity)
    later.put("recall", with_vectors(said(2, "blue car")))
    vector = HASHING.embed(["red boat"])[0]
    assert later.fill_vectors("recall", {"m1.1": vector}) == 1
    assert later.search_vector("recall", vector, EVERY, 1)[0].parent == "m1"
    plain.put("recall", said(3, "green tree"))
    assert plain.count("recall") == 3


def test_another_embedder_is_refused_with_both_named(tiers: TierStore) -> None:
    """Nothing is dropped, and the command that mends it is in the hint."""
    tiers.put("recall", with_vectors(said(1, "red boat")))
    identity = EmbeddingIdentity("openai/text-embedding-3-small", 1536)
    other = TierStore(tiers.location, identity, agent="ada")
    for refuse in (
        other.check,
        lambda: other.search_vector("recall", [0.1] * 1536, EVERY, 1),
        lambda: other.put("recall", [replace(said(2, "x")[0], vector=[0.1] * 1536)]),
    ):
        with pytest.raises(
            EmbeddingMismatch, match=r"hashing .* openai/text-embedding-3-small"
        ) as e:
            refuse()
        assert e.value.hint == "pagemind memory reembed ada"
    assert other.count("recall") == 1


def test_the_same_model_in_another_precision_is_another_embedder(tiers: TierStore) -> None:
    """The message names the field that differs."""
    tiers.put("recall", with_vectors(said(1, "red boat")))
    other = TierStore(tiers.location, replace(HASHING.identity, precision="int8"))
    with pytest.raises(EmbeddingMismatch, match="precision int8"):
        other.check()


def test_an_embedder_that_cannot_be_asked_does_not_stop_the_text(tmp_path: Path) -> None:
    """A remote embedder tells its dimensions only when it can be reached."""

    def unreachable() -> EmbeddingIdentity:
        raise ModelUnreachable("no route")

    tiers = TierStore(tmp_path / "lance", unreachable)
    tiers.put("recall", said(1, "red boat"))
    tiers.check()
    assert tiers.search_text("recall", "line", "boat", EVERY, 5)


def test_a_table_of_another_version_is_left_alone(
    tiers: TierStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A newer one is refused, an older one asks for a rebuild, and a reset makes room for it."""
    tiers.put("recall", said(1, "red boat"))
    monkeypatch.setattr(upkeep, "TEXT_RECIPE", 0)
    with pytest.raises(SchemaTooNew, match="newer pagemind"):
        TierStore(tiers.location, None).count("recall")
    monkeypatch.setattr(upkeep, "TEXT_RECIPE", 9)
    again = TierStore(tiers.location, None, agent="ada")
    with pytest.raises(TierOutdated, match="older pagemind") as e:
        again.count("recall")
    assert e.value.hint == "pagemind memory rebuild ada"
    again.reset()
    assert again.count("recall") == 0


def test_reset_drops_both_tables_and_the_store_goes_on(tiers: TierStore) -> None:
    """The first step of a rebuild."""
    tiers.put("recall", said(1, "red boat"))
    tiers.put("archival", said(2, "blue car"))
    reader = TierStore(tiers.location, None)
    assert reader.count("recall") == 1
    tiers.reset()
    assert reader.count("recall") == 0
    tiers.put("recall", said(3, "green tree"))
    assert tiers.count("recall") == reader.count("recall") == 1


def test_deleting_is_by_parent_and_forgiving(tiers: TierStore) -> None:
    """Unknown parents, no parents and no table are all fine."""
    tiers.delete("archival", ["a1"])
    tiers.put("recall", said(1, "Long. " * 400) + said(2, "kept"))
    tiers.delete("recall", ["m1", "m77", "it's"])
    tiers.delete("recall", [])
    assert [row.parent for row in tiers.scan("recall", EVERY)] == ["m2"]


def test_a_scan_is_newest_first_and_limited(tiers: TierStore) -> None:
    """By seq, the only order."""
    tiers.put("recall", [row for i in (3, 1, 2) for row in said(i, f"number {i}")])
    assert [row.seq for row in tiers.scan("recall", EVERY, 2)] == [3, 2]
    assert [row.seq for row in tiers.scan("recall", EVERY, newest=False)] == [1, 2, 3]


def test_maintenance_comes_by_the_number_of_commits(
    tiers: TierStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when every process makes only one of them."""
    monkeypatch.setattr(store, "OPTIMIZE_COMMITS", 4)
    for i in range(1, 4):
        one = TierStore(tiers.location, HASHING.identity)
        one.put("recall", said(i, f"number {i}"))
        assert one.maintain() is False
        one.close()
    one = TierStore(tiers.location, HASHING.identity)
    one.put("recall", said(4, "number 4"))
    assert one.maintain() is True
    assert one.maintain() is False
    assert one.count("recall") == 4


def test_a_reader_whose_version_was_cleaned_away_reopens(
    tiers: TierStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once; a second failure is a StorageError."""
    tiers.put("recall", said(1, "red boat"))
    failures = [RuntimeError("lance error: Not found: data/1.lance")]

    def read(table: object) -> int:
        if failures:
            raise failures.pop()
        return 7

    assert tiers._read("recall", read, 0) == 7
    failures.extend([RuntimeError("Not found")] * 2)
    with pytest.raises(StorageError, match="Not found"):
        tiers._read("recall", read, 0)


def test_purged_text_is_in_no_file(tiers: TierStore, tmp_path: Path) -> None:
    """Not in data, indices, transactions or manifests; what remains is still found."""
    marker = "xylophonquartz"
    tiers.put("recall", with_vectors(said(1, f"the secret is {marker} x-{marker}-9")))
    tiers.put("recall", with_vectors(said(2, "the boat is red")))
    tiers.maintain(force=True)
    tiers.purge("recall", ["m1"])
    blobs = [p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()]
    assert blobs
    assert not any(marker.encode() in blob or b"'m1'" in blob for blob in blobs)
    assert tiers.search_text("recall", "line", marker, EVERY, 5) == []
    assert tiers.search_text("recall", "line", "boat", EVERY, 5)[0].parent == "m2"


def test_only_a_folder_promises_a_purge() -> None:
    """Elsewhere the rows can be deleted, which is another thing."""
    remote = TierStore("s3://bucket/agents/1/lance", None)
    assert remote.location.is_object_store
    assert not remote.location.is_local
    assert TierStore("db://prod", None).location.is_remote
    with pytest.raises(StorageError, match="not proved gone"):
        remote.purge("recall", ["m1"])


def test_a_store_in_memory_works() -> None:
    """For tests: no folder, no lock."""
    memory = TierStore("memory://", None)
    memory.put("recall", said(1, "red boat"))
    assert memory.search_text("recall", "line", "boat", EVERY, 5)[0].parent == "m1"


def test_a_place_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    """A foreign error leaves as StorageError."""
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="file") as e:
        TierStore(tmp_path / "file" / "lance", None).put("recall", said(1, "x"))
    assert "\n" not in e.value.message


def python(code: str) -> "subprocess.Popen[str]":
    """A process of its own that has this module's names."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    environment.pop("LANCEDB_LOG", None)
    head = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
    return subprocess.Popen(
        [sys.executable, "-c", f"{head}from test_store import *\n{code}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
    )


def test_two_writing_processes_lose_and_double_nothing(tmp_path: Path) -> None:
    """The lock beside the folder orders them."""
    location = str(tmp_path / "lance")
    code = (
        "tiers = TierStore({!r}, None)\nfor i in range({}, {}): tiers.put('recall', said(i, 'x'))"
    )
    workers = [python(code.format(location, first, first + 10)) for first in (1, 101)]
    assert [worker.communicate()[0] for worker in workers] == ["", ""]
    rows = TierStore(location, None).scan("recall", EVERY)
    assert sorted(row.seq for row in rows) == [*range(1, 11), *range(101, 111)]


def test_lancedb_stays_off_the_terminal(tmp_path: Path) -> None:
    """Nothing is printed by writing, searching, compacting and purging."""
    code = f"""
tiers = TierStore({str(tmp_path / "lance")!r}, HASHING.identity)
tiers.put("recall", with_vectors(said(1, "red boat")))
tiers.search_text("recall", "line", "boat", EVERY, 5)
tiers.search_vector("recall", [0.1] * 64, EVERY, 5)
tiers.maintain(force=True)
tiers.purge("recall", ["m1"])
"""
    assert python(code).communicate()[0] == ""
