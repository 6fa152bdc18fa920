"""SKIPPED DOCUMENTS: the part of a record that has the ids of duplicates that are not kept, each with its kept document, and the
orphans among them: those that no kept document matched when theirs went.

The tables are made with the first of these documents. The fact `skipped` says since when they are remembered.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from neardup.store.record.schema import orphan_checksum, skipped_checksum, skipped_content_checksum
from neardup.store.record.transactions import SQL_VALUES, Transactions

TABLES = """
CREATE TABLE IF NOT EXISTS skipped (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    survivor INTEGER NOT NULL,
    digest BLOB,
    checksum INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS skipped_of ON skipped (survivor);
CREATE TABLE IF NOT EXISTS skipped_contents (
    number INTEGER PRIMARY KEY,
    survivor INTEGER NOT NULL,
    digest BLOB NOT NULL,
    content BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    UNIQUE (survivor, digest)
) STRICT;
CREATE TABLE IF NOT EXISTS orphans (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    compared INTEGER NOT NULL,
    orphaned REAL NOT NULL,
    checksum INTEGER NOT NULL
) STRICT
"""
NAMES = ("skipped", "skipped_contents", "orphans")


class SkippedRow(NamedTuple):
    """A row of `skipped`: the id as JSON, the kept document's number, and the digest of the text; None if it is that document's."""

    id: str
    survivor: int
    digest: bytes | None


class SkippedContent(NamedTuple):
    """A row of `skipped_contents`: what is compared of the text with a digest, whose skipped documents have this survivor; see
    `neardup.store.formats.row_contents`.
    """

    survivor: int
    digest: bytes
    content: bytes


class OrphanRow(NamedTuple):
    """A row of `orphans`: the id as JSON, whether its text was compared with the documents that are kept, and when."""

    number: int
    id: str
    compared: bool
    orphaned: float


class SkippedTables(Transactions):
    """The tables `skipped`, `skipped_contents` and `orphans`."""

    @property
    def has_skipped(self) -> bool:
        """Whether there are the tables."""
        return self._has_table("orphans")

    def keep_skipped(self, rows: Mapping[str, SkippedRow | None], contents: Iterable[SkippedContent] = ()) -> None:
        """Remember skipped documents by their ids, in the place of what is known of these, and forget those that are None."""
        skipped = [row for row in rows.values() if row is not None]
        if skipped and not self.has_skipped:
            self._make_tables(TABLES)
        if not self.has_skipped:
            return
        if self._has_rows("orphans"):
            self._delete("orphans", "id", list(rows))
        if len(skipped) < len(rows):
            self._delete("skipped", "id", [name for name, row in rows.items() if row is None])
        sealed = ((*row, skipped_checksum(*row)) for row in skipped)
        self._write("INSERT OR REPLACE INTO skipped (id, survivor, digest, checksum) VALUES (?, ?, ?, ?)", sealed)
        self._write(
            "INSERT OR IGNORE INTO skipped_contents (survivor, digest, content, checksum) VALUES (?, ?, ?, ?)",
            ((*each, skipped_content_checksum(*each)) for each in contents),
        )

    def skipped_of(self, survivors: Sequence[int]) -> list[SkippedRow]:
        """The skipped documents of some kept ones, by these and then by their ids."""
        if not self.has_skipped:
            return []
        return sorted(
            (self._skipped(row) for row in self._rows_of("SELECT * FROM skipped WHERE survivor IN", survivors)),
            key=lambda row: (row.survivor, row.id),
        )

    def skipped_contents(self, survivors: Sequence[int]) -> dict[tuple[int, bytes], bytes]:
        """What is kept of the texts of skipped documents, by survivor and digest."""
        if not self.has_skipped:
            return {}
        found = map(self._skipped_content, self._rows_of("SELECT * FROM skipped_contents WHERE survivor IN", survivors))
        return {(row.survivor, row.digest): row.content for row in found}

    def forget_skipped(self, survivors: Sequence[int]) -> None:
        """Forget the skipped documents of some documents that went."""
        if self.has_skipped:
            for table in ("skipped", "skipped_contents"):
                self._delete(table, "survivor", survivors)

    def add_orphans(self, rows: Iterable[OrphanRow]) -> None:
        """Remember orphans."""
        self._make_tables(TABLES)
        sealed = ((*row, orphan_checksum(*row)) for row in rows)
        self._write("INSERT OR REPLACE INTO orphans VALUES (?, ?, ?, ?, ?)", sealed)

    def orphans(self, after: int, limit: int | None) -> list[OrphanRow]:
        """So many orphans, or all, with numbers above `after`, in their order; a DataError if a row is not what was written."""
        if not self.has_skipped:
            return []
        query = "SELECT * FROM orphans WHERE number > ? ORDER BY number LIMIT ?"
        return list(map(self._orphan, self._rows(query, (after, -1 if limit is None else limit))))

    def count_orphans(self) -> int:
        """How many there are."""
        return int(next(self._rows("SELECT count(*) FROM orphans"))[0]) if self.has_skipped else 0

    def drop_skipped(self) -> None:
        """Forget all skipped documents; the orphans stay."""
        if self.has_skipped:
            for table in ("skipped", "skipped_contents"):
                self._write(f"DELETE FROM {table}", [()])

    def skipped_from(self, number: int, limit: int) -> list[tuple[int, SkippedRow]]:
        """So many skipped documents with row numbers from one on, with these."""
        if not self.has_skipped:
            return []
        query = "SELECT * FROM skipped WHERE number >= ? ORDER BY number LIMIT ?"
        return [(row[0], self._skipped(row)) for row in self._rows(query, (number, limit))]

    def all_skipped(self, table: str) -> Iterator[tuple[Any, ...]]:
        """The rows of one of the tables, as they are in the file."""
        yield from self._rows(f"SELECT * FROM {table} ORDER BY number") if self.has_skipped else ()

    def _delete(self, table: str, column: str, values: Sequence[Any]) -> None:
        """Delete the rows with some values, many at a time: this takes half as long as one after another."""
        for first in range(0, len(values), SQL_VALUES):
            some = values[first : first + SQL_VALUES]
            self._write(f"DELETE FROM {table} WHERE {column} IN ({', '.join('?' * len(some))})", [some])

    def _has_rows(self, table: str) -> bool:
        return bool(list(self._rows(f"SELECT 1 FROM {table} LIMIT 1")))

    def _skipped(self, row: tuple[Any, ...]) -> SkippedRow:
        number, *values, checksum = row
        self._demand_whole("skipped", number, skipped_checksum, values, checksum)
        return SkippedRow(*values)

    def _skipped_content(self, row: tuple[Any, ...]) -> SkippedContent:
        number, *values, checksum = row
        self._demand_whole("skipped_contents", number, skipped_content_checksum, values, checksum)
        return SkippedContent(*values)

    def _orphan(self, row: tuple[Any, ...]) -> OrphanRow:
        self._demand_whole("orphans", row[0], orphan_checksum, row[:-1], row[-1])
        found = OrphanRow(*row[:-1])
        return found._replace(compared=bool(found.compared))

    def _renumber_skipped(self) -> None:
        """Give kept documents the numbers that they get: see the tables that `Record.renumber` makes."""
        if not self.has_skipped:
            return
        new = "(SELECT new FROM renumbered WHERE old = survivor)"
        for table in ("skipped", "skipped_contents"):
            self._base.execute(f"DELETE FROM {table} WHERE survivor NOT IN (SELECT old FROM renumbered)")
        self._base.execute(f"UPDATE skipped SET survivor = {new}, checksum = checksum + {new} - survivor")
        # first out of the way: no two rows may have the same survivor and digest, not even in between
        moved = "UPDATE skipped_contents SET survivor = -1 - {0}, checksum = checksum + {0} - survivor"
        self._base.execute(moved.format(new))
        self._base.execute("UPDATE skipped_contents SET survivor = -1 - survivor")
