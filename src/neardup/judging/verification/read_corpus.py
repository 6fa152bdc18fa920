"""What verification knows of the inputs: one pass over them and their reference."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from neardup.arrays import Array, Bools, Int64s
from neardup.dedup import reference_columns, room_for_elements
from neardup.fingerprints.documents import Documents, FirstPass, KeptValues, join_documents, read_documents
from neardup.hamming.near import hamming_distances
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.protocol import Corpus, pair_of
from neardup.judging.verification.claim import Claim
from neardup.judging.verification.rows import RowKeys
from neardup.matching.similarities.element_store import ElementStore, read_again
from neardup.options import DedupOptions
from neardup.progress import Progress


class FingerprintedReference(Protocol):
    """A reference of which only fingerprints are known."""

    @property
    def documents(self) -> Documents:
        """Its documents."""

    def locate(self, rows: Array) -> tuple[list[str], Array]:
        """The names of the files of some rows (int64[n]), and the rows' numbers in these files."""


@dataclass(frozen=True, slots=True)
class ReadCorpus:
    """The inputs and the reference of a run, read once.

    Attributes:
        claim: what the run states.
        options: the options of joins that verify the run.
        corpus: the inputs and the reference as one, for reading again; `inputs`: the inputs alone.
        documents: of both; rows of the reference come last.
        rows: the number of rows of the inputs.
        keys: uint64[rows, WORDS], the keys of the rows of the inputs.
        groups: int64[rows of both], the groups of `within` and `guard`; None without them.
        kept: the elements of all texts, if there was room.
        progress: shows the passes that follow.
    """

    claim: Claim
    options: DedupOptions
    corpus: Corpus
    inputs: FileCorpus
    documents: Documents
    rows: int
    keys: Array
    groups: Int64s | None
    kept: ElementStore | None
    progress: Progress

    @property
    def valid(self) -> Bools:
        """bool[rows]: which rows of the inputs are documents."""
        found: Bools = self.documents.valid[: self.rows]
        return found

    @property
    def decided(self) -> int:
        """The number of rows on which the run decided: of the inputs; and of the reference, if both were ordered together."""
        return len(self.documents) if self.claim.together else self.rows

    def name(self, row: int) -> str:
        """A row of the inputs in words."""
        [file], rows = self.inputs.locate(np.array([row]))
        return f"{self.documents.ids[row].as_py()} (row {row}: {file}, row {int(rows[0])})"

    def among(self, rows: Bools) -> Documents:
        """The documents of which only these rows (bool[rows of both]) are documents, and the others left out."""
        return self.documents.only(rows)

    def measured(self, left: Int64s, right: Int64s) -> tuple[Array, Array, Bools]:
        """The similarity, the distance and the equality of rows left[i] and right[i]: float64[n], int64[n], bool[n].

        Normalized texts that are equal have similarity 1. It is NaN where it is not asked for.
        """
        known = self.documents
        equal: Bools = (known.digests[left] == known.digests[right]).all(axis=1)
        distance = hamming_distances(known.fingerprints, left, right)
        similarity = np.where(equal, 1.0, np.nan)
        apart = np.flatnonzero(~equal)
        if self.claim.is_by_distance or not len(apart):
            return similarity, distance, equal
        with contextlib.ExitStack() as stack:
            store = self.kept
            if store is None or not store.serves_verification:
                wanted = np.zeros(len(known), np.bool_)
                wanted[left[apart]] = wanted[right[apart]] = True
                store = ElementStore.of_verification(
                    self.claim.similarity, self.claim.recipe, resources=self.options.resources
                )
                stack.enter_context(store)
                with self.progress.stage("read again", int(wanted.sum())):
                    read_again(store, self.corpus, wanted, progress=self.progress)
            similarity[apart] = store.similarities(left[apart], right[apart], 0.0)
        return similarity, distance, equal


@contextlib.contextmanager
def read_corpus(
    inputs: FileCorpus,
    reference: Corpus | FingerprintedReference | None,
    claim: Claim,
    options: DedupOptions,
    progress: Progress,
) -> Iterator[ReadCorpus]:
    """Read the inputs and the reference once; what is kept of them is there for a `with` block."""
    resources = options.resources
    with contextlib.ExitStack() as stack:
        kept = None
        if room := room_for_elements(options):
            kept = ElementStore.of_join(claim.similarity, claim.recipe, resources=resources, room=room)
            stack.enter_context(kept)
        keys = RowKeys(inputs.shards, kept)
        values = KeptValues.of(options)
        with progress.stage("fingerprint"):
            documents = read_documents(
                inputs,
                claim.recipe,
                progress=progress,
                resources=resources,
                values=values,
                how=FirstPass(side_pass=keys),
            )
            rows = len(documents)
            both: Corpus = inputs
            if reference is not None:
                known: Any = getattr(reference, "documents", None)
                if known is None:
                    texts: Any = reference
                    others = read_documents(
                        texts,
                        claim.recipe,
                        progress=progress,
                        resources=resources,
                        values=values._replace(columns=reference_columns(options, together=claim.together)),
                        how=FirstPass(side_pass=kept, first_row=rows),
                    )
                    both = pair_of(inputs, rows, texts)
                else:
                    others = known
                documents = join_documents(documents, others, resources=resources)
        if kept is not None:
            if kept.is_full:
                kept = None
            else:
                kept.finish(len(documents))
        groups = documents.groups(options)
        yield ReadCorpus(claim, options, both, inputs, documents, rows, keys.keys, groups, kept, progress)
