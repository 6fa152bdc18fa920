"""JUDGEMENTS of a store: pairs of which somebody has said whether they are the same, by the digests of their texts."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from neardup.store.record.schema import judgement_checksum
from neardup.store.record.transactions import Transactions

TABLE = """
CREATE TABLE IF NOT EXISTS judgements (
    number INTEGER PRIMARY KEY,
    "left" BLOB NOT NULL,
    "right" BLOB NOT NULL,
    kind TEXT NOT NULL,
    left_id TEXT,
    right_id TEXT NOT NULL,
    same INTEGER NOT NULL,
    similarity REAL,
    distance INTEGER NOT NULL,
    judged REAL NOT NULL,
    left_text BLOB,
    right_text BLOB,
    checksum INTEGER NOT NULL,
    UNIQUE ("left", "right")
) STRICT;
CREATE INDEX IF NOT EXISTS judgements_right ON judgements ("right")
"""
"""The table that a record gets with its first judgement."""


class JudgementRow(NamedTuple):
    """A row of `judgements`, without its number.

    Attributes:
        left, right: the digests of the two texts, 16 bytes each.
        kind: "removed" if the left one is a remembered duplicate of the right one, "kept" if both are kept.
        left_id, right_id: their ids as JSON; None if the left one's is not known.
        same: whether somebody has said that they are duplicates.
        similarity, distance: as in `removed`.
        judged: when, in seconds since 1970.
        left_text, right_text: see `neardup.store.record.sealed_texts`; None if the store keeps no texts.
    """

    left: bytes
    right: bytes
    kind: str
    left_id: str | None
    right_id: str
    same: bool
    similarity: float | None
    distance: int
    judged: float
    left_text: bytes | None
    right_text: bytes | None


COLUMNS = ", ".join(f'"{name}"' for name in JudgementRow._fields)


class JudgementTable(Transactions):
    """The part of a record that has the judgements. The table is made with the first of them."""

    @property
    def has_judgements(self) -> bool:
        """Whether there is a table of judgements."""
        return self._has_table("judgements")

    def add_judgements(self, rows: Iterable[JudgementRow]) -> None:
        """Keep judgements, in the place of earlier ones of the same pairs."""
        given = list(rows)
        if not given:
            return
        self._make_tables(TABLE)
        turned = 'DELETE FROM judgements WHERE "left" = ? AND "right" = ?'
        self._write(turned, ((row.right, row.left) for row in given))
        marks = ", ".join("?" * (len(JudgementRow._fields) + 1))
        self._write(
            f"INSERT OR REPLACE INTO judgements ({COLUMNS}, checksum) VALUES ({marks})",
            ((*row, judgement_checksum(*row)) for row in given),
        )

    def judgements(self, after: int, limit: int | None) -> list[tuple[int, JudgementRow]]:
        """So many judgements, or all, with numbers above `after`, in their order; a DataError if a row is not what was written."""
        if not self.has_judgements:
            return []
        query = "SELECT * FROM judgements WHERE number > ? ORDER BY number LIMIT ?"
        return [(row[0], self._judgement(row)) for row in self._rows(query, (after, -1 if limit is None else limit))]

    def last_judgement(self) -> int:
        """The largest number; 0 if there is none."""
        return next(self._rows("SELECT coalesce(max(number), 0) FROM judgements"))[0] if self.has_judgements else 0

    def judgements_of(self, numbers: Sequence[int]) -> dict[int, JudgementRow]:
        """The judgements with those of these numbers (ascending) that there are."""
        query = "SELECT * FROM judgements WHERE number BETWEEN ? AND ?"
        return {row[0]: self._judgement(row) for row in self._rows(query, (numbers[0], numbers[-1]))}

    def judged_pairs(self) -> set[tuple[bytes, bytes]]:
        """The digests of all pairs that are judged."""
        return set(self._rows('SELECT "left", "right" FROM judgements')) if self.has_judgements else set()

    def count_judgements(self) -> int:
        """How many there are."""
        return int(next(self._rows("SELECT count(*) FROM judgements"))[0]) if self.has_judgements else 0

    def forget_judgements(self, digests: Sequence[bytes]) -> None:
        """Forget the judgements of texts with these digests."""
        if self.has_judgements:
            for side in ('"left"', '"right"'):
                self._write(f"DELETE FROM judgements WHERE {side} = ?", ((digest,) for digest in digests))

    def all_judgements(self) -> Iterator[tuple[Any, ...]]:
        """The rows of all judgements, as they are in the file."""
        yield from self._rows("SELECT * FROM judgements ORDER BY number") if self.has_judgements else ()

    def _judgement(self, row: tuple[Any, ...]) -> JudgementRow:
        number, *values, checksum = row
        self._demand_whole("judgements", number, judgement_checksum, values, checksum)
        found = JudgementRow(*values)
        return found._replace(same=bool(found.same))
