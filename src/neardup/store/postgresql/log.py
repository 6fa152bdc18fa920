"""The LOG of a store in PostgreSQL: what is read and written of its tables, in few round trips.

Who changes a store holds its advisory lock until the transaction ends, so positions and numbers have no gaps, and are committed in
their order. The lock and what is read under it are separate statements: at READ COMMITTED, each sees what was committed before it
began, which must be after the lock was given.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from neardup.store.postgresql.log_rows import (
    Ahead,
    Change,
    Head,
    Known,
    StoredRemoved,
    StoredRow,
    changes_of,
    documents_of,
    removed_of,
)
from neardup.store.postgresql.places import DatabasePlace
from neardup.store.postgresql.problems import LOCK_SECONDS, SILENT_SECONDS
from neardup.store.postgresql.shared_judgements import SharedJudgements, SharedNotes
from neardup.store.postgresql.shared_skipped import SharedSkipped
from neardup.store.record.sealed_texts import Original

_SETTINGS = """SELECT set_config('lock_timeout', %s, true), set_config('idle_in_transaction_session_timeout', %s, true),
set_config('tcp_keepalives_idle', '15', true), set_config('tcp_keepalives_interval', '5', true),
set_config('tcp_keepalives_count', '3', true), set_config('synchronous_commit',
CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)"""
"""Of a transaction that holds the lock: a machine that vanishes gives it back in half a minute."""


class Log:
    """The tables of one store.

    Attributes:
        name: of the store.
        tables: the names of the tables, with their schema.
        notes, judgements, skipped: see their modules.
    """

    def __init__(self, place: DatabasePlace) -> None:
        self.name, schema, self.notes = place.store, f'"{place.schema}"', SharedNotes(place)
        self.judgements, self.skipped = SharedJudgements(place), SharedSkipped(place)
        self.tables = {name: f"{schema}.{name}" for name in ("stores", "changes", "documents", "removed", "row_keys")}
        t = self.tables
        self._head = (
            f"SELECT id, rows, position, request, documents, removed, base, state FROM {t['stores']} WHERE name = %s"
        )
        self._request = f"SELECT request FROM {t['changes']} WHERE rows = %s AND position = %s"
        self._documents = (
            "SELECT number, id, first_seen, last_seen, expires, metadata, rank, content, checksum "
            "FROM (SELECT *, sum(octet_length(content)) OVER (ORDER BY number) AS bytes, row_number() OVER (ORDER BY number) AS "
            f"place FROM {t['documents']} WHERE rows = %s AND number >= %s AND number < %s) AS part "
            f"WHERE place = 1 OR bytes IS NULL OR bytes <= {MAX_BYTES} ORDER BY number"
        )
        self._removed = (
            "SELECT number, digest, survivor, similarity, distance, last_seen, checksum "
            f"FROM {t['removed']} WHERE rows = %s AND number >= %s AND number < %s ORDER BY number"
        )
        self._changes = (
            f"SELECT at, seen, forgot FROM {t['changes']} "
            "WHERE rows = %s AND position > %s AND position <= %s ORDER BY position"
        )

    # --------------------------------------------------------------------------------------------------------- stores

    def facts(self, connection: Any) -> str | None:
        """The facts of the store, as JSON; None if there is no such store."""
        query = f"SELECT facts FROM {self.tables['stores']} WHERE name = %s"
        row = connection.execute(query, (self.name,)).fetchone()
        return None if row is None else str(row[0])

    def create(self, connection: Any, identity: str, facts: str) -> None:
        """Make the store, unless there is one of its name."""
        connection.execute(
            f"INSERT INTO {self.tables['stores']} (name, id, rows, facts) "
            f"VALUES (%s, %s, nextval('{self.tables['row_keys']}'), %s) ON CONFLICT (name) DO NOTHING",
            (self.name, identity, facts),
        )

    def set_fact(self, connection: Any, name: str, value: Any) -> None:
        """Add a fact to those of the store."""
        facts = json.dumps(json.loads(self.facts(connection) or "{}") | {name: value}, sort_keys=True)
        connection.execute(f"UPDATE {self.tables['stores']} SET facts = %s WHERE name = %s", (facts, self.name))

    def head(self, connection: Any) -> Head | None:
        """How far the store has come; None if it is not there."""
        row = connection.execute(self._head, (self.name,)).fetchone()
        return None if row is None else Head(*row)

    # ------------------------------------------------------------------------------------------------------ transactions

    def begin_reading(self, connection: Any) -> Head | None:
        """Read the store as it is now until the transaction ends, whatever others write."""
        with connection.pipeline():
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            found = connection.execute(self._head, (self.name,))
        row = found.fetchone()
        return None if row is None else Head(*row)

    def begin_deciding(
        self, connection: Any, identity: str, known: Known, keys: Sequence[str]
    ) -> tuple[Head | None, Ahead]:
        """Begin a transaction that alone may change the store, and read how far it has come, some of what comes after what is
        known, the notes with these keys, and the time of the database; one round trip.
        """
        with connection.pipeline():
            connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
            connection.execute(_SETTINGS, (f"{LOCK_SECONDS}s", f"{SILENT_SECONDS}s"))
            connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"neardup store {identity}",))
            clock = connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
            found = connection.execute(self._head, (self.name,))
            rows = known.rows
            request = connection.execute(self._request, (rows, known.position))
            documents = connection.execute(
                self._documents, (rows, known.documents, known.documents + ROWS_AHEAD), binary=True
            )
            removed = connection.execute(self._removed, (rows, known.removed, known.removed + ROWS_AHEAD), binary=True)
            changes = connection.execute(
                self._changes, (rows, known.position, known.position + ROWS_AHEAD), binary=True
            )
            noted = self.notes.ask(connection, identity, keys) if keys else None
        row, asked = found.fetchone(), request.fetchone()
        ahead = Ahead(
            known,
            None if asked is None else asked[0],
            documents_of(documents),
            removed_of(removed),
            changes_of(changes),
            {} if noted is None else self.notes.read(noted),
            clock.fetchone()[0],
        )
        return None if row is None else Head(*row), ahead

    def request_at(self, connection: Any, rows: int, position: int) -> str | None:
        """The request of a change; None if there is none of this number."""
        row = connection.execute(self._request, (rows, position)).fetchone()
        return None if row is None else str(row[0])

    # ------------------------------------------------------------------------------------------------------------ reading

    def documents(self, connection: Any, rows: int, first: int, upto: int) -> list[StoredRow]:
        """The documents with numbers from `first` on before `upto`, in their order: one, or as many as have `MAX_BYTES`."""
        return documents_of(connection.execute(self._documents, (rows, first, upto), binary=True))

    def removed(self, connection: Any, rows: int, first: int, upto: int) -> list[StoredRemoved]:
        """The texts that were not kept with such numbers, in their order, and their checksums; without digest if forgotten."""
        return removed_of(connection.execute(self._removed, (rows, first, upto), binary=True))

    def changes(self, connection: Any, rows: int, after: int, upto: int) -> Iterator[Change]:
        """The changes after a position up to another one, in their order."""
        for first in range(after, upto, CHANGES_AT_ONCE):
            yield from changes_of(
                connection.execute(self._changes, (rows, first, min(first + CHANGES_AT_ONCE, upto)), binary=True)
            )

    def originals(self, connection: Any, rows: int, names: Mapping[int, str]) -> dict[int, Original]:
        """The texts of kept documents, whose ids are given as JSON by number, of those that there are."""
        query = "SELECT number, text FROM {} WHERE rows = %s AND number = ANY(%s) AND content IS NOT NULL"
        found = connection.execute(query.format(self.tables["documents"]), (rows, list(names)), binary=True)
        return {number: Original(names[number], text) for number, text in found.fetchall()}

    def removed_originals(self, connection: Any, rows: int, numbers: Sequence[int]) -> dict[int, Original]:
        """The texts of remembered duplicates with those of these numbers that there are."""
        query = "SELECT number, id, text FROM {} WHERE rows = %s AND number = ANY(%s) AND digest IS NOT NULL"
        found = connection.execute(query.format(self.tables["removed"]), (rows, list(numbers)), binary=True)
        return {number: Original(name or "null", text) for number, name, text in found.fetchall()}

    # ------------------------------------------------------------------------------------------------------------ writing

    def write_rows(
        self, connection: Any, rows: int, documents: Sequence[StoredRow], removed: Sequence[StoredRemoved]
    ) -> None:
        """Write documents, and texts that were not kept; a statement for each `MAX_BYTES` of documents."""
        for some in _parts(documents):
            columns = [list(column) for column in zip(*((*each.row, *each[1:]) for each in some), strict=True)]
            connection.execute(
                f"INSERT INTO {self.tables['documents']} "
                "(rows, number, id, first_seen, last_seen, expires, metadata, rank, content, checksum, text) "
                "SELECT %s, * FROM unnest(%s::bigint[], %s::text[], %s::float8[], %s::float8[], %s::float8[], %s::text[], "
                "%s::float8[], %b::bytea[], %s::bigint[], %b::bytea[])",
                (rows, *columns),
            )
        if removed:
            columns = [list(column) for column in zip(*((*each.row, *each[1:]) for each in removed), strict=True)]
            connection.execute(
                f"INSERT INTO {self.tables['removed']} "
                "(rows, number, digest, survivor, similarity, distance, last_seen, checksum, id, text) "
                "SELECT %s, * FROM unnest(%s::bigint[], %b::bytea[], %s::bigint[], %s::float8[], %s::int[], %s::float8[], "
                "%s::bigint[], %s::text[], %b::bytea[])",
                (rows, *columns),
            )

    def write_change(self, connection: Any, head: Head, change: Change) -> None:
        """Write the last change of a transaction, which `head` tells, and what it forgot."""
        if change.forgot:
            of = (head.rows, change.forgot)
            connection.execute(
                f"UPDATE {self.tables['documents']} SET id = NULL, metadata = NULL, content = NULL, text = NULL "
                "WHERE rows = %s AND number = ANY(%s)",
                of,
            )
            connection.execute(
                f"UPDATE {self.tables['removed']} SET digest = NULL, id = NULL, text = NULL "
                "WHERE rows = %s AND survivor = ANY(%s)",
                of,
            )
        connection.execute(
            f"INSERT INTO {self.tables['changes']} VALUES (%s, %s, %s, %s, %s, %s)",
            (head.rows, head.position, head.request, change.at, change.seen or None, change.forgot or None),
        )
        connection.execute(
            f"UPDATE {self.tables['stores']} SET position = %s, request = %s, documents = %s, removed = %s, state = %s "
            "WHERE name = %s",
            (head.position, head.request, head.documents, head.removed, head.state, self.name),
        )

    # ------------------------------------------------------------------------------------------------------------- upkeep

    def rename(self, connection: Any, name: str) -> None:
        """Give the store another name."""
        query = f"UPDATE {self.tables['stores']} SET name = %s WHERE name = %s"
        connection.execute(query, (name, self.name))
        self.name = name

    def drop(self, connection: Any) -> None:
        """Remove the store."""
        connection.execute("BEGIN")
        head = self.head(connection)
        if head is not None:
            self.delete_rows(connection, head.rows)
            self.notes.remove(connection, head.id)
            self.judgements.remove(connection, head.id)
            self.skipped.remove_orphans(connection, head.id)
        connection.execute(f"DELETE FROM {self.tables['stores']} WHERE name = %s", (self.name,))
        commit(connection)

    def delete_rows(self, connection: Any, rows: int) -> None:
        """Remove all rows with this key."""
        for name in ("documents", "removed", "changes"):
            connection.execute(f"DELETE FROM {self.tables[name]} WHERE rows = %s", (rows,))
        self.skipped.delete_rows(connection, rows)


CHANGES_AT_ONCE = 1 << 12
"""Changes that are read together."""
MAX_BYTES = 1 << 25
"""Bytes of documents that are read or written together, unless one has more."""
ROWS_AHEAD = 1 << 8
"""Rows of each table that are read together with the lock."""


def commit(connection: Any) -> None:
    """End the transaction."""
    connection.execute("COMMIT")


def _parts(documents: Sequence[StoredRow]) -> Iterator[list[StoredRow]]:
    """Documents some at a time, so that no part has more than `MAX_BYTES` but one of a single document."""
    part, size = list[StoredRow](), 0
    for each in documents:
        more = len(each.content or b"") + len(each.text or b"")
        if part and size + more > MAX_BYTES:
            yield part
            part, size = [], 0
        part.append(each)
        size += more
    if part:
        yield part
