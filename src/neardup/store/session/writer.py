"""A STORE'S FILES, and how changes of them become durable: contents first, then the record, then what answers."""

import contextlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.errors import InputError, NeardupError, OptionError
from neardup.matching.text_features import Texts, digest_bytes, digest_words
from neardup.store.record.documents_table import DocumentRow, RemovedRow
from neardup.store.record.judgements_table import JudgementRow
from neardup.store.record.notes_table import NotedError, NoteRow, values_of
from neardup.store.record.sealed_texts import Original, originals
from neardup.store.record.skipped_table import OrphanRow, SkippedContent, SkippedRow
from neardup.store.rules import KEEP_AS
from neardup.store.session.backend import passed_on
from neardup.store.session.batching import by_halves
from neardup.store.session.creating import SKIPPED
from neardup.store.session.reader import TEXTS_AT_ONCE, OpenFiles, skips_of

LATEST = "latest"
"""The fact that has the latest time. Older versions do not write it."""
MAX_NUMBERS = 1 << 32
"""Postings have 32 bits for a number."""
IN_CHANGE = "`state`: a function that makes a state cannot change the store. Change it before or afterwards."


class Files(OpenFiles):
    """The files of a store in a folder; see `OpenFiles`."""

    latest: float
    """The latest time that the record has."""
    _is_in_change = False

    def _read(self, facts: Mapping[str, Any]) -> None:
        self._pending, self._is_sound = 0, True
        super()._read(facts)
        if self.mode == "w":
            self.latest = facts[LATEST] if LATEST in facts else self.record.latest()

    def clock(self) -> float:
        """The time by the clock of all who write to the store. It may go back, where `latest` does not."""
        return time.time()

    def keep(
        self,
        texts: Texts,
        rows: list[DocumentRow],
        removed: list[RemovedRow],
        seen: set[int],
        now: float,
        came: Sequence[Original] = (),
    ) -> None:
        """Write what was decided: contents first, then the record, which alone says what is there; then what answers.

        Args:
            texts, rows: of the documents that are kept.
            removed: texts that are not; `came`: these as they were given, if the store keeps texts.
            seen, now: documents that are seen again, and when.
        """
        self.latest = max(self.latest, now, *(row.last_seen for row in rows))
        first = len(self.contents)
        if max(first + len(rows), self.removed + len(removed)) > MAX_NUMBERS:
            raise InputError(
                f"{self.path} has {first:,} documents and {self.removed:,} other texts. Compact it, or make another."
            )
        with self.changing():
            self.contents.append(texts)
            self.record.add_documents(rows)
            self.record.add_removed(removed)
            self.record.saw(seen, now)
            if self.has_texts:
                self.record.add_texts([row.number for row in rows], originals_of(texts, rows))
                numbered = ([row.number for row in removed], [row.survivor for row in removed])
                self.record.add_removed_texts(*numbered, came)
            if rows:
                numbers = first + np.arange(len(rows))
                self.candidates.keep(texts, numbers)
                self.known.keep([row.id for row in rows], texts.prints, numbers)
            if removed:
                places = np.array([row.number for row in removed], np.int64)
                self.known.keep_removed(digest_words([row.digest for row in removed]), places)
                self.removed += len(removed)
        self._pending += len(rows) + len(removed)

    def forget(self, numbers: Array) -> int:
        """Remove documents (int64[n], each once, none of them gone)."""
        if len(numbers):
            with self.changing():
                if self.record.has_judgements:
                    self.record.forget_judgements(self.readable_digests(numbers))
                self.gone.set(numbers)
                self.record.forget(numbers.tolist(), self.gone)
            self._pending += len(numbers)
        return len(numbers)

    def originals(self, names: dict[int, str]) -> dict[int, Original]:
        """The texts of kept documents, whose ids are given as JSON by number, of those that there are."""
        return self.record.texts(names) if self.has_texts else {}

    def removed_originals(self, numbers: Sequence[int]) -> dict[int, Original]:
        """The texts of remembered duplicates with those of these numbers that there are."""
        return self.record.removed_texts(numbers) if self.has_texts else {}

    def lose_texts(self, documents: Sequence[int], removed: Sequence[int]) -> None:
        """Let texts be lost that are damaged or missing; a repair can do no more."""
        if documents or removed:
            with self.changing():
                self.record.lose_texts("texts", documents)
                self.record.lose_texts("removed_texts", removed)
            self._pending += len(documents) + len(removed)

    def keep_skipped(self, rows: Mapping[str, SkippedRow | None], contents: Iterable[SkippedContent] = ()) -> None:
        """Remember documents that are not kept, by their ids as JSON, and forget those that are None; see `SkippedRow`."""
        with self.changing():
            if self.skips is None:
                self._set_skips({"since": self.latest})
            self.record.keep_skipped(rows, contents)

    def forget_skipped(self, survivors: Sequence[int]) -> None:
        """Forget the skipped documents of documents that went, and their texts."""
        with self.changing():
            self.record.forget_skipped(survivors)
            if self.has_texts:
                self.record.forget_removed_texts(survivors)

    def add_orphans(self, found: Sequence[tuple[str, bool]], now: float) -> int:
        """Remember orphans: their ids as JSON, and whether they were compared. Returns the number after which theirs come."""
        with self.changing():
            after: int = (self.skips or {"orphans": 0})["orphans"]
            self.record.add_orphans(OrphanRow(after + i, *each, now) for i, each in enumerate(found, 1))
            self._set_skips({"orphans": after + len(found)})
        return after

    def set_skipped_since(self, since: float | None) -> None:
        """Say since when skipped documents are remembered; see `OpenFiles.skipped_since`."""
        with self.changing():
            self._set_skips({"since": since})

    def _set_skips(self, values: Mapping[str, Any]) -> None:
        """Write what the record says of skipped documents. Those of a store that an older version has compacted are not known."""
        if self.skips is None:
            self.record.drop_skipped()
        self.skips = {"since": None, "orphans": 0, **(self.skips or {}), **values, "generation": self.generation}
        self.record.set_facts({SKIPPED: self.skips})

    skipped_of = passed_on("record", "skipped_of")
    skipped_contents = passed_on("record", "skipped_contents")
    orphans = passed_on("record", "orphans")
    count_orphans = passed_on("record", "count_orphans")
    judgements = passed_on("record", "judgements")
    judged_pairs = passed_on("record", "judged_pairs")
    count_judgements = passed_on("record", "count_judgements")

    def notes(self, keys: Sequence[str]) -> dict[str, NoteRow]:
        """The notes with those of these keys that there are, and that have not expired."""
        return self.record.notes(keys, self.clock())

    def keep_judgement(self, row: JudgementRow) -> None:
        """Keep a judgement, in the place of an earlier one of the same pair."""
        with self.changing():
            self.record.add_judgements([row])

    def digests(self, numbers: Array) -> list[bytes]:
        """The digests of the texts of documents (int64[n])."""
        return digest_bytes(self.contents.digests(self.contents.rows(numbers)))

    def readable_digests(self, numbers: Array) -> list[bytes]:
        """The same without those that are damaged, which a repair forgets."""
        return [each for _, found in by_halves(self.digests, numbers) for each in found or ()]

    def keep_notes(self, rows: Sequence[NoteRow], now: float) -> None:
        """Keep notes, and forget some that have expired."""
        with self.changing():
            self.record.add_notes(rows, now)

    @contextlib.contextmanager
    def one_change(self, unless: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
        """All that one call changes, which becomes durable when the block ends. What it puts into the facts is written with it.

        Raises:
            NotedError: there is a note with a key of `unless`; nothing is changed.
        """
        if unless and (noted := self.notes(unless)):
            raise NotedError(values_of(noted))
        facts: dict[str, Any] = {}
        with self._together():
            yield facts
        self.acknowledge(facts)
        self.state = facts.get("state", self.state)
        self.keep_as = facts.get(KEEP_AS, self.keep_as)

    @contextlib.contextmanager
    def _together(self) -> Iterator[None]:
        """Changes of one call. If something else than the files fails meanwhile, such as a function that was given, all of them are
        taken back, and the store stays usable.
        """
        first, removed, pending = len(self.contents), self.removed, self._pending
        with self.changing():
            self.record.mark()
        try:
            self._is_in_change = True
            try:
                yield
            finally:
                self._is_in_change = False
            with self.changing():
                self.record.release()
        except BaseException:
            if self._is_sound:
                self._take_back(first, removed, pending)
            raise

    def _take_back(self, first: int, removed: int, pending: int) -> None:
        """Undo what changed in the record since its mark. What memory and contents have got of documents from `first` on cannot be
        taken from them, so these are gone like others that were removed.
        """
        with self.changing():
            self.record.undo()
            marks = self.record.marks()
            self.gone.bits, self.gone.count, self.removed = marks.bits, marks.count, removed
            self.skips = skips_of(self.record.facts())
        self._pending = pending
        if self.forget(np.arange(first, len(self.contents))):
            self.acknowledge({})

    def acknowledge(self, facts: Mapping[str, Any]) -> None:
        """Write the facts of a call, and make it durable if each call is to be."""
        with self.changing():
            ends = {"documents": len(self.contents), "removed": self.removed, "ends": self.contents.ends}
            ends[LATEST] = self.latest
            self.record.set_facts({**ends, **facts})
        self._pending += 1
        if self.durable == "each" or self._pending >= TEXTS_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Make durable what was changed."""
        self._demand_open()
        if self.is_in_change or not self._pending:
            return
        with self.changing():
            if self.lasts:
                self.contents.sync()
            self.record.commit()
        self._pending = 0
        if self.recalls:
            with self.changing():
                has_learned = self.candidates.learn()
                self._write_derived(len(self.contents), self.removed, at_once=has_learned)
                self.record.commit()

    def write_full(self, upto: int, removed_upto: int) -> None:
        """Let a thread write what has come together in memory of documents and texts before some numbers."""
        if self.mode == "w" and self.derived.is_full:
            with self.changing():
                self._write_derived(upto, removed_upto)

    def _write_derived(self, upto: int, removed_upto: int, *, at_once: bool = False) -> None:
        """Let a thread write what has come together in memory, and list what it has written."""
        if not at_once and self.derived.settle(wait=self.derived.is_full):
            self.list_derived()
        if at_once or self.derived.is_full:  # an order is listed together with all that was moved to it
            self.candidates.spill()
            self.derived.write(upto, removed_upto, self.gone)

    def spill(self, *, compact: bool = False) -> None:
        """Write to segments what answers from memory, and list them."""
        self.derived.settle()
        self.candidates.spill()
        self.derived.write(len(self.contents), self.removed, self.gone, compact=compact)
        self.derived.settle()
        self.list_derived()

    def list_derived(self) -> None:
        """Say in the record which derived files there are, and remove others."""
        self.names_to_disk()
        with self.record.changing():
            self.record.set_facts({"derived": self.derived.listed()})
        self.derived.sweep()

    def reopen(self) -> None:
        """Read all files again."""
        self._open_files.close()
        self._read(self.record.facts())

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """A change of the files. If it fails, nothing is kept that was not durable, and the store must be opened again."""
        self.demand_sound()
        self._is_sound = False
        try:
            self.record.begin()
            yield
        except BaseException as problem:
            with contextlib.suppress(NeardupError):  # which a full disk has rolled back already
                self.record.roll_back()
            if isinstance(
                problem, FileExistsError
            ):  # the names of new files are free, but for those who make the same ones
                raise self.record.second_writer(None) from problem
            if isinstance(problem, OSError):
                raise InputError(
                    f"{self.path} cannot be written to: {problem.strerror}. What was acknowledged "
                    "before is kept. Mend the cause, close the store, and open it again."
                ) from problem
            raise
        self._is_sound = True

    def end_transaction(self) -> None:
        """End the transaction of a call, but for changes of several calls that `durable="batch"` makes durable together."""
        if self.mode == "r" or not self.record.is_busy:
            super().end_transaction()
        elif self._is_sound and not self._pending:
            with self.changing():
                self.record.commit()
        elif not self._is_sound or self.durable == "each":  # the call was interrupted in between
            self._is_sound = False
            self.record.roll_back()

    @property
    def is_in_change(self) -> bool:
        """Whether a call changes the store now; a function that it was given may ask."""
        return self._is_in_change

    def demand_at_rest(self) -> None:
        """Refuse to change the store, or to copy it, within a call that changes it."""
        if self.is_in_change:
            raise InputError(IN_CHANGE)

    def ping(self) -> None:
        """Refuse what is closed, or has failed; see `Store.ping`."""
        super().ping()
        self.demand_sound()

    def demand_sound(self) -> None:
        """Refuse to go on after a change has failed."""
        if not self._is_sound:
            raise InputError(f"A change of {self.path} has failed before. Close the store, and open it again.")

    def demand_writable(self) -> None:
        """Refuse to change what was opened to read, or is closed."""
        self._demand_open()
        if self.mode == "r":
            raise OptionError(
                f'{self.path} was opened with `mode="r"`, and cannot be changed. Open it with `mode="w"`.'
            )
        self.demand_sound()
        self.demand_at_rest()

    def close(self) -> None:
        """Make everything durable, write to segments what answers from memory, and close the files. Another process does nothing:
        the files are those of the process that opened them.
        """
        if os.getpid() == self.process and not self.is_closed:
            with self._lock:
                self._close()

    def _close(self) -> None:
        self.demand_at_rest()
        try:
            if self.mode == "w" and self._is_sound and self.lasts:
                self.flush()
                is_new = self.derived.upto < len(self.contents) or self.derived.removed_upto < self.removed
                if self.recalls and (is_new or self.candidates.is_behind) and not self.record.has_moved:
                    with self.changing():
                        self.spill()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Close the files, without making anything durable."""
        if self.mode == "w" and not self.is_closed:
            try:
                self.record.begin()  # until the record is closed
            except NeardupError:
                self.contents.leave()
        self.is_closed = True
        self._dropped.detach()
        self._open.close()

    def claim(self, what: str, wait: float) -> None:
        """Be the only process that does something with the store, until it is closed: its only writer is."""


def originals_of(texts: Texts, rows: Sequence[DocumentRow]) -> list[Original]:
    """The texts of documents that are kept, as they are kept."""
    return originals(texts.digests, [row.id for row in rows], texts.originals.to_pylist()) if rows else []
