"""`Store`: remembers documents, and decides new ones as `deduplicate` decides a corpus in the same order."""

import contextlib
import fcntl
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np

from neardup.arrays import Array
from neardup.errors import InputError, OptionError
from neardup.io.storage.places import local_path
from neardup.matching.distance_limit import distance_limit
from neardup.matching.similarities.table import maker_of
from neardup.options import DedupOptions, MatchingOptions
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.serialization import recipe_of_run
from neardup.recipe.similarity import similarity_of, similarity_to_store, stored_similarity
from neardup.store.answers import StoreAnswer, StoreMatch
from neardup.store.candidates import CANDIDATES
from neardup.store.record import Record, Text
from neardup.store.run_file import Run, RunFile
from neardup.store.texts import Texts, after, as_bytes, from_bytes, texts_of
from neardup.store.walk import HeldElements, Walked, walk

RECORD, ELEMENTS, SKETCHES, ORDERS, LOCK = "record.sqlite", "elements", "sketches", "orders", "lock"
DECIDING = ("method", "min_similarity", "similarity", "max_distance")
"""The options of a store."""
TOGETHER = 1 << 10
"""Texts that are decided together; the answers do not depend on it."""

State = Mapping[str, Any] | Callable[[list[StoreAnswer]], Mapping[str, Any]]
"""Plain values of a program; or a function that makes them of the answers, just before these become durable."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredDocument:
    """What a store knows of a kept document.

    Attributes:
        id: its id.
        first_seen, last_seen: seconds since 1970.
        tokens: their number.
        fingerprint: big-endian bytes.
    """

    id: Any
    first_seen: float
    last_seen: float
    tokens: int
    fingerprint: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class StoreInfo:
    """The contents of a store.

    Attributes:
        documents: kept documents.
        removed: texts that were removed, and are remembered with their survivors.
        recipe: as plain values.
        method, similarity, min_similarity, max_distance: the options.
        bytes: the size of each file.
    """

    documents: int
    removed: int
    recipe: dict[str, Any]
    method: str
    similarity: Any
    min_similarity: float
    max_distance: int | None
    bytes: dict[str, int]


class Store:
    """Documents by id, of which no two match; one recipe, similarity and least similarity.

    A document that matches a kept one is a duplicate of its best match, and of equally good ones, of the one that was added first.
    It is not kept, but its text is remembered, so that a later copy gets the same answer. So a stream of documents gets the
    decisions that `deduplicate(documents, cluster="star", keep="first")` takes on all of them.

    Attributes:
        path: the folder.
        recipe, options: how documents match.

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
        recipe: RecipeLike | None = None,
        mode: Literal["w", "r"] = "w",
        **options: Unpack[MatchingOptions],
    ) -> None:
        """Open the store in a folder, or create it. Only one process writes at a time.

        Args:
            path: the folder.
            recipe: the recipe of a new store, `Recipe()` by default.
            mode: `r` only reads, and creates nothing.
            **options: of a new store: method (exact by default), min_similarity, similarity, max_distance.

        Raises:
            InputError: another process has opened the store, or the folder holds other files.
            OptionError: an option has a value that is not allowed, or differs from that of the store.
            RecipeMismatch: the store has another recipe.
            DataError: the store is damaged.
        """
        self.path = local_path(path, "a store")
        is_new = not is_store(self.path)
        if mode == "r" and is_new:
            raise InputError(
                f"{self.path} is no store. Name the folder of one, or make it with `neardup store create`."
            )
        wanted = _options_of(options)
        if wanted.method not in CANDIDATES:
            raise OptionError(f"`method={wanted.method!r}`: a store has one of {', '.join(CANDIDATES)}.")
        if is_new:
            made_by = recipe_of(recipe)
            distance_limit(made_by, wanted)  # refuses bad options before a folder is made
            if self.path.exists() and not _is_free(self.path):
                raise InputError(f"{self.path} is there, and is no store. Name a folder that is empty, or not there.")
            self.path.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as stack:
            stack.enter_context(_writing(self.path))
            if is_new:
                for begun in self.path.glob(f"{RECORD}*"):
                    begun.unlink()
            self._record = stack.enter_context(contextlib.closing(Record(self.path / RECORD, create=is_new)))
            if is_new:
                facts = {
                    "recipe": made_by.stored(),
                    "options": {name: getattr(wanted, name) for name in DECIDING}
                    | {"similarity": similarity_to_store(wanted.compared_by)},
                }
                with self._record.changing():
                    self._record.set_facts(
                        facts | {"next": 0, "elements_end": 0, "sketches_end": 0, "orders_end": 0, "orders": []}
                    )
                _sync_folder(self.path)
            known = self._record.facts()
            self.recipe = recipe_of_run(known["recipe"], recipe, str(self.path))
            stored = known["options"]
            self.options = DedupOptions(**stored | {"similarity": stored_similarity(stored["similarity"])})
            distance_limit(self.recipe, self.options)
            self._check_given(options)
            self._similarity = maker_of(self.options.compared_by)
            self._candidates = CANDIDATES[self.options.method](self.recipe, self.options)
            self._next: int = known["next"]
            files = (RunFile(self.path / name, known[f"{name}_end"]) for name in (ELEMENTS, SKETCHES, ORDERS))
            self._elements, self._sketches, self._orders = (
                stack.enter_context(contextlib.closing(file)) for file in files
            )
            self._gone: set[int] = set()
            self._learned = [Run(*run) for run in known["orders"]]
            self._recall()
            self._open = stack.pop_all()

    def _check_given(self, options: MatchingOptions) -> None:
        """Refuse options that are not those of the store."""
        given = {name: value for name, value in options.items() if value is not None}
        if "similarity" in options:
            given["similarity"] = similarity_of(options["similarity"])
        if differing := [name for name, value in given.items() if getattr(self.options, name) != value]:
            shown = ", ".join(f"`{name}={getattr(self.options, name)!r}`" for name in differing)
            raise OptionError(f"{self.path} was made with {shown}. Leave it out, or make another store.")

    @property
    def _has_weights(self) -> bool:
        return "weights" in (self._similarity.row.joined, self._similarity.row.verified)

    def __len__(self) -> int:
        """The number of kept documents."""
        return self._record.counts()[0]

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r}, {len(self):,} documents, {self.options.method}, {self.options.compared_by})"

    # ------------------------------------------------------------------------------------------------------- questions

    def check(self, text: str) -> StoreAnswer:
        """Whether a document of this text would be new, and what it would match; nothing is stored."""
        return self.check_many([text])[0]

    def check_many(self, texts: Sequence[str]) -> list[StoreAnswer]:
        """The answers of `check` to several texts, each for itself."""
        return [answer for text in texts for answer in self._decide(self._texts([text]), None, 0.0)]

    def check_and_add(self, id: int | str, text: str) -> StoreAnswer:  # noqa: A002
        """Decide a document, and keep it if it is new; durable when this returns."""
        return self.check_and_add_many([id], [text])[0]

    def check_and_add_many(
        self, ids: Sequence[int | str], texts: Sequence[str], *, state: State | None = None
    ) -> list[StoreAnswer]:
        """Decide documents in order, with the same answers as one `check_and_add` after another; durable when this returns.

        A document whose id the store has, with an equal text, is a duplicate of itself; with another text, it replaces that one,
        which is removed before the new text is decided.

        Args:
            ids, texts: one id for each text.
            state: plain values, which become durable together with the documents, or not at all; or a function of the answers that
                returns such values. If it raises, nothing is kept; open the store again.

        Raises:
            OptionError: there are not as many ids as texts.
        """
        names = [json.dumps(each, ensure_ascii=False) for each in ids]
        if len(names) != len(texts):
            raise OptionError(f"{len(names)} ids for {len(texts)} texts: give one each.")
        found: list[StoreAnswer] = []
        with self._record.changing():
            for first in range(0, len(names), TOGETHER):
                some = slice(first, first + TOGETHER)
                found += self._decide_and_replace(self._texts(texts[some]), names[some], time.time())
            if state is not None:
                self._record.set_facts({"state": dict(state(found) if callable(state) else state)})
        return found

    @property
    def state(self) -> dict[str, Any] | None:
        """Plain values of a program, as the last `check_and_add_many` with a `state` left them."""
        found: dict[str, Any] | None = self._record.facts().get("state")
        return found

    def get(self, id: int | str) -> StoredDocument | None:  # noqa: A002
        """What the store knows of a kept document."""
        name = json.dumps(id, ensure_ascii=False)
        text = self._record.of_ids([name]).get(name)
        if text is None:
            return None
        return StoredDocument(
            id=id,
            first_seen=text.first_seen,
            last_seen=text.last_seen,
            tokens=text.tokens,
            fingerprint=text.fingerprint,
        )

    def info(self) -> StoreInfo:
        """What the store holds, and how its documents match."""
        documents, removed = self._record.counts()
        return StoreInfo(
            documents=documents,
            removed=removed,
            recipe=self.recipe.as_dict(),
            method=self.options.method,
            similarity=similarity_to_store(self.options.compared_by),
            min_similarity=self.options.min_similarity,
            max_distance=self.options.max_distance,
            bytes={each.name: each.stat().st_size for each in sorted(self.path.iterdir())},
        )

    # --------------------------------------------------------------------------------------------------------- changes

    def remove(self, ids: Sequence[int | str]) -> int:
        """Forget kept documents, and the removed texts that were their duplicates; returns the number of documents.

        Later copies of these texts are decided anew.
        """
        with self._record.changing():
            return self._forget([json.dumps(each, ensure_ascii=False) for each in ids])

    def _forget(self, names: Sequence[str]) -> int:
        numbers = [text.number for text in self._record.of_ids(names).values()]
        self._record.remove(numbers)
        self._gone.update(numbers)
        return len(numbers)

    def close(self) -> None:
        """Close the store, so that another process can write to it."""
        self._open.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -------------------------------------------------------------------------------------------------------- decisions

    def _texts(self, given: Sequence[str]) -> Texts:
        return texts_of(given, self.recipe, self._similarity, self._candidates.signing)

    def _decide_and_replace(self, texts: Texts, names: Sequence[str], now: float) -> list[StoreAnswer]:
        """Decide and keep texts; a known id with another text is first removed."""
        found: list[StoreAnswer] = []
        latest, begin = {name: text.digest for name, text in self._record.of_ids(names).items()}, 0
        for i, (name, digest) in enumerate(zip(names, texts.digests, strict=True)):
            if latest.get(name, digest) != digest:
                found += self._decide(texts[np.arange(begin, i)], names[begin:i], now)
                begin = i
                self._forget([name])
            latest[name] = digest
        return found + self._decide(texts[np.arange(begin, len(names))], names[begin:], now)

    def _decide(self, texts: Texts, names: Sequence[str] | None, now: float) -> list[StoreAnswer]:
        """Decide texts; keep what is new under `names`, or nothing if these are None."""
        digests = texts.digests
        known = self._record.of_digests(list(dict.fromkeys(digests)))
        first_of: dict[bytes, int] = {}
        for i, digest in enumerate(digests):
            if digest not in known:
                first_of.setdefault(digest, i)
        fresh = np.array(list(first_of.values()), np.int64)
        of_new = [None if names is None else names[i] for i in fresh.tolist()]
        walked = self._walk(texts[fresh], of_new)
        if names is not None:
            self._keep(texts[fresh], walked, list(known.values()), now)
        answers = dict(zip(first_of, map(_answer, walked), strict=True))
        answers |= self._of_known(known)
        found = [answers[digest] for digest in digests]
        if names is not None:
            for i, digest in enumerate(digests):
                first = first_of.get(digest, i)
                if first != i and found[i].is_new:
                    found[i] = _copy_of(names[first])
        return found

    def _walk(self, new: Texts, names: Sequence[str | None]) -> list[Walked]:
        """Decide texts that are not known, in their order."""
        places, numbers = self._candidates.of_kept(new)
        if self._gone:
            there = ~np.isin(numbers, np.fromiter(self._gone, np.int64))
            places, numbers = places[there], numbers[there]
        unique, at = np.unique(numbers, return_inverse=True)
        found = self._record.of_numbers(unique.tolist())
        kept = [found[number] for number in unique.tolist()]
        left, right = self._candidates.among(new)
        pairs = np.concatenate([at, len(kept) + left]), np.concatenate([len(kept) + places, len(kept) + right])
        elements = None
        if self.options.min_similarity > 0:
            contents = self._elements.read([text.elements for text in kept if text.elements])
            of_kept = from_bytes(contents, weighted=self._has_weights)
            elements = HeldElements(after(of_kept, new.compared), self._similarity)
        prints = np.concatenate([words_of(kept, self.recipe.words), new.prints.values])
        others = [(text.number, text.id) for text in kept]
        others += [(self._next + i, name) for i, name in enumerate(names)]
        return walk(others, len(kept), prints, elements, pairs, min_similarity=self.options.min_similarity)

    def _keep(self, new: Texts, walked: Sequence[Walked], seen: Sequence[Text], now: float) -> None:
        """Write what was decided: elements and sketches first, then the record, which alone says what is there."""
        is_new = np.flatnonzero([each.is_new for each in walked])
        kept = new[is_new]
        elements = iter(self._elements.append(as_bytes(kept.compared)))
        if (order := self._candidates.learn(kept)) is not None:
            self._learned += self._orders.append([order])
            self._orders.sync()
            self._candidates.use(order)
        contents = self._candidates.sketches(kept)
        sketches = iter(self._sketches.append(contents))
        self._elements.sync()
        self._sketches.sync()
        rows = []
        for each, digest, tokens, print_ in zip(
            walked, new.digests, new.prints.tokens.tolist(), new.prints.values.astype(">u8"), strict=True
        ):
            best = each.matches[0] if each.matches else None
            rows.append(
                Text(
                    number=each.number,
                    digest=digest,
                    id=each.name if best is None else None,
                    survivor=None if best is None else best.number,
                    similarity=None if best is None else best.similarity,
                    distance=None if best is None else best.distance,
                    tokens=tokens,
                    fingerprint=print_.tobytes(),
                    elements=next(elements) if best is None else None,
                    sketch=next(sketches) if best is None else None,
                    first_seen=now,
                    last_seen=now,
                )
            )
        facts: dict[str, Any] = {
            "next": self._next + len(walked),
            "elements_end": self._elements.end,
            "sketches_end": self._sketches.end,
            "orders_end": self._orders.end,
            "orders": [[run.at, run.size, run.checksum] for run in self._learned],
        }
        self._record.add(rows)
        self._record.saw(
            {text.number for text in seen} | {text.survivor for text in seen if text.survivor is not None}, now
        )
        self._record.set_facts(facts)
        self._next += len(walked)
        numbers = np.array([walked[i].number for i in is_new.tolist()], np.int64)
        self._candidates.keep(contents, kept.prints.values, kept.prints.tokens, numbers)

    def _of_known(self, known: dict[bytes, Text]) -> dict[bytes, StoreAnswer]:
        """The answers to copies of texts that were seen before."""
        survivors = self._record.of_numbers([text.survivor for text in known.values() if text.survivor is not None])
        found = {}
        for digest, text in known.items():
            if text.survivor is None:
                found[digest] = _copy_of(str(text.id))
            else:
                match = StoreMatch(json.loads(str(survivors[text.survivor].id)), text.similarity, text.distance or 0)
                found[digest] = StoreAnswer(False, (match,))
        return found

    def _recall(self) -> None:
        """Make the candidates of all kept texts anew, from the record and the sketches."""
        for order in self._orders.read(self._learned):
            self._candidates.use(order)
        for texts in batched(self._record.kept(), TOGETHER):
            contents = self._sketches.read([text.sketch for text in texts if text.sketch])
            tokens, numbers = (
                np.array([getattr(text, name) for text in texts], np.int64) for name in ("tokens", "number")
            )
            self._candidates.keep(contents, words_of(texts, self.recipe.words), tokens, numbers)


