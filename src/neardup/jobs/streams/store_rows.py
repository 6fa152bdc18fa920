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
from neardup.recipe.tables.keeps import KeepAs
from neardup.resources.resources import Resources
from neardup.store.rules import key_of
from neardup.store.store import Store
from neardup.text.single_values import COMPARED_AS, IN_WORDS, fits, kind_alone

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


@dataclass(slots=True)
class MetadataColumns:
    """Columns whose values are kept.

    Attributes:
        names: the columns.
        key: the one whose values the store compares; None if it compares none.
        keep_as: how it compares them; None as long as it had none.
        skips: whether values that do not fit count as missing, and are not kept.
    """

    names: tuple[str, ...]
    key: str | None
    keep_as: KeepAs | None = None
    skips: bool = False

    @property
    def compared_as(self) -> str | None:
        """What the store compares by the column; None if nothing, or as long as it had nothing."""
        return None if self.keep_as is None else COMPARED_AS[self.keep_as]

    def of(self, values: Sequence[Any], shard: Shard, rows: Array) -> "tuple[list[dict[str, Any]] | None, int]":
        """What is kept with some rows of a shard (int64[n]): the values that they have, or None if no columns are named; and how
        many values do not fit.

        Args:
            values: for each column, Arrow large_string[n] of JSON values.
            shard: where the rows are.
            rows: their numbers there.

        Raises:
            InputError: the store compares the column, and a value does not fit.
        """
        if not self.names:
            return None, 0
        found: list[dict[str, Any]] = [{} for _ in rows]
        unfit = 0
        for name, column in zip(self.names, values, strict=True):
            for place, token in enumerate(column.to_pylist()):
                if token is None:
                    continue
                value = _decode(token)
                if name != self.key or self._fits(value):
                    found[place][name] = value
                elif self.skips:
                    unfit += 1
                else:
                    needed = "a number, a date" if self.keep_as is None else IN_WORDS[self.keep_as]
                    raise InputError(
                        f"{shard.name}, row {rows[place]} (counted from 0): {name!r} is {value!r}. The store prefers documents by "
                        f"this column, and needs {needed}, or nothing in each row. Correct the value, or skip such values with "
                        "`on_error='skip'`: then they count as missing."
                    )
        return found, unfit

    def _fits(self, value: Any) -> bool:
        """Whether the store can compare a value; the first that it can decides how."""
        if self.keep_as is None:
            told = kind_alone(value)
            if told == "text":
                return False
            self.keep_as = told
        return self.keep_as is None or fits(value, self.keep_as)


def metadata_columns(store: Store, given: str | Sequence[str], *, skips: bool) -> MetadataColumns:
    """The columns that are named, for a store. `skips`: see `MetadataColumns`.

    Raises:
        OptionError: a name is empty, or the column that the store compares is not named.
    """
    return MetadataColumns(column_names(given, store.keep), key_of(store.keep), store.keep_as, skips)


def column_names(given: str | Sequence[str], keep: str = "first") -> tuple[str, ...]:
    """The columns that are named; an OptionError if a name is empty, or the one is missing whose values `keep` compares."""
    names = tuple(dict.fromkeys((given,) if isinstance(given, str) else given))
    if not all(isinstance(name, str) and name for name in names):
        raise OptionError(f"`metadata={list(names)!r}`: give names of columns, none of them empty.")
    key = key_of(keep)
    if key is not None and key not in names:
        raise OptionError(
            f"This store was made to keep {keep}, and needs the column {key!r}. Name it: `metadata={[key]!r}`."
        )
    return names
