"""The upkeep of one LanceDB table: its indices, compaction, purge, and which versions we read.

All of it runs under the location's lock. Rows that no index knows yet are found all the same.
"""

import warnings
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pagemind.runtime.errors import SchemaTooNew, TierOutdated
from pagemind.runtime.settings import (
    CLEANUP_AGE_SECONDS,
    TEXT_RECIPE,
    TIER_SCHEMA,
    VECTOR_INDEX_ROWS,
)
from pagemind.runtime.tiers.row_filter import any_of
from pagemind.runtime.tiers.schema import LEXICAL, versions_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lancedb.table import Table


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

    there = set() if anew else {c for index in table.list_indices() for c in index.columns}
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


def compact(table: "Table") -> None:
    """Merge fragments and indices, drop old versions, and index the vectors of a large table."""
    _index_vectors(table)
    age = timedelta(seconds=CLEANUP_AGE_SECONDS)
    try:
        table.optimize(cleanup_older_than=age)
    except RuntimeError:  # a damaged index fails every optimise: make it anew
        index_texts(table, anew=True)
        table.optimize(cleanup_older_than=age)


def purge(table: "Table", parents: "Sequence[str]") -> None:
    """Delete rows so that no file of the table holds them any more."""
    table.delete(any_of("parent", parents))
    # Rewrites every live row, so that no old fragment survives; then the indices, which would
    # keep the deleted values.
    table.update(where="true", values_sql={"role": "role"})
    _sweep(table)
    index_texts(table, anew=True)
    _sweep(table)


def fragments(table: "Table") -> int:
    """How many pieces the table is in: what an optimise would merge."""
    stats: Any = table.stats()  # a dict, whatever its annotation says
    return int(stats["fragment_stats"]["num_fragments"])


def _index_vectors(table: "Table") -> None:
    if "vector" not in table.schema.names or table.count_rows() < VECTOR_INDEX_ROWS:
        return
    if any("vector" in index.columns for index in table.list_indices()):
        return
    from lancedb.index import IvfRq

    table.create_index("vector", config=IvfRq(distance_type="cosine"))


def _sweep(table: "Table") -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # it warns of other writers; we hold the lock
        table.optimize(cleanup_older_than=timedelta(0), delete_unverified=True)
