"""`Store`: remembers documents, and decides new ones as `deduplicate` decides a corpus in the same order."""

import contextlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np

from neardup.arrays import Array
from neardup.errors import InputError, OptionError
from neardup.io.storage.places import local_path
from neardup.kernels.matching.elements import WEIGHTS
from neardup.matching.distance_limit import distance_limit
from neardup.matching.similarities.table import maker_of
from neardup.options import MatchingOptions
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.serialization import recipe_of_run
from neardup.resources.resources import Resources
from neardup.store.answers import NEW, StoreAnswer, StoredDocument, StoreMatch
from neardup.store.candidates.table import CANDIDATES
from neardup.store.contents import Contents, Layout
from neardup.store.derived import Derived
from neardup.store.known import Known
from neardup.store.opening import (
    RECORD,
    demand_same,
    is_store,
    make_folder,
    options_of,
    stored_options,
    sync_folder,
    to_store,
    writing,
)
from neardup.store.postings import Found
from neardup.store.record import DocumentRow, Record, RemovedRow
from neardup.store.texts import Texts, texts_of
from neardup.store.walk import Decided, walk

AT_ONCE = 1 << 11
"""Texts that are decided together; the answers do not depend on it."""
REBUILT = 1 << 12
"""Documents whose postings are made together when a store is opened."""
Mode = Literal["r", "w"]
Durable = Literal["each", "batch"]


