"""The lines or paragraphs of files as a corpus: its rows are the units that have a token."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.arrays import Array
from neardup.errors import CallableError
from neardup.fingerprints.simhash import fingerprint_chunks
from neardup.io.corpora.batch import Batch
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.protocol import Group, Piece
from neardup.io.resume.codecs import codec
from neardup.recipe.recipe import Recipe
from neardup.text.columns import in_chunks
from neardup.text.units import Units, split

Result = TypeVar("Result")

_TEXT = pa.large_string()


@codec(
    "unit part",
    1,
    counts="int64[rows]",
    numbers="int32[units]",
    sizes="uint32[units]",
    ids="large_string",
    bytes="value",
)
@dataclass(frozen=True, slots=True)
class UnitPart:
    """What is kept of a batch of documents."""

    counts: Array
    numbers: Array
    sizes: Array
    ids: Any
    bytes: int


def with_tokens(units: Units) -> Array:
    """int64[≤ units]: the units that have a token; rules made of dashes and blank lines have none."""
    found = units.sure.copy()
    doubtful = np.flatnonzero(~found)
    doubtful = doubtful[units.ends[doubtful] > units.starts[doubtful]]
    if len(doubtful):
        found[doubtful] = fingerprint_chunks(in_chunks(units.texts(doubtful)), Recipe()).tokens > 0
    return np.flatnonzero(found)


class UnitCorpus:
    """The units of the documents in files; see `neardup.io.corpora.protocol.SourcedCorpus`. Its ids are null: see `row_of`
    and `numbers`.

    Every attribute except `documents` is set by the first complete read. A unit takes 8 bytes.

    Attributes:
        documents: the files.
        firsts: int64[rows + 1], the first unit of each row of the files; the last value is the number of all units.
        numbers: int32[units], the number of each unit in its document; units without tokens are counted too.
        sizes: uint32[units], bytes.
        ids: Arrow large_string[rows], each a JSON value; null where a row was rejected.
        text_bytes: the size of all texts.
    """

    def __init__(self, documents: FileCorpus, unit: str) -> None:
        self.documents, self._unit = documents, unit
        self.firsts = np.zeros(1, np.int64)
        self._known = False
        self.numbers, self.sizes = np.empty(0, np.int32), np.empty(0, np.uint32)
        self.ids: Any = pa.array([], _TEXT)
        self.text_bytes = 0

    def map(self, work: Callable[[Batch], Result], *, wanted: Array | None = None) -> Iterator[tuple[int, Result]]:
        """See `neardup.io.corpora.protocol.Corpus`; one row is one unit."""
        return self.rows(self.pieces(work, self.groups(), wanted=wanted))

    def groups(self) -> list[Group]:
        """See `neardup.io.corpora.protocol.ShardedCorpus`."""
        return self.documents.groups()

    def pieces(
        self, work: Callable[[Batch], Result], groups: Iterable[Group], *, wanted: Array | None = None
    ) -> Iterator[tuple[Group, Piece[Any]]]:
        """See `neardup.io.corpora.protocol.ShardedCorpus`. In the first pass, a result is a pair: a `UnitPart` and the result
        of `work`.
        """
        if not self._known:
            return self.documents.pieces(partial(self._first_work, work), groups)
        firsts, starts = self.firsts, self.documents.starts or [0]

        def read(batch: Batch) -> Result:
            first = starts[batch.shard] + batch.row
            bounds = firsts[first : first + len(batch.texts) + 1]
            some = None if wanted is None else wanted[bounds[0] : bounds[-1]]
            return work(self._units_of(batch, bounds - bounds[0], some))

        rows = None if wanted is None else self.rows_with(wanted)
        return self.documents.pieces(read, groups, wanted=rows)

    def _first_work(self, work: Callable[[Batch], Result], batch: Batch) -> tuple[UnitPart, Result]:
        found = split(batch.texts, self._unit)
        chosen = with_tokens(found)
        counts = np.diff(np.searchsorted(chosen, found.firsts))
        numbers = chosen - np.repeat(found.firsts[:-1], counts)
        sizes = found.ends[chosen] - found.starts[chosen]
        total = pc.sum(pc.binary_length(batch.texts)).as_py() or 0
        part = UnitPart(counts, numbers.astype(np.int32), sizes.astype(np.uint32), batch.ids, total)
        try:
            return part, work(_batch(batch, found.texts(chosen), counts))
        except CallableError as problem:
            raise _of_document(problem, batch, counts) from problem.__cause__

    def rows(self, pieces: Iterable[tuple[Group, Piece[Any]]]) -> Iterator[tuple[int, Any]]:
        """See `neardup.io.corpora.protocol.ShardedCorpus`."""
        if self._known:
            for row, result in self.documents.rows(pieces):
                yield int(self.firsts[row]), result
            return
        parts: list[UnitPart] = []
        unit = 0
        for _, (part, result) in self.documents.rows(pieces):
            parts.append(part)
            yield unit, result
            unit += len(part.numbers)
        self._learn(parts)

    def _learn(self, parts: Sequence[UnitPart]) -> None:
        """Store the results of a complete first pass."""
        counts = np.concatenate([np.zeros(1, np.int64), *(part.counts for part in parts)])
        self.firsts = np.cumsum(counts)
        self.numbers = np.concatenate([self.numbers, *(part.numbers for part in parts)])
        self.sizes = np.concatenate([self.sizes, *(part.sizes for part in parts)])
        self.ids = pa.chunked_array([self.ids, *(part.ids for part in parts)]).combine_chunks()
        self.text_bytes = sum(part.bytes for part in parts)
        self._known = True

    def _units_of(self, batch: Batch, firsts: Array, wanted: Array | None) -> Batch:
        """The units of a batch that was read before, null where they are not wanted."""
        found = split(batch.texts, self._unit)
        chosen = with_tokens(found)
        counts, known = np.diff(np.searchsorted(chosen, found.firsts)), np.diff(firsts)
        present = batch.texts.is_valid().to_numpy(zero_copy_only=False)
        if (counts[present] != known[present]).any():
            raise self.documents.shards[batch.shard].changed()
        given = np.repeat(present, known)  # bool[units]: the unit's text was read
        if wanted is not None:
            chosen, given = chosen[wanted[given]], given & wanted
        texts = found.texts(chosen)
        if not given.all():
            texts = texts.take(pa.array(np.cumsum(given) - 1, mask=~given))
        return _batch(batch, texts, known)

    def rows_with(self, units: Array) -> Array:
        """bool[rows]: the row contains one of the `units` (bool[units])."""
        sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(units)])
        found: Array = np.diff(sums[self.firsts]) > 0
        return found

    def row_of(self, units: Array) -> Array:
        """int64: the rows of the documents that contain the units (int64)."""
        found: Array = np.searchsorted(self.firsts, units, "right") - 1
        return found

    def check_sources(self, sources: Sequence[str]) -> None:
        """See `neardup.io.corpora.protocol.SourcedCorpus`."""
        self.documents.check_sources(sources)

    def source_ranks(self, sources: Sequence[str]) -> Array | None:
        """See `neardup.io.corpora.protocol.SourcedCorpus`."""
        ranks = self.documents.source_ranks(sources)
        return None if ranks is None else np.repeat(ranks, np.diff(self.firsts))


def _of_document(problem: CallableError, batch: Batch, counts: Array) -> CallableError:
    """Convert the error of a unit to one of its document. `counts`: units per document."""
    if problem.row is None:
        return problem
    document = int(np.searchsorted(np.cumsum(counts), problem.row - batch.row, "right"))
    cause, id_ = problem.__cause__ or problem, batch.ids[document].as_py()
    return CallableError(problem.function, problem.given, cause, id=id_, row=batch.row + document)


def _batch(batch: Batch, texts: Any, counts: Array) -> Batch:
    """A batch of units, with the values of their documents. `counts`: units per document."""
    places = pa.array(np.repeat(np.arange(len(counts)), counts))
    return Batch(batch.row, texts, pa.nulls(len(texts), _TEXT), tuple(values.take(places) for values in batch.values))
