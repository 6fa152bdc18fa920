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
from neardup.resources.threads import in_order
from neardup.text.columns import in_chunks
from neardup.text.units import Units, split

Result = TypeVar("Result")

UNITS_AT_ONCE = 1 << 15
"""Units that are passed on at a time: what is made of each takes about a hundred bytes, and a document may have millions."""

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
    """What is kept of some units of a batch of documents. The last ones of the batch have what is kept of its documents."""

    counts: Array
    numbers: Array
    sizes: Array
    ids: Any
    bytes: int


def with_tokens(units: Units) -> Array:
    """int64[≤ units]: the units that have a token; rules made of dashes and blank lines have none."""
    found = units.sure.copy()
    doubtful = np.flatnonzero(~found & (units.ends > units.starts))
    for first in range(0, len(doubtful), UNITS_AT_ONCE):
        some = doubtful[first : first + UNITS_AT_ONCE]
        found[some] = fingerprint_chunks(in_chunks(units.texts(some)), Recipe()).tokens > 0
    return np.flatnonzero(found)


@dataclass(frozen=True, slots=True)
class _Cut:
    """A batch of documents, cut into units.

    Attributes:
        batch: the documents; `found`: all their units.
        chosen: int64[≤ units], the units of `found` that are passed on with their text, ascending.
        before: int64[rows + 1], how many of the units with a token come before each document.
        given: bool[units with a token], which of these are `chosen`; None: all.
    """

    batch: Batch
    found: Units
    chosen: Array
    before: Array
    given: Array | None = None

    def parts(self) -> Iterator[slice]:
        """The units with a token, UNITS_AT_ONCE at a time; one slice if there are none."""
        total = int(self.before[-1])
        for first in range(0, max(total, 1), UNITS_AT_ONCE):
            yield slice(first, min(first + UNITS_AT_ONCE, total))

    def batch_of(self, part: slice) -> Batch:
        """Some units as a batch, with the values of their documents; those that are not `given` are null."""
        chosen, mask = self.chosen[part], None
        if self.given is not None:
            mask = ~self.given[part]
            first = int(np.count_nonzero(self.given[: part.start]))
            chosen = self.chosen[first : first + int(np.count_nonzero(self.given[part]))]
        texts = self.found.texts(chosen)
        if mask is not None and mask.any():
            texts = texts.take(pa.array(np.cumsum(~mask) - 1, mask=mask))
        places = pa.array(self.row_of(np.arange(part.start, part.stop)))
        values = tuple(values.take(places) for values in self.batch.values)
        return Batch(self.batch.row + part.start, texts, pa.nulls(len(texts), _TEXT), values)

    def row_of(self, units: Array) -> Array:
        """int64: the documents of the batch that contain these of its units with a token (int64)."""
        found: Array = np.searchsorted(self.before, units, "right") - 1
        return found


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
        known = self._known
        cut = partial(self._cut_again, wanted) if known else self._cut
        rows = None if wanted is None else self.rows_with(wanted)

        def parts() -> Iterator[tuple[Group, Piece[_Cut], slice]]:
            for group, piece in self.documents.pieces(cut, groups, wanted=rows):
                if piece.rows:
                    for part in piece.result.parts():
                        yield group, piece, part

        def done(found: tuple[Group, Piece[_Cut], slice]) -> tuple[Group, Piece[Any]]:
            group, piece, part = found
            cut, is_last = piece.result, part.stop == piece.result.before[-1]
            made = _result_of(cut, part, work)
            result: Any = made if known else (_kept_of(cut, part, is_last=is_last), made)
            if not is_last:  # all parts of a batch begin at its first row: its rows are counted with the last part
                return group, Piece(0, 0, [], result)
            return group, Piece(piece.rows, piece.position, piece.rejections, result)

        return in_order(done, parts(), self.documents.threads)

    def _cut(self, batch: Batch) -> _Cut:
        found = split(batch.texts, self._unit)
        chosen = with_tokens(found)
        return _Cut(batch, found, chosen, np.searchsorted(chosen, found.firsts))

    def _cut_again(self, wanted: Array | None, batch: Batch) -> _Cut:
        """The units of a batch that was read before. `wanted`: see `pieces`."""
        first = (self.documents.starts or [0])[batch.shard] + batch.row
        bounds = self.firsts[first : first + len(batch.texts) + 1]
        found, before = split(batch.texts, self._unit), bounds - bounds[0]
        known, units = np.diff(before), slice(bounds[0], bounds[-1])
        chosen = np.repeat(found.firsts[:-1], known) + self.numbers[units]
        present = batch.texts.is_valid().to_numpy(zero_copy_only=False)
        given = np.repeat(present, known)  # bool[units]: the unit's text was read
        if (chosen >= np.repeat(found.firsts[1:], known))[given].any():
            raise self.documents.shards[batch.shard].changed()
        given = given if wanted is None else given & wanted[units]
        return _Cut(batch, found, chosen[given], before, given)

    def rows(self, pieces: Iterable[tuple[Group, Piece[Any]]]) -> Iterator[tuple[int, Any]]:
        """See `neardup.io.corpora.protocol.ShardedCorpus`."""
        if self._known:
            unit = before = -1
            for row, result in self.documents.rows(pieces):
                unit = unit + UNITS_AT_ONCE if row == before else int(self.firsts[row])
                before = row
                yield unit, result
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

    def rows_with(self, units: Array) -> Array:
        """bool[rows]: the row contains one of the `units` (bool[units])."""
        sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(units)])
        found: Array = np.diff(sums[self.firsts]) > 0
        return found

    def row_of(self, units: Array) -> Array:
        """int64: the rows of the documents that contain the units (int64)."""
        found: Array = np.searchsorted(self.firsts, units, "right") - 1
        return found

    @property
    def skips(self) -> bool | None:
        """See `neardup.io.corpora.protocol.SourcedCorpus`."""
        return self.documents.skips

    def check_sources(self, sources: Sequence[str]) -> None:
        """See `neardup.io.corpora.protocol.SourcedCorpus`."""
        self.documents.check_sources(sources)

    def source_ranks(self, sources: Sequence[str]) -> Array | None:
        """See `neardup.io.corpora.protocol.SourcedCorpus`."""
        ranks = self.documents.source_ranks(sources)
        return None if ranks is None else np.repeat(ranks, np.diff(self.firsts))


