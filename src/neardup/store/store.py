"""`Store`: remembers documents, and decides new ones as `deduplicate` decides a corpus in the same order."""

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self, Unpack

import numpy as np

from neardup.errors import OptionError
from neardup.io.storage.places import local_path
from neardup.options import DedupOptions, MatchingOptions, refuse_unknown
from neardup.progress import Watcher, progress_of
from neardup.recipe.presets import RecipeLike
from neardup.recipe.recipe import Recipe
from neardup.recipe.tables.keeps import KeepAs
from neardup.store.answers import (
    Judgement,
    Orphan,
    RecentDuplicate,
    Removal,
    ReviewPair,
    StoreAnswer,
    StoreCheck,
    StoredDocument,
    StoreMatch,
    StorePair,
)
from neardup.store.arguments import Duration, id_as_json, several, time_of, whole_number
from neardup.store.back_ends import back_end_of, misspelled_store, no_store
from neardup.store.decisions import keep_first, neighbors
from neardup.store.decisions.add import TTL, Expires, Notes, State, add_documents
from neardup.store.decisions.digits import with_digits
from neardup.store.record.notes_table import keys_of, values_of
from neardup.store.review import judge, lists
from neardup.store.review.judge import Pair
from neardup.store.session.backend import Building
from neardup.store.session.calls import changing_call, disk_errors, one_call
from neardup.store.session.prepared import PreparedTexts, parts_of
from neardup.store.session.reader import Durable, Mode
from neardup.store.upkeep import export
from neardup.store.upkeep.info import ReportIds, SeenBy, StoreInfo, expired, forgotten, info_of, stored_document


