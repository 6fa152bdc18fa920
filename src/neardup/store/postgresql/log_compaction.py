"""COMPACT the log of a store in PostgreSQL: give up the room of what was forgotten."""

from typing import Any

from neardup.store.postgresql.log import Log, commit
from neardup.store.postgresql.log_rows import Head

KEPT_CHANGES = 100_000
"""Changes that a compaction lets stay."""


def compact_log(log: Log, connection: Any, head: Head, at: float) -> bool:
    """Give all rows that are not forgotten numbers from 0 on, under another key, and commit; returns False if all are there.

    `head`: what the change is called. The last changes stay, without what they have seen and forgotten, so that replicas find
    the ones that they know.
    """
    t, old = log.tables, head.rows
    gone = connection.execute(
        f"SELECT EXISTS (SELECT 1 FROM {t['documents']} WHERE rows = %(old)s AND content IS NULL)", {"old": old}
    )
    if not gone.fetchone()[0]:
        return False
    new = connection.execute(f"SELECT nextval('{t['row_keys']}')").fetchone()[0]
    values = {"old": old, "new": new, "at": at, "kept": KEPT_CHANGES}
    values |= {"position": head.position, "request": head.request}
    documents = connection.execute(
        f"WITH last AS (SELECT DISTINCT ON (seen_number) seen_number, at FROM {t['changes']}, unnest(seen) AS seen_number "
        "WHERE rows = %(old)s ORDER BY seen_number, position DESC) "
        f"INSERT INTO {t['documents']} (rows, number, id, first_seen, last_seen, expires, metadata, rank, content, checksum, "
        "text) SELECT %(new)s, row_number() OVER (ORDER BY number) - 1, id, first_seen, coalesce(last.at, last_seen), expires, "
        f"metadata, rank, content, checksum, text FROM {t['documents']} LEFT JOIN last ON seen_number = number "
        "WHERE rows = %(old)s AND content IS NOT NULL",
        values,
    ).rowcount
    removed = connection.execute(
        "WITH moved AS (SELECT number AS old_number, row_number() OVER (ORDER BY number) - 1 AS new_number "
        f"FROM {t['documents']} WHERE rows = %(old)s AND content IS NOT NULL) "
        f"INSERT INTO {t['removed']} (rows, number, digest, survivor, similarity, distance, last_seen, checksum, id, text) "
        "SELECT %(new)s, row_number() OVER (ORDER BY number) - 1, digest, new_number, similarity, distance, last_seen, "
        f"checksum, id, text FROM {t['removed']} JOIN moved ON old_number = survivor "
        "WHERE rows = %(old)s AND digest IS NOT NULL",
        values,
    ).rowcount
    connection.execute(
        f"INSERT INTO {t['changes']} (rows, position, request, at) SELECT %(new)s, position, request, at "
        f"FROM {t['changes']} WHERE rows = %(old)s AND position > %(position)s - %(kept)s",
        values,
    )
    connection.execute(
        f"INSERT INTO {t['changes']} (rows, position, request, at) VALUES (%(new)s, %(position)s, %(request)s, %(at)s)",
        values,
    )
    connection.execute(
        f"UPDATE {t['stores']} SET rows = %(new)s, position = %(position)s, request = %(request)s, base = %(position)s, "
        "documents = %(documents)s, removed = %(removed)s WHERE name = %(name)s",
        values | {"documents": documents, "removed": removed, "name": log.name},
    )
    log.delete_rows(connection, old)
    commit(connection)
    return True
