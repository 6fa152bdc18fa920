"""OPEN FILES: the record of a store, its contents and what answers, mapped; a reader follows what a writer writes."""

import contextlib
import ctypes
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from neardup.arrays import Array
from neardup.errors import InputError, NeardupError, OptionError
from neardup.fingerprints.silent_texts import count_silent_tokens
from neardup.hamming.index.files.stored_recipe import located_fields
from neardup.io.outputs.growing_file import to_disk
from neardup.io.storage.places import local_path, near_folder
from neardup.matching.similarities.table import maker_of
from neardup.matching.text_features import Texts, texts_of
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.short_rule import SHORT_RULE, short_rule_of
from neardup.recipe.tables.keeps import KeepAs
from neardup.recipe.tables.spellings import one_of
from neardup.resources.resources import Resources
from neardup.store.arguments import seconds_of
from neardup.store.candidates.proposing import Candidates, Plan
from neardup.store.formats.contents import Contents, Layout, other_generations
from neardup.store.formats.derived import Derived
from neardup.store.record.record import Record
from neardup.store.rules import KEEP_AS, Rules, demand_same, rules_of, stored_rules
from neardup.store.session.batching import Blocks
from neardup.store.session.calls import demand_process
from neardup.store.session.creating import SKIPPED, candidates_of, layout_of, recipe_of_facts, written
from neardup.store.session.folder import LOCK, RECORD, REPLICA, demand_own, is_store
from neardup.store.session.lookup import Known, recall

TEXTS_AT_ONCE = 1 << 11
"""Texts that are decided together; the answers do not depend on it."""
Mode = Literal["r", "w"]
Durable = Literal["each", "batch"]
ATTEMPTS = 50
"""To open what another process is changing."""
R = TypeVar("R")


def demand_modes(mode: str, durable: str) -> None:
    """Refuse (OptionError) other modes than there are."""
    for name, value, allowed in (("mode", mode, ("r", "w")), ("durable", durable, ("each", "batch"))):
        if value not in allowed:
            raise OptionError(f"{one_of(name, value, allowed)}.")


