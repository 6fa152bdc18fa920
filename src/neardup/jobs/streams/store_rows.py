"""The rows of inputs as documents of a store: texts, where they are, and the columns that the store keeps with them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from neardup.arrays import Array
from neardup.errors import InputError, OptionError
from neardup.io.checks.number_files import refuse_numbers
from neardup.io.corpora.batch import Batch
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.reading import Reading
from neardup.io.corpora.shard import Shard
from neardup.progress import Progress
from neardup.resources.resources import Resources
from neardup.store.rules import key_of
from neardup.text.single_values import rank_value

DOCUMENTS_AT_ONCE = 1 << 12
"""Documents that are decided, and made durable, at a time; the answers do not depend on it."""

_decode = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True)
class StoreRows:
    """Some documents.

    Attributes:
        tokens: the ids that reading gives: Arrow large_string[n] of JSON values.
        texts: the texts.
        values: for each further column, Arrow large_string[n] of JSON values.
        shard, rows: where they are.
    """

    tokens: Any
    texts: list[str]
    values: tuple[Any, ...]
    shard: Shard
    rows: Array

    def __len__(self) -> int:
        return len(self.texts)

    def part(self, some: slice) -> "StoreRows":
        """Some of the documents."""
        values = tuple(column[some] for column in self.values)
        return StoreRows(self.tokens[some], self.texts[some], values, self.shard, self.rows[some])

    @property
    def ids(self) -> list[int | str]:
        """The ids that reading gives."""
        return [_decode(token) for token in self.tokens.to_pylist()]


def corpus_of(
    shards: Sequence[Shard],
    reading: Reading,
    on_error: str,
    resources: Resources,
    progress: Progress,
    *,
    values: Sequence[str] = (),
) -> FileCorpus:
    """Files of texts as a corpus. `values`: further columns to read.

    Raises:
        InputError: a column is missing, or the rows are fingerprints of another program.
    """
    corpus = FileCorpus(
        shards,
        reading.columns(values, asked_by=dict.fromkeys(values, "metadata=")),
        on_error=on_error,
        progress=progress,
        resources=resources,
        refine=refuse_numbers,
    )
    corpus.check()
    return corpus


def documents_of(corpus: FileCorpus, done: int = 0) -> Iterator[StoreRows]:
    """The documents of a corpus in their order, up to `DOCUMENTS_AT_ONCE` at a time; but for the first `done`."""

    def read(batch: Batch) -> StoreRows:
        present = batch.texts.is_valid()
        rows = batch.row + np.flatnonzero(present.to_numpy(zero_copy_only=False))
        return StoreRows(
            batch.ids.filter(present),
            batch.texts.filter(present).to_pylist(),
            tuple(column.filter(present) for column in batch.values),
            corpus.shards[batch.shard],
            rows,
        )

    for _, found in corpus.map(read):
        begin, done = min(done, len(found)), max(0, done - len(found))
        for first in range(begin, len(found), DOCUMENTS_AT_ONCE):
            yield found.part(slice(first, first + DOCUMENTS_AT_ONCE))


@dataclass(frozen=True, slots=True)
class MetadataColumns:
    """Columns whose values are kept.

    Attributes:
        names: the columns.
        key: the one whose values the store compares; None if it compares none.
    """

    names: tuple[str, ...]
    key: str | None

    def of(self, values: Sequence[Any], shard: Shard, rows: Array) -> list[dict[str, Any]] | None:
        """What is kept with some rows of a shard (int64[n]): the values that they have; None if no columns are named.

        Args:
            values: for each column, Arrow large_string[n] of JSON values.
            shard: where the rows are.
            rows: their numbers there.

        Raises:
            InputError: the store compares the column, and a value is neither a number nor a date.
        """
        if not self.names:
            return None
        found: list[dict[str, Any]] = [{} for _ in rows]
        for name, column in zip(self.names, values, strict=True):
            for place, token in enumerate(column.to_pylist()):
                if token is None:
                    continue
                found[place][name] = value = _decode(token)
                if name == self.key and rank_value(value) is None:
                    raise InputError(
                        f"{shard.name}, row {rows[place]} (counted from 0): {name!r} is {value!r}. The store prefers documents by "
                        "this column, and needs a number, a date in ISO 8601, or nothing in each row."
                    )
        return found


def metadata_columns(keep: str, given: str | Sequence[str]) -> MetadataColumns:
    """The columns that are named, for a store with this `keep`.

    Raises:
        OptionError: a name is empty, or the column that the store compares is not named.
    """
    names = tuple(dict.fromkeys((given,) if isinstance(given, str) else given))
    if not all(isinstance(name, str) and name for name in names):
        raise OptionError(f"`metadata={list(names)!r}`: give names of columns, none of them empty.")
    key = key_of(keep)
    if key is not None and key not in names:
        raise OptionError(
            f"This store was made to keep {keep}, and needs the column {key!r}. Name it: `metadata={[key]!r}`."
        )
    return MetadataColumns(names, key)
