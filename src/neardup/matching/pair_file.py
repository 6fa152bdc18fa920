"""Files of pairs, JSON lines or Parquet. A summary beside each file describes how the pairs were made.

A row has `left_id`, `right_id`, `distance` and `similarity` (null if it is not known). `left_file`, `left_row`, `right_file` and
`right_row` say where the documents are; rows are counted from 0 in their file. The summary has the file's name + `.summary.json`.
docs/formats/pairs.md describes every key.
"""

import dataclasses
import itertools
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.errors import DECODER_ERRORS, DataError, InputError
from neardup.io.checksums import checksum
from neardup.io.corpora.stored_shards import StoredShard
from neardup.io.endings import split_ending
from neardup.io.formats.json.json_values import quote
from neardup.io.ids import plain_ids
from neardup.io.outputs.sealed_parquet import SealedWriter, batches_of, opened_sealed
from neardup.io.storage.compression import open_for_reading, open_for_writing
from neardup.io.storage.places import Place, place_of
from neardup.options import Guard

SUMMARY_ENDING = ".summary.json"
FORMAT = 2
"""1 had no checksums, and similarities that ignored the normalizers of the recipe."""
PAIRS_AT_ONCE = 1 << 20

PAIR_SCHEMA = pa.schema(
    [
        pa.field("left_id", pa.large_string()),
        pa.field("right_id", pa.large_string()),
        pa.field("distance", pa.int32()),
        pa.field("similarity", pa.float64()),
        pa.field("left_file", pa.dictionary(pa.int32(), pa.string())),
        pa.field("left_row", pa.int64()),
        pa.field("right_file", pa.dictionary(pa.int32(), pa.string())),
        pa.field("right_row", pa.int64()),
    ]
)
PLACES = ("left_file", "left_row", "right_file", "right_row")


@dataclass(frozen=True, slots=True)
class PairSummary:
    """How a file of pairs was made.

    Attributes:
        recipe, digest: the fields of the recipe, and its digest.
        method, similarity, min_similarity, max_distance, min_tokens: the options; `similarity` is a name, or the result of
            `Similarity.stored`. Documents of fewer than `min_tokens` tokens match
            only exact duplicates.
        distinct: whether only the first of several documents with equal normalized texts on one side occurs in pairs.
        left, right: the shards that were compared: left with right, or left among themselves if `right` is None.
        pairs: the number of pairs.
        checksum: the CRC-32 of the lines of pairs, before compression; None for Parquet, which has checksums of its own.
        recipe_decides: what the recipe decides, if that may surprise; None for the default recipe.
        guard: what had to be equal besides, see `DedupOptions`; None for nothing.
    """

    recipe: dict[str, Any]
    digest: str
    method: str
    similarity: str | dict[str, Any]
    min_similarity: float
    max_distance: int | None
    min_tokens: int
    distinct: bool
    left: tuple[StoredShard, ...]
    right: tuple[StoredShard, ...] | None
    pairs: int
    checksum: int | None = None
    recipe_decides: str | None = None
    guard: Guard | None = None

    def to_json(self) -> bytes:
        """The summary as one JSON object. A file name that is not UTF-8 keeps its bytes, as half surrogates."""
        known = {"format": FORMAT} | json.loads(json.dumps(dataclasses.asdict(self)))
        if self.guard is None:
            del known["guard"]  # as before there was this option
        content = json.dumps(known | {"seal": checksum(known)}, ensure_ascii=False, indent=2)
        return content.encode("utf-8", "backslashreplace") + b"\n"


def pair_summary_path(path: Place) -> Place:
    """The path of the summary of a file of pairs."""
    return place_of(f"{path}{SUMMARY_ENDING}")


def _ending(path: Place) -> tuple[str, str, str]:
    known = split_ending(path.name)
    if known is None or known[1] not in ("jsonl", "parquet"):
        raise InputError(f"{path}: pairs are written to a file that ends in .jsonl (also compressed) or .parquet.")
    return known


def check_pair_name(path: Place) -> None:
    """Raise InputError if the name does not end like that of a file of pairs."""
    _ending(path)


def read_pair_summary(path: Place) -> PairSummary:
    """Read the summary of the file of pairs `path`.

    Raises:
        InputError: there is no summary beside the file.
        DataError: the summary is damaged, or of another format.
    """
    beside = pair_summary_path(path)
    try:
        found = json.loads(beside.read_bytes())
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise ValueError(f"it is not of format {FORMAT}")
        if found.pop("seal", None) != checksum(found):
            raise ValueError("it is not what was written, by its seal")
        del found["format"]
        found["left"] = tuple(StoredShard(**shard) for shard in found["left"])
        if found["right"] is not None:
            found["right"] = tuple(StoredShard(**shard) for shard in found["right"])
        return PairSummary(**found)
    except FileNotFoundError:
        raise InputError(
            f"{path}: there is no {beside} that says what made these pairs. `neardup pairs` writes both; keep them together."
        ) from None
    except DECODER_ERRORS as problem:
        raise DataError(f"{beside} cannot be used: {problem}. Make the pairs anew with `neardup pairs`.") from None


