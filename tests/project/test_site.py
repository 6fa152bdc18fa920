"""The documentation site: it builds strictly, has every page and every public name, and asks nothing of any other host."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from mkdocs.config import load_config

import neardup
from built_site import build
from guards import not_empty
from places import ROOT

FETCHED = {
    "audio": ("src",), "embed": ("src",), "form": ("action",), "iframe": ("src",), "image": ("href",),
    "img": ("src", "srcset"), "input": ("src",), "object": ("data",), "script": ("src",), "source": ("src", "srcset"),
    "use": ("href",), "video": ("src", "poster"),
}  # fmt: skip
LINKS = ("canonical", "next", "prev", "alternate", "edit")
"""Of `link` elements: those that name a page, and fetch nothing."""
ELSEWHERE = re.compile(r"(?:[a-z]+:)?//", re.IGNORECASE)
STYLED = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


class Reader(HTMLParser):
    """What a page fetches, links to, and calls by name."""

    def __init__(self, text):
        super().__init__()
        self.fetched, self.links, self.ids, self.tags = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append(tag)
        self.fetched += [given[name] for name in FETCHED.get(tag, ()) if given.get(name)]
        if tag == "link" and given.get("rel") not in LINKS:
            self.fetched.append(given.get("href"))
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if given.get("id"):
            self.ids.append(given["id"])
        if given.get("style"):
            self.fetched += [one or other for one, other in STYLED.findall(given["style"])]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return build(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def pages(site):
    return {path: Reader(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


def navigation(items):
    for item in items:
        if isinstance(item, dict):
            for value in item.values():
                yield from [value] if isinstance(value, str) else navigation(value)
        else:
            yield item


def test_every_page_is_in_the_navigation_once():
    listed = list(navigation(load_config(str(ROOT / "mkdocs.yml")).nav))
    written = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    notebooks = {f"cookbook/{path.stem}.md" for path in not_empty((ROOT / "examples/cookbook").glob("*.ipynb"))}
    assert sorted(listed) == sorted(written | notebooks | {"CHANGELOG.md", "benchmarks/README.md"})


def test_every_page_is_built(site):
    for listed in not_empty(navigation(load_config(str(ROOT / "mkdocs.yml")).nav)):
        page = listed.removesuffix("README.md") + "index.md" if listed.endswith("README.md") else listed
        assert (site / page).with_suffix(".html").is_file(), listed


def test_nothing_is_fetched_from_another_host(pages):
    for path, page in not_empty(pages.items()):
        assert [each for each in page.fetched if ELSEWHERE.match(each)] == [], path.name


def test_styles_fetch_nothing_from_another_host(site):
    sheets = [*site.rglob("*.css"), *site.rglob("*.svg")]
    assert sheets
    for sheet in sheets:
        found = [one or other for one, other in STYLED.findall(sheet.read_text(encoding="utf-8"))]
        assert [each for each in found if ELSEWHERE.match(each)] == [], sheet.name


def test_whatever_a_page_fetches_or_links_to_is_there(site, pages):
    for path, page in not_empty(pages.items()):
        if path.name == "404.html":
            continue  # its links are absolute, for it is shown at any address
        for target in page.fetched + page.links:
            if ELSEWHERE.match(target) or target.startswith(("data:", "#", "mailto:", "javascript:")):
                continue
            assert (path.parent / target.split("#")[0].split("?")[0]).exists(), f"{path.relative_to(site)}: {target}"


def test_the_library_reference_has_every_public_name_once(site, pages):
    ids = [name for path, page in pages.items() if path.parent == site / "reference" for name in page.ids]
    assert {name: ids.count(f"neardup.{name}") for name in neardup.__all__} == dict.fromkeys(neardup.__all__, 1)


def test_examples_in_docstrings_are_shown_as_code(site, pages):
    for path, page in not_empty(pages.items()):
        if path.parent == site / "reference":
            assert "blockquote" not in page.tags, path.name
            assert "&gt;&gt;&gt;" in path.read_text(encoding="utf-8") or path.name in (
                "errors.html",
                "ray.html",
                "spark.html",
                "stages.html",
            )


def test_the_markers_of_figures_are_not_shown(pages):
    for path in not_empty(pages):
        text = re.sub(r"<code>.*?</code>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert "&lt;!--" not in text, path.name


def test_links_of_the_readme_into_the_documentation_are_pages_of_the_site(site):
    for target in not_empty(re.findall(r"\]\(docs/([^)#]+\.md)", (ROOT / "README.md").read_text(encoding="utf-8"))):
        assert (site / target).with_suffix(".html").is_file(), target


@pytest.mark.parametrize(("name", "language"), [("index", "en"), ("quickstart.zh", "zh-Hans"), ("quickstart.ja", "ja")])
def test_a_page_says_which_language_it_is_in(site, name, language):
    assert f'<html lang="{language}"' in (site / f"{name}.html").read_text(encoding="utf-8")


def test_the_search_can_be_used_in_three_languages_without_a_server(site):
    scripts = Path("assets/javascripts/lunr")
    for each in ("tinyseg.js", "min/lunr.zh.min.js", "min/lunr.ja.min.js", "min/lunr.multi.min.js"):
        assert (site / scripts / each).is_file(), each
    assert (site / "search/search_index.js").is_file()
