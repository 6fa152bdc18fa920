"""LABELS: pairs of documents known to be near-duplicates or not."""

import csv
import io
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.arrays import Array
from neardup.display import counted
from neardup.errors import DECODER_ERRORS, DataError, InputError, is_integer
from neardup.io.formats.json.json_values import unique_members
from neardup.io.storage.compression import open_for_reading
from neardup.io.storage.compressions import ENDINGS_SAID, HEAD_BYTES, sniff, without_compression
from neardup.io.storage.places import parquet_source

ID_COLUMNS = (("left_id", "right_id"), ("a", "b"))
SCORE_COLUMNS = ("similarity", "jaccard")
LABEL_COLUMN = "label"
ENDINGS = f".jsonl, .ndjson, .csv, .tsv (each {ENDINGS_SAID}) or .parquet"
_TRUTHS = {"1": True, "true": True, "0": False, "false": False}
_SHOWN_IDS = 5


@dataclass(frozen=True, slots=True)
class Labels:
    """Labeled pairs of rows, each once.

    Attributes:
        left, right: int64[p], left < right.
        score: float64[p], the similarity that the labels state; NaN if they state none.
        positive: bool[p], whether the pair is a near-duplicate.
        judged_by: what says so: `label`, `similarity` (from `min_similarity` on), or `listing`, for all that are listed are.
    """

    left: Array
    right: Array
    score: Array
    positive: Array
    judged_by: str

    def __len__(self) -> int:
        return len(self.left)


class LabelRows(Protocol):
    """A source of labels; its string names it in messages."""

    def rows(self) -> Iterable[Mapping[str, Any]]:
        """Rows as dicts with the columns of ids and, if any, similarities and labels; each call reads from the start."""


@dataclass(frozen=True)
class LabelFile:
    """A file of labels."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def rows(self) -> Iterable[Mapping[str, Any]]:
        """The file's rows; CSV values are strings.

        Raises:
            InputError: there is no such file, or it is of another format.
            DataError: the file cannot be read.
        """
        if not self.path.is_file():
            raise InputError(f"There is no file of labels {str(self.path)!r}. Give one that ends in {ENDINGS}.")
        return _rows(self.path)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    name = without_compression(path.name).lower()
    ending = name.rsplit(".", 1)[-1]
    if ending == "parquet":
        try:
            yield from pq.read_table(parquet_source(path)).to_pylist()
        except (pa.ArrowException, ValueError, OSError) as problem:  # ValueError: a string that is not UTF-8
            raise DataError(f"{path} is no readable Parquet file: {str(problem).splitlines()[0]}.") from None
        return
    if ending not in ("jsonl", "ndjson", "csv", "tsv"):
        raise InputError(f"{path}: labels are read from files that end in {ENDINGS}.")
    with path.open("rb") as file:
        compression = sniff(file.read(HEAD_BYTES))
    try:
        with io.TextIOWrapper(open_for_reading(path, compression), encoding="utf-8-sig", newline="") as text:
            if ending in ("csv", "tsv"):
                yield from csv.DictReader(text, delimiter="\t" if ending == "tsv" else ",", strict=True)
            else:
                for line in filter(str.strip, text):
                    yield json.loads(line, object_pairs_hook=unique_members)
    except (*DECODER_ERRORS, csv.Error) as problem:
        raise DataError(f"{path} cannot be read as {ending}: {problem}. Mend the file.") from None


@dataclass(frozen=True, slots=True)
class LabelColumns:
    """The columns of labels: two for the ids, and those for similarity and label if there are any."""

    left: str
    right: str
    score: str | None
    label: str | None

    @classmethod
    def of(cls, labels: LabelRows, row: Any) -> "LabelColumns":
        """Find the columns in the first row of labels.

        Raises:
            InputError: the row names no pair.
        """
        names = list(row) if isinstance(row, Mapping) else []
        ids = next((pair for pair in ID_COLUMNS if set(pair) <= set(names)), None)
        if ids is None:
            raise InputError(
                f"{labels} names no pairs: its columns are {', '.join(map(str, names)) or 'none'}. "
                "Give left_id and right_id, or a and b."
            )
        return cls(*ids, *_judging(row))

    @property
    def judged_by(self) -> str:
        """What says whether a pair is a near-duplicate; see `Labels`."""
        return "label" if self.label is not None else "listing" if self.score is None else "similarity"

    def read(self, row: Any, least: float) -> tuple[tuple[str, str], tuple[float, bool]]:
        """Return a row's two ids, and its score (NaN if it has none) with its verdict.

        A label, given by a person, decides. Otherwise a pair is positive if its score is at least `least` or if it has no score.
        Raises ValueError, KeyError or TypeError if the row lacks a column or a value is meaningless.
        """
        if _judging(row) != (self.score, self.label) or row[self.left] is None or row[self.right] is None:
            raise ValueError
        names = str(row[self.left]), str(row[self.right])
        score = np.nan
        if self.score is not None:
            score = float(row[self.score])
            if not 0 <= score <= 1:
                raise ValueError
        if self.label is not None:
            return names, (score, _TRUTHS[str(row[self.label]).strip().lower().removesuffix(".0")])
        return names, (score, self.score is None or score >= least)

    def __str__(self) -> str:
        """Describe what every row has, for messages."""
        judging = [f"{self.score}, a number from 0 to 1"] if self.score else []
        judging += [f"{LABEL_COLUMN}, 0, 1, true or false"] if self.label else []
        also = "".join(f" and {each}" for each in judging) or ", and nothing that judges"
        return f"{self.left}, {self.right}{also}"


def _judging(row: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The columns of the score and of the label, None where there is none."""
    score = next((name for name in SCORE_COLUMNS if name in row), None)
    return score, LABEL_COLUMN if LABEL_COLUMN in row else None


