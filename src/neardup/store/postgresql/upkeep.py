"""UPKEEP of a store in PostgreSQL: room, and checks."""

import dataclasses
import secrets
from itertools import zip_longest
from typing import Any

import numpy as np

from neardup.errors import DataError
from neardup.store.answers import StoreCheck
from neardup.store.formats.row_contents import contents_of
from neardup.store.postgresql.catching_up import Reading
from neardup.store.postgresql.log import Log, commit
from neardup.store.postgresql.log_rows import Head, sealed
from neardup.store.postgresql.problems import LostError
from neardup.store.postgresql.shared_files import ROWS_AT_ONCE, SharedFiles
from neardup.store.upkeep import verify as checking

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
        f"WITH last AS (SELECT seen_number, max(at) AS at FROM {t['changes']}, unnest(seen) AS seen_number "
        "WHERE rows = %(old)s GROUP BY seen_number) "
        f"INSERT INTO {t['documents']} (rows, number, id, first_seen, last_seen, expires, metadata, rank, content, checksum, "
        "text) SELECT %(new)s, row_number() OVER (ORDER BY number) - 1, id, first_seen, greatest(last.at, last_seen), expires, "
        f"metadata, rank, content, checksum, text FROM {t['documents']} LEFT JOIN last ON seen_number = number "
        "WHERE rows = %(old)s AND content IS NOT NULL",
        values,
    ).rowcount
    moved = (
        "WITH moved AS (SELECT number AS old_number, row_number() OVER (ORDER BY number) - 1 AS new_number "
        f"FROM {t['documents']} WHERE rows = %(old)s AND content IS NOT NULL)"
    )
    removed = connection.execute(
        f"{moved} INSERT INTO {t['removed']} (rows, number, digest, survivor, similarity, distance, last_seen, checksum, id, text) "
        "SELECT %(new)s, row_number() OVER (ORDER BY number) - 1, digest, new_number, similarity, distance, last_seen, "
        f"checksum, id, text FROM {t['removed']} JOIN moved ON old_number = survivor "
        "WHERE rows = %(old)s AND digest IS NOT NULL",
        values,
    ).rowcount
    log.skipped.renumber(connection, old, new, moved)
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


def compact_shared(files: SharedFiles) -> bool:
    """Give up the room that the database has for what was forgotten; all replicas are made anew. Returns False if it has none."""
    files.demand_writable()
    try:
        before = files.follower.begin()
        after = before._replace(position=before.position + 1, request=secrets.token_hex(8))
        try:
            is_done = files.database.once(lambda connection: compact_log(files.log, connection, after, files.clock()))
        except LostError as problem:
            files.database.drop()
            if not files.follower.has_arrived(after):
                raise problem from None
            is_done = True
    finally:
        files.database.roll_back()
    if is_done:
        files.follower.look()
    return is_done


def verify_shared(files: SharedFiles) -> StoreCheck:
    """Read every byte of the replica, and of the database, and compare both."""
    found = checking.check_files(files)
    differing = files.database.run(lambda connection: _differences(files, connection))
    return dataclasses.replace(found, problems=(*found.problems, *differing))


def _differences(files: SharedFiles, connection: Any) -> list[str]:
    """What is wrong with the database, or differs from it."""
    head = files.follower.demand_there(files.log.begin_reading(connection))
    files.follower.bring_to(Reading(files.log, connection, head, shown=files.shown))
    found, shown = list[str](), files.place.shown
    first = 0
    while first < head.documents:
        rows = files.log.documents(connection, head.rows, first, min(first + ROWS_AT_ONCE, head.documents))
        if not rows:
            raise DataError(
                f"{shown} is damaged: rows of `documents` from {first:,} on are missing. Restore the database."
            )
        first = rows[-1].row.number + 1
        there = [(each, each.content) for each in rows if each.content is not None]
        numbers = np.array([each.row.number for each, _ in there], np.int64)
        texts = files.contents.texts(numbers[~files.gone.has(numbers)])
        own = contents_of(files.layout, texts) if len(texts) == len(there) else []
        for (each, content), mine in zip_longest(there, own):
            if sealed(each.row, content) != each:
                found.append(f"{shown}: document {each.row.number:,} is not what was written.")
            elif content != mine:
                found.append(
                    f"Document {each.row.number:,} of the replica is not that of the database. Remove the replica."
                )
    found += files.log.notes.problems(connection, head.id)
    found += files.log.judgements.problems(connection, head.id)
    found += files.log.skipped.problems(connection, head.id, head.rows)
    commit(connection)
    return found