class Store:
    """Documents by id; one recipe, similarity and least similarity.

    A document that matches a kept one is a duplicate of its best match, and of equally good ones, of the one that was added first.
    It is not kept, but its text is remembered, so that a later copy gets the same answer. So a stream of documents gets the
    decisions that `deduplicate(documents, cluster="star", keep="first")` takes on all of them.

    >>> import tempfile
    >>> with Store(f"{tempfile.mkdtemp()}/seen.store") as store:
    ...     answers = store.check_and_add_many(["a", "b"], ["All the bells of the town rang.", "All the bells of the town rang!"])
    >>> answers[0].is_new, answers[1].duplicate_of
    (True, 'a')
    """

    def __init__(
        self,
        path: str | Path,
        *,
        mode: Mode = "w",
        wait: float = 0.0,
        durable: Durable = "each",
        threads: int | None = None,
        recipe: RecipeLike | None = None,
        floor: float | None = None,
        keep: str | None = None,
        keep_as: KeepAs | None = None,
        texts: bool | None = None,
        create: bool | None = None,
        **options: Unpack[MatchingOptions],
    ) -> None:
        """Open the store in a folder, or create it. One process writes at a time; others may read. In a database, several services
        write, and answer as one process that got their calls in the order of commits.

        Threads may share the object: a call waits for those of other threads. After a fork, each process opens the store anew.

        Args:
            path: the folder; or `postgresql://USER@HOST/DATABASE`, with parameters `store`, `schema`, `replica` and `staleness`
                besides those of libpq: see docs/postgresql.md.
            mode: "w" to read and write, "r" to read what another process may be writing.
            wait: seconds to wait until another process that writes has ended; or for which a database that cannot be reached is
                tried again, 5 at least.
            durable: "each" if what a call has changed is durable when it returns; "batch" if it is when `flush` or `close` returns,
                and after some thousand documents. A crash loses the last calls as a whole, never a part of one. In a database, each
                call is durable.
            threads: threads that decide documents; by default, as many as there are processors.
            recipe: the recipe of a new store, `Recipe()` by default.
            floor: of a new store: the least similarity that `neighbors`, `pairs` and `clusters` can be asked for, below
                `min_similarity`; for the method exact.
            keep: of a new store: which of matching documents are kept, "first" by default: see
                `neardup.store.rules.STORE_KEEPS`. A better document replaces all that it matches.
            keep_as: of a new store: how 'max:KEY' and 'min:KEY' compare values; see `neardup.options.DedupOptions`. By default, the
                first value decides, number or time, and the store keeps to it.
            texts: of a new store: whether texts are kept as they were given, also those of duplicates, False by default. `get`,
                `recent` and `review` show them. They are forgotten with their documents.
            create: whether a store that does not exist is created. With False, a misspelled path is an error. By default, it is
                created, with a warning if its name is that of a store beside it but for a slip of the keyboard, and no option of
                a new store is given.
            **options: of a new store: method (exact by default), min_similarity, similarity, max_distance.

        Raises:
            InputError: another process writes to the store, the folder holds other files, or there is nothing to read.
            OptionError: an option has a value that is not allowed, or differs from that of the store.
            RecipeMismatch: the store has another recipe.
            DataError: the store is damaged.
            TransferError: the database cannot be reached; also in later calls.
            MissingExtra: psycopg is not installed.
        """
        refuse_unknown(options, Store.__init__)
        given = {**options, "floor": floor, "keep": keep, "keep_as": keep_as, "texts": texts}
        how: dict[str, Any] = {"mode": mode, "wait": wait, "durable": durable, "threads": threads, "recipe": recipe}
        self._kind = back_end_of(path)
        if create is False and not self._kind.is_there(path):
            raise no_store(path, "pass `create=True` to make it")
        is_asked = create is not None or mode == "r" or any(each is not None for each in (recipe, *given.values()))
        meant = None if is_asked else misspelled_store(path)
        self._files = self._kind.open(path, **how, given=given)
        if meant is not None:
            warnings.warn(
                f"{self._files.shown} is a new store; {meant} exists. If you meant that one, remove the new one. "
                "Pass `create=True` for a new store, or `create=False` to open only one that exists.",
                stacklevel=3,  # of whoever calls the class, as `neardup.options.public` hands it on
            )

    @property
    def path(self) -> Path:
        """The folder; of a store in a database, that of its replica."""
        return self._files.path

    @property
    def recipe(self) -> Recipe:
        """How fingerprints are made."""
        found: Recipe = self._files.recipe
        return found

    @property
    def options(self) -> DedupOptions:
        """How documents match."""
        return self._files.rules.options

    @property
    def keep(self) -> str:
        """Which documents are kept."""
        return self._files.rules.keep

    @property
    def keep_as(self) -> KeepAs | None:
        """How `keep` compares values; None if it compares none, or had none to compare yet."""
        return self._files.keep_as

    @property
    @one_call
    def state(self) -> Any:
        """Plain values that a program keeps with the store, written together with documents; None at first."""
        return self._files.state

    @one_call
    def __len__(self) -> int:
        """The number of kept documents."""
        return len(self._files.contents) - self._files.gone.count

    def __repr__(self) -> str:
        options, state = self.options, "closed" if self._files.is_closed else f"{len(self):,} documents"
        return f"Store({self._files.shown!r}, {state}, {options.method}, {options.compared_by})"

    # ------------------------------------------------------------------------------------------------------- questions

    def check(self, text: str) -> StoreAnswer:
        """Whether a document of this text would match kept ones, and which; nothing is stored.

        `is_new` says that it matches none. A `keep` that replaces documents may keep it even so.
        """
        return self.check_many([text])[0]

    @one_call
    def check_many(self, texts: Sequence[str]) -> list[StoreAnswer]:
        """The answers of `check` to several texts, each for itself."""
        self._files.demand_sound()
        given = several("texts", texts)
        made = parts_of(self._files, given)
        found = [answer for some in made for answer in keep_first.ask(self._files, some)]
        return with_digits(self._files, found, given)

    def prepare(self, texts: Sequence[str]) -> PreparedTexts:
        """Make the features of texts, for `check_many`, `check_and_add_many` or `neighbors`. Other calls do not wait meanwhile.

        Raises:
            OptionError: a text is not a string, or not valid Unicode.
        """
        return PreparedTexts(self._files, several("texts", texts))

    @one_call
    def get(self, id: int | str) -> StoredDocument | None:  # noqa: A002
        """What the store knows of a kept document; None if there is none of this id."""
        return stored_document(self._files, id_as_json(id))

    @one_call
    def ids(self) -> list[Any]:
        """The ids of all kept documents, in the order of adding."""
        return neighbors.ids(self._files)

    @one_call
    def notes(self, keys: Sequence[str]) -> dict[str, Any]:
        """The plain values that were kept by those of these keys that have not expired; see `check_and_add_many`."""
        return values_of(self._files.notes(keys_of("keys", keys)))

    @one_call
    def neighbors(
        self,
        text: str | PreparedTexts | None = None,
        *,
        id: int | str | None = None,  # noqa: A002
        min_similarity: float | None = None,
    ) -> list[StoreMatch]:
        """The kept documents that are similar to a text, or to a kept document, which is not one of them; best first.

        Args:
            text: the text, which `prepare` may have prepared; or
            id: the id of the kept document.
            min_similarity: the least similarity; that of matches by default. Not below the floor of the store.

        Raises:
            OptionError: neither or both are given, there is no such document, or the similarity is below the floor.
        """
        if (text is None) == (id is None):
            raise OptionError("Give a text, or the `id` of a kept document.")
        if isinstance(text, PreparedTexts) and len(text) != 1:
            raise OptionError(f"{len(text)} prepared texts were given. Give one.")
        name = None if id is None else id_as_json(id)
        return neighbors.neighbors(self._files, text, name, min_similarity)

    @one_call
    def pairs(self, *, min_similarity: float | None = None) -> list[StorePair]:
        """All pairs of kept documents that are so similar, the earlier document first, in the order of adding.

        Args:
            min_similarity: as for `neighbors`. With `keep="first"`, none reach the least similarity of matches.
        """
        return list(neighbors.pairs(self._files, min_similarity))

    @one_call
    def clusters(self, *, min_similarity: float | None = None) -> list[tuple[Any, ...]]:
        """The ids of kept documents that pairs connect, however long the chain: clusters of two or more, in the order of adding."""
        return neighbors.clusters(self._files, min_similarity)

    # --------------------------------------------------------------------------------------------------------- changes

    def check_and_add(
        self,
        id: int | str,  # noqa: A002
        text: str,
        *,
        metadata: Any = None,
        expires: float | None = None,
        ttl: Duration | None = None,
    ) -> StoreAnswer:
        """Decide a document, and keep it if it is new; see `check_and_add_many`."""
        return self.check_and_add_many([id], [text], metadata=[metadata], expires=expires, ttl=ttl)[0]

    @changing_call
    def check_and_add_many(
        self,
        ids: Sequence[int | str],
        texts: Sequence[str],
        *,
        metadata: Sequence[Any] | None = None,
        expires: Expires = None,
        ttl: TTL = None,
        state: State = None,
        notes: Notes = None,
        unless: Sequence[str] = (),
    ) -> list[StoreAnswer]:
        """Decide documents in order, with the same answers as one `check_and_add` after another.

        A document whose id is kept already is a duplicate of itself if its text is equal. With another text it is an update: the
        document that was kept is removed, and the new text is decided. The answer has `is_update`, and names what was removed in
        `replaces`.

        Args:
            ids: strings or integers.
            texts: the texts.
            metadata: plain values to keep with each document; or `msgspec.Raw` of them as JSON, decoded one at a time.
            expires: when the documents that are kept expire, in seconds since 1970: one time for all, or a list with one, or None,
                for each. They decide until `expire` is called later.
            ttl: after how long they expire, instead: seconds, a `timedelta`, or a text such as 90s, 12h or 30d; one, or a list.
            state: plain values to keep with the store, written together with these documents; or a function that makes them of
                the answers, before anything is durable. None changes nothing. What commands keep there stays: `rows_without_id`,
                `add` and `filter`.
            notes: a function of the answers that makes notes, written together with these documents: plain values by key, each
                with the time until which it is kept, or a `timedelta` for how long; see `notes`. In a database, it is called
                again, with other answers, if the connection is lost before they are written.
            unless: keys of notes. If there is one of them already, nothing is added, and `NotedError` has what it keeps. In a
                database, no other service can write one meanwhile.

        Raises:
            OptionError: there are not as many ids as texts, a text is none, or an argument has a value that is not allowed. Nothing
                is added.
            NotedError: there is a note that `unless` names; see `neardup.store.record.notes_table`.

        If a function for `state` or `notes` fails, what this call has changed is taken back, and the store stays usable. What the
        documents took in the files counts as `gone` until `compact`.
        """
        return add_documents(self._files, ids, texts, metadata, expires, ttl, state, notes, unless)

    @changing_call
    def remove(self, ids: Sequence[int | str], *, report_ids: ReportIds = None) -> Removal:
        """Forget kept documents, and the texts that were their duplicates; returns the number of documents, with the orphans that
        they leave: skipped documents that no kept document matches any more.

        Later copies of these texts are decided anew.

        Args:
            ids: of the documents. Of those that are not kept, the store forgets that they were skipped, or are orphans.
            report_ids: a function that gets the ids of the documents that go, in lists, before they are gone for good; such as
                `[].extend`. If it fails, nothing is removed.
        """
        self._files.demand_writable()
        names = list(dict.fromkeys(map(id_as_json, several("ids", ids))))
        with self._files.one_change():
            numbers = [row.number for row in self._files.known.of_ids(names).values()]
            self._files.keep_skipped(dict.fromkeys(names))
            return forgotten(self._files, np.array(sorted(numbers), np.int64), report_ids)

    @changing_call
    def expire(
        self,
        *,
        older_than: Duration | None = None,
        newest: int | None = None,
        by: SeenBy = "last_seen",
        now: float | None = None,
        limit: int | None = None,
        report_ids: ReportIds = None,
    ) -> Removal:
        """Remove the documents that have expired, and others that are old; returns their number, with the orphans. See `remove`.

        Until then, they are kept, and decide: nothing is removed by the clock alone.

        Args:
            older_than: also those that were seen longer ago than so many seconds, or than a `timedelta`, or a text such as 90s,
                15m, 12h, 30d or 4w.
            newest: also all but the last so many that were added.
            by: "last_seen" counts the time when a document or one that matches it came last, "first_seen" when it was added.
            now: the time, in seconds since 1970; by default that of the clock, in PostgreSQL of the clock of the database.
            limit: how many, at most, those first that were added first. Call again until fewer go: other calls come in between.
            report_ids: as for `remove`.
        """
        self._files.demand_writable()
        given = None if now is None else time_of("now", now)
        most = None if limit is None else whole_number("limit", limit, "a number of documents, 1 or more", least=1)
        with self._files.one_change():
            at = self._files.clock() if given is None else given
            return forgotten(self._files, expired(self._files, older_than, newest, by, at)[:most], report_ids)

    @one_call
    def orphans(self, *, limit: int | None = None, after: int = 0) -> list[Orphan]:
        """The skipped documents that no kept document matched when their own went, the oldest first.

        Each is listed until it comes again, or is given to `remove`.

        Args:
            limit: how many, at most; all by default.
            after: the `number` of an orphan; later ones are listed. Those of one call come after the `after` of its `Orphans`.
        """
        most = None if limit is None else whole_number("limit", limit, "a number of orphans, 1 or more", least=1)
        rows = self._files.orphans(whole_number("after", after, "the `number` of an orphan"), most)
        return [
            Orphan(number=row.number, id=json.loads(row.id), compared=row.compared, orphaned=row.orphaned)
            for row in rows
        ]

    # ---------------------------------------------------------------------------------------------------------- review

    @one_call
    def recent(
        self, *, limit: int = 50, before: str | None = None, max_bytes: int | None = None
    ) -> list[RecentDuplicate]:
        """The latest duplicates that are remembered, newest first.

        A store remembers each different text that was a duplicate when it came, once. These are not listed: copies that are equal
        to a kept document after normalization; later copies of a remembered text; duplicates whose survivors were removed; and all
        of a store whose `keep` is not "first", which remembers none.

        Args:
            limit: how many, at most.
            before: the `position` of a duplicate; those that came before it are listed. To go on, give that of the last one.
            max_bytes: fewer are listed if their texts would have more bytes, but one at least.
        """
        return lists.recent(self._files, limit, before, max_bytes)

    @one_call
    def review(self, *, limit: int = 20, max_bytes: int | None = None) -> list[ReviewPair]:
        """The pairs nearest the threshold that nobody has judged, the nearest first.

        These are remembered duplicates, which are at or above it; with a `floor` below the threshold, or `keep="always"`, also
        pairs of kept documents, one of which is among the last 256 that were added.

        Args:
            limit, max_bytes: as for `recent`.
        """
        return lists.review(self._files, limit, max_bytes)

    @changing_call
    def judge(self, pair: Pair, *, same: bool) -> int:
        """Keep a judgement of a pair, in the place of an earlier one; returns how many there are. No decision depends on them.

        It is as durable as documents are, and has the similarity, and the texts if the store keeps them. It is forgotten with
        either of the documents.

        Args:
            pair: what `recent` or `review` has listed; or the ids of two kept documents.
            same: whether the two are duplicates.

        Raises:
            OptionError: there is no such pair any more.
        """
        return judge.judge(self._files, pair, same)

    @one_call
    def judgements(self, *, limit: int | None = None, after: int = 0, max_bytes: int | None = None) -> list[Judgement]:
        """All judgements, the oldest first.

        Args:
            limit: how many, at most; all by default.
            after: the `number` of a judgement; later ones are listed.
            max_bytes: as for `recent`.
        """
        return judge.judgements(self._files, limit, after, max_bytes)

    # ---------------------------------------------------------------------------------------------------------- upkeep

    @one_call
    def info(self) -> StoreInfo:
        """What the store is, and what it takes."""
        return info_of(self._files)

    def ping(self) -> None:
        """Ask whether the store can be used now. A database is tried once, where other calls try again for `wait` seconds.

        Raises:
            InputError: the store is closed, or is not there any more.
            TransferError: the database cannot be reached.
        """
        self._files.ping()

    @changing_call
    def compact(self) -> bool:
        """Give up the room of documents that were removed, and of texts whose survivors were; and answer faster. Takes the
        room of what stays, once more, until it is done; a crash leaves the old or the new. Returns False if nothing is to be
        gained, and nothing was done.
        """
        return self._kind.compact(self._files)

    @one_call
    def verify(self) -> StoreCheck:
        """Read every byte, compare it with its checksum, and ask for every document."""
        return self._kind.verify(self._files)

    @one_call
    def backup(self, path: str | Path) -> None:
        """Copy the store, as it is now, to a folder that is empty or not there. Another process may write meanwhile.

        Raises:
            InputError: the folder is not empty.
        """
        self._kind.backup(self._files, path)

    @one_call
    def export(self, path: str | Path) -> None:
        """Write documents, remembered texts and facts as Parquet and JSON to a folder that is empty or not there.

        Raises:
            InputError: the folder is not empty.
        """
        export.export(self._files, local_path(path, "an export"))

    @changing_call
    def flush(self) -> None:
        """Make durable what was changed; see `durable`."""
        self._files.flush()

    def close(self) -> None:
        """Make everything durable, and close the store, so that another process can write to it."""
        with disk_errors(self._files.shown):
            self._files.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -------------------------------------------------------------------------------------------------- made of others

    @classmethod
    def repair(cls, path: str | Path, *, wait: float = 0.0) -> StoreCheck:
        """Make anew what is made of other files, and remove the documents that are damaged. Returns what was wrong.

        Args:
            path: the folder of the store.
            wait: seconds to wait until another process that writes has ended.

        Raises:
            InputError: there is no store, or another process writes to it.
            DataError: the record is damaged, so nothing says what is there.
        """
        kind = back_end_of(path)
        with disk_errors(kind.shown(path)):
            return kind.repair(path, wait)

    @classmethod
    def from_export(cls, path: str | Path, source: str | Path, *, threads: int | None = None) -> "Store":
        """Make a store in a folder that is empty or not there, of what `export` has written. It appears when it is complete.

        Raises:
            InputError: there is no export, or the folder is not empty, or cannot be made.
            DataError: the export is damaged.
        """
        kind = back_end_of(path)
        with disk_errors(kind.shown(path)):
            kind.restore(path, local_path(source, "an export"), threads)
        return cls(path, threads=threads)

    @classmethod
    def build(
        cls,
        path: str | Path,
        run: str | Path,
        *,
        recipe: RecipeLike | None = None,
        texts: bool = False,
        threads: int | None = None,
        progress: Watcher = None,
    ) -> "Store":
        """Make a store of a finished run of `dedup`, in a folder that is empty or not there, without deciding anything again.

        The documents that the run kept are kept, with their ids; what it removed is remembered with its survivor. So the store
        answers as if the inputs had been added to it. The recipe, the method and the similarity are those of the run. The folder
        appears when it is complete.

        Args:
            path: the folder.
            run: the output of the run, or its audit, with the summary beside it. The inputs are read again.
            recipe: the recipe of the run, if it has a function of yours, or a file that is too large to be kept in the summary.
            texts: as of a new store.
            threads: threads that read the inputs, and later decide documents.
            progress: as in `deduplicate_files`.

        Raises:
            InputError: there is no audit, summary or input, the inputs have changed, or the folder is not empty.
            OptionError: a store cannot decide as the run did, or two kept documents have the same id.
            DataError: the audit or the summary is damaged.
        """
        made = Building(recipe, texts, threads, progress_of(progress))
        kind = back_end_of(path)
        with disk_errors(kind.shown(path)):
            kind.build(path, run, made)
        return cls(path, threads=threads)
