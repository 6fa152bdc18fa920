"""FOLLOW: the replica of a store in PostgreSQL, which is opened, brought to the head of the log, and made anew if it must."""

import contextlib
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from neardup.errors import DataError, InputError, NeardupError, TransferError
from neardup.recipe.presets import RecipeLike
from neardup.store.arguments import seconds_of
from neardup.store.postgresql import catching_up, replicas
from neardup.store.postgresql.catching_up import Reading
from neardup.store.postgresql.connection import Database
from neardup.store.postgresql.facts import shared_facts
from neardup.store.postgresql.log import Log, commit
from neardup.store.postgresql.log_rows import Ahead, Head, Known
from neardup.store.postgresql.places import DatabasePlace
from neardup.store.postgresql.problems import LostError, UnknownOutcomeError
from neardup.store.postgresql.replicas import OutdatedError, Replica
from neardup.store.record.notes_table import NotedError, values_of
from neardup.store.session.calls import demand_process
from neardup.store.session.folder import BusyError
from neardup.store.session.reader import Durable, Mode, demand_modes

R = TypeVar("R")
MAX_DOCUMENTS_BEHIND = 1 << 14
"""Farther behind, a service catches up before it takes the lock."""
_LOG = logging.getLogger("neardup.store")


class Follower:
    """A replica that follows its log, as calls begin. Threads take turns.

    Attributes:
        place, database, log, facts: of the store.
        replica: what it has of it now; another one after it was made anew.
        reads_only: whether the store was opened to be read.
        is_repeatable: whether what the current call has done so far can be done again.
        is_closed: whether that was the end.
        clock: the time of the database when the lock was taken last.
    """

    clock = 0.0

    def __init__(
        self,
        place: DatabasePlace,
        *,
        mode: Mode,
        wait: float,
        durable: Durable,
        threads: int | None,
        recipe: RecipeLike | None,
        given: Mapping[str, Any],
        plan: Mapping[str, Any] | None = None,
    ) -> None:
        """Open the replica of a store, or create both; see `Store`. `plan`: of a new store that is imported.

        Raises:
            InputError, OptionError, RecipeMismatch, DataError: see `Store`.
            TransferError: the database cannot be reached.
            MissingExtra: psycopg is not installed.
        """
        demand_modes(mode, durable)
        self.place, self.reads_only, self._wait, self._threads = place, mode == "r", seconds_of("wait", wait), threads
        self.database, self.log = Database(place, self._wait), Log(place)
        self._process, self._turn, self._depth, self._looked = os.getpid(), threading.RLock(), 0, -1.0
        self.is_repeatable, self.is_closed = True, False
        try:
            self.facts = shared_facts(self.database, self.log, recipe, given, reads_only=self.reads_only, plan=plan)
            self.replica = self._opened()
            try:
                self.look()
            except BaseException:
                self.replica.files.abandon()
                raise
        except BaseException:
            self.database.drop()
            raise
        self._dropped = weakref.finalize(self, _drop, self.database, self._process)

    # ------------------------------------------------------------------------------------------------------- the replica

    def _opened(self) -> Replica:
        """The replica in a folder that no other process uses; what is damaged is made anew."""
        facts = self.facts
        wait = self._wait if self.place.replica is not None else 0.0  # only for one that was asked for
        for folder in replicas.folders(self.place, facts.id):
            try:
                replicas.mark(folder, facts.id, wait)
                try:
                    if replicas.has_no_record(folder):
                        raise OutdatedError
                    return Replica(folder, self.place, facts, wait=wait, threads=self._threads)
                except (DataError, OutdatedError) as problem:
                    self._told_of_rebuilding(folder, problem)
                    replicas.empty(folder, facts.id)
                    return Replica(folder, self.place, facts, wait=wait, threads=self._threads)
            except BusyError:
                if self.place.replica is not None:
                    raise
        raise AssertionError  # there is no end of folders

    def rebuild(self, problem: Exception) -> None:
        """Make the replica anew, without what it has."""
        files = self.replica.files
        self._told_of_rebuilding(files.path, problem)
        self.replica.must_reset = True
        files.abandon()
        replicas.empty(files.path, self.facts.id)
        self._open_anew()

    def _open_anew(self) -> None:
        recipe = self.replica.files.recipe
        self.facts = shared_facts(self.database, self.log, recipe, {}, reads_only=True)
        self.replica = self._opened()

    def _told_of_rebuilding(self, folder: Path, problem: Exception) -> None:
        level = logging.INFO if isinstance(problem, OutdatedError) and str(problem) else logging.WARNING
        why = str(problem) or "it is not what it was, or what the database has"
        _LOG.log(level, "The replica %s of %s is made anew: %s", folder, self.place.shown, why)

    # ---------------------------------------------------------------------------------------------------------- following

    def call(self, method: Callable[[], R], *, changes: bool) -> R:
        """One call, again if the connection is lost before it has changed anything."""
        self.demand_open()
        with self._turn:
            if self._depth:
                return method()
            attempts, was_rebuilt = self.database.attempts(), False
            while True:
                self.is_repeatable = True
                try:
                    with self.in_use(changes=changes):
                        return method()
                except LostError as problem:
                    self.database.drop()
                    if not self.is_repeatable:
                        what = "writing what was decided (nothing of it was added)"
                        raise TransferError(self.place.shown, what, 1, str(problem)) from None
                    attempts.failed(problem)
                except DataError as problem:
                    if was_rebuilt or not self.is_repeatable or str(self.replica.files.path) not in str(problem):
                        raise
                    was_rebuilt = True
                    self.rebuild(problem)

    @contextlib.contextmanager
    def in_use(self, *, changes: bool = False) -> Iterator[None]:
        """One use of the store; see `OpenFiles.in_use`. Unless it `changes` something, it begins with what the database has now."""
        self.demand_open()
        with self._turn:
            self._depth += 1
            try:
                if self._depth == 1:
                    if self.replica.files.is_closed:  # it could not be made anew
                        self._open_anew()
                    elif self.replica.must_reset:
                        self.replica.reset()
                    if not changes:
                        self.look()
                yield
            finally:
                self._depth -= 1
                if not self._depth and not self.is_closed:
                    self.database.roll_back()
                    if not self.replica.files.is_closed:
                        self.replica.files.end_transaction()

    def ping(self) -> None:
        """Ask the database once; see `Store.ping`."""
        self.demand_open()
        with self._turn:
            try:
                self.demand_there(self.database.once(self.log.head))
            except LostError as problem:
                self.database.drop()
                raise TransferError(self.place.shown, "reaching the database", 1, str(problem)) from None

    def look(self) -> None:
        """Catch up without the lock, unless the last look was short enough ago."""
        if time.monotonic() - self._looked < self.place.staleness and self._looked >= 0:
            return
        looked = time.monotonic()
        head = self.demand_there(self.database.run(self.log.head))
        if not self.replica.at.is_at(head):
            self.follow_log()
        self._looked = looked

    def follow_log(self) -> None:
        """Catch up without the lock."""
        for is_last in (False, True):
            try:
                self.database.run(self._follow_log_once)
                return
            except OutdatedError as problem:
                if is_last:
                    raise self.no_replica() from None
                self.rebuild(problem)

    def _follow_log_once(self, connection: Any) -> None:
        self.bring_to(
            Reading(self.log, connection, self.demand_there(self.log.begin_reading(connection)), shown=self.place.shown)
        )
        commit(connection)

    def begin(self, unless: Sequence[str] = ()) -> Head:
        """Take the lock of the store, and catch up. Returns the head of the log.

        Raises:
            NotedError: there is a note with a key of `unless`.
        """
        for is_last in (False, False, True):
            found, ahead = self.database.once(partial(self.begin_deciding, unless))
            if ahead.notes:
                raise NotedError(values_of(ahead.notes))
            head, self.clock = self.demand_there(found), ahead.clock
            if head.documents + head.removed - sum(self.replica.counts) <= MAX_DOCUMENTS_BEHIND:
                try:
                    self.database.once(partial(self._bring_to_head, head, ahead))
                    return head
                except OutdatedError as problem:
                    if is_last:
                        raise self.no_replica() from None
                    self.database.roll_back()
                    self.rebuild(problem)
            self.database.roll_back()
            self.follow_log()
        raise LostError("other services write faster than this one can follow")

    def begin_deciding(self, keys: Sequence[str], connection: Any) -> tuple[Head | None, Ahead]:
        """See `Log.begin_deciding`."""
        return self.log.begin_deciding(connection, self.facts.id, self.reached, keys)

    def _bring_to_head(self, head: Head, ahead: Ahead, connection: Any) -> None:
        self.bring_to(Reading(self.log, connection, head, ahead, shown=self.place.shown))

    def has_arrived(self, head: Head) -> bool:
        """Whether a change was committed whose connection was lost: under the lock, since the server may be doing it yet."""

        def asked(connection: Any) -> bool:
            now, _ = self.begin_deciding((), connection)  # whose rows have another key if it was compacted
            found = None if now is None else self.log.request_at(connection, now.rows, head.position)
            self.database.roll_back()
            return found == head.request

        try:
            return self.database.run(asked)
        except TransferError as problem:
            raise UnknownOutcomeError(self.place.shown, problem.attempts, problem.reason) from None
        except NeardupError as problem:  # such as a lock that another holds, or a stand-by
            raise UnknownOutcomeError(self.place.shown, 1, str(problem)) from None

    def bring_to(self, reading: Reading) -> None:
        """Bring the replica to the head of the log that a transaction has read."""
        head, replica = reading.head, self.replica
        if replica.at.is_at(head) and replica.counts == (head.documents, head.removed):
            return
        try:
            catching_up.catch_up(replica, reading)
        except InputError as problem:
            if not replica.must_reset:
                replica.files.flush()  # what the replica knows, and the database may have lost
            raise InputError(str(problem).replace("{folder}", str(replica.files.path))) from None
        replica.follows(head)

    @property
    def reached(self) -> Known:
        """What the replica has."""
        return Known(self.replica.at.rows, self.replica.at.position, *self.replica.counts)

    def demand_there(self, head: Head | None) -> Head:
        """The head of the log, which there must be."""
        if head is None:
            raise InputError(f"{self.place.shown} is no store any more. Make it with `neardup store create`.")
        return head

    def demand_open(self) -> None:
        """Refuse what is closed, or was opened in another process."""
        if self.is_closed:
            raise InputError(f"The store at {self.replica.files.path} is closed. Open it again.")
        demand_process(f"The store at {self.place.shown}", self._process)

    def no_replica(self) -> DataError:
        """The error of a replica that does not agree, although it was made anew."""
        return DataError(
            f"{self.place.shown} is damaged: a replica that was made anew does not agree with it. Restore the database."
        )

    def close(self, demand_at_rest: Callable[[], None]) -> None:
        """Write what the replica has, and end the connection. Another process does nothing."""
        if os.getpid() != self._process or self.is_closed:
            return
        with self._turn:
            try:
                demand_at_rest()
                self.is_closed = True
                self.replica.close()
            finally:
                self._dropped.detach()
                self.database.drop()


def _drop(database: Database, process: int) -> None:
    """End the connection of a store that nobody has closed, and that nobody uses any more; but not that of another process."""
    if os.getpid() == process:
        database.drop()
