"""Frozen fingerprints: a release cannot change bits by accident."""

import json

import pytest

import neardup as nd
from places import GOLDEN, ROOT

NOTES = ROOT / "examples/notes.jsonl"
STORED = GOLDEN / "notes.json"


def fingerprints(recipe):
    rows = [json.loads(line) for line in NOTES.read_text(encoding="utf-8").splitlines()]
    values = nd.fingerprint([row["text"] for row in rows], recipe=recipe).reshape(len(rows), -1)
    return {
        row["id"]: "".join(f"{word:016x}" for word in words) for row, words in zip(rows, values.tolist(), strict=True)
    }


OF_PACKAGES = {name for name, named in nd.RECIPES.items() if named.recipe.segmenter == "cppjieba"}
"""Whose words depend on the version of a package, as their digests do."""


@pytest.mark.parametrize("name", sorted(set(nd.RECIPES) - OF_PACKAGES))
def test_named_recipes_give_the_fingerprints_that_they_gave(name):
    assert fingerprints(nd.RECIPES[name].recipe) == json.loads(STORED.read_text())[name]


def weighted_recipes(folder):
    """Recipes of weights that are a matter of no package, and of a corpus that is here."""
    texts = [json.loads(line)["text"] for line in NOTES.read_text(encoding="utf-8").splitlines()]
    counted = nd.fit(texts, folder / "df.parquet")
    return {
        f"tfidf by {counted.digest}": nd.Recipe(weights="tfidf", document_frequencies=counted, bits=64),
        "textrank": nd.Recipe(weights="textrank", bits=64),
        "ten keywords by textrank": nd.Recipe(weights="textrank", keywords=10, bits=64),
    }


def test_weights_give_the_fingerprints_that_they_gave(tmp_path):
    found = {name: fingerprints(recipe) for name, recipe in weighted_recipes(tmp_path).items()}
    assert found == json.loads(STORED.with_name("weights.json").read_text())
