"""The protocol of a corpus: documents that can be read more than once. A sharded corpus can also save results shard by shard."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, runtime_checkable

from neardup.arrays import Array
from neardup.io.corpora.batch import Batch, Rejections
from neardup.io.resume.codecs import codec

Item = TypeVar("Item")
Result = TypeVar("Result")
Group = tuple[int, int]
"""Shards that are read together: [first, last)."""


class Corpus(Protocol):
    """Documents that can be read more than once, always in the same order."""

    def map(self, work: Callable[[Batch], Result], *, wanted: Array | None = None) -> Iterator[tuple[int, Result]]:
        """Yield work(batch) for every batch of rows, with the batch's first row in the corpus, in order; uses several threads.

        Rows where `wanted` (bool[rows]) is False have null texts. `wanted` needs a corpus that has been read before.
        """


class SourcedCorpus(Corpus, Protocol):
    """Documents whose sources are known."""

    @property
    def skips(self) -> bool | None:
        """Whether values that cannot be used are skipped instead of refused; None if no option asks for that."""

    def check_sources(self, sources: Sequence[str]) -> None:
        """Raise InputError if no document comes from one of the `sources`; called before any work."""

    def source_ranks(self, sources: Sequence[str]) -> Array | None:
        """int64[rows]: the index in `sources` of each row's source, or their number for none; only after the corpus has been read.

        None if no sources are given.
        """


@codec("piece", 1, rows="value", position="value", rejections="value", result="value")
@dataclass(frozen=True, slots=True)
class Piece(Generic[Result]):
    """The result for a batch.

    Attributes:
        rows: the number of rows in the batch.
        position: bytes of the shard read so far; 0 where that is not known.
        rejections: rows that cannot be read.
        result: the result of the work.
    """

    rows: int
    position: int
    rejections: Rejections
    result: Result


@runtime_checkable
class ShardedCorpus(Corpus, Protocol):
    """Documents in shards. A pass over them can be made in parts, whose pieces are counted together.

    `map(work, wanted=wanted)` is `rows(pieces(work, groups(), wanted=wanted))`.
    """

    def groups(self) -> Sequence[Group]:
        """The groups of shards that are read together, in order."""

    def pieces(
        self, work: Callable[[Batch], Result], groups: Iterable[Group], *, wanted: Array | None = None
    ) -> Iterator[tuple[Group, Piece[Result]]]:
        """Yield work(batch) for every batch of some groups, like `map`, each with its group; groups are taken as they are read."""

    def rows(self, pieces: Iterable[tuple[Group, Piece[Result]]]) -> Iterator[tuple[int, Result]]:
        """The results of a whole pass, with their first rows, from pieces that were read now or earlier."""


class CorpusPair:
    """Two corpora joined into one: the rows of the second follow the `rows` rows of the first."""

    def __init__(self, first: Corpus, rows: int, second: Corpus) -> None:
        self._first, self._rows, self._second = first, rows, second

    def map(self, work: Callable[[Batch], Result], *, wanted: Array | None = None) -> Iterator[tuple[int, Result]]:
        before, after = _parted(wanted, self._rows)
        yield from self._first.map(work, wanted=before)
        for row, result in self._second.map(work, wanted=after):
            yield self._rows + row, result


class ShardedPair:
    """Two sharded corpora joined into one, in the same way."""

    def __init__(self, first: ShardedCorpus, rows: int, second: ShardedCorpus) -> None:
        self._first, self._rows, self._second = first, rows, second
        firsts, seconds = first.groups(), second.groups()
        self._shards = firsts[-1][1] if firsts else 0
        self._groups = [*firsts, *((begin + self._shards, end + self._shards) for begin, end in seconds)]

    def map(self, work: Callable[[Batch], Result], *, wanted: Array | None = None) -> Iterator[tuple[int, Result]]:
        return self.rows(self.pieces(work, self.groups(), wanted=wanted))

    def groups(self) -> Sequence[Group]:
        return self._groups

    def pieces(
        self, work: Callable[[Batch], Result], groups: Iterable[Group], *, wanted: Array | None = None
    ) -> Iterator[tuple[Group, Piece[Result]]]:
        before, after = _parted(wanted, self._rows)
        of_first, of_second = _divided(groups, lambda group: group[0] < self._shards)
        yield from self._first.pieces(work, of_first, wanted=before)
        moved = ((begin - self._shards, end - self._shards) for begin, end in of_second)
        for (begin, end), piece in self._second.pieces(work, moved, wanted=after):
            yield (begin + self._shards, end + self._shards), piece

    def rows(self, pieces: Iterable[tuple[Group, Piece[Result]]]) -> Iterator[tuple[int, Result]]:
        of_first, of_second = _divided(pieces, lambda found: found[0][0] < self._shards)
        yield from self._first.rows(of_first)
        moved = (((begin - self._shards, end - self._shards), piece) for (begin, end), piece in of_second)
        for row, result in self._second.rows(moved):
            yield self._rows + row, result


def _parted(wanted: Array | None, rows: int) -> tuple[Array | None, Array | None]:
    """The masks of wanted rows for the first corpus, which has `rows` rows, and for the second."""
    return (None, None) if wanted is None else (wanted[:rows], wanted[rows:])


def _divided(items: Iterable[Item], is_of_first: Callable[[Item], bool]) -> tuple[Iterator[Item], Iterator[Item]]:
    """Split lazily at the first item that is not of the first corpus; read the first part to its end before the second."""
    every, waiting = iter(items), list[Item]()

    def of_first() -> Iterator[Item]:
        for item in every:
            if not is_of_first(item):
                waiting.append(item)
                return
            yield item

    def of_second() -> Iterator[Item]:
        yield from waiting
        yield from every

    return of_first(), of_second()


def pair_of(first: Corpus, rows: int, second: Corpus) -> Corpus:
    """Join two corpora into one: the rows of the second follow the `rows` rows of the first."""
    if isinstance(first, ShardedCorpus) and isinstance(second, ShardedCorpus):
        return ShardedPair(first, rows, second)
    return CorpusPair(first, rows, second)
