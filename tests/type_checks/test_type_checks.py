"""What editors and type checkers say of code that uses the package; and that their types are those of the tables and dataclasses."""

import dataclasses
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Unpack, get_args, get_type_hints

import pytest

import neardup as nd
from neardup import dedup, options
from neardup.fingerprints import minhash
from neardup.hamming.index.methods import table as index_methods
from neardup.io.corpora import reading
from neardup.recipe import presets, vectors
from neardup.recipe.files import word_lists
from neardup.recipe.presets import RecipeLike
from neardup.recipe.tables import hashes, keeps, methods, parts, profiles, segmenters, similarities
from neardup.resources import resources
from neardup.survivors.repeats import options as passage_options
from neardup.survivors.repeats.records import passages as records

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent
CODE = FOLDER / "user_code.py"


def expected():
    """The numbers of the lines that must be reported."""
    lines = CODE.read_text(encoding="utf-8").splitlines()
    return [number for number, line in enumerate(lines, 1) if line.endswith("# error")]


def said(found):
    """What a checker said by line, with the line itself: readable where it is not what was expected."""
    lines = CODE.read_text(encoding="utf-8").splitlines()
    return {f"{number}: {lines[number - 1]}": " | ".join(found[number]) for number in sorted(found)}


def demand_as_marked(found):
    marked = set(expected())
    assert said({number: messages for number, messages in found.items() if number not in marked}) == {}
    assert [number for number in expected() if number not in found] == []


def test_mypy_reports_the_marked_lines_and_no_others():
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary", "--hide-error-context"),
            *("--disable-error-code=import-untyped", "--cache-dir", ROOT / ".mypy_cache/user_code", CODE),
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 1, done.stderr
    found = {}
    for number, message in re.findall(r"^[^:\n]*user_code\.py:(\d+): error: (.*)$", done.stdout, re.MULTILINE):
        found.setdefault(int(number), []).append(message)
    demand_as_marked(found)


def test_pyright_reports_the_marked_lines_and_no_others(tmp_path):
    settings = {
        "include": [str(CODE)],
        "extraPaths": [str(ROOT / "src")],  # the package of this tree, whichever is installed
        "typeCheckingMode": "standard",
        "pythonVersion": "3.11",
        "reportMissingTypeStubs": False,
        "reportMissingModuleSource": False,
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "basedpyright",
        "--project",
        tmp_path,
        "--pythonpath",
        sys.executable,
        "--outputjson",
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    try:
        reported = json.loads(done.stdout)["generalDiagnostics"]
    except ValueError:
        pytest.skip(f"pyright does not run here: {(done.stderr or done.stdout)[-200:]}")
    found = {}
    for each in reported:
        if each["severity"] == "error":
            found.setdefault(each["range"]["start"]["line"] + 1, []).append(each["message"])
    demand_as_marked(found)


# ------------------------------------------------------------------------------------------------------------------ one truth


@pytest.mark.parametrize(
    ("dictionary", "kind"),
    [
        (options.DedupOptionsDict, options.DedupOptions),
        (reading.ReadingDict, reading.Reading),
        (resources.ResourceOptions, resources.Resources),
        (passage_options.PassageOptionsDict, passage_options.PassageOptions),
    ],
)
def test_a_dictionary_has_the_names_and_types_of_the_fields(dictionary, kind):
    fields = {field.name for field in dataclasses.fields(kind)}
    fields -= {"use", "files"}  # no option: what Resources were used for so far
    assert get_type_hints(dictionary) == {name: hint for name, hint in get_type_hints(kind).items() if name in fields}
    assert dictionary.__required_keys__ == frozenset()
    assert all(field.default is not dataclasses.MISSING for field in dataclasses.fields(kind) if field.name in fields)


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        (methods.Method, methods.METHODS),
        (methods.MeasuredMethod, [name for name in methods.METHODS if name != "auto"]),
        (methods.MeasuredMethod, methods.MEASURED),
        (similarities.SimilarityName, similarities.SIMILARITIES),
        (options.Cluster, options.CLUSTERS),
        (get_args(keeps.Keep)[0], [name for name in keeps.KEEPS if ":" not in name]),
        (options.Unit, options.UNITS),
        (options.RemovableUnit, [name for name in options.UNITS if name != "document"]),
        (passage_options.Scope, passage_options.SCOPES),
        (passage_options.Align, passage_options.ALIGNS),
        (index_methods.IndexMethod, ["auto", *index_methods.METHODS]),
        (reading.Html, reading.HTML),
        (minhash.SignatureKind, minhash.KINDS),
        (vectors.VectorMethod, vectors.METHODS),
        (hashes.NativeHash, hashes.HASH_ROWS),
        (parts.HashName, parts.HASHES),
        (parts.WeightName, parts.WEIGHTS),
        (parts.NormalizerName, parts.NORMALIZERS),
        (segmenters.SegmenterName, segmenters.SEGMENTERS),
        (segmenters.SegmenterMode, [mode for modes in segmenters.MODES.values() for mode in modes]),
        (profiles.ProfileName, profiles.PROFILES),
        (presets.RecipeName, presets.RECIPES),
        (word_lists.StopListName, word_lists.STOP_LISTS),
        (word_lists.DictionaryName, word_lists.USER_DICTIONARIES),
    ],
)
def test_a_choice_is_of_the_names_of_its_table(choice, names):
    assert set(get_args(choice)) == set(names)