class RowsOfIds:
    """Maps each id to its row.

    Attributes:
        unknown: ids that were looked up but belong to no row, in order of appearance.
    """

    def __init__(self, ids: Iterable[str | None]) -> None:
        self.unknown: dict[str, None] = {}
        self._rows: dict[str, int] = {}
        self._repeated: set[str] = set()
        for row, name in enumerate(ids):
            if name is not None and self._rows.setdefault(name, row) != row:
                self._repeated.add(name)

    def pair(self, names: tuple[str, str], where: str) -> tuple[int, int] | None:
        """Return the rows of two ids, ascending; None if an id is unknown, which is then added to `unknown`.

        Raises:
            InputError: several documents have one of the ids.
            DataError: both ids are of one row. `where`: how messages name the pair.
        """
        if ambiguous := self._repeated & set(names):
            raise InputError(
                f"{where}: several documents have the id {min(ambiguous)!r}. Make ids of labeled ones unique."
            )
        missing = [name for name in names if name not in self._rows]
        self.unknown.update(dict.fromkeys(missing))
        if missing:
            return None
        first, second = sorted(self._rows[name] for name in names)
        if first == second:
            raise DataError(f"{where}: {names[0]!r} is paired with itself. Remove the line.")
        return first, second


def check_labels(labels: LabelRows) -> None:
    """Check the beginning of labels before documents are read for them.

    Raises:
        InputError: there is no such file, it is of another format, or its columns name no pairs.
        DataError: the beginning cannot be read.
    """
    for row in itertools.islice(labels.rows(), 1):
        LabelColumns.of(labels, row)


def read_labels(labels: LabelRows, ids: Iterable[str | None], *, min_similarity: float) -> Labels:
    """Read labels and find the rows that they name.

    Args:
        labels: with columns left_id and right_id, or a and b. Optional columns say how alike the two are: similarity or
            jaccard, a number from 0 to 1; or label, one of 1, 0, true and false, which overrides a similarity. Without these
            columns every pair is positive.
        ids: the documents' ids, by row; integers as their digits; None where a row could not be read.
        min_similarity: a pair is positive if its similarity is at least this.

    Raises:
        InputError: a column is missing, or an id belongs to no document or to several.
        DataError: a value is not allowed, or two lines contradict each other.
    """
    rows = RowsOfIds(ids)
    found: dict[tuple[int, int], tuple[float, bool]] = {}
    columns: LabelColumns | None = None
    for number, line in enumerate(labels.rows(), 1):
        columns = columns or LabelColumns.of(labels, line)
        where = f"{labels}, pair {number}"
        try:
            names, verdict = columns.read(line, min_similarity)
        except DECODER_ERRORS:
            for value in line.values():
                is_integer(value)  # refuses what cannot be printed
            shown = json.dumps(line, ensure_ascii=False, default=str)[:200]
            raise DataError(f"{where}: {shown} has not what the first has: {columns}.") from None
        pair = rows.pair(names, where)
        if pair is not None and found.setdefault(pair, verdict)[1] != verdict[1]:
            raise DataError(f"{where}: {names[0]!r} and {names[1]!r} are both near and not. Keep one line.")
    if rows.unknown:
        shown = ", ".join(map(repr, list(rows.unknown)[:_SHOWN_IDS])) + (" …" if len(rows.unknown) > _SHOWN_IDS else "")
        raise InputError(
            f"{labels} names {counted(len(rows.unknown), 'id')} that no document of the input has: {shown}. "
            "Give the whole input, or name the column of the ids with `id`."
        )
    if not found:
        raise InputError(f"{labels} has no pairs. Leave out `pairs` to estimate from a sample.")
    pairs = np.array(list(found), np.int64)
    return Labels(
        left=pairs[:, 0].copy(),
        right=pairs[:, 1].copy(),
        score=np.array([score for score, _ in found.values()]),
        positive=np.array([positive for _, positive in found.values()]),
        judged_by="listing" if columns is None else columns.judged_by,
    )
