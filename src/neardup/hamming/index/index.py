"""The Hamming index: one interface over every method.

`contents` adds and removes documents, `search` answers queries, `saving` writes to a folder, and `search_options` checks options.
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
from neardup.hamming.index.files.folder import Manifest, home_of, open_segments
from neardup.hamming.index.files.saving import Home, Storage
from neardup.hamming.index.files.stored_recipe import StoredRecipe
from neardup.hamming.index.methods.table import IndexMethod
from neardup.hamming.index.search import equal_groups, found_pairs, joined_pairs, near_all, near_many, near_one
from neardup.hamming.index.search_options import search_options
from neardup.options import IndexOptions
from neardup.recipe.kinds import FingerprintRecipe
from neardup.recipe.presets import RecipeLike, any_recipe_of, usual_distance
from neardup.recipe.programs import ProgramRecipe
from neardup.recipe.serialization import check_same
from neardup.recipe.short_rule import SHORT_RULE
from neardup.recipe.vectors import VectorRecipe


class Index:
    """Fingerprints with ids, searched by Hamming distance.

    Added documents can be found at once. New documents are in a buffer, which queries compare one by one. When the buffer is
    full, its documents move to the tables of a segment. Segments grow by a factor, so a document moves only a few times. A
    removed document is marked, and dropped when its segment is rebuilt.

    Attributes:
        bits: bits of a fingerprint, a multiple of 64.
        max_distance: the largest distance that a query may ask for.
        method: one of `neardup.hamming.index.methods.table.METHODS`, or `auto`. With `auto`, each segment has the exact method that
            `neardup.hamming.index.planning.planner` chooses for its size.
        options: the method options that were given.
        recipe: the recipe of the fingerprints; None if unknown.
        state: plain JSON values that a program needs to continue where it stopped. They are saved together with the index, in one
            step. None if there are none.
        short_rule: the version of the rule of short texts, to which an index keeps by which it began.
    """

    state: dict[str, Any] | None
    short_rule: int

    def __init__(
        self,
        *,
        max_distance: int | None = None,
        bits: int = 64,
        method: IndexMethod = "auto",
        recipe: RecipeLike | VectorRecipe | ProgramRecipe | None = None,
        **options: Unpack[IndexOptions],
    ) -> None:
        """Create an empty index.

        Args:
            max_distance, bits, method: see the class. Without `max_distance`, it is the recipe's.
            recipe: the recipe of the fingerprints, its name, or the path of its file. If you give one, the command line adds only
                fingerprints of this recipe to the index.
            **options: options of the method.

        Raises:
            OptionError: a value that is not allowed, or an option that the method does not have.
        """
        recipe = None if recipe is None else any_recipe_of(recipe)
        if max_distance is None and recipe is not None:
            max_distance = usual_distance(recipe)
        if max_distance is None:
            raise OptionError(
                "Give `max_distance`, the largest that will be asked for, such as Index(max_distance=3), or a recipe that has one."
            )
        search = search_options(max_distance, bits, method, cast(dict[str, int], options))
        if recipe is not None and 64 * recipe.words != bits:
            raise OptionError(
                f"`bits={bits}`: fingerprints of this recipe take {64 * recipe.words}. Give `bits={64 * recipe.words}`."
            )
        self.bits, self.max_distance = search.bits, search.max_distance
        self.method, self.options = search.method, search.options
        self._search, self._contents = search, Contents(search)
        self._recipe = None if recipe is None else StoredRecipe(recipe.digest(), recipe.stored())
        self._storage = Storage()
        self.state, self.short_rule = None, SHORT_RULE

    @property
    def recipe(self) -> FingerprintRecipe | None:
        """The recipe of the fingerprints; None if unknown."""
        return None if self._recipe is None else self._recipe.restored

    def take_files(self, recipe: RecipeLike | VectorRecipe | ProgramRecipe) -> None:
        """Take the files of the index's recipe that are gone from the same recipe, whose files are at hand; `save` keeps them.

        Args:
            recipe: the index's recipe, or its name or path.

        Raises:
            RecipeMismatch: it is another recipe.
        """
        given = any_recipe_of(recipe)
        if self._recipe is not None:
            check_same(given, self._recipe.fields, "The index")
            self._recipe = self._recipe.with_files_of(given)

    @property
    def has_strings(self) -> bool | None:
        """Whether ids are strings; None while there are no ids. You can set it before you add the first document."""
        return self._contents.strings

    @has_strings.setter
    def has_strings(self, strings: bool | None) -> None:
        self._contents.strings = strings

    @property
    def is_exact(self) -> bool:
        """Whether queries find every document within the distance."""
        return self._search.is_exact

    def hit_probability(self, distance: int | None = None) -> float:
        """The probability that a query finds a document at a distance: the lowest of all segments.

        For exact methods it is 1. For prefix tables it follows from the bits that this index has drawn, over all choices of the
        bits that differ: exact for up to 16 tables, by inclusion and exclusion, otherwise simulated with a fixed seed. For sorted
        orders it is simulated with the permutations of this index, for uniform fingerprints; if many fingerprints are near one
        another, it is lower. `neardup.plan` reports the mean over all permutations that could be drawn. A small index has no tables
        yet: all of it is compared with each query, so the probability is 1.

        Args:
            distance: up to the index's max_distance, which is the default.
        """
        return self._contents.documents.hit_probability(self._search.limit(distance, name="distance"))

    def info(self, *, verify: bool = False) -> IndexInfo:
        """Facts about the index. With `verify`, also reads every page of its mapped files and compares it with its checksum."""
        return self._contents.info(self._recipe, self.short_rule, verify=verify)

    def __len__(self) -> int:
        """The number of documents that can be found."""
        return len(self._contents.documents)

    def __repr__(self) -> str:
        return f"Index({counted(len(self), 'document')}, {self.bits} bits, distance {self.max_distance}, {self.method})"

    # --------------------------------------------------------------------------------------------------------- changes

    def add(self, ids: Any, fingerprints: Array) -> None:
        """Add documents.

        Args:
            ids: integers or strings, as a list, a NumPy array or an Arrow array. None numbers the documents, starting at the number
                of documents ever added. Several documents may have the same id.
            fingerprints: uint64[n] or uint64[n, words].

        Raises:
            OptionError: a value is not allowed, or the ids are integers and those of the index strings, or the reverse.
        """
        self._contents.add(ids, fingerprints)

    def add_short(self, ids: Any, digests: Array) -> None:
        """Add texts that are too short to compare by fingerprint. `find_short` finds them by equality.

        Args:
            ids: as in `add`, but not None.
            digests: uint64[n, 2], digests of the normalized texts (`neardup.fingerprints.simhash.Fingerprints.digests`).

        Raises:
            OptionError: as in `add`.
        """
        self._contents.add_short(ids, digests)

    def remove(self, ids: Any) -> int:
        """Remove all documents and short texts that have one of these ids; return their number."""
        return self._contents.remove(ids)

    def merge(self) -> None:
        """Merge all segments into one, which is the fastest to search, and drop removed documents."""
        self._contents.merge()

    # --------------------------------------------------------------------------------------------------------- queries

    def query(self, fingerprint: int | np.uint64 | Array, max_distance: int | None = None) -> list[tuple[Any, int]]:
        """The ids within the distance of one fingerprint, with their distances: nearest first, then in the order of adding.

        Args:
            fingerprint: an integer, or uint64[words].
            max_distance: up to the index's, which is the default.
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
        """The documents near each of many fingerprints, all in memory. If they may not fit, use `query_stream`.

        Args:
            fingerprints: uint64[q] or uint64[q, words].
            max_distance: up to the index's, which is the default.
            nearest: return only the nearest document for each; of equally near ones, the one added first.
            threads: the number of threads; by default, one for each processor. The result does not depend on it.
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
        """Like `query_many`, but yields the answers of some thousand queries at a time, or fewer if these have very many neighbors.

        Each thread holds up to about a million neighbors in memory, or those of one query if they are more.
        """
        rows, limit = self._search.rows(fingerprints), self._search.limit(max_distance)
        return near_many(self._contents.searched(), rows, limit, nearest=nearest, threads=threads)

    def find_short(self, digests: Array, *, nearest: bool = False) -> Neighbors:
        """The short texts whose digests are equal to each of `digests`, uint64[q, 2]. All distances are 0.

        `nearest`: return only the text added first, for each.
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
        """Yield every pair of documents within the distance, about a million at a time.

        Exact methods join all fingerprints with the block tables of `neardup.join`, whatever tables the index has. Other methods
        query the index with each document, and list the earlier documents that it finds.

        Args:
            max_distance: up to the index's, which is the default.
            equal: whether documents with equal fingerprints make pairs. If not, the first of them stands for all, and `groups`
                lists the others: m equal documents then make m ids, not m (m - 1) / 2 pairs.
            threads: the number of threads; by default, one for each processor. The result does not depend on it.
            memory: the memory that pairs may take, in bytes or as `4G`, before they go to a temporary file.
        """
        limit, searched = self._search.limit(max_distance), self._contents.searched()
        if not self.is_exact:
            return found_pairs(searched, limit, equal=equal, threads=threads)
        return joined_pairs(searched, limit, equal=equal, threads=threads, memory=memory)

    def groups(self) -> Groups:
        """The documents with equal fingerprints: one group for each fingerprint that several documents have."""
        return equal_groups(self._contents.searched())

    # --------------------------------------------------------------------------------------------------------- storage

    def save(self, path: str | Path | None = None, *, overwrite: bool = False) -> None:
        """Save the index in a folder: the one from which it was opened or to which it was saved before, or `path`.

        Segments that the folder already has are not written again. A crash at any point leaves either the old or the new index.
        Other processes that have opened the index continue to read the version that they opened.

        Args:
            path: the folder. It must not hold another index, unless you overwrite it.
            overwrite: replace another index at `path`.

        Raises:
            OptionError: the index was never saved and no path is given, or `state` cannot be written as JSON.
            InputError: `path` has another index or other files, or another process writes to it or has written to it since this
                index was opened.
        """
        self._storage.save(path, self._contents.parts, self._manifest(), overwrite=overwrite)
        home = self._storage.home
        if self._recipe is not None and self._recipe.home is not None and home is not None:
            self._recipe = self._recipe.at(home.path)

    def reserved(self, path: str | Path | None = None) -> AbstractContextManager[None]:
        """A context in which no other process can write to the folder, so `save` cannot fail because another process has written.

        Args:
            path: the folder where an index that was never saved will be saved.

        Raises:
            OptionError: the index was never saved, and no path is given.
            InputError: another process writes to the folder, or has written to it since this index was opened.
        """
        return self._storage.reserved(path)

    @classmethod
    def open(cls, path: str | Path) -> "Index":
        """Open the index in a folder. Its tables are mapped, and read when they are needed.

        Before anything of a segment is read, the checksums of all its pages are compared, which takes about a tenth of a second for
        a gigabyte in memory. So whatever reads documents may raise DataError, too.

        Raises:
            InputError: there is no index in the folder, or a file cannot be read.
            DataError: a file of the index is damaged, missing, of another index, or of another format.
        """
        home = home_of(path)
        manifest, segments, short = open_segments(home)
        searched_by: dict[str, Any] = {"method": manifest.method, **manifest.options}
        index = cls(max_distance=manifest.max_distance, bits=manifest.bits, **searched_by)
        if manifest.recipe is not None:
            index._recipe = StoredRecipe(manifest.recipe, manifest.recipe_fields or {}, home)
        index._storage.home = Home(home, manifest.generation)
        index._contents.restore(manifest, segments, short)
        index.state, index.short_rule = manifest.state, manifest.short_rule
        return index

    def _manifest(self) -> Manifest:
        return Manifest(
            generation=0,
            bits=self.bits,
            max_distance=self.max_distance,
            method=self.method,
            options=self.options,
            recipe=None if self._recipe is None else self._recipe.digest,
            recipe_fields=None if self._recipe is None else self._recipe.fields,
            added=self._contents.added,
            strings=self._contents.strings,
            state=self.state,
            short_rule=self.short_rule,
        )
