"""CATCH UP: bring a replica to the head of the log, from what the tables have for the numbers that it has not.

A log is read up to a head of it, in one transaction: from what was read ahead with the lock, as far as that goes.

Nothing is decided again: what a service has decided is written with its numbers, so every replica gets the same documents under
the same numbers, whatever its version or its recipe's packages.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from neardup.errors import DataError, InputError
from neardup.store.formats.row_contents import texts_of_contents
from neardup.store.postgresql.log import Log
from neardup.store.postgresql.log_rows import Ahead, Change, Head, StoredRemoved, StoredRow, sealed, sealed_removed
from neardup.store.postgresql.problems import LaggingError
from neardup.store.postgresql.replicas import Followed, OutdatedError, Replica
from neardup.store.record.documents_table import DocumentRow, RemovedRow
from neardup.store.session.writer import Files


class Reading:
    """A transaction that reads, and the head that it has read.

    Attributes:
        head: how far the log goes.
        server: that was asked, as messages show it.
    """

    def __init__(self, log: Log, connection: Any, head: Head, ahead: Ahead | None = None, *, shown: str) -> None:
        """`shown`: the place of the store."""
        self._log, self._connection, self.head = log, connection, head
        info = connection.info
        self.server = f"{shown} (asked: {info.host}:{info.port})" if "," in shown else shown
        self._ahead = ahead if ahead is not None and ahead.known.rows == head.rows else None

    def replayed(self) -> str | None:
        """How far a stand-by has come in the log of its server; None if this is none."""
        (place,) = self._connection.execute(
            "SELECT CASE WHEN pg_is_in_recovery() THEN coalesce(pg_last_wal_replay_lsn()::text, 'nothing') END"
        ).fetchone()
        return None if place is None else str(place)

    def request_at(self, position: int) -> str | None:
        """The request of a change; None if there is none of this number."""
        if self._ahead is not None and self._ahead.known.position == position:
            return self._ahead.request
        return self._log.request_at(self._connection, self.head.rows, position)

    def documents(self, first: int, upto: int) -> list[StoredRow]:
        """See `Log.documents`."""
        ahead = self._ahead
        if ahead is not None and ahead.known.documents == first and len(ahead.documents) >= upto - first:
            return ahead.documents[: upto - first]
        return self._log.documents(self._connection, self.head.rows, first, upto)

    def removed(self, first: int, upto: int) -> list[StoredRemoved]:
        """See `Log.removed`."""
        ahead = self._ahead
        if ahead is not None and ahead.known.removed == first and len(ahead.removed) >= upto - first:
            return ahead.removed[: upto - first]
        return self._log.removed(self._connection, self.head.rows, first, upto)

    def changes(self, after: int) -> Iterable[Change]:
        """The changes after a position up to the head."""
        ahead, count = self._ahead, self.head.position - after
        if ahead is not None and ahead.known.position == after and len(ahead.changes) == count:
            return ahead.changes
        return self._log.changes(self._connection, self.head.rows, after, self.head.position)


DOCUMENTS_AT_ONCE = 1 << 11
"""Documents that are read together."""
FORGOTTEN = b"\0" * 16
"""The digest of a text whose survivor was forgotten."""


def demand_history(log: Reading, at: Followed) -> None:
    """Refuse a log that has not what the replica has.

    Raises:
        InputError: the database has lost changes, or is another.
        LaggingError: it is a stand-by, which has not got all of them yet.
        OutdatedError: the replica must be made anew.
    """
    head = log.head
    if head.id != at.store:
        raise InputError(f"{log.server} is another store than it was: it was made anew. Open it again.")
    found = log.request_at(at.position) if at.position else at.request
    if found != at.request and (at.position >= head.position or found is not None or at.rows == head.rows):
        if at.position > head.position and (replayed := log.replayed()) is not None:
            raise LaggingError(log.server, at.position, head.position, replayed)
        raise InputError(
            f"{log.server} has not the change {at.position:,} that this service knows: the database has gone back to an "
            "older state, as after a restore, or a fail-over to a stand-by that lagged. Documents that were acknowledged may be "
            "missing there. Bring the right database back; or to go on with what this one has, remove the replica {folder}, and "
            "open the store again. The replica is a store, and has what the database has lost: `neardup store export` it before."
        )
    if at.rows != head.rows:
        raise OutdatedError("the store was compacted")
    if at.upto is not None and log.request_at(at.upto) != at.upto_request:
        raise OutdatedError


def catch_up(replica: Replica, log: Reading) -> None:
    """Give a replica all that it lacks; `Replica.follows` is to be called then.

    Raises:
        InputError, OutdatedError: see `demand_history`.
        DataError: the tables have not what was written.
    """
    files, at, head = replica.files, replica.at, log.head
    demand_history(log, at)
    if at.upto is None and replica.counts != (at.documents, at.removed):
        raise OutdatedError
    fact = {"replica": at.on_the_way(head).to_store()}
    while (first := len(files.contents)) < head.documents:
        rows = log.documents(first, min(first + DOCUMENTS_AT_ONCE, head.documents))
        with replica.part():
            _keep(files, rows, first, log.server)
        files.acknowledge(fact)
    while (first := files.removed) < head.removed:
        removed = _removed(log.removed(first, min(first + DOCUMENTS_AT_ONCE, head.removed)), first, log.server)
        with replica.part():
            files.keep(replica.no_texts, [], removed, set(), 0.0)
        files.acknowledge(fact)
    if replica.counts != (head.documents, head.removed):
        raise OutdatedError
    _follow_changes(replica, log)


def _keep(files: Files, rows: Sequence[StoredRow], first: int, shown: str) -> None:
    """Keep some documents; those that were forgotten since take their numbers without content."""
    _demand_numbers([each.row.number for each in rows], first, shown, "documents")
    there = np.array([each.content is not None for each in rows], np.bool_)
    for each in rows:
        if each.content is not None and sealed(each.row, each.content) != each:
            raise DataError(
                f"{shown} is damaged: document {each.row.number:,} is not what was written. Restore the database."
            )
    nothing = DocumentRow(0, "null", 0.0, 0.0)
    begin = 0
    while begin < len(rows):  # runs of documents that are there, or not
        end = begin + 1
        while end < len(rows) and there[end] == there[begin]:
            end += 1
        some = rows[begin:end]
        if there[begin]:
            contents = [each.content or b"" for each in some]
            texts = texts_of_contents(files.layout, contents, shown)
            files.keep(texts, [each.row for each in some], [], set(), 0.0)
        else:
            nothings = [nothing._replace(number=each.row.number) for each in some]
            files.keep(files.texts([""] * len(some)), nothings, [], set(), 0.0)
            files.forget(np.array([each.row.number for each in some], np.int64))
        begin = end


def _removed(rows: Sequence[StoredRemoved], first: int, shown: str) -> list[RemovedRow]:
    _demand_numbers([each.row.number for each in rows], first, shown, "removed")
    found = []
    for each in rows:
        row = each.row
        if row.digest is None:
            found.append(row._replace(digest=FORGOTTEN))
        elif sealed_removed(row) == each:
            found.append(row)
        else:
            raise DataError(
                f"{shown} is damaged: text {row.number:,} of `removed` is not what was written. Restore the database."
            )
    return found


def _demand_numbers(numbers: Sequence[int], first: int, shown: str, table: str) -> None:
    """Refuse rows some of which are missing."""
    if list(numbers) != list(range(first, first + len(numbers))) or not numbers:
        raise DataError(f"{shown} is damaged: rows of `{table}` from {first:,} on are missing. Restore the database.")


def _follow_changes(replica: Replica, log: Reading) -> None:
    """What changes have seen and forgotten."""
    files, at = replica.files, replica.at
    seen: dict[float, set[int]] = {}
    last: dict[int, float] = {}
    forgot: list[int] = []
    count = 0
    head = log.head
    begin = max(at.position, head.base)  # what was before is in the rows
    for change in log.changes(begin):
        count += 1
        last.update((number, max(change.at, last.get(number, 0.0))) for number in change.seen)
        forgot += change.forgot
    if count != head.position - begin:
        raise DataError(
            f"{log.server} is damaged: rows of `changes` after {begin:,} are missing. Restore the database."
        )
    for number, when in last.items():
        seen.setdefault(when, set()).add(number)
    gone = np.unique(np.array(forgot, np.int64))
    if not seen and not forgot:
        return
    with replica.part():
        for when, numbers in seen.items():
            files.keep(replica.no_texts, [], [], numbers, when)
        files.forget(gone[~files.gone.has(gone)])
