"""STANDING: what is known of documents while some of their pairs are still to be compared."""

from neardup.kernels.compilation import kernel

UNDECIDED, SURVIVES, OUT = range(3)


@kernel
def standing_of_pairs(starts, earlier, is_open, is_fixed, standing):
    """What is certain of the star of `kernels.survivors.listed_pairs`, whatever else matches.

    Args:
        starts, earlier: int64[n + 1], int64[pairs]; document p matches earlier[starts[p]:starts[p + 1]].
        is_open: bool[n], whether pairs with documents before it are still to be compared.
        is_fixed: bool[n], whether a document survives in any case.
        standing: uint8[n], filled: a document is out if it matches one that survives for certain.
    """
    for p in range(len(standing)):
        found = UNDECIDED if is_open[p] else SURVIVES
        for i in range(starts[p], starts[p + 1]):
            other = standing[earlier[i]]
            if other == SURVIVES:
                found = OUT
                break
            if other == UNDECIDED:
                found = UNDECIDED
        standing[p] = SURVIVES if is_fixed[p] else found
