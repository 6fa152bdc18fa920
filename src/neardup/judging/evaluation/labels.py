"""LABELS: pairs of documents of which it is known whether they are near-duplicates."""

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
from neardup.errors import DataError, InputError
from neardup.io.storage.compression import open_for_reading, sniff

ID_COLUMNS = (("left_id", "right_id"), ("a", "b"))
SCORE_COLUMNS = ("similarity", "jaccard")
LABEL_COLUMN = "label"
ENDINGS = ".jsonl, .ndjson, .csv, .tsv or .parquet, the texts also with .gz or .zst"
_TRUTHS = {"1": True, "true": True, "0": False, "false": False}
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Labels:
    """Labeled pairs of rows, each once.

    Attributes:
        left, right: int64[p], left < right.
        score: float64[p], the similarity that the labels state; NaN where they state none.
        positive: bool[p], the pair is one of near-duplicates.
    """

    left: Array
    right: Array
    score: Array
    positive: Array

    def __len__(self) -> int:
        return len(self.left)


class LabelRows(Protocol):
    """Where labels come from; its string is what messages call it."""

    def rows(self) -> Iterable[Mapping[str, Any]]:
        """Dicts with the columns of the ids and, if there are any, of similarities and labels; read anew by each call."""


@dataclass(frozen=True)
class LabelFile:
    """A file of labels."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def rows(self) -> Iterable[Mapping[str, Any]]:
        """The file's rows; CSV values are strings.

        Raises:
            InputError: there is no such file, or it is of another kind.
            DataError: it cannot be read.
        """
        if not self.path.is_file():
            raise InputError(f"There is no file of labels {str(self.path)!r}. Give one that ends in {ENDINGS}.")
        return _rows(self.path)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    name = path.name.lower().removesuffix(".gz").removesuffix(".zst")
    ending = name.rsplit(".", 1)[-1]
    if ending == "parquet":
        try:
            yield from pq.read_table(path).to_pylist()
        except (pa.ArrowInvalid, OSError) as problem:
            raise DataError(f"{path} is no readable Parquet file: {str(problem).splitlines()[0]}.") from None
        return
    if ending not in ("jsonl", "ndjson", "csv", "tsv"):
        raise InputError(f"{path}: labels are read from files that end in {ENDINGS}.")
    with path.open("rb") as file:
        compression = sniff(file.read(4))
    try:
        with io.TextIOWrapper(open_for_reading(path, compression), encoding="utf-8-sig", newline="") as text:
            if ending in ("csv", "tsv"):
                yield from csv.DictReader(text, delimiter="\t" if ending == "tsv" else ",", strict=True)
            else:
                yield from map(json.loads, filter(str.strip, text))
    except (ValueError, csv.Error) as problem:
        raise DataError(f"{path} cannot be read as {ending}: {problem}. Mend the file.") from None


def _judging(row: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The columns of the score and of the label, where there are any."""
    score = next((name for name in SCORE_COLUMNS if name in row), None)
    return score, LABEL_COLUMN if LABEL_COLUMN in row else None


def _columns(labels: LabelRows, row: Any) -> tuple[str, str]:
    """The columns of the ids."""
    names = list(row) if isinstance(row, Mapping) else []
    ids = next((pair for pair in ID_COLUMNS if set(pair) <= set(names)), None)
    if ids is None:
        raise InputError(
            f"{labels} names no pairs: its columns are {', '.join(map(str, names)) or 'none'}. "
            "Give left_id and right_id, or a and b."
        )
    return ids


def _judge(
    row: Mapping[str, Any], score_column: str | None, label_column: str | None, least: float
) -> tuple[float, bool]:
    """Score and verdict of a pair; a label, which a person gave, decides. ValueError where a value is none."""
    score = np.nan
    if score_column is not None:
        score = float(row[score_column])
        if not 0 <= score <= 1:
            raise ValueError
    if label_column is not None:
        return score, _TRUTHS[str(row[label_column]).strip().lower().removesuffix(".0")]
    return score, score_column is None or score >= least


