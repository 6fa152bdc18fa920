"""Document frequencies: counted, merged, read again, and refused where they do not belong."""

import json
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import neardup as nd
from neardup.fingerprints.files.fingerprint_file import fingerprint_schema
from neardup.fingerprints.weights.counting import BYTES_PER_FEATURE, FeatureCounter, merged
from neardup.recipe.presets import find_recipe
from neardup.recipe.serialization import stored_recipe
from neardup.resources.memory_use import MemoryUse
from neardup.resources.temporary_files import TemporaryFiles
from strategies import texts

CORPUS = ["red green", "red blue", "red red", ""]


def rows(path):
    table = pq.read_table(path)
    return dict(zip(table.column("feature").to_pylist(), table.column("documents").to_pylist(), strict=True))


@given(st.lists(texts, max_size=8), st.sampled_from([(1, 2), (2, 1)]))
@settings(max_examples=40)
def test_each_feature_is_counted_once_a_document(tmp_path_factory, corpus, sizes):
    path = tmp_path_factory.getbasetemp() / "df.parquet"
    found = nd.fit(corpus, path, recipe=nd.Recipe(word_shingle=sizes[0], cjk_shingle=sizes[1]), overwrite=True)
    expected = naive.document_frequencies(corpus, word_shingle=sizes[0], cjk_shingle=sizes[1])
    assert rows(path) == {naive.feature_hash(window): count for window, count in expected.items()}
    assert (found.documents, found.features, found.path) == (len(corpus), len(expected), str(path))


def test_the_file_says_what_was_counted(tmp_path):
    path = tmp_path / "df.parquet"
    found = nd.fit(CORPUS, path)
    table = pq.read_table(path)
    assert [(field.name, field.type, field.nullable) for field in table.schema] == [
        ("feature", pa.uint64(), False),
        ("documents", pa.int64(), False),
    ]
    features = table.column("feature").to_numpy()
    assert (features[1:] > features[:-1]).all()
    metadata = {name.decode(): value.decode() for name, value in pq.read_metadata(path).metadata.items()}
    assert metadata["neardup.frequencies"] == "1"
    assert metadata["neardup.documents"] == "4"
    assert metadata["neardup.content"] == found.digest
    assert json.loads(metadata["neardup.tokenization"]) == {
        "cjk_shingle": 2,
        "unicode": "14.0.0",
        "version": 1,
        "word_shingle": 1,
    }
    assert len(metadata["neardup.tokenization_digest"]) == 16


def test_parts_that_are_merged_are_the_whole(tmp_path):
    whole = nd.fit(CORPUS, tmp_path / "whole.parquet")
    nd.fit(CORPUS[:1], tmp_path / "a.parquet")
    nd.fit(CORPUS[1:3], tmp_path / "b.parquet")
    parts = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    assert nd.fit(CORPUS[3:], tmp_path / "later.parquet", merge=parts) == whole
    nd.fit(CORPUS[3:], tmp_path / "c.parquet")
    assert nd.fit_files([], str(tmp_path / "all.parquet"), merge=[*parts, tmp_path / "c.parquet"]) == whole
    assert (tmp_path / "all.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    replaced = nd.fit(CORPUS[1:], tmp_path / "a.parquet", merge=[tmp_path / "a.parquet"], overwrite=True)
    assert replaced == whole


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(1, 9)), max_size=600, unique_by=lambda pair: pair[0]),
        max_size=6,
    ),
    st.integers(0, 2**17),
)
@settings(max_examples=40)
def test_counts_in_little_memory_are_those_in_much(given_runs, memory):
    counter, expected = FeatureCounter(memory, TemporaryFiles()), Counter()
    for run in given_runs:
        counter.add(*merged([(np.array([f for f, _ in run], np.uint64), np.array([c for _, c in run], np.int64))]))
        expected.update(dict(run))
    found = [pair for part in counter.parts() for pair in zip(*map(np.ndarray.tolist, part), strict=True)]
    assert found == sorted(expected.items())


