"""Candidates by MINHASH: pairs that agree in a band of their signatures, sieved by their fingerprints."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.minhash import Signatures, Signing
from neardup.hamming.candidate_graph import CandidateGraph
from neardup.hamming.near import hamming_distances
from neardup.hamming.unique import Unique, collapse
from neardup.io.corpora.batch import Batch
from neardup.kernels.xxh3 import digest_rows
from neardup.matching.band_plan import Bands, agreement_limit, plan_bands
from neardup.matching.bands import Placed, agree_where_they_lie, spool_banded
from neardup.matching.candidates.candidate_join import SketchJoin
from neardup.matching.candidates.elements import map_elements
from neardup.matching.candidates.task import Found, Task
from neardup.matching.distance_limit import distance_limit
from neardup.matching.similarities.table import Elements, maker_of
from neardup.recipe.tables.methods import METHODS
from neardup.resources.spool import Spool
from neardup.resources.temporary_files import TemporaryFiles
from neardup.text.columns import in_chunks

MISS_PROBABILITY = METHODS["minhash"].miss_probability
"""Of a pair exactly at the similarity asked for, by bands and agreement; the higher the similarity, the smaller."""
AGREEMENT_SHARE = 0.1
"""The part of it that is allowed for pairs which meet in a band, but agree in too few of all values."""


def minhash_bands(min_similarity: float) -> Bands:
    """The bands that the method uses."""
    return plan_bands(min_similarity, miss_probability=(1 - AGREEMENT_SHARE) * MISS_PROBABILITY)


def minhash_agreement(min_similarity: float, bands: Bands) -> int:
    """In how many values a pair must agree, besides in a band."""
    return agreement_limit(min_similarity, bands.values, miss_probability=AGREEMENT_SHARE * MISS_PROBABILITY)


def signature_bytes(documents: int, bands: Bands) -> int:
    """What the signatures of so many documents take."""
    return documents * bands.values * np.dtype(np.uint32).itemsize


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

    def __init__(self, files: TemporaryFiles) -> None:
        self._spool, self._sizes = Spool(np.uint32, files=files), [np.empty(0, np.int64)]

    def append(self, part: Signatures) -> None:
        self._spool.write(part.values)
        self._sizes.append(part.sizes)

    def whole(self, signing: Signing) -> Signatures:
        """All that was appended, mapped."""
        with self._spool:
            values = self._spool.changeable().reshape(-1, signing.values)
        return replace(signing.none(), values=values, sizes=np.concatenate(self._sizes))


@contextmanager
def open_minhash(task: Task) -> Iterator["MinHashJoin"]:
    """Prepare to find the pairs that agree in a band, and that the sieve lets through; one pass over the corpus.

    A pair at the similarity meets in no band with MISS_PROBABILITY; what the sieve misses is added.
    """
    task = task.at_least(task.min_tokens("minhash"))
    progress, wanted = task.progress, task.wanted
    bands = minhash_bands(task.options.min_similarity)
    maker = maker_of(task.options.compared_by)
    signing = Signing(
        values=bands.values,
        normalize=tuple(task.recipe.normalize),
        similarity=maker.given,
        version=task.recipe.version,
    )

    def sign(batch: Batch) -> list[Signatures]:
        if batch.made is not None:
            return [batch.made.signatures]
        chunks = in_chunks(batch.texts.drop_null())
        if maker.given is None:
            return [signing.sign(chunk) for chunk in chunks]
        return [sign_elements(maker.elements(chunk, task.recipe)) for chunk in chunks]

    def sign_elements(elements: Elements) -> Signatures:
        return signing.sign_sets(elements.values, elements.offsets)

    n, resources = int(wanted.sum()), task.resources
    held = signature_bytes(n, bands)
    with_file = held > resources.share("signatures")
    if with_file:
        work = f"`method='minhash'` of {n:,} documents"
        resources.check_room(held, work=work, instead="fewer documents at a time", use="signatures")
    else:
        resources.use.record("signatures", held)
    parts = _SignatureFile(resources.files) if with_file else _SignatureParts()
    with progress.stage("signatures", n):
        passes = task.checkpoints.map(task.corpus, sign, name="signatures", wanted=wanted)
        read = (part for _, found in passes for part in found)
        # The shingles that a join indexes are those that are signed.
        for part in read if task.kept is None else map_elements(task, sign_elements):
            parts.append(part)
            progress.advance(len(part))
        signatures = parts.whole(signing)
    read_as, scratch = task.read_as(wanted), task.scratch
    if task.min_tokens("minhash") == 0:
        has_elements = signatures.sizes[read_as] > 0
        task, read_as = task.only(has_elements), read_as[has_elements]
    digests = scratch.zeros((len(signatures), 2), np.uint64)
    width = signatures.values.shape[1] * signatures.values.itemsize
    digest_rows(signatures.values.view(np.uint8).ravel(), width, digests)
    # The sieve looks at one fingerprint of a class; all being equal, what it lets through is a matter of the pair.
    keys = scratch.zeros((len(read_as), 2 + task.recipe.words), np.uint64)
    keys[:, :2], keys[:, 2:] = scratch.take(digests, read_as), task.fingerprints
    equal = collapse(keys, threads=resources.threads, scratch=scratch)
    del keys, digests
    yield MinHashJoin(task, equal, signatures, read_as, bands, with_file=with_file)


class MinHashJoin(SketchJoin):
    """Signatures in bands; documents with equal signatures and equal fingerprints are one class."""

    method = "minhash"

    def __init__(
        self, task: Task, equal: Unique, signatures: Signatures, read_as: Array, bands: Bands, *, with_file: bool
    ) -> None:
        """`read_as`: int64[m], which of the `signatures` each document has; these are in a file or not."""
        super().__init__(task, equal)
        self._signatures, self._read_as, self._bands, self._with_file = signatures, read_as, bands, with_file
        self._least_agreeing = minhash_agreement(task.options.min_similarity, bands)
        self._max_distance = distance_limit(
            task.recipe, replace(task.options, method="minhash")
        )  # or auto has taken it
        self._listed = 0

    def pairs(
        self, classes: Array | None = None, across: int = 0, *, names: Array | None = None, most: int | None = None
    ) -> Array:
        task, resources = self.task, self.task.resources
        firsts = self.firsts if classes is None else self.firsts[classes]
        spool = resources.pair_spool(names)
        spool_banded(
            self._placed(self._read_as[firsts]),
            self._bands,
            spool,
            fingerprints=task.scratch.take(task.fingerprints, firsts),
            max_distance=self._max_distance,
            least_agreeing=self._least_agreeing,
            across=across,
            most=most,
            resources=resources,
        )
        packed = spool.all()
        self._listed += len(packed)
        return packed

    def _placed(self, places: Array) -> Placed:
        """Some of the signatures. What the share of their memory does not hold of them, if they are in a file, is for copies."""
        at_once = self.task.resources.share("signatures") if self._with_file else None
        return Placed(self._signatures, places, at_once)

    def proposes(self, left: Array, right: Array) -> Array:
        rows = self.task.rows
        proposed = agree_where_they_lie(self._placed(self._read_as), left, right, self._bands, self._least_agreeing)
        if self._max_distance is None:
            return proposed
        near = hamming_distances(self.task.documents.fingerprints, rows[left], rows[right]) <= self._max_distance
        return proposed & near

    def found(self, candidates: CandidateGraph) -> Found:
        costs = {
            "bands": self._bands.bands,
            "rows": self._bands.rows,
            "least_agreeing": self._least_agreeing,
            "miss_probability": MISS_PROBABILITY,
            "sieve_distance": self._max_distance,
            "pairs": self._listed,
        }
        least = self.task.min_tokens("minhash")
        found = Found(self.task.rows, candidates, least, self.method, reason=self.reason, costs=costs)
        return replace(found, max_distance=self._max_distance)
