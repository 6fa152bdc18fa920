"""Batches of fingerprints that another program wrote, as documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.arrays import Array
from neardup.fingerprints.documents import Documents
from neardup.fingerprints.files.digits import Problems, Reading, named, words_of_texts
from neardup.fingerprints.files.written import words_of_column
from neardup.io.corpora.batch import Batch, Rejections
from neardup.io.corpora.shard import Shard
from neardup.kernels.xxh3 import digest_rows


@dataclass(frozen=True, slots=True)
class GivenFingerprints:
    """The fingerprints of a batch.

    Attributes:
        words: uint64[rows, words].
        digests: uint64[rows, 2]: no two rows of any files have equal ones, since equal fingerprints do not mean equal texts.
        rejected: bool[rows].
    """

    words: Array
    digests: Array
    rejected: Array

    def __len__(self) -> int:
        return len(self.rejected)


class ImportedBatches:
    """Reads the fingerprints in batches with a `stored` column; several threads may use it."""

    def __init__(self, column: str | None, readings: Mapping[str, Reading], values: Sequence[str], tokens: int) -> None:
        """`readings`: how digits are read, by the names of shards. `tokens`: a number that is not `short`."""
        self._column, self._readings, self._values, self._tokens = column, readings, values, tokens

    def refine(self, batch: Batch, rejections: Rejections, shards: Sequence[Shard]) -> tuple[Batch, Rejections]:
        """See `neardup.io.checks.number_files.Refine`: `texts` of the result is a `GivenFingerprints`."""
        shard = shards[0]
        how = self._readings[shard.name]
        words, problems = read_stored(batch.texts, shard, how)
        rejected = np.zeros(len(words), np.bool_)
        known = [row - batch.row for row, _ in rejections]
        rejected[[*known, *problems]] = True
        words[known] = 0
        subject = "it" if shard.format == "lines" else f'its column "{self._column}"'
        found = {row: f"{subject} is {reason}" for row, reason in problems.items()}
        reasons = {batch.row + row: reason for row, reason in found.items()} | dict(rejections)
        given = GivenFingerprints(words, _digests(shard.name, batch.row, words), rejected)
        return replace(batch, texts=given), sorted(reasons.items())

    def read(self, batch: Batch) -> Documents:
        """The documents of such a batch."""
        given: GivenFingerprints = batch.texts
        n = len(given)
        tokens = np.where(given.rejected, -1, self._tokens)
        ids = batch.ids
        if given.rejected.any():
            ids = pc.if_else(given.rejected, None, ids)
        values = dict(
            zip(self._values, batch.values or [pa.nulls(n, pa.large_string())] * len(self._values), strict=True)
        )
        return Documents(given.words, given.digests, tokens, np.full(n, -1), ids, values)


def read_stored(column: Any, shard: Shard, how: Reading) -> tuple[Array, Problems]:
    """Read the stored column of a batch (`neardup.io.corpora.batch.Columns`): uint64[n, words], and the rows that cannot be
    read.
    """
    if shard.format == "jsonl":
        return _words_of_tokens(column, how)
    found = words_of_column(column, how)
    assert found is not None  # the caller has looked at the type of the column
    return found


def _words_of_tokens(tokens: Any, how: Reading) -> tuple[Array, Problems]:
    """Read JSON values: strings of digits, or integers."""
    if how.digits in ("decimal", "signed"):
        return words_of_texts(pc.ascii_trim(tokens, characters='"'), how)
    numbers = pc.fill_null(pc.invert(pc.starts_with(tokens, '"')), False)
    words, problems = words_of_texts(pc.ascii_trim(tokens, characters='"'), how)
    for row in np.flatnonzero(numbers.to_numpy(zero_copy_only=False)).tolist():
        problems[row] = f"{tokens[row].as_py()[:40]}, not a string of {named(how.digits)}"
    words[list(problems)] = 0
    return words, problems


def _digests(name: str, row: int, words: Array) -> Array:
    """uint64[n, 2]: digests of the shard's name, the row and the fingerprint."""
    n, width = words.shape
    of_name, letters = np.zeros((1, 2), np.uint64), np.array(list(name.encode()), np.uint8)
    digest_rows(letters, len(letters), of_name)
    keys = np.empty((n, 3 + width), np.uint64)
    keys[:, :2], keys[:, 2], keys[:, 3:] = of_name, row + np.arange(n), words
    found = np.empty((n, 2), np.uint64)
    digest_rows(keys.view(np.uint8).reshape(-1), 8 * (3 + width), found)
    return found
