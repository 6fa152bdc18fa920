"""UNITS: documents that stay together, because matches connect them or because they have equal values in a column."""

import hashlib
from collections.abc import Sequence

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.documents import Documents
from neardup.survivors.listed_pairs import connected
from neardup.text.preference import NO_VALUE, named_groups

KEY_BYTES = 8


def together(n: int, *labels: Array) -> Array:
    """int64[n]: the first of the documents that stay with each one: those of equal labels, and so on.

    `labels`: int64[n] each; a document whose label is negative has none.
    """
    return connected(n, (_with_the_first(each) for each in labels))


def _with_the_first(labels: Array) -> tuple[Array, Array]:
    """Pairs of each document with the first of its label: the earlier, and the later ones, ascending."""
    later = np.flatnonzero(labels >= 0)
    _, first, inverse = np.unique(labels[later], return_index=True, return_inverse=True)
    earlier = later[first[inverse]]
    differ = earlier != later
    return earlier[differ], later[differ]


def row_keys(documents: Documents, rows: Array, seed: int, within: str | None = None) -> Array:
    """uint64[n]: a hash of the normalized text of each of some rows, and of its value of the column `within`; by the seed.

    It is BLAKE2b of 8 bytes, with the seed as key, of the digest of the text and the name of the value. So it does not depend on
    ids or on the order of rows. Texts that are equal and may match have equal keys.
    """
    digests, key = documents.digests[rows], str(seed).encode()
    names: Sequence[bytes] = [b""]
    codes = np.zeros(len(rows), np.int64)
    if within is not None:
        codes, texts = named_groups(documents.values[within].take(rows))
        names = [*(b"=" + text.encode("utf-8", "surrogatepass") for text in texts), b""]  # NO_VALUE is the last
    content = np.ascontiguousarray(digests, "<u8").tobytes()
    width, blake2b, found = digests.shape[1] * 8, hashlib.blake2b, bytearray()
    for place, code in enumerate(codes.tolist()):
        text = content[place * width : (place + 1) * width] + names[code]
        found += blake2b(text, digest_size=KEY_BYTES, key=key).digest()
    return np.frombuffer(bytes(found), "<u8").astype(np.uint64)


def strata_of(tokens: object, rows: Array) -> tuple[Array, list[str | None]]:
    """int64[n]: the stratum of each of some rows by its value (Arrow large_string, JSON values); and the value of each stratum.

    Strata are ordered by their values as texts. Rows without a value are the last stratum, whose value is None.
    """
    codes, names = named_groups(tokens)
    used = np.unique(codes[rows])
    order = sorted(used[used != NO_VALUE].tolist(), key=names.__getitem__)
    place = np.full(len(names) + 1, len(order), np.int64)
    place[order] = np.arange(len(order))
    values: list[str | None] = [names[code] for code in order]
    return place[codes[rows]], values + [None] * bool((used == NO_VALUE).any())
