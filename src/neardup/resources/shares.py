"""All shares of the memory: who has how much of it, and what happens to what does not fit."""

from typing import NamedTuple

MEMORY_PARTS = 64
"""What is divided of the memory has so many parts."""


class Share(NamedTuple):
    """The share of one use.

    Attributes:
        parts: how many of the MEMORY_PARTS it has.
        holds: what the use keeps in memory.
        beyond: what happens to what exceeds the share.
    """

    parts: int
    holds: str
    beyond: str


SHARES = {
    "rows": Share(12, "the fingerprint, digest, length and id of each document", "goes to a file"),
    "arrays": Share(
        16,
        "other per-document arrays, such as order, classes, clusters and decisions",
        "an array larger than a sixteenth of this share, 1/64 of the memory, goes to a file",
    ),
    "elements": Share(
        8,
        "auto, exact: the elements of all texts, such as the hashes of their shingles",
        "goes to a file; if that has no room, texts are read again",
    ),
    "counts": Share(
        8, "exact: in how many documents each element occurs", "the counts are coarser: several elements share one"
    ),
    "postings": Share(12, "exact: the inverted lists of one pass of the join", "is done in more passes"),
    "signatures": Share(8, "minhash: the signatures", "goes to a file"),
    "bands": Share(
        12,
        "minhash: the tables of bands of all threads",
        "fewer bands are searched at a time; if not even one fits, its arrays go to files",
    ),
    "blocks": Share(
        12,
        "simhash: the tables of the join, and the pairs its threads hold",
        "the unique fingerprints go to a file; the join is done in smaller parts",
    ),
    "pairs": Share(8, "all methods: pairs that are not sorted yet", "goes to a file, as sorted runs that are merged"),
    "candidates": Share(8, "all methods: each document's candidates", "goes to a file"),
    "seen": Share(
        32, "`neardup passages`: which windows of tokens may occur again", "more windows that occur once are looked at"
    ),
    "runs": Share(32, "`neardup passages`: the hashes of these windows", "is done in more passes"),
    "frequencies": Share(16, "`neardup fit`: the features that are counted", "goes to a file"),
}
ARRAYS_AT_ONCE = 16
"""About so many arrays by row live at a time: each that is larger than this part of their share lies in a file."""


BESIDE_BYTES = 192 << 20
"""What the program with its libraries, the batches in flight and the buffers of threads take of the memory, besides all shares."""
LEAST_DIVIDED_BYTES = 64 << 20
"""So much is divided in any case, or the whole memory if that is less: nothing can be done with nothing."""


def divided(memory: int) -> int:
    """Bytes of so much memory that all SHARES have together."""
    return max(min(memory, LEAST_DIVIDED_BYTES), memory - BESIDE_BYTES)


def share_of(memory: int, use: str) -> int:
    """Bytes of so much memory that one of SHARES has."""
    return divided(memory) * SHARES[use].parts // MEMORY_PARTS


def memory_for(size: int, use: str) -> int:
    """Memory of which one of SHARES has so many bytes."""
    return -(-size * MEMORY_PARTS // SHARES[use].parts) + BESIDE_BYTES
