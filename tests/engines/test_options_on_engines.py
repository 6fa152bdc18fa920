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
from neardup.survivors.repeats.options import PassageOptionsDict

TAKEN = {
    "parameters": {"text", "id", "against", "recipe"},
    "options": {
        "method",
        "min_similarity",
        "similarity",
        "max_distance",
        "guard",
        "keep",
        "keep_as",
        "cluster",
        "within",
    },
    "of engines alone": {"order", "work"},
}
BY_VALUE = {"prefer_source"}
"""Refused if they are given, by what they hold."""
FUNCTIONS = ("deduplicate", "plan", "filter_new", "clusters", "pairs", "passages", "fingerprint")


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


OF_PASSAGES = {"min_tokens", "scope", "align", "min_left", "similarity", "keep", "keep_as", "within"}


@pytest.mark.parametrize("name", sorted(set(PassageOptionsDict.__annotations__) - OF_PASSAGES - BY_VALUE))
def test_what_is_not_taken_for_passages_is_refused_by_name(engine, name):
    functions, words = engine
    with pytest.raises(nd.OptionError) as refused:
        functions.passages(None, **{name: "x"})
    assert str(refused.value) == f"On {words.engine}, `{name}` is not taken. {words.not_taken[name]}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": len}, "functions are not taken"),
        ({"prefer_source": "web"}, "`prefer_source` is not taken"),
        ({"text": ["a", "b"]}, "texts are in one column. Join several"),
        ({"min_tokens": 1}, "`min_tokens=1`: give an integer from 2"),
        ({"unit": "line"}, r"`unit`: passages\(\) has no such option"),
        ({"method": "exact"}, r"`method`: passages\(\) has no such option"),
    ],
)
def test_what_cannot_be_for_passages_is_refused_before_any_work(engine, options, message):
    functions, _ = engine
    with pytest.raises(nd.OptionError, match=message):
        functions.passages(None, **options)


def test_texts_of_several_columns_are_refused(engine):
    functions, words = engine
    message = rf"`text=\['a', 'b'\]`: on {words.engine}, texts are in one column. Join several"
    with pytest.raises(nd.OptionError, match=message):
        functions.deduplicate(None, text=["a", "b"])
