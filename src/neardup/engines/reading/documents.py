"""DOCUMENTS: read a part of the input, and make of each text what decides its place: rank, digests, fingerprint."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.arrays import Array
from neardup.engines.candidates.table import METHODS
from neardup.engines.columns import beginnings, looked_up
from neardup.engines.job_options import Work
from neardup.engines.packing import ints, mixed
from neardup.engines.reading.element_order import Counting
from neardup.engines.reading.preferred_values import KindsOfPart
from neardup.engines.reading.unchanged_input import REMEDY
from neardup.engines.schemas import BEFORE_ALL, COPIES, DOCUMENTS, ROW_BITS, as_prints
from neardup.engines.stages import Found, Part, Stage
from neardup.errors import DataError
from neardup.fingerprints.numbers import number_digests
from neardup.kernels.matching.bitmaps import fill_bitmaps
from neardup.kernels.matching.elements import SEQUENCE
from neardup.kernels.xxh3 import digest_rows, xxh3_128_features
from neardup.matching.similarities.table import Elements
from neardup.matching.text_features import Texts, texts_of_column
from neardup.recipe.tables.keeps import By
from neardup.text.normalizers import character_counts
from neardup.text.preference import group_name


def without_copies(documents: pa.Table) -> Found:
    """Documents (rows of DOCUMENTS) that have their ranks: of equal texts, only the most preferred; and the others as its copies.

    Those of a reference all stay: each of them survives.
    """
    rank, high, low, doc = ints(documents, "rank", "digest_high", "digest_low", "doc")
    own = np.where(documents.column("is_reference").to_numpy(), doc, 0)
    order = np.lexsort((rank, mixed(high, low, own)))
    leads = beginnings(high[order], low[order], own[order])
    if leads.all():
        yield "documents", documents
        return
    yield "documents", documents.take(np.sort(order[leads]))
    leader = doc[order[leads]][np.cumsum(leads) - 1]
    yield "copies", pa.table([leader[~leads], doc[order[~leads]]], COPIES.schema)


MAX_BITMAP_WORDS = 1 << 6
"""Of a bitmap."""
SITE_BITS = 32
"""Of the number of a site, where a text is compared, see `neardup.engines.verification.text_partitions`."""
MAX_ROWS_PER_PART = 1 << ROW_BITS
MANY_DOCUMENTS = 1 << 40
"""Documents of a corpus, before it is known how many there are: the more, the sooner a method needs an order of elements."""


def read(work: Work, merges: bool, part: Part) -> Found:
    """The documents of a part, the elements that many of them have, and the kinds of their values.

    `merges`: copies of a text in a batch go as one document.

    Raises:
        DataError: the part has too many rows.
    """
    may_need_order = METHODS[work.options.method].needs_order(replace(work, documents=MANY_DOCUMENTS))
    counting, kinds = Counting() if may_need_order else None, KindsOfPart(part)
    for batch, docs in numbered(part):
        column = batch.column("text")
        if column.null_count:
            known = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
            batch, docs = batch.take(known), docs[known]
            column = batch.column("text")
        kinds.add(batch)
        texts = texts_of_column(column, work.recipe, work.similarity, None)
        group = groups_of_rows(work, batch)
        digests = _with_group(texts.prints.digests, group)
        is_long = texts.prints.tokens >= work.min_tokens
        if not work.by_distance and work.options.method != "simhash" and work.min_tokens == 0:
            is_long &= np.diff(texts.joined.offsets) > 0
        classes = np.where(is_long[:, None], _with_group(_class_keys(work, texts), group), digests)
        if counting is not None:
            counting.add(texts.joined.values, texts.joined.offsets)
        rows = {
            "class_high": classes[:, 0].view(np.int64),
            "class_low": classes[:, 1].view(np.int64),
            "doc": docs,
            "rank": ranks_by_place(work, docs, is_reference=part.is_reference),
            "is_reference": np.full(len(docs), part.is_reference),
            "digest_high": digests[:, 0].view(np.int64),
            "digest_low": digests[:, 1].view(np.int64),
            "print": as_prints(texts.prints.values if work.max_distance is not None else texts.prints.values[:, :0]),
            "group": group[:, 1].view(np.int64),
            "is_long": is_long,
            "is_empty": texts.prints.tokens == 0,
            "size": np.diff(texts.joined.offsets),
            "bitmap": bitmaps(work, texts.joined),
            "site": np.zeros(len(docs), np.int64) if work.by_distance else sites_of(texts.joined),
            "cost": costs(work, column),
            "value": batch.column("value"),
        }
        table = pa.table([rows[name] for name in DOCUMENTS.schema.names], DOCUMENTS.schema)
        yield from without_copies(table) if merges else [("documents", table)]
    if counting is not None:
        yield "sample", counting.rows()
    yield from kinds.rows()


def numbered(part: Part) -> Iterator[tuple[pa.RecordBatch, Array]]:
    """The batches of a part, each with the documents (int64[n]) that its rows are.

    Raises:
        DataError: the part has too many rows.
    """
    begins, numbers = np.array(part.runs or [(0, part.number)], np.int64).T
    row = 0
    for batch in part.batches:
        rows = np.arange(row, row + len(batch))
        run = np.searchsorted(begins, rows, "right") - 1
        yield batch, (numbers[run] << ROW_BITS) + rows - begins[run]
        row += len(batch)
        if row > MAX_ROWS_PER_PART:
            raise DataError(f"A part of the input has more than {MAX_ROWS_PER_PART:,} rows. Divide it into more parts.")


def ranks_by_place(work: Work, docs: Array, *, is_reference: bool) -> Array:
    """The ranks of documents where their places tell; others are ranked together."""
    if is_reference:
        return docs - BEFORE_ALL
    preference = work.options.preference
    return -docs if preference.by is By.ORDER and preference.greatest_first else docs


def costs(work: Work, texts: pa.Array) -> Array:
    """int64[n]: what makes a text less preferred, by its length."""
    preference = work.options.preference
    if preference.by is not By.LENGTH:
        return np.zeros(len(texts), np.int64)
    lengths = character_counts(texts)
    return -lengths if preference.greatest_first else lengths


def _class_keys(work: Work, texts: Texts) -> Array:
    """uint64[n, 2], equal for texts that match whatever the other matches, as well as one another.

    Texts with the same elements; equal texts for edit, whose elements have an order, and where texts have no elements: such match
    none. If fingerprints choose candidates, they are the same as well; where they decide alone, nothing else is.
    """
    if work.by_distance:
        return _mixed(texts.prints.values)
    if work.similarity.verified == SEQUENCE:
        return texts.prints.digests
    digests = set_digests(texts.compared)
    if work.max_distance is not None:
        digests = _mixed(digests, texts.prints.values)
    return np.where(has_elements(texts.compared)[:, None], digests, texts.prints.digests)


def has_elements(elements: Elements) -> Array:
    """bool[n]: whether texts have any element, with a weight if elements have such."""
    if not len(elements.weights):
        return np.diff(elements.offsets) > 0
    before: Array = np.concatenate([[0], np.cumsum(elements.weights != 0)])
    return np.diff(before[elements.offsets]) > 0


def set_digests(elements: Elements) -> Array:
    """uint64[n, 2], equal for equal elements with equal weights."""
    out = _digests(elements.values, elements.offsets)
    return out + _digests(elements.weights, elements.offsets) if len(elements.weights) else out


def _digests(values: Array, offsets: Array) -> Array:
    out = np.empty((len(offsets) - 1, 2), np.uint64)
    xxh3_128_features(values.view(np.uint8), 8 * offsets, out)
    return out


def bitmaps(work: Work, elements: Elements) -> pa.Array:
    """The bitmaps of sets of elements, which bound what two have in common: binary values of 2^k words, or of none."""
    sizes = np.diff(elements.offsets)
    words = np.zeros(len(sizes), np.int64)
    if work.bits_each:
        needed = np.maximum(sizes * work.bits_each / 64, 1)
        words = np.minimum(2 ** np.ceil(np.log2(needed)).astype(np.int64), MAX_BITMAP_WORDS)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(words)])
    out = np.zeros(starts[-1], np.uint64)
    fill_bitmaps(elements.values, elements.offsets, starts, out)
    buffers = [None, pa.py_buffer(8 * starts), pa.py_buffer(out)]
    return pa.Array.from_buffers(pa.large_binary(), len(sizes), buffers)


def sites_of(elements: Elements) -> Array:
    """int64[n]: the sites of texts by their elements."""
    found = np.zeros(len(elements.offsets) - 1, np.uint64)
    some = np.flatnonzero(np.diff(elements.offsets))
    if len(some):
        found[some] = np.minimum.reduceat(elements.values, elements.offsets[some])
    return (found >> np.uint64(64 - SITE_BITS)).astype(np.int64)


def _groups(values: Any) -> Array:
    """uint64[n, 2], equal for equal values (JSON), whether text or numbers; documents without one have zeros."""
    out = np.zeros((len(values), 2), np.uint64)
    if values.null_count == len(values):
        return out
    encoded = pc.dictionary_encode(values)
    texts = pa.array([group_name(each) for each in encoded.dictionary.to_pylist()], pa.large_string())
    data, offsets = np.frombuffer(texts.buffers()[2], np.uint8), np.frombuffer(texts.buffers()[1], np.int64)
    digests = np.empty((len(texts), 2), np.uint64)
    xxh3_128_features(data, offsets[: len(texts) + 1].copy(), digests)
    known = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))
    out[known] = digests[encoded.indices.take(known).to_numpy()]
    return out


def groups_of_rows(work: Work, rows: pa.RecordBatch) -> Array:
    """uint64[n, 2], equal for documents that may match, by their values and, if there is a guard, by what it compares of texts;
    those without either have zeros.
    """
    found = _groups(rows.column("within"))
    if work.options.guard is None:
        return found
    numbers = number_digests(rows.column("text"), work.recipe.normalize)
    has_any = found.any(axis=1) | (numbers != 0)
    return np.where(has_any[:, None], _mixed(found, numbers[:, None]), np.uint64(0))


def groups_of_texts(work: Work, rows: pa.RecordBatch) -> Array:
    """int64[n]: a hash of what documents must have in common, equal for equal ones; see `groups_of_rows`."""
    return groups_of_rows(work, rows)[:, 1].view(np.int64)


def _with_group(digests: Array, group: Array) -> Array:
    """uint64[n, 2]: equal where both are equal; of each row alone, whatever others it is read with."""
    if not group.any():
        return digests
    has_group = (group != 0).any(axis=1)
    return np.where(has_group[:, None], _mixed(digests, group), digests)


def _mixed(*columns: Array) -> Array:
    """uint64[n, 2]: equal where all columns (uint64[n, words]) are."""
    rows = np.ascontiguousarray(np.hstack(columns))
    out = np.empty((len(rows), 2), np.uint64)
    digest_rows(rows.view(np.uint8).ravel(), 8 * rows.shape[1], out)
    return out


def ranked(*, merges: bool) -> Stage:
    """The stage that gives documents their ranks: of documents, and their places. `merges`: copies of a text go as one."""
    return Stage("rank", partial(_rank, merges), {"documents": DOCUMENTS, "copies": COPIES})


def _rank(merges: bool, documents: pa.Table, places: pa.Table) -> Found:
    """Documents with their ranks.

    Raises:
        DataError: some have no place.
    """
    if not len(documents):
        return
    known, at = looked_up(places.column("doc").to_numpy(), documents.column("doc").to_numpy())
    if not known.all():
        raise DataError(
            f"{np.count_nonzero(~known):,} documents were not there when the input was put in order. {REMEDY}"
        )
    rank = places.column("rank").take(at)
    documents = documents.set_column(documents.schema.get_field_index("rank"), "rank", rank)
    yield from without_copies(documents) if merges else [("documents", documents)]
