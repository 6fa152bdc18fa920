"""SHARED FILES: the back end of a store in PostgreSQL: a replica that follows its log, and writes to it what it decides.

To decide, a service takes the lock of the store, catches up, decides as any store does, and writes what was decided to the log.
The commit there is the moment from which the change is. The replica keeps it afterwards, in its own time: a process that ends
before finds it in the log.
"""

import contextlib
import json
import logging
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from neardup.arrays import Array
from neardup.errors import InputError, NeardupError, OptionError
from neardup.matching.text_features import Texts
from neardup.recipe.tables.keeps import KeepAs
from neardup.store.formats.row_contents import contents_of
from neardup.store.postgresql import log
from neardup.store.postgresql.following import Follower
from neardup.store.postgresql.log import commit
from neardup.store.postgresql.log_rows import Change, Head, Pending, sealed, sealed_removed, without_nan
from neardup.store.postgresql.places import DatabasePlace
from neardup.store.postgresql.problems import LostError
from neardup.store.postgresql.shared_skipped import SharedSkipped
from neardup.store.record.documents_table import DocumentRow, RemovedRow
from neardup.store.record.judgements_table import JudgementRow
from neardup.store.record.notes_table import NoteRow
from neardup.store.record.sealed_texts import Original
from neardup.store.record.skipped_table import OrphanRow, SkippedContent, SkippedRow
from neardup.store.rules import KEEP_AS, key_of
from neardup.store.session.backend import WithReplica, passed_on
from neardup.store.session.writer import IN_CHANGE, Files, originals_of

ROWS_AT_ONCE = 1 << 10
"""Rows that are written together."""
_LOG = logging.getLogger("neardup.store")