def skips_of(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a record says of skipped documents; None if an older version has made it, or has given it other numbers since."""
    found: dict[str, Any] | None = facts.get(SKIPPED)
    return found if found is not None and found["generation"] == facts["generation"] else None


def _leave(opened: contextlib.ExitStack, handles: Mapping[str, Contents], process: int) -> None:
    """Close a store that nobody has closed, and that nobody uses any more: its files, its record and then its lock, all at once.

    SQLite's connections are in cycles, so without this, one would go when Python next collects those, long after the lock. A fork
    closes nothing: it would end the locks of the process that has opened the store.
    """
    if os.getpid() != process:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(opened))
        return
    handles["contents"].leave()
    opened.close()


class OpenFiles:
    """The files of a store in a folder, as they are.

    Attributes:
        path: the folder.
        recipe, rules: how documents match, and which are kept.
        has_texts: whether the record has their texts, too; those of a replica are in the database.
        similarity: what makes the elements that are compared.
        record, contents, derived, known, candidates, gone: see their modules.
        removed: how many texts that were not kept have got a number.
        state: plain values of a program.
        skips: the fact `skipped`; None if skipped documents were not remembered so far.
        short_rule: the version of the rule of short texts.
        keep_as: how `keep` compares values; None if it compares none, or there was none yet.
        is_repeatable: whether what the current call has done so far can be done again.
        blocks: how texts are cut that are decided or asked for together.
    """

    recipe: Any
    rules: Rules
    record: Record
    contents: Contents
    derived: Derived
    state: Any
    skips: dict[str, Any] | None
    keep_as: KeepAs | None
    short_rule: int
    is_repeatable = True
    _is_in_use = False

    def __init__(
        self,
        path: str | Path,
        *,
        mode: Mode,
        wait: float,
        durable: Durable,
        threads: int | None,
        recipe: RecipeLike | None,
        given: Mapping[str, Any],
        recalls: bool = True,
        lasts: bool = True,
        replica: Mapping[str, Any] | None = None,
    ) -> None:
        """Open a store, or create it; see `Store`.

        Args:
            path, mode, wait, durable, threads, recipe: see there.
            given: options, floor and keep.
            recalls: whether to make in memory what no segment has; without it, nothing can be asked.
            lasts: whether the files outlive this object; without it, nothing is synced, and nothing written at the end.
            replica: the facts that a new store begins with, if it follows another one; see `neardup.store.postgresql`.
        """
        demand_modes(mode, durable)
        seconds = seconds_of("wait", wait)
        self.recalls, self.lasts, self.is_closed, self.blocks = recalls, lasts, False, Blocks(TEXTS_AT_ONCE)
        self.process, self._lock = os.getpid(), threading.RLock()
        self._version: tuple[int, int] | None = None  # nothing was read yet
        self._handles: dict[str, Contents] = {}
        self.path, self.mode, self.durable = local_path(path, "a store"), mode, durable
        self.resources = Resources(threads=threads)
        with contextlib.ExitStack() as stack:
            if mode == "w":
                rules = rules_of(given)
                made_by = recipe_of(recipe, rules.options.version)
                stack.enter_context(written(self.path, seconds, made_by, rules, lasts=lasts, first=replica or {}))
            elif not is_store(self.path):
                near = near_folder(self.path, is_store)
                raise InputError(
                    f"{self.path} is no store{near}. Name the folder of one, or make it with `neardup store create`."
                )
            self.record = stack.enter_context(
                contextlib.closing(Record(self.path / RECORD, readonly=mode == "r", lasts=lasts))
            )
            facts = self.record.facts()
            if mode == "w":
                demand_own(self.path, facts, None if replica is None else replica[REPLICA])
                self.record.claim(self.path / LOCK)
                facts = self.record.facts()  # not before: what another writer adds from now on is noticed
            fields = located_fields(facts["recipe"], self.path)
            self.recipe = recipe_of_facts(facts, fields, recipe, str(self.path))
            self.rules = stored_rules(facts["rules"])
            demand_same(self.path, self.rules, given, facts)
            self.has_texts = self.rules.texts and REPLICA not in facts
            if self.has_texts:
                self.record.demand_texts()
            self.similarity = maker_of(self.rules.options.compared_by)
            self._open_files = stack.enter_context(contextlib.ExitStack())
            if mode == "w":
                self._read(facts)
                self.end_transaction()
            else:
                with self.in_use():
                    pass
            self._open = stack.pop_all()
        self._dropped = weakref.finalize(self, _leave, self._open, self._handles, self.process)

    # -------------------------------------------------------------------------------------------------------- reading

    def ping(self) -> None:
        """Refuse what is closed; see `Store.ping`."""
        self._demand_open()

    @property
    def texts_shown(self) -> str:
        """What has the texts, in messages."""
        return str(self.record.path)

    @property
    def shown(self) -> str:
        """The store in messages."""
        return str(self.path)

    @property
    def layout(self) -> Layout:
        """What is kept of each document."""
        return layout_of(self.recipe, self.rules, self.candidates)

    def new_candidates(self) -> Candidates:
        """What finds candidates, before it is opened."""
        return candidates_of(self.recipe, self.rules, self.plan)

    def _read(self, facts: Mapping[str, Any]) -> None:
        """Map the files, and make in memory what no segment has."""
        self.plan, self.short_rule = Plan(**facts["plan"]), short_rule_of(facts)
        self.keep_as = self.rules.keep_as or facts.get(KEEP_AS)
        self.candidates = self.new_candidates()
        self.generation: int = facts["generation"]
        readonly = self.mode == "r"
        whose: dict[str, Any] = {"store": facts["store"], "generation": self.generation}
        contents = Contents(self.path, self.layout, facts["ends"], **whose, readonly=readonly)
        self.contents = self._open_files.enter_context(contextlib.closing(contents))
        self._handles["contents"] = contents
        self.gone = self.record.marks()
        self.removed: int = facts["removed"]
        self.state, self.skips = facts["state"], skips_of(facts)
        self.derived = self._open_files.enter_context(contextlib.closing(Derived(self.path, facts["derived"])))
        self.known = Known(self.record, self.contents, self.derived, self.gone)
        self.candidates.open(self.contents, self.derived, self.gone, self.resources.thread_count)
        if not readonly:
            self.names_to_disk()
            if left := [*other_generations(self.path, self.generation), *self.derived.left_behind()]:
                self.record.insist()  # a writer that the lock has let in may be at work on them
                for path in left:
                    path.unlink(missing_ok=True)
        if self.recalls:
            if not readonly and not self.derived.upto:
                self.candidates.prepare()
            self._recall(self.derived.upto, self.derived.removed_upto)

    @property
    def skipped_since(self) -> float | None:
        """Since when skipped documents are remembered, in seconds since 1970: None since the store was made, for an older store
        since it is changed first.
        """
        since: float | None = time.time() if self.skips is None else self.skips["since"]
        return since

    def _recall(self, first: int, removed: int) -> None:
        """Make again the postings of the documents from a number on, and of the texts that were not kept."""
        documents = ((row.number, row.id) for row in self.record.documents_from(first))
        texts = ((row.number, row.digest) for row in self.record.removed_from(removed))
        starts = (first, removed)
        recall(documents, texts, self.contents, self.known, self.candidates, starts=starts, after=self.write_full)

    def write_full(self, upto: int, removed_upto: int) -> None:
        """What to do with what has come together in memory, of documents and texts before some numbers: a reader, nothing."""

    def call(self, method: Callable[[], R], *, changes: bool) -> R:  # noqa: ARG002
        """One call of the store; `changes`: whether it may change something."""
        with self.in_use():
            return method()

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """One use of the store: other threads wait; a reader sees one state of it, the latest at the beginning. It leaves no
        transaction open; see `end_transaction`.

        Raises:
            InputError: another process has opened the store, or the files cannot be read.
            DataError: the store is damaged.
        """
        self._demand_open()
        demand_process(f"The store at {self.path}", self.process)  # first: a fork may have a lock that nobody will free
        with self._lock:
            if self._is_in_use:  # a call within a call
                yield
                return
            self._is_in_use = True
            try:
                if self.mode == "r":
                    self._catch_up()
                yield
            finally:
                self._is_in_use = False
                if not self.is_closed:
                    self.end_transaction()

    def end_transaction(self) -> None:
        """End the transaction that a call may have left open: of a reader, what it reads."""
        self.record.end_reading()

    def _catch_up(self) -> None:
        """Begin to read the record, with the files that belong to it; anew if these were removed meanwhile."""
        before = None
        for attempt in range(ATTEMPTS):
            self.record.begin_reading()
            version = self.record.version
            try:
                if version != self._version:
                    self._follow(version)
                return
            except (NeardupError, OSError) as problem:
                self.record.end_reading()
                if version == before and isinstance(problem, OSError):
                    raise InputError(
                        f"{self.path} cannot be read: {problem.filename}: {problem.strerror}. Ask again; if that does not help, "
                        "verify the store."
                    ) from None
                if version == before:
                    raise
                if attempt + 1 == ATTEMPTS:
                    raise InputError(
                        f"Another process changes {self.path} faster than it can be read. Ask again later."
                    ) from None
            except BaseException:
                self.record.end_reading()
                raise
            before = version
            time.sleep(0.01)

    def _follow(self, version: tuple[int, int]) -> None:
        """Read what another process has written."""
        facts, was_read = self.record.facts(), self._version is not None
        self._version = None  # unless all of this is done
        if was_read and facts["derived"] == self.derived.listed() and facts["generation"] == self.generation:
            first, removed = len(self.contents), self.removed
            self.contents.catch_up(facts["ends"])
            self.removed, self.state, self.skips = facts["removed"], facts["state"], skips_of(facts)
            marks = self.record.marks()
            self.gone.bits, self.gone.count = marks.bits, marks.count
            self._recall(first, removed)
        else:
            self._open_files.close()
            self._read(facts)
        self._version = version

    def texts(self, given: Sequence[str]) -> Texts:
        """All that is needed of texts."""
        signing, keeps = self.candidates.signing, self.rules.texts
        guard = self.rules.options.guard
        found = texts_of(given, self.recipe, self.similarity, signing, with_originals=keeps, guard=guard)
        if self.short_rule < SHORT_RULE:
            count_silent_tokens(found.prints, given, self.recipe)
        return found

    def kept(self) -> Array:
        """int64[n]: the numbers of all kept documents."""
        numbers = np.arange(len(self.contents))
        return numbers[~self.gone.has(numbers)]

    def names_to_disk(self) -> None:
        """Make the names of new files durable."""
        if self.lasts:
            to_disk(self.path)

    def _demand_open(self) -> None:
        """Refuse what is closed."""
        if self.is_closed:
            raise InputError(f"The store at {self.path} is closed. Open it again.")
