"""What `deduplicate` takes is taken on Spark, or refused there by name with what to do instead."""

import inspect

import pytest

import neardup as nd
from neardup import spark as on_spark
from neardup.engines.spark import job
from neardup.options import DedupOptionsDict

TAKEN = {
    "parameters": {"text", "id", "against", "recipe"},
    "options": {"method", "min_similarity", "similarity", "max_distance", "keep", "cluster", "within"},
    "of Spark alone": {"order", "work"},
}
BY_VALUE = {"prefer_source"}
"""Refused if they are given, by what they hold."""


def keywords(function):
    return {each.name for each in inspect.signature(function).parameters.values() if each.kind is each.KEYWORD_ONLY}


def test_every_option_of_deduplicate_is_taken_or_refused():
    every = keywords(nd.deduplicate) | set(DedupOptionsDict.__annotations__)
    refused = set(job.NOT_TAKEN) - {"unit"}  # of the command, and of `deduplicate_units`
    assert every == TAKEN["parameters"] | TAKEN["options"] | refused | BY_VALUE
    assert keywords(on_spark.deduplicate) == TAKEN["parameters"] | TAKEN["of Spark alone"]


@pytest.mark.parametrize("name", job.NOT_TAKEN)
@pytest.mark.parametrize("function", [on_spark.deduplicate, on_spark.clusters, on_spark.pairs])
def test_what_is_not_taken_is_refused_by_name(name, function):
    with pytest.raises(nd.OptionError) as refused:
        function(None, **{name: "x"})
    assert str(refused.value) == f"On Spark, `{name}` is not taken. {job.NOT_TAKEN[name]}"


@pytest.mark.parametrize("options", [{"keep": len}, {"within": len}, {"prefer_source": "web"}])
def test_functions_and_sources_are_refused_before_any_work(options):
    with pytest.raises(nd.OptionError, match="On Spark, `"):
        on_spark.deduplicate(None, **options)


def test_texts_of_several_columns_are_refused():
    with pytest.raises(nd.OptionError, match=r"`text=\['a', 'b'\]`: on Spark, texts are in one column"):
        on_spark.deduplicate(None, text=["a", "b"])