def _result_of(cut: _Cut, part: slice, work: Callable[[Batch], Result]) -> Result:
    """What `work` makes of some units. The error of a unit becomes one of its document."""
    batch = cut.batch_of(part)
    try:
        return work(batch)
    except CallableError as problem:
        if problem.row is None:
            raise
        document = int(cut.row_of(np.array([part.start + problem.row - batch.row]))[0])
        cause, id_ = problem.__cause__ or problem, cut.batch.ids[document].as_py()
        row = cut.batch.row + document
        raise CallableError(problem.function, problem.given, cause, id=id_, row=row) from problem.__cause__


def _kept_of(cut: _Cut, part: slice, *, is_last: bool) -> UnitPart:
    """What is kept of some units, and, with the last ones, of the documents."""
    chosen, batch = cut.chosen[part], cut.batch
    numbers = chosen - cut.found.firsts[cut.row_of(np.arange(part.start, part.stop))]
    sizes = cut.found.ends[chosen] - cut.found.starts[chosen]
    counts, ids = (np.diff(cut.before), batch.ids) if is_last else (np.empty(0, np.int64), batch.ids[:0])
    total = (pc.sum(pc.binary_length(batch.texts)).as_py() or 0) if is_last else 0
    return UnitPart(counts, numbers.astype(np.int32), sizes.astype(np.uint32), ids, total)
