"""EQUAL TEXTS: found by their digests, before any join; each is known by the most preferred of them."""

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.documents import Documents
from neardup.hamming.unique import collapse
from neardup.resources.scratch import IN_MEMORY, Scratch


def exact_representatives(
    documents: Documents, preferred: Array, groups: Array | None = None, *, scratch: Scratch = IN_MEMORY
) -> Array:
    """int64[len(preferred)]: for each of the `preferred` rows, the first of them with an equal normalized text, and group.

    `groups`: int64[rows], equal where documents may match.
    """
    keys = scratch.take(documents.digests, preferred)
    if groups is not None:
        keys = np.column_stack([keys, groups[preferred].view(np.uint64)])
    unique = collapse(keys, scratch=scratch)
    first = unique.order[unique.starts[:-1]]  # the members of a group are ascending, so this is its most preferred
    representative = scratch.zeros(len(preferred), np.int64)
    representative[unique.order] = np.repeat(first, np.diff(unique.starts))
    return scratch.take(preferred, representative)
