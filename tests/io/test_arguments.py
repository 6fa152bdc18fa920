"""What the functions over files refuse or take as arguments, before any work."""

import json

import numpy as np
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
    nd.passages_files(corpus, tmp_path / "cut.jsonl", audit=tmp_path / "cuts.jsonl")
    nd.fingerprint_files(corpus, tmp_path / "a.parquet")
    nd.pair_files(tmp_path / "a.parquet", tmp_path / "pairs.jsonl", method="simhash", min_similarity=0)
    nd.cluster_files(tmp_path / "pairs.jsonl", tmp_path / "clusters.parquet", documents=tmp_path / "a.parquet")
    nd.apply_files(tmp_path / "clusters.parquet", corpus, tmp_path / "applied.jsonl", audit=tmp_path / "b.jsonl")
    assert (tmp_path / "applied.jsonl").is_file()
    nd.build_index(tmp_path / "a.index", corpus)
    nd.query_index(tmp_path / "a.index", corpus, tmp_path / "near.jsonl")
    nd.filter_files(tmp_path / "new.index", corpus, tmp_path / "new.jsonl", audit=tmp_path / "c.jsonl", create=True)
    assert len((tmp_path / "new.jsonl").read_text("utf-8").splitlines()) == 1


def test_an_output_that_names_no_file_is_refused(corpus):
    with pytest.raises(nd.InputError, match=r"3 does not name a file. Give a string or a pathlib.Path"):
        nd.deduplicate_files(corpus, 3)


FILE_FUNCTIONS = {
    "deduplicate_files": lambda corpus, out, **given: nd.deduplicate_files(corpus, out / "b.jsonl", **given),
    "deduplicate_units": lambda corpus, out, **given: nd.deduplicate_units(
        corpus, out / "b.jsonl", unit="line", **given
    ),
    "passages_files": lambda corpus, out, **given: nd.passages_files(corpus, out / "b.jsonl", **given),
    "fingerprint_files": lambda corpus, out, **given: nd.fingerprint_files(corpus, out / "b.parquet", **given),
    "pair_files": lambda corpus, out, **given: nd.pair_files(corpus, out / "b.jsonl", **given),
    "evaluate_files": lambda corpus, out, **given: nd.evaluate_files(corpus, **given),
    "estimate_files": lambda corpus, out, **given: nd.estimate_files(corpus, **given),
    "plan_files": lambda corpus, out, **given: nd.plan_files(corpus, **given),
    "fit_files": lambda corpus, out, **given: nd.fit_files(corpus, out / "b.parquet", **given),
    "filter_files": lambda corpus, out, **given: nd.filter_files(
        out / "b.index", corpus, out / "b.jsonl", **given, create=True
    ),
    "build_index": lambda corpus, out, **given: nd.build_index(out / "b.index", corpus, **given),
    "apply_files": lambda corpus, out, **given: nd.apply_files(out / "c.jsonl", corpus, out / "b.jsonl", **given),
}


@pytest.mark.parametrize(("name", "call"), FILE_FUNCTIONS.items())
def test_a_misspelled_option_is_told_with_the_one_that_was_meant(corpus, tmp_path, name, call):
    for given, meant in (("encodign", "encoding"), ("column", "text"), ("progres", "progress")):
        expected = rf"`{given}`: {name}\(\) has no such option \(did you mean `{meant}`\?\)\."
        if given == "column" or (given == "progres" and name == "estimate_files"):
            expected = f"`{given}`: {name}"
        with pytest.raises(nd.OptionError, match=expected):
            call(corpus, tmp_path, **{given: None})
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]  # nothing was made


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: nd.deduplicate([TEXT], column="x"),
            r"`column`: deduplicate\(\) has no such option \(did you mean `text`\?\)",
        ),
        (
            lambda: nd.deduplicate([TEXT], overwrite=True),
            r"`overwrite`: .*There are `text`, `id`, `elements`, `html`, `against`, .*, `method`, ",
        ),
        (
            lambda: nd.evaluate([TEXT], keep="last"),
            r"`keep`: evaluate\(\) has no such option; it decides which of the matching",
        ),
        (
            lambda: nd.evaluate([TEXT], method="exact"),
            r"`method`: evaluate\(\) has no such option; it decides which documents match",
        ),
        (
            lambda: nd.match([TEXT], cluster="star"),
            r"`cluster`: match\(\) has no such option; it decides which of the matching",
        ),
    ],
)
def test_an_option_of_another_function_is_refused_with_the_reason(call, said):
    with pytest.raises(nd.OptionError, match=said):
        call()


def test_pairs_and_clusters_refuse_the_options_of_each_other(corpus, tmp_path):
    with pytest.raises(
        nd.OptionError, match=r"`within`: pair_files\(\) has no such option; it decides which of .* cluster_files"
    ):
        nd.pair_files(corpus, tmp_path / "b.jsonl", within="lang")
    with pytest.raises(
        nd.OptionError, match=r"`method`: cluster_files\(\) has no such option; it decides which .* pair_files"
    ):
        nd.cluster_files(corpus, tmp_path / "b.parquet", documents=corpus, method="exact")


