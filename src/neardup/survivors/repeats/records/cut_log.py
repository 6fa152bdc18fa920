"""The log of cuts: one line for each segment that is cut, with its copy. Its columns are like those of `audit_schema.py`."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.survivors.decisions import NONE
from neardup.survivors.outcomes import Locate
from neardup.survivors.records.audit import CHUNK_ROWS, AuditChunk, lines_of
from neardup.survivors.records.audit_schema import (
    BOOLEAN,
    DOCUMENTS,
    ID,
    INTEGER,
    REFERENCE,
    RESULTS,
    STRING,
    Column,
    Source,
    columns_within,
)
from neardup.survivors.records.result_tables import table_of
from neardup.survivors.repeats.outcomes import CutDocuments, Passages
from neardup.survivors.repeats.text_cuts import Span, without_spans

ANNOTATION = "passages"
"""The column that `annotate` adds."""
SEVERAL = "several"
"""Of a column: only where the texts are of several columns."""
END_BITS = 32
"""No text has more characters than numbers of so many bits count."""


@dataclass(frozen=True)
class CutSegments:
    """Some of the segments that are cut.

    Attributes:
        passages: what was found.
        ids: Arrow array, the ids of all documents, those of a reference last.
        columns: the names of the text columns.
        locate: for a run against files of a reference.
        separated: bool[all segments], whether a space is put where the span was that ends with each.
        at: which segments.
    """

    passages: Passages
    ids: Any
    columns: Sequence[str]
    locate: Locate | None
    separated: Array
    at: slice = field(default_factory=lambda: slice(None))

    @classmethod
    def of(cls, passages: Passages, ids: Any, columns: Sequence[str], locate: Locate | None = None) -> "CutSegments":
        """All segments."""
        segments, spans = passages.cut.segments, passages.cut.spans[passages.cut.spans[:, 4] > 0]
        texts, numbers = np.unique(spans[:, 0] * len(columns) + spans[:, 1], return_inverse=True)
        own = passages.repeats.places.rows_of(segments[:, 0]) * len(columns) + segments[:, 3]
        number = np.searchsorted(texts, own)
        is_there = number < len(texts)
        is_there[is_there] = texts[number[is_there]] == own[is_there]
        ends = np.isin(number << END_BITS | segments[:, 5], numbers << END_BITS | spans[:, 3])
        return cls(passages, ids, columns, locate, is_there & ends)

    @property
    def segments(self) -> Array:
        """int64[n, 6], as `CutDocuments.segments`."""
        return self.passages.cut.segments[self.at]

    @property
    def copies(self) -> Array:
        """int64[n, 3], as `Passages.copies`."""
        return self.passages.copies[self.at]

    @cached_property
    def rows(self) -> Array:
        """int64[n]: the documents."""
        return self.passages.repeats.places.rows_of(self.segments[:, 0])

    @cached_property
    def copy_rows(self) -> Array:
        """int64[n]: the documents of the copies, those of a reference last."""
        return self.passages.repeats.places.rows_of(self.segments[:, 1])

    @property
    def copy_rows_of_inputs(self) -> Array:
        """The same; -1 for documents of a reference."""
        return np.where(self.copy_rows < self.passages.repeats.inputs, self.copy_rows, NONE)

    @cached_property
    def references(self) -> tuple[list[str | None], Array]:
        """The reference files that hold the copies, and their rows there; None and -1 for copies in the inputs."""
        return references_of(self.copy_rows - self.passages.repeats.inputs, self.locate)

    def names_of(self, numbers: Array) -> list[str]:
        """The names of some text columns (int64[n])."""
        return [self.columns[number] for number in numbers.tolist()]

    @property
    def is_removed(self) -> Array:
        """bool[n]: whether the whole document is removed."""
        return np.isin(self.rows, self.passages.emptied)

    @property
    def separators(self) -> list[str | None]:
        """What is put where the span that ends with each segment was."""
        return [" " if is_separated else None for is_separated in self.separated[self.at].tolist()]


def references_of(rows: Array, locate: Locate | None) -> tuple[list[str | None], Array]:
    """The files of some rows of a reference, and the rows there; None and -1 for negative rows. Without `locate`, only the rows."""
    rows = np.maximum(rows, NONE)
    files: list[str | None] = [None] * len(rows)
    if locate is not None:
        inside = np.flatnonzero(rows >= 0)
        names, rows[inside] = locate(rows[inside])
        for place, name in zip(inside.tolist(), names, strict=True):
            files[place] = name
    return files, rows


EVERYWHERE = (DOCUMENTS, RESULTS)

# fmt: off
CUT_COLUMNS: "tuple[Column[CutSegments], ...]" = (
    Column("id", ID, "Id of the document that loses the passage.", EVERYWHERE,
           lambda found: found.ids.take(pa.array(found.rows))),
    Column("row", INTEGER, "Its row over all inputs, counted from 0.", EVERYWHERE,
           lambda found: found.rows),
    Column("column", STRING, "Text column of the passage.", EVERYWHERE,
           lambda found: found.names_of(found.segments[:, 3]), only=SEVERAL),
    Column("start", INTEGER, "First character of the passage in its text, counted from 0.", EVERYWHERE,
           lambda found: found.segments[:, 4]),
    Column("end", INTEGER, "The character behind its last one.", EVERYWHERE,
           lambda found: found.segments[:, 5]),
    Column("tokens", INTEGER, "Tokens of the passage.", EVERYWHERE,
           lambda found: found.segments[:, 2]),
    Column("copy_id", ID, "Id of the document with the earlier copy.", EVERYWHERE,
           lambda found: found.ids.take(pa.array(found.copy_rows))),
    Column("copy_row", INTEGER, "Row of that document; null if it is in the reference.", EVERYWHERE,
           lambda found: found.copy_rows_of_inputs, nullable=True),
    Column("copy_column", STRING, "Text column of the copy.", EVERYWHERE,
           lambda found: found.names_of(found.copies[:, 0]), only=SEVERAL),
    Column("copy_start", INTEGER, "First character of the copy in its text.", EVERYWHERE,
           lambda found: found.copies[:, 1]),
    Column("copy_end", INTEGER, "The character behind its last one.", EVERYWHERE,
           lambda found: found.copies[:, 2]),
    Column("copy_is_cut", BOOLEAN, "Some of the copy is cut itself, for a copy that stood earlier still.", EVERYWHERE,
           lambda found: found.passages.in_cuts[found.at]),
    Column("separator", STRING, "What was put in the place of the cut that ends here; null for nothing.", EVERYWHERE,
           lambda found: found.separators, nullable=True),
    Column("document_removed", BOOLEAN, "Too little is left of the document, so it is in no output.", EVERYWHERE,
           lambda found: found.is_removed),
    Column("reference", STRING, "Reference file with the copy; null if the copy is in the inputs.", (DOCUMENTS,),
           lambda found: found.references[0], only=REFERENCE, nullable=True),
    Column("reference_row", INTEGER, "Row of the copy's document in that file; null if it is in the inputs.", EVERYWHERE,
           lambda found: found.references[1], only=REFERENCE, nullable=True),
)
"""All columns, in the order of writing."""
# fmt: on


def columns_for(
    columns: Iterable[Column[Source]], kind: str, *, are_several: bool, with_reference: bool
) -> tuple[Column[Source], ...]:
    """Those of one kind of table, DOCUMENTS or RESULTS; `are_several`: the texts are of several columns."""
    return columns_within(columns, kind, {SEVERAL: not are_several, REFERENCE: not with_reference})


def cut_lines(found: CutSegments) -> Iterator[AuditChunk]:
    """The lines of the log, by row and place."""
    columns = columns_for(
        CUT_COLUMNS, DOCUMENTS, are_several=len(found.columns) > 1, with_reference=found.locate is not None
    )
    for first in range(0, len(found.passages.cut.segments), CHUNK_ROWS):
        part = replace(found, at=slice(first, first + CHUNK_ROWS))
        yield part.rows, lines_of(columns, part)


def cut_table(found: CutSegments, *, with_reference: bool) -> Any:
    """The same as an Arrow table."""
    return table_of(
        columns_for(CUT_COLUMNS, RESULTS, are_several=len(found.columns) > 1, with_reference=with_reference), found
    )


@dataclass(frozen=True)
class Spans:
    """What is removed from each document.

    Attributes:
        cut: what is cut.
    """

    cut: CutDocuments

    @cached_property
    def _rows(self) -> Array:
        return np.ascontiguousarray(self.cut.spans[:, 0])

    def of(self, row: int) -> list[list[int]]:
        """Of a document: column, first character, end, and whether a space is put there, of each span."""
        first, end = np.searchsorted(self._rows, [row, row + 1])
        found: list[list[int]] = self.cut.spans[first:end, 1:].tolist()
        return found

    def rest(self, row: int, texts: Sequence[str]) -> list[str]:
        """The texts of the columns of a document without what is removed."""
        spans = self.of(row)
        return [
            without_spans(
                text,
                [Span(first, end, is_separated > 0) for column, first, end, is_separated in spans if column == number],
            )
            for number, text in enumerate(texts)
        ]

    def annotation(self, rows: slice, *, several: bool) -> Any:
        """The column ANNOTATION of some rows, as an Arrow table: first character and end of each span; if there are `several` text
        columns, after the number of its column.
        """
        first = 0 if several else 1
        found = [[span[first:3] for span in self.of(row)] for row in range(rows.start, rows.stop)]
        return pa.table({ANNOTATION: pa.array(found, pa.list_(pa.list_(pa.int64())))})

    def changed(self, rows: int, *, every: bool = False) -> Array:
        """bool[rows]: which of so many documents lose something; `every`: their texts are written in any case."""
        found = np.full(rows, every)
        found[self.cut.rows] = True
        return found