def check_labels(labels: LabelRows) -> None:
    """Look at the beginning of labels, before documents are read for them.

    Raises:
        InputError: there is no such file, it is of another kind, or its columns name no pairs.
        DataError: its beginning cannot be read.
    """
    for row in itertools.islice(labels.rows(), 1):
        _columns(labels, row)


def read_labels(labels: LabelRows, ids: Iterable[str | None], *, min_similarity: float) -> Labels:
    """Read labels and find the rows that they name.

    Args:
        labels: with left_id and right_id, or a and b, and, if they say so, how alike the two are: similarity or jaccard, a
            number from 0 to 1, or label, one of 1, 0, true and false, which decides where there are both. Without any of these
            every pair is positive.
        ids: the documents' ids, by row; integers as their digits; None where a row could not be read.
        min_similarity: a pair is positive if its similarity is at least this.

    Raises:
        InputError: there is no such column, or it names documents that are not there, or that several have the id of.
        DataError: a value is not allowed, or two lines contradict each other.
    """
    rows: dict[str, int] = {}
    repeated: set[str] = set()
    for row, name in enumerate(ids):
        if name is not None and rows.setdefault(name, row) != row:
            repeated.add(name)
    found: dict[tuple[int, int], tuple[float, bool]] = {}
    unknown: dict[str, None] = {}
    ids_of: tuple[str, str] | None = None
    judging: tuple[str | None, str | None] = (None, None)
    for number, line in enumerate(labels.rows(), 1):
        if ids_of is None:
            ids_of = _columns(labels, line)
            judging = _judging(line)
        left_column, right_column = ids_of
        try:
            if _judging(line) != judging or line[left_column] is None or line[right_column] is None:
                raise ValueError
            names = str(line[left_column]), str(line[right_column])
            verdict = _judge(line, *judging, min_similarity)
        except (ValueError, KeyError, TypeError):
            allowed = [f"{judging[0]}, a number from 0 to 1"] if judging[0] else []
            allowed += [f"{LABEL_COLUMN}, 0, 1, true or false"] if judging[1] else []
            raise DataError(
                f"{labels}, pair {number}: {json.dumps(line, ensure_ascii=False, default=str)[:200]} has not what the first has: "
                f"{left_column}, {right_column}{''.join(f' and {each}' for each in allowed)}"
                f"{'' if allowed else ', and nothing that judges'}."
            ) from None
        ambiguous = repeated & set(names)
        if ambiguous:
            raise InputError(
                f"{labels}, pair {number}: several documents have the id {min(ambiguous)!r}. Make ids of labeled ones unique."
            )
        missing = [name for name in names if name not in rows]
        unknown.update(dict.fromkeys(missing))
        if missing:
            continue
        first, second = sorted(rows[name] for name in names)
        if first == second:
            raise DataError(f"{labels}, pair {number}: {names[0]!r} is paired with itself. Remove the line.")
        earlier = found.setdefault((first, second), verdict)
        if earlier[1] != verdict[1]:
            raise DataError(
                f"{labels}, pair {number}: {names[0]!r} and {names[1]!r} are both near and not. Keep one line."
            )
    if unknown:
        shown = ", ".join(map(repr, list(unknown)[:_SHOWN])) + (" …" if len(unknown) > _SHOWN else "")
        raise InputError(
            f"{labels} names {counted(len(unknown), 'id')} that no document of the input has: {shown}. "
            "Give the whole input, or --id COLUMN."
        )
    if not found:
        raise InputError(f"{labels} has no pairs. Leave --pairs out for estimates from a sample.")
    pairs = np.array(list(found), np.int64)
    return Labels(
        pairs[:, 0].copy(),
        pairs[:, 1].copy(),
        np.array([score for score, _ in found.values()]),
        np.array([positive for _, positive in found.values()]),
    )
