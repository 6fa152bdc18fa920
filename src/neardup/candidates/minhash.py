"""Candidates by MINHASH: pairs that agree in a band of their signatures, sieved by their fingerprints."""

import dataclasses
from typing import Any

import numpy as np

from neardup.bands import Bands, agreement_limit, find_banded, plan_bands
from neardup.candidates.classes import candidates_of, packed_pairs
from neardup.candidates.task import Found, Task
from neardup.distinct import collapse
from neardup.errors import OptionError
from neardup.fingerprints.minhash import Signatures, Signing
from neardup.io.batch import Batch
from neardup.kernels.xxh3 import digest_rows
from neardup.options import LEAST_MEMORY, distance_limit, memory_bytes
from neardup.text.columns import in_chunks
from neardup.threads import thread_count

Array = np.ndarray[Any, np.dtype[Any]]

MIN_TOKENS = 1
MISS_PROBABILITY = 1e-3
"""Of a pair exactly at the similarity asked for, by bands and agreement; the higher the similarity, the smaller."""
AGREEMENT_SHARE = 0.1
"""The part of it that is allowed for pairs which meet in a band, but agree in too few of all values."""


def minhash_bands(min_similarity: float) -> Bands:
    """The bands that the method uses."""
    return plan_bands(min_similarity, miss_probability=(1 - AGREEMENT_SHARE) * MISS_PROBABILITY)


def minhash_agreement(min_similarity: float, bands: Bands) -> int:
    """In how many values a pair must agree, besides in a band."""
    return agreement_limit(min_similarity, bands.values, miss_probability=AGREEMENT_SHARE * MISS_PROBABILITY)


def find_by_minhash(task: Task) -> Found:
    """Pairs that agree in a band, and that the sieve lets through; one pass over the corpus.

    A pair at the similarity meets in no band with MISS_PROBABILITY; what the sieve misses is added.
    """
    options = dataclasses.replace(task.options, method="minhash")  # or auto has taken it
    max_distance = distance_limit(task.recipe, options)
    task = task.at_least(MIN_TOKENS)
    progress, wanted = task.progress, task.wanted
    bands = minhash_bands(options.min_similarity)
    least_agreeing = minhash_agreement(options.min_similarity, bands)
    signing = Signing(values=bands.values)

    def sign(batch: Batch) -> list[Signatures]:
        return [signing.sign(chunk) for chunk in in_chunks(batch.texts.drop_null())]

    parts: list[Signatures] = []
    with progress.stage("signatures", int(wanted.sum())):
        for _, found in task.corpus.map(sign, threads=thread_count(options.threads), wanted=wanted, name="signatures"):
            parts += found
            progress.advance(sum(map(len, found)))
        signatures = signing.join(parts)
        parts.clear()
    memory = memory_bytes(options.memory) - 2 * signatures.values.nbytes  # once more, of each class
    if memory < LEAST_MEMORY:
        raise OptionError(
            f"The signatures of {len(signatures):,} documents take {2 * signatures.values.nbytes / 2**20:,.0f} MiB, and finding "
            f"pairs among them takes more: allow more memory than {memory_bytes(options.memory) / 2**20:,.0f} MiB."
        )
    with progress.stage("join"):
        read_as = task.read_as(wanted)
        digests = np.empty((len(signatures), 2), np.uint64)
        width = signatures.values.shape[1] * signatures.values.itemsize
        digest_rows(signatures.values.view(np.uint8).ravel(), width, digests)
        equal = collapse(digests[read_as], threads=options.threads)
        firsts = equal.order[equal.starts[:-1]]
        pairs = find_banded(
            signatures[read_as[firsts]],
            bands,
            fingerprints=task.fingerprints[firsts],
            max_distance=max_distance,
            least_agreeing=least_agreeing,
            threads=options.threads,
            memory=memory,
        )
        candidates = candidates_of(task.fingerprints, equal, packed_pairs(pairs.left, pairs.right))
    costs = {
        "bands": bands.bands,
        "rows": bands.rows,
        "least_agreeing": least_agreeing,
        "miss_probability": MISS_PROBABILITY,
        "sieve_distance": max_distance,
        "pairs": len(pairs),
    }
    return Found(task.rows, candidates, MIN_TOKENS, "minhash", max_distance=max_distance, costs=costs)
