"""Which rows of the inputs are in the output: each row has a key of its text and its id, and the keys are matched."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.arrays import Array, Bools, Int64s
from neardup.fingerprints.simhash import Fingerprints, fingerprint_chunks
from neardup.io.corpora.batch import Batch
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.shard import Shard
from neardup.io.formats.json.json_values import default_ids
from neardup.judging.verification.result import Check
from neardup.matching.similarities.element_store import ElementStore
from neardup.recipe.recipe import Recipe
from neardup.text.columns import in_chunks

KEY_BYTES, ID_BYTES = 16, 8
"""Bytes of BLAKE2b of a text, and of an id."""
WORDS = (KEY_BYTES + ID_BYTES) // 8


def keys_of(batch: Batch, shards: tuple[Shard, ...]) -> Array:
    """uint64[rows, WORDS]: BLAKE2b of the text, then of the id; the latter is 0 where a row has no id of its own."""
    texts, keys = batch.texts, bytearray()
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1].tolist()
    content = memoryview(data) if data is not None else memoryview(b"")
    made = default_ids(shards[batch.shard].name, np.arange(batch.row, batch.row + len(texts)))
    for i, (name, default) in enumerate(zip(batch.ids.to_pylist(), made.to_pylist(), strict=True)):
        keys += hashlib.blake2b(content[ends[i] : ends[i + 1]], digest_size=KEY_BYTES).digest()
        named = name is not None and name != default
        keys += hashlib.blake2b(name.encode(), digest_size=ID_BYTES).digest() if named else bytes(ID_BYTES)
    return np.frombuffer(bytes(keys), np.uint64).reshape(-1, WORDS)


class RowKeys:
    """The keys of all rows, taken during the pass that fingerprints them; see `neardup.fingerprints.documents.SidePass`.

    `kept` receives the elements of all texts in the same pass, if it is given.
    """

    def __init__(self, shards: tuple[Shard, ...], kept: ElementStore | None) -> None:
        self._shards, self._kept = shards, kept
        self._parts: list[Array] = [np.empty((0, WORDS), np.uint64)]

    def first_pass(self, batch: Batch, recipe: Recipe) -> tuple[Fingerprints, Any]:
        keys, found = keys_of(batch, self._shards), None
        if self._kept is None:
            return fingerprint_chunks(in_chunks(batch.texts), recipe), (keys, found)
        prints, found = self._kept.first_pass(batch, recipe)
        return prints, (keys, found)

    def take(self, first: int, found: tuple[Array, Any]) -> None:
        keys, elements = found
        self._parts.append(keys)
        if self._kept is not None:
            self._kept.take(first, elements)

    @property
    def keys(self) -> Array:
        """uint64[rows, WORDS], complete after the pass."""
        return np.concatenate(self._parts)


def read_keys(corpus: FileCorpus) -> tuple[Array, Bools]:
    """The keys of the rows of an output: uint64[rows, WORDS]; and whether each can be read: bool[rows]."""

    def read(batch: Batch) -> tuple[Array, Array]:
        return keys_of(batch, corpus.shards), batch.texts.is_valid().to_numpy(zero_copy_only=False)

    keys, valid = [np.empty((0, WORDS), np.uint64)], [np.empty(0, np.bool_)]
    for _, (found, present) in corpus.map(read):
        keys.append(found)
        valid.append(present)
    return np.concatenate(keys), np.concatenate(valid)


@dataclass(frozen=True, slots=True)
class Alignment:
    """The rows of the inputs and of the output that belong to one another.

    Attributes:
        kept: bool[rows of the inputs], whether the row is in the output.
        extra: int64[e], rows of the output that are no kept row of the inputs, ascending.
        repeats: bool[e], whether such a row is equal to one that is kept, or was kept already.
        removed: bool[e], whether such a row is equal to a removed one.
        first_moved: the first row of the output that is not in its place among the others; -1 if all are.
        ids_compared: whether ids were compared; they are not if either side has none.
    """

    kept: Bools
    extra: Int64s
    repeats: Bools
    removed: Bools
    first_moved: int
    ids_compared: bool


def align(inputs: Array, valid: Bools, removed: Bools | None, output: Array, readable: Bools) -> Alignment:
    """Match the rows of an output with rows of the inputs, by their keys.

    Args:
        inputs, output: uint64[…, WORDS], keys.
        valid, readable: bool[…], which rows are documents.
        removed: bool[rows of the inputs], the rows that the audit removes; None without an audit. Then the first rows of equal
            keys are kept, as many as the output has.
    """
    ids_compared = bool(inputs[valid, -1].any() and output[readable, -1].any())
    if not ids_compared:
        inputs, output = inputs[:, :-1], output[:, :-1]
    there = np.flatnonzero(readable)
    expected = np.flatnonzero(valid if removed is None else valid & ~removed)
    n, kept = len(inputs), np.zeros(len(inputs), np.bool_)
    if np.array_equal(inputs[expected], output[there]):  # as it should be, so nothing needs to be searched
        kept[expected] = True
        nothing = np.empty(0, np.int64)
        return Alignment(kept, nothing, nothing > 0, nothing > 0, -1, ids_compared)
    codes = np.unique(np.concatenate([inputs, output]), axis=0, return_inverse=True)[1].reshape(-1)
    of_inputs, of_output = codes[:n], codes[n:]
    size = int(codes.max(initial=0)) + 1
    expected_count = np.bincount(of_inputs[expected], minlength=size)
    output_count = np.bincount(of_output[there], minlength=size)
    in_output = _occurrence(of_inputs[expected]) < output_count[of_inputs[expected]]
    wanted = _occurrence(of_output[there]) < expected_count[of_output[there]]
    kept[expected[in_output]] = True
    extra = there[~wanted]
    known = np.bincount(of_inputs[valid], minlength=size)
    repeats = expected_count[of_output[extra]] > 0
    taken_away = ~repeats & (known[of_output[extra]] > 0)
    moved = np.flatnonzero(of_inputs[expected[in_output]] != of_output[there[wanted]])
    first_moved = int(there[wanted][moved[0]]) if len(moved) else -1
    return Alignment(kept, extra, repeats, taken_away, first_moved, ids_compared)


def _occurrence(codes: Array) -> Int64s:
    """int64[n]: how many equal codes come before each one."""
    order = np.argsort(codes, kind="stable")
    ranked = codes[order]
    begins = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]]) if len(codes) else np.empty(0, np.int64)
    counts = np.diff(np.r_[begins, len(codes)])
    found = np.empty(len(codes), np.int64)
    found[order] = np.arange(len(codes)) - np.repeat(begins, counts)
    return found


def check_rows(
    found: Alignment,
    output: FileCorpus,
    documents: int,
    missing: Int64s,
    name: Callable[[int], str],
    *,
    with_audit: bool,
) -> Check:
    """Every document is in the output or was removed, once, unchanged and in its place.

    `documents`: their number in the inputs. `missing`: those that are neither in the output nor in the audit. `name`: names a row
    of the inputs. Without an audit, every document may be missing, and rows may come in any order.
    """
    failures = [f"{name(row)} is neither in the output nor in the audit" for row in missing.tolist()]
    for row, repeats, removed in zip(found.extra.tolist(), found.repeats, found.removed, strict=True):
        place = _place(output, row)
        if repeats:
            failures.append(f"{place} is there twice: the inputs have this document less often")
        elif removed:
            failures.append(f"{place} is in the output, but the audit removes it")
        else:
            failures.append(f"{place} is in no input: its text or its id is another")
    failures += [
        f"{rejected.file}, row {rejected.row} cannot be read: {rejected.reason}" for rejected in output.rejected
    ]
    if with_audit and found.first_moved >= 0:
        failures.append(f"{_place(output, found.first_moved)} is not in its place: the output has another order")
    claim = (
        "every document is in the output or in the audit, once, unchanged and in order"
        if with_audit
        else "every row of the output is a document of the inputs, once and unchanged"
    )
    checked = documents if with_audit else int(found.kept.sum()) + len(found.extra) + len(output.rejected)
    return Check.of("rows", claim, checked, failures)


def _place(corpus: FileCorpus, row: int) -> str:
    """A row of the output, by its file and its row there."""
    [file], rows = corpus.locate(np.array([row]))
    return f"{file}, row {int(rows[0])},"
