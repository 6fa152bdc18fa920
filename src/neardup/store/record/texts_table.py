"""KEPT TEXTS: the part of a record that has the texts as they were given, of kept documents and of remembered duplicates.

The tables are made with the store, if it is to keep texts. A text that a repair has lost is null. Rows have no checksum besides the
seal of the text, which does not depend on the number: a compaction gives other numbers.
"""

from collections.abc import Iterable, Sequence

from neardup.store.record.sealed_texts import Original
from neardup.store.record.transactions import Transactions

TABLES = """
CREATE TABLE IF NOT EXISTS texts (number INTEGER PRIMARY KEY, text BLOB) STRICT;
CREATE TABLE IF NOT EXISTS removed_texts (
    number INTEGER PRIMARY KEY,
    survivor INTEGER NOT NULL,
    id TEXT NOT NULL,
    text BLOB
) STRICT;
CREATE INDEX IF NOT EXISTS removed_texts_of ON removed_texts (survivor)
"""


class KeptTexts(Transactions):
    """The tables `texts` and `removed_texts`."""

    @property
    def has_texts(self) -> bool:
        """Whether there are tables of texts."""
        return self._has_table("removed_texts")

    def demand_texts(self) -> None:
        """Refuse (DataError) a record that should have texts, and lacks the tables."""
        if not self.has_texts:
            raise self._damage("the table `removed_texts` is missing")

    def make_texts(self) -> None:
        """Make the tables."""
        self._make_tables(TABLES)

    def add_texts(self, numbers: Iterable[int], given: Iterable[Original]) -> None:
        """Keep the texts of kept documents."""
        rows = ((number, each.sealed) for number, each in zip(numbers, given, strict=True))
        self._write("INSERT INTO texts VALUES (?, ?)", rows)

    def add_removed_texts(self, numbers: Iterable[int], survivors: Iterable[int], given: Iterable[Original]) -> None:
        """Keep the texts of remembered duplicates, with the ids of the documents that came."""
        rows = ((number, survivor, *each) for number, survivor, each in zip(numbers, survivors, given, strict=True))
        self._write("INSERT INTO removed_texts VALUES (?, ?, ?, ?)", rows)

    def texts(self, names: dict[int, str]) -> dict[int, Original]:
        """The texts of kept documents, whose ids are given as JSON by number, of those that there are."""
        found = self._rows_of("SELECT number, text FROM texts WHERE number IN", list(names))
        return {number: Original(names[number], text) for number, text in found}

    def removed_texts(self, numbers: Sequence[int]) -> dict[int, Original]:
        """The texts of remembered duplicates with those of these numbers that there are."""
        found = self._rows_of("SELECT number, id, text FROM removed_texts WHERE number IN", numbers)
        return {number: Original(name, text) for number, name, text in found}

    def lose_texts(self, table: str, numbers: Iterable[int]) -> None:
        """Let texts be lost that are damaged or missing: a repair can do no more."""
        if table == "texts":
            self._write("INSERT OR REPLACE INTO texts VALUES (?, NULL)", ((number,) for number in numbers))
            return
        self._write(
            "INSERT OR REPLACE INTO removed_texts SELECT number, survivor, "
            "coalesce((SELECT id FROM removed_texts AS there WHERE there.number = removed.number), 'null'), NULL "
            "FROM removed WHERE number = ?",
            ((number,) for number in numbers),
        )

    def _forget_texts(self, numbers: Sequence[int]) -> None:
        """Forget the texts of documents."""
        self._write("DELETE FROM texts WHERE number = ?", ((number,) for number in numbers))

    def forget_removed_texts(self, survivors: Sequence[int]) -> None:
        """Forget the texts of the duplicates of documents."""
        self._write("DELETE FROM removed_texts WHERE survivor = ?", ((number,) for number in survivors))

    def _renumber_texts(self) -> None:
        """Give texts the numbers that documents and remembered duplicates get: see the tables that `Record.renumber` makes."""
        if not self.has_texts:
            return
        moved = self._base.execute("SELECT new, old FROM renumbered WHERE new <> old ORDER BY old").fetchall()
        self._base.executemany("UPDATE texts SET number = ? WHERE number = ?", moved)
        moved = self._base.execute("SELECT rowid - 1, new, number FROM kept ORDER BY rowid").fetchall()
        self._base.executemany("UPDATE removed_texts SET number = ?, survivor = ? WHERE number = ?", moved)
