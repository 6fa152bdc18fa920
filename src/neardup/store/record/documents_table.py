"""DOCUMENT TABLES: the part of a record that has the kept documents, and the texts that were not kept with their survivors."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

import numpy as np

from neardup.arrays import Array
from neardup.recipe.tables.keeps import KeepAs
from neardup.store.formats.removal_bits import Marks
from neardup.store.record.schema import SEEN, document_checksum, removed_checksum
from neardup.store.record.transactions import Transactions


class DocumentRow(NamedTuple):
    """A row of `documents`: the id as JSON, times in seconds since 1970, the metadata as JSON, how good it is by `keep`."""

    number: int
    id: str
    first_seen: float
    last_seen: float
    expires: float | None = None
    metadata: str | None = None
    rank: float | None = None


class RemovedRow(NamedTuple):
    """A row of `removed`: 16 bytes that are equal for equal normalized texts, and the survivor's number."""

    number: int
    digest: bytes
    survivor: int
    similarity: float | None
    distance: int
    last_seen: float


def removed_rows(
    first: int, digests: Sequence[bytes], survivors: Array, similarity: Array, distance: Array, now: float
) -> list[RemovedRow]:
    """The rows of texts under the numbers from `first` on: survivors int64[n], similarity float64[n] (NaN if there is none)."""
    columns = (digests, survivors.tolist(), similarity.tolist(), distance.tolist())
    return [
        RemovedRow(first + i, digest, survivor, None if alike != alike else alike, far, now)
        for i, (digest, survivor, alike, far) in enumerate(zip(*columns, strict=True))
    ]


class _HasSurvivor(Protocol):
    @property
    def survivor(self) -> int: ...


R = TypeVar("R", bound=_HasSurvivor)


def with_survivor(rows: Sequence[R], gone: Marks) -> list[R]:
    """Those of some texts that were not kept whose survivors are there yet."""
    are_gone = gone.has(np.array([row.survivor for row in rows], np.int64)).tolist()
    return [row for row, is_gone in zip(rows, are_gone, strict=True) if not is_gone]


class DocumentTables(Transactions):
    """The tables `documents` and `removed`."""

    def add_documents(self, rows: Iterable[DocumentRow]) -> None:
        """Add kept documents."""
        sealed = [(*row, document_checksum(*row)) for row in rows]
        self._write("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?)", sealed)

    def add_removed(self, rows: Iterable[RemovedRow]) -> None:
        """Remember distinct texts that were not kept."""
        sealed = [(*row, removed_checksum(*row)) for row in rows]
        self._write("INSERT INTO removed VALUES (?, ?, ?, ?, ?, ?, ?)", sealed)

    def documents(self, numbers: Sequence[int]) -> dict[int, DocumentRow]:
        """The kept documents with these numbers; a DataError if a row is missing, or is not what was written."""
        found = self.documents_there(numbers)
        if len(found) < len(numbers) and (missing := set(numbers) - found.keys()):
            raise self._damage(f"row {min(missing)} of `documents` is missing")
        return found

    def documents_there(self, numbers: Sequence[int]) -> dict[int, DocumentRow]:
        """The kept documents with those of these numbers that there are."""
        return {
            row[0]: self._document(row) for row in self._rows_of("SELECT * FROM documents WHERE number IN", numbers)
        }

    def removed(self, numbers: Sequence[int]) -> dict[int, RemovedRow]:
        """The texts that were not kept with these numbers."""
        return {row[0]: self._removed(row) for row in self._rows_of("SELECT * FROM removed WHERE number IN", numbers)}

    def documents_from(self, first: int) -> Iterator[DocumentRow]:
        """The kept documents from a number on, in their order."""
        return map(self._document, self._rows("SELECT * FROM documents WHERE number >= ? ORDER BY number", (first,)))

    def removed_from(self, first: int) -> Iterator[RemovedRow]:
        """The texts that were not kept from a number on, in their order."""
        return map(self._removed, self._rows("SELECT * FROM removed WHERE number >= ? ORDER BY number", (first,)))

    def removed_before(self, number: int, limit: int) -> list[RemovedRow]:
        """So many of the texts that were not kept with smaller numbers, the latest first."""
        query = "SELECT * FROM removed WHERE number < ? ORDER BY number DESC LIMIT ?"
        return list(map(self._removed, self._rows(query, (number, limit))))

    def least_similar(self, limit: int) -> list[RemovedRow]:
        """So many of the texts that were not kept, those first that are least like their survivors."""
        query = "SELECT * FROM removed ORDER BY similarity, distance DESC, number DESC LIMIT ?"
        return list(map(self._removed, self._rows(query, (limit,))))

    def _document(self, row: tuple[Any, ...]) -> DocumentRow:
        found = DocumentRow(*row[:-1])
        self._demand_whole("documents", found.number, document_checksum, found, row[-1])
        return found

    def _removed(self, row: tuple[Any, ...]) -> RemovedRow:
        found = RemovedRow(*row[:-1])
        self._demand_whole("removed", found.number, removed_checksum, found, row[-1])
        return found

    def saw(self, numbers: Iterable[int], now: float) -> None:
        """Note that copies or near-duplicates of these kept documents were seen. A time never goes back."""
        later = f"UPDATE documents SET last_seen = ?1, {SEEN} WHERE number = ?2 AND last_seen < ?1"
        self._write(later, [(now, each) for each in numbers])

    def latest(self) -> float:
        """The latest time at which a kept document was seen; 0 if there is none. Reads all rows."""
        return float(next(self._rows("SELECT coalesce(max(last_seen), 0) FROM documents"))[0])

    def first_ranked(self) -> str | None:
        """The metadata, as JSON, of the first kept document that has a rank; None if none has. May read all rows."""
        query = "SELECT metadata FROM documents WHERE rank IS NOT NULL AND metadata IS NOT NULL ORDER BY number LIMIT 1"
        return next((row[0] for row in self._rows(query)), None)

    def expired(self, now: float) -> Array:
        """int64[n]: the numbers of documents that have expired."""
        return self._numbers("SELECT number FROM documents WHERE expires <= ?", now)

    def seen_before(self, column: Literal["first_seen", "last_seen"], time: float) -> Array:
        """int64[n]: the numbers of documents that were first or last seen before a time."""
        return self._numbers(f"SELECT number FROM documents WHERE {column} < ?", time)

    def all_but_newest(self, newest: int) -> Array:
        """int64[n]: the numbers of all documents but the last ones that were added."""
        return self._numbers("SELECT number FROM documents ORDER BY number DESC LIMIT -1 OFFSET ?", newest)

    def _numbers(self, query: str, value: float) -> Array:
        return np.array([row[0] for row in self._rows(query, (value,))], np.int64)


class Given(NamedTuple):
    """What is written of n documents besides their texts.

    Attributes:
        names, metadata: as JSON; metadata may be None for all.
        ranks: see `neardup.store.rules`; empty where `keep` needs none.
        expires: when each expires if it is kept; empty if none does.
        now: the time.
        keep_as: how values are compared.
    """

    names: Sequence[str]
    metadata: Sequence[str | None] | None
    ranks: Sequence[float | None]
    expires: Sequence[float | None]
    now: float
    keep_as: KeepAs | None = None

    def rows(self, places: Sequence[int], first: int) -> list[DocumentRow]:
        """The rows of some documents, which get the numbers from `first` on."""
        return [
            DocumentRow(
                first + i,
                self.names[place],
                self.now,
                self.now,
                self.expires[place] if self.expires else None,
                None if self.metadata is None else self.metadata[place],
                self.ranks[place] if self.ranks else None,
            )
            for i, place in enumerate(places)
        ]
