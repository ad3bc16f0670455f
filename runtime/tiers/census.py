"""Census: what is known of one version of a table, so that a search asks no more than it must.

A condition that every row meets is left out: nearly every search asks for what is active, and a
filter that filters nothing costs a mask of the whole table. How many rows a condition leaves says
whether the vector index can be trusted with it; nothing is counted where there is no such index.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from pagemind.runtime.settings import VECTOR_EXACT_ROWS, VECTOR_PROBES
from pagemind.runtime.tiers.row_filter import RowFilter

if TYPE_CHECKING:
    import pyarrow as pa
    from lancedb.table import Table

_ACTIVE = ("active",)
_EVERY_PARTITION = 1 << 16


class Census:
    """Made for a version of a table, and used until there is another. Safe from any thread: what
    two threads count at once is the same."""

    def __init__(self, table: "Table") -> None:
        self.version = int(table.version)
        self._table = table
        self._schema: pa.Schema | None = None
        self._rows: int | None = None
        self._all_active: bool | None = None
        self._indexed: bool | None = None
        self._counted: dict[str, int] = {}

    @property
    def schema(self) -> "pa.Schema":
        """The table's, with what its metadata says."""
        if self._schema is None:
            self._schema = self._table.schema
        return self._schema

    @property
    def has_vectors(self) -> bool:
        """Whether there is a column for them."""
        return "vector" in self.schema.names

    @property
    def rows(self) -> int:
        """How many rows there are."""
        if self._rows is None:
            self._rows = int(self._table.count_rows())
        return self._rows

    def condition(self, where: RowFilter) -> str | None:
        """The filter without what is true of every row; None if that is all of it."""
        if where.statuses == _ACTIVE:
            if self._all_active is None:
                self._all_active = not self._table.count_rows("status != 'active'")
            if self._all_active:
                where = replace(where, statuses=None)
        return where.sql()

    def probes(self, condition: str | None) -> int | None:
        """How many partitions of the vector index to look into; None to compare exactly.

        Codes are cheap to compare, so that small tables have all of theirs compared; a selective
        filter spreads what it leaves over all partitions, and few rows are best compared as such.
        """
        if self._indexed is None:
            indices = self._table.list_indices()
            self._indexed = any("vector" in index.columns for index in indices)
        if not self._indexed:
            return None
        if condition is None:
            return VECTOR_PROBES
        left = self._matching(condition)
        if left < VECTOR_EXACT_ROWS:
            return None
        return VECTOR_PROBES if 2 * left >= self.rows else _EVERY_PARTITION

    def _matching(self, condition: str) -> int:
        # The scalar indices of a large table answer in a millisecond or two.
        if condition not in self._counted:
            self._counted[condition] = int(self._table.count_rows(condition))
        return self._counted[condition]
