"""Each pair meets in one home, or one chunk of it, where both of its documents come; no chunk is larger than its bound."""

from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from engine_runs import batch_of, work_of
from neardup.engines.candidates import groups
from neardup.engines.job_options import Limits
from neardup.engines.reading.documents import read, without_copies
from neardup.engines.results.best_survivor import FOLLOW
from neardup.engines.schemas import COPIES, REMOVED, UNKNOWN, VISITS
from neardup.engines.stages import Part
from neardup.engines.verification import pair_partitions as homes

PAIRS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)).filter(lambda pair: pair[0] < pair[1]), max_size=60)


def columns_of(table, *names):
    return list(zip(*(table.column(name).to_pylist() for name in names), strict=True))


def paired(pairs):
    left, right = np.array(pairs, np.int64).reshape(-1, 2).T
    return groups.paired(np.ascontiguousarray(left), np.ascontiguousarray(right))


@given(PAIRS)
def test_a_pair_comes_once_to_the_home_of_its_later_document(pairs):
    rows = paired(pairs)
    assert sorted(columns_of(rows, "a", "b")) == sorted(pairs)
    found = dict(homes.PLACE.work(rows))
    if not pairs:
        assert found == {}
        return
    first = {b: min(a for a, other in pairs if other == b) for _, b in pairs}
    assert sorted(columns_of(found["pairs"], "home", "chunk", "a", "b")) == sorted(
        (first[b], 0, a, b) for a, b in set(pairs)
    )
    assert sorted(columns_of(found["visits"], *VISITS.schema.names)) == sorted(
        {(doc, first[b], 0) for a, b in pairs for doc in (a, b)}
    )
    counts = Counter(first[b] for _, b in set(pairs))
    assert dict(columns_of(found["sizes"], "home", "pairs")) == counts
    twice = pa.concat_tables([found["sizes"], found["sizes"]])  # as of two buckets
    [(_, large)] = homes.find_large(work_of(limits=Limits(pairs_per_chunk=6))).work(twice)
    assert set(large.column("home").to_pylist()) == {home for home, count in counts.items() if 2 * count > 6}


@given(PAIRS, st.integers(1, 5), st.integers(1, 4))
def test_a_chunk_has_documents_of_two_blocks_and_few_pairs(pairs, block, most):
    rows = paired(pairs)
    divide = homes.divide(work_of(limits=Limits(documents_per_block=block, pairs_per_chunk=most)))
    placed = dict(homes.PLACE.work(rows)).get("pairs")
    found = dict(divide.work(placed.sort_by("home"))) if placed else {}
    if not pairs:
        assert found == {}
        return
    meetings = columns_of(found["pairs"], "home", "chunk", "a", "b")
    assert sorted(columns_of(placed, "home", "a", "b")) == sorted((home, a, b) for home, _, a, b in meetings)
    docs, counts = defaultdict(set), Counter()
    for home, chunk, a, b in meetings:
        docs[home, chunk] |= {a, b}
        counts[home, chunk] += 1
    whole = {home for home in {home for home, _ in docs} if sum(1 for of, _ in docs if of == home) == 1}
    for (home, _), some in docs.items():
        assert len(some) <= 2 * block
        if home not in whole:
            assert counts[home, _] <= most
    assert sorted(columns_of(found["visits"], "home", "chunk", "doc")) == sorted(
        (home, chunk, doc) for (home, chunk), some in docs.items() for doc in some
    )


@given(PAIRS.filter(bool), st.lists(st.integers(1, 9), min_size=13, max_size=13), st.integers(1, 20))
def test_blocks_are_bounded_by_what_their_documents_weigh(pairs, weights, most):
    pairs = sorted(pairs)
    group = np.array([a % 3 for a, _ in pairs])
    order = np.argsort(group, kind="stable")
    left, right = np.array(pairs)[order].T
    of = np.array(weights)
    number = np.unique(group[order], return_inverse=True)[1]
    chunk = homes.chunks_of(number, (left, right), (of[left], of[right]), most, Limits().pairs_per_chunk)
    weight = defaultdict(set)
    for at, (a, b) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        weight[number[at], chunk[at]] |= {a, b}
    heaviest = max(weights)
    assert all(sum(weights[doc] for doc in some) <= 2 * (most + heaviest) for some in weight.values())


@given(
    st.lists(st.sampled_from(["a b", "A b", "c", ""]), max_size=12), st.sampled_from(["first", "last"]), st.booleans()
)
def test_of_equal_texts_the_most_preferred_leads_and_the_others_follow(texts, keep, is_reference):
    part = Part(3, iter([batch_of(texts)]), is_reference)
    documents = dict(read(work_of(keep=keep), False, part)).get("documents")
    found = dict(without_copies(documents))
    row = [doc & 0xFFFFFFFF for doc in found["documents"].column("doc").to_pylist()]
    by_text = defaultdict(list)
    for at, text in enumerate(texts):
        by_text[at if is_reference else text.casefold()].append(at)
    pick = -1 if keep == "last" and not is_reference else 0
    assert row == sorted(some[pick] for some in by_text.values())
    copies = columns_of(found.get("copies", COPIES.schema.empty_table()), "leader", "doc")
    assert sorted((a & 0xFFFFFFFF, b & 0xFFFFFFFF) for a, b in copies) == sorted(
        (some[pick], other) for some in by_text.values() for other in some if other != some[pick]
    )


def test_copies_share_an_outcome_or_are_duplicates_of_a_survivor():
    removed = pa.table([[5, 7], [2, 3], [False, True], [0.9, 1.0], [UNKNOWN, 0]], REMOVED.schema)
    copies = pa.table([[4, 5, 5, 7], [14, 15, 25, 17]], COPIES.schema)
    found = dict(FOLLOW.work(removed, copies))
    assert columns_of(found["removed"], *REMOVED.schema.names) == [
        (14, 4, True, 1.0, 0), (15, 2, False, 0.9, UNKNOWN), (25, 2, False, 0.9, UNKNOWN), (17, 3, True, 1.0, 0),
    ]  # fmt: skip
    marked = {name: set(found[name].column("row").to_pylist()) for name in ("gone", "named", "compared")}
    assert marked == {"gone": {14, 15, 25, 17}, "named": {14, 15, 25, 17, 4, 2, 3}, "compared": {15, 25, 2}}
    alone = dict(FOLLOW.work(REMOVED.schema.empty_table(), copies))["removed"]
    assert columns_of(alone, "doc", "survivor", "exact") == [(14, 4, True), (15, 5, True), (25, 5, True), (17, 7, True)]
    assert list(FOLLOW.work(removed, COPIES.schema.empty_table())) == []