@pytest.mark.parametrize("name", ["deduplicate_files", "filter_files", "fit_files", "build_index", "pair_files"])
def test_an_unknown_treatment_of_bad_rows_is_refused(corpus, tmp_path, name):
    with corpus.open("a") as file:
        file.write("no json\n")
    with pytest.raises(nd.OptionError, match="`on_error='ignore'`: give one of stop, skip"):
        FILE_FUNCTIONS[name](corpus, tmp_path, on_error="ignore")
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


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


def test_integers_of_numpy_are_integers(tmp_path):
    three = np.int64(3)
    assert nd.deduplicate([TEXT, TEXT], threads=three, max_distance=three).survivors == [TEXT]
    index = nd.Index(max_distance=three, bits=np.int64(64), method="block-tables", blocks=np.int64(4))
    index.add(["a"], np.array([5], np.uint64))
    index.save(tmp_path / "a.index")
    assert nd.Index.open(tmp_path / "a.index").query(np.uint64(5)) == [("a", 0)]
    assert json.loads(nd.plan(np.int64(1000), max_distance=three).to_json())["documents"] == 1000
    assert nd.plan_files(documents=np.int64(1000), max_distance=three).documents == 1000
    assert nd.estimated_cosine(three, np.int64(64)).cosine > 0.9


@pytest.mark.parametrize(
    "call",
    [
        lambda: nd.deduplicate([TEXT], threads=True),
        lambda: nd.deduplicate([TEXT], max_distance=True),
        lambda: nd.Index(max_distance=True),
        lambda: nd.plan(True, max_distance=3),
        lambda: nd.Index(max_distance=3, method="block-tables", blocks=True),
        lambda: nd.estimated_cosine(True, 64),
        lambda: nd.plan_files(documents=True),
    ],
)
def test_truth_values_are_no_integers(call):
    with pytest.raises(nd.OptionError, match="True"):
        call()


def test_a_unit_that_cannot_be_removed_is_refused_with_those_that_can(corpus):
    with pytest.raises(nd.OptionError, match="`unit='document'`: give one of line, paragraph"):
        nd.deduplicate_units(corpus, "out.jsonl", unit="document")


HUGE = 10**5000
FINGERPRINTS = np.ones(2, np.uint64)
TAKES_INTEGERS = {
    "threads": lambda n: nd.deduplicate([TEXT], threads=n),
    "memory": lambda n: nd.join(FINGERPRINTS, max_distance=1, memory=n),
    "max_distance": lambda n: nd.deduplicate([TEXT], max_distance=n),
    "min_similarity": lambda n: nd.deduplicate([TEXT], min_similarity=n),
    "bits of a recipe": lambda n: nd.Recipe(bits=n),
    "bits of an index": lambda n: nd.Index(bits=n, max_distance=3),
    "blocks": lambda n: nd.Index(max_distance=3, method="block-tables", blocks=n),
    "ids": lambda n: nd.Index(max_distance=3).add(n, FINGERPRINTS),
    "query": lambda n: nd.Index(max_distance=3).query(n),
    "distance": lambda n: nd.distance(n, 1),
    "documents": lambda n: nd.plan(n, max_distance=3),
    "bits of a plan": lambda n: nd.plan(10, max_distance=3, bits=n),
    "documents of texts": lambda n: nd.plan_files(documents=n),
    "values of bands": lambda n: nd.plan_bands(0.8, values=n),
    "bands": lambda n: nd.Bands(bands=n, rows=2),
    "hit_probability": lambda n: nd.hit_probability(n, nd.Bands(bands=2, rows=2)),
    "seed of signatures": lambda n: nd.signatures([TEXT], seed=n),
    "seed of vectors": lambda n: nd.fingerprint_vectors([[1.0]], seed=n),
    "bits of digits": lambda n: nd.read_fingerprints(["ff"], digits="hexadecimal", bits=n),
    "digits": lambda n: nd.read_fingerprints([n], digits="decimal"),
    "cosine": lambda n: nd.estimated_cosine(1, n),
    "elements": lambda n: nd.match([[n], [n]]),
    "labels": lambda n: nd.evaluate([TEXT], pairs=[(n, 0)]),
    "column of values": lambda n: nd.deduplicate([{"text": TEXT, "x": n}], within="x"),
    "min_tokens of passages": lambda n: nd.passages([TEXT], min_tokens=n),
    "min_left": lambda n: nd.passages([TEXT], min_left=n),
    "min_run": lambda n: nd.decontaminate([TEXT], against=[TEXT], min_run=n),
    "texts": lambda n: nd.fingerprint([n]),
}


@pytest.mark.parametrize("name", TAKES_INTEGERS)
@pytest.mark.parametrize("number", [HUGE, -HUGE], ids=["huge", "below"])
def test_an_integer_that_python_does_not_print_is_refused(name, number):
    with pytest.raises(nd.NeardupError):
        TAKES_INTEGERS[name](number)
