"""Candidates by EXACT: every pair of documents that can reach the similarity, by the prefixes of their sets."""

import dataclasses

import numpy as np

from neardup.candidates.classes import candidates_of
from neardup.candidates.samples import join_elements, sample_elements
from neardup.candidates.task import Found, Task
from neardup.distinct import collapse
from neardup.io.batch import Batch
from neardup.options import memory_bytes
from neardup.prefix_join.counts import ElementCounts
from neardup.prefix_join.join import join_prefixes
from neardup.prefix_join.prefixes import Prefixes, PrefixFile, prefixes_of
from neardup.similarities import SIMILARITY_TABLE, Elements
from neardup.text.columns import in_chunks
from neardup.threads import thread_count

MIN_TOKENS = 1
"""A text without any token has no elements, and equals only equal ones."""
CELLS_SHARE = 8
"""An eighth of the memory is for counting."""


def count_elements(task: Task, *, sampled: int = 0) -> tuple[ElementCounts, Elements]:
    """In how many documents each element occurs; one pass over the corpus. Equal texts count once.

    Also the elements of about `sampled` documents, chosen by a sum of their elements: at random, but always the same.
    """
    options, wanted = task.options, task.wanted
    expected = int(task.documents.tokens[wanted].sum())  # about as many elements as tokens
    counts = ElementCounts(expected, memory=memory_bytes(options.memory) // CELLS_SHARE)
    elements_of = SIMILARITY_TABLE[options.similarity].elements
    share = min(1.0, sampled / max(1, int(wanted.sum())))

    def count(batch: Batch) -> tuple[int, list[Elements]]:
        texts = batch.texts.drop_null()
        chosen = []
        for chunk in in_chunks(texts):
            elements = elements_of(chunk, task.recipe)
            counts.add(elements.values)
            if share > 0:
                chosen.append(sample_elements(elements, share))
        return len(texts), chosen

    parts: list[Elements] = []
    with task.progress.stage("count", int(wanted.sum())):
        for _, (documents, chosen) in task.corpus.map(
            count, threads=thread_count(options.threads), wanted=wanted, name="count", state=counts.cells
        ):
            parts += chosen
            task.progress.advance(documents)
    return counts, join_elements(parts)


def find_exact(task: Task) -> Found:
    """Every pair of documents that can reach the similarity, however short they are; two passes over the corpus."""
    task = task.at_least(MIN_TOKENS)
    return join_counted(task, count_elements(task)[0])


def join_counted(task: Task, counts: ElementCounts) -> Found:
    """As `find_exact`, with the elements counted already."""
    options, progress, wanted = task.options, task.progress, task.wanted
    similarity, least = SIMILARITY_TABLE[options.similarity], options.min_similarity

    def prefixes_in(batch: Batch) -> list[Prefixes]:
        return [
            prefixes_of(similarity.elements(chunk, task.recipe), code=similarity.code, least=least, counts=counts)
            for chunk in in_chunks(batch.texts.drop_null())
        ]

    memory = memory_bytes(options.memory) // 2
    with PrefixFile(temp_dir=options.temp_dir) as file:
        with progress.stage("prefixes", int(wanted.sum())):
            for _, parts in task.corpus.map(
                prefixes_in, threads=thread_count(options.threads), wanted=wanted, name="prefixes"
            ):
                for part in parts:
                    file.append(part)
                    progress.advance(len(part))
            prefixes = file.whole()
        with progress.stage("join"):
            read_as = task.read_as(wanted)
            equal = collapse(prefixes.digests[read_as], threads=options.threads)
            sides = None
            if task.sides is not None:  # of a class of equal sets, those of all its members
                sides = np.bitwise_or.reduceat(task.sides[task.rows][equal.order], equal.starts[:-1])
            packed, cost = join_prefixes(
                prefixes,
                read_as[equal.order[equal.starts[:-1]]],
                code=similarity.code,
                least=least,
                memory=memory,
                threads=options.threads,
                sides=sides,
                temp_dir=options.temp_dir,
            )
            candidates = candidates_of(task.fingerprints, equal, packed, memory=memory // 4, temp_dir=options.temp_dir)
    return Found(task.rows, candidates, MIN_TOKENS, "exact", costs=dataclasses.asdict(cost))
