"""Temporary files with the elements of texts that joins and verification compare: of all texts, or of some that are read again."""

from enum import Enum
from functools import partial

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.simhash import Fingerprints, fingerprint_chunks, join_fingerprints
from neardup.io.corpora.batch import Batch
from neardup.io.corpora.protocol import Corpus
from neardup.io.resume.checkpoints import NO_CHECKPOINTS, Checkpoints
from neardup.kernels.matching.elements import OCCURRENCES, SEQUENCE
from neardup.kernels.matching.similarities import Stored, similarities_of, working_memory
from neardup.matching.similarities.first_pass import first_pass
from neardup.matching.similarities.table import Elements, in_form, maker_of
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.recipe.similarity import Similarity
from neardup.recipe.tables.similarities import SimilarityName
from neardup.resources.held_spool import HeldSpool, Share, unknown
from neardup.resources.resources import Resources
from neardup.resources.scratch import IN_MEMORY, Scratch, parts_of
from neardup.resources.spool import Spool
from neardup.text.columns import in_chunks

MAX_MAPPED_BYTES = 256 << 20
"""Mapped pages are released after this many bytes of them have been read."""
MAPPED_SHARE = 4
"""Or after a quarter of the memory, if that is less. They are no share of it: the system takes them back when it needs memory."""
AROUND_BYTES = 64 << 10
"""Bytes of a file that the system maps around each access."""


class Form(Enum):
    """Which elements of a text are kept. `neardup.matching.similarities.table` has both forms of each similarity."""

    JOIN = "what a join indexes"
    VERIFICATION = "what verification compares"


