"""EQUAL TEXTS: find equal normalized texts by their digests, before any join. The most preferred represents all equal ones."""

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.documents import Documents
from neardup.hamming.unique import collapse
from neardup.resources.scratch import IN_MEMORY, Scratch


def exact_representatives(
    documents: Documents, preferred: Array, groups: Array | None = None, *, scratch: Scratch = IN_MEMORY
) -> Array:
    """int64[len(preferred)]: for each row in `preferred`, the first row there with an equal normalized text and an equal group.

    `groups`: int64[rows]. Documents may match only if their groups are equal.
    """
    keys = scratch.take(documents.digests, preferred)
    if groups is not None:
        keys = np.column_stack([keys, groups[preferred].view(np.uint64)])
    unique = collapse(keys, scratch=scratch)
    first = unique.order[unique.starts[:-1]]  # the members of a group are ascending, so this is its most preferred
    representative = scratch.zeros(len(preferred), np.int64)
    representative[unique.order] = np.repeat(first, np.diff(unique.starts))
    return scratch.take(preferred, representative)
