"""SHARED SKIPPED DOCUMENTS: those of a store in PostgreSQL, and its orphans. Services read them in the database, not in a replica.

`skipped` and `skipped_contents` have numbers of documents, and go with the rows of these; `orphans` belong to the store. Who writes
holds the lock of the store. Checksums are those of the record, of what stays when a compaction gives other numbers.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from neardup.errors import DataError
from neardup.store.postgresql.places import DatabasePlace
from neardup.store.record.schema import agrees, orphan_checksum, skipped_checksum, skipped_content_checksum
from neardup.store.record.skipped_table import OrphanRow, SkippedContent, SkippedRow


class SharedSkipped:
    """The tables `skipped`, `skipped_contents` and `orphans`, and the columns of `stores` for them."""

    def __init__(self, place: DatabasePlace) -> None:
        self._shown, schema = place.shown, f'"{place.schema}"'
        self._skipped, self._contents, self._orphans, self._stores = (
            f"{schema}.{name}" for name in ("skipped", "skipped_contents", "orphans", "stores")
        )

    def write(
        self,
        connection: Any,
        store: str,
        rows: int,
        skipped: Mapping[str, SkippedRow | None],
        contents: Sequence[SkippedContent] = (),
    ) -> None:
        """Remember skipped documents by their ids, and forget those that are None. `store`, `rows`: see `Head`."""
        if skipped:
            names = list(skipped)
            connection.execute(f"DELETE FROM {self._orphans} WHERE store = %s AND id = ANY(%s)", (store, names))
            connection.execute(f"DELETE FROM {self._skipped} WHERE rows = %s AND id = ANY(%s)", (rows, names))
        if new := [(*row, skipped_checksum(*row._replace(survivor=0))) for row in skipped.values() if row is not None]:
            connection.execute(
                f"INSERT INTO {self._skipped} (rows, id, survivor, digest, checksum) "
                "SELECT %s, * FROM unnest(%s::text[], %s::bigint[], %b::bytea[], %s::bigint[])",
                (rows, *map(list, zip(*new, strict=True))),
            )
        if contents:
            sealed = [(*each, skipped_content_checksum(*each._replace(survivor=0))) for each in contents]
            connection.execute(
                f"INSERT INTO {self._contents} (rows, survivor, digest, content, checksum) "
                "SELECT %s, * FROM unnest(%s::bigint[], %b::bytea[], %b::bytea[], %s::bigint[]) ON CONFLICT DO NOTHING",
                (rows, *map(list, zip(*sealed, strict=True))),
            )

    def of(self, connection: Any, rows: int, survivors: Sequence[int]) -> list[SkippedRow]:
        """The skipped documents of some kept ones, by these and then by their ids."""
        query = f"SELECT id, survivor, digest, checksum FROM {self._skipped} WHERE rows = %s AND survivor = ANY(%s)"
        found = connection.execute(query, (rows, list(survivors)), binary=True).fetchall()
        return sorted(map(self._row, found), key=lambda row: (row.survivor, row.id))

    def contents(self, connection: Any, rows: int, survivors: Sequence[int]) -> dict[tuple[int, bytes], bytes]:
        """What is kept of the texts of skipped documents, by survivor and digest."""
        query = (
            f"SELECT survivor, digest, content, checksum FROM {self._contents} WHERE rows = %s AND survivor = ANY(%s)"
        )
        found = map(self._content, connection.execute(query, (rows, list(survivors)), binary=True).fetchall())
        return {(row.survivor, row.digest): row.content for row in found}

    def forget(self, connection: Any, rows: int, survivors: Sequence[int]) -> None:
        """Forget the skipped documents of some documents that went."""
        for table in (self._skipped, self._contents):
            connection.execute(f"DELETE FROM {table} WHERE rows = %s AND survivor = ANY(%s)", (rows, list(survivors)))

    def add_orphans(self, connection: Any, store: str, found: Sequence[tuple[str, bool]], now: float) -> int:
        """Remember orphans: their ids, and whether they were compared. Returns the number after which theirs come."""
        query = f"UPDATE {self._stores} SET orphans = orphans + %s WHERE id = %s RETURNING orphans"
        after = int(connection.execute(query, (len(found), store)).fetchone()[0]) - len(found)
        rows = [OrphanRow(after + i, *each, now) for i, each in enumerate(found, 1)]
        sealed = [(*row, orphan_checksum(*row)) for row in rows]
        connection.execute(
            f"INSERT INTO {self._orphans} (store, number, id, compared, orphaned, checksum) "
            "SELECT %s, * FROM unnest(%s::bigint[], %s::text[], %s::boolean[], %s::float8[], %s::bigint[]) "
            "ON CONFLICT (store, id) DO UPDATE SET number = excluded.number, compared = excluded.compared, "
            "orphaned = excluded.orphaned, checksum = excluded.checksum",
            (store, *map(list, zip(*sealed, strict=True))),
        )
        return after

    def orphans(self, connection: Any, store: str, after: int, limit: int | None) -> list[OrphanRow]:
        """So many orphans, or all, with numbers above `after`, in their order."""
        query = (
            f"SELECT number, id, compared, orphaned, checksum FROM {self._orphans} WHERE store = %s AND number > %s "
            "ORDER BY number LIMIT %s"
        )
        return list(map(self._orphan, connection.execute(query, (store, after, limit), binary=True).fetchall()))

    def count(self, connection: Any, store: str) -> int:
        """How many orphans there are."""
        found = connection.execute(f"SELECT count(*) FROM {self._orphans} WHERE store = %s", (store,)).fetchone()
        return int(found[0])

    def since(self, connection: Any, store: str) -> float | None:
        """Since when skipped documents are remembered; None since the store was made."""
        row = connection.execute(f"SELECT skipped_since FROM {self._stores} WHERE id = %s", (store,)).fetchone()
        return None if row is None or row[0] is None else float(row[0])

    def set_since(self, connection: Any, store: str, since: float | None) -> None:
        """Say since when."""
        connection.execute(f"UPDATE {self._stores} SET skipped_since = %s WHERE id = %s", (since, store))

    # ------------------------------------------------------------------------------------------------------------- upkeep

    def renumber(self, connection: Any, old: int, new: int, moved: str) -> None:
        """Give all skipped documents another key, and their survivors other numbers. `moved`: a table of these, `old_number` and
        `new_number`.
        """
        for table, columns in ((self._skipped, "id, digest, checksum"), (self._contents, "digest, content, checksum")):
            connection.execute(
                f"{moved} INSERT INTO {table} (rows, survivor, {columns}) SELECT %(new)s, new_number, {columns} "
                f"FROM {table} JOIN moved ON old_number = survivor WHERE rows = %(old)s",
                {"old": old, "new": new},
            )

    def delete_rows(self, connection: Any, rows: int) -> None:
        """Remove all skipped documents of rows with this key."""
        for table in (self._skipped, self._contents):
            connection.execute(f"DELETE FROM {table} WHERE rows = %s", (rows,))

    def remove_orphans(self, connection: Any, store: str) -> None:
        """Remove all orphans of a store."""
        connection.execute(f"DELETE FROM {self._orphans} WHERE store = %s", (store,))

    def problems(self, connection: Any, store: str, rows: int) -> Iterator[str]:
        """What is wrong with rows."""
        queries = (
            (f"SELECT id, survivor, digest, checksum FROM {self._skipped} WHERE rows = %s", rows, self._row),
            (f"SELECT survivor, digest, content, checksum FROM {self._contents} WHERE rows = %s", rows, self._content),
            (
                f"SELECT number, id, compared, orphaned, checksum FROM {self._orphans} WHERE store = %s",
                store,
                self._orphan,
            ),
        )
        for query, key, read in queries:
            for row in connection.execute(query, (key,), binary=True).fetchall():
                try:
                    read(row)
                except DataError as problem:
                    yield str(problem)

    def _row(self, row: Sequence[Any]) -> SkippedRow:
        found = SkippedRow(*row[:-1])
        self._demand(agrees(skipped_checksum, found._replace(survivor=0), row[-1]), f"skipped document {found.id}")
        return found

    def _content(self, row: Sequence[Any]) -> SkippedContent:
        found = SkippedContent(*row[:-1])
        is_whole = agrees(skipped_content_checksum, found._replace(survivor=0), row[-1])
        self._demand(is_whole, f"content of a skipped document of document {found.survivor:,}")
        return found

    def _orphan(self, row: Sequence[Any]) -> OrphanRow:
        found = OrphanRow(*row[:-1])
        self._demand(agrees(orphan_checksum, found, row[-1]), f"orphan {found.id}")
        return found

    def _demand(self, is_whole: bool, what: str) -> None:
        if not is_whole:
            raise DataError(f"{self._shown} is damaged: the {what} is not what was written. Restore the database.")
