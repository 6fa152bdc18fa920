"""Candidates by EXACT: every pair of documents that can reach the similarity, by the prefixes of their sets."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields

import numpy as np

from neardup.arrays import Array
from neardup.hamming.candidate_graph import CandidateGraph
from neardup.hamming.unique import Unique, collapse
from neardup.matching.candidates.candidate_join import CandidateJoin
from neardup.matching.candidates.costs import Size, prefix_bytes
from neardup.matching.candidates.elements import kept_parts, map_elements
from neardup.matching.candidates.estimates import estimate_exact
from neardup.matching.candidates.sampled_sets import sample_of
from neardup.matching.candidates.task import Found, Task
from neardup.matching.prefix_join.counts import ElementCounts, Runs
from neardup.matching.prefix_join.join import JoinCost, join_prefixes
from neardup.matching.prefix_join.prefixes import Prefixes, PrefixFile, prefixes_of
from neardup.matching.similarities.table import Elements, maker_of
from neardup.resources.held_spool import taken
from neardup.resources.threads import in_order

COSTS = [field.name for field in fields(JoinCost)]
"""The counts of a join, which are added up where there are several."""


def count_elements(task: Task, runs: Runs | None = None) -> ElementCounts:
    """Count in how many documents each element occurs; equal texts count once. `runs`: the elements, if they lie in memory."""
    wanted, resources, progress = task.wanted, task.resources, task.progress
    with progress.stage("count", int(wanted.sum())):
        expected = int(task.documents.tokens[wanted].sum())  # about one element per token
        counts = ElementCounts(expected, memory=resources.share("counts"), clear=runs is None)
        resources.use.record("counts", counts.cells.nbytes)

        def count(elements: Elements) -> int:
            counts.add(elements.values)
            return len(elements.offsets) - 1

        counted = (
            map_elements(task, count, name="count", state=counts.cells)
            if runs is None
            else counts.count_all(runs, threads=resources.thread_count)
        )
        for documents in counted:
            progress.advance(documents)
    return counts


def _runs(task: Task) -> Runs | None:
    """All elements, if they lie in memory and texts are long."""
    kept, rows = task.kept, np.flatnonzero(task.wanted)
    if kept is None or not kept.is_in_memory:
        return None
    runs = Runs(kept.values, kept.starts[rows], kept.ends[rows])
    return runs if runs.is_worthwhile else None


def _check_room(task: Task, work: str) -> None:
    """Refuse prefixes that the disk would not hold. How many elements they have is looked at only where all might be too many."""
    options, resources = task.options, task.resources
    size = Size(int(task.wanted.sum()), int(task.documents.tokens[task.wanted].sum()))
    if prefix_bytes(size, size.tokens) <= resources.free_bytes:
        return
    with task.progress.stage("room", size.documents):
        estimate = estimate_exact(
            sample_of(task, size),
            size,
            code=maker_of(options.compared_by).code,
            min_similarity=options.min_similarity,
            memory=resources.memory_bytes,
            survivors_first=task.survivors_first,
        )
    resources.check_room(prefix_bytes(size, estimate.postings), work=work, instead="a higher `min_similarity`")


def _make_prefixes(task: Task, file: PrefixFile) -> None:
    """Write the prefixes of all wanted texts to a file. A function, so that nothing keeps the counts, which are large, after it."""
    code, min_similarity = maker_of(task.options.compared_by).code, task.options.min_similarity
    kept, runs, resources = task.kept, _runs(task), task.resources
    counts = count_elements(task, runs)

    def of(elements: Elements, counted: Array) -> Prefixes:
        return prefixes_of(elements, code=code, min_similarity=min_similarity, counts=counted)

    with task.progress.stage("prefixes", int(task.wanted.sum())):
        if kept is None or runs is None:
            made = map_elements(task, lambda some: of(some, counts.of(some.values)), name="prefixes")
        else:
            found = counts.of_runs(runs, threads=resources.thread_count)
            resources.use.record("postings", found.nbytes)  # in the room of those, which are not there yet
            made = in_order(
                lambda rows: of(kept.elements(rows), taken(found, kept.starts[rows], kept.ends[rows])),
                kept_parts(task, kept),
                resources.thread_count,
            )
        for part in made:
            file.append(part)
            task.progress.advance(len(part))


@contextmanager
def open_exact(task: Task, *, work: str = "`method='exact'`") -> Iterator["ExactJoin"]:
    """Prepare to find every pair of documents that can reach the similarity, however short; two passes over their elements.

    `work`: what needs this, for the message.

    Raises:
        OptionError: the temporary files would not fit where they go.
    """
    task = task.at_least(task.min_tokens("exact"))
    _check_room(task, work)
    resources = task.resources
    with PrefixFile(resources) as file:
        _make_prefixes(task, file)
        prefixes, read_as = file.whole(), task.read_as(task.wanted)
        if task.min_tokens("exact") == 0:
            has_elements = prefixes.sizes[read_as] > 0
            task, read_as = task.only(has_elements), read_as[has_elements]
        equal = collapse(
            resources.scratch.take(prefixes.digests, read_as), threads=resources.threads, scratch=resources.scratch
        )
        yield ExactJoin(task, equal, prefixes, read_as)


class ExactJoin(CandidateJoin):
    """Prefixes of sets of elements; documents with equal sets are one class."""

    method, proposes_all = "exact", True

    def __init__(self, task: Task, equal: Unique, prefixes: Prefixes, read_as: Array) -> None:
        """`read_as`: int64[m], which of the `prefixes` each document has."""
        super().__init__(task, equal)
        self._prefixes, self._read_as = prefixes, read_as
        self._costs: list[JoinCost] = []

    def of_classes(self, equal: Unique) -> "ExactJoin":
        """The same documents in other classes, each of documents with equal sets."""
        return ExactJoin(self.task, equal, self._prefixes, self._read_as)

    def pairs(
        self, classes: Array | None = None, across: int = 0, *, names: Array | None = None, most: int | None = None
    ) -> Array:
        task, equal, scratch = self.task, self.equal, self.task.scratch
        sides = None
        if task.sides is not None and classes is None:  # a class of equal sets is on all sides of its members
            sides = np.bitwise_or.reduceat(task.sides[task.rows][equal.order], equal.starts[:-1])
        firsts = self.firsts if classes is None else scratch.take(self.firsts, classes)
        packed, cost = join_prefixes(
            self._prefixes,
            scratch.take(self._read_as, firsts),
            code=maker_of(task.options.compared_by).code,
            min_similarity=task.options.min_similarity,
            sides=sides,
            across=across,
            names=names,
            most=most,
            resources=task.resources,
        )
        self._costs.append(cost)
        return packed

    def proposes(self, left: Array, right: Array) -> Array:
        return np.ones(np.broadcast(left, right).shape, np.bool_)

    def found(self, candidates: CandidateGraph) -> Found:
        costs = {name: sum(getattr(cost, name) for cost in self._costs) for name in COSTS}
        return Found(
            self.task.rows, candidates, self.task.min_tokens("exact"), self.method, reason=self.reason, costs=costs
        )