class Store:
    """Documents by id, of which no two match; one recipe, similarity and least similarity.

    A document that matches a kept one is a duplicate of its best match, and of equally good ones, of the one that was added first.
    It is not kept, but its text is remembered, so that a later copy gets the same answer. So a stream of documents gets the
    decisions that `deduplicate(documents, cluster="star", keep="first")` takes on all of them.

    Attributes:
        path: the folder.
        recipe, options: how documents match.
        state: plain values that a program keeps with the store; None at first.
    """

    state: Any

    def __init__(
        self,
        path: str | Path,
        *,
        mode: Mode = "w",
        wait: float = 0.0,
        durable: Durable = "each",
        threads: int | None = None,
        recipe: RecipeLike | None = None,
        **options: Unpack[MatchingOptions],
    ) -> None:
        """Open the store in a folder, or create it. One process writes at a time; others may read.

        Args:
            path: the folder.
            mode: "w" to read and write, "r" to read what another process may be writing.
            wait: seconds to wait until another process that writes has ended.
            durable: "each" if what a call has added is durable when it returns; "batch" if it is when `flush` or `close` returns,
                and after AT_ONCE documents. A crash loses the last calls as a whole, never a part of one.
            threads: threads that decide documents; by default, as many as there are processors.
            recipe: the recipe of a new store, `Recipe()` by default.
            **options: of a new store: method (exact by default), min_similarity, similarity, max_distance.

        Raises:
            InputError: another process writes to the store, the folder holds other files, or there is nothing to read.
            OptionError: an option has a value that is not allowed, or differs from that of the store.
            RecipeMismatch: the store has another recipe.
            DataError: the store is damaged.
        """
        for name, given, allowed in (("mode", mode, ("r", "w")), ("durable", durable, ("each", "batch"))):
            if given not in allowed:
                raise OptionError(f"`{name}={given!r}`: give one of {', '.join(allowed)}.")
        self.path, self._mode, self._durable = local_path(path, "a store"), mode, durable
        self._resources = Resources(threads=threads)
        with contextlib.ExitStack() as stack:
            if mode == "r":
                if not is_store(self.path):
                    raise InputError(f"There is no store at {self.path}. Name the folder of one, or make one.")
            else:
                self._prepare(stack, wait, recipe, options)
            self._record = stack.enter_context(contextlib.closing(Record(self.path / RECORD, readonly=mode == "r")))
            facts = self._record.facts()
            self.recipe = recipe_of_run(facts["recipe"], recipe, str(self.path))
            self.options = stored_options(facts["options"])
            demand_same(self.path, self.options, options)
            self._similarity = maker_of(self.options.compared_by)
            self._read(stack, facts)
            self._open = stack.pop_all()

    def _prepare(
        self, stack: contextlib.ExitStack, wait: float, recipe: RecipeLike | None, options: MatchingOptions
    ) -> None:
        """Lock the store, and make it if there is none."""
        is_new = not is_store(self.path)
        wanted, made_by = options_of(options), recipe_of(recipe)
        if is_new:
            distance_limit(made_by, wanted)  # refuses bad options before a folder is made
            make_folder(self.path)
        stack.enter_context(writing(self.path, wait))
        if is_new and not is_store(self.path):
            record = Record(self.path / RECORD, create=True)
            with contextlib.closing(record), record.changing():
                counts = {"documents": 0, "removed": 0, "ends": {}, "derived": {}, "state": None}
                record.set_facts(counts | {"recipe": made_by.stored(), "options": to_store(wanted)})
            sync_folder(self.path)

    def _read(self, stack: contextlib.ExitStack, facts: Mapping[str, Any]) -> None:
        """Map the files, and make in memory what no segment has."""
        self._candidates = CANDIDATES[self.options.method](self.recipe, self.options)
        row = self._similarity.row
        kinds = ["compared"] if self.options.min_similarity > 0 else []
        if kinds and self.options.method == "exact" and row.joined != row.verified:
            kinds.append("joined")
        layout = Layout(self.recipe.words, tuple(kinds), self._similarity.verified == WEIGHTS, self._candidates.signing)
        readonly = self._mode == "r"
        self._contents = stack.enter_context(
            contextlib.closing(Contents(self.path, layout, facts["ends"], readonly=readonly))
        )
        self._gone = self._record.marks()
        self._removed: int = facts["removed"]
        self.state = facts["state"]
        self._derived = Derived(self.path, facts["derived"])
        self._known = Known(self._record, self._contents, self._derived, self._gone)
        self._candidates.open(self._contents, self._derived)
        self._pending, self._is_sound = 0, True
        self._rebuild()

    def _rebuild(self) -> None:
        """Make in memory the postings of what no segment has."""
        documents = len(self._contents)
        rows = self._record.documents_from(self._derived.upto)
        row = next(rows, None)
        for first in range(self._derived.upto, documents, REBUILT):
            texts = self._contents.texts(first, min(first + REBUILT, documents))
            self._candidates.keep(texts, first)
            names = ["null"] * len(texts)
            while row is not None and row.number < first + len(texts):
                names[row.number - first] = row.id
                row = next(rows, None)
            self._known.keep(names, texts.prints, first)
        digests = [each.digest for each in self._record.removed_from(self._derived.removed_upto)]
        if digests:
            words = np.frombuffer(b"".join(digests), ">u8").astype(np.uint64).reshape(-1, 2)
            self._known.keep_removed(words, self._removed - len(digests))

    def __len__(self) -> int:
        """The number of kept documents."""
        return len(self._contents) - self._gone.count

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r}, {len(self):,} documents, {self.options.method}, {self.options.compared_by})"

    # ------------------------------------------------------------------------------------------------------- questions

    def check(self, text: str) -> StoreAnswer:
        """Whether a document of this text would be new, and what it would match; nothing is stored."""
        return self.check_many([text])[0]

    def check_many(self, texts: Sequence[str]) -> list[StoreAnswer]:
        """The answers of `check` to several texts, each for itself."""
        found: list[StoreAnswer] = []
        for first in range(0, len(texts), AT_ONCE):
            found += self._ask(self._texts(texts[first : first + AT_ONCE]))
        return found

    def get(self, id: int | str) -> StoredDocument | None:  # noqa: A002
        """What the store knows of a kept document; None if there is none of this id."""
        name = _as_json(id)
        row = self._known.of_ids([name]).get(name)
        if row is None:
            return None
        prints = self._contents.texts(row.number, row.number + 1).prints
        metadata = None if row.metadata is None else json.loads(row.metadata)
        return StoredDocument(
            id=json.loads(row.id),
            tokens=int(prints.tokens[0]),
            fingerprint=int.from_bytes(prints.values[0].astype(">u8").tobytes()),
            first_seen=row.first_seen,
            last_seen=row.last_seen,
            expires=row.expires,
            metadata=metadata,
        )

    # --------------------------------------------------------------------------------------------------------- changes

    def check_and_add(
        self,
        id: int | str,  # noqa: A002
        text: str,
        *,
        metadata: Any = None,
        expires: float | None = None,
    ) -> StoreAnswer:
        """Decide a document, and keep it if it is new; see `check_and_add_many`."""
        return self.check_and_add_many([id], [text], metadata=[metadata], expires=expires)[0]

    def check_and_add_many(
        self,
        ids: Sequence[int | str],
        texts: Sequence[str],
        *,
        metadata: Sequence[Any] | None = None,
        expires: float | None = None,
        state: Any = None,
    ) -> list[StoreAnswer]:
        """Decide documents in order, with the same answers as one `check_and_add` after another.

        A document whose id is kept already is a duplicate of itself if its text is equal. With another text it is an update: the
        document that was kept is removed, and the new text is decided.

        Args:
            ids: strings or integers.
            texts: the texts.
            metadata: plain values to keep with each document.
            expires: when new documents expire, in seconds since 1970; see `expire`.
            state: plain values to keep with the store, written together with the last of these documents; None changes nothing.

        Raises:
            OptionError: there are not as many ids as texts, or a text is none. Nothing is added.
        """
        names = [_as_json(each) for each in ids]
        given = [None if each is None else _as_json(each) for each in metadata] if metadata is not None else None
        for what, values in (("ids", names), ("metadata", given)):
            if values is not None and len(values) != len(texts):
                raise OptionError(f"{len(values)} {what} for {len(texts)} texts: give one each.")
        self._demand_writable()
        made = [self._texts(texts[first : first + AT_ONCE]) for first in range(0, len(names), AT_ONCE)]
        found: list[StoreAnswer] = []
        for part, first in zip(made, range(0, len(names), AT_ONCE), strict=True):
            for some in self._without_updates(part, names[first : first + AT_ONCE]):
                rows = slice(first + some.start, first + some.stop)
                more = None if given is None else given[rows]
                found += self._add(part[np.arange(some.start, some.stop)], names[rows], more, expires)
        if state is not None:
            self.state = state
        self._acknowledge({} if state is None else {"state": state})
        return found

    def remove(self, ids: Sequence[int | str]) -> int:
        """Forget kept documents, and the texts that were their duplicates; returns the number of documents.

        Later copies of these texts are decided anew.
        """
        self._demand_writable()
        names = list(dict.fromkeys(map(_as_json, ids)))
        count = self._forget([row.number for row in self._known.of_ids(names).values()])
        self._acknowledge({})
        return count

    def flush(self) -> None:
        """Make durable what was added; see `durable`."""
        if self._pending:
            with self._changing():
                self._contents.sync()
                self._record.commit()
            self._pending = 0
        if self._derived.is_full:
            self._spill()

    def close(self) -> None:
        """Make everything durable, and close the store, so that another process can write to it."""
        if self._mode == "w" and self._is_sound:
            self.flush()
            if self._derived.upto < len(self._contents) or self._derived.removed_upto < self._removed:
                self._spill()
        self._open.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -------------------------------------------------------------------------------------------------------- decisions

    def _texts(self, given: Sequence[str]) -> Texts:
        return texts_of(given, self.recipe, self._similarity, self._candidates.signing)

    def _ask(self, texts: Texts) -> list[StoreAnswer]:
        """Answers to texts, each for itself."""
        answers, fresh, _ = self._of_known(texts)
        some = texts[fresh]
        nothing = np.empty(0, np.int64)
        decided = self._walk(some, Found(nothing, nothing))
        for place, answer in zip(fresh.tolist(), self._answers(decided, {}), strict=True):
            answers[place] = answer
        return [answers[place] for place in range(len(texts))]

    def _walk(self, texts: Texts, among: Found) -> Decided:
        of_kept = self._candidates.of_kept(texts, self._gone.bits)
        least = self.options.min_similarity
        return walk(
            texts, of_kept, among, self._contents, self._similarity, min_similarity=least, resources=self._resources
        )

    def _without_updates(self, texts: Texts, names: Sequence[str]) -> Iterator[slice]:
        """Ranges of documents to decide together; a kept document that one updates is removed before its range comes."""
        begin, seen = 0, set[str]()
        known = self._known.of_ids(names)
        for place, name in enumerate(names):
            if name in seen or name in known:
                if place > begin:
                    yield slice(begin, place)
                    begin = place
                    seen.clear()
                row = self._known.of_ids([name]).get(name)
                if row is not None and self._known.kept(texts[np.array([place])].prints)[0] != row.number:
                    self._forget([row.number])
            seen.add(name)
        if begin < len(names):
            yield slice(begin, len(names))

    def _add(
        self, texts: Texts, names: Sequence[str], metadata: Sequence[str | None] | None, expires: float | None
    ) -> list[StoreAnswer]:
        """Decide documents with different ids that are not kept, and keep the new ones."""
        now = time.time()
        answers, fresh, seen = self._of_known(texts)
        digests, first_of = texts.digests, dict[bytes, int]()
        for place in fresh.tolist():
            first_of.setdefault(digests[place], place)
        places = np.array(list(first_of.values()), np.int64)
        some = texts[places]
        documents = len(self._contents)
        decided = self._walk(some, self._candidates.among(some) if len(places) > 1 else Found(places[:0], places[:0]))
        decided = decided.named(documents)
        kept = places[decided.is_new].tolist()
        rows = [
            DocumentRow(documents + i, names[place], now, now, expires, None if metadata is None else metadata[place])
            for i, place in enumerate(kept)
        ]
        removed = self._removed_rows(some, decided, now)
        seen |= {row.survivor for row in removed}
        self._keep(texts[np.array(kept, np.int64)], rows, removed, seen, now)
        own = {row.number: row for row in rows}
        for place, answer in zip(places.tolist(), self._answers(decided, own), strict=True):
            answers[place] = answer
        for place in fresh.tolist():
            first = first_of[digests[place]]
            if first != place:
                answers[place] = _copy_of(names[first]) if answers[first].is_new else answers[first]
        return [answers[place] for place in range(len(texts))]

    def _removed_rows(self, texts: Texts, decided: Decided, now: float) -> list[RemovedRow]:
        """What is remembered of texts that are not new."""
        digests = texts.digests
        places = np.flatnonzero(~decided.is_new)
        best = decided.starts[places]
        alike = decided.similarity[best].tolist()
        columns = (places.tolist(), decided.documents[best].tolist(), alike, decided.distance[best].tolist())
        return [
            RemovedRow(self._removed + i, digests[place], survivor, None if grade != grade else grade, distance, now)
            for i, (place, survivor, grade, distance) in enumerate(zip(*columns, strict=True))
        ]

    def _of_known(self, texts: Texts) -> tuple[dict[int, StoreAnswer], Array, set[int]]:
        """The answers to copies of texts that were seen before, by place; the other places; the documents of the answers."""
        kept = self._known.kept(texts.prints)
        removed = self._known.removed(texts.prints, np.flatnonzero(kept < 0))
        numbers = {number for number in kept.tolist() if number >= 0} | {row.survivor for row in removed.values()}
        rows = self._record.documents(list(numbers))
        answers = {place: _copy_of(rows[number].id) for place, number in enumerate(kept.tolist()) if number >= 0}
        for place, row in removed.items():
            match = StoreMatch(json.loads(rows[row.survivor].id), row.similarity, row.distance)
            answers[place] = StoreAnswer(False, (match,))
        unknown = kept < 0
        unknown[list(removed)] = False
        return answers, np.flatnonzero(unknown), numbers

    def _answers(self, decided: Decided, own: Mapping[int, DocumentRow]) -> list[StoreAnswer]:
        """The answers, with the ids of the documents; `own`: rows that were added just now."""
        numbers = decided.documents.tolist()
        wanted = [number for number in dict.fromkeys(numbers) if number not in own]
        rows = {**self._record.documents(wanted), **own}
        ids = [json.loads(rows[number].id) for number in numbers]
        matches = [
            StoreMatch(id_, None if grade != grade else grade, distance)
            for id_, grade, distance in zip(ids, decided.similarity.tolist(), decided.distance.tolist(), strict=True)
        ]
        edges = decided.starts.tolist()
        return [
            NEW if begin == end else StoreAnswer(False, tuple(matches[begin:end])) for begin, end in pairwise(edges)
        ]

    # ---------------------------------------------------------------------------------------------------------- writing

    def _keep(
        self, texts: Texts, rows: list[DocumentRow], removed: list[RemovedRow], seen: set[int], now: float
    ) -> None:
        """Write what was decided: contents first, then the record, which alone says what is there; then what answers."""
        first = len(self._contents)
        with self._changing():
            self._contents.append(texts)
            self._record.add_documents(rows)
            self._record.add_removed(removed)
            self._record.saw(seen, now)
        self._is_sound = False
        if rows:
            self._candidates.keep(texts, first)
            self._known.keep([row.id for row in rows], texts.prints, first)
        if removed:
            words = np.frombuffer(b"".join(row.digest for row in removed), ">u8").astype(np.uint64).reshape(-1, 2)
            self._known.keep_removed(words, self._removed)
            self._removed += len(removed)
        self._pending += len(rows) + len(removed) + 1
        self._is_sound = True

    def _forget(self, numbers: list[int]) -> int:
        """Remove documents."""
        if numbers:
            with self._changing():
                self._gone.set(np.array(numbers, np.int64))
                self._record.forget(numbers, self._gone)
            self._pending += 1
        return len(numbers)

    def _acknowledge(self, facts: Mapping[str, Any]) -> None:
        """Write the facts of a call, and make it durable if each call is to be."""
        with self._changing():
            ends = {"documents": len(self._contents), "removed": self._removed, "ends": self._contents.ends}
            self._record.set_facts({**ends, **facts})
        self._pending += 1
        if self._durable == "each" or self._pending >= AT_ONCE:
            self.flush()
            self._learn()

    def _learn(self) -> None:
        orders = len(self._derived.orders)
        self._candidates.learn()
        if len(self._derived.orders) > orders:
            self._list_derived()

    def _spill(self, *, compact: bool = False) -> None:
        """Write to segments what answers from memory."""
        self._candidates.spill()
        self._derived.spill(len(self._contents), self._removed, self._gone, compact=compact)
        self._list_derived()

    def _list_derived(self) -> None:
        """Say in the record which derived files there are, and remove others."""
        sync_folder(self.path)
        with self._record.changing():
            self._record.set_facts({"derived": self._derived.listed()})
        self._derived.sweep()

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        """A change of the files. If it fails, nothing of this call is kept, and the store must be opened again."""
        self._demand_sound()
        self._is_sound = False
        self._record.begin()
        try:
            yield
        except BaseException:
            self._record.roll_back()
            raise
        self._is_sound = True

    def _demand_sound(self) -> None:
        if not self._is_sound:
            raise InputError(f"A change of {self.path} has failed before. Close the store, and open it again.")

    def _demand_writable(self) -> None:
        if self._mode == "r":
            raise OptionError(
                f'{self.path} was opened with `mode="r"`, and cannot be changed. Open it with `mode="w"`.'
            )
        self._demand_sound()


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _copy_of(name: str) -> StoreAnswer:
    """The answer to a text that equals a kept one."""
    return StoreAnswer(False, (StoreMatch(json.loads(name), 1.0, 0),), exact=True)
