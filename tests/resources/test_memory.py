"""What does not fit the memory goes to temporary files, and the result is the same."""

import errno
import itertools
import json
import os
import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.fingerprints.documents import Documents, join_documents
from neardup.hamming.pairs import collapse, join_unique, spool_near
from neardup.matching.prefix_join import counts
from neardup.resources import held_spool, pair_spool
from neardup.resources.held_spool import HeldSpool
from neardup.resources.kept_rows import KeptRows
from neardup.resources.pair_spool import PAIR_BYTES, PairSpool
from neardup.resources.resources import Resources
from neardup.resources.shares import MEMORY_PARTS, SHARES
from neardup.resources.spool import Spool, mapped_array
from neardup.resources.temporary_files import TemporaryFiles

LINE = "this page was made by the system on the day that is given below and it has no other content"


def templated(count):
    return [f"{LINE} than this line, number {number}" for number in range(count)]


@pytest.fixture
def spools(monkeypatch):
    made = []

    class Counted(Spool):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            made.append(self)

    monkeypatch.setattr(pair_spool, "Spool", Counted)
    return made


def decided(result):
    return result.survivors, result.duplicates.to_pydict()


@given(
    sizes=st.lists(st.integers(0, 9), min_size=1, max_size=40),
    wanted=st.lists(st.integers(0, 1000), max_size=60),
    ascending=st.booleans(),
)
def test_runs_that_are_taken_from_a_spool_are_those_that_were_written(sizes, wanted, ascending):
    ends = np.cumsum(sizes)
    rows = np.array([number % len(sizes) for number in wanted], np.int64)
    rows = np.unique(rows) if ascending else rows
    with Spool(np.uint64, files=TemporaryFiles()) as spool:
        for end, size in zip(ends.tolist(), sizes, strict=True):
            spool.write(np.arange(end - size, end, dtype=np.uint64) * 3)
        spool.map()
        taken = spool.take((ends - sizes)[rows], ends[rows])
        naive = [value for row in rows for value in spool.values[ends[row] - sizes[row] : ends[row]]]
        assert taken.tolist() == naive
        assert taken.dtype == np.uint64
        del naive


@given(
    sizes=st.lists(st.integers(0, 9), min_size=1, max_size=40),
    wanted=st.lists(st.integers(0, 1000), max_size=60),
    ascending=st.booleans(),
    room=st.integers(0, 200),
)
def test_values_that_are_held_are_those_that_were_written_in_memory_or_not(sizes, wanted, ascending, room):
    ends, resources = np.cumsum(sizes), Resources()
    rows = np.array([number % len(sizes) for number in wanted], np.int64)
    rows = np.unique(rows) if ascending else rows
    spool = HeldSpool(np.uint64, memory=8 * room, resources=resources, use="elements")
    for end, size in zip(ends.tolist(), sizes, strict=True):
        spool.write(np.arange(end - size, end, dtype=np.uint64) * 3)
    spool.map()
    assert spool.is_in_memory == (sum(sizes) <= room)
    assert resources.use.most.get("elements", 0) <= 8 * room
    assert resources.use._now.get("elements", 0) == (8 * sum(sizes) if spool.is_in_memory else 0)
    assert np.array_equal(spool.values, 3 * np.arange(sum(sizes)))
    taken = spool.take((ends - np.array(sizes))[rows], ends[rows])
    assert taken.tolist() == [3 * i for row in rows for i in range(ends[row] - sizes[row], ends[row])]
    spool.close()
    spool.close()
    assert len(spool.values) == resources.use._now.get("elements", 0) == 0


@pytest.mark.parametrize(("expected", "held"), [(None, 320), (300, 320), (330, 0), (10_000, 0)])
def test_a_file_is_begun_early_if_all_values_will_not_fit(expected, held):
    """Of `expected` values, the part that was written is known, and tells how much memory all of them will need."""
    resources, written = Resources(), [0]
    spool = HeldSpool(
        np.uint64,
        memory=8 * 320,
        resources=resources,
        use="elements",
        share=lambda: expected and min(1.0, written[0] / expected),
    )
    for first in range(0, 330, 10):
        written[0] = first + 10
        spool.write(np.arange(first, first + 10, dtype=np.uint64))
    spool.map()
    assert resources.use.most.get("elements", 0) == 8 * held
    assert not spool.is_in_memory
    assert spool.values.tolist() == list(range(330))
    spool.close()


