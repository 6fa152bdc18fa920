"""The elements of the documents of a task: kept by the first pass, or read again."""

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from neardup.arrays import Array
from neardup.io.corpora.batch import Batch
from neardup.io.resume.checkpoints import NO_CHECKPOINTS
from neardup.matching.candidates.task import Task
from neardup.matching.similarities.element_store import ElementStore
from neardup.matching.similarities.table import Elements, maker_of
from neardup.resources.threads import in_order
from neardup.text.columns import in_chunks

Result = TypeVar("Result")

ELEMENTS_AT_ONCE = 1 << 17
"""Approximate number of kept elements per chunk."""


def map_elements(
    task: Task, work: Callable[[Elements], Result], *, name: str = "", state: Array | None = None
) -> Iterator[Result]:
    """Yield work(elements) for the wanted texts, chunk by chunk, in order: elements kept by the first pass, else read again.

    With a `name`, results are saved if the run can be resumed.
    """
    maker, wanted = maker_of(task.options.compared_by), task.wanted
    if task.kept is None:

        def read(batch: Batch) -> list[Result]:
            if batch.made is not None:
                return [work(batch.made.joined)]
            chunks = in_chunks(batch.texts.drop_null())
            return [work(maker.elements(chunk, task.recipe)) for chunk in chunks]

        passes = task.checkpoints if name else NO_CHECKPOINTS
        for _, results in passes.map(task.corpus, read, name=name, wanted=wanted, state=state):
            yield from results
        return
    kept = task.kept
    yield from in_order(lambda part: work(kept.elements(part)), kept_parts(task, kept), task.resources.thread_count)


def kept_parts(task: Task, kept: ElementStore) -> list[Array]:
    """The wanted rows, in chunks of about ELEMENTS_AT_ONCE."""
    rows = np.flatnonzero(task.wanted)
    sizes = np.cumsum(kept.ends[rows] - kept.starts[rows])
    cuts = np.unique(
        np.searchsorted(sizes, np.arange(ELEMENTS_AT_ONCE, sizes[-1] if len(rows) else 0, ELEMENTS_AT_ONCE))
    )
    return np.split(rows, cuts)