def test_many_features_go_through_temporary_files(tmp_path):
    use = MemoryUse()
    counter = FeatureCounter(64 << 10, TemporaryFiles(str(tmp_path)), use)
    random = np.random.default_rng(5)
    for _ in range(30):
        counter.add(np.unique(random.integers(0, 2**64, 500, np.uint64)), np.ones(500, np.int64))
    sizes = [len(features) for features, _ in counter.parts()]
    assert sum(sizes) == 15_000
    assert len(counter._stored) > 3
    assert max(sizes) < 1400
    assert 500 * BYTES_PER_FEATURE < use.most["frequencies"] < 2 * (64 << 10)


def test_texts_may_be_a_column_of_a_table_and_progress_counts_them(tmp_path):
    events, table = [], pa.table({"body": CORPUS})
    plain = nd.fit(CORPUS, tmp_path / "plain.parquet")
    assert nd.fit(table, tmp_path / "table.parquet", text="body", progress=events.append) == plain
    assert (events[-1].stage, events[-1].total, events[-1].ended) == ("fit", len(CORPUS), True)
    recipe = nd.Recipe(weights="tf", keywords=1)
    assert nd.keywords(table, text="body", recipe=recipe) == nd.keywords(CORPUS, recipe=recipe)


def test_threads_change_no_byte(tmp_path):
    corpus = [f"word{number % 97} and word{number % 31}" * 200 for number in range(900)]
    for threads in (1, 3):
        nd.fit(corpus, tmp_path / f"{threads}.parquet", threads=threads)
    assert (tmp_path / "1.parquet").read_bytes() == (tmp_path / "3.parquet").read_bytes()


def test_content_and_not_place_decides_the_digest_of_a_recipe(tmp_path):
    (tmp_path / "deep").mkdir()
    for name, corpus in (("a", CORPUS), ("deep/a", CORPUS), ("b", CORPUS[:2])):
        nd.fit(corpus, tmp_path / f"{name}.parquet")
    a, copy, b = (
        nd.Recipe(weights="tfidf", document_frequencies=tmp_path / f"{name}.parquet") for name in ("a", "deep/a", "b")
    )
    assert a == copy
    assert a.digest() == copy.digest() != b.digest()
    assert "document_frequencies" not in nd.Recipe().as_dict()
    (tmp_path / "mine.toml").write_text('weights = "tfidf"\ndocument_frequencies = "deep/a.parquet"\n')
    assert find_recipe(str(tmp_path / "mine.toml")) == a


def test_stored_recipes_can_be_compared_but_make_no_fingerprints(tmp_path):
    recipe = nd.Recipe(weights="tfidf", document_frequencies=nd.fit(CORPUS, tmp_path / "df.parquet"))
    stored = stored_recipe(json.loads(json.dumps(recipe.as_dict())))
    assert stored.digest() == recipe.digest()
    with pytest.raises(nd.OptionError, match="`document_frequencies`: only its identity.*Give the recipe itself"):
        nd.fingerprint(["red"], recipe=stored)
    other = {**recipe.as_dict(), "weights": {"name": "jieba_tfidf", "jieba": "0.1"}, "segmenter": "jieba"}
    del other["document_frequencies"]
    assert stored_recipe(other).as_dict()["weights"] == other["weights"]
    with pytest.raises(nd.OptionError, match="`weights`: what is stored was made with jieba 0.1"):
        nd.fingerprint(["red"], recipe=stored_recipe(other))


@pytest.mark.parametrize(
    "fields", [{"word_shingle": 2}, {"normalize": ["nfkc"]}, {"segmenter": "characters"}, {"stop_words": ["en"]}]
)
def test_recipes_with_other_tokens_are_refused(tmp_path, fields):
    path = tmp_path / "df.parquet"
    nd.fit(CORPUS, path)
    [name] = fields
    with pytest.raises(nd.RecipeMismatch, match=f"counts the features of other tokens.*{name}: .* there, .* here"):
        nd.Recipe(weights="tfidf", document_frequencies=path, **fields)
    with pytest.raises(nd.RecipeMismatch, match="df.parquet counts the features of other tokens"):
        nd.fit(CORPUS, tmp_path / "more.parquet", merge=[path], recipe=nd.Recipe(**fields))
    assert not (tmp_path / "more.parquet").exists()


def test_what_weights_hash_and_bits_a_recipe_has_does_not_matter(tmp_path):
    first = nd.fit(CORPUS, tmp_path / "a.parquet", recipe=nd.Recipe(weights="tf", bits=64, hash="md5", min_tokens=1))
    assert nd.fit(CORPUS, tmp_path / "b.parquet") == first
    assert (
        nd.fit(CORPUS, tmp_path / "c.parquet", recipe=nd.Recipe(weights="tfidf", document_frequencies=first)) == first
    )


