"""The Hamming index: one interface over every method.

`contents` changes what it holds, `search` answers queries, `saving` writes it to a folder, `search_options` says what it may be.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Unpack, cast

import numpy as np

from neardup.arrays import Array
from neardup.display import counted
from neardup.errors import OptionError
from neardup.hamming.index.answers import Groups, IdPairs, IndexInfo, Neighbors
from neardup.hamming.index.contents import DIGESTS, Contents
from neardup.hamming.index.index_info import index_info
from neardup.hamming.index.saving import Home, Storage
from neardup.hamming.index.search import equal_groups, found_pairs, joined_pairs, near_all, near_many, near_one
from neardup.hamming.index.search_options import search_options
from neardup.hamming.index.store import Manifest, open_segments
from neardup.options import IndexMethod, IndexOptions
from neardup.recipe.presets import RecipeLike, any_recipe_of
from neardup.recipe.recipe import Recipe
from neardup.recipe.serialization import any_stored_recipe
from neardup.recipe.vectors import VectorRecipe


class Index:
    """Fingerprints with ids, searched by Hamming distance.

    What is added is found at once: it lies in a buffer that is compared one by one, and goes to tables when the buffer is full.
    Tables are of segments that grow by a factor, so that a document is put into new tables a few times only. What is removed is
    marked, and left out when its segment is made anew.

    Attributes:
        bits: of a fingerprint, a multiple of 64.
        max_distance: the largest distance that may be asked for.
        method: one of `neardup.hamming.index.methods.table.METHODS`, or `auto`: for each segment the exact one that
            `neardup.hamming.index.planner` takes for its size.
        options: of the method, as far as they were given.
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
        method: IndexMethod = "auto",
        recipe: RecipeLike | VectorRecipe | None = None,
        **options: Unpack[IndexOptions],
    ) -> None:
        """An empty index.

        Args:
            max_distance, bits, method: see above.
            recipe: what makes its fingerprints, as a recipe, by name or by path; then only fingerprints of that recipe go in by
                the command line.
            **options: of the method.

        Raises:
            OptionError: a value that is not allowed, or an option that the method does not have.
        """
        search = search_options(max_distance, bits, method, cast(dict[str, int], options))
        recipe = None if recipe is None else any_recipe_of(recipe)
        if recipe is not None and 64 * recipe.words != bits:
            raise OptionError(
                f"bits={bits}: fingerprints of this recipe take {64 * recipe.words}. Give bits={64 * recipe.words}."
            )
        self.bits, self.max_distance = search.bits, search.max_distance
        self.method, self.options = search.method, search.options
        self._search, self._contents = search, Contents(search)
        self._recipe = None if recipe is None else (recipe.digest(), recipe.as_dict())
        self._storage = Storage()
        self.state = None

    @property
    def recipe(self) -> Recipe | VectorRecipe | None:
        """See above."""
        return None if self._recipe is None else any_stored_recipe(self._recipe[1])

    @property
    def has_strings(self) -> bool | None:
        """Whether ids are strings; None as long as there are none. It can be set before the first is added."""
        return self._contents.strings

    @has_strings.setter
    def has_strings(self, strings: bool | None) -> None:
        self._contents.strings = strings

    @property
    def is_exact(self) -> bool:
        """It finds all that there is."""
        return self._search.is_exact

    def hit_probability(self, distance: int | None = None) -> float:
        """The chance that a query finds a document at a distance: the least of all segments.

        1 of exact methods. Of prefix tables by the bits that this index has drawn, over all choices of the bits that differ: exact
        for up to 16 tables, by inclusion and exclusion, else simulated, with a seed that is always the same. Of sorted orders
        simulated by the permutations of this index, for uniform fingerprints: where many are near one another, it is less.
        `neardup.plan` has the mean over all that could be drawn.

        Args:
            distance: up to the index's; that if not given.
        """
        return self._contents.documents.hit_probability(self._search.limit(distance))

    def info(self, *, verify: bool = False) -> IndexInfo:
        """What it holds. With `verify`, every page of the files that it has mapped is read and compared with its checksum."""
        return index_info(self._contents, *(self._recipe or (None, None)), verify=verify)

    def __len__(self) -> int:
        """Documents that are there."""
        return len(self._contents.documents)

    def __repr__(self) -> str:
        return f"Index({counted(len(self), 'document')}, {self.bits} bits, distance {self.max_distance}, {self.method})"

    # --------------------------------------------------------------------------------------------------------- changes

    def add(self, ids: Any, fingerprints: Array) -> None:
        """Add documents.

        Args:
            ids: integers or strings, as a list, a numpy or an Arrow array; None numbers them, from the number of documents that
                were ever added on. An id may come again: then both documents have it.
            fingerprints: uint64[n] or uint64[n, words].

        Raises:
            OptionError: not such values; integers where the index has strings, or strings where it has integers.
        """
        self._contents.add(ids, fingerprints)

    def add_short(self, ids: Any, digests: Array) -> None:
        """Add texts that are too short to be compared by fingerprint: they are found again by `find_short` if they are equal.

        Args:
            ids: as in `add`, but each is given.
            digests: uint64[n, 2], of the normalized texts (`neardup.fingerprints.simhash.Fingerprints.digests`).

        Raises:
            OptionError: as in `add`.
        """
        self._contents.add_short(ids, digests)

    def remove(self, ids: Any) -> int:
        """Remove all documents that have one of these ids, short texts too. Returns how many there were."""
        return self._contents.remove(ids)

    def merge(self) -> None:
        """Make all one segment: the fastest to search; what was removed is gone."""
        self._contents.merge()

    # --------------------------------------------------------------------------------------------------------- queries

    def query(self, fingerprint: int | np.uint64 | Array, max_distance: int | None = None) -> list[tuple[Any, int]]:
        """The ids within the distance of one fingerprint, with their distances; nearest first, then as they were added.

        Args:
            fingerprint: an integer, or uint64[words].
            max_distance: up to the index's; that if not given.
        """
        segments = self._contents.documents.searched()
        return near_one(segments, self._search.row(fingerprint), self._search.limit(max_distance))

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
        rows, limit = self._search.rows(fingerprints), self._search.limit(max_distance)
        return near_all(self._contents.searched(), rows, limit, nearest=nearest, threads=threads)

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
        rows, limit = self._search.rows(fingerprints), self._search.limit(max_distance)
        return near_many(self._contents.searched(), rows, limit, nearest=nearest, threads=threads)

    def find_short(self, digests: Array, *, nearest: bool = False) -> Neighbors:
        """The short texts that are equal to each of those with these digests, uint64[q, 2]; all distances are 0.

        `nearest`: only the one of each that was added first.
        """
        searched = self._contents.searched_short()
        return near_all(searched, DIGESTS.rows(digests), DIGESTS.max_distance, nearest=nearest, threads=1)

    def pairs(
        self,
        max_distance: int | None = None,
        *,
        equal: bool = True,
        threads: int | None = None,
        memory: int | str | None = None,
    ) -> Iterator[IdPairs]:
        """Every pair of documents within the distance, about a million at a time.

        Exact methods join all fingerprints by `neardup.join`'s block tables, whatever their own tables are; the others list what
        each document finds of those before it.

        Args:
            max_distance: up to the index's; that if not given.
            equal: documents with equal fingerprints make pairs. If not, the first of them stands for all, and `groups` lists
                the others: of m equal ones that is m ids, not m (m - 1) / 2 pairs.
            threads: all processors if not given. The result does not depend on it.
            memory: that pairs may take, in bytes or as `4G`, before they go to a temporary file.
        """
        limit, searched = self._search.limit(max_distance), self._contents.searched()
        if not self.is_exact:
            return found_pairs(searched, limit, equal=equal, threads=threads)
        return joined_pairs(searched, limit, equal=equal, threads=threads, memory=memory)

    def groups(self) -> Groups:
        """The documents with equal fingerprints, a group for each fingerprint that several have."""
        return equal_groups(self._contents.searched())

    # --------------------------------------------------------------------------------------------------------- storage

    def save(self, path: str | Path | None = None, *, overwrite: bool = False) -> None:
        """Write all to a folder: where the index was opened or saved before, or to `path`, where no other index may be.

        Segments that are there already are not written again. After a crash at any point, the index is as it was before or
        after. Others that have it opened go on with what they opened. `overwrite`: replace another index that is at `path`.

        Raises:
            OptionError: it was never saved, and no path is given; `state` has no form as JSON.
            InputError: `path` has another index or other files, another process writes to it, or has written since this one was
                opened.
        """
        self._storage.save(path, self._contents.parts, self._manifest(), overwrite=overwrite)

    def reserved(self) -> AbstractContextManager[None]:
        """Be the only one that writes to its folder until the end: `save` is not refused then for what others have done.

        Raises:
            OptionError: it was never saved.
            InputError: another process writes to it, or has written since this one was opened.
        """
        return self._storage.reserved()

    @classmethod
    def open(cls, path: str | Path) -> "Index":
        """The index in a folder; its tables are mapped, and read as they are needed.

        Raises:
            InputError: there is none.
            DataError: it is damaged, or of another format.
        """
        home = Path(path)
        manifest, segments, short = open_segments(home)
        searched_by: dict[str, Any] = {"method": manifest.method, **manifest.options}
        index = cls(max_distance=manifest.max_distance, bits=manifest.bits, **searched_by)
        if manifest.recipe is not None:
            index._recipe = (manifest.recipe, manifest.recipe_fields or {})
        index._storage.home = Home(home, manifest.generation)
        index._contents.restore(manifest, segments, short)
        index.state = manifest.state
        return index

    def _manifest(self) -> Manifest:
        digest, fields = self._recipe or (None, None)
        return Manifest(
            generation=0,
            bits=self.bits,
            max_distance=self.max_distance,
            method=self.method,
            options=self.options,
            recipe=digest,
            recipe_fields=fields,
            added=self._contents.added,
            strings=self._contents.strings,
            state=self.state,
        )
