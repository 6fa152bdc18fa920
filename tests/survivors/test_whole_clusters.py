"""What stays of whole clusters: the first of each, none that matches another, and no cluster that is too large."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import neardup as nd

START = "the annual general meeting of the society will be held in the town hall at noon".split()
WORDS = st.sampled_from(["monday", "friday", "may", "june", "x"])
METHODS = st.sampled_from(
    [
        {"method": "exact"},
        {"method": "minhash"},
        {"method": "simhash", "max_distance": 40},
        {"method": "exact", "guard": "same-numbers"},
    ]
)
OTHER = "a text that nobody has seen before in this place, which is like none of the others"


@st.composite
def corpora(draw):
    """Edited copies, some of them equal, and others."""
    texts = []
    for _ in range(draw(st.integers(0, 9))):
        words = START[: draw(st.sampled_from([9, 12, 16]))] + draw(st.lists(WORDS, max_size=3))
        texts.append(draw(st.sampled_from([" ".join(words), OTHER])))
    return texts


def order_of(texts, keep):
    rows = range(len(texts))
    if keep == "last":
        return list(reversed(rows))
    return sorted(rows, key=lambda row: -len(texts[row])) if keep == "longest" else list(rows)


@given(
    texts=corpora(),
    reference=st.booleans(),
    method=METHODS,
    keep=st.sampled_from(["first", "last", "longest"]),
    cluster=st.sampled_from(["star", "components"]),
    most=st.integers(1, 4),
)
def test_the_first_of_each_cluster_stay(texts, reference, method, keep, cluster, most):
    options = {
        "keep": keep,
        "cluster": cluster,
        "min_similarity": 0.5,
        "against": [OTHER] if reference else None,
        **method,
    }
    base, found = nd.deduplicate(texts, **options), nd.deduplicate(texts, keep_most=most, **options)
    clusters: dict[int, set[int]] = {}
    for row in base.clusters.to_pylist():
        clusters.setdefault(row["cluster_id"], set()).add(row["row"])
    of_reference = {row["cluster_id"] for row in base.duplicates.to_pylist() if row.get("reference_row") is not None}
    gone = {row for number in of_reference for row in clusters.pop(number)}
    expected = naive.first_of_clusters(order_of(texts, keep), clusters.values(), most) - gone
    assert set(found.kept.nonzero()[0].tolist()) == expected
    changed = {"survivor_id", "is_duplicate", "duplicate_of", "similarity", "distance"}
    for before, after in zip(base.annotations.to_pylist(), found.annotations.to_pylist(), strict=True):
        assert {name: before[name] for name in before.keys() - changed} == {
            name: after[name] for name in after.keys() - changed
        }
        assert before == after or not after["is_duplicate"]
    assert found.summary.clusters == base.summary.clusters
    assert found.summary.survivors == len(expected)


@given(texts=corpora(), reference=st.booleans(), method=METHODS)
def test_what_matches_any_other_is_dropped(texts, reference, method):
    options = {"min_similarity": 0.5, **method}
    against = [OTHER] if reference else []
    found = nd.deduplicate(texts, drop_matched=True, cluster="components", against=against or None, **options)
    listed = nd.match(texts + against, **options)
    pairs = zip(listed.left.tolist(), listed.right.tolist(), strict=True)
    expected = naive.in_no_pair(len(texts) + len(against), pairs) - set(range(len(texts), len(texts) + len(against)))
    assert set(found.kept.nonzero()[0].tolist()) == expected
    for row in found.duplicates.to_pylist():
        assert (row["survivor_id"], row["survivor_row"], row["distance"]) == (None, None, None)
        assert row["matched_id"] is not None
    assert found.summary.duplicates == len(texts) - len(expected)
    assert all(row["duplicate_of"] is None for row in found.annotations.to_pylist())


COPIES = [{"id": f"d{row}", "text": " ".join([*START, word])} for row, word in enumerate(["", "x", "y", "z"])]
ROWS = [*COPIES, {"id": "other", "text": OTHER}]


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")


@pytest.mark.parametrize("cluster", ["star", "components"])
def test_a_cluster_that_is_too_large_is_refused(place, cluster):
    options = {"cluster": cluster, "min_similarity": 0.5}
    said = r"One cluster has 4 of 5 documents \(80.0%\), more than `max_cluster=0.79` allows: cluster 0, with \"d0\", \"d1\", \"d2\", "
    with pytest.raises(nd.DataError, match=said + '"d3"'):
        nd.deduplicate_files("in.jsonl", "out.jsonl", max_cluster=0.79, **options)
    assert not list(Path().glob("out*"))
    assert nd.deduplicate_files("in.jsonl", "out.jsonl", max_cluster=0.8, **options).summary.survivors == 2
    with pytest.raises(nd.DataError, match="with row 0, row 1, row 2, row 3. Nothing was written"):
        nd.deduplicate([row["text"] for row in ROWS], max_cluster=0.5, **options)


def staged(**options):
    nd.fingerprint_files("in.jsonl", "prints.parquet", overwrite=True)
    nd.pair_files("in.jsonl", "pairs.parquet", min_similarity=0.5, overwrite=True)
    nd.cluster_files("pairs.parquet", "clusters.parquet", documents="prints.parquet", overwrite=True, **options)
    return nd.apply_files("clusters.parquet", "in.jsonl", "applied.jsonl", overwrite=True)


def test_stages_resumed_runs_and_annotations_do_the_same(place):
    for options in ({"keep_most": 2}, {"drop_matched": True, "cluster": "components"}):
        whole = nd.deduplicate_files("in.jsonl", "out.jsonl", min_similarity=0.5, overwrite=True, **options)
        parts = staged(**options)
        assert Path("applied.jsonl").read_bytes() == Path("out.jsonl").read_bytes()
        assert nd.verify_files("applied.jsonl").proven
        assert parts.summary.duplicates == whole.summary.duplicates == (2 if "keep_most" in options else 4)
        resumed = nd.deduplicate_files(
            "in.jsonl", "again.jsonl", min_similarity=0.5, resume=True, overwrite=True, **options
        )
        assert Path("again.jsonl").read_bytes() == Path("out.jsonl").read_bytes()
        assert resumed.summary.options == whole.summary.options
        nd.deduplicate_files("in.jsonl", "all.jsonl", min_similarity=0.5, annotate=True, overwrite=True, **options)
        rows = [json.loads(line) for line in Path("all.jsonl").read_text(encoding="utf-8").splitlines()]
        assert sum(row["is_duplicate"] for row in rows) == whole.summary.duplicates
        assert [row["cluster_id"] for row in rows] == [0, 0, 0, 0, 4]
        for path in Path().glob("again.*"):
            if path.is_dir():
                for each in sorted(path.rglob("*"), reverse=True):
                    each.unlink() if each.is_file() else each.rmdir()
                path.rmdir()


def test_what_drops_all_that_matches_is_proven_and_explained(place):
    options = {"drop_matched": True, "cluster": "components", "min_similarity": 0.5}
    nd.deduplicate_files("in.jsonl", "out.jsonl", **options)
    proof = nd.verify_files("out.jsonl")
    assert proof.proven
    assert [check.name for check in proof.checks] == ["rows", "matched"]
    assert nd.explain("out.duplicates.jsonl", "d0").removed[0]["matched_id"] == "d1"
    with pytest.raises(nd.OptionError, match="so there is no kept one to compare with"):
        nd.explain("out.duplicates.jsonl", "d0", diff=True)
    lines = Path("out.duplicates.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    Path("out.duplicates.jsonl").write_text("".join(lines[1:]), encoding="utf-8")
    Path("out.jsonl").write_text(json.dumps(ROWS[0]) + "\n" + json.dumps(ROWS[4]) + "\n", encoding="utf-8")
    assert '"d0" (row 0: in.jsonl, row 0) was kept, but matches another' in str(nd.verify_files("out.jsonl"))


@given(
    texts=corpora(),
    known=st.booleans(),
    method=METHODS,
    keep=st.sampled_from(["last", "longest", "max:n"]),
    cluster=st.sampled_from(["star", "components"]),
    most=st.integers(2, 3),
)
def test_what_keeps_several_is_proven_and_another_choice_is_not(texts, known, method, keep, cluster, most):
    options = {"keep": keep, "cluster": cluster, "keep_most": most, "min_similarity": 0.5, **method}
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        rows = [{"id": f"d{row % 7}", "text": text, "n": row % 3 or None} for row, text in enumerate(texts)]
        Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        Path("known.jsonl").write_text(json.dumps({"text": OTHER}) + "\n", encoding="utf-8")
        nd.deduplicate_files("in.jsonl", "out.jsonl", against="known.jsonl" if known else (), **options)
        proof = nd.verify_files("out.jsonl")
        assert proof.proven
        assert f"but for the first {most} of a cluster" in str(proof)
        lines = [json.loads(line) for line in Path("out.duplicates.jsonl").read_text().splitlines()]
        inside = [line for line in lines if line["survivor_row"] is not None]
        if not inside:
            return
        # as if the first of the cluster had gone instead of one that went
        kept = set(range(len(rows))) - {line["row"] for line in lines}
        stays = sorted({*kept, inside[0]["row"]} - {inside[0]["survivor_row"]})
        Path("out.jsonl").write_text("".join(json.dumps(rows[row]) + "\n" for row in stays), encoding="utf-8")
        assert not nd.verify_files("out.jsonl").proven


def test_functions_say_which_stay_and_cannot_be_read_again(place):
    nd.deduplicate_files("in.jsonl", "out.jsonl", keep_most=2, keep=len, min_similarity=0.5)
    with pytest.raises(
        nd.OptionError, match=r"`keep='len\(\)'`: only its name is known here, not the function, so it is unknown"
    ):
        nd.verify_files("out.jsonl")


DROPPED = {"drop_matched": True, "cluster": "components"}
REFUSED = [
    (lambda: nd.deduplicate([], keep_most=0), "`keep_most=0`: give how many documents of a cluster stay"),
    (lambda: nd.deduplicate([], keep_most=True), "`keep_most=True`: give"),
    (lambda: nd.deduplicate([], drop_matched=1), "`drop_matched=1`: give True or False"),
    (lambda: nd.deduplicate([], max_cluster=0), "`max_cluster=0`: give a share of the documents, above 0 to 1"),
    (lambda: nd.deduplicate([], max_cluster=20), "`max_cluster=20`: give a share"),
    (
        lambda: nd.deduplicate([], drop_matched=True),
        "Give `cluster='components'`, in which all documents that match another",
    ),
    (
        lambda: nd.deduplicate([], keep_most=2, **DROPPED),
        "with `drop_matched`, none of them stays. Give one of the two",
    ),
    (
        lambda: nd.Store("s", keep_most=2),
        "`keep_most`: Store() has no such option; it needs all documents of a cluster",
    ),
    (lambda: nd.Stream(drop_matched=True), "what answers about one document after another has answered before"),
    (
        lambda: nd.Stream(max_cluster=0.5),
        "`max_cluster`: Stream() has no such option; it needs all documents of a cluster",
    ),
    (
        lambda: nd.deduplicate_units("in.jsonl", "o.jsonl", unit="line", keep_most=2),
        "of lines and paragraphs, the first copy stays",
    ),
    (
        lambda: nd.deduplicate_files("in.jsonl", "o.jsonl", report="o.html", **DROPPED),
        "Make the report of a run without it",
    ),
]


@pytest.mark.parametrize(("call", "problem"), REFUSED)
def test_what_cannot_be_is_refused(place, call, problem):
    with pytest.raises(nd.OptionError) as refused:
        call()
    assert problem in str(refused.value)


def test_finished_runs_that_others_cannot_read_are_refused(place):
    nd.deduplicate_files("in.jsonl", "out.jsonl", keep_most=2, min_similarity=0.5)
    with pytest.raises(nd.OptionError, match="`keep_most=2`, which a store does not have"):
        nd.Store.build("s", "out.jsonl")
    nd.deduplicate_files("in.jsonl", "none.jsonl", min_similarity=0.5, **DROPPED)
    with pytest.raises(nd.OptionError, match="and none stays. Make the report of a run without it"):
        nd.report("none.duplicates.jsonl", "page.html")
    with pytest.raises(nd.OptionError, match="`drop_matched=True`, which a store does not have"):
        nd.Store.build("s", "none.jsonl")
