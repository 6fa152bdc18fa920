"""Files that this package writes about documents (audit, rejects, pairs): JSON lines, compressed as their name says, or Parquet."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.errors import InputError
from neardup.io.compression import open_for_writing
from neardup.io.ids import plain_ids
from neardup.io.shards import compression_of_name, split_ending

PAIR_SCHEMA = pa.schema(
    [
        pa.field("left_id", pa.large_string()),
        pa.field("right_id", pa.large_string()),
        pa.field("distance", pa.int32()),
        pa.field("similarity", pa.float64()),
    ]
)


def compression_of(path: Path) -> str:
    """What the ending of a file says."""
    return compression_of_name(path.name)


def write_lines(path: Path, temporary: Path, lines: Iterable[str]) -> None:
    """Write lines to `temporary`, compressed as the name `path` says."""
    with open_for_writing(temporary, compression_of(path)) as file:
        for line in lines:
            file.write(line.encode())


class PairWriter:
    """Writes pairs, a chunk at a time: left_id, right_id, distance, similarity (null where it is not known)."""

    def __init__(self, path: Path, temporary: Path) -> None:
        known = split_ending(path.name)
        if known is None or known[1] not in ("jsonl", "parquet"):
            raise InputError(
                f"{path}: pairs are written to a file that ends in .jsonl, .jsonl.gz, .jsonl.zst or .parquet."
            )
        self._parquet = pq.ParquetWriter(temporary, PAIR_SCHEMA, compression="zstd") if known[1] == "parquet" else None
        self._lines: Any = None if self._parquet else open_for_writing(temporary, known[2])

    def write(self, left_ids: Any, right_ids: Any, distance: np.ndarray, similarity: np.ndarray) -> None:
        """Ids: Arrow large_string, each a JSON value; int64[p]; float64[p], NaN where not known."""
        if self._parquet:
            columns = [
                plain_ids(left_ids),
                plain_ids(right_ids),
                pa.array(distance.astype(np.int32)),
                pa.array(similarity, from_pandas=True),
            ]
            self._parquet.write_batch(pa.record_batch(columns, schema=PAIR_SCHEMA))
            return
        rows = zip(left_ids.to_pylist(), right_ids.to_pylist(), distance.tolist(), similarity.tolist(), strict=True)
        self._lines.write(
            "".join(
                f'{{"left_id": {left}, "right_id": {right}, "distance": {d}, "similarity": {"null" if s != s else repr(s)}}}\n'
                for left, right, d, s in rows
            ).encode()
        )

    def close(self) -> None:
        (self._parquet or self._lines).close()
