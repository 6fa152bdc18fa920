"""SHARED FILES: a replica of a store in PostgreSQL, which follows its log, and writes to it what it decides.

To decide, a service takes the lock of the store, catches up, decides as any store does, and writes what was decided to the log.
The commit there is the moment from which the change is. The replica keeps it afterwards, in its own time: a process that ends
before finds it in the log.
"""

import contextlib
import json
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from neardup.arrays import Array
from neardup.errors import DataError, InputError, NeardupError, OptionError, TransferError
from neardup.recipe.presets import RecipeLike
from neardup.store.calls import demand_process
from neardup.store.duration import seconds_of
from neardup.store.files import Files
from neardup.store.open_files import Durable, Mode
from neardup.store.opening import REPLICA, BusyError
from neardup.store.postgresql import catching_up, replicas
from neardup.store.postgresql.connection import Database
from neardup.store.postgresql.facts import SharedFacts, shared_facts
from neardup.store.postgresql.log import Change, Head, Log, StoredRow, commit
from neardup.store.postgresql.places import database_place
from neardup.store.postgresql.problems import LostError, UnknownOutcomeError
from neardup.store.postgresql.replica_files import ReplicaFiles
from neardup.store.postgresql.replicas import Followed, OutdatedError
from neardup.store.postgresql.row_contents import contents_of
from neardup.store.record import DocumentRow, RemovedRow
from neardup.store.texts import Texts

AT_ONCE = 1 << 10
"""Rows that are written together."""
FAR = 1 << 14
"""So many documents behind, a service catches up before it takes the lock."""
R = TypeVar("R")
_LOG = logging.getLogger("neardup.store")


class Pending:
    """What a call has changed so far, and is not written yet."""

    def __init__(self) -> None:
        self.at = 0.0
        self.documents: list[StoredRow] = []
        self.removed: list[tuple[RemovedRow, int]] = []
        self.seen, self.forgot, self.is_anything = set[int](), list[int](), False


