"""Texts in which no feature votes have one fingerprint, which says nothing: no command takes them for duplicates by distance."""

import json
from pathlib import Path

import pytest
from cli_corpora import lines

import neardup as nd
from engine_runs import run_of_engine
from neardup.recipe.presets import recipe_of

RECIPES = ("cppjieba", "fnv1a", "go-fnv1a", "jieba_tfidf.toml")
JIEBA_TFIDF = 'segmenter = "jieba"\nweights = "jieba_tfidf"\nbits = 64\nmin_tokens = 1\nmax_distance = 3\n'
TEXTS = ["我爱他", "你在吗", "你在吗", "…"]
"""One-character words, which these recipes leave out; the third is a copy of the second."""
ROWS = [{"id": str(row), "text": text} for row, text in enumerate(TEXTS)]

pytestmark = pytest.mark.parametrize("name", RECIPES)


@pytest.fixture
def recipe(name, place):
    """The recipe's name; `in.jsonl` has the texts."""
    pytest.importorskip("jieba")
    (place.work / "in.jsonl").write_bytes(lines(ROWS))
    (place.work / "jieba_tfidf.toml").write_text(JIEBA_TFIDF)
    return name


def test_python_finds_no_duplicates_but_copies(name, recipe):
    found = nd.deduplicate(TEXTS, recipe=recipe, min_similarity=0)
    assert list(found.survivors) == [TEXTS[0], TEXTS[1], TEXTS[3]]
    assert found.summary.short == 4
    pairs = nd.match(TEXTS, recipe=recipe, min_similarity=0)
    assert list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)) == [(1, 2)]


def test_a_similarity_still_finds_all_that_reach_it(name, recipe):
    found = nd.match(
        ["我爱他吗你在", "我爱他吗你在！", "我爱他吗你"], recipe=recipe, min_similarity=0.5, method="exact"
    )
    assert list(zip(found.left.tolist(), found.right.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 2)]


def test_commands_and_stages_find_no_duplicates_but_copies(name, recipe, run):
    chosen = ("--recipe", recipe, "--quiet")
    by_distance = ("--min-similarity", "0")
    calls = [
        ("dedup", "in.jsonl", "-o", "out.jsonl", *by_distance, *chosen),
        ("verify", "out.jsonl", "--quiet"),
        ("fingerprint", "in.jsonl", "-o", "prints.parquet", *chosen),
        ("pairs", "prints.parquet", "-o", "pairs.parquet", "--quiet"),
        ("clusters", "pairs.parquet", "--documents", "prints.parquet", "-o", "clusters.parquet", "--quiet"),
        ("apply", "clusters.parquet", "in.jsonl", "-o", "applied.jsonl", "--quiet"),
        ("filter", "in.jsonl", "--create", "--index", "ix", "-o", "filtered.jsonl", *chosen),
        ("store", "create", "s", "--method", "simhash", *by_distance, *chosen[:2]),
        ("store", "add", "s", "in.jsonl", "-o", "added.jsonl", "--quiet"),
    ]
    for call in calls:
        run(*call).ok()
    kept = {name: [json.loads(line)["id"] for line in Path(name).read_text("utf-8").splitlines()]
            for name in ("out.jsonl", "applied.jsonl", "filtered.jsonl")}  # fmt: skip
    assert set(map(tuple, kept.values())) == {("0", "1", "3")}
    assert [json.loads(line)["is_new"] for line in Path("added.jsonl").read_text("utf-8").splitlines()] == [
        True,
        True,
        False,
        True,
    ]


def test_engines_find_no_duplicates_but_copies(name, recipe):
    removed = run_of_engine(ROWS, None, recipe_of(recipe), {"min_similarity": 0.0, "method": "simhash"})
    assert [row[0] for row in removed] == [2]


def test_compare_and_explain_say_why(name, recipe, run):
    compared = run("compare", "--recipe", recipe, "--min-similarity", "0", "--text", *TEXTS[:2]).out.decode()
    assert compared.startswith("no match one of the two has no features, so only equal texts match")
    assert run("dedup", "in.jsonl", "-o", "out.jsonl", "--min-similarity", "0", "--recipe", recipe, "--quiet").code == 0
    assert (
        "one of the two has no features, so only equal texts match"
        in run("explain", "out.duplicates.jsonl", "0").out.decode()
    )
