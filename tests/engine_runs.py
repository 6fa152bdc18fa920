"""Runs of the serial engine on rows in memory, and those of `deduplicate` on the same rows."""

import tempfile
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

import neardup
from engines.corpus_parts import CorpusParts
from neardup.dedup import reference_columns
from neardup.engines.flow import deduplicate
from neardup.engines.job.local_engine import SerialEngine
from neardup.engines.job_options import Limits, Work
from neardup.engines.stages import Part
from neardup.io.corpora.table_corpus import TableCorpus
from neardup.options import DedupOptions

COLUMNS = ("row", "survivor_row", "reference_row", "cluster_id", "exact", "similarity", "distance", "only_digits")


USUAL = Limits()
SMALL = Limits(
    documents_per_group=2, pairs_per_document=1, first_documents=1, wave_growth=2, listed_pairs=2, documents_per_block=2,
    rows_of_tiles=5, pairs_per_chunk=1, elements_per_block=100, elements_per_site=500, matches_per_task=0, rounds=1,
    duplicates_per_share=1,
)  # fmt: skip
"""With which few rows need what only large corpora do: waves and tiles of large groups, rounds, and walks by component."""


def work_of(recipe=None, limits=USUAL, **options):
    """The work of these options; by default, exactly 0.5 of the words' Jaccard similarity."""
    usual = {"method": "exact", "min_similarity": 0.5, "similarity": neardup.Similarity(word_shingle=1)}
    return replace(Work.of(recipe or neardup.Recipe(), DedupOptions(**(usual | options))), limits=limits)


def batch_of(texts, within=None):
    """Rows of a part: texts (None for no text), under their numbers, and JSON values."""
    nothing = [None] * len(texts)
    columns = (texts, [str(row) for row in range(len(texts))], within or nothing, nothing)
    return pa.record_batch(
        [pa.array(column, pa.large_string()) for column in columns], names=["text", "id", "within", "value"]
    )


def parts_of(*batches, size=1000):
    """What an engine reads: each time, parts of so many batches."""
    return lambda: iter(
        [Part(number, iter(batches[at : at + size])) for number, at in enumerate(range(0, len(batches), size))]
    )


def run_of_engine(
    rows,
    reference,
    recipe,
    options,
    *,
    size=7,
    buckets=16,
    change=lambda folder: None,
    limits=USUAL,
    stages=None,
    matching=None,
):
    """The removed rows, each as a tuple of COLUMNS, by parts of so many rows.

    `change`: called with the folder of each stage; `stages`: a list that gets what each stage took; `matching`: one that gets
    how many rows match the reference.
    """
    options = DedupOptions(**options)
    corpus, given = TableCorpus(rows, values=options.columns), None
    if reference:
        given = TableCorpus(reference, values=reference_columns(options), called="against", names_are_optional=True)
    parts = CorpusParts(corpus, options, size=size, reference=given)
    with tempfile.TemporaryDirectory() as folder:
        engine = Changed(Path(folder), parts, buckets=buckets, change=change)
        work = replace(Work.of(recipe, options), limits=limits)
        decided = deduplicate(engine, work)
        found = engine.collect(decided.results).sort_by("doc").to_pydict()
        if matching is not None:
            matching.append(decided.matching_reference() if reference else 0)
    if stages is not None:
        stages += engine.measured
    row, (survivor, of_reference), cluster = (
        parts.rows(pa.array(found[name], pa.int64()).to_numpy()) for name in ("doc", "survivor", "cluster")
    )
    columns = [
        row[0].tolist(),
        [None if given else int(at) for at, given in zip(survivor, of_reference, strict=True)],
        [int(at) if given else None for at, given in zip(survivor, of_reference, strict=True)],
        cluster[0].tolist(),
        found["exact"],
        [None if value != value else value for value in found["similarity"]],
        found["distance"],
        found["only_digits"],
    ]
    return list(zip(*columns, strict=True))


class Changed(SerialEngine):
    """A serial engine whose files something changes after each stage."""

    def __init__(self, folder, parts, *, buckets, change):
        super().__init__(folder, parts, buckets=buckets)
        self._root, self._change = folder, change

    def _run(self, name, outputs, found):
        done = super()._run(name, outputs, found)
        for folder in self._root.glob(f"{self._runs:03d} *"):
            self._change(folder)
        return done


def run_of_library(rows, reference, recipe, options, *, matching=None):
    """The same by `neardup.deduplicate`."""
    found = neardup.deduplicate(rows, against=reference or None, recipe=recipe, threads=1, **options)
    if matching is not None:
        matching.append(found.summary.matching_reference)
    return [tuple(line.get(name) for name in COLUMNS) for line in found.duplicates.to_pylist()]
