"""MATCH: list every pair of candidates that passes verification. De-duplication itself does not need this list (clusters.py)."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

import numpy as np

from neardup.arrays import Array
from neardup.display import SHOWN_ROWS, counted, html_table, similarity_text
from neardup.fingerprints.documents import Documents, FirstPass, KeptValues, join_documents, read_documents
from neardup.hamming.candidate_graph import candidate_pairs, within_groups
from neardup.hamming.near import hamming_distances, near_fingerprints
from neardup.io.corpora.protocol import Corpus, CorpusPair
from neardup.io.corpora.reading import Html
from neardup.io.corpora.table_corpus import TableCorpus
from neardup.matching.candidates.methods import find_candidates
from neardup.matching.candidates.task import Found, Task
from neardup.matching.equal_texts import exact_representatives
from neardup.matching.resolved_options import resolve
from neardup.matching.similarities.element_store import ElementStore, read_again
from neardup.options import DedupOptions, MatchOptions, options_of
from neardup.progress import Progress, Watcher, progress_of
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.recipe import Recipe
from neardup.text.scripts import ScriptCount


@dataclass(frozen=True, slots=True)
class Matches:
    """Pairs of documents that match, by row.

    Attributes:
        left, right: int64[p], rows, ordered by left, then right. In matches among one set of texts, left < right.
        distance: int64[p], Hamming distance of the fingerprints.
        similarity: float64[p]; NaN if it is not known, because documents match by distance alone.
    """

    left: Array
    right: Array
    distance: Array
    similarity: Array

    def __len__(self) -> int:
        return len(self.left)

    def __repr__(self) -> str:
        return f"Matches({counted(len(self), 'pair')})"

    def _repr_html_(self) -> str:
        names = ("left", "right", "distance", "similarity")
        columns = [getattr(self, name)[:SHOWN_ROWS].tolist() for name in names]
        columns[3] = [None if value != value else similarity_text(value) for value in columns[3]]
        return html_table(names, zip(*columns, strict=True), len(self))


def _sorted(left: Array, right: Array, distance: Array, similarity: Array) -> Matches:
    order = np.lexsort((right, left))
    return Matches(left[order], right[order], distance[order], similarity[order])


def _across(left: Array, right: Array, sides: Array | None) -> tuple[Array, Array]:
    if sides is None:
        return left, right
    across = sides[left] != sides[right]
    return left[across], right[across]


def list_matches(
    corpus: Corpus,
    documents: Documents,
    recipe: Recipe,
    *,
    options: DedupOptions,
    progress: Progress,
    first_of_other: int | None = None,
    sides: Array | None = None,
    distinct: bool = False,
    kept: ElementStore | None = None,
    every_empty: bool = False,
    report: Callable[[Found], object] = lambda _: None,
) -> Iterator[Matches]:
    """Yield every pair of candidates of at least `min_similarity`, in bounded memory.

    First come the pairs of documents with enough tokens for the method, by left and right row. Then come pairs of short documents,
    which match only if their normalized texts are equal. Of equal texts without tokens, a thousand of which would be half a million
    pairs that say nothing, each is paired with the first only.

    Args:
        first_of_other: list only pairs of a row before this one with this row or a later one.
        sides: uint8[rows], 1 or 2; list only pairs of two sides. It stands for `first_of_other`.
        distinct: of the documents with equal normalized texts on one side and in one group, use only the first.
        kept: the elements of all documents, if the first pass kept them for a join; else texts are read again.
        every_empty: list all pairs of equal texts without tokens.
        report: called with the candidates and how they were found.
    """
    rows = np.flatnonzero(documents.valid)
    if first_of_other is not None:
        sides = np.where(np.arange(len(documents)) < first_of_other, 1, 2).astype(np.uint8)
    groups = documents.groups(options)
    if distinct:
        rows = _first_of_equal(documents, rows, sides, groups)
    representative = exact_representatives(documents, rows, groups)
    task = Task(
        corpus=corpus,
        documents=documents,
        rows=rows,
        representative=representative,
        recipe=recipe,
        options=options,
        progress=progress,
        sides=sides,
        groups=groups,
        kept=kept,
    )
    found = find_candidates(task)
    report(found)
    yield from _verified(task, found)
    is_long_enough = np.zeros(len(documents), np.bool_)
    is_long_enough[found.rows] = True
    short = rows[~is_long_enough[rows]]
    is_empty = documents.tokens[short] == 0
    yield from _equal_texts(task, short if every_empty else short[~is_empty])
    if not every_empty:
        yield _with_the_first(task, short[is_empty])


def _first_of_equal(documents: Documents, rows: Array, sides: Array | None, groups: Array | None) -> Array:
    """The rows without an earlier row of equal text, side and group."""
    apart = np.zeros(len(documents), np.int64) if groups is None else 2 * groups
    if sides is not None:
        apart = apart + (sides == 2)
    first: Array = rows[exact_representatives(documents, rows, apart) == rows]
    return first


def _verified(task: Task, found: Found) -> Iterator[Matches]:
    """Yield the candidates of at least `min_similarity`."""
    rows, graph, threshold = found.rows, found.candidates, task.options.min_similarity
    with contextlib.ExitStack() as stack:
        sets: ElementStore | None = None
        if threshold > 0 and task.kept is not None and task.kept.serves_verification:
            sets = task.kept
        elif threshold > 0:
            is_read = np.zeros(len(task.documents), np.bool_)
            is_read[rows[graph.has_any]] = True
            with task.progress.stage("read again", int(is_read.sum())):
                options = task.options
                sets = ElementStore.of_verification(options.compared_by, task.recipe, resources=options.resources)
                stack.push(sets)
                read_again(sets, task.corpus, is_read, progress=task.progress)
        for a, b in candidate_pairs(graph):
            left, right = _across(rows[a], rows[b], task.sides)
            similarity = np.full(len(left), np.nan)
            if sets is not None:
                similarity = sets.similarities(left, right, threshold)
                passed = similarity >= 0
                left, right, similarity = left[passed], right[passed], similarity[passed]
            yield _sorted(left, right, hamming_distances(task.documents.fingerprints, left, right), similarity)


def _equal_texts(task: Task, short: Array) -> Iterator[Matches]:
    """Yield pairs among the rows `short` that have equal normalized texts."""
    equal = near_fingerprints(task.documents.digests[short], max_distance=0, resources=task.resources)
    if task.groups is not None:
        equal = within_groups(equal, task.groups[short], resources=task.resources)
    for a, b in candidate_pairs(equal):
        left, right = _across(short[a], short[b], task.sides)
        yield _equal(left, right)


def _equal(left: Array, right: Array) -> Matches:
    return _sorted(left, right, np.zeros(len(left), np.int64), np.ones(len(left)))


def _with_the_first(task: Task, rows: Array) -> Matches:
    """Pairs of each of `rows` (ascending) with the first of equal normalized text; across sides, with the first on the other."""
    first = exact_representatives(task.documents, rows, task.groups)
    if task.sides is None:
        return _equal(first[first != rows], rows[first != rows])
    # The rows of the left side come before all of the right side, so the first of a group is on the left if any is.
    is_pair = (task.sides[rows] == 2) & (task.sides[first] == 1)
    left, right = first[is_pair], rows[is_pair]
    firsts, at = np.unique(left, return_index=True)
    others = (task.sides[rows] == 1) & (first != rows) & np.isin(first, firsts)
    first_right = right[at[np.searchsorted(firsts, first[others])]]
    return _equal(np.concatenate([left, rows[others]]), np.concatenate([right, first_right]))


def match(
    texts: Any,
    other: Any = None,
    *,
    text: str | Iterable[str] = "text",
    elements: str | None = None,
    html: Html | None = None,
    recipe: RecipeLike | None = None,
    progress: Watcher = None,
    **options: Unpack[MatchOptions],
) -> Matches:
    """Find every pair of near-duplicates among `texts`, or between `texts` and `other`.

    One exception keeps the list short: of equal texts without any word (empty, or only punctuation), each is paired with the first
    of them only, or with the first in the other set.

    Args:
        texts: a list or an iterator of strings, a column or a table: anything that `deduplicate` accepts.
        other: texts of the same kinds. If given, left is a row of `texts`, and right a row of `other`.
        text, elements, html, recipe, progress: as in `deduplicate`.
        **options: method, min_similarity, similarity, max_distance, within, threads, memory, temp_dir, temp_limit of
            `DedupOptions`.

    >>> found = match(["A rose is a rose is a rose, said she.", "A tulip.", "a rose is a rose is a rose said she"])
    >>> found.left.tolist(), found.right.tolist(), found.similarity.tolist()
    ([0], [2], [1.0])
    >>> match(["A tulip.", "An oak."], ["an oak"]).left.tolist()
    [1]
    """
    chosen, watched = options_of(options, match), progress_of(progress)
    recipe = recipe_of(recipe, chosen.version)
    open_table = partial(
        TableCorpus, text=text, elements=elements, html=html, values=chosen.columns, resources=chosen.resources
    )
    corpora = [open_table(texts, called="texts")]
    if other is not None:
        corpora.append(open_table(other, called="other"))
        corpora[0].demand_same_kind(corpora[1], ("texts", "other"))
    recipe, chosen = corpora[0].fitted(recipe, chosen)
    resolved = resolve(recipe, chosen)
    chosen = resolved.options
    if resolved.note is not None:
        watched.say(resolved.note)
    scripts = ScriptCount.wanted(recipe, chosen.compared_by)
    with watched.stage("fingerprint"):
        each = [
            read_documents(
                corpus,
                recipe,
                progress=watched,
                resources=chosen.resources,
                values=KeptValues.of(chosen),
                how=FirstPass(scripts=scripts),
            )
            for corpus in corpora
        ]
    if scripts is not None and (advice := scripts.advice(recipe)):
        watched.say(advice)
    corpus: Corpus = corpora[0]
    documents, first_of_other = each[0], None
    if other is not None:
        first_of_other, documents = len(each[0]), join_documents(*each, resources=chosen.resources)
        corpus = CorpusPair(corpora[0], first_of_other, corpora[1])
    parts = list(
        list_matches(corpus, documents, recipe, options=chosen, progress=watched, first_of_other=first_of_other)
    )
    if not parts:
        nothing = np.empty(0, np.int64)
        return Matches(nothing, nothing, nothing, np.empty(0))
    fields = [
        np.concatenate([getattr(part, name) for part in parts]) for name in ("left", "right", "distance", "similarity")
    ]
    found = _sorted(*fields)
    return found if first_of_other is None else dataclasses.replace(found, right=found.right - first_of_other)
