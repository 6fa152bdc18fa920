"""Names and calls that people try in Python are answered in our words, by every public function."""

import asyncio
import contextlib
import inspect
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import neardup as nd
from neardup.options import OTHER_NAMES

FUNCTIONS = {name: getattr(nd, name) for name in nd.__all__ if inspect.isfunction(getattr(nd, name))}
OPEN = {
    name: each
    for name, each in {**FUNCTIONS, "Store": nd.Store, "Stream": nd.Stream}.items()
    if any(one.kind is one.VAR_KEYWORD for one in inspect.signature(each).parameters.values())
}
RESULT = nd.deduplicate(["a ferry", "a clock"])


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Deduplicate", "'deduplicate'"),
        ("SimHash", "'fingerprint'"),
        ("Simhash", "'fingerprint'"),
        ("MinHash", "'signatures'"),
        ("drop_duplicates", "'deduplicate'"),
        ("fingerprnt", "'fingerprint'"),
        ("dedupe", "'deduplicate'"),
        ("verify", "'verify_files'"),
        ("filter", "'filter_files'"),
        ("clusters", "'cluster_files'"),
        ("hamming_distance", "'distance'"),
        ("store", "'Store'"),
    ],
)
def test_a_name_of_other_tools_or_misspelled_is_answered_with_ours(name, meant):
    with pytest.raises(AttributeError, match=rf"no attribute '{name}'. Did you mean .*{meant}"):
        nd.__getattr__(name)


def test_other_names_are_not_public_ones_and_stand_for_those():
    assert set(nd._OTHER_NAMES.values()) <= set(nd.__all__)
    assert not set(nd._OTHER_NAMES) & set(nd.__all__)
    assert not hasattr(nd, "__wrapped__")
    with pytest.raises(AttributeError, match=r"no attribute 'qwertz'$"):
        nd.__getattr__("qwertz")


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
@pytest.mark.parametrize("wrong", [RESULT, 5, object()], ids=["result", "number", "object"])
def test_values_of_other_kinds_are_refused_in_our_words(name, wrong, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    needed = [each for each in inspect.signature(FUNCTIONS[name]).parameters.values() if each.default is each.empty]
    given = [wrong for each in needed if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    named = {each.name: wrong for each in needed if each.kind is each.KEYWORD_ONLY}
    with contextlib.suppress(nd.NeardupError):
        FUNCTIONS[name](*given, **named)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", sorted(OPEN))
def test_options_of_other_names_are_answered_with_ours(name):
    needed = [each for each in inspect.signature(OPEN[name]).parameters.values() if each.default is each.empty]
    texts = ["a"] if "_" not in name and name != "Store" else "x.parquet"
    given = [texts for each in needed if each.kind is each.POSITIONAL_OR_KEYWORD]
    named = {each.name: "x" for each in needed if each.kind is each.KEYWORD_ONLY}
    with pytest.raises(nd.OptionError, match="`qwertz`"):
        OPEN[name](*given, **named, qwertz=1)


def methods_of(kind):
    """The public methods of a class of ours, with those that it inherits."""
    bases = [base for base in kind.__mro__ if base.__module__.startswith("neardup.")]
    names = {name for base in bases for name in vars(base) if not name.startswith("_")}
    found = {name: inspect.getattr_static(kind, name) for name in sorted(names)}
    return [name for name, each in found.items() if inspect.isfunction(getattr(each, "__func__", each))]


CLASSES = {name: getattr(nd, name) for name in nd.__all__ if inspect.isclass(getattr(nd, name))}
METHODS = [
    (kind, name) for kind in CLASSES if not issubclass(CLASSES[kind], Exception) for name in methods_of(CLASSES[kind])
]


@pytest.mark.parametrize(("kind", "name"), METHODS)
def test_methods_answer_names_that_they_do_not_know_as_functions_do(kind, name):
    method = inspect.getattr_static(CLASSES[kind], name)
    takes = inspect.signature(getattr(CLASSES[kind], name)).parameters.values()
    is_open = any(each.kind is each.VAR_KEYWORD for each in takes)
    own = nd.DedupOptions() if is_open else object.__new__(CLASSES[kind])
    given = [own] if inspect.isfunction(method) else []
    called = kind if is_open else rf"{kind}\.{name}"
    with pytest.raises(nd.OptionError, match=rf"`qwertz`: {called}\(\) has no such option"):
        answer_of(getattr(CLASSES[kind], name)(*given, qwertz=1))


def answer_of(found):
    return asyncio.run(found) if inspect.iscoroutine(found) else found


def test_all_kinds_of_methods_are_tested():
    assert {
        ("Store", "check"),
        ("Client", "orphans"),
        ("AsyncClient", "close"),
        ("Stream", "add"),
        ("Store", "build"),
    } <= set(METHODS)
    assert len(METHODS) > 100


def test_methods_of_results_do_so_before_their_classes_are_named():
    code = (
        "import neardup as nd\nfound = nd.deduplicate(['a ferry', 'a clock'])\n"
        "try: found.summary.as_dict(qwertz=1)\nexcept nd.OptionError as problem: print(problem)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("`qwertz`: Summary.as_dict() has no such option. There are none.")


def test_every_name_of_other_tools_stands_for_an_option():
    with pytest.raises(nd.OptionError, match=r"`against`: match\(\) has no such option \(did you mean `other`\?\)"):
        nd.match(["a"], against=["b"])
    assert OTHER_NAMES["threshold"] == "min_similarity"


@pytest.mark.parametrize(
    "function", [nd.deduplicate, nd.match, nd.signatures, nd.evaluate, nd.decontaminate, nd.passages]
)
@pytest.mark.parametrize("given", ["x.csv", "in/a.jsonl.gz", Path("x.parquet")])
def test_a_path_in_place_of_texts_is_answered_with_what_reads_files(function, given):
    named = {"against": ["a"]} if function is nd.decontaminate else {}
    with pytest.raises(nd.OptionError, match="such as deduplicate_files"):
        function(given, **named)


@pytest.mark.parametrize("function", [nd.deduplicate, nd.match, nd.signatures, nd.fingerprint, nd.evaluate])
@pytest.mark.parametrize("text", [0, None, [1], ["text", ""], 1.5])
def test_names_of_columns_that_are_none_are_refused(function, text):
    with pytest.raises(nd.OptionError, match="give names of columns, such as text"):
        function(pd.DataFrame({"text": ["a", "b"]}), text=text)


def test_an_index_without_a_distance_is_answered_with_one():
    with pytest.raises(nd.OptionError, match=r"such as Index\(max_distance=3\)"):
        nd.Index()
