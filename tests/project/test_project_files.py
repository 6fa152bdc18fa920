"""The files that a public project has agree with pyproject.toml and with one another."""

import hashlib
import importlib.util
import re
import tomllib

import pytest
import yaml

import neardup
from durations import SLOW, is_in_share, listed_after, share_of, slow_of
from guards import not_empty
from places import ROOT

with (ROOT / "pyproject.toml").open("rb") as file:
    PROJECT = tomllib.load(file)["project"]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
PYTHONS = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
APACHE = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
"""SHA-256 of the text of the Apache License 2.0, as its foundation publishes it."""


def read(path):
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def lowest_dependencies():
    spec = importlib.util.spec_from_file_location("lowest_dependencies", ROOT / "tools/lowest_dependencies.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made.lowest


def test_the_license_is_the_unchanged_apache_license():
    assert PROJECT["license"] == "Apache-2.0"
    assert PROJECT["license-files"] == ["LICENSE"]
    assert hashlib.sha256((ROOT / "LICENSE").read_bytes()).hexdigest() == APACHE


def test_the_citation_is_of_this_version():
    cited = read("CITATION.cff")
    assert cited["cff-version"] == "1.2.0"
    assert cited["type"] == "software"
    assert cited["message"]
    assert (cited["title"], cited["version"], cited["license"]) == (
        PROJECT["name"],
        neardup.__version__,
        PROJECT["license"],
    )
    assert cited["authors"] == PROJECT["authors"]
    assert cited["keywords"] == PROJECT["keywords"]


def test_the_page_on_citing_is_of_this_version_and_has_an_entry_for_each_paper():
    page = (ROOT / "docs/citing.md").read_text(encoding="utf-8")
    assert f"version = {{{read('CITATION.cff')['version']}}}" in page
    listed = page[page.index("## The papers") : page.index("```bibtex\n@inproceedings")]
    links = re.findall(r"\]\(https?://(?:doi\.org/)?([^)]+)\)", listed)
    assert links
    for link in links:
        assert f"{{{link}}}" in page or f"{{http://{link}}}" in page, link


def test_a_released_version_is_in_the_changelog_with_the_day_of_the_citation():
    released = re.findall(
        r"^## \[(\d[^\]]*)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    day = read("CITATION.cff").get("date-released")
    assert (neardup.__version__, str(day)) in released if day else neardup.__version__ not in dict(released)


def test_the_extra_all_has_every_other_extra_but_the_compiler_the_largest_and_those_for_other_tools():
    others = {"duckdb", "haystack", "langchain", "llama-index", "mcp", "polars", "sklearn"}
    extras = PROJECT["optional-dependencies"]
    [requirement] = extras["all"]
    name, *listed = re.findall(r"\w+", requirement)
    assert (name, sorted(listed)) == ("neardup", sorted(set(extras) - {"all", "icu", "jit", "ray", "spark"} - others))


def test_every_python_of_the_classifiers_is_tested_and_installed_to():
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    tests, wheels = read(".github/workflows/tests.yml")["jobs"], read(".github/workflows/wheels.yml")["jobs"]
    [of_everything] = [step["with"] for step in tests["everything"]["steps"] if "setup-python" in step.get("uses", "")]
    assert [of_everything["python-version"], *tests["tests"]["strategy"]["matrix"]["python"]] == PYTHONS
    installed = wheels["install"]["strategy"]["matrix"]
    assert sorted({*installed["python"], *(each["python"] for each in installed["include"])}) == PYTHONS


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_may_read_and_only_publishing_may_more(path):
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    more = {name: job["permissions"] for name, job in workflow["jobs"].items() if "permissions" in job}
    assert more == ({"publish": {"id-token": "write"}} if path.name == "release.yml" else {})
    assert "secrets." not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_to_a_major_version(path):
    for used in not_empty(re.findall(r"uses: (\S+)", path.read_text(encoding="utf-8"))):
        assert re.fullmatch(r"\S+@(v\d+|release/v\d+)", used) or (ROOT / used).is_file(), used


@pytest.mark.parametrize(
    "path", [*WORKFLOWS, ROOT / "docs/releasing.md", ROOT / "CONTRIBUTING.md"], ids=lambda p: p.name
)
def test_targets_that_are_named_exist(path):
    made = {*re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)}
    for targets in re.findall(
        r"(?:run: |`|^)make ([a-z-]+(?: [a-z-]+)*)", path.read_text(encoding="utf-8"), re.MULTILINE
    ):
        assert set(targets.split()) <= made, targets


def test_the_lowest_versions_are_those_that_each_dependency_states():
    project = {
        "name": "p",
        "dependencies": ["one>=1.2", "two[x]>=3,<4  # so"],
        "optional-dependencies": {"a": ["three>=20240409"], "all": ["p[a]"], "b": ["four"]},
    }
    lowest = lowest_dependencies()
    assert list(lowest(project, ["all"])) == ["one==1.2", "two==3", "three==20240409"]
    with pytest.raises(ValueError, match="'four' has no lower bound"):
        list(lowest(project, ["b"]))


def test_every_dependency_has_a_lower_bound():
    assert len(list(lowest_dependencies()(PROJECT, ["all"]))) >= len(PROJECT["dependencies"])


def test_slow_tests_that_are_listed_exist():
    listed = SLOW.read_text(encoding="utf-8").splitlines()
    assert listed == sorted(set(listed))
    for name in listed:
        file, *names = name.partition("[")[0].split("::")
        source = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert all(re.search(rf"(def|class) {each}\b", source) for each in names), name


@pytest.mark.parametrize(
    ("seconds", "slow"),
    [
        ({"a.py::f": 3.0, "a.py::g": 0.1}, ["a.py::f"]),
        ({"a.py::f": 3.0, "a.py::g": 1.0}, ["a.py"]),
        ({"a.py::f[1]": 3.0, "a.py::f[2]": 0.9, "b.py::f": 0.2}, ["a.py::f[1]"]),
        ({"a.py::f[1]": 3.0, "a.py::f[2]": 1.9, "a.py::g": 0.2}, ["a.py::f"]),
        ({}, []),
    ],
)
def test_slow_tests_are_listed_by_file_function_or_argument(seconds, slow):
    assert slow_of(seconds, 1.0) == slow


def test_slow_tests_that_a_run_left_out_stay_listed():
    listed = ["a.py::f[1]", "a.py::g", "b.py"]
    assert listed_after(listed, {"a.py::g": 0.1, "a.py::h": 2.0}, 1.0) == ["a.py::f[1]", "a.py::h", "b.py"]


def test_each_slow_test_runs_in_one_share_of_several():
    names = {*SLOW.read_text().splitlines()}
    shares = [{name for name in names if is_in_share(name, share_of(f"{number}/8"))} for number in range(7, 15)]
    assert set().union(*shares) == names
    assert sum(map(len, shares)) == len(names)
    assert min(map(len, shares)) > 0.7 * len(names) / 8


@pytest.mark.parametrize("text", ["3", "1/0", "a/3", "-1/3", ""])
def test_a_share_that_is_none_is_refused(text):
    with pytest.raises(pytest.UsageError, match="give a number and how many shares"):
        share_of(text)