class ElementStore:
    """The elements of the documents of a corpus, in temporary files that are mapped into memory.

    Make a store with `of_join` or `of_verification`. Fill it batch by batch: call `of_batch` or `first_pass` on any thread, then
    `take` in the order of the batches, and `finish` at the end. `read_again` does all of this.

    Attributes:
        form: the form of the elements.
        values: uint64[], the elements of all documents, one document after another.
        starts, ends: int64[rows]; a row has values[starts[row]:ends[row]], which is empty if its text was null.
        bytes_each: bytes of a value in the files, with its weight.
        is_full: whether the room was too small. If so, nothing is kept.
    """

    def __init__(
        self,
        form: Form,
        similarity: Similarity | SimilarityName,
        recipe: Recipe,
        *,
        resources: Resources,
        room: int | None = None,
        memory: int = 0,
        share: Share = unknown,
    ) -> None:
        self.form, self._maker, self._recipe, self._room = form, maker_of(similarity), recipe, room
        each = memory * 8 // self._maker.row.element_bytes
        held = partial(HeldSpool, resources=resources, use="elements", share=share)
        self._values, self._weights = held(np.uint64, memory=each), held(np.float64, memory=memory - each)
        self._places = Spool(np.int64, files=resources.files)
        self._resources = resources
        self._total, self._longest, self._seen = 0, 0, 0
        self.bytes_each, self.is_full = 8, False
        self.starts = self.ends = np.empty(0, np.int64)

    @classmethod
    def of_join(
        cls,
        similarity: Similarity | SimilarityName,
        recipe: Recipe,
        *,
        resources: Resources,
        room: int,
        share: Share = unknown,
    ) -> "ElementStore":
        """An empty store of what a join indexes: in memory up to its share, else in at most `room` bytes of files.

        `recipe` has the features and weights of the cosine. `share`: the fraction of the corpus that was read, if it is known.
        """
        memory = resources.share("elements")
        return cls(Form.JOIN, similarity, recipe, resources=resources, room=room, memory=memory, share=share)

    @classmethod
    def of_verification(
        cls, similarity: Similarity | SimilarityName, recipe: Recipe, *, resources: Resources
    ) -> "ElementStore":
        """An empty store of what verification compares, in files. `recipe` has the features and weights of the cosine."""
        return cls(Form.VERIFICATION, similarity, recipe, resources=resources)

    def of_batch(self, batch: Batch) -> tuple[Array, Elements]:
        """The rows of a batch that have a text, and their elements."""
        if batch.made is not None:
            return _rows_of(batch), batch.made.joined if self.form is Form.JOIN else batch.made.compared
        of_texts = self._maker.elements if self.form is Form.JOIN else self._maker.stored
        return _of_rows(batch, Elements.joined([of_texts(chunk, self._recipe) for chunk in in_chunks(batch.texts)]))

    def first_pass(self, batch: Batch, recipe: Recipe) -> tuple[Fingerprints, tuple[Array, Elements] | None]:
        """The fingerprints of a batch by `recipe` and, if there is still room, what `of_batch` returns; for the form of joins."""
        if batch.made is not None:
            return batch.made.fingerprints, None if self.is_full else self.of_batch(batch)
        if self.is_full:
            return fingerprint_chunks(in_chunks(batch.texts), recipe), None
        parts = [first_pass(chunk, recipe, self._maker) for chunk in in_chunks(batch.texts)]
        prints = join_fingerprints([prints for prints, _ in parts], recipe)
        return prints, _of_rows(batch, Elements.joined([elements for _, elements in parts]))

    def take(self, first: int, found: tuple[Array, Elements] | None) -> None:
        """Keep the elements of the batch that starts at row `first`. None: they found no room, now or in an earlier run."""
        if found is None and not self.is_full:
            self._give_up()
        if found is None or self.is_full:
            return
        rows, elements = found
        if len(elements.weights):
            self.bytes_each = 16
        if self._room is not None and self.bytes_each * (self._total + len(elements.values)) > self._room:
            self._give_up()
            return
        begins, ends = elements.offsets[:-1], elements.offsets[1:]
        self._places.write(np.column_stack([first + rows, self._total + begins, self._total + ends]))
        self._values.write(elements.values)
        self._weights.write(elements.weights)
        self._total += len(elements.values)
        self._longest = max(self._longest, int(np.diff(elements.offsets).max(initial=0)))

    def _give_up(self) -> None:
        self.is_full = True
        self.close()

    def finish(self, rows: int) -> None:
        """Finish the store after the last batch. `rows`: the number of rows of the corpus."""
        zeros = self._resources.scratch.zeros
        self.starts, self.ends = zeros(rows, np.int64), zeros(rows, np.int64)
        self._places.map()
        places = self._places.values.reshape(-1, 3)
        for part in parts_of(len(places)):
            here, starts, ends = places[part].T
            self.starts[here], self.ends[here] = starts, ends
        del places
        self._places.close()
        self._values.map()
        self._weights.map()

    def first_elements(self, rows: Array) -> Array:
        """uint64[n]: the first element of some rows (int64[n]) that have elements."""
        self.was_read(len(rows), 0)
        found: Array = self.values[self.starts[rows]]
        return found

    def elements(self, rows: Array) -> Elements:
        """The elements of some rows (int64[n]), one row after another."""
        starts, ends = self.starts[rows], self.ends[rows]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(ends - starts)])
        values = self._values.take(starts, ends)
        weights = self._weights.take(starts, ends) if len(self._weights.values) else np.empty(0)
        values.flags.writeable = weights.flags.writeable = False
        return Elements(values, weights, offsets)

    def sets(self, rows: Array) -> Elements:
        """The elements of some rows (int64[n]) as bounds count them: of a sequence, each occurrence is one of its own."""
        found = self.elements(rows)
        if self.form is Form.VERIFICATION and self._maker.verified == SEQUENCE:
            return in_form(found.values, found.offsets, OCCURRENCES)
        return found

    @property
    def serves_verification(self) -> bool:
        """Whether verification compares the elements of this form. For most similarities, it compares those of a join."""
        return self.form is Form.VERIFICATION or self._maker.joined == self._maker.verified

    @property
    def is_in_memory(self) -> bool:
        """Whether values are read without copies."""
        return self._values.is_in_memory

    @property
    def _most_mapped(self) -> int:
        return min(MAX_MAPPED_BYTES, self._resources.memory_bytes // MAPPED_SHARE)

    @property
    def values(self) -> Array:
        return self._values.values

    def stored(self, rows: Array | None = None, *, scratch: Scratch = IN_MEMORY) -> Stored:
        """The elements of `rows` (int64[n], by default all rows), as kernels compare them. For one thread, until `close`."""
        starts, ends = self.starts, self.ends
        if rows is not None:
            starts, ends = scratch.take(starts, rows), scratch.take(ends, rows)
        code = self._maker.code
        return Stored(code, self.values, self._weights.values, starts, ends, working_memory(code, self._longest))

    def similarities(self, left: Array, right: Array, min_similarity: float) -> Array:
        """float64[p]: the similarity of rows left[i] and right[i] (int64[p]), or -1 if it is below `min_similarity`."""
        out, stored = np.empty(len(left)), self.stored()
        step = max(1, self._most_mapped // (2 * AROUND_BYTES))
        for first in range(0, len(left), step):
            these = slice(first, first + step)
            similarities_of(stored, left[these], right[these], float(min_similarity), out[these])
            self.was_read(2 * len(left[these]), 0)
        return out

    def was_read(self, places: int, values: int) -> None:
        """Say that so many values at so many places were read; beyond a limit, their pages go back to the operating system."""
        self._seen += AROUND_BYTES * places + self.bytes_each * values
        if self._seen > self._most_mapped:
            self._values.release()  # the content stays in the files
            self._weights.release()
            self._seen = 0

    def close(self) -> None:
        self._places.close()
        self._values.close()
        self._weights.close()

    def __enter__(self) -> "ElementStore":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_again(
    store: ElementStore,
    corpus: Corpus,
    wanted: Array,
    *,
    progress: Progress,
    checkpoints: Checkpoints = NO_CHECKPOINTS,
) -> ElementStore:
    """Fill the store with the elements of the rows in `wanted` (bool[rows]), in one streaming pass. The caller closes the store."""
    try:
        for first, found in checkpoints.map(corpus, store.of_batch, name="read again", wanted=wanted):
            store.take(first, found)
            progress.advance(len(found[0]))
        store.finish(len(wanted))
    except BaseException:
        store.close()
        raise
    return store


def _of_rows(batch: Batch, elements: Elements) -> tuple[Array, Elements]:
    """The rows of a batch that have a text, and the elements of these rows."""
    rows = _rows_of(batch)
    return rows, elements._replace(offsets=np.append(elements.offsets[rows], elements.offsets[-1]))


def _rows_of(batch: Batch) -> Array:
    """The rows of a batch that have a text."""
    return np.flatnonzero(batch.texts.is_valid().to_numpy(zero_copy_only=False))
