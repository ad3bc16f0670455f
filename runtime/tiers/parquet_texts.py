"""The texts of a Parquet file of any schema, for who looks for one that must not be there."""

from collections.abc import Iterator
from typing import IO

_BATCH = 512


def texts_in(stream: IO[bytes]) -> Iterator[str]:
    """Every text in it, column by column. Raises OSError."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    try:
        for batch in ParquetFile(stream).iter_batches(_BATCH):
            for column in batch.columns:
                if pa.types.is_string(column.type):
                    yield from (value for value in column.to_pylist() if value)
    except pa.ArrowException as error:
        raise OSError(str(error)) from error
