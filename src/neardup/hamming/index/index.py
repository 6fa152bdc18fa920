"""The Hamming index: one interface over every method; documents come and go, fingerprints in tables stay."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from neardup.arrays import Array
from neardup.display import counted
from neardup.errors import OptionError
from neardup.hamming.block_plan import check_distance
from neardup.hamming.index.answers import Groups, IdPairs, IndexInfo, Neighbors
from neardup.hamming.index.ids import as_ids, concatenate
from neardup.hamming.index.methods.table import AUTO, METHODS
from neardup.hamming.index.planner import usual_choice, usual_options
from neardup.hamming.index.saving import Home, reserving, save_parts
from neardup.hamming.index.search import equal_groups, found_pairs, joined_pairs, near_many, near_one, no_ids
from neardup.hamming.index.segment import StoredSegment
from neardup.hamming.index.segments import Segments
from neardup.hamming.index.store import DIGEST_BITS, Manifest, open_segments
from neardup.hamming.unique import fingerprint_rows
from neardup.recipe.recipe import Recipe
from neardup.recipe.serialization import any_stored_recipe
from neardup.recipe.vectors import VectorRecipe

MOST_DOCUMENTS = 2**32 - 1
"""Their numbers have 32 bits in a segment."""
WORD_BITS = 64


class Index:
    """Fingerprints with ids, searched by Hamming distance.

    What is added is found at once: it lies in a buffer that is compared one by one, and goes to tables when the buffer is full.
    Tables are of segments that grow by a factor, so that a document is put into new tables a few times only. What is removed is
    marked, and left out when its segment is made anew.

    Attributes:
        bits: of a fingerprint, a multiple of 64.
        max_distance: the largest distance that may be asked for.
        method: one of `neardup.hamming.index.methods.table.METHODS`, or `auto`: for each segment the exact one that
            `neardup.hamming.index.planner` takes for
            its size; options: its options, as far as they were given.
        recipe: what makes its fingerprints; None if it is not known.
        state: plain values (as JSON has them) that are saved with the index, at once: what a program must know to go on where it
            stopped. None if there are none.
    """

    state: dict[str, Any] | None

    def __init__(
        self,
        *,
        max_distance: int,
        bits: int = 64,
        method: str = AUTO,
        recipe: Recipe | VectorRecipe | None = None,
        **options: int,
    ) -> None:
        """An empty index.

        Args:
            max_distance, bits, method: see above.
            recipe: what makes its fingerprints; then only fingerprints of that recipe go in by the command line.
            **options: of the method.

        Raises:
            OptionError: a value that is not allowed, or an option that the method does not have.
        """
        if not isinstance(bits, int | np.integer) or bits not in range(64, 513, 64):
            raise OptionError(f"bits={bits!r}: give 64, 128, … 512; pad narrower fingerprints with zero bits.")
        if not isinstance(method, str) or method not in (AUTO, *METHODS):
            raise OptionError(f"method={method!r}: give one of {AUTO}, {', '.join(METHODS)}.")
        has = METHODS[method].option_names if method != AUTO else tuple(options)
        unknown = sorted(set(options) - set(has))
        if unknown:
            raise OptionError(f"{', '.join(unknown)}: the method {method} has {', '.join(has) or 'no options'}.")
        self.bits, self.max_distance, self.method = int(bits), check_distance(max_distance, int(bits)), method
        if recipe is not None and not isinstance(recipe, Recipe | VectorRecipe):
            raise OptionError(f"recipe={recipe!r}: give a Recipe or a VectorRecipe.")
        if recipe is not None and 64 * recipe.words != bits:
            raise OptionError(
                f"bits={bits}: fingerprints of this recipe take {64 * recipe.words}. Give bits={64 * recipe.words}."
            )
        least = {option.name: option.least for each in METHODS.values() for option in each.options}
        for name, value in options.items():
            if isinstance(value, bool) or not isinstance(value, int) or value < least.get(name, 1):
                raise OptionError(f"{name}={value!r}: give an integer from {least.get(name, 1)} up.")
        self.options = options
        chosen, limit, usual = self._searched_by(0)
        METHODS[chosen].code.build(np.empty((0, bits // 64), np.uint64), limit, usual)  # or refuse
        self._recipe = None if recipe is None else (recipe.digest(), recipe.as_dict())
        self._home: Home | None = None
        self._is_reserved = False
        self._documents = Segments(bits // 64, self._searched_by)
        self._short: Index | None = None
        self._added = 0
        self._strings: bool | None = None
        self.state = None

    @property
    def recipe(self) -> Recipe | VectorRecipe | None:
        """See above."""
        return None if self._recipe is None else any_stored_recipe(self._recipe[1])

    @property
    def has_strings(self) -> bool | None:
        """Whether ids are strings; None as long as there are none. It can be set before the first is added."""
        return self._strings

    @has_strings.setter
    def has_strings(self, strings: bool | None) -> None:
        if self._strings not in (None, strings):
            raise OptionError("This index has ids, so of which kind they are cannot change.")
        self._strings = strings

    @property
    def is_exact(self) -> bool:
        """It finds all that there is."""
        return self.method == AUTO or METHODS[self.method].is_exact

    def hit_probability(self, distance: int | None = None) -> float:
        """The chance that a query finds a document at a distance: the least of all segments.

        1 of exact methods. Of prefix tables by the bits that this index has drawn, over all choices of the bits that differ: exact
        for up to 16 tables, by inclusion and exclusion, else simulated, with a seed that is always the same. Of sorted orders
        simulated by the permutations of this index, for uniform fingerprints: where many are near one another, it is less.
        `neardup.plan` has the mean over all that could be drawn.

        Args:
            distance: up to the index's; that if not given.
        """
        limit = self._limit(distance)
        return min((segment.hit_probability(limit) for segment in self._documents.made), default=1.0)

    def __len__(self) -> int:
        """Documents that are there."""
        return len(self._documents)

    def __repr__(self) -> str:
        return f"Index({counted(len(self), 'document')}, {self.bits} bits, distance {self.max_distance}, {self.method})"

    def add(self, ids: Any, fingerprints: Array) -> None:
        """Add documents.

        Args:
            ids: integers or strings, as a list, a numpy or an Arrow array; None numbers them, from the number of documents that
                were ever added on. An id may come again: then both documents have it.
            fingerprints: uint64[n] or uint64[n, words].

        Raises:
            OptionError: not such values; integers where the index has strings, or strings where it has integers.
        """
        rows = fingerprint_rows(fingerprints)
        self._check_bits(rows)
        if self._documents.rows + len(rows) > MOST_DOCUMENTS:
            raise OptionError(
                f"{counted(len(rows), 'document')} more would be more than {MOST_DOCUMENTS:,}, removed ones "
                "included. Deal them out to several indexes."
            )
        labels = as_ids(np.arange(self._added, self._added + len(rows)) if ids is None else ids)
        if len(labels) != len(rows):
            raise OptionError(f"{counted(len(labels), 'id')} for {counted(len(rows), 'fingerprint')}: give one each.")
        if not len(rows):
            return
        self._demand_kind(labels)
        self._added += len(rows)
        self._documents.add(labels, rows)

    def _demand_kind(self, labels: Any) -> None:
        """Refuse ids of another kind than those that are there; the first ones decide."""
        strings = not isinstance(labels, np.ndarray)
        if self._strings is not None and strings != self._strings:
            kinds = ("integers", "strings")
            raise OptionError(f"These ids are {kinds[strings]}, but those of the index are {kinds[self._strings]}.")
        self._strings = strings

    def add_short(self, ids: Any, digests: Array) -> None:
        """Add texts that are too short to be compared by fingerprint: they are found again by `find_short` if they are equal.

        Args:
            ids: as in `add`, but each is given.
            digests: uint64[n, 2], of the normalized texts (`neardup.fingerprints.simhash.Fingerprints.digests`).

        Raises:
            OptionError: as in `add`.
        """
        labels = as_ids(ids)
        rows = fingerprint_rows(digests)
        if len(rows) and len(labels) == len(rows):
            self._demand_kind(labels)
        self._short = self._short or self._for_digests()
        self._short.add(labels, rows)

    def find_short(self, digests: Array, *, nearest: bool = False) -> Neighbors:
        """The short texts that are equal to each of those with these digests, uint64[q, 2]; all distances are 0.

        `nearest`: only the one of each that was added first.
        """
        short = self._short or self._for_digests()
        short._strings = self._strings
        return short.query_many(digests, nearest=nearest, threads=1)

    @staticmethod
    def _for_digests() -> "Index":
        return Index(max_distance=0, bits=DIGEST_BITS, method="block-tables")

    def merge(self) -> None:
        """Make all one segment: the fastest to search; what was removed is gone."""
        self._documents.merge()
        if self._short is not None:
            self._short.merge()

    def _searched_by(self, rows: int) -> tuple[str, int, dict[str, int]]:
        """The method, distance and options of a segment of so many documents."""
        size: dict[str, int] = {"bits": self.bits, "max_distance": self.max_distance, "rows": rows}
        if self.method == AUTO:
            chosen = usual_choice(**size, given=self.options)
            return chosen.method, self.max_distance, chosen.options
        return self.method, self.max_distance, usual_options(self.method, **size, given=self.options)

    def save(self, path: str | Path | None = None, *, overwrite: bool = False) -> None:
        """Write all to a folder: where the index was opened or saved before, or to `path`, where no other index may be.

        Segments that are there already are not written again. After a crash at any point, the index is as it was before or
        after. Others that have it opened go on with what they opened. `overwrite`: replace another index that is at `path`.

        Raises:
            OptionError: it was never saved, and no path is given; `state` has no form as JSON.
            InputError: `path` has another index or other files, another process writes to it, or has written since this one was
                opened.
        """
        if path is None and self._home is None:
            raise OptionError("This index was never saved. Give the path of a folder.")
        home = self._home.path if path is None and self._home is not None else Path(path or "")
        try:
            json.dumps(self.state, sort_keys=True)
        except (TypeError, ValueError) as problem:
            raise OptionError(f"index.state is not of plain values, as JSON has them: {problem}.") from None
        parts = [self._documents, *([] if self._short is None else [self._short._documents])]
        self._home = save_parts(
            home, self._home, parts, self._manifest, overwrite=overwrite, is_reserved=self._is_reserved and path is None
        )

    @contextlib.contextmanager
    def reserved(self) -> Iterator[None]:
        """Be the only one that writes to its folder until the end: `save` is not refused then for what others have done.

        Raises:
            OptionError: it was never saved.
            InputError: another process writes to it, or has written since this one was opened.
        """
        if self._home is None:
            raise OptionError("This index was never saved, so it has no folder to be reserved.")
        with reserving(self._home):
            self._is_reserved = True
            try:
                yield
            finally:
                self._is_reserved = False

    def _manifest(
        self, generation: int, segments: tuple[StoredSegment, ...], short: tuple[StoredSegment, ...] = ()
    ) -> Manifest:
        digest, fields = self._recipe or (None, None)
        return Manifest(
            generation,
            self.bits,
            self.max_distance,
            self.method,
            self.options,
            digest,
            fields,
            self._added,
            self._strings,
            segments,
            short,
            self.state,
        )

    @classmethod
    def open(cls, path: str | Path) -> "Index":
        """The index in a folder; its tables are mapped, and read as they are needed.

        Raises:
            InputError: there is none.
            DataError: it is damaged, or of another format.
        """
        home = Path(path)
        manifest, segments, short = open_segments(home)
        options: dict[str, Any] = dict(manifest.options)
        index = cls(max_distance=manifest.max_distance, bits=manifest.bits, method=manifest.method, **options)
        if manifest.recipe is not None:
            index._recipe = (manifest.recipe, manifest.recipe_fields or {})
        index._home = Home(home, manifest.generation)
        index._documents.made, index._added, index._strings = segments, manifest.added, manifest.strings
        if short:
            index._short = cls._for_digests()
            index._short._documents.made, index._short._strings = short, manifest.strings
        index.state = manifest.state
        return index

    def info(self, *, verify: bool = False) -> IndexInfo:
        """What it holds. With `verify`, every page of the files that it has mapped is read and compared with its checksum."""
        searched = self._documents.searched()
        stored = (
            [*self._documents.made, *([] if self._short is None else self._short._documents.made)] if verify else []
        )
        damaged = {name: pages for segment in stored for name, pages in segment.damaged_pages().items()}
        digest, fields = self._recipe or (None, None)
        return IndexInfo(
            documents=len(self),
            short=0 if self._short is None else len(self._short),
            removed=sum(len(segment) - segment.live for segment in searched),
            bits=self.bits,
            max_distance=self.max_distance,
            method=self.method,
            is_exact=self.is_exact,
            options=tuple(segment.options for segment in self._documents.made),
            segments=tuple(len(segment) for segment in searched),
            nbytes=sum(segment.nbytes for segment in searched),
            recipe=digest,
            recipe_fields=fields,
            ids=None if self._strings is None else "strings" if self._strings else "integers",
            damaged=damaged,
            hit_probability=self.hit_probability(),
            methods=tuple(segment.method for segment in self._documents.made),
        )

    def remove(self, ids: Any) -> int:
        """Remove all documents that have one of these ids, short texts too. Returns how many there were."""
        labels = as_ids(ids)
        if self._strings is None or not len(labels):
            return 0
        if self._strings == isinstance(labels, np.ndarray):
            raise OptionError(
                f"These ids are not {'strings' if self._strings else 'integers'}, as those of the index are."
            )
        found = self._documents.remove(labels)
        return found if self._short is None else found + self._short.remove(labels)

    def query(self, fingerprint: int | np.uint64 | Array, max_distance: int | None = None) -> list[tuple[Any, int]]:
        """The ids within the distance of one fingerprint, with their distances; nearest first, then as they were added.

        Args:
            fingerprint: an integer, or uint64[words].
            max_distance: up to the index's; that if not given.
        """
        return near_one(self._documents.searched(), self._row(fingerprint), self._limit(max_distance))

    def query_many(
        self,
        fingerprints: Array,
        max_distance: int | None = None,
        *,
        nearest: bool = False,
        threads: int | None = None,
    ) -> Neighbors:
        """What is near each of many fingerprints, all in memory; see `query_stream`.

        Args:
            fingerprints: uint64[q] or uint64[q, words].
            max_distance: up to the index's; that if not given.
            nearest: only the nearest of each, of equally near ones what was added first.
            threads: all processors if not given. The result does not depend on it.
        """
        parts = list(self.query_stream(fingerprints, max_distance, nearest=nearest, threads=threads))
        lengths = [np.zeros(1, np.int64), *(np.diff(part.offsets) for part in parts)]
        ids = concatenate([part.ids for part in parts] or [no_ids(strings=self._strings)])
        distances = np.concatenate([np.empty(0, np.int64), *(part.distances for part in parts)])
        return Neighbors(np.cumsum(np.concatenate(lengths)), ids, distances)

    def query_stream(
        self,
        fingerprints: Array,
        max_distance: int | None = None,
        *,
        nearest: bool = False,
        threads: int | None = None,
    ) -> Iterator[Neighbors]:
        """As `query_many`, some thousands of queries at a time, or fewer that have very much near them.

        Some million neighbors a thread are in memory, or those of one query if they are more.
        """
        rows = fingerprint_rows(fingerprints)
        self._check_bits(rows)
        return near_many(
            self._documents.searched(),
            rows,
            self._limit(max_distance),
            nearest=nearest,
            strings=self._strings,
            threads=threads,
        )

    def pairs(
        self,
        max_distance: int | None = None,
        *,
        equal: bool = True,
        threads: int | None = None,
        memory: int | None = None,
    ) -> Iterator[IdPairs]:
        """Every pair of documents within the distance, about a million at a time.

        Exact methods join all fingerprints by `neardup.join`'s block tables, whatever their own tables are; the others list what
        each document finds of those before it.

        Args:
            max_distance: up to the index's; that if not given.
            equal: documents with equal fingerprints make pairs. If not, the first of them stands for all, and `groups` lists
                the others: of m equal ones that is m ids, not m (m - 1) / 2 pairs.
            threads: all processors if not given. The result does not depend on it.
            memory: bytes that pairs may take before they go to a temporary file.
        """
        limit, searched, words = self._limit(max_distance), self._documents.searched(), self.bits // 64
        if not self.is_exact:
            return found_pairs(searched, words, limit, equal=equal, strings=self._strings, threads=threads)
        return joined_pairs(searched, words, limit, equal=equal, strings=self._strings, threads=threads, memory=memory)

    def groups(self) -> Groups:
        """The documents with equal fingerprints, a group for each fingerprint that several have."""
        return equal_groups(self._documents.searched(), self.bits // 64, strings=self._strings)

    def _limit(self, max_distance: int | None) -> int:
        if max_distance is None:
            return self.max_distance
        if check_distance(max_distance, self.bits) > self.max_distance:
            raise OptionError(
                f"max_distance={max_distance}: the index was made for {self.max_distance}. Give at most that, or make another."
            )
        return int(max_distance)

    def _check_bits(self, rows: Array) -> None:
        if 64 * rows.shape[1] != self.bits:
            raise OptionError(f"These fingerprints have {64 * rows.shape[1]} bits, those of the index {self.bits}.")

    def _row(self, fingerprint: int | np.uint64 | Array) -> Array:
        if isinstance(fingerprint, np.ndarray):
            row = fingerprint_rows(fingerprint.reshape(1, -1), "fingerprint")
            self._check_bits(row)
            return row
        if isinstance(fingerprint, bool) or not isinstance(fingerprint, int | np.integer):
            raise OptionError(f"fingerprint={fingerprint!r}: give an integer, or an array uint64[{self.bits // 64}].")
        value = int(fingerprint)
        if not 0 <= value < 1 << self.bits:
            raise OptionError(
                f"fingerprint={value}: the index has {self.bits} bits; give an integer from 0 to 2^{self.bits} - 1."
            )
        if self.bits == WORD_BITS:
            return np.array([[value]], np.uint64)
        return np.frombuffer(value.to_bytes(self.bits // 8, "big"), ">u8").astype(np.uint64).reshape(1, -1)
