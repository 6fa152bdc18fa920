"""What the functions over files refuse or take as arguments, before any work."""

import json

import pytest

import neardup as nd

TEXT = "the quick brown fox jumps over the lazy dog while the cat sleeps in the warm afternoon sun"


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"id": str(n), "text": TEXT}) + "\n" for n in range(3)), encoding="utf-8")
    return path


def test_outputs_may_be_paths(corpus, tmp_path):
    nd.deduplicate_files(corpus, tmp_path / "kept.jsonl", audit=tmp_path / "audit.jsonl", report=tmp_path / "run.html")
    assert len((tmp_path / "kept.jsonl").read_text("utf-8").splitlines()) == 1
    assert (tmp_path / "audit.jsonl").is_file()
    assert (tmp_path / "run.html").is_file()
    nd.deduplicate_units(corpus, tmp_path / "lines.jsonl", unit="line", audit=tmp_path / "lines.audit.jsonl")
    nd.fingerprint_files(corpus, tmp_path / "a.parquet")
    nd.pair_files(tmp_path / "a.parquet", tmp_path / "pairs.jsonl", method="simhash", min_similarity=0)
    nd.cluster_files(tmp_path / "pairs.jsonl", tmp_path / "clusters.parquet", documents=tmp_path / "a.parquet")
    nd.apply_files(tmp_path / "clusters.parquet", corpus, tmp_path / "applied.jsonl", audit=tmp_path / "b.jsonl")
    assert (tmp_path / "applied.jsonl").is_file()
    nd.build_index(tmp_path / "a.index", corpus)
    nd.query_index(tmp_path / "a.index", corpus, tmp_path / "near.jsonl")
    nd.filter_files(tmp_path / "new.index", corpus, tmp_path / "new.jsonl", audit=tmp_path / "c.jsonl")
    assert len((tmp_path / "new.jsonl").read_text("utf-8").splitlines()) == 1


def test_an_output_that_names_no_file_is_refused(corpus):
    with pytest.raises(nd.InputError, match=r"3 does not name a file. Give a string or a pathlib.Path"):
        nd.deduplicate_files(corpus, 3)


@pytest.mark.parametrize(
    "call",
    [
        lambda corpus, out: nd.fingerprint_files(corpus, out / "a.parquet", encodign="utf-8"),
        lambda corpus, out: nd.filter_files(out / "a.index", corpus, out / "a.jsonl", encodign="utf-8"),
        lambda corpus, out: nd.build_index(out / "a.index", corpus, encodign="utf-8"),
        lambda corpus, out: nd.apply_files(out / "c.jsonl", corpus, out / "b.jsonl", encodign="utf-8"),
    ],
)
def test_a_misspelled_option_of_reading_is_told_with_the_one_that_was_meant(corpus, tmp_path, call):
    with pytest.raises(nd.OptionError, match=r"`encodign`: there is no such option \(did you mean `encoding`\?\)"):
        call(corpus, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]  # nothing was made


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": ["exact"]}, r"`method=\['exact'\]`: give one of auto"),
        ({"similarity": {}}, r"`similarity={}`: give one of jaccard"),
        ({"prefer_source": 3}, "`prefer_source=3`: give names of sources, as strings"),
        ({"prefer_source": ["a", 3]}, r"`prefer_source=\['a', 3\]`: give names of sources"),
    ],
)
def test_values_of_another_type_are_refused_as_options(options, said):
    with pytest.raises(nd.OptionError, match=said):
        nd.DedupOptions(**options)


def test_sources_may_come_from_any_iterable():
    assert nd.DedupOptions(prefer_source=iter(["a", "b"])).prefer_source == ("a", "b")
