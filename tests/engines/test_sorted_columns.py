"""Rows ascend by several columns as NumPy's own sort has them, whatever the ranges of these."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.engines.columns import ascending

RANGES = st.sampled_from([(0, 0), (0, 3), (-5, 5), (0, 2**20), (-(2**63), 2**63 - 1), (2**62, 2**63 - 1)])
DOCUMENTS = st.builds(lambda part, row: (part << 32) + row, st.integers(-3, 3), st.integers(0, 2**32 - 1))


@given(st.data(), st.integers(0, 40), st.integers(1, 4))
def test_rows_ascend_by_columns_one_after_another(data, n, count):
    columns = []
    for _ in range(count):
        low, high = data.draw(RANGES)
        values = DOCUMENTS if data.draw(st.booleans()) else st.integers(low, high)
        columns.append(np.array(data.draw(st.lists(values, min_size=n, max_size=n)), np.int64))
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    assert ascending(*columns).tolist() == sorted(range(n), key=rows.__getitem__)


def test_columns_of_documents_that_need_too_many_bits_ascend_too():
    chance = np.random.default_rng(1)
    part, row = chance.integers(0, 9, (2, 500)), chance.integers(0, 40, (2, 500))
    left, right = (part << 32) + row
    key = chance.integers(0, 3, 500).astype(np.int32)
    assert ascending(key, left, right).tolist() == np.lexsort((right, left, key)).tolist()
