"""What a recipe decides in a run over texts: by the rule, told at once, and in the summary."""

import itertools
import json

import pytest

import neardup as nd
from guards import not_empty
from neardup.matching.resolved_options import resolve, what_recipe_decides
from neardup.options import DedupOptions
from neardup.recipe.presets import RECIPES

LONG = "the quick brown fox jumps over the lazy dog while the cat sleeps in the warm sun near the old garden wall"
TEXTS = [
    LONG,
    LONG + " today",
    LONG.replace("cat", "bird"),
    "nothing of this kind is written here, only words about the sea and ships",
]


def told(**options):
    """What a run tells, and its summary."""
    events = []
    result = nd.deduplicate(TEXTS, progress=lambda event: events.append(getattr(event, "message", None)), **options)
    return [line for line in events if line], result.summary


def test_a_recipe_with_a_distance_means_simhash_within_it():
    lines, summary = told(recipe="textbook")
    assert (summary.method, summary.max_distance) == ("simhash", 3)
    assert "the recipe brings the distance 3" in lines[0]
    assert summary.recipe_decides == lines[0]
    assert summary.as_dict()["recipe_decides"] == lines[0]


@pytest.mark.parametrize("similarity", ["jaccard", "cosine", "containment"])
def test_its_candidates_are_verified_as_ever(similarity):
    recipe = nd.Recipe(word_shingle=1, bits=64, weights="tf", max_distance=64)
    by_rule = nd.deduplicate(TEXTS, recipe=recipe, similarity=similarity)
    asked = nd.deduplicate(TEXTS, recipe=recipe, similarity=similarity, method="simhash", max_distance=64)
    assert by_rule.kept.tolist() == asked.kept.tolist()
    assert by_rule.summary.candidates == asked.summary.candidates > 0


def test_without_verification_the_distance_alone_decides():
    lines, summary = told(recipe="textbook", min_similarity=0)
    assert (summary.method, summary.max_distance, summary.recipe_decides, lines) == ("simhash", 3, None, [])


def test_the_default_recipe_decides_as_if_none_was_named():
    for recipe in (None, "default", nd.Recipe(), nd.Recipe(max_distance=18)):
        lines, summary = told(recipe=recipe)
        assert summary.method == "exact"
        assert summary.recipe_decides is None
        assert not any("recipe" in line for line in lines)
        assert "recipe_decides" not in summary.as_dict()


@pytest.mark.parametrize("recipe", [nd.Recipe(max_distance=5), nd.Recipe(max_distance=3, bits=128)], ids=str)
def test_a_recipe_that_only_sets_a_distance_decides_by_it(recipe):
    lines, summary = told(recipe=recipe)
    assert (summary.method, summary.max_distance) == ("simhash", recipe.max_distance)
    assert f"the recipe brings the distance {recipe.max_distance}," in lines[0]
    assert summary.recipe_decides == lines[0]
    exact = told(recipe=recipe, method="exact")
    assert "the recipe's `max_distance` decides nothing here: texts are compared by jaccard" in exact[0][0]
    minhash = told(recipe=recipe, method="minhash")
    assert "the recipe's `max_distance` decides nothing here: texts are compared by jaccard" in minhash[0][0]


def test_a_distance_decides_for_given_sets_as_well():
    sets = [set(text.split()) for text in TEXTS]
    assert nd.deduplicate(sets, recipe=nd.Recipe(max_distance=5)).summary.max_distance == 5
    assert nd.deduplicate(sets).summary.max_distance is None


def test_what_decides_nothing_is_named():
    recipe = nd.Recipe(bits=32, hash="fnv1a_32", word_shingle=2)
    assert (
        "`word_shingle`, `hash`, `bits` decide nothing here, except in the sieve of minhash"
        in told(recipe=recipe)[0][0]
    )
    exact = told(recipe="textbook", method="exact")[1].recipe_decides
    assert exact is not None
    assert (
        "`word_shingle`, `cjk_shingle`, `weights`, `bits` decide nothing here: texts are compared by jaccard" in exact
    )
    cosine = told(recipe="textbook", method="exact", similarity="cosine")[1].recipe_decides
    assert cosine is not None
    assert "the recipe's `bits` decides nothing here: texts are compared by cosine" in cosine


def test_normalizers_decide_in_every_method():
    recipe = nd.Recipe(normalize=("digits", "nfkc_casefold"))
    summary = told(recipe=recipe)[1]
    assert (summary.method, summary.recipe_decides) == ("exact", None)


def test_every_named_recipe_and_method_decides_or_tells():
    for named, method, least in not_empty(
        itertools.product(RECIPES.values(), ("auto", "exact", "minhash", "simhash"), (0.8, 0))
    ):
        if least == 0 and method in ("exact", "minhash"):
            continue  # refused
        options = DedupOptions(method=method, min_similarity=least)
        taken = resolve(named.recipe, options).options.taken()
        default = named in [RECIPES[name] for name in ("default", "all-scripts", "unmarked")]
        assert taken == (method if method != "auto" else "auto" if default and least else "simhash")
        silent = what_recipe_decides(named.recipe, options) is None
        assert silent == (default or method == "simhash" or least == 0)


def test_pairs_and_matches_follow_the_rule(tmp_path):
    texts = tmp_path / "texts.jsonl"
    texts.write_text("".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(TEXTS)))
    said = []
    nd.pair_files(texts, tmp_path / "pairs.jsonl", recipe="textbook", progress=lambda event: said.append(str(event)))
    summary = json.loads((tmp_path / "pairs.jsonl.summary.json").read_text())
    assert (summary["method"], summary["max_distance"]) == ("simhash", 3)
    assert "the recipe brings the distance 3" in summary["recipe_decides"]
    assert any("the recipe brings the distance 3" in line for line in said)
    near = nd.match(TEXTS, recipe=nd.Recipe(word_shingle=2, bits=64, max_distance=0))
    assert near.left.tolist() == []
    assert len(nd.match(TEXTS, recipe=nd.Recipe(word_shingle=2, bits=64, max_distance=0), method="exact").left) == 1


def test_a_plan_and_an_estimate_are_of_the_method_that_is_taken(tmp_path):
    texts = tmp_path / "texts.jsonl"
    texts.write_text("".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(TEXTS)))
    plan = nd.plan_files(texts, recipe="textbook")
    assert plan.method == "simhash"
    assert plan.fingerprints is not None
    assert "the recipe brings the distance 3" in plan.reason
    assert nd.estimate_files(texts, recipe="textbook").method == "simhash"
    assert nd.plan_files(texts).method in ("exact", "minhash")
