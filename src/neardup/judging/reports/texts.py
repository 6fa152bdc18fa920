"""READ AGAIN: the texts of some rows, digests of more, and counts of documents by length, in one pass over the inputs."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.arrays import Array
from neardup.fingerprints.simhash import fingerprint_array
from neardup.io.corpora.batch import Batch
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.kernels.digests import digest_documents
from neardup.recipe.recipe import Recipe
from neardup.recipe.tables.parts import FOLDING, VERSION
from neardup.survivors.records.audit_reader import Line
from neardup.text.given_elements import elements_of
from neardup.text.normalizers import compared_form, digests_without_figures

READ_CHARACTERS = 20_000
"""Characters kept of each text, for display."""

LENGTH_STEPS = 40
"""Number of length classes, one per power of two."""


@dataclass(frozen=True, slots=True)
class Text:
    """A document's text.

    Attributes:
        beginning: up to READ_CHARACTERS characters.
        characters: the length of the whole.
        id: as a JSON value.
        fingerprint: None without a recipe.
        digest, without_digits: of the whole text, and of what is left if each run of digits is one mark; equal for equal ones.
    """

    beginning: str
    characters: int
    id: str
    fingerprint: Array | None
    digest: int = 0
    without_digits: int = 0

    @property
    def goes_on(self) -> bool:
        """Whether the text is longer than its beginning."""
        return self.characters > len(self.beginning)

    def differs_in_figures(self, other: "Text") -> bool:
        """Whether the two are equal but for their digits."""
        return self.digest != other.digest and self.without_digits == other.without_digits


@dataclass(frozen=True, slots=True)
class ReadAgain:
    """The result of one pass over the inputs.

    Attributes:
        rows: number of rows read.
        texts: by row.
        documents: bool[rows], the rows that are documents of the files that count.
        lengths: int64[LENGTH_STEPS, 2], kept and removed documents of 2**i to 2**(i + 1) - 1 characters (for i = 0 from none).
        digests: of the rows that were asked for; None if the inputs are not what they were.
    """

    rows: int
    texts: dict[int, Text]
    documents: Array
    lengths: Array
    digests: "Digests | None" = None


@dataclass(frozen=True, slots=True)
class Digests:
    """Digests of texts.

    Attributes:
        rows: int64[n], ascending.
        whole, without_digits: uint64[n], as in `Text`.
    """

    rows: Array
    whole: Array
    without_digits: Array

    def of(self, rows: Array) -> tuple[Array, Array]:
        """Both digests of some of the rows."""
        at = np.searchsorted(self.rows, rows)
        return self.whole[at], self.without_digits[at]

    def differ_in_figures(self, rows: Array, others: Array) -> Array:
        """Which of these documents are equal to the others but for their digits: bool[n]."""
        (left, left_rest), (right, right_rest) = self.of(rows), self.of(others)
        differ: Array = (left != right) & (left_rest == right_rest)
        return differ


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts that were read again.

    Attributes:
        read: those of the inputs; None if none were read, and `reason` why.
        reference: those of a reference, by file and row.
        normalize, version: of the run's recipe.
    """

    read: ReadAgain | None
    reference: dict[tuple[str, int], Text]
    reason: str = ""
    normalize: tuple[Any, ...] = FOLDING
    version: int = VERSION

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
    compared: Array,
    removed: Array,
    *,
    recipe: Recipe | None,
    only: frozenset[str] | None = None,
) -> ReadAgain:
    """Read the inputs again.

    Args:
        corpus: the inputs.
        rows: those whose texts are kept.
        compared: int64, ascending, the rows whose digests are kept.
        removed: bool[rows].
        recipe: of the run, for fingerprints and normalizers.
        only: the files whose documents are counted, all if None.

    Raises:
        RowError, DataError: as the first reading would.
    """
    ordered = np.array(sorted(set(rows)), np.int64)
    texts: dict[int, Text] = {}
    powers = np.zeros(len(removed), np.uint8)  # 1 + the power of two of the length; 0: no document
    whole, without_digits = np.zeros(len(compared), np.uint64), np.zeros(len(compared), np.uint64)
    end = 0
    for first, (batch, lengths) in corpus.map(_measure):
        end = first + len(lengths)
        if end > len(removed):
            break  # the inputs have grown
        powers[first:end] = lengths
        here = slice(*np.searchsorted(compared, [first, end]).tolist())
        whole[here], without_digits[here] = _digests_of(batch, compared[here] - first, recipe)
        for row in ordered[slice(*np.searchsorted(ordered, [first, end]).tolist())].tolist():
            if (text := text_of(batch, row - first, recipe)) is not None:
                texts[row] = text
    lengths = np.zeros((LENGTH_STEPS, 2), np.int64)
    if corpus.starts is None or corpus.starts[-1] != len(removed):
        return ReadAgain(end, {}, powers > 0, lengths)
    documents = powers > 0
    for number, shard in enumerate(corpus.shards):
        if only is not None and shard.name not in only:
            documents[corpus.rows_of(number)] = False
    for column, chosen in enumerate((documents & ~removed, documents & removed)):
        lengths[:, column] = np.bincount(powers[chosen].astype(np.int64) - 1, minlength=LENGTH_STEPS)
    return ReadAgain(len(removed), texts, documents, lengths, Digests(compared, whole, without_digits))


def _digests_of(batch: Batch, places: Array, recipe: Recipe | None) -> tuple[Array, Array]:
    """The digests of the texts at some places of a batch, as in `Text`. The digits of given elements count."""
    texts = batch.texts.take(pa.array(places, pa.int64()))
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    folded = compared_form(texts, FOLDING if recipe is None or batch.of_elements else recipe.normalize)
    whole = np.empty((len(places), 2), np.uint64)
    digest_documents(folded.data, folded.offsets, whole)
    if batch.of_elements:
        return whole[:, 0], whole[:, 0]
    return whole[:, 0], digests_without_figures(folded)


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
    whole, rest = (int(digest[0]) for digest in _digests_of(batch, np.array([place]), recipe))
    if batch.of_elements:
        text = json.dumps(elements_of(text), ensure_ascii=False)
    return Text(text[:READ_CHARACTERS], len(text), batch.ids[place].as_py(), values, whole, rest)


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
