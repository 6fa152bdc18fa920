"""ROW CONTENTS: what is kept of one document besides the record, as bytes in a row, and back.

Words of 64 bits, little-endian: the number of tokens, the digest (2), the fingerprint, with a guard the digest of the numbers; of
each kind of elements how many there are; then of each kind the elements and their weights, and the signature, two values a word.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from neardup.arrays import Array
from neardup.errors import DataError
from neardup.fingerprints.simhash import Fingerprints
from neardup.matching.similarities.table import Elements
from neardup.matching.text_features import Texts
from neardup.store.formats.contents import Layout

_DIGEST = 1
_FINGERPRINT = 3


def contents_of(layout: Layout, texts: Texts) -> list[bytes]:
    """The bytes of each of n texts."""
    n = len(texts)
    if not n:
        return []
    counts = [np.diff(getattr(texts, kind).offsets) for kind in layout.kinds]
    head = _FINGERPRINT + layout.words + layout.guarded
    signed = _words_of_signature(layout)
    lengths = np.full(n, head + len(counts) + signed, np.int64)
    for count in counts:
        lengths += count * (1 + layout.weighted)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    found = np.zeros(starts[-1], "<u8")
    at = starts[:-1].copy()
    found[at] = texts.prints.tokens.astype(np.uint64)
    _put(found, at + _DIGEST, texts.prints.digests)
    _put(found, at + _FINGERPRINT, texts.prints.values)
    if layout.guarded:
        found[at + head - 1] = texts.numbers
    for place, count in enumerate(counts):
        found[at + head + place] = count.astype(np.uint64)
    at += head + len(counts)
    for kind, count in zip(layout.kinds, counts, strict=True):
        elements: Elements = getattr(texts, kind)
        found[_spread(at, count)] = elements.values
        at += count
        if layout.weighted:
            found[_spread(at, count)] = elements.weights.view(np.uint64)
            at += count
    if layout.signing is not None:
        assert texts.signatures is not None
        values = np.zeros((n, 2 * signed), "<u4")
        values[:, : layout.signing.values] = texts.signatures.values
        _put(found, at, values.view("<u8"))
    content, ends = found.tobytes(), (8 * starts).tolist()
    return [content[begin:end] for begin, end in pairwise(ends)]


def texts_of_contents(layout: Layout, contents: Sequence[bytes], shown: str) -> Texts:
    """What `contents_of` was given; a DataError if some bytes are not what it wrote. `shown`: the place in messages."""
    head, n, signed = _FINGERPRINT + layout.words + layout.guarded, len(contents), _words_of_signature(layout)
    sizes = np.array(list(map(len, contents)), np.int64)
    least = 8 * (head + len(layout.kinds) + signed)
    if n and ((sizes % 8).any() or sizes.min() < least):
        raise _damage(shown)
    words = np.frombuffer(b"".join(contents), "<u8").astype(np.uint64)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes // 8)])
    at = starts[:-1].copy()
    counts = [words[at + head + place].astype(np.int64) for place in range(len(layout.kinds))]
    expected = np.full(n, least // 8, np.int64)
    for count in counts:
        if n and (count.min() < 0 or count.max() > len(words)):
            raise _damage(shown)
        expected += count * (1 + layout.weighted)
    if (expected != sizes // 8).any():
        raise _damage(shown)
    prints = Fingerprints(
        _take(words, at + _FINGERPRINT, layout.words), _take(words, at + _DIGEST, 2), words[at].astype(np.int64)
    )
    numbers = words[at + head - 1] if layout.guarded else None
    at += head + len(counts)
    kept: dict[str, Elements] = {}
    for kind, count in zip(layout.kinds, counts, strict=True):
        values, weights = words[_spread(at, count)], np.empty(0)
        at += count
        if layout.weighted:
            weights = words[_spread(at, count)].view(np.float64)
            at += count
        kept[kind] = Elements(values, weights, np.concatenate([np.zeros(1, np.int64), np.cumsum(count)]))
    signatures = None
    if layout.signing is not None:
        signatures = np.ascontiguousarray(_take(words, at, signed).view(np.uint32)[:, : layout.signing.values])
    return layout.texts(prints, kept, signatures, numbers)


def _words_of_signature(layout: Layout) -> int:
    return 0 if layout.signing is None else -(-layout.signing.values // 2)


def _put(words: Array, at: Array, values: Array) -> None:
    """Write rows of words (uint64[n, k]) from places on."""
    words[at[:, None] + np.arange(values.shape[1])] = values


def _take(words: Array, at: Array, count: int) -> Array:
    """Rows of words from places on: uint64[n, count]."""
    return np.ascontiguousarray(words[at[:, None] + np.arange(count)])


def _spread(at: Array, counts: Array) -> Array:
    """int64[total]: so many places from each of some places on."""
    ends = np.cumsum(counts)
    found: Array = np.arange(ends[-1] if len(ends) else 0) + np.repeat(at - ends + counts, counts)
    return found


def _damage(shown: str) -> DataError:
    return DataError(
        f"{shown} is damaged: the content of a document has another length than it says. Restore the database."
    )
