"""The list of what is repeated: the passages that are cut, grouped by their tokens, the most repeated first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.io.corpora.protocol import Corpus
from neardup.io.formats.json.json_values import quote
from neardup.io.resume.checkpoints import NO_CHECKPOINTS
from neardup.progress import Progress
from neardup.resources.resources import Resources
from neardup.resources.spool import Spool
from neardup.survivors.decisions import NONE
from neardup.survivors.outcomes import Locate
from neardup.survivors.records.audit import CHUNK_ROWS, lines_of
from neardup.survivors.records.audit_schema import (
    BOOLEAN,
    DOCUMENTS,
    ID,
    INTEGER,
    REFERENCE,
    RESULTS,
    STRING,
    Column,
)
from neardup.survivors.records.result_tables import table_of
from neardup.survivors.repeats.find import Repeats
from neardup.survivors.repeats.outcomes import Passages, of_wanted
from neardup.survivors.repeats.records.cut_log import EVERYWHERE, SEVERAL, columns_for, references_of


@dataclass(frozen=True)
class ListedPlaces:
    """Places where passages stand.

    Attributes:
        found: int64[n, 5]: document, column, first character and end, and whether it is cut there.
        inputs: rows of the corpus itself; the others are of a reference.
        ids, columns, locate: as for `CutSegments`.
    """

    found: Array
    inputs: int
    ids: Any
    columns: Sequence[str]
    locate: Locate | None = None

    @classmethod
    def none(cls, passages: Passages, ids: Any, columns: Sequence[str], locate: Locate | None = None) -> "ListedPlaces":
        """No place, with all that names some."""
        return cls(np.empty((0, 5), np.int64), passages.repeats.inputs, ids, columns, locate)

    @cached_property
    def references(self) -> tuple[list[str | None], Array]:
        """As for `CutSegments`."""
        return references_of(self.found[:, 0] - self.inputs, self.locate)


# fmt: off
PLACE_COLUMNS: "tuple[Column[ListedPlaces], ...]" = (
    Column("id", ID, "Id of a document with the passage.", EVERYWHERE,
           lambda places: places.ids.take(pa.array(places.found[:, 0]))),
    Column("row", INTEGER, "Its row over all inputs, counted from 0; null if it is in the reference.", EVERYWHERE,
           lambda places: np.where(places.found[:, 0] < places.inputs, places.found[:, 0], NONE), nullable=True),
    Column("column", STRING, "Text column of the passage.", EVERYWHERE,
           lambda places: [places.columns[number] for number in places.found[:, 1].tolist()], only=SEVERAL),
    Column("start", INTEGER, "First character of the passage in its text, counted from 0.", EVERYWHERE,
           lambda places: places.found[:, 2]),
    Column("end", INTEGER, "The character behind its last one.", EVERYWHERE,
           lambda places: places.found[:, 3]),
    Column("is_cut", BOOLEAN, "The passage is cut there, or some of it is.", EVERYWHERE,
           lambda places: places.found[:, 4] > 0),
    Column("reference", STRING, "Reference file of the document; null if it is in the inputs.", (DOCUMENTS,),
           lambda places: places.references[0], only=REFERENCE, nullable=True),
    Column("reference_row", INTEGER, "Its row there; null if it is in the inputs.", EVERYWHERE,
           lambda places: places.references[1], only=REFERENCE, nullable=True),
)
"""What is told of each place, in the order of writing."""
# fmt: on


@dataclass(frozen=True)
class Repeated:
    """Passages, the most repeated first; of these, the longest.

    Attributes:
        tokens: int64[passages], tokens of each.
        firsts: int64[passages + 1], the first of its places.
        places: of all; the first of each passage is the copy that stays, unless all are cut.
        texts: the texts of these first copies, as bytes.
        spans: int64[passages, 2], where the text of each is there.
    """

    tokens: Array
    firsts: Array
    places: ListedPlaces
    texts: Spool
    spans: Array

    def __enter__(self) -> "Repeated":
        return self

    def __exit__(self, *_: object) -> None:
        self.texts.close()

    def text(self, number: int) -> str:
        """The text of the first copy of a passage."""
        begin, end = self.spans[number].tolist()
        return self.texts.values[begin:end].tobytes().decode()

    def lines(self) -> Iterator[str]:
        """One JSON line for each passage: how often it stands, its tokens, the product of both, its text, and where it stands."""
        columns = columns_for(
            PLACE_COLUMNS,
            DOCUMENTS,
            are_several=len(self.places.columns) > 1,
            with_reference=self.places.locate is not None,
        )
        counts, tokens = np.diff(self.firsts).tolist(), self.tokens.tolist()
        for numbers in _chunks(self.firsts):
            first, end = self.firsts[numbers.start], self.firsts[numbers.stop]
            told = lines_of(columns, replace(self.places, found=self.places.found[first:end]))
            for number in range(numbers.start, numbers.stop):
                mine = told[self.firsts[number] - first : self.firsts[number + 1] - first]
                yield (
                    f'{{"count": {counts[number]}, "tokens": {tokens[number]}, "total": {counts[number] * tokens[number]}, '
                    f'"text": {quote(self.text(number))}, "places": [{", ".join(line[:-1] for line in mine)}]}}\n'
                )

    def table(self, *, with_reference: bool) -> Any:
        """The same as an Arrow table."""
        columns = columns_for(
            PLACE_COLUMNS, RESULTS, are_several=len(self.places.columns) > 1, with_reference=with_reference
        )
        counts = np.diff(self.firsts)
        places = table_of(columns, self.places).to_struct_array().combine_chunks()
        return pa.table(
            {
                "count": counts,
                "tokens": self.tokens,
                "total": counts * self.tokens,
                "text": pa.array([self.text(number) for number in range(len(counts))], pa.large_string()),
                "places": pa.LargeListArray.from_arrays(self.firsts, places),
            }
        )


def _chunks(firsts: Array) -> Iterator[slice]:
    """Passages with about CHUNK_ROWS places together, or one with more."""
    begin = 0
    while begin < len(firsts) - 1:
        end = max(begin + 1, int(np.searchsorted(firsts, firsts[begin] + CHUNK_ROWS, "right")) - 1)
        yield slice(begin, end)
        begin = end


def list_repeated(
    passages: Passages, places: ListedPlaces, reference: Corpus | None, resources: Resources, progress: Progress
) -> Repeated:
    """Group the passages that are cut by their tokens; reads the documents with cuts, and those with first copies, once more.

    `places`: of no passage, with all that is needed to name them.
    """
    repeats, segments = passages.repeats, passages.cut.segments
    with progress.stage("repeated", repeats.inputs):
        groups = _groups_of(_digests(repeats, segments, progress), segments[:, 2])
    own = np.column_stack([groups, segments[:, 0], segments[:, 3:6], np.ones(len(segments), np.int64)])
    others = np.column_stack([groups, segments[:, 1], passages.copies, passages.in_cuts])
    every = np.concatenate([own, others])
    every = every[np.lexsort([-every[:, 5], every[:, 1], every[:, 0]])]  # of equal places, those that are cut
    every = every[np.append(True, (np.diff(every[:, :2], axis=0) != 0).any(axis=1))[: len(every)]]
    every = every[np.lexsort([every[:, 1], every[:, 5], every[:, 0]])]  # a copy that stays comes first
    counts = np.bincount(every[:, 0])
    firsts = np.append(0, np.cumsum(counts))
    tokens = np.zeros(len(counts), np.int64)
    tokens[groups] = segments[:, 2]
    order = np.lexsort([every[firsts[:-1], 1], -tokens, -counts])
    every[:, 1] = repeats.places.rows_of(every[:, 1])
    moved = np.concatenate([np.empty(0, np.int64), *(np.arange(firsts[i], firsts[i + 1]) for i in order)])
    firsts = np.append(0, np.cumsum(counts[order]))
    found = replace(places, found=every[moved][:, 1:])
    texts = Spool(np.uint8, files=resources.files)
    with progress.stage("texts", len(repeats.documents)):
        spans = _write_texts(repeats, found.found[firsts[:-1]], reference, texts, progress)
    return Repeated(tokens[order], firsts, found, texts, spans)


def _digests(repeats: Repeats, segments: Array, progress: Progress) -> Array:
    """uint64[n, 2]: what is equal for segments of equal tokens."""
    found, begins = np.zeros((len(segments), 2), np.uint64), np.ascontiguousarray(segments[:, 0])
    wanted = repeats.places.with_any(begins)

    def digest(rows: Array, texts: Any) -> list[tuple[int, bytes]]:
        digests, stream = [], repeats.stream.of(texts)
        for first_piece, last_piece, row in zip(stream.firsts[:-1], stream.firsts[1:], rows.tolist(), strict=True):
            before = stream.pieces[first_piece:last_piece]
            starts = repeats.places.starts[row] + before - before[0] + np.arange(len(before))
            first, end = np.searchsorted(begins, repeats.places.starts[row : row + 2])
            pieces = np.searchsorted(starts, begins[first:end], "right") - 1
            tokens = begins[first:end] - starts[pieces] + before[pieces]
            for number, token in enumerate(tokens.tolist(), first):
                hashes = stream.hashes[token : token + segments[number, 2]]
                digests.append((number, blake2b(hashes.tobytes(), digest_size=16).digest()))
        return digests

    for each in of_wanted(repeats, None, digest, wanted, "passages-digests", progress, NO_CHECKPOINTS):
        for number, content in (pair for digests in each for pair in digests):
            found[number] = np.frombuffer(content, np.uint64)
    return found


def _groups_of(digests: Array, tokens: Array) -> Array:
    """int64[n]: a number for each, equal for equal tokens."""
    if not len(digests):
        return np.empty(0, np.int64)
    order = np.lexsort([digests[:, 1], digests[:, 0], tokens])
    keys = np.column_stack([digests, tokens.astype(np.uint64)])[order]
    found = np.empty(len(order), np.int64)
    found[order] = np.append(0, np.cumsum((np.diff(keys.view(np.int64), axis=0) != 0).any(axis=1)))
    return found


def _write_texts(repeats: Repeats, firsts: Array, reference: Corpus | None, texts: Spool, progress: Progress) -> Array:
    """Write the texts of some places, as `ListedPlaces.found`; int64[n, 2]: where each is."""
    order = np.argsort(firsts[:, 0], kind="stable")
    rows, spans, size = firsts[order, 0], np.zeros((len(firsts), 2), np.int64), 0
    named = np.zeros(len(repeats.documents), np.bool_)
    named[rows] = True

    def read(numbers: Array, documents: Any) -> list[tuple[int, bytes]]:
        found = []
        for row, text in zip(numbers.tolist(), documents.to_pylist(), strict=True):
            columns = repeats.stream.columns_of(text)
            begin, end = np.searchsorted(rows, [row, row + 1])
            for number in order[begin:end].tolist():
                _, column, first, last, _ = firsts[number].tolist()
                found.append((number, columns[column][first:last].encode()))
        return found

    for each in of_wanted(repeats, reference, read, named, "passages-texts", progress, NO_CHECKPOINTS):
        for number, text in (pair for found in each for pair in found):
            texts.write(np.frombuffer(text, np.uint8))
            spans[number] = size, size + len(text)
            size += len(text)
    texts.map()
    return spans
