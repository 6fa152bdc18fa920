"""What infinities, NaN, -0.0, large integers, decimals, dates, empty strings and nulls are for `keep` and `within`: one thing everywhere."""

import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from engines.cluster_runs import check
from engines.corpus_files import SCHEMA, TRAPS, numbered, with_traps
from engines.engine_errors import in_the_harness
from neardup.store.store import Store

SENTENCE = "one of the texts that many pages have in common with others, and of which {} there are a few"
ROWS = with_traps(numbered({"id": f"d{n:02}", "text": SENTENCE.format("but" if n % 2 else "as")} for n in range(22)))
TABLE = pa.Table.from_pylist(ROWS, SCHEMA)
OPTIONS = [*(f"{rule}:{name}" for name in TRAPS for rule in ("max", "min")), *TRAPS]
INF = math.inf


def options_of(given):
    return {"method": "exact", "keep": given} if ":" in given else {"method": "exact", "within": given}


@pytest.mark.parametrize("given", OPTIONS)
def test_values_are_one_thing_in_memory_in_files_and_in_engines(tmp_path, given):
    options = options_of(given)
    removed = [line["id"] for line in nd.deduplicate(TABLE, **options).duplicates.to_pylist()]
    assert 0 < len(removed) < len(ROWS)
    assert [line["id"] for line in nd.deduplicate(ROWS, **options).duplicates.to_pylist()] == removed
    pq.write_table(TABLE, tmp_path / "in.parquet")
    nd.deduplicate_files([tmp_path / "in.parquet"], tmp_path / "out.parquet", **options)
    kept = set(pq.read_table(tmp_path / "out.parquet").column("id").to_pylist())
    assert {row["id"] for row in ROWS} - kept == set(removed)
    assert in_the_harness(tmp_path / "harness", TABLE, None, options) == sorted(removed)


@pytest.mark.parametrize(
    ("values", "keep", "kept"),
    [
        ([1.0, INF], "max:v", 1),
        ([-INF, 1.0], "min:v", 0),
        ([-INF, 1.0], "max:v", 1),
        ([None, -INF], "max:v", 1),  # nothing comes last, also after the smallest of all
        ([math.nan, -INF], "max:v", 1),
        ([math.nan, None], "max:v", 0),
        ([-0.0, 0.0], "max:v", 0),
        ([0.0, -0.0], "min:v", 0),
        ([2**53, 2**53 + 1], "max:v", 1),
        (["1", "inf"], "max:v", 1),
        ([INF, 10**400], "max:v", 0),
        (["", "a"], "max:v", 1),
    ],
)
def test_which_value_is_preferred(tmp_path, values, keep, kept):
    rows = [{"id": str(n), "text": SENTENCE, "v": value} for n, value in enumerate(values)]
    assert [row["id"] for row in nd.deduplicate(rows, keep=keep).survivors] == [str(kept)]
    if all(isinstance(value, float) for value in values):
        left = iter([-value for value in values] if keep == "min:v" else values)
        by_function = nd.deduplicate(rows, keep=lambda _: next(left), threads=1)
        assert [row["id"] for row in by_function.survivors] == [str(kept)]
    if all(isinstance(value, float) and value == value for value in values):  # a store compares 64-bit floats
        with Store(tmp_path / "store", keep=keep) as store:
            for row in rows:
                told = str(row["v"]) if row["v"] in (INF, -INF) else row["v"]  # as JSON has no infinity
                store.check_and_add(row["id"], row["text"], metadata={"v": told})
            assert [row["id"] for row in rows if store.get(row["id"]) is not None] == [str(kept)]


@pytest.mark.parametrize(
    ("values", "groups"),
    [
        ([-0.0, 0.0, None, math.nan, INF, -INF], [0, 0, 1, 1, 2, 3]),
        ([1, 1.0, "1", None], [0, 0, 0, 1]),
        ([2**53, 2**53 + 1, float(2**53)], [0, 1, 0]),
        (["", None], [0, 1]),
        ([True, False, None], [0, 1, 2]),
    ],
)
def test_which_values_are_equal(values, groups):
    rows = [{"id": n, "text": SENTENCE, "v": value} for n, value in enumerate(values)]
    firsts = [n for n, group in enumerate(groups) if group not in groups[:n]]
    assert [row["id"] for row in nd.deduplicate(rows, within="v").survivors] == firsts


@pytest.mark.cluster
@pytest.mark.filterwarnings("ignore")  # of the clusters
@pytest.mark.parametrize(
    ("engine", "options"),
    [
        pytest.param(engine, options, marks=[pytest.mark.long] if engine == "spark" and number else [])
        for engine in ("spark", "ray")
        for number, options in enumerate([
            {"keep": "max:score", "within": "share"},
            {"keep": "min:score", "within": "flag"},
            {"keep": "min:price", "within": "day"},
            {"keep": "max:big", "within": "score"},
            {"keep": "max:at", "within": "label"},
            {"keep": "min:label", "within": "at"},
            {"keep": "max:share", "within": "price"},
        ])
    ],
    indirect=["engine"],
)  # fmt: skip
def test_values_are_one_thing_on_clusters(engine, tmp_path, options):
    check(engine, tmp_path, "mixture", {"method": "exact", "min_similarity": 0.3} | options, small=1 << 24)