class SharedFiles(ReplicaFiles):
    """The files of a replica; see `Files`. Threads take turns; calls of one process follow each other as those of several do."""

    def __init__(
        self,
        path: str,
        *,
        mode: Mode,
        wait: float,
        durable: Durable,
        threads: int | None,
        recipe: RecipeLike | None,
        given: Mapping[str, Any],
    ) -> None:
        """Open the replica of a store, or create both; see `Store`.

        Raises:
            InputError, OptionError, RecipeMismatch, DataError: see `Store`.
            TransferError: the database cannot be reached.
            MissingExtra: psycopg is not installed.
        """
        for name, value, allowed in (("mode", mode, ("r", "w")), ("durable", durable, ("each", "batch"))):
            if value not in allowed:
                raise OptionError(f"`{name}={value!r}`: give one of {', '.join(allowed)}.")
        self.place = database_place(path)
        self._reads_only, self._wait, self._threads = mode == "r", seconds_of("wait", wait), threads
        self._database, self._log = Database(self.place, self._wait), Log(self.place)
        self._turn, self._depth = threading.RLock(), 0
        self._change: Pending | None = None
        self._head: Head | None = None
        self.must_reset, self._looked = False, -1.0
        try:
            self._facts = shared_facts(self._database, self._log, recipe, given, reads_only=self._reads_only)
            self._open_replica()
            try:
                self._look()
            except BaseException:
                self._open.close()
                raise
        except BaseException:
            self._database.drop()
            raise

    # ------------------------------------------------------------------------------------------------------- the replica

    def _open_replica(self) -> None:
        """Open the replica in a folder that no other process uses; what is damaged is made anew."""
        facts = self._facts
        for folder in replicas.folders(self.place, facts.id):
            try:
                replicas.mark(folder, facts.id, self._replica_wait)
                try:
                    self._open_in(folder, facts)
                except (DataError, OutdatedError) as problem:
                    self._told_of_rebuilding(folder, problem)
                    replicas.empty(folder, facts.id)
                    self._open_in(folder, facts)
                return
            except BusyError:
                if self.place.replica is not None:
                    raise

    def _open_in(self, folder: Path, facts: SharedFacts) -> None:
        at = Followed(self.place.shown, facts.id, facts.rows)
        first = {"store": facts.id, "plan": facts.plan, "recipe": facts.fields, REPLICA: at.to_store()}
        super().__init__(
            folder,
            mode="w",
            wait=self._replica_wait,
            durable="batch",
            threads=self._threads,
            recipe=facts.recipe,
            given=facts.rules,
            replica=first,
        )

    @property
    def _replica_wait(self) -> float:
        """Seconds to wait for a replica that another process uses: only for one that was asked for."""
        return self._wait if self.place.replica is not None else 0.0

    def _read(self, facts: Mapping[str, Any]) -> None:
        super()._read(facts)
        self._at = Followed(**facts[REPLICA])

    def _rebuild(self, problem: Exception) -> None:
        """Make the replica anew, without what it has."""
        folder = self.path
        self._told_of_rebuilding(folder, problem)
        self.must_reset = True
        self._open.close()
        replicas.empty(folder, self._facts.id)
        self._facts = shared_facts(self._database, self._log, self.recipe, {}, reads_only=True)
        self._open_replica()
        self.must_reset = False

    def _told_of_rebuilding(self, folder: Path, problem: Exception) -> None:
        why = str(problem) or "it does not follow from what the database has"
        _LOG.warning("The replica %s of %s is made anew: %s", folder, self.place.shown, why)

    # ---------------------------------------------------------------------------------------------------------- following

    def call(self, method: Callable[[], R], *, changes: bool) -> R:
        """One call, again if the connection is lost before it has changed anything."""
        self._demand_open()
        demand_process(f"The store at {self.place.shown}", self.process)
        with self._turn:
            if self._depth:
                return method()
            attempts, was_rebuilt = self._database.attempts(), False
            while True:
                try:
                    with self.in_use(changes=changes):
                        return method()
                except LostError as problem:
                    self._database.drop()
                    attempts.failed(problem)
                except DataError as problem:
                    if was_rebuilt or str(self.path) not in str(problem):
                        raise
                    was_rebuilt = True
                    self._rebuild(problem)

    @contextlib.contextmanager
    def in_use(self, *, changes: bool = False) -> Iterator[None]:
        """One use of the store; see `OpenFiles.in_use`. Unless it `changes` something, it begins with what the database has now."""
        self._demand_open()
        demand_process(f"The store at {self.place.shown}", self.process)
        with self._turn:
            if not self._depth:
                if self.must_reset:
                    self.reset()
                if not changes:
                    self._look()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1

    def _look(self) -> None:
        """Catch up without the lock, unless the last look was short enough ago."""
        if time.monotonic() - self._looked < self.place.staleness and self._looked >= 0:
            return
        looked = time.monotonic()
        head = self._demand_there(self._database.run(self._log.head))
        if not self._at.is_at(head):
            self._follow_log()
        self._looked = looked

    def _follow_log(self) -> None:
        """Catch up without the lock."""
        for is_last in (False, True):
            try:
                self._database.run(self._follow_log_once)
                return
            except OutdatedError as problem:
                if is_last:
                    raise self._no_replica() from None
                self._rebuild(problem)

    def _follow_log_once(self, connection: Any) -> None:
        self._bring_to(connection, self._demand_there(self._log.begin_reading(connection)))
        commit(connection)

    def _bring_to(self, connection: Any, head: Head) -> None:
        """Bring the replica to a head of the log that a transaction has read."""
        if self._at.is_at(head) and (len(self.contents), self.removed) == (head.documents, head.removed):
            return
        try:
            catching_up.catch_up(self, connection, self._log, head, self._at)
        except InputError as problem:
            if not self.must_reset:
                Files.flush(self)  # what the replica knows, and the database may have lost
            raise InputError(str(problem).replace("{folder}", str(self.path))) from None
        self._follows(head)

    def _follows(self, head: Head) -> None:
        """Note that the replica has all that a head tells."""
        at = self._at.after(head)
        state = None if head.state is None else json.loads(head.state)
        Files.acknowledge(self, {REPLICA: at.to_store(), "state": state})
        self._at, self.state = at, state

    def _demand_there(self, head: Head | None) -> Head:
        if head is None:
            raise InputError(f"{self.place.shown} is no store any more. Make it with `neardup store create`.")
        return head

    def _no_replica(self) -> DataError:
        return DataError(
            f"{self.place.shown} is damaged: a replica that was made anew does not agree with it. Restore the database."
        )

    # ----------------------------------------------------------------------------------------------------------- deciding

    def demand_writable(self) -> None:
        """Refuse to change what was opened to read, or is closed."""
        self._demand_open()
        if self._reads_only:
            raise OptionError(
                f'{self.place.shown} was opened with `mode="r"`, and cannot be changed. Open it with `mode="w"`.'
            )
        self.demand_sound()

    @contextlib.contextmanager
    def one_change(self) -> Iterator[dict[str, Any]]:
        """All that one call changes, decided under the lock of the store. It is durable in the database when the block ends.

        Raises:
            LostError: the connection was lost, and nothing was changed.
            UnknownOutcomeError: it was lost, and nobody can say whether something was changed.
        """
        facts: dict[str, Any] = {}
        try:
            self._begin()
            with self.part():
                self._change = Pending()
                yield facts
                head = self._write(facts)
        except BaseException:
            self._database.roll_back()
            raise
        finally:
            self._change = None
        self._settle(head)

    def _begin(self) -> None:
        """Take the lock, and catch up."""
        for is_last in (False, False, True):
            self._head = self._demand_there(self._database.once(self._begin_deciding))
            if self._missing(self._head) <= FAR:
                try:
                    self._database.once(self._bring_to_head)
                    return
                except OutdatedError as problem:
                    if is_last:
                        raise self._no_replica() from None
                    self._database.roll_back()
                    self._rebuild(problem)
            self._database.roll_back()
            self._follow_log()
        raise LostError("other services write faster than this one can follow")

    def _begin_deciding(self, connection: Any) -> Head | None:
        return self._log.begin_deciding(connection, self._facts.id)

    def _bring_to_head(self, connection: Any) -> None:
        assert self._head is not None
        self._bring_to(connection, self._head)

    def _missing(self, head: Head) -> int:
        """How many documents and texts the replica lacks."""
        return head.documents + head.removed - len(self.contents) - self.removed

    def keep(
        self, texts: Texts, rows: list[DocumentRow], removed: list[RemovedRow], seen: set[int], now: float
    ) -> None:
        """Keep what was decided in the replica, and for the log."""
        super().keep(texts, rows, removed, seen, now)
        change = self._pending_change()
        change.at, change.is_anything = now, True
        change.documents += map(catching_up.sealed, map(_without_nan, rows), contents_of(self.layout, texts))
        change.removed += map(catching_up.sealed_removed, removed)
        change.seen |= seen
        if len(change.documents) + len(change.removed) >= AT_ONCE:
            self._database.once(lambda connection: self._write_rows(connection, change))

    def forget(self, numbers: Array) -> int:
        """Remove documents from the replica, and for the log."""
        count = super().forget(numbers)
        if count:
            change = self._pending_change()
            change.at, change.is_anything = change.at or time.time(), True
            change.forgot += numbers.tolist()
        return count

    def _pending_change(self) -> Pending:
        if self._change is None:
            raise InputError(f"{self.place.shown} is changed outside of a call.")
        return self._change

    def _write_rows(self, connection: Any, change: Pending) -> None:
        assert self._head is not None
        self._log.write_rows(connection, self._head.rows, change.documents, change.removed)
        change.documents, change.removed = [], []

    def _write(self, facts: Mapping[str, Any]) -> Head:
        """Write what was changed to the log, and commit. Returns the new head."""
        before, change = self._head, self._pending_change()
        assert before is not None
        if not change.is_anything and "state" not in facts:
            self._database.roll_back()
            return before
        head = before._replace(
            position=before.position + 1,
            request=secrets.token_hex(8),
            documents=len(self.contents),
            removed=self.removed,
            state=json.dumps(facts["state"]) if "state" in facts else before.state,
        )

        def written(connection: Any) -> None:
            with connection.pipeline():
                self._write_rows(connection, change)
                seen = sorted(change.seen - set(change.forgot))
                self._log.write_change(connection, head, Change(change.at or time.time(), seen, change.forgot))
                commit(connection)

        try:
            self._database.once(written)
        except LostError as problem:
            self._database.drop()
            if not self._has_arrived(head):
                raise problem from None
        return head

    def _has_arrived(self, head: Head) -> bool:
        """Whether a change was committed whose connection was lost: under the lock, since the server may be doing it yet."""

        def asked(connection: Any) -> bool:
            self._begin_deciding(connection)
            found = self._log.request_at(connection, head.rows, head.position)
            self._database.roll_back()
            return found == head.request

        try:
            return self._database.run(asked)
        except TransferError as problem:
            raise UnknownOutcomeError(self.place.shown, problem.attempts, problem.reason) from None

    def _settle(self, head: Head) -> None:
        """Let the replica have what the database has; what fails here is made up for from the log."""
        self.must_reset = True
        try:
            if head != self._head:
                self._follows(head)
        except NeardupError as problem:
            _LOG.warning("The replica %s of %s will catch up: %s", self.path, self.place.shown, problem)
            return
        self.must_reset = False

    def close(self) -> None:
        """Write what the replica has, and end the connection. Another process does nothing."""
        if os.getpid() != self.process or self.is_closed:
            return
        with self._turn:
            if self.must_reset:
                self._is_sound = False  # what the database does not have is not written
            try:
                self._close()
            finally:
                self._database.drop()


def _without_nan(row: DocumentRow) -> DocumentRow:
    """A row as the record gives it back: NaN is null to SQLite."""
    return row._replace(rank=None) if row.rank is not None and row.rank != row.rank else row