def rewritten(path, table=None, **metadata):
    """The file with other rows or other metadata."""
    found = pq.read_table(path) if table is None else table
    kept = pq.read_metadata(path).metadata | {f"neardup.{name}".encode(): value for name, value in metadata.items()}
    pq.write_table(found.replace_schema_metadata(kept), path)


def foreign(path):
    pq.write_table(pa.table({"feature": [1]}), path)


def fingerprints(path):
    pq.write_table(pa.Table.from_pylist([], schema=fingerprint_schema(nd.Recipe())), path)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda path: path.write_bytes(b"none"), "cannot be read as a file of document frequencies: .*Make it anew"),
        (lambda path: path.write_bytes(path.read_bytes()[:-50]), "cannot be read as a file of document frequencies"),
        (foreign, "is no file of document frequencies of format 1. Make it anew"),
        (fingerprints, "is no file of document frequencies of format 1. Make it anew"),
        (lambda path: rewritten(path, frequencies=b"2"), "of format 1, but of format 2"),
        (lambda path: rewritten(path, documents=b"many"), "is no file of document frequencies"),
        (lambda path: rewritten(path, tokenization=b"{no"), "df.parquet is damaged: what it says of tokens"),
        (lambda path: rewritten(path, tokenization=b"\xff"), "df.parquet is damaged: what it says of tokens"),
        (lambda path: rewritten(path, documents=b"9"), "its content has another digest"),
        (lambda path: rewritten(path, documents=b"2"), "its rows are not what neardup fit writes"),
        (lambda path: rewritten(path, pq.read_table(path).slice(1)), "its content has another digest"),
        (lambda path: rewritten(path, pq.read_table(path).take([1, 0])), "its rows are not what neardup fit writes"),
    ],
)
def test_files_that_are_damaged_or_foreign_are_refused(tmp_path, damage, said):
    path = tmp_path / "df.parquet"
    nd.fit(CORPUS, path)
    damage(path)
    with pytest.raises(nd.DataError, match=said):
        nd.fingerprint(["red"], recipe=nd.Recipe(weights="tfidf", document_frequencies=path))
    with pytest.raises(nd.DataError, match=said):
        nd.fit([], tmp_path / "more.parquet", merge=[path])
    assert not (tmp_path / "more.parquet").exists()


def test_damage_within_the_rows_is_found(tmp_path):
    path = tmp_path / "df.parquet"
    nd.fit([f"word{number}" for number in range(3000)], path)
    content = bytearray(path.read_bytes())
    content[2000:2100] = bytes(100)
    path.write_bytes(content)
    with pytest.raises(nd.DataError, match="df.parquet is damaged"):
        nd.fingerprint(["red"], recipe=nd.Recipe(weights="tfidf", document_frequencies=path))


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: nd.fit(CORPUS, "df.json"), nd.InputError, "df.json: document frequencies are Parquet"),
        (lambda: nd.fit(CORPUS, "old.parquet"), nd.InputError, "old.parquet exists already"),
        (lambda: nd.fit("red", "df.parquet"), nd.OptionError, "texts is one str"),
        (lambda: nd.fit(CORPUS, "df.parquet", merge=["none.parquet"]), nd.InputError, "no file 'none.parquet'"),
        (lambda: nd.fit_files([], "df.parquet"), nd.InputError, "Give texts to count, or files"),
        (lambda: nd.fit(CORPUS, "df.parquet", memory="few"), nd.OptionError, "memory='few'"),
        (
            lambda: nd.fit(CORPUS, "df.parquet", recipe=nd.Recipe(weights="jieba_tfidf", segmenter="jieba")),
            nd.OptionError,
            "the package jieba finds the words",
        ),
        (
            lambda: nd.fit(CORPUS, "df.parquet", recipe=nd.RECIPES["leonsim"].recipe),
            nd.OptionError,
            "`profile='leonsim'`: that tool weighs features by their counts, without document frequencies",
        ),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, monkeypatch, call, error, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.parquet").write_text("old")
    with pytest.raises(error, match=said):
        call()
    assert [path.name for path in tmp_path.iterdir()] == ["old.parquet"]
