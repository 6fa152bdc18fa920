"""FIND LEAKS: of each test document, whether the training set has a copy of it, a near-duplicate, or a passage; and where.

Each test document is looked for by itself: what else it matches does not matter. Copies are found by digests of normalized texts,
near-duplicates by the exact join, passages by the search for items of benchmarks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array, Bools
from neardup.fingerprints.documents import Documents, join_documents, read_documents
from neardup.io.corpora.batch import Batch
from neardup.io.corpora.protocol import Corpus, pair_of
from neardup.kernels.compilation import described
from neardup.matching.contamination.excerpts import MAX_CHARACTERS
from neardup.matching.contamination.items import Items
from neardup.matching.contamination.options import DecontaminationOptions
from neardup.matching.contamination.passages import Passages
from neardup.matching.contamination.readings import RULES
from neardup.matching.equal_texts import exact_representatives
from neardup.matching.matches import list_matches
from neardup.matching.resolved_options import resolve
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.recipe.recipe import Recipe
from neardup.recipe.similarity import similarity_to_store
from neardup.survivors.contamination.decide import Benchmarks, Contamination, read_benchmark
from neardup.survivors.leaks.summary import STRENGTHS, LeakSummary, TestCounts, counts_by_strength, share_of
from neardup.survivors.outcomes import Locate
from neardup.survivors.records.counting import versions
from neardup.text.html import html_versions

NONE = -1
EXACT, NEAR, CONTAINED = range(len(STRENGTHS))


@dataclass(frozen=True, slots=True)
class Leaks:
    """What was found; n is the number of rows of the test set.

    Attributes:
        test, train: the documents.
        found: bool[strengths, n], what holds of each row.
        strength: int64[n], the strongest; NONE of a row that is not in the training set.
        train_row: int64[n], where: the row of the training set; NONE for none.
        similarity: float64[n], to that document; NaN if it is contained only.
        shares, runs: float64[n], int64[n], of what is contained: the share of its shingles, and the longest run; NaN, NONE for
        none.
        spans: int64[n, 2], where it stands in that document, in characters from 0; NONE if that is not known.
        passages: the beginning of the passage, of what is contained only.
        checked: bool[n], rows with enough tokens for a search for passages.
    """

    test: Documents
    train: Documents
    found: Bools
    strength: Array
    train_row: Array
    similarity: Array
    shares: Array
    runs: Array
    spans: Array
    passages: list[str | None]
    checked: Bools

    @property
    def leaked(self) -> Array:
        """int64: the rows of the test set that are in the training set."""
        return np.flatnonzero(self.strength != NONE)


def find_leaks(
    train: Corpus,
    test: Corpus,
    recipe: Recipe,
    options: DedupOptions,
    passages: DecontaminationOptions,
    progress: Progress,
) -> Leaks:
    """Look for each document of the test set in the training set.

    Args:
        recipe, options: which documents are near-duplicates; the method is `exact`.
        passages: when a passage is one of a test document.
    """
    recipe = resolve(recipe, options).recipe
    with progress.stage("fingerprint"):
        tests, trains = (
            read_documents(corpus, recipe, progress=progress, resources=options.resources) for corpus in (test, train)
        )
    n = len(tests)
    found, row = np.zeros((len(STRENGTHS), n), np.bool_), np.full((len(STRENGTHS), n), NONE)
    similarity = np.full(n, np.nan)
    both = join_documents(tests, trains, resources=options.resources)
    rows = np.flatnonzero(tests.valid)
    every = np.concatenate([n + np.flatnonzero(trains.valid), rows])
    first = np.full(len(both), NONE)
    first[every] = exact_representatives(both, every)
    row[EXACT, rows] = np.where(first[rows] >= n, first[rows] - n, NONE)
    for part in list_matches(
        pair_of(test, n, train), both, recipe, options=options, progress=progress, first_of_other=n, distinct=True
    ):
        _keep_best(row[NEAR], similarity, part.left, part.right - n, part.similarity)
    alike = exact_representatives(tests, rows)
    row[NEAR, rows], similarity[rows] = row[NEAR, alike], similarity[alike]
    equal = row[EXACT] != NONE
    row[NEAR, equal], similarity[equal] = row[EXACT, equal], 1.0
    found[:CONTAINED] = row[:CONTAINED] != NONE
    shares, runs, items = np.full(n, np.nan), np.full(n, NONE), _items(test, n, passages, progress)
    held = _scan(train, items, passages, progress)
    for place, number in enumerate(items.numbers.tolist()):
        if number >= 0 and (strongest := held.strongest.get(number)):
            share, run, where = strongest[0][:3]
            shares[place], runs[place], row[CONTAINED, place] = -share, -run, where
    found[CONTAINED] = row[CONTAINED] != NONE
    strength = np.where(found.any(axis=0), found.argmax(axis=0), NONE)
    train_row = np.where(strength == NONE, NONE, row[strength, np.arange(n)])
    spans, texts = _places(train, trains, items, passages, strength, train_row, progress)
    similarity[strength == CONTAINED] = np.nan
    shares[strength != CONTAINED], runs[strength != CONTAINED] = np.nan, NONE
    return Leaks(tests, trains, found, strength, train_row, similarity, shares, runs, spans, texts, items.numbers >= 0)


def _keep_best(row: Array, similarity: Array, left: Array, right: Array, found: Array) -> None:
    """Keep the most similar match of each row of the left, the first of equal ones."""
    order = np.lexsort((right, -found, left))
    best = order[np.flatnonzero(np.diff(left[order], prepend=-1))]
    a, b, new = left[best], right[best], found[best]
    old = similarity[a]
    better = np.isnan(old) | (new > old) | ((new == old) & (b < row[a]))
    row[a[better]], similarity[a[better]] = b[better], new[better]


def _items(test: Corpus, rows: int, options: DecontaminationOptions, progress: Progress) -> Items:
    """The test documents as items of a benchmark; their ids are not needed."""
    with progress.stage("test set"):
        return Items.of(read_benchmark(test, options, progress), pa.nulls(rows), options)


def _scan(train: Corpus, items: Items, options: DecontaminationOptions, progress: Progress) -> Contamination:
    """What the training set holds of the items."""
    starts = np.array([0, len(items.tokens)], np.int64)
    held = Contamination(Benchmarks(("test",), starts, items, {}))
    with progress.stage("scan"):
        held.scan(train, options, progress, lambda _, scanned: [None] * len(scanned.contaminated))
    return held


def _places(
    train: Corpus,
    trains: Documents,
    items: Items,
    options: DecontaminationOptions,
    strength: Array,
    train_row: Array,
    progress: Progress,
) -> tuple[Array, list[str | None]]:
    """Where each test document stands in its training document, int64[n, 2]; and the beginnings of the passages."""
    spans, texts = np.full((len(strength), 2), NONE), [None] * len(strength)
    exact = np.flatnonzero(strength == EXACT)
    spans[exact, 0], spans[exact, 1] = 0, trains.lengths[train_row[exact]]
    wanted, held = np.zeros(len(trains), np.bool_), dict[int, list[int]]()
    for row in np.flatnonzero(strength == CONTAINED).tolist():
        wanted[train_row[row]] = True
        held.setdefault(int(train_row[row]), []).append(row)
    found: list[str | None] = list(texts)
    if not held:
        return spans, found
    finder = Passages(items, options)
    with progress.stage("places", len(held)):
        for first, part in train.map(_given, wanted=wanted):
            for place, text in part:
                for row in held[first + place]:
                    span = finder.span(text, int(items.numbers[row]))
                    if span is not None:
                        spans[row] = span
                        found[row] = text[span[0] : span[1]][:MAX_CHARACTERS]
                progress.advance(1)
    return spans, found


def _given(batch: Batch) -> list[tuple[int, str]]:
    """The texts of a batch that are there, with their places in it."""
    return [(place, text) for place, text in enumerate(batch.texts.to_pylist()) if text is not None]


def leak_columns(
    found: Leaks,
    ids: tuple[Any, Any],
    locate: tuple[Locate, Locate] | None = None,
) -> Any:
    """An Arrow table with a row for each test document that is in the training set.

    Args:
        ids: of the test and of the training documents, Arrow arrays.
        locate: of the test and of the training documents: the files of rows, and the rows there. Without, rows are of all.
    """
    rows = found.leaked
    others = found.train_row[rows]
    files, of_files, train_files, of_train = None, rows, None, others
    if locate is not None:
        (files, of_files), (train_files, of_train) = locate[0](rows), locate[1](others)
    names = list(STRENGTHS)
    columns: dict[str, Any] = {"id": ids[0].take(pa.array(rows))}
    if files is not None:
        columns["file"] = pa.array(files, pa.string())
    columns |= {
        "row": pa.array(of_files, pa.int64()),
        "strength": pa.array([names[number] for number in found.strength[rows].tolist()], pa.string()),
        "train_id": ids[1].take(pa.array(others)),
    }
    if train_files is not None:
        columns["train_file"] = pa.array(train_files, pa.string())
    spans = found.spans[rows]
    columns |= {
        "train_row": pa.array(of_train, pa.int64()),
        "start": pa.array(spans[:, 0], pa.int64(), mask=spans[:, 0] < 0),
        "end": pa.array(spans[:, 1], pa.int64(), mask=spans[:, 1] < 0),
        "similarity": pa.array(found.similarity[rows], pa.float64(), from_pandas=True),
        "item_share": pa.array(found.shares[rows], pa.float64(), from_pandas=True),
        "item_run": pa.array(found.runs[rows], pa.int64(), mask=found.runs[rows] < 0),
        "passage": pa.array([found.passages[row] for row in rows.tolist()], pa.string()),
    }
    return pa.table(columns)


def summarize_leaks(
    found: Leaks,
    recipe: Recipe,
    options: DedupOptions,
    passages: DecontaminationOptions,
    progress: Progress,
    *,
    tests: Sequence[tuple[str, slice]],
    html: str | None = None,
) -> LeakSummary:
    """Count what was found. `tests`: the name and the rows of each file of the test set."""
    valid = found.test.valid
    documents = int(np.count_nonzero(valid))
    by_test = []
    for name, rows in tests:
        numbers = np.bincount(found.strength[rows][found.strength[rows] != NONE], minlength=len(STRENGTHS)).tolist()
        by_test.append(
            TestCounts(
                test=name,
                documents=int(np.count_nonzero(valid[rows])),
                leaked=sum(numbers),
                **dict(zip(STRENGTHS, numbers, strict=True)),
            )
        )
    strongest = np.bincount(found.strength[found.leaked], minlength=len(STRENGTHS)).tolist()
    trains = int(np.count_nonzero(found.train.valid))
    known = {name: getattr(options, name) for name in ("min_similarity", "threads", "memory", "temp_dir", "temp_limit")}
    return LeakSummary(
        train_documents=trains,
        test_documents=documents,
        rejected=len(found.train) - trains + len(found.test) - documents,
        leaked=len(found.leaked),
        share=share_of(len(found.leaked), documents),
        strengths=counts_by_strength(found.found.sum(axis=1).tolist(), strongest, documents),
        tests=tuple(by_test),
        checked=int(np.count_nonzero(found.checked)),
        short=documents - int(np.count_nonzero(found.checked)),
        options=known
        | {"similarity": similarity_to_store(options.similarity)}
        | {name: getattr(passages, name) for name in ("min_share", "min_run", "min_tokens")},
        recipe=recipe.stored() | {"digest": recipe.digest()},
        **progress.costs(),
        peak_temporary_bytes=options.resources.files.peak,
        versions=versions() | {"kernels": described(), "contamination": str(RULES)} | html_versions(html),
    )
