"""Recipes: what is refused, what the digest depends on, and what is named."""

import dataclasses

import pytest

import neardup as nd
from neardup.recipe import UNICODE, check_same, find_recipe
from neardup.text.unicode_tables import UNICODE_VERSION


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"bits": 0}, "bits=0: give an integer from 1 to 512"),
        ({"bits": 513}, "bits=513"),
        ({"bits": True}, "bits=True"),
        ({"bits": "64"}, "bits='64'"),
        ({"word_shingle": 0}, "word_shingle=0: give an integer from 1 to 64"),
        ({"cjk_shingle": 65}, "cjk_shingle=65"),
        ({"weights": "tfidf"}, "weights='tfidf': give one of uniform, tf, log, sqrt"),
        ({"hash": "md55"}, "hash='md55': give one of xxh3.*did you mean md5"),
        ({"min_tokens": 0}, "min_tokens=0"),
        ({"max_distance": 129}, "max_distance=129: give an integer from 0 to the number of bits"),
        ({"bits": 0, "weights": "x"}, "bits=0.*weights='x'"),
    ],
)
def test_recipes_that_are_not_possible_are_refused(fields, message):
    with pytest.raises(nd.OptionError, match=message):
        nd.Recipe(**fields)


def test_every_field_that_decides_bits_changes_the_digest():
    other = {
        "word_shingle": 2,
        "cjk_shingle": 3,
        "weights": "tf",
        "bits": 64,
        "min_tokens": 9,
        "hash": "md5",
        "keywords": 5,
    }
    for name, value in other.items():
        assert nd.Recipe(**{name: value}).digest() != nd.Recipe().digest(), name
    undecided = {"max_distance", "normalize", "segmenter"}  # no part of the digest; or there is one so far
    assert {field.name for field in dataclasses.fields(nd.Recipe)} == set(other) | undecided
    assert nd.Recipe(max_distance=3).digest() == nd.Recipe().digest()


def test_digests_of_named_recipes_are_frozen():
    """A changed digest means changed bits: stored fingerprints would no longer be comparable. Raise VERSION, and say so in CHANGELOG."""
    assert {name: named.recipe.digest() for name, named in nd.RECIPES.items()} == {
        "default": "149758eb4496a2d6",
        "default-64": "5d9c6844f5e11755",
        "textbook": "33c7a4508fd1c732",
    }


def test_the_recipe_names_the_unicode_version_of_the_tables():
    assert UNICODE == UNICODE_VERSION


def test_a_recipe_can_be_kept_in_a_toml_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('bits = 64\nweights = "tf"\nmax_distance = 3\n')
    assert find_recipe(str(path)) == nd.Recipe(bits=64, weights="tf", max_distance=3)
    path.write_text("bits = 64\n")
    assert find_recipe(str(path)).max_distance is None


def test_recipe_files_that_cannot_be_used_are_refused(tmp_path):
    path = tmp_path / "mine.toml"
    with pytest.raises(nd.OptionError, match="no recipe 'best'. Give one of default, default-64, textbook, or a file"):
        find_recipe("best")
    with pytest.raises(nd.InputError, match="no recipe file"):
        find_recipe(str(path))
    path.write_text("bits = [")
    with pytest.raises(nd.InputError, match="cannot be read"):
        find_recipe(str(path))
    path.write_text("colour = 3\n")
    with pytest.raises(nd.OptionError, match="a recipe has no colour. It has word_shingle"):
        find_recipe(str(path))


def test_a_recipe_without_a_distance_needs_one():
    with pytest.raises(nd.OptionError, match="has no distance of its own. Give max_distance"):
        nd.deduplicate(["a"], recipe=nd.Recipe(bits=96, max_distance=None), method="simhash")


def test_fingerprints_of_two_recipes_are_not_mixed():
    with pytest.raises(nd.RecipeMismatch, match="b.parquet was made by the recipe 2, not by 1"):
        check_same("1", "2", "b.parquet")
    check_same("1", "1", "b.parquet")
