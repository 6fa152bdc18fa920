"""READ AGAIN: the texts of some rows, and counts of documents by file and by length, in one pass over the inputs."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.arrays import Array
from neardup.fingerprints.simhash import fingerprint_array
from neardup.io.batch import Batch
from neardup.io.corpus import FileCorpus
from neardup.recipe.parts import FOLDING
from neardup.recipe.recipe import Recipe
from neardup.survivors.audit_reader import Line
from neardup.text.given_elements import elements_of

READ_CHARACTERS = 20_000
"""Characters kept of each text, for display."""

LENGTH_STEPS = 40
"""Number of length classes, one per power of two."""


@dataclass(frozen=True, slots=True)
class Text:
    """The beginning of a document's text, its total number of characters, its id and its fingerprint."""

    beginning: str
    characters: int
    id: str
    fingerprint: Array | None


@dataclass(frozen=True, slots=True)
class FileCounts:
    """Number of documents in an input, and how many of them were removed."""

    name: str
    documents: int
    removed: int


@dataclass(frozen=True, slots=True)
class ReadAgain:
    """The result of one pass over the inputs.

    Attributes:
        rows: number of rows read.
        texts: by row.
        files: in the order of the inputs, without those that have no documents.
        lengths: int64[LENGTH_STEPS, 2], kept and removed documents of 2**i to 2**(i + 1) - 1 characters (for i = 0 from none).
    """

    rows: int
    texts: dict[int, Text]
    files: list[FileCounts]
    lengths: Array


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts that were read again.

    Attributes:
        read: those of the inputs; None if none were read, and `reason` why.
        reference: those of a reference, by file and row.
        normalize: the normalizers of the run's recipe.
    """

    read: ReadAgain | None
    reference: dict[tuple[str, int], Text]
    reason: str = ""
    normalize: tuple[Any, ...] = FOLDING

    def survivor_of(self, line: Line) -> Text | None:
        """Return the text of the survivor that a line names."""
        if self.read is None:
            return None
        if line["survivor_row"] is None:
            return self.reference.get((line["reference"], line["reference_row"]))
        return self.read.texts.get(line["survivor_row"])

    def removed(self, line: Line) -> Text | None:
        """Return the text that was removed."""
        return None if self.read is None else self.read.texts.get(line["row"])


def read_again(
    corpus: FileCorpus,
    rows: Iterable[int],
    removed: Array,
    *,
    recipe: Recipe | None,
    only: frozenset[str] | None = None,
) -> ReadAgain:
    """Read the inputs again for the texts of some rows; `only`: the files whose documents are counted, all if None.

    Raises:
        RowError, DataError: as the first reading would.
    """
    ordered = np.array(sorted(set(rows)), np.int64)
    texts: dict[int, Text] = {}
    documents = np.zeros(len(removed), np.uint8)  # 1 + the power of two of the length; 0: no document
    end = 0
    for first, (batch, lengths) in corpus.map(_measure):
        end = first + len(lengths)
        if end > len(removed):
            break  # the inputs have grown
        documents[first:end] = lengths
        some = ordered[slice(*np.searchsorted(ordered, [first, end]).tolist())]
        for row in some.tolist():
            if (text := text_of(batch, row - first, recipe)) is not None:
                texts[row] = text
    if corpus.starts is None or corpus.starts[-1] != len(removed):
        return ReadAgain(end, {}, [], np.zeros((LENGTH_STEPS, 2), np.int64))
    files, counted = [], np.zeros((LENGTH_STEPS, 2), np.int64)
    for number, shard in enumerate(corpus.shards):
        if only is not None and shard.name not in only:
            continue
        here = corpus.rows_of(number)
        is_document = documents[here] > 0
        gone = removed[here] & is_document
        if is_document.any():
            files.append(FileCounts(shard.name, int(is_document.sum()), int(gone.sum())))
        for column, some_rows in enumerate((is_document & ~gone, gone)):
            powers = documents[here][some_rows].astype(np.int64) - 1
            counted[:, column] += np.bincount(powers, minlength=LENGTH_STEPS)
    return ReadAgain(len(removed), texts, files, counted)


def _measure(batch: Batch) -> tuple[Batch, Array]:
    lengths = pc.fill_null(pc.utf8_length(batch.texts), -1).to_numpy(zero_copy_only=False)
    powers = np.floor(np.log2(np.maximum(lengths, 1))).astype(np.uint8) + 1
    powers[lengths < 0] = 0
    return batch, powers


def text_of(batch: Batch, place: int, recipe: Recipe | None) -> Text | None:
    """Return the text at a place of a batch; None if that row was rejected."""
    text = batch.texts[place].as_py()
    if text is None:
        return None
    values = None if recipe is None else fingerprint_array(pa.array([text], pa.large_string()), recipe).values[0]
    if batch.of_elements:
        text = json.dumps(elements_of(text), ensure_ascii=False)
    return Text(text[:READ_CHARACTERS], len(text), batch.ids[place].as_py(), values)


def read_reference(
    corpus: FileCorpus, places: Iterable[tuple[str, int]], *, recipe: Recipe | None
) -> dict[tuple[str, int], Text]:
    """Read the texts of some rows of a reference, given by file and row; only those files are read."""
    rows_of: dict[str, set[int]] = {}
    for name, row in places:
        rows_of.setdefault(name, set()).add(row)
    texts: dict[tuple[str, int], Text] = {}
    for shard in corpus.shards:
        for first, batch in corpus.part([shard]).map(lambda batch: batch) if shard.name in rows_of else ():
            for row in rows_of[shard.name]:
                if (
                    first <= row < first + len(batch.texts)
                    and (text := text_of(batch, row - first, recipe)) is not None
                ):
                    texts[shard.name, row] = text
    return texts
