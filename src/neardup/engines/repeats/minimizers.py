"""MINIMIZERS: the first reading, and which minimizers of windows stand at two places, in cells that travel to every task."""

from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.columns import looked_up
from neardup.engines.packing import ints
from neardup.engines.reading.documents import costs, groups_of_texts, numbered, ranks_by_place
from neardup.engines.reading.preferred_values import KINDS, KindsOfPart
from neardup.engines.reading.unchanged_input import REMEDY
from neardup.engines.repeats.work import AGAIN, CELLS, DOCUMENTS, MINIMIZERS, RANKED, PassageWork
from neardup.engines.stages import Engine, Found, Part, Reading, Stage
from neardup.errors import DataError
from neardup.kernels.repeats.windows import seconds_of
from neardup.survivors.repeats.first_pass import minimizers_of
from neardup.survivors.repeats.seen import CELLS_PER_VALUE
from neardup.survivors.repeats.token_stream import Stream, TokenStream
from neardup.text.columns import in_chunks

COUNTED = 1 << 22
"""Minimizers of a part that are put together before they go to their buckets."""
DIVISION_BITS = 12
MIN_BITS, MAX_BITS = 17, 30
"""Of the cells."""
MOST_BYTES = 1 << (MAX_BITS - 2)
"""Of the cells: 256 MB, which compress well."""
CODEC = "zstd"
WORD_BITS = 6


class RepeatedMinimizers:
    """The minimizers that stand at several places, and some others that have cells of these: they cost work and change nothing.

    Travels compressed.

    Attributes:
        bits: of the number of cells.
    """

    def __init__(self, bits: int, divisions: Mapping[int, bytes]) -> None:
        self.bits, self._divisions = bits, dict(divisions)

    @property
    def shift(self) -> np.uint64:
        return np.uint64(64 - self.bits)

    @cached_property
    def cells(self) -> Array:
        words = 1 << (self.bits - DIVISION_BITS - WORD_BITS + 1)
        found = np.zeros(words << DIVISION_BITS, np.uint64)
        for division, content in self._divisions.items():
            data = pa.decompress(content, 8 * words, CODEC)
            found[division * words : (division + 1) * words] = np.frombuffer(data, np.uint64)
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {"bits": self.bits, "_divisions": self._divisions}


def all_minimizers() -> RepeatedMinimizers:
    """As if each stood at several places."""
    words = 1 << (MIN_BITS - DIVISION_BITS - WORD_BITS + 1)
    content = pa.compress(b"\xff" * (8 * words), CODEC, asbytes=True)
    return RepeatedMinimizers(MIN_BITS, dict.fromkeys(range(1 << DIVISION_BITS), content))


def streams(part: Part, stream: TokenStream) -> Iterator[tuple[pa.RecordBatch, Array, Stream]]:
    """The documents of a part, chunk by chunk: their rows, int64[n], and the tokens of their texts."""
    for batch, docs in numbered(part):
        known = np.flatnonzero(batch.column("text").is_valid().to_numpy(zero_copy_only=False))
        some, docs, at = batch if len(known) == len(batch) else batch.take(known), docs[known], 0
        for texts in in_chunks(some.column("text")):
            yield some.slice(at, len(texts)), docs[at : at + len(texts)], stream.of(texts)
            at += len(texts)


def reading(work: PassageWork) -> Reading:
    """The stage that reads all documents first."""
    outputs = {"documents": DOCUMENTS, "minimizers": MINIMIZERS, "kinds": KINDS}
    return Reading("documents", partial(_read, work), outputs)


def _read(work: PassageWork, part: Part) -> Found:
    waiting, count, kinds = list[Array](), 0, KindsOfPart(part)
    for rows, docs, stream in streams(part, work.stream):
        kinds.add(rows)
        waiting.append(minimizers_of(stream, work.passages.min_tokens))
        count += len(waiting[-1])
        if count >= COUNTED:
            yield "minimizers", _counted(waiting)
            waiting, count = [], 0
        known = {
            "doc": docs,
            "rank": ranks_by_place(work, docs, is_reference=part.is_reference),
            "group": docs if work.passages.scope == "same-document" else groups_of_texts(work, rows),
            "is_reference": np.full(len(docs), part.is_reference),
            "tokens": np.diff(stream.pieces[stream.firsts]),
            "cost": costs(work, rows.column("text")),
            "value": rows.column("value"),
        }
        yield "documents", pa.table([known[name] for name in DOCUMENTS.schema.names], DOCUMENTS.schema)
    if waiting:
        yield "minimizers", _counted(waiting)
    yield from kinds.rows()


