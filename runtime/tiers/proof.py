"""What shows that a purge of a LanceDB table left nothing behind.

LanceDB compresses texts and keeps words in dictionaries that no library reads row by row, so the
proof is one of structure: the table has a single version without deletion files, and every file of
it is younger than the beginning of the purge, which wrote each from live rows alone. What those
rows say is read as well (read_texts).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pagemind.runtime.outbox import Tier
from pagemind.runtime.tiers.location import Location

if TYPE_CHECKING:
    from lancedb.table import Table

_BATCH = 1000


@dataclass(frozen=True, slots=True)
class TableProof:
    """`older`: files from before the purge. `holds`: what keeps old versions alive."""

    tier: Tier
    version: int
    versions: int
    rows: int
    physical_rows: int
    deletion_files: int
    files: int
    older: tuple[str, ...]
    holds: tuple[str, ...]

    @property
    def faults(self) -> list[str]:
        """Why it is no proof; empty if it is one."""
        found = [f"{self.tier}: {each} keeps old versions" for each in self.holds]
        if self.versions != 1:
            found.append(f"{self.tier}: {self.versions} versions are kept")
        if self.physical_rows != self.rows or self.deletion_files:
            found.append(f"{self.tier}: {self.physical_rows - self.rows} deleted rows lie there")
        found += [f"{self.tier}: {name} is older than the purge" for name in self.older]
        return found


def proof_of(location: Location, tier: Tier, since_ns: int, table: "Table") -> TableProof:
    versions: list[dict[str, Any]] = table.list_versions()
    told = max(versions, key=lambda each: each["version"])["metadata"]
    folder = location.folder / f"{tier}.lance"
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return TableProof(
        tier=tier,
        version=int(table.version),
        versions=len(versions),
        rows=int(table.count_rows()),
        physical_rows=int(told["total_data_file_rows"]),
        deletion_files=int(told["total_deletion_files"]),
        files=len(files),
        older=tuple(
            str(path.relative_to(folder)) for path in files if path.stat().st_mtime_ns < since_ns
        ),
        holds=(
            *(f"the tag {tag}" for tag in table.tags.list()),
            *(f"the branch {branch}" for branch in table.branches.list()),
        ),
    )


def read_texts(see: Callable[[str, str], object], table: "Table") -> int:
    """Show the parent of each row, and every text in it; how many rows that were."""
    import pyarrow as pa

    schema = table.schema
    names = [f.name for f in schema if pa.types.is_string(f.type) or pa.types.is_list(f.type)]
    rows = 0
    for batch in table.search().select(names).limit(max(1, table.count_rows())).to_batches(_BATCH):
        for row in batch.to_pylist():
            rows += 1
            see(row["parent"], "\n".join(_text(value) for value in row.values() if value))
    return rows


def _text(value: Any) -> str:
    return value if isinstance(value, str) else " ".join(map(str, value))