def is_store(path: str | Path) -> bool:
    """Whether there is a store in the folder; one that was killed while it was made is none."""
    record = Path(path) / RECORD
    if not record.exists():
        return False
    with contextlib.closing(sqlite3.connect(record)) as base:
        try:
            return base.execute("SELECT 1 FROM facts WHERE name = 'options'").fetchone() is not None
        except sqlite3.OperationalError as problem:
            return "no such table" not in str(problem)
        except sqlite3.DatabaseError:  # damaged, as opening it tells
            return True


def _options_of(given: MatchingOptions) -> DedupOptions:
    """The options of a new store; the method is exact unless another is given."""
    return DedupOptions(**(MatchingOptions(method="exact") | given))


def _answer(walked: Walked) -> StoreAnswer:
    matches = [
        StoreMatch(None if each.name is None else json.loads(each.name), each.similarity, each.distance)
        for each in walked.matches
    ]
    return StoreAnswer(walked.is_new, tuple(matches))


def _copy_of(name: str) -> StoreAnswer:
    """The answer to a text that equals a kept one."""
    return StoreAnswer(False, (StoreMatch(json.loads(name), 1.0, 0),), exact=True)


def words_of(texts: Sequence[Text], words: int) -> Array:
    """The fingerprints of texts: uint64[n, words]."""
    content = b"".join(text.fingerprint for text in texts)
    found: Array = np.frombuffer(content, ">u8").astype(np.uint64).reshape(-1, words)
    return found


def batched(texts: Iterable[Text], most: int) -> Iterator[list[Text]]:
    """Lists of at most so many texts."""
    some = iter(texts)
    while part := list(islice(some, most)):
        yield part


def _is_free(path: Path) -> bool:
    """Whether a store can be made in the folder: it is empty, or another one was begun there."""
    return path.is_dir() and all(each.name == LOCK or each.name.startswith(RECORD) for each in path.iterdir())


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Lock the store, so that no other process writes to it."""
    with (path / LOCK).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"Another process writes to the store at {path}. Wait until it has ended.") from None
        yield


def _sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
