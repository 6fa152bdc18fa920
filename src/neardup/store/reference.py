"""A store as a REFERENCE of a run: a corpus whose kept documents have no texts, but all that was made of them."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.errors import InputError, OptionError
from neardup.fingerprints.minhash import Signatures
from neardup.fingerprints.numbers import as_values
from neardup.fingerprints.simhash import Fingerprints
from neardup.io.corpora.batch import Batch
from neardup.matching.similarities.table import Elements, maker_of
from neardup.options import DedupOptions
from neardup.recipe.recipe import Recipe
from neardup.recipe.serialization import check_same
from neardup.recipe.similarity import follows
from neardup.store.rules import DECIDING
from neardup.store.session.reader import TEXTS_AT_ONCE
from neardup.store.store import Store

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class MadeTexts:
    """What was made of the documents of a batch; see `neardup.io.corpora.batch.Made`."""

    fingerprints: Fingerprints
    joined: Elements
    compared: Elements
    signatures: Signatures | None
    numbers: Any


class StoreReference:
    """The documents of a store by their numbers; those that are gone are rows without a text. See
    `neardup.io.corpora.protocol.Corpus`.
    """

    def __init__(self, store: Store, rows: int | None = None) -> None:
        """The documents that the store has now, or the first `rows` numbers of them; it stays open."""
        self._files, self.name = store._files, str(store.path)
        self.rows = len(self._files.contents) if rows is None else rows
        kept = self._files.kept()
        self._kept = kept[: np.searchsorted(kept, self.rows)]

    def __len__(self) -> int:
        return len(self._kept)

    def map(self, work: Callable[[Batch], Result], *, wanted: Array | None = None) -> Iterator[tuple[int, Result]]:
        """See `neardup.io.corpora.protocol.Corpus`."""
        for first in range(0, self.rows, TEXTS_AT_ONCE):
            begin, end = np.searchsorted(self._kept, [first, first + TEXTS_AT_ONCE])
            numbers = self._kept[begin:end]
            if wanted is not None:
                numbers = numbers[wanted[numbers]]
            yield (
                first,
                work(self._batch(first, min(TEXTS_AT_ONCE, self.rows - first), numbers, with_ids=wanted is None)),
            )

    def _batch(self, first: int, rows: int, numbers: Array, *, with_ids: bool) -> Batch:
        texts, places = self._files.contents.texts(numbers), numbers - first
        present = np.zeros(rows, np.bool_)
        present[places] = True
        prints = Fingerprints(
            np.zeros((rows, self._files.layout.words), np.uint64),
            np.zeros((rows, 2), np.uint64),
            np.zeros(rows, np.int64),
        )
        prints.values[places], prints.digests[places] = texts.prints.values, texts.prints.digests
        prints.tokens[places] = texts.prints.tokens
        ids: list[str | None] = [None] * rows
        if with_ids:
            for number, row in self._files.record.documents(numbers.tolist()).items():
                ids[number - first] = row.id
        empty = pa.array([""] * rows, pa.large_string(), mask=~present)
        of_texts: Any = None
        if texts.numbers is not None:
            of_rows = np.zeros(rows, np.uint64)
            of_rows[places] = texts.numbers
            of_texts = as_values(of_rows)
        made = MadeTexts(prints, texts.joined, texts.compared, texts.signatures, of_texts)
        return Batch(first, empty, pa.array(ids, pa.large_string()), made=made)

    def locate(self, rows: Array) -> tuple[list[str], Array]:
        """The name of the store, for each of some rows (int64[n]), and their numbers in it."""
        return [self.name] * len(rows), rows

    def content(self) -> str:
        """What tells whether a store still has these documents under these numbers: `ROWS:DIGEST`."""
        digest = hashlib.sha256(self._kept.astype("<i8").tobytes())
        for first in range(0, len(self._kept), TEXTS_AT_ONCE):
            rows = self._files.contents.rows(self._kept[first : first + TEXTS_AT_ONCE])
            digest.update(self._files.contents.digests(rows).astype("<u8").tobytes())
        return f"{self.rows}:{digest.hexdigest()}"


def reference_of_run(store: Store, recorded: str) -> StoreReference:
    """The documents that a store had when a run was made, by what `StoreReference.content` gave then, without later ones.

    Raises:
        InputError: the store has other documents now.
    """
    rows = int(recorded.partition(":")[0])
    if rows <= len(store._files.contents):
        found = StoreReference(store, rows)
        if found.content() == recorded:
            return found
    raise InputError(
        f"{store.path} is not what it was when the run was made: documents that the run compared with were removed or replaced, "
        "or it is another store. Restore a backup of that time, or run `neardup dedup` again."
    )


def options_of_store(store: Store, recipe: Recipe, options: DedupOptions) -> DedupOptions:
    """The options of a run against a store: the method is that of the store, unless one is given.

    Raises:
        RecipeMismatch: the recipe is not that of the store.
        OptionError: an option that decides matches is not that of the store, or the store does not keep what the run needs.
    """
    check_same(recipe, store.recipe, str(store.path))
    own, asked = (
        {name: getattr(each, name) for name in DECIDING} | {"similarity": each.compared_by}
        for each in (store.options, options)
    )
    if options.method == "auto":
        asked["method"] = own["method"]
    if follows(options.compared_by, store.options.compared_by, recipe.version):
        asked["similarity"] = own["similarity"]
    if differing := [name for name in DECIDING if asked[name] != own[name]]:
        shown = ", ".join(f"`{name}={own[name]!r}`" for name in differing)
        raise OptionError(f"`against`: {store.path} decides with {shown}. Give the same, or name files of texts.")
    _demand_what_is_kept(store, options)
    return replace(options, method=own["method"])


def demand_comparable(store: Store, recipe: Recipe, options: DedupOptions) -> None:
    """Refuse a store with which documents cannot be compared by a join that misses none.

    Raises:
        RecipeMismatch: the recipe is not that of the store.
        OptionError: the similarity is not that of the store, or the store does not keep what the join needs.
    """
    check_same(recipe, store.recipe, str(store.path))
    own = store.options
    if options.guard is not None and own.guard != options.guard:
        raise OptionError(
            f"`against`: {store.path} has no numbers of its documents (`guard={own.guard!r}`). Give a store that was made with "
            f"`guard={options.guard!r}`, or name files of texts."
        )
    same = follows(own.compared_by, options.compared_by, recipe.version)
    if options.min_similarity > 0 and (own.min_similarity == 0 or not same):
        decides = "by distance alone" if own.min_similarity == 0 else f"with `similarity={own.compared_by!r}`"
        raise OptionError(f"`against`: {store.path} decides {decides}. Give the same, or name files of texts.")
    _demand_what_is_kept(store, options)


def _demand_what_is_kept(store: Store, options: DedupOptions) -> None:
    if store._files.plan != type(store._files.candidates).plan_of(store.recipe, store.options):
        raise OptionError(
            f"`against`: {store.path} was made by a version of neardup that finds candidates otherwise. Use that version, or name "
            "files of texts."
        )
    if options.grouped_by is not None:
        raise OptionError(
            f"`within={options.grouped_by!r}`: the documents of {store.path} have no columns. Leave it out."
        )
    own, maker = store.options, maker_of(store.options.compared_by)
    if own.min_similarity > 0 and own.method != "exact" and maker.joined != maker.verified:
        raise OptionError(
            f"`against`: {store.path} has no elements to find candidates by, since its method is {own.method!r} and its "
            f"similarity {own.measure!r}. Give a store with `method='exact'`, or name files of texts."
        )
