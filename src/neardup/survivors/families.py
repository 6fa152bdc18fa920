"""FAMILIES: where very many documents are alike, find the survivors first; then only candidates of survivors are needed.

The star walk compares a document with earlier survivors alone. So pairs of two documents that do not survive are not needed, and in
a family of n near-equal texts nearly all of the n² / 2 pairs are such. Survivors are found in blocks, each after those before it:
first the survivors so far are joined with the block, which removes most of a family; then what is left is joined with itself.

The decisions are those of the walk among all candidates: by induction over the order of preference, every document meets the same
earlier survivors in both.
"""

import numpy as np

from neardup.arrays import Array
from neardup.hamming.candidate_graph import candidates_of
from neardup.hamming.unique import Unique
from neardup.matching.candidates.candidate_join import CandidateJoin, all_candidates
from neardup.matching.candidates.costs import FEW_PAIRS_PER_DOCUMENT
from neardup.matching.candidates.narrowed import is_held, list_candidates, may_be_narrowed, open_narrowed
from neardup.matching.candidates.task import Found
from neardup.resources.pair_spool import ManyPairs
from neardup.survivors.clusters import Clustering, Verification
from neardup.survivors.dense import best_survivors, connecting_pairs

SMALL_BLOCK_DOCUMENTS, ESTIMATED_DOCUMENTS = 512, 4096
"""Up to the first number of documents are joined with each other as they are; the pairs of fewer than the second are not estimated
beforehand.
"""
USELESS_PAIRS_EACH = 64
"""With more pairs than this for each document, between survivors and others, blocks do not help."""
BLOCKS = 8
"""Of what is to be decided, an eighth is decided first."""


def find_candidates_of_survivors(join: CandidateJoin, verification: Verification, *, fixed: int) -> Found:
    """Find all candidates or, if these are very many, those pairs of which one document survives.

    The first `fixed` documents of the join always survive. Where very many candidates of a sketch do not match, and so most
    documents survive, those that cannot reach the similarity are left out.

    Raises:
        OptionError: by a sample, there are more pairs than fit the memory and the disk.
    """
    try:
        return _few_or_of_survivors(join, verification, fixed)
    except ManyPairs:
        pass
    if may_be_narrowed(join):
        with open_narrowed(join) as narrowed:
            return find_candidates_of_survivors(narrowed, verification, fixed=fixed)
    return all_candidates(join)


def find_candidates_of_components(join: CandidateJoin, verification: Verification, *, fixed: int) -> Found:
    """Find all candidates or, where nearly all texts are nearly alike, as many matches as connect all components.

    Raises:
        OptionError: by a sample, there are more pairs than fit the memory and the disk.
    """
    if join.task.options.min_similarity > 0:
        try:
            return all_candidates(join, most=FEW_PAIRS_PER_DOCUMENT * len(join.task.rows))
        except ManyPairs as many:
            found = is_held(join, many) and connecting_pairs(join, verification, fixed=fixed, pairs=many.expected)
            if found:
                return found
        if may_be_narrowed(join):
            with open_narrowed(join) as narrowed:
                return find_candidates_of_components(narrowed, verification, fixed=fixed)
    return list_candidates(join)


def _few_or_of_survivors(join: CandidateJoin, verification: Verification, fixed: int) -> Found:
    """Find all candidates, or those pairs of which one document survives.

    Raises:
        ManyPairs: there are very many of both.
    """
    n = len(join.task.rows)
    try:
        return all_candidates(join, most=FEW_PAIRS_PER_DOCUMENT * n)
    except ManyPairs as many:
        found = is_held(join, many) and best_survivors(join, verification, fixed=fixed, pairs=many.expected)
    if found:
        return found
    verification.read(join.task.rows)
    families = _Families(join, verification)
    with join.task.progress.stage("families", n):
        survivors = families.first_survivors(fixed)
        found = families.candidates_of_all(survivors)
    found.costs["survivors_first"] = len(survivors)
    return found


