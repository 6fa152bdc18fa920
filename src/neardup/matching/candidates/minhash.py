"""Candidates by MINHASH: pairs that agree in a band of their signatures, sieved by their fingerprints."""

from dataclasses import replace

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.minhash import Signatures, Signing
from neardup.hamming.candidate_graph import candidates_of
from neardup.hamming.unique import collapse
from neardup.io.batch import Batch
from neardup.kernels.xxh3 import digest_rows
from neardup.matching.band_plan import Bands, agreement_limit, plan_bands
from neardup.matching.bands import spool_banded
from neardup.matching.candidates.task import Found, Task
from neardup.matching.distance_limit import distance_limit
from neardup.recipe.methods import METHODS
from neardup.resources.spool import Spool, mapped_array
from neardup.text.columns import in_chunks

MISS_PROBABILITY = METHODS["minhash"].miss_probability
"""Of a pair exactly at the similarity asked for, by bands and agreement; the higher the similarity, the smaller."""
GATHERED = 1 << 14
"""Signatures that are copied at a time from one file to another."""
AGREEMENT_SHARE = 0.1
"""The part of it that is allowed for pairs which meet in a band, but agree in too few of all values."""


def minhash_bands(min_similarity: float) -> Bands:
    """The bands that the method uses."""
    return plan_bands(min_similarity, miss_probability=(1 - AGREEMENT_SHARE) * MISS_PROBABILITY)


def minhash_agreement(min_similarity: float, bands: Bands) -> int:
    """In how many values a pair must agree, besides in a band."""
    return agreement_limit(min_similarity, bands.values, miss_probability=AGREEMENT_SHARE * MISS_PROBABILITY)


def signature_bytes(documents: int, bands: Bands) -> int:
    """What the signatures take, which are there twice: of each document, and of each class of equal ones."""
    return 2 * documents * bands.values * np.dtype(np.uint32).itemsize


class _SignatureParts:
    """Signatures that are appended, part by part, in memory."""

    def __init__(self) -> None:
        self._parts: list[Signatures] = []

    def append(self, part: Signatures) -> None:
        self._parts.append(part)

    def whole(self, signing: Signing) -> Signatures:
        """All that was appended."""
        found = signing.join(self._parts)
        self._parts.clear()
        return found


class _SignatureFile:
    """The same in a temporary file, but for the sizes."""

    def __init__(self, temp_dir: str | None) -> None:
        self._spool, self._sizes = Spool(np.uint32, temp_dir=temp_dir), [np.empty(0, np.int64)]

    def append(self, part: Signatures) -> None:
        self._spool.write(part.values)
        self._sizes.append(part.sizes)

    def whole(self, signing: Signing) -> Signatures:
        """All that was appended, mapped."""
        with self._spool:
            values = self._spool.changeable().reshape(-1, signing.values)
        return replace(signing.none(), values=values, sizes=np.concatenate(self._sizes))


def _in_order(signatures: Signatures, rows: Array, temp_dir: str | None, *, with_file: bool) -> Signatures:
    """`signatures[rows]`, in a temporary file if they come from one."""
    if not with_file:
        return signatures[rows]
    width = signatures.values.shape[1]
    values = mapped_array(len(rows) * width, np.uint32, temp_dir=temp_dir).reshape(-1, width)
    for first in range(0, len(rows), GATHERED):
        values[first : first + GATHERED] = signatures.values[rows[first : first + GATHERED]]
    return replace(signatures, values=values, sizes=signatures.sizes[rows])


def find_by_minhash(task: Task) -> Found:
    """Pairs that agree in a band, and that the sieve lets through; one pass over the corpus.

    A pair at the similarity meets in no band with MISS_PROBABILITY; what the sieve misses is added.
    """
    options = replace(task.options, method="minhash")  # or auto has taken it
    max_distance = distance_limit(task.recipe, options)
    task = task.at_least(task.min_tokens("minhash"))
    progress, wanted = task.progress, task.wanted
    bands = minhash_bands(options.min_similarity)
    least_agreeing = minhash_agreement(options.min_similarity, bands)
    signing = Signing(values=bands.values, normalize=tuple(task.recipe.normalize))

    def sign(batch: Batch) -> list[Signatures]:
        return [signing.sign(chunk) for chunk in in_chunks(batch.texts.drop_null())]

    n, resources = int(wanted.sum()), task.resources
    held = signature_bytes(n, bands)
    with_file = held > resources.share("signatures")
    if with_file:
        resources.check_room(held, work=f"`method='minhash'` of {n:,} documents", instead="fewer documents at a time")
    else:
        resources.use.record("signatures", held)
    parts = _SignatureFile(resources.temp_dir) if with_file else _SignatureParts()
    with progress.stage("signatures", n):
        for _, found in task.checkpoints.map(task.corpus, sign, name="signatures", wanted=wanted):
            for part in found:
                parts.append(part)
            progress.advance(sum(map(len, found)))
        signatures = parts.whole(signing)
    with progress.stage("join"):
        read_as = task.read_as(wanted)
        scratch = task.scratch
        digests = scratch.zeros((len(signatures), 2), np.uint64)
        width = signatures.values.shape[1] * signatures.values.itemsize
        digest_rows(signatures.values.view(np.uint8).ravel(), width, digests)
        # The sieve looks at one fingerprint of a class; all being equal, what it lets through is a matter of the pair.
        keys = scratch.zeros((len(read_as), 2 + task.recipe.words), np.uint64)
        keys[:, :2], keys[:, 2:] = scratch.take(digests, read_as), task.fingerprints
        equal = collapse(keys, threads=resources.threads, scratch=scratch)
        del keys, digests
        firsts = equal.order[equal.starts[:-1]]
        spool = resources.pair_spool()
        spool_banded(
            _in_order(signatures, read_as[firsts], resources.temp_dir, with_file=with_file),
            bands,
            spool,
            fingerprints=scratch.take(task.fingerprints, firsts),
            max_distance=max_distance,
            least_agreeing=least_agreeing,
            resources=resources,
        )
        del signatures
        pairs = spool.all()
        candidates = candidates_of(task.fingerprints, equal, pairs, resources=resources)
    costs = {
        "bands": bands.bands,
        "rows": bands.rows,
        "least_agreeing": least_agreeing,
        "miss_probability": MISS_PROBABILITY,
        "sieve_distance": max_distance,
        "pairs": len(pairs),
    }
    return Found(task.rows, candidates, task.min_tokens("minhash"), "minhash", max_distance=max_distance, costs=costs)