@dataclass(frozen=True, slots=True)
class Side:
    """One document of each pair: ids, Arrow large_string[p] of JSON values; file numbers, int64[p]; rows in the files, int64[p]."""

    ids: Any
    files: Array
    rows: Array


class PairWriter:
    """Writes pairs, one chunk at a time. `files`: the names of the files that sides refer to by number."""

    def __init__(self, path: Place, temporary: Path, files: Sequence[str]) -> None:
        known = _ending(path)
        self._checksum = 0
        self._files, self._quoted = pa.array(files, pa.string()), [quote(name) for name in files]
        self._parquet = SealedWriter(temporary, PAIR_SCHEMA) if known[1] == "parquet" else None
        self._lines: Any = None if self._parquet else open_for_writing(temporary, known[2])

    def write(self, left: Side, right: Side, distance: Array, similarity: Array) -> None:
        """Write p pairs: `distance` int64[p], `similarity` float64[p], NaN if not known."""
        if self._parquet:
            columns = [
                plain_ids(left.ids),
                plain_ids(right.ids),
                pa.array(distance.astype(np.int32)),
                pa.array(similarity, from_pandas=True),
            ]
            for side in (left, right):
                columns += [
                    pa.DictionaryArray.from_arrays(side.files.astype(np.int32), self._files),
                    pa.array(side.rows),
                ]
            self._parquet.write(pa.record_batch(columns, schema=PAIR_SCHEMA))
            return
        names = self._quoted
        rows = zip(
            left.ids.to_pylist(),
            right.ids.to_pylist(),
            distance.tolist(),
            similarity.tolist(),
            left.files.tolist(),
            left.rows.tolist(),
            right.files.tolist(),
            right.rows.tolist(),
            strict=True,
        )
        lines = "".join(
            f'{{"left_id": {a}, "right_id": {b}, "distance": {d}, "similarity": {"null" if s != s else repr(s)}, '
            f'"left_file": {names[f]}, "left_row": {i}, "right_file": {names[g]}, "right_row": {j}}}\n'
            for a, b, d, s, f, i, g, j in rows
        ).encode()
        self._checksum = zlib.crc32(lines, self._checksum)
        self._lines.write(lines)

    @property
    def checksum(self) -> int | None:
        """The CRC-32 of the lines; None for Parquet, which has its own."""
        return None if self._parquet else self._checksum

    def close(self) -> None:
        (self._parquet or self._lines).close()


@dataclass(frozen=True, slots=True)
class PairChunk:
    """Some pairs of a file: files Arrow large_string[p], rows and distance int64[p], similarity float64[p], NaN if not known."""

    left_files: Any
    left_rows: Array
    right_files: Any
    right_rows: Array
    distance: Array
    similarity: Array

    def __len__(self) -> int:
        return len(self.distance)


def read_pairs(path: Place, summary: PairSummary) -> Iterator[PairChunk]:
    """Yield the pairs of a file in chunks; whether it is what was written is known at the end.

    Raises:
        DataError: the file is damaged, was changed, or does not hold pairs.
    """
    known, total = _ending(path), 0
    try:
        if known[1] == "parquet":
            with opened_sealed(path) as file:
                for batch in batches_of(file, ["distance", "similarity", *PLACES]):
                    total += len(batch)
                    yield _chunk({name: batch.column(name) for name in batch.schema.names})
        else:
            decode, lines_checksum = msgspec.json.Decoder(_Line).decode, 0
            with open_for_reading(path, known[2]) as lines:
                while some := list(itertools.islice(lines, PAIRS_AT_ONCE)):
                    lines_checksum, total = zlib.crc32(b"".join(some), lines_checksum), total + len(some)
                    rows = [decode(line) for line in some]
                    yield _chunk(
                        {
                            name: pa.array([getattr(row, name) for row in rows], PAIR_SCHEMA.field(name).type)
                            for name in ("distance", "similarity", *PLACES)
                        }
                    )
            if total == summary.pairs and lines_checksum != summary.checksum:
                raise ValueError("its lines are not those that were written, by their checksum")
    except (msgspec.MsgspecError, pa.ArrowException, OSError, *DECODER_ERRORS) as problem:
        raise DataError(f"{path} cannot be read as pairs: {problem}. Make them anew with `neardup pairs`.") from None
    if total != summary.pairs:
        raise DataError(
            f"{path} has {total:,} pairs, its summary says {summary.pairs:,}: one of them is not whole. Make both anew."
        )


class _Line(msgspec.Struct):
    distance: int
    similarity: float | None
    left_file: str
    left_row: int
    right_file: str
    right_row: int


def _chunk(columns: dict[str, Any]) -> PairChunk:
    if any(columns[name].null_count for name in ("distance", *PLACES)):
        raise ValueError("a value is null")
    return PairChunk(
        columns["left_file"].cast(pa.large_string()),
        columns["left_row"].to_numpy(),
        columns["right_file"].cast(pa.large_string()),
        columns["right_row"].to_numpy(),
        columns["distance"].to_numpy().astype(np.int64),
        columns["similarity"].cast(pa.float64()).to_numpy(zero_copy_only=False),
    )