class SharedFiles(WithReplica):
    """The back end of a store in PostgreSQL; see `neardup.store.session.backend.Backend`.

    Attributes:
        place, database, log: of the store.
        follower: that has the replica.
        head: of the log, when the lock was taken last.
    """

    head: Head
    _keep_as: KeepAs | None = None
    _change: Pending | None = None

    def __init__(self, place: DatabasePlace, **how: Any) -> None:
        """Open the store, or create it; see `Follower`."""
        self.follower = Follower(place, **how)
        self.place, self.database, self.log = place, self.follower.database, self.follower.log

    @property
    def local(self) -> Files:
        """The files of the replica."""
        return self.follower.replica.files

    @property
    def identity(self) -> str:
        """Which store it is; see `Head`."""
        return self.follower.facts.id

    # -------------------------------------------------------------------------------------------------------------- calls

    @property
    def shown(self) -> str:
        """The store in messages."""
        return self.place.shown

    @property
    def keep_as(self) -> KeepAs | None:
        """How `keep` compares values; another service may have had the first of them."""
        if self._keep_as is None:
            self._keep_as = self.follower.facts.keep_as
        if self._keep_as is None and key_of(self.rules.keep) is not None:
            ask = self.database.once if self.is_in_change else self.database.run
            self._keep_as = json.loads(ask(self.log.facts) or "{}").get(KEEP_AS)
        return self._keep_as

    is_closed = passed_on("follower", "is_closed")
    is_repeatable = passed_on("follower", "is_repeatable")
    call = passed_on("follower", "call")
    in_use = passed_on("follower", "in_use")
    ping = passed_on("follower", "ping")

    def claim(self, what: str, wait: float) -> None:
        """Be the only process that does something with the store, until it is closed; a BusyError after `wait` seconds."""
        self.database.claim(f"neardup {what} {self.identity}", wait)

    def flush(self) -> None:
        """Make the replica durable; what was changed is in the database."""
        self.follower.demand_open()
        if not self.is_in_change:
            self.local.flush()

    def close(self) -> None:
        """Write what the replica has, and end the connection. Another process does nothing."""
        self.follower.close(self._demand_at_rest)

    # ----------------------------------------------------------------------------------------------------------- deciding

    def clock(self) -> float:
        """The time of the database, within a change: the clocks of services may differ."""
        return self.follower.clock

    def demand_writable(self) -> None:
        """Refuse to change what was opened to read, or is closed."""
        self.follower.demand_open()
        if self.follower.reads_only:
            raise OptionError(
                f'{self.place.shown} was opened with `mode="r"`, and cannot be changed. Open it with `mode="w"`.'
            )
        self.demand_sound()
        self._demand_at_rest()

    def _demand_at_rest(self) -> None:
        if self.is_in_change:
            raise InputError(IN_CHANGE)

    @property
    def is_in_change(self) -> bool:
        """Whether a call changes the store now."""
        return self._change is not None

    @contextlib.contextmanager
    def one_change(self, unless: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
        """All that one call changes, decided under the lock of the store. It is durable in the database when the block ends.

        Raises:
            NotedError: there is a note with a key of `unless`; nothing is changed.
            LostError: the connection was lost, and nothing was changed.
            UnknownOutcomeError: it was lost, and nobody can say whether something was changed.
        """
        facts: dict[str, Any] = {}
        try:
            self.head = self.follower.begin(unless)
            with self.follower.replica.part():
                self._change = Pending()
                yield facts
                head = self._write(facts)
        except BaseException:
            self.database.roll_back()
            raise
        finally:
            self._change = None
        self._settle(head)

    def keep(
        self,
        texts: Texts,
        rows: list[DocumentRow],
        removed: list[RemovedRow],
        seen: set[int],
        now: float,
        came: Sequence[Original] = (),
    ) -> None:
        """Keep what was decided in the replica, and for the log, which alone gets the texts."""
        self.local.keep(texts, rows, removed, seen, now)
        change = self._changed(now)
        change.at = now
        contents = contents_of(self.layout, texts)
        documents = list(map(sealed, map(without_nan, rows), contents))
        forgotten = list(map(sealed_removed, removed))
        if self.rules.texts:
            own = originals_of(texts, rows)
            documents = [each._replace(text=text.sealed) for each, text in zip(documents, own, strict=True)]
            forgotten = [
                each._replace(id=text.name, text=text.sealed) for each, text in zip(forgotten, came, strict=True)
            ]
            change.bytes += sum(len(each.sealed or b"") for each in (*own, *came))
        change.documents += documents
        change.bytes += sum(map(len, contents))
        change.removed += forgotten
        change.seen |= seen
        if len(change.documents) + len(change.removed) >= ROWS_AT_ONCE or change.bytes >= log.MAX_BYTES:
            self.database.once(lambda connection: self._write_rows(connection, change))

    def forget(self, numbers: Array) -> int:
        """Remove documents from the replica, and for the log."""
        count = self.local.forget(numbers)
        if count:
            change = self._changed(self.clock())
            change.forgot += numbers.tolist()
            change.unjudged += self.digests(numbers)
        return count

    def keep_notes(self, rows: Sequence[NoteRow], now: float) -> None:
        """Keep notes in the database, not in the replica; and forget some that have expired."""
        if rows:
            self._changed(now).notes += rows

    def keep_judgement(self, row: JudgementRow) -> None:
        """Keep a judgement in the database, not in the replica."""
        self._changed(row.judged).judgements.append(row)

    def keep_skipped(self, rows: Mapping[str, SkippedRow | None], contents: Iterable[SkippedContent] = ()) -> None:
        """Remember documents that are not kept, and forget others, in the database alone; see `Files.keep_skipped`."""
        change = self._pending_change()
        change.skipped.update(rows)
        change.skipped_contents += contents
        change.is_anything |= any(row is not None for row in rows.values())

    def skipped_of(self, survivors: Sequence[int]) -> list[SkippedRow]:
        """The skipped documents of some kept ones; see `SkippedTables`."""
        rows = self._rows_key
        return self.database.once(lambda connection: self._skipped(connection).of(connection, rows, survivors))

    def skipped_contents(self, survivors: Sequence[int]) -> dict[tuple[int, bytes], bytes]:
        """What is kept of the texts of skipped documents; see `SkippedTables`."""
        rows = self._rows_key
        return self.database.once(lambda connection: self._skipped(connection).contents(connection, rows, survivors))

    def forget_skipped(self, survivors: Sequence[int]) -> None:
        """Forget the skipped documents of documents that went. Their texts go with the change."""
        rows = self.head.rows
        self.database.once(lambda connection: self._skipped(connection).forget(connection, rows, survivors))

    def add_orphans(self, found: Sequence[tuple[str, bool]], now: float) -> int:
        """Remember orphans; see `Files.add_orphans`."""

        def add(connection: Any) -> int:
            return self._skipped(connection).add_orphans(connection, self.identity, found, now)

        self._changed(now)
        return self.database.once(add)

    @property
    def _rows_key(self) -> int:
        """The key of the rows that are read; see `Head`."""
        return self.head.rows if self.is_in_change else self.follower.reached.rows

    def set_skipped_since(self, since: float | None) -> None:
        """Say since when skipped documents are remembered; see `OpenFiles.skipped_since`."""
        self._changed(self.clock())
        self.database.once(lambda connection: self.log.skipped.set_since(connection, self.identity, since))

    def _skipped(self, connection: Any) -> SharedSkipped:
        """The tables of skipped documents; within a change, they have what this has skipped."""
        change, log = self._change, self.log.skipped
        if change is None:
            return log
        log.write(connection, self.identity, self.head.rows, change.skipped, change.skipped_contents)
        change.skipped, change.skipped_contents = {}, []
        return log

    def _changed(self, at: float) -> Pending:
        """What the call has changed so far, and goes on to change."""
        change = self._pending_change()
        change.at, change.is_anything = change.at or at, True
        return change

    def _pending_change(self) -> Pending:
        if self._change is None:
            raise InputError(f"{self.place.shown} is changed outside of a call.")
        return self._change

    def _write_rows(self, connection: Any, change: Pending) -> None:
        self.log.write_rows(connection, self.head.rows, change.documents, change.removed)
        change.documents, change.removed, change.bytes = [], [], 0

    def _write(self, facts: Mapping[str, Any]) -> Head:
        """Write what was changed to the log, and commit. Returns the new head."""
        before, change = self.head, self._pending_change()
        if not change.is_anything and "state" not in facts:
            if change.skipped:  # ids that are to be forgotten: no replica has them
                self.database.once(self._skipped)
                self.database.once(commit)
            self.database.roll_back()
            return before
        head = before._replace(
            position=before.position + 1,
            request=secrets.token_hex(8),
            documents=len(self.contents),
            removed=self.removed,
            state=json.dumps(facts["state"]) if "state" in facts else before.state,
        )

        def written(connection: Any) -> None:
            if KEEP_AS in facts:
                self.log.set_fact(connection, KEEP_AS, facts[KEEP_AS])
            with connection.pipeline():
                self._write_rows(connection, change)
                self._skipped(connection)
                self.log.notes.write(connection, self.identity, change.notes, change.at)
                self.log.judgements.forget(connection, self.identity, change.unjudged)
                self.log.judgements.write(connection, self.identity, change.judgements)
                seen = sorted(change.seen - set(change.forgot))
                self.log.write_change(connection, head, Change(change.at or self.clock(), seen, change.forgot))
                commit(connection)

        try:
            self.database.once(written)
        except LostError as problem:
            self.database.drop()
            if not self.follower.has_arrived(head):
                raise problem from None
        return head

    def _settle(self, head: Head) -> None:
        """Let the replica have what the database has; what fails here is made up for from the log."""
        replica = self.follower.replica
        replica.must_reset = True
        try:
            if head != self.head:
                replica.follows(head)
        except NeardupError as problem:
            _LOG.warning("The replica %s of %s will catch up: %s", self.path, self.place.shown, problem)
            return
        replica.must_reset = False

    # ---------------------------------------------------------------------------------------------- in the database alone

    @property
    def has_texts(self) -> bool:
        """Whether texts can be read: in the database."""
        return self.local.rules.texts

    @property
    def texts_shown(self) -> str:
        """What has the texts, in messages."""
        return self.shown

    def notes(self, keys: Sequence[str]) -> dict[str, NoteRow]:
        """The notes with those of these keys that the database has, and that have not expired."""
        notes = self.log.notes
        return self.database.once(lambda connection: notes.read(notes.ask(connection, self.identity, keys)))

    def originals(self, names: dict[int, str]) -> dict[int, Original]:
        """The texts of kept documents that the database has; see `Files.originals`."""
        return self._texts(self.log.originals, names)

    def removed_originals(self, numbers: Sequence[int]) -> dict[int, Original]:
        """The texts of remembered duplicates that the database has, and those that this change has written."""
        if (change := self._change) is not None and change.removed:
            self.database.once(lambda connection: self._write_rows(connection, change))
        return self._texts(self.log.removed_originals, numbers)

    def _texts(
        self, read: Callable[[Any, int, Any], dict[int, Original]], wanted: Collection[int]
    ) -> dict[int, Original]:
        """Read texts. If some are missing, the call begins again if another service has compacted the store meanwhile.

        Raises:
            LostError: it has.
        """
        if not self.rules.texts or not wanted:
            return {}
        rows = self.follower.reached.rows
        found = self.database.once(lambda connection: read(connection, rows, wanted))
        if len(found) < len(wanted) and self.follower.demand_there(self.database.once(self.log.head)).rows != rows:
            raise LostError("another service has compacted the store")
        return found

    def judgements(self, after: int, limit: int | None) -> list[tuple[int, JudgementRow]]:
        """So many judgements, or all, with numbers above `after` that the database has, in their order."""
        return self.database.once(lambda connection: self.log.judgements.after(connection, self.identity, after, limit))

    def judged_pairs(self) -> set[tuple[bytes, bytes]]:
        """The digests of all pairs that are judged."""
        return self.database.once(lambda connection: self.log.judgements.pairs(connection, self.identity))

    @property
    def skipped_since(self) -> float | None:
        """See `OpenFiles.skipped_since`."""
        return self.database.run(lambda connection: self.log.skipped.since(connection, self.identity))

    def orphans(self, after: int, limit: int | None) -> list[OrphanRow]:
        """So many orphans, or all, with numbers above `after` that the database has, in their order."""
        return self.database.once(lambda connection: self.log.skipped.orphans(connection, self.identity, after, limit))

    def count_orphans(self) -> int:
        """How many the database has."""
        return self.database.run(lambda connection: self.log.skipped.count(connection, self.identity))

    def count_judgements(self) -> int:
        """How many the database has."""
        return self.database.run(lambda connection: self.log.judgements.count(connection, self.identity))