class _Families:
    """The search for the survivors of a join. Documents are positions in the order of preference."""

    def __init__(self, join: CandidateJoin, verification: Verification) -> None:
        self._join, self._task, self._verification = join, join.task, verification
        self._class_of = join.equal.class_of(self._task.scratch)

    def first_survivors(self, fixed: int) -> Array:
        """int64[s]: all survivors, ascending."""
        survivors, left = np.arange(fixed), np.arange(fixed, len(self._class_of))
        if fixed:
            left = self._left_by(survivors, left)
        return np.concatenate([survivors, *self._among(left)])

    def _among(self, left: Array) -> list[Array]:
        """The survivors among documents of which none matches an earlier survivor, in parts that ascend."""
        found: list[Array] = []
        while len(left):
            try:
                packed, classes = self._pairs_within(left)
            except ManyPairs:
                block, left = np.split(left, [max(1, len(left) // BLOCKS)])
                of_block = self._among(block)
                found += of_block
                left = self._left_by(np.concatenate(of_block), left)
                continue
            clustering = self._decide(packed, classes, left, 0)
            found.append(left[clustering.survivor == np.arange(len(left))])
            break
        return found

    def _left_by(self, survivors: Array, others: Array) -> Array:
        """Those of `others` whose best match, if they have one, is none of the `survivors`."""
        if len(others) == 0:
            return others
        packed, classes = self._pairs_across(survivors, others)
        clustering = self._decide(packed, classes, np.concatenate([survivors, others]), len(survivors))
        # Equal documents among the others may match each other; whether the better one survives is not known yet.
        left: Array = others[clustering.survivor[len(survivors) :] >= len(survivors)]
        self._task.progress.advance(len(others) - len(left))
        return left

    def _pairs_within(self, places: Array) -> tuple[Array, Array]:
        """The packed pairs of classes of documents, as numbers of classes that there are; and these classes, int64[k]."""
        classes = np.unique(self._class_of[places])
        if SMALL_BLOCK_DOCUMENTS < len(places) < ESTIMATED_DOCUMENTS:
            raise ManyPairs  # by experience: where all are dense, so are these
        most = FEW_PAIRS_PER_DOCUMENT * len(places) if len(places) > SMALL_BLOCK_DOCUMENTS else None
        return self._join.pairs(classes, most=most), classes

    def _pairs_across(self, survivors: Array, others: Array) -> tuple[Array, Array]:
        """The same for pairs of a survivor and another document; a class may have some of each."""
        left, right = np.unique(self._class_of[survivors]), np.unique(self._class_of[others])
        classes, both = np.union1d(left, right), np.concatenate([left, right])
        most = USELESS_PAIRS_EACH * (len(survivors) + len(others))
        packed = self._join.pairs(both, len(left), names=np.searchsorted(classes, both), most=most)
        if len(packed) > most and may_be_narrowed(self._join):
            raise ManyPairs  # so few are not estimated beforehand; there is another way
        return packed, classes

    def _decide(self, packed: Array, classes: Array, places: Array, fixed: int) -> Clustering:
        """Verify pairs of `classes` of the documents at `places`, and assign each to its survivor."""
        task = self._task
        of = np.searchsorted(classes, self._class_of[places])
        starts = np.concatenate(([0], np.cumsum(np.bincount(of, minlength=len(classes)))))
        fingerprints = task.fingerprints[places]
        equal = Unique(fingerprints[:0], np.argsort(of, kind="stable"), starts)
        candidates = candidates_of(fingerprints, equal, packed, resources=task.resources)
        rows = task.rows[places]
        return self._verification.some(task.of_groups(candidates, rows), rows, fixed)

    def candidates_of_all(self, survivors: Array) -> Found:
        """The candidates of which one is a survivor."""
        join = self._join
        is_survivor = np.zeros(len(self._class_of), np.bool_)
        is_survivor[survivors] = True
        packed, classes = self._pairs_across(survivors, np.flatnonzero(~is_survivor))
        assert len(classes) == len(join.equal)  # so the pairs are of the classes themselves
        return join.found(join.graph(packed))
