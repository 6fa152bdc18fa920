"""What is found of a run that cut passages: two passes over its inputs and its reference."""

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.fingerprints.documents import Documents, joined_arrays
from neardup.io.corpora.batch import Batch
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.judging.verification.passages.texts import RowFound, TextChecker
from neardup.judging.verification.passages.windows import Windows, window_hashes
from neardup.judging.verification.rows import WORDS, keys_of
from neardup.survivors.repeats.token_stream import SEPARATOR, TokenStream, pieces_of
from neardup.text.columns import in_chunks
from neardup.text.normalizers import character_counts


class _Part(NamedTuple):
    """What is read of a batch: tokens and characters of each row, and its windows; tokens are -1 for a row that cannot be read."""

    tokens: Array
    lengths: Array
    hashes: Array
    places: Array
    ids: Any
    values: tuple[Any, ...]


def read_windows(
    corpora: Sequence[tuple[FileCorpus, Sequence[str]]], stream: TokenStream, size: int, windows: Windows
) -> tuple[Documents, int]:
    """Read all documents once, with the values of some columns, and add their windows; the documents, and how many are inputs."""

    def read(batch: Batch) -> _Part:
        counts, hashes, places = list[Array](), [np.empty((0, 2), np.uint64)], [np.empty(0, np.int64)]
        before = 0
        for texts in in_chunks(batch.texts):
            texts = texts.fill_null("") if texts.null_count else texts
            pieces, firsts = pieces_of(texts) if stream.columns > 1 else (texts, np.arange(len(texts) + 1))
            tokens = stream.tokens(pieces)
            found, at = window_hashes(tokens.hashes(), tokens.documents, size)
            hashes.append(found)
            places.append(at + before)
            counts.append(np.diff(tokens.documents[firsts]))
            before += len(tokens.starts)
        number = np.concatenate([np.empty(0, np.int64), *counts])
        if batch.texts.null_count:
            number[batch.texts.is_null().to_numpy(zero_copy_only=False)] = -1
        return _Part(
            number,
            character_counts(batch.texts),
            np.concatenate(hashes),
            np.concatenate(places),
            batch.ids,
            batch.values,
        )

    names, first, rows = list(corpora[0][1]), 0, list[int]()
    tokens, lengths, ids = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [pa.array([], pa.large_string())]
    values: dict[str, list[Any]] = {name: [] for name in names}
    for corpus, columns in corpora:
        rows.append(0)
        for _, part in corpus.map(read):
            windows.add(part.hashes, part.places + first)
            first += int(np.maximum(part.tokens, 0).sum())
            tokens.append(part.tokens)
            lengths.append(part.lengths)
            ids.append(part.ids)
            known = dict(zip(columns, part.values, strict=True))
            for name in names:
                values[name].append(known.get(name, pa.nulls(len(part.tokens), pa.large_string())))
            rows[-1] += len(part.tokens)
    none = np.empty((sum(rows), 0), np.uint64)
    by_name = {name: joined_arrays(found) for name, found in values.items()}
    return (
        Documents(none, none, np.concatenate(tokens), np.concatenate(lengths), joined_arrays(ids), by_name),
        rows[0],
    )


@dataclass
class Texts:
    """What is found in all texts.

    Attributes:
        keys: uint64[rows of the inputs, WORDS], of what is left of each row.
        cut: int64[rows], how many tokens are cut; characters: how many of all inputs.
        digests: for each line of the log, the digests of its passage and of its copy; None if they are not known.
        places: int64[n, 2], the first tokens of both; -1 if there are no such tokens.
        of_lines, of_rows: what is wrong, with lines and with rows.
    """

    keys: Array
    cut: Array
    digests: list[list[bytes | None]]
    places: Array
    characters: int = 0
    of_lines: list[tuple[int, str]] = field(default_factory=list)
    of_rows: list[tuple[int, str]] = field(default_factory=list)


def check_texts(corpus: FileCorpus, reference: FileCorpus | None, checker: TextChecker, documents: Documents) -> Texts:
    """Read the inputs once more, and the documents of the reference that hold copies, and compare them with the log."""
    inputs, lines = checker.order.inputs, checker.lines
    found = Texts(
        np.empty((0, WORDS), np.uint64),
        np.zeros(len(documents), np.int64),
        [[None, None] for _ in range(len(lines))],
        np.full((len(lines), 2), -1),
    )
    keys = [found.keys]

    def read(batch: Batch) -> tuple[list[tuple[int, RowFound]], Array]:
        rows, texts = list(_checked(batch, corpus, 0, checker)), batch.texts
        if rows:
            rest = texts.to_pylist()
            first = _first(batch, corpus)
            for row, of_row in rows:
                rest[row - first] = SEPARATOR.join(of_row.texts)
            texts = pa.array(rest, pa.large_string())
        return rows, keys_of(dataclasses.replace(batch, texts=texts), corpus.shards)

    for _, (rows, of_batch) in corpus.map(read):
        keys.append(of_batch)
        _take(found, rows)
    found.keys = np.concatenate(keys)
    if reference is not None:
        others, wanted = reference, np.zeros(len(documents), np.bool_)
        wanted[lines.copies.rows[lines.copies.rows >= inputs]] = True
        for _, rows in others.map(lambda batch: list(_checked(batch, others, inputs, checker)), wanted=wanted[inputs:]):
            _take(found, rows)
    return found


def _first(batch: Batch, corpus: FileCorpus) -> int:
    return (corpus.starts or [0])[batch.shard] + batch.row


def _checked(batch: Batch, corpus: FileCorpus, begin: int, checker: TextChecker) -> Iterator[tuple[int, RowFound]]:
    """What is found in the documents of a batch that are concerned; `begin`: the first row of the corpus."""
    first = begin + _first(batch, corpus)
    for i in range(len(batch.texts)):
        if checker.is_concerned(first + i) and batch.texts[i].is_valid:
            yield first + i, checker.check(first + i, batch.texts[i].as_py())


def _take(found: Texts, rows: list[tuple[int, RowFound]]) -> None:
    for row, of_row in rows:
        found.cut[row] = of_row.cut
        found.characters += of_row.characters
        found.of_lines += of_row.of_lines
        found.of_rows += [(row, problem) for problem in of_row.of_windows]
        for side, lines in enumerate((of_row.lines, of_row.copies)):
            for line, digest, place in lines:
                found.digests[line][side] = digest
                found.places[line, side] = place