def _counted(values: list[Array]) -> pa.Table:
    found, counts = np.unique(np.concatenate(values), return_counts=True)
    return pa.table([found.view(np.int64), counts > 1], MINIMIZERS.schema)


def _again(minimizers: pa.Table) -> Found:
    """Those that are in several tables, or several times in one."""
    if not len(minimizers):
        return
    values, first, counts = np.unique(
        minimizers.column("value").to_numpy().view(np.uint64), return_inverse=True, return_counts=True
    )
    is_again = counts > 1
    is_again[first[minimizers.column("is_again").to_numpy()]] = True
    values = values[is_again]
    others = np.empty_like(values)
    seconds_of(values, others)
    found = np.concatenate([values, others])
    yield "again", pa.table([_divisions(found), found.view(np.int64)], AGAIN.schema)


def _divisions(values: Array) -> Array:
    return (values >> np.uint64(64 - DIVISION_BITS)).astype(np.int64)


def _fill(bits: int, again: pa.Table) -> Found:
    """The cells of each division, as `neardup.kernels.repeats.windows.see` leaves them for what it sees twice."""
    if not len(again):
        return
    words = 1 << (bits - DIVISION_BITS - WORD_BITS + 1)
    values = np.sort(again.column("value").to_numpy().view(np.uint64))
    division = _divisions(values)
    numbers, begins = np.unique(division, return_index=True)
    for number, some in zip(numbers.tolist(), np.split(values, begins[1:]), strict=True):
        cells = some >> np.uint64(64 - bits)
        found = np.zeros(words, np.uint64)
        at = (cells >> np.uint64(WORD_BITS - 1)).astype(np.int64) - number * words
        np.bitwise_or.at(found, at, np.uint64(2) << (cells & np.uint64(31)) * np.uint64(2))
        yield "cells", pa.table([[number], [pa.compress(found.tobytes(), CODEC, asbytes=True)]], CELLS.schema)


REPEATED = Stage("repeated minimizers", _again, {"again": AGAIN})


def repeated_minimizers(engine: Engine, minimizers: Any) -> RepeatedMinimizers:
    """Those that stand at several places."""
    again = engine.run(REPEATED, minimizers)["again"]
    count = again.count // 2  # a row for each of the two cells of a value
    bits = min(max((CELLS_PER_VALUE * count).bit_length(), MIN_BITS), MAX_BITS)
    rows = engine.collect(engine.run(Stage("cells", partial(_fill, bits), {"cells": CELLS}), again)["cells"])
    return RepeatedMinimizers(
        bits, dict(zip(*(rows.column(name).to_pylist() for name in CELLS.schema.names), strict=True))
    )


def _rank(documents: pa.Table, places: pa.Table) -> Found:
    """Documents with the ranks that they have by their places.

    Raises:
        DataError: some have no place.
    """
    known, at = looked_up(*(ints(each, "doc")[0] for each in (places, documents)))
    if not known.all():
        raise DataError(
            f"{np.count_nonzero(~known):,} documents were not there when the input was put in order. {REMEDY}"
        )
    columns = {name: documents.column(name) for name in RANKED.schema.names} | {"rank": places.column("rank").take(at)}
    yield "ranked", pa.table([columns[name] for name in RANKED.schema.names], RANKED.schema)


RANK = Stage("rank", _rank, {"ranked": RANKED})
"""Of documents, and their places."""


def _as_they_are(documents: pa.Table) -> Found:
    yield "ranked", documents.select(RANKED.schema.names)


AS_THEY_ARE = Stage("rank", _as_they_are, {"ranked": RANKED})
"""Of documents whose ranks were known at once."""
