"""Options of every public function and class: names that there are not, and values that nobody can mean, are refused in our words."""

import contextlib
import inspect
import pickle

import pytest

import neardup as nd
from neardup.options import _taken_together
from numbers_given import UNPRINTED


class Odd:
    """What no option takes."""


VALUES = [*UNPRINTED, Odd(), [Odd()], {"a": Odd()}, b"\xff", "\ud800", "\0", 2**31, 2**53, 2**63, -(2**63) - 1]
FILES = ("report", "plan_files", "build_index", "query_index", "remove_from_index", "add_to_index", "Store", "Stream")
GIVEN = {
    "output": "out.jsonl", "recipe": "x", "text": ["a b c", "d e f"], "name": "x", "version": "1", "dimension": 8,
    "vector": "v", "max_distance": 3, "function": str.split, "bits": 64,
}  # fmt: skip


def _calls():
    """Names of functions and classes that callers call, each with what is called and its parameters."""
    for name in nd.__all__:
        called = getattr(nd, name)
        is_class = isinstance(called, type)
        if not callable(called) or (is_class and (issubclass(called, (Exception, tuple)) or "Result" in name)):
            continue
        yield name, called, list(inspect.signature(called).parameters.values())


CALLS = {name: (called, parameters) for name, called, parameters in _calls()}


def _needed(name, parameters):
    file = "x.jsonl" if "_files" in name or name in FILES else ["a ferry", "a clock"]
    found = {
        each.name: GIVEN.get(each.name, file)
        for each in parameters
        if each.default is each.empty and each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
    }
    return found | {"fit_files": {"output": "out.parquet"}, "Index": {"max_distance": 3}}.get(name, {})


def _options(called, parameters):
    named = [each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    return [*named, *_taken_together(called.__init__ if isinstance(called, type) else called)]


@pytest.mark.parametrize("name", sorted(CALLS))
def test_no_value_of_an_option_raises_an_error_of_python(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.jsonl").write_text('{"id": 1, "text": "a ferry leaves at nine"}\n', encoding="utf-8")
    called, parameters = CALLS[name]
    for option in _options(called, parameters):
        for value in VALUES:
            with contextlib.suppress(nd.NeardupError):
                try:
                    called(**{**_needed(name, parameters), option: value})
                except Exception as problem:
                    if isinstance(problem, nd.NeardupError):
                        raise
                    pytest.fail(
                        f"{name}({option}={type(value).__name__}): {type(problem).__name__}: {str(problem)[:200]}"
                    )


@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_keyword_that_there_is_not_is_answered_by_every_function_and_class(name):
    called, parameters = CALLS[name]
    with pytest.raises(nd.OptionError, match="`qwertzuiop[`=]"):
        called(**_needed(name, parameters), qwertzuiop=1)
    options = _options(called, parameters)
    if (longest := max(options, key=len, default="")) and len(longest) > 5:
        misspelled = longest[:-2] + longest[-1]
        with pytest.raises(
            nd.OptionError, match="did you mean|has no such option; it|no exact method has such options"
        ):
            called(**_needed(name, parameters), **{misspelled: 1})


def test_functions_stay_what_they_are():
    from neardup import dedup

    assert nd.deduplicate is nd.deduplicate is dedup.deduplicate
    assert pickle.loads(pickle.dumps(nd.fingerprint)) is nd.fingerprint
    assert nd.deduplicate.__module__ == "neardup.dedup"
    with pytest.raises(TypeError, match="missing 1 required"):
        nd.distance(1)
    with pytest.raises(nd.OptionError, match=r"An integer of about 5,000 digits was given. Give one that fits 64 bits"):
        nd.deduplicate(["a"], method=10**5000)
    with pytest.raises(ValueError, match="mine") as raised:
        nd.deduplicate(iter([]), progress=lambda _: (_ for _ in ()).throw(ValueError("mine")))
    assert not isinstance(raised.value, nd.OptionError)


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (lambda: nd.deduplicate(["a"], keep="First"), "first"),
        (lambda: nd.deduplicate(["a"], keep="MAX:score"), "max:score"),
        (lambda: nd.deduplicate(["a"], keep="newest"), "last"),
        (lambda: nd.deduplicate(["a"], keep="max:n", keep_as="Number"), "number"),
        (lambda: nd.deduplicate(["a"], method="Exact"), "exact"),
        (lambda: nd.deduplicate(["a"], cluster="Star"), "star"),
        (lambda: nd.deduplicate_units(["a"], unit="Lines"), "line"),
        (lambda: nd.passages(["a"], scope="same_document"), "same-document"),
        (lambda: nd.Store("none", keep="Max:score"), "max:score"),
        (lambda: nd.Store("none", mode="R"), "r"),
        (lambda: nd.signatures(["a"], kind="Permutations"), "permutations"),
        (lambda: nd.Index(max_distance=3, method="Scan"), "scan"),
        (lambda: nd.deduplicate_files("x.jsonl", "y.jsonl", on_error="Skip"), "skip"),
        (lambda: nd.deduplicate_files("x.jsonl", "y.jsonl", html="Main"), "main"),
    ],
)
def test_the_name_that_is_meant_is_suggested_for_every_option_that_has_names(call, meant, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.jsonl").write_text('{"text": "a"}\n', encoding="utf-8")
    with pytest.raises(nd.OptionError) as caught:
        call()
    assert f"(did you mean {meant}?)" in str(caught.value)


@pytest.mark.parametrize("number", [10**400, "9" * 5000])
@pytest.mark.parametrize("option", ["min_similarity", "keep", "threads", "memory", "max_distance", "recipe"])
def test_numbers_of_very_many_digits_are_shortened_in_every_message(option, number):
    with pytest.raises(nd.NeardupError) as caught:
        nd.deduplicate(["a"], **{option: number})
    shown = str(number)
    assert f"{shown[:20]}… ({len(shown)} digits)" in str(caught.value)
    assert shown[:21] not in str(caught.value)
