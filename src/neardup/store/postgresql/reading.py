"""READ a log up to a head of it, in one transaction: from what was read ahead with the lock, as far as that goes."""

from collections.abc import Iterable
from typing import Any

from neardup.store.postgresql.log import Log
from neardup.store.postgresql.log_rows import Ahead, Change, Head, StoredRemoved, StoredRow


class Reading:
    """A transaction that reads, and the head that it has read.

    Attributes:
        head: how far the log goes.
    """

    def __init__(self, log: Log, connection: Any, head: Head, ahead: Ahead | None = None) -> None:
        self._log, self._connection, self.head = log, connection, head
        self._ahead = ahead if ahead is not None and ahead.known.rows == head.rows else None

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
