"""What `deduplicate` takes is taken on every engine, or refused there by name with what to do instead. No cluster is needed."""

import inspect

import pytest

import neardup as nd
from neardup import ray, spark
from neardup.engines.ray.job import NOT_TAKEN as NOT_ON_RAY
from neardup.engines.ray.job import RayJob
from neardup.engines.spark.job import NOT_TAKEN as NOT_ON_SPARK
from neardup.engines.spark.job import SparkJob
from neardup.options import DedupOptionsDict

TAKEN = {
    "parameters": {"text", "id", "against", "recipe"},
    "options": {"method", "min_similarity", "similarity", "max_distance", "keep", "cluster", "within"},
    "of engines alone": {"order", "work"},
}
BY_VALUE = {"prefer_source"}
"""Refused if they are given, by what they hold."""
FUNCTIONS = ("deduplicate", "plan", "filter_new", "clusters", "pairs", "fingerprint")


def keywords(function):
    return [each.name for each in inspect.signature(function).parameters.values() if each.kind is each.KEYWORD_ONLY]


@pytest.fixture(params=[(spark, SparkJob), (ray, RayJob)], ids=["spark", "ray"])
def engine(request):
    """The functions of an engine, and what its messages call it."""
    functions, job = request.param
    return functions, job.words


def test_every_option_of_deduplicate_is_taken_or_refused(engine):
    functions, words = engine
    every = set(keywords(nd.deduplicate)) | set(DedupOptionsDict.__annotations__)
    refused = set(words.not_taken) - {"unit"}  # of the command, and of `deduplicate_units`
    assert every == TAKEN["parameters"] | TAKEN["options"] | refused | BY_VALUE
    assert set(keywords(functions.deduplicate)) == TAKEN["parameters"] | TAKEN["of engines alone"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_engines_take_the_same(name):
    assert keywords(getattr(ray, name)) == keywords(getattr(spark, name))
    assert NOT_ON_RAY.keys() == NOT_ON_SPARK.keys()


@pytest.mark.parametrize("name", NOT_ON_SPARK)
@pytest.mark.parametrize("function", ["deduplicate", "clusters", "pairs"])
def test_what_is_not_taken_is_refused_by_name(engine, name, function):
    functions, words = engine
    with pytest.raises(nd.OptionError) as refused:
        getattr(functions, function)(None, **{name: "x"})
    assert str(refused.value) == f"On {words.engine}, `{name}` is not taken. {words.not_taken[name]}"


@pytest.mark.parametrize("options", [{"keep": len}, {"within": len}, {"prefer_source": "web"}])
def test_functions_and_sources_are_refused_before_any_work(engine, options):
    functions, words = engine
    with pytest.raises(nd.OptionError, match=f"On {words.engine}, `"):
        functions.deduplicate(None, **options)


def test_texts_of_several_columns_are_refused(engine):
    functions, words = engine
    message = rf"`text=\['a', 'b'\]`: on {words.engine}, texts are in one column. Join several"
    with pytest.raises(nd.OptionError, match=message):
        functions.deduplicate(None, text=["a", "b"])
