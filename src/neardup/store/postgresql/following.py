"""FOLLOW: the replica of a store in PostgreSQL, which is opened, brought to the head of the log, and made anew if it must."""

import contextlib
import json
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from neardup.errors import DataError, InputError, OptionError, TransferError
from neardup.recipe.presets import RecipeLike
from neardup.store.arguments import seconds_of
from neardup.store.postgresql import catching_up, replicas
from neardup.store.postgresql.connection import Database
from neardup.store.postgresql.facts import SharedFacts, shared_facts
from neardup.store.postgresql.log import Log, commit
from neardup.store.postgresql.log_rows import Head, Known
from neardup.store.postgresql.places import DatabasePlace, database_place
from neardup.store.postgresql.problems import LostError
from neardup.store.postgresql.reading import Reading
from neardup.store.postgresql.replicas import Followed, OutdatedError, ReplicaFiles
from neardup.store.session.calls import demand_process
from neardup.store.session.folder import REPLICA, BusyError
from neardup.store.session.reader import Durable, Mode
from neardup.store.session.writer import Files

R = TypeVar("R")
_LOG = logging.getLogger("neardup.store")


class FollowingFiles(ReplicaFiles):
    """The files of a replica that follows its log; see `Files`. Threads take turns."""

    def __init__(
        self,
        path: str | DatabasePlace,
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
        for name, value, allowed in (("mode", mode, ("r", "w")), ("durable", durable, ("each", "batch"))):
            if value not in allowed:
                raise OptionError(f"`{name}={value!r}`: give one of {', '.join(allowed)}.")
        self.place = database_place(path) if isinstance(path, str) else path
        self._reads_only, self._wait, self._threads = mode == "r", seconds_of("wait", wait), threads
        self.database, self.log = Database(self.place, self._wait), Log(self.place)
        self._turn, self._depth = threading.RLock(), 0
        self.must_reset, self._looked = False, -1.0
        try:
            self.facts = shared_facts(self.database, self.log, recipe, given, reads_only=self._reads_only, plan=plan)
            self._open_replica()
            try:
                self.look()
            except BaseException:
                self._open.close()
                raise
        except BaseException:
            self.database.drop()
            raise

    # ------------------------------------------------------------------------------------------------------- the replica

    def _open_replica(self) -> None:
        """Open the replica in a folder that no other process uses; what is damaged is made anew."""
        facts = self.facts
        for folder in replicas.folders(self.place, facts.id):
            try:
                replicas.mark(folder, facts.id, self._replica_wait)
                try:
                    if replicas.has_no_record(folder):
                        raise OutdatedError
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
        at = self._at
        if at.upto is None and (len(self.contents), self.removed) != (at.documents, at.removed):
            self._open.close()
            raise OutdatedError

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
        replicas.empty(folder, self.facts.id)
        self.facts = shared_facts(self.database, self.log, self.recipe, {}, reads_only=True)
        self._open_replica()
        self.must_reset = False

    def _told_of_rebuilding(self, folder: Path, problem: Exception) -> None:
        level = logging.INFO if isinstance(problem, OutdatedError) and str(problem) else logging.WARNING
        why = str(problem) or "it is not what it was, or what the database has"
        _LOG.log(level, "The replica %s of %s is made anew: %s", folder, self.place.shown, why)

    # ---------------------------------------------------------------------------------------------------------- following

    def call(self, method: Callable[[], R], *, changes: bool) -> R:
        """One call, again if the connection is lost before it has changed anything."""
        self._demand_open()
        demand_process(f"The store at {self.place.shown}", self.process)
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
                    if was_rebuilt or not self.is_repeatable or str(self.path) not in str(problem):
                        raise
                    was_rebuilt = True
                    self._rebuild(problem)

    @contextlib.contextmanager
    def in_use(self, *, changes: bool = False) -> Iterator[None]:
        """One use of the store; see `OpenFiles.in_use`. Unless it `changes` something, it begins with what the database has now."""
        self._demand_open()
        demand_process(f"The store at {self.place.shown}", self.process)
        with self._turn:
            self._depth += 1
            try:
                if self._depth == 1:
                    if self.must_reset:
                        self.reset()
                    if not changes:
                        self.look()
                yield
            finally:
                self._depth -= 1
                if not self._depth and not self.is_closed:
                    self.database.roll_back()
                    self.end_transaction()

    def ping(self) -> None:
        """Ask the database once; see `Store.ping`."""
        self._demand_open()
        demand_process(f"The store at {self.place.shown}", self.process)
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
        if not self._at.is_at(head):
            self._follow_log()
        self._looked = looked

    def _follow_log(self) -> None:
        """Catch up without the lock."""
        for is_last in (False, True):
            try:
                self.database.run(self._follow_log_once)
                return
            except OutdatedError as problem:
                if is_last:
                    raise self._no_replica() from None
                self._rebuild(problem)

    def _follow_log_once(self, connection: Any) -> None:
        self.bring_to(Reading(self.log, connection, self.demand_there(self.log.begin_reading(connection))))
        commit(connection)

    def bring_to(self, reading: Reading) -> None:
        """Bring the replica to the head of the log that a transaction has read."""
        head = reading.head
        if self._at.is_at(head) and (len(self.contents), self.removed) == (head.documents, head.removed):
            return
        try:
            catching_up.catch_up(self, reading, self._at)
        except InputError as problem:
            if not self.must_reset:
                Files.flush(self)  # what the replica knows, and the database may have lost
            raise InputError(str(problem).replace("{folder}", str(self.path))) from None
        self._follows(head)

    @property
    def shown(self) -> str:
        """The store in messages."""
        return self.place.shown

    @property
    def reached(self) -> Known:
        """What the replica has."""
        return Known(self._at.rows, self._at.position, len(self.contents), self.removed)

    def _follows(self, head: Head) -> None:
        """Note that the replica has all that a head tells."""
        at = self._at.after(head)
        state = None if head.state is None else json.loads(head.state)
        Files.acknowledge(self, {REPLICA: at.to_store(), "state": state})
        self._at, self.state = at, state

    def demand_there(self, head: Head | None) -> Head:
        if head is None:
            raise InputError(f"{self.place.shown} is no store any more. Make it with `neardup store create`.")
        return head

    def _no_replica(self) -> DataError:
        return DataError(
            f"{self.place.shown} is damaged: a replica that was made anew does not agree with it. Restore the database."
        )

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
                self.database.drop()