def test_values_go_to_a_file_if_the_system_gives_no_address_space(monkeypatch):
    def refuse(*_):
        raise MemoryError

    monkeypatch.setattr(held_spool, "_room", refuse)
    spool = HeldSpool(np.uint64, memory=800, resources=Resources(), use="elements")
    monkeypatch.undo()
    spool.write(np.arange(5, dtype=np.uint64))
    spool.map()
    assert not spool.is_in_memory
    assert spool.values.tolist() == [0, 1, 2, 3, 4]
    spool.close()


@pytest.mark.parametrize("similarity", ["jaccard", "edit", "cosine"])
def test_elements_in_a_file_by_region_or_not_give_the_same(similarity, monkeypatch):
    """The share of 16 MB is 2: the elements of these texts are more. Long ones are counted by region."""
    random = np.random.default_rng(7)
    texts = [" ".join(map(str, random.integers(0, 90_000, 1_500))) for _ in range(200)]
    texts += [f"{text} and more" for text in texts[:12]] + texts[:5]
    how = {"method": "exact", "similarity": similarity}
    expected = nd.deduplicate(texts, **how)
    assert len(expected.survivors) == 200
    in_file = nd.deduplicate(texts, memory="16M", **how)
    monkeypatch.setattr(counts, "MIN_ELEMENTS", 1 << 17)
    assert decided(in_file) == decided(expected) == decided(nd.deduplicate(texts, **how))


@pytest.mark.parametrize("batches", [1, 7, 400])
def test_pairs_beyond_the_memory_are_merged_from_sorted_runs(batches, tmp_path, spools):
    random = np.random.default_rng(3)
    packed = random.integers(0, 1 << 20, 4_000).astype(np.uint64)
    spool = PairSpool(memory=100 * PAIR_BYTES, files=TemporaryFiles(str(tmp_path)))
    for part in np.array_split(packed, batches):
        spool.add(part.copy())
    assert np.array_equal(spool.all(), np.unique(packed))
    assert len(spools) == 2


def test_pairs_that_fit_the_memory_need_no_file(tmp_path, spools):
    spool = PairSpool(memory=100 * PAIR_BYTES, files=TemporaryFiles(str(tmp_path)))
    spool.add(np.array([5, 3, 5], np.uint64))
    assert spool.all().tolist() == [3, 5]
    assert spools == []


@pytest.mark.parametrize(("words", "far"), [(1, 3), (1, 20), (2, 12), (2, 60)])
@pytest.mark.parametrize("room", [1, 50])
def test_crowded_fingerprints_are_joined_by_smaller_parts(words, far, room):
    random = np.random.default_rng(words + far)
    rows = np.repeat(random.integers(0, 1 << 63, (40, words)).astype(np.uint64), 60, axis=0)
    rows[:, 0] ^= np.uint64(1) << random.integers(0, 63, len(rows)).astype(np.uint64)
    unique = collapse(rows)
    expected = join_unique(unique, max_distance=far)
    spool = PairSpool(memory=1 << 20, files=TemporaryFiles())
    spool_near(unique.values, spool, max_distance=far, threads=2, memory=room * 256 * words)
    found = spool.all()
    assert np.array_equal(found >> np.uint64(32), expected.left)
    assert np.array_equal(found & np.uint64(0xFFFFFFFF), expected.right)


@pytest.mark.parametrize(
    ("method", "cluster"), list(itertools.product(["simhash", "minhash", "exact"], ["star", "components"]))
)
def test_templated_texts_give_the_same_in_little_memory(method, cluster, spools):
    texts = templated(1_500)
    much = nd.deduplicate(texts, method=method, cluster=cluster)
    assert spools == []
    little = nd.deduplicate(texts, method=method, cluster=cluster, memory="16M")
    assert len(spools) == 2
    assert decided(little) == decided(much)
    assert len(little.survivors) < 1_500


def test_signatures_go_to_a_file_and_the_result_is_the_same():
    random = np.random.default_rng(0)
    texts = [" ".join(map(str, random.integers(0, 9_000, 6))) for _ in range(8_000)]
    texts += [f"{text} more" for text in texts[:300]]
    much = nd.deduplicate(texts, method="minhash", min_similarity=0.5)
    little = nd.deduplicate(texts, method="minhash", min_similarity=0.5, memory="16M")
    assert decided(little) == decided(much)
    assert len(little.survivors) == 8_000


