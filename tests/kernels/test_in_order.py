"""Documents kept in order by distance, against the definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.survivors.in_order import keep_in_order


def by_definition(values, most, known):
    """For each row the distance and the row of the nearest that is kept before; and which are kept."""
    kept, found = [], []
    for i, value in enumerate(values):
        near = [(sum((a ^ b).bit_count() for a, b in zip(value, values[j], strict=True)), j) for j in kept]
        best = min(near, default=None)
        distance, of = best if best is not None and best[0] < known[i] else (known[i], -1)
        if distance > most:
            kept.append(i)
            of = -1
        found.append((distance if distance <= most else None, of))
    return found, kept


@pytest.mark.parametrize("words", [1, 2, 3])
@given(data=st.data(), most=st.integers(0, 6))
def test_rows_are_kept_that_no_kept_one_before_is_near(words, data, most):
    row = st.lists(st.integers(0, 15), min_size=words, max_size=words)
    values = data.draw(st.lists(row, max_size=30))
    known = data.draw(st.lists(st.integers(0, most + 1), min_size=len(values), max_size=len(values)))
    distances, nearest, kept = (
        np.array(known, np.int64),
        np.empty(len(values), np.int64),
        np.empty(len(values), np.int64),
    )
    n = keep_in_order(np.array(values, np.uint64).reshape(-1, words), most, distances, nearest, kept)
    found, expected = by_definition(values, most, known)
    assert kept[:n].tolist() == expected
    told = [None if distance > most else distance for distance in distances.tolist()]
    assert list(zip(told, nearest.tolist(), strict=True)) == found
