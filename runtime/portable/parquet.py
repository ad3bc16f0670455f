"""Rows of a table as Parquet and back, a row group at a time.

Reading holds one batch, whatever a file says: a row group that claims to be huge is refused, text
columns are read as dictionaries (a value that is repeated a million times is there once), and the
characters that come out are counted against a budget.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pagemind.runtime.errors import BadExport
from pagemind.runtime.portable.container import HashingStream
from pagemind.runtime.portable.tables import Kind, Table, Values
from pagemind.runtime.settings import (
    PORTABLE_GROUP_BYTES,
    PORTABLE_GROUP_ROWS,
    PORTABLE_MAX_DIMENSIONS,
    PORTABLE_MAX_GROUP_BYTES,
)

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 512
Vector = tuple[str, str, list[float]]  # row id, digest of what was embedded, the vector


class Budget:
    """How much text may still come out of a file."""

    def __init__(self, most: int) -> None:
        self._left = most

    def take(self, characters: int, where: str) -> None:
        self._left -= characters
        if self._left < 0:
            raise BadExport(f"{where} unfolds to more than its size allows")


def write_rows(stream: HashingStream, table: Table, rows: Iterable[Values]) -> int:
    """Write rows; how many. A row group is a few megabytes, or one row."""
    import pyarrow as pa

    schema = pa.schema(
        [pa.field(c.name, _type(c.kind), nullable=not c.required) for c in table.columns]
    )

    def batch(some: list[Values]) -> "pa.Table":
        columns = zip(*some, strict=True)
        arrays = [pa.array(c, type=f.type) for c, f in zip(columns, schema, strict=True)]
        return pa.Table.from_arrays(arrays, schema=schema)

    texts = [at for at, column in enumerate(table.columns) if column.kind == "text"]
    written = 0
    with _writer(stream, schema) as writer:
        some: list[Values] = []
        size = 0
        for row in rows:
            some.append(row)
            size += sum(len(row[at] or "") for at in texts)
            written += 1
            if size >= PORTABLE_GROUP_BYTES or len(some) >= PORTABLE_GROUP_ROWS:
                writer.write_table(batch(some))
                some, size = [], 0
        if some:
            writer.write_table(batch(some))
    return written


def read_rows(path: Path, table: Table, where: str, budget: Budget) -> Iterator[list[Values]]:
    """The rows in batches, with the columns of `table`. Raises BadExport."""
    texts = [column.name for column in table.columns if column.kind == "text"]
    with _reading(where):
        for batch in _batches(path, where, texts, {c.name: c.kind for c in table.columns}):
            columns = [
                _texts(batch.column(at), where, budget)
                if column.kind == "text"
                else batch.column(at).to_pylist()
                for at, column in enumerate(table.columns)
            ]
            yield list(zip(*columns, strict=True))


def write_vectors(stream: HashingStream, dimensions: int, rows: Iterable[Vector]) -> int:
    """Write vectors; how many."""
    import pyarrow as pa

    schema = pa.schema(
        [
            pa.field("id", pa.string(), nullable=False),
            pa.field("digest", pa.string(), nullable=False),
            pa.field("vector", pa.list_(pa.float32(), dimensions), nullable=False),
        ]
    )
    each = max(1, PORTABLE_GROUP_BYTES // (4 * dimensions))
    written = 0
    with _writer(stream, schema) as writer:
        some: list[Vector] = []
        for row in rows:
            some.append(row)
            written += 1
            if len(some) >= each:
                writer.write_table(_vectors(some, schema))
                some = []
        if some:
            writer.write_table(_vectors(some, schema))
    return written


def read_vectors(path: Path, dimensions: int, where: str, budget: Budget) -> Iterator[Vector]:
    """The vectors, one by one. Raises BadExport."""
    if not 1 <= dimensions <= PORTABLE_MAX_DIMENSIONS:
        raise BadExport(f"{where} has vectors of {dimensions:,} dimensions")
    import pyarrow as pa

    with _reading(where):
        for batch in _batches(path, where, ["id", "digest"], None):
            vectors = batch.column(2)
            if vectors.type != pa.list_(pa.float32(), dimensions):
                raise BadExport(f"{where} has vectors of another kind than its manifest says")
            ids = _texts(batch.column(0), where, budget)
            digests = _texts(batch.column(1), where, budget)
            yield from zip(ids, digests, vectors.to_pylist(), strict=True)


def _vectors(some: Sequence[Vector], schema: "pa.Schema") -> "pa.Table":
    import pyarrow as pa

    columns = zip(*some, strict=True)
    arrays = [pa.array(c, type=f.type) for c, f in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


@contextmanager
def _writer(stream: HashingStream, schema: "pa.Schema") -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import parquet

    # Dictionaries would save little after zstd, and cost memory and a reader's trust.
    writer = parquet.ParquetWriter(
        pa.PythonFile(cast(Any, stream), mode="w"),
        schema,
        compression="zstd",
        use_dictionary=False,
        write_statistics=False,
    )
    with writer:
        yield writer


def _batches(
    path: Path, where: str, texts: list[str], kinds: dict[str, Kind] | None
) -> Iterator["pa.RecordBatch"]:
    from pyarrow import parquet

    with parquet.ParquetFile(path, read_dictionary=texts, pre_buffer=False) as file:
        for group in range(file.metadata.num_row_groups):
            if file.metadata.row_group(group).total_byte_size > PORTABLE_MAX_GROUP_BYTES:
                raise BadExport(f"{where} has a row group of more than its size allows")
        if kinds is None:
            if file.schema_arrow.names != ["id", "digest", "vector"]:
                raise BadExport(f"{where} has other columns than id, digest and vector")
        else:
            _check_schema(file.schema_arrow, kinds, where)
        yield from file.iter_batches(batch_size=_BATCH)


def _check_schema(schema: "pa.Schema", kinds: dict[str, Kind], where: str) -> None:
    if schema.names != list(kinds):
        raise BadExport(f"{where} has other columns than its manifest says")
    for field in schema:
        found = field.type.value_type if hasattr(field.type, "index_type") else field.type
        if found != _type(kinds[field.name]):
            raise BadExport(f"{where}: {field.name} is {found}, not {kinds[field.name]}")


def _texts(column: "pa.Array[Any]", where: str, budget: Budget) -> list[str | None]:
    """The texts of a column, each value decoded once, and all of them counted."""
    encoded = cast(Any, column)
    values = encoded.dictionary.to_pylist()
    found = [None if at is None else values[at] for at in encoded.indices.to_pylist()]
    budget.take(sum(len(text) for text in found if text is not None), where)
    return found


@contextmanager
def _reading(where: str) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except UnicodeDecodeError as error:
        raise BadExport(f"{where} has text that is not UTF-8 ({error.reason})") from error
    except KeyError as error:  # a column to be read as a dictionary is not there
        raise BadExport(f"{where} has other columns than its manifest says") from error
    except (pa.ArrowException, OSError, MemoryError, EOFError) as error:
        line = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadExport(f"{where} is not sound Parquet ({line[:200]})") from error


def _type(kind: Kind) -> "pa.DataType":
    import pyarrow as pa

    return {"text": pa.string(), "integer": pa.int64(), "real": pa.float64()}[kind]
