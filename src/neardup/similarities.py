"""VERIFY: the similarity of texts, from their sets of shingles.

The similarity of two texts is the Jaccard coefficient of their shingle sets after normalization: 3 tokens from a token that is
a word, 5 from one that is a Han or Kana character; a text shorter than one window has one shingle, all of it.
"""

import mmap
import tempfile
from typing import Any

import numpy as np

from neardup.documents import Corpus
from neardup.io.batch import Batch
from neardup.kernels.jaccard import similarities
from neardup.kernels.shingles import shingle_sets, sort_spare
from neardup.kernels.tokens import most_tokens, token_spare
from neardup.progress import Progress
from neardup.text.columns import as_text_arrays, in_chunks
from neardup.text.normalizers import fold_texts, normalize
from neardup.text.unicode_tables import fold_tables
from neardup.threads import thread_count

Array = np.ndarray[Any, np.dtype[Any]]

WORD_SHINGLE, CJK_SHINGLE = 3, 5


def shingle_sets_of(texts: Any) -> tuple[Array, Array]:
    """The sorted distinct shingle hashes of an Arrow `large_string` array's texts: uint64[total], offsets int64[n + 1]."""
    folded = fold_texts(texts)
    lengths = np.diff(folded.offsets)
    longest = int(lengths.max(initial=0))
    most = most_tokens(longest)
    hashes = np.empty(most, np.uint64)
    values = np.empty(int(sum(map(most_tokens, lengths.tolist()))) + 1, np.uint64)
    offsets = np.empty(len(folded) + 1, np.int64)
    shingle_sets(
        folded.data,
        folded.offsets,
        WORD_SHINGLE,
        CJK_SHINGLE,
        hashes,
        hashes.view(np.uint8),
        np.empty(most, np.uint8),
        np.empty(token_spare(longest), np.int64),
        np.empty(sort_spare(most), np.uint64),
        values,
        offsets,
        fold_tables(),
    )
    values = values[: offsets[-1]].copy()
    values.flags.writeable = False  # as those mapped from a file are: kernels are compiled for one kind
    return values, offsets


class ShingleSets:
    """The shingle sets of some documents of a corpus, in a temporary file that is mapped, not held, in memory.

    Attributes:
        values: uint64[], all sets one after another.
        starts, ends: int64[rows]; the set of a row is values[starts[row]:ends[row]], ascending; empty if it was not wanted.
    """

    def __init__(
        self, corpus: Corpus, wanted: Array, *, threads: int | None, temp_dir: str | None, progress: Progress
    ) -> None:
        """Read the texts of the rows where `wanted` (bool[rows]) holds, in one streaming pass."""
        self.starts, self.ends = np.zeros(len(wanted), np.int64), np.zeros(len(wanted), np.int64)
        self._map: mmap.mmap | None = None
        self._file = tempfile.TemporaryFile(dir=temp_dir, prefix="neardup-")  # noqa: SIM115 - closed by close()
        try:
            total = 0
            for first, (rows, values, offsets) in corpus.map(
                _sets_of_batch, threads=thread_count(threads), wanted=wanted
            ):
                self.starts[first + rows], self.ends[first + rows] = total + offsets[:-1], total + offsets[1:]
                self._file.write(values.data)
                total += len(values)
                progress.advance(len(rows))
            self._file.flush()
            if total:
                self._map = mmap.mmap(self._file.fileno(), 8 * total, access=mmap.ACCESS_READ)
            self.values = np.frombuffer(self._map or b"", np.uint64)
        except BaseException:
            self._file.close()
            raise

    def release(self) -> None:
        """Let the operating system take the pages that were looked at; they stay in the file."""
        if self._map is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)

    def close(self) -> None:
        self.values = np.frombuffer(b"", np.uint64)
        if self._map is not None:
            self._map.close()
        self._file.close()

    def __enter__(self) -> "ShingleSets":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _sets_of_batch(batch: Batch) -> tuple[Array, Array, Array]:
    """The sets of the texts that are there: which rows of the batch they are, and all sets one after another."""
    rows = np.flatnonzero(batch.texts.is_valid().to_numpy(zero_copy_only=False))
    found = [shingle_sets_of(chunk) for chunk in in_chunks(batch.texts.drop_null())]
    lengths = [np.zeros(1, np.int64), *(np.diff(offsets) for _, offsets in found)]
    values = [np.empty(0, np.uint64), *(values for values, _ in found)]
    return rows, np.concatenate(values), np.cumsum(np.concatenate(lengths))


def similarity(a: str, b: str) -> float:
    """The similarity of two texts, from 0 to 1. Texts without any token have 1 if equal after normalization, else 0.

    >>> similarity("to be or not to be", "To be, or not to be?")
    1.0
    """
    [texts] = as_text_arrays([a, b])
    values, offsets = shingle_sets_of(texts)
    if offsets[2] == 0:
        return float(normalize(a) == normalize(b))
    out = np.empty(1)
    similarities(values, offsets[:-1], offsets[1:], np.zeros(1, np.int64), np.ones(1, np.int64), 0.0, out)
    return float(out[0])