@pytest.mark.parametrize("sliced", [0, 3])
def test_rows_are_kept_alike_in_memory_and_in_files(tmp_path, sliced):
    random = np.random.default_rng(1)
    little = KeptRows(memory=500, files=TemporaryFiles(str(tmp_path)))
    much = KeptRows(memory=1 << 20, files=TemporaryFiles(str(tmp_path)))
    for size in (0, 5, 40, 0, 1, 60):
        numbers = random.integers(0, 9, (size, 2)).astype(np.uint64), random.integers(-1, 9, size)
        ids = pa.array([None if i % 7 == 3 else f'"名{i}"' for i in range(size + sliced)], pa.large_string())[sliced:]
        for kept in (little, much):
            kept.append(numbers, ids)
    (some, others), ids = little.whole()
    (expected, more), expected_ids = much.whole()
    assert np.array_equal(some, expected)
    assert np.array_equal(others, more)
    assert ids.equals(expected_ids)
    assert ids.null_count == expected_ids.null_count > 0
    ids.validate(full=True)


@pytest.mark.parametrize("method", ["simhash", "minhash", "exact"])
def test_documents_that_lie_in_files_come_out_as_those_in_memory(method, tmp_path, monkeypatch):
    texts = [f"{number % 50} {text}" for number, text in enumerate(templated(300))]
    lines = [json.dumps({"id": f"文{number % 290}", "text": text}) for number, text in enumerate(texts)]
    lines[20] = "no json"
    (tmp_path / "in.jsonl").write_text("\n".join(lines), encoding="utf-8")
    found = []
    for memory in (None, 0):
        if memory is not None:
            monkeypatch.setitem(SHARES, "rows", SHARES["rows"]._replace(parts=0))
            monkeypatch.setattr("neardup.io.ids.IDS_AT_ONCE", 20)
        output = tmp_path / "out.jsonl"
        done = nd.deduplicate_files(
            tmp_path / "in.jsonl", str(output), method=method, on_error="skip", overwrite=True, temp_dir=str(tmp_path)
        )
        audit = (tmp_path / "out.duplicates.jsonl").read_bytes()
        found.append((output.read_bytes(), audit, done.summary.repeated_ids, done.summary.survivors))
    assert found[0] == found[1]
    assert found[0][2] == 10


@pytest.mark.parametrize("memory", ["16M", "4G"])
def test_joined_documents_lie_in_files_where_their_share_is_too_small(memory):
    counts, resources = (60_000, 0, 3), Resources(memory=memory)
    numbers = [np.arange(count, dtype=np.int64) for count in counts]
    parts = [
        Documents(n.astype(np.uint64)[:, None], np.column_stack([n, n + 1]).astype(np.uint64), n, 2 * n, pa.array(map(str, n), pa.large_string()))
        for n in numbers
    ]  # fmt: skip
    joined = join_documents(*parts, resources=resources)
    assert np.array_equal(joined.tokens, np.concatenate(numbers))
    assert joined.lengths[-3:].tolist() == [0, 2, 4]
    assert joined.digests.shape == (60_003, 2)
    assert joined.ids.to_pylist()[-4:] == ["59999", "0", "1", "2"]
    is_mapped = (
        not joined.tokens.base.flags.owndata
        if isinstance(joined.tokens.base, np.ndarray)
        else joined.tokens.base is not None
    )
    assert is_mapped == (memory == "16M")
    assert resources.excess() == ""


@pytest.mark.parametrize("method", ["exact", "minhash", "simhash"])
def test_candidates_within_groups_that_lie_in_files_are_those_in_memory(method, tmp_path, monkeypatch):
    rows = [{"id": number, "text": text, "group": number % 3} for number, text in enumerate(templated(300))]
    found = [nd.deduplicate(rows, method=method, within="group")]
    for use in ("candidates", "arrays"):
        monkeypatch.setitem(SHARES, use, SHARES[use]._replace(parts=0))
    found.append(nd.deduplicate(rows, method=method, within="group", temp_dir=str(tmp_path)))
    assert found[0].survivors == found[1].survivors
    assert found[0].duplicates.to_pydict() == found[1].duplicates.to_pydict()
    assert len(found[0].survivors) < len(rows)
    assert found[1].summary.peak_temporary_bytes > 0
    assert found[1].summary.memory["shares"]["candidates"]["used"] == 0


