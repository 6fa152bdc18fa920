"""Candidates of a sketch NARROWED to those that can reach the similarity, as their prefixes tell: where very many do not match.

MinHash signatures and fingerprints cannot tell lines that are 0.73 alike from lines that are 0.8 alike, and propose nearly all
pairs of a large family. The prefix join lists few of them; of those, the ones that the sketch proposes are kept. The pairs that the
sketch proposes and that match are the same as before, so decisions are the same, too.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeGuard

import numpy as np

from neardup.arrays import Array
from neardup.hamming.candidate_graph import CandidateGraph
from neardup.hamming.unique import Unique, collapse
from neardup.matching.candidates.candidate_join import CandidateJoin, SketchJoin, all_candidates
from neardup.matching.candidates.costs import FEW_PAIRS_PER_DOCUMENT, is_dense
from neardup.matching.candidates.dense import list_dense
from neardup.matching.candidates.exact import ExactJoin, open_exact
from neardup.matching.candidates.task import Found
from neardup.resources.pair_spool import ManyPairs

PAIRS_AT_ONCE = 1 << 14
"""Pairs that are checked at a time."""
MAX_HELD_SKETCHES = 50_000
"""Sketches of so many documents are held against each other in a few seconds, even if all survive: longer than narrowing takes."""


class NarrowedJoin(CandidateJoin):
    """The candidates of `sketch` that are candidates of `exact`, too. Documents with equal sets and sketches are one class."""

    def __init__(self, sketch: SketchJoin, exact: ExactJoin) -> None:
        super().__init__(exact.task, _common(sketch, exact))
        self.method, self.reason = sketch.method, sketch.reason
        self._sketch, self._exact = sketch, exact.of_classes(self.equal)

    def pairs(
        self, classes: Array | None = None, across: int = 0, *, names: Array | None = None, most: int | None = None
    ) -> Array:
        listed = self._exact.pairs(classes, across, most=most)
        firsts = self.firsts if classes is None else self.firsts[classes]
        spool = self.task.resources.pair_spool(names)
        for first in range(0, len(listed), PAIRS_AT_ONCE):
            part = listed[first : first + PAIRS_AT_ONCE]
            left, right = firsts[(part >> np.uint64(32)).astype(np.int64)], firsts[part.astype(np.uint32)]
            spool.add(part[self._sketch.proposes(left, right)])
        return spool.all()

    def proposes(self, left: Array, right: Array) -> Array:
        return self._sketch.proposes(left, right)

    def found(self, candidates: CandidateGraph) -> Found:
        found = self._sketch.found(candidates)
        found.costs["narrowed"] = True
        return found


def _common(sketch: SketchJoin, exact: ExactJoin) -> Unique:
    """The documents that are of one class in both."""
    scratch = exact.task.scratch
    keys = scratch.zeros((len(exact.task.rows), 2), np.uint64)
    for column, equal in enumerate((sketch.equal, exact.equal)):
        keys[:, column] = equal.class_of(scratch)
    return collapse(keys, threads=exact.task.resources.threads, scratch=scratch)


def may_be_narrowed(join: CandidateJoin) -> TypeGuard[SketchJoin]:
    """Whether the join is of sketches, and candidates are to reach a similarity."""
    return isinstance(join, SketchJoin) and join.task.options.min_similarity > 0


def is_held(join: CandidateJoin, many: ManyPairs) -> bool:
    """Whether documents are to be held against each other, as a sample expects so many pairs that listing them takes longer.

    Of many documents, those of a sketch are narrowed first: their prefixes may list few pairs.
    """
    n = len(join.task.rows)
    is_asked_first = may_be_narrowed(join) and n > MAX_HELD_SKETCHES
    return not is_asked_first and is_dense(n, many.expected) and join.task.options.min_similarity > 0


@contextmanager
def open_narrowed(sketch: SketchJoin) -> Iterator[NarrowedJoin]:
    """Prepare to join the documents of a sketch by their prefixes; two more passes over their elements.

    Raises:
        OptionError: the temporary files would not fit where they go.
    """
    work = f"`method={sketch.method!r}` with very many candidates"
    with open_exact(sketch.task, work=work) as exact:
        yield NarrowedJoin(sketch, exact)


def list_candidates(join: CandidateJoin) -> Found:
    """Find all candidates; of very many, those that match, or those of a sketch that can reach the similarity.

    Raises:
        OptionError: the temporary files would not fit where they go.
    """
    by_similarity = join.task.options.min_similarity > 0
    try:
        return all_candidates(join, most=FEW_PAIRS_PER_DOCUMENT * len(join.task.rows) if by_similarity else None)
    except ManyPairs as many:
        found = is_held(join, many) and list_dense(join, many.expected)
    if found:
        return found
    if not may_be_narrowed(join):
        return all_candidates(join)
    with open_narrowed(join) as narrowed:
        return list_candidates(narrowed)