def test_options_of_an_index_are_those_of_its_methods():
    known = {option.name for method in index_methods.METHODS.values() for option in method.options}
    assert set(get_type_hints(options.IndexOptions)) == known


@pytest.mark.parametrize(
    ("function", "named", "every"),
    [
        (nd.deduplicate, options.DedupOptionsDict, dedup.DeduplicateOptions),
        (nd.passages, passage_options.PassageOptionsDict, records.PassagesOptions),
    ],
)
def test_the_overloads_of_a_function_take_what_it_takes(function, named, every):
    parameters = dict(inspect.signature(function).parameters)
    del parameters["data"]
    assert parameters.pop("options").annotation == Unpack[named]
    known = get_type_hints(every)
    own = {name: known[name] for name in known if name not in get_type_hints(named)}
    assert own == {name: each.annotation for name, each in parameters.items()}
    read = {name: each.default for name, each in parameters.items() if name in reading.READING}
    assert reading.Reading(**read) == reading.Reading()


FUNCTIONS = [name for name in nd.__all__ if inspect.isfunction(getattr(nd, name)) or name in ("Index", "Stream")]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_options_are_named_and_recipes_taken_in_every_form(name):
    parameters = inspect.signature(getattr(nd, name)).parameters
    for each in parameters.values():
        if each.kind is inspect.Parameter.VAR_KEYWORD:
            assert Unpack[get_args(each.annotation)[0]] == each.annotation
    if "recipe" in parameters:
        assert set(get_args(RecipeLike)) < set(get_args(parameters["recipe"].annotation))


CALLS = {
    "match": (lambda given: nd.match(["a"], **given), ("keep", "cluster", "prefer_source")),
    "pair_files": (lambda given: nd.pair_files("a", "b", **given), ("keep", "cluster", "prefer_source", "within")),
    "cluster_files": (
        lambda given: nd.cluster_files("a", "b", documents="c", **given),
        ("method", "min_similarity", "similarity", "max_distance", "threads", "memory", "temp_dir", "temp_limit"),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_options_that_a_function_has_no_use_for_are_refused_and_not_in_its_dictionary(name):
    call, unused = CALLS[name]
    dictionary = get_args(inspect.signature(getattr(nd, name)).parameters["options"].annotation)[0]
    assert not set(unused) & set(get_type_hints(dictionary))
    for each in unused:
        with pytest.raises(nd.OptionError, match=each):
            call({each: "1"})