PHASES = {
    "fingerprint": ("rows", "arrays", "elements"),
    "exact": ("rows", "arrays", "elements", "counts", "postings", "pairs"),
    "minhash": ("rows", "arrays", "elements", "signatures", "bands", "pairs"),
    "simhash": ("rows", "arrays", "blocks", "pairs"),
    "graph": ("rows", "arrays", "elements", "pairs", "candidates"),
    "cluster": ("rows", "arrays", "elements", "candidates"),
    "fit": ("rows", "frequencies"),
    "passages": ("rows", "arrays", "seen"),
    "earliest passages": ("rows", "arrays", "runs"),
}
"""What lives at the same time: the shares of a phase add up to no more than the whole."""


def test_shares_of_what_lives_at_the_same_time_are_no_more_than_the_whole():
    assert set().union(*PHASES.values()) == set(SHARES)
    for phase, uses in PHASES.items():
        assert sum(SHARES[use].parts for use in uses) <= MEMORY_PARTS, phase


@pytest.mark.parametrize("memory", ["16M", "64M"])
@pytest.mark.parametrize("method", ["exact", "minhash", "simhash"])
def test_the_summary_tells_the_budget_its_shares_and_what_was_used_of_them(method, memory):
    summary = nd.deduplicate(templated(1_500), method=method, memory=memory).summary
    told = summary.as_dict()["memory"]
    assert told["budget"] == int(memory[:-1]) << 20
    assert set(told["shares"]) == set(SHARES)
    used = {use for use, share in told["shares"].items() if share["used"]}
    assert {"rows", "arrays", "pairs"} <= used
    assert {"exact": {"counts", "postings"}, "minhash": {"signatures", "bands"}, "simhash": {"blocks"}}[method] <= used
    assert all(share["used"] <= share["bytes"] for share in told["shares"].values())


def test_each_run_tells_of_itself():
    summaries = [nd.deduplicate(templated(n), method="exact").summary for n in (500, 5)]
    assert summaries[1].memory["shares"]["rows"]["used"] < summaries[0].memory["shares"]["rows"]["used"]


def test_what_takes_more_than_its_share_is_told_in_a_line():
    resources = Resources(memory="64M")
    assert resources.excess() == ""
    resources.use.record("postings", 13 << 20)
    assert resources.excess() == "more memory than its share: postings 13.0 MiB of 12.0 MiB"


def test_arrays_are_counted_as_long_as_they_live():
    resources = Resources(memory="64M")
    first = resources.scratch.zeros(100, np.int64)
    second = resources.scratch.zeros(50, np.int64)[10:]
    assert resources.use.most == {"arrays": 1_200}
    del first, second
    kept = resources.scratch.keep(np.zeros(200, np.int64))
    assert resources.use.most == {"arrays": kept.nbytes}
    assert pickle.loads(pickle.dumps(resources)).use.most == {}


def test_a_file_is_counted_once_while_it_can_be_changed():
    counted = TemporaryFiles()
    with Spool(np.uint64, files=counted) as spool:
        spool.write(np.arange(1000, dtype=np.uint64))
        values = spool.changeable()
    assert values.tolist() == list(range(1000))
    assert (counted.peak, counted._now) == (8000, 8000)
    del values
    assert counted._now == 0


@pytest.mark.parametrize("problem", [errno.EOPNOTSUPP, errno.EINVAL])
def test_a_file_system_that_cannot_allocate_still_has_arrays(monkeypatch, tmp_path, problem):
    def refuse(*_: object) -> None:
        raise OSError(problem, os.strerror(problem))

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    assert mapped_array(5, np.int64, files=TemporaryFiles(str(tmp_path))).tolist() == [0] * 5


def test_a_full_disk_is_an_error_before_anything_is_written(monkeypatch, tmp_path):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match="No space left"):
        mapped_array(5, np.int64, files=TemporaryFiles(str(tmp_path)))


def test_a_few_pages_more_or_fewer_change_no_default(monkeypatch):
    found = []
    for pages in (6_170_000, 6_170_001):
        monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": pages}.__getitem__)
        found.append(Resources().memory_bytes)
    assert found == [11 * 2**30 + 3 * 2**28] * 2
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 50_000}.__getitem__)
    assert Resources().memory_bytes == 50_000 * 2048
