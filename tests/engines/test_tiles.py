"""Large groups are divided into tiles: each pair meets in one of them, and no tile has more than its bound."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from engine_runs import work_of
from neardup.engines.job_options import Limits
from neardup.engines.pairing import blocks as tiles
from neardup.engines.pairing import large_groups as waves
from neardup.engines.reading.documents import bitmaps
from neardup.engines.schemas import LEADERS, NONE, PAIRS, TILES, WAITING, as_prints
from neardup.kernels.engines.groups import REMEMBERED
from neardup.matching.similarities.table import Elements

ALL = {"method": "simhash", "max_distance": 128, "min_similarity": 0}


def waiting_of(keys, parts=None, outs=None):
    """Documents that wait, preferred as they are numbered, with these keys; documents 0, 1, …"""
    n = len(keys)
    rows = {"key": keys, "doc": range(n), "position": [0] * n, "size": [0] * n, "asks": [True] * n, "rank": range(n)}
    rows |= {"has_later": [False] * n, "part": parts or [NONE] * n, "is_out": outs or [False] * n}
    return pa.table({name: pa.array(rows[name], WAITING.schema.field(name).type) for name in WAITING.schema.names})


def leaders_of(n, *, prints=None, sets=None, groups=None, given=None, work=None):
    """What documents 0 … n - 1 are."""
    sets = sets or [set()] * n
    values = np.array([each for some in sets for each in sorted(some)], np.uint64)
    elements = Elements(values, np.empty(0), np.cumsum([0, *map(len, sets)]))
    rows = {"doc": range(n), "rank": range(n), "is_reference": given or [False] * n, "has_others": [False] * n}
    rows |= {"group": groups or [0] * n, "size": list(map(len, sets)), "has_later": [False] * n, "site": [0] * n}
    found = {name: pa.array(list(rows[name]), LEADERS.schema.field(name).type) for name in rows}
    found["print"] = as_prints(np.array(prints or [0] * n, np.uint64)[:, None])
    found["bitmap"] = bitmaps(work or work_of(**ALL), elements)
    return pa.table([found[name] for name in LEADERS.schema.names], LEADERS.schema)


def tiled(work, waiting, leaders, leading, block=3):
    """The pairs that a wave lists in tiles, and the rows of those, sorted by tile."""
    work = replace(work, limits=Limits(listed_pairs=-1, documents_per_block=block, rows_of_tiles=5))
    found = dict(waves.wave(work, leading).work(waiting))
    assert len(found["pairs"]) == 0
    rows = [table for _, table in tiles.attach(work).work(found["placed"].sort_by("doc"), leaders)]
    rows = pa.concat_tables([TILES.schema.empty_table(), *rows]).sort_by([("key", "ascending"), ("tile", "ascending")])
    pairs = [PAIRS.schema.empty_table(), *(table for _, table in tiles.stage(work).work(rows))]
    table = pa.concat_tables(pairs)
    return list(zip(*(table.column(name).to_pylist() for name in "ab"), strict=True)), rows


@given(
    keys=st.lists(st.integers(0, 2), min_size=1, max_size=25),
    leading=st.sampled_from([1, 3, 8, 100]),
    block=st.sampled_from([1, 2, 7, 100]),
    data=st.data(),
)
def test_each_pair_with_one_that_leads_meets_in_one_tile(keys, leading, block, data):
    n = len(keys)
    outs = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    parts = data.draw(st.lists(st.sampled_from([NONE, 4, 7]), min_size=n, max_size=n))
    prints = data.draw(st.lists(st.integers(0, 15), min_size=n, max_size=n))
    groups = data.draw(st.lists(st.sampled_from([0, 5]), min_size=n, max_size=n))
    given_ones = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    work = work_of(**(ALL | {"max_distance": 2}))
    leaders = leaders_of(n, prints=prints, groups=groups, given=given_ones)
    found, rows = tiled(work, waiting_of(keys, parts, outs), leaders, leading, block)
    expected = []
    for i in range(n):
        leads = not outs[i] and sum(keys[j] == keys[i] and not outs[j] for j in range(i)) < leading
        expected += [
            (i, j) for j in range(i + 1, n) if leads and keys[j] == keys[i] and groups[i] == groups[j]
            and not (given_ones[i] and given_ones[j]) and (parts[i] == NONE or parts[i] != parts[j])
            and (prints[i] ^ prints[j]).bit_count() <= 2
        ]  # fmt: skip
    assert sorted(found) == expected
    sizes = Counter(zip(rows.column("key").to_pylist(), rows.column("tile").to_pylist(), strict=True))
    assert max(sizes.values(), default=0) <= 2 * block


@given(
    sets=st.lists(st.sets(st.integers(0, 12), min_size=1, max_size=9), min_size=1, max_size=15),
    measure=st.sampled_from(["jaccard", "containment", "cosine", "edit"]),
    threshold=st.sampled_from([0.1, 0.5, 0.8, 1.0]),
)
def test_tiles_leave_out_no_pair_that_can_match_and_most_that_cannot(sets, measure, threshold):
    work = work_of(method="minhash" if measure == "jaccard" and threshold > 0.3 else "exact",
                   similarity=measure, min_similarity=threshold)  # fmt: skip
    n = len(sets)
    waiting, leaders = waiting_of([0] * n), leaders_of(n, sets=sets, work=work)
    found, _ = tiled(work, waiting, leaders, n)
    for i in range(n):
        for j in range(i + 1, n):
            a, b = len(sets[i]), len(sets[j])
            common = len(sets[i] & sets[j])
            best = {"jaccard": common / (a + b - common), "containment": common / min(a, b), "edit": common / max(a, b)}
            if measure == "cosine" or best[measure] >= threshold:
                assert (i, j) in found
            elif measure == "jaccard" and min(a, b) / max(a, b) < threshold:
                assert (i, j) not in found


def test_what_two_sizes_must_have_in_common_is_not_that_of_others():
    """Sizes whose places in memory are the same."""
    work = work_of(method="exact", similarity="jaccard", min_similarity=0.9)
    sets = [set(range(10)), set(range(10)), set(range(10 + REMEMBERED // 8)), set(range(10))]
    assert (len(sets[0]) - len(sets[2])) * 8 % REMEMBERED == 0
    found, _ = tiled(work, waiting_of([0] * 4), leaders_of(4, sets=sets, work=work), 4)
    assert sorted(found) == [(0, 1), (0, 3), (1, 3)]


def test_a_group_with_few_pairs_is_listed_at_once_in_the_first_wave_alone():
    waiting = waiting_of([0] * 70 + [1] * 3)
    first, second = (
        dict(waves.wave(work_of(**ALL), leading).work(waiting)) for leading in (Limits().first_documents, 32)
    )
    assert first["pairs"].num_rows == 69 + 68 + 67 + 66 + 2 + 1
    assert first["placed"].num_rows == second["pairs"].num_rows == 0
    assert second["placed"].num_rows == 73


def test_rows_of_one_document_are_no_pair():
    waiting = waiting_of([0] * 3)
    waiting = waiting.set_column(waiting.schema.get_field_index("doc"), "doc", pa.array([0, 0, 1]))
    found, _ = tiled(work_of(**ALL), waiting, leaders_of(2), 3)
    assert found == [(0, 1), (0, 1)]
