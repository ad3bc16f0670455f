"""The upkeep of one LanceDB table: its indices, compaction, purge, and which versions we read.

All of it runs under the location's lock. Rows that no index knows yet are found all the same, and
a process that is killed between two steps leaves a table that works: an index is there or it is
not, and the next upkeep makes what is lacking.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pagemind.runtime.errors import SchemaTooNew, TierOutdated
from pagemind.runtime.settings import (
    CLEANUP_AGE_SECONDS,
    OPTIMIZE_MIN_ROWS,
    OPTIMIZE_ROWS,
    OPTIMIZE_SHARE,
    PURGE_KEYS,
    SCALAR_INDEX_ROWS,
    TEXT_RECIPE,
    TIER_SCHEMA,
    VECTOR_INDEX_ROWS,
    VECTOR_RETRAIN,
    VECTOR_SEGMENTS,
)
from pagemind.runtime.tiers.row_filter import any_of
from pagemind.runtime.tiers.schema import LEXICAL, versions_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lancedb.table import Table

# What filters name and put() looks up; each costs a fifth of a second at a million rows.
_FEW_VALUES = ("status", "role", "speaker", "origin")
_ORDERED = ("seq", "said_at", "importance", "parent")
_VECTORS = "vector_"  # an index made at 60,000 rows is called vector_60000
Step = Callable[[], None]


@dataclass(frozen=True, slots=True)
class TableState:
    """What `memory compact` and `doctor` show of a table."""

    rows: int
    fragments: int
    indices: dict[str, int]  # fields, each with how many rows its index does not know yet


def state_of(table: "Table") -> TableState:
    """How the table is at the moment; a few milliseconds whatever its size."""
    indices = {c: int(i.num_unindexed_rows or 0) for i in table.list_indices() for c in i.columns}
    return TableState(int(table.count_rows()), fragments(table), indices)


def check_versions(table: "Table", where: str, rebuild: str) -> None:
    """Raises SchemaTooNew, or TierOutdated, whose hint is the command `rebuild`; nothing is ever
    converted in place."""
    version, recipe = versions_of(table.schema)
    if version > TIER_SCHEMA or recipe > TEXT_RECIPE:
        raise SchemaTooNew(
            f"{where} was written by a newer pagemind (schema {version}, recipe {recipe}); "
            "it was left untouched",
            hint="upgrade pagemind",
        )
    if (version, recipe) != (TIER_SCHEMA, TEXT_RECIPE):
        raise TierOutdated(
            f"{where} was written by an older pagemind (schema {version}, recipe {recipe})",
            hint=rebuild,
        )


def index_texts(table: "Table", *, anew: bool = False) -> None:
    """The three full-text indices, where they are absent; all of them `anew` if need be."""
    from lancedb.index import FTS

    there = set() if anew else _indexed(table)
    words = FTS(base_tokenizer="simple", stem=True, remove_stop_words=True, with_position=False)
    grams = FTS(
        base_tokenizer="ngram",
        ngram_min_length=1,  # one Han character can be a word
        ngram_max_length=3,
        stem=False,
        remove_stop_words=False,
        with_position=False,
    )
    for field in LEXICAL:
        if field not in there:
            table.create_index(field, config=grams if field == "grams" else words, replace=anew)


def enough(rows: int) -> int:
    """How many rows that no index knows make a compaction of a table of this size worth it."""
    return min(OPTIMIZE_ROWS, max(OPTIMIZE_MIN_ROWS, int(rows * OPTIMIZE_SHARE)))


def lacking(table: "Table") -> list[Step]:
    """What makes the indices that pay at this size and are not there, one step each."""
    rows = int(table.count_rows())
    if rows < min(SCALAR_INDEX_ROWS, VECTOR_INDEX_ROWS):
        return []
    steps = _columns(table) if rows >= SCALAR_INDEX_ROWS else []
    if rows >= VECTOR_INDEX_ROWS and "vector" in table.schema.names:
        steps.extend(_vectors(table, rows))
    return steps


def compact(table: "Table", *, sweep: bool = False) -> None:
    """Merge fragments, bring the indices up to date, and drop old versions; with `sweep` all of
    them, and what killed processes left."""
    try:
        _optimize(table, sweep)
    except RuntimeError:  # a damaged index fails every optimise: make them anew
        for index in table.list_indices():
            if not set(index.columns) & set(LEXICAL):
                table.drop_index(index.name)
        index_texts(table, anew=True)
        _optimize(table, sweep)


def purge(table: "Table", parents: "Sequence[str]") -> list[str]:
    """Delete rows so that no file of the table holds them any more, nor any that were deleted
    before. Tags and branches, which would hold on to old versions, go first: which they were."""
    removed = []
    for tag in table.tags.list():
        table.tags.delete(tag)
        removed.append(f"tag {tag}")
    for branch in table.branches.list():
        table.branches.delete(branch)
        removed.append(f"branch {branch}")
    for start in range(0, len(parents), PURGE_KEYS):
        table.delete(any_of("parent", parents[start : start + PURGE_KEYS]))
    # Rewrites every live row, so that no old fragment survives; then the indices, which would
    # keep the deleted values.
    table.update(where="true", values_sql={"role": "role"})
    for index in table.list_indices():
        if not set(index.columns) & set(LEXICAL):
            table.drop_index(index.name)
    _optimize(table, sweep=True)
    index_texts(table, anew=True)
    for step in lacking(table):
        step()
    _optimize(table, sweep=True)
    return removed


def fragments(table: "Table") -> int:
    """How many pieces the table is in: what an optimise would merge."""
    stats: Any = table.stats()  # a dict, whatever its annotation says
    return int(stats["fragment_stats"]["num_fragments"])


def _indexed(table: "Table") -> set[str]:
    return {column for index in table.list_indices() for column in index.columns}


def _columns(table: "Table") -> list[Step]:
    from lancedb.index import Bitmap, BTree, LabelList

    kinds: dict[str, Any] = dict.fromkeys(_FEW_VALUES, Bitmap)
    kinds |= {"tags": LabelList, **dict.fromkeys(_ORDERED, BTree)}
    there = _indexed(table)

    def make(column: str) -> Step:
        return lambda: table.create_index(column, config=kinds[column]())

    return [make(column) for column in kinds if column not in there]


def _vectors(table: "Table", rows: int) -> list[Step]:
    """An index of the vectors, if there is none that fits the table as it is."""
    mine = [index for index in table.list_indices() if "vector" in index.columns]
    trained = {index.name: _rows_of(index.name) for index in mine}
    newest = max(mine, key=lambda index: trained[index.name], default=None)
    steps: list[Step] = []
    if (
        newest is None
        or rows >= VECTOR_RETRAIN * trained[newest.name]
        or (newest.num_segments or 1) > VECTOR_SEGMENTS
    ):
        # Beside the old one, under a name of its own: every search has one of the two.
        name = f"{_VECTORS}{rows}"
        if name in trained or table.count_rows("vector IS NOT NULL") < VECTOR_INDEX_ROWS:
            return []
        steps.append(lambda: _make(table, name))
        old = list(trained)
    else:
        old = [name for name in trained if name != newest.name]
    if old:
        steps.append(lambda: _drop(table, old))
    return steps


def _make(table: "Table", name: str) -> None:
    from lancedb.index import IvfRq

    table.create_index("vector", config=IvfRq(distance_type="cosine"), name=name)


def _drop(table: "Table", names: "Sequence[str]") -> None:
    for name in names:
        table.drop_index(name)


def _rows_of(name: str) -> int:
    number = name.removeprefix(_VECTORS)
    return int(number) if number.isdecimal() else VECTOR_INDEX_ROWS


def _optimize(table: "Table", sweep: bool) -> None:
    age = timedelta(0) if sweep else timedelta(seconds=CLEANUP_AGE_SECONDS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # it warns of other writers; we hold the lock
        table.optimize(cleanup_older_than=age, delete_unverified=sweep)
