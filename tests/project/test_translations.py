"""The pages in Chinese and Japanese are not behind the English ones: they have the same sections, and run the same examples."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
LANGUAGES = ("zh", "ja")
OF_READERS = {
    "simhash": (
        'found = nd.compare("the cat sat on',
        "found.distance, len(found.left.bits)",
        "round(found.estimated_cosine, 3)",
    )
}
"""Examples with texts in the reader's language instead."""


def examples(page):
    """The lines of Python that a page runs, without comments."""
    lines = re.findall(r"^(?:>>>|\.\.\.) (.*)$", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE)
    return [re.sub(r"\s+# .*", "", line) for line in lines]


def sections(page):
    return re.findall(r"^## .*$", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["errata", "simhash"])
def test_a_translated_page_runs_the_examples_of_the_english_one(name, language):
    translated = examples(f"{name}.{language}.md")
    missing = [line for line in examples(f"{name}.md") if line not in translated]
    assert [line for line in missing if not line.startswith(OF_READERS.get(name, ()))] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_errata_have_a_section_for_each_error(language):
    assert len(sections(f"errata.{language}.md")) == len(sections("errata.md"))
    assert not set(sections(f"errata.{language}.md")) & set(sections("errata.md"))


@pytest.mark.parametrize("name", ["errata", "simhash"])
def test_pages_name_their_translations(name):
    for page, others in ((f"{name}.md", LANGUAGES), (f"{name}.zh.md", ("ja",)), (f"{name}.ja.md", ("zh",))):
        text = (DOCS / page).read_text(encoding="utf-8")
        assert all(f"({name}.{other}.md)" in text for other in others), page


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_quickstarts_show_index_filter_and_the_classical_recipe(language):
    text = (DOCS / f"quickstart.{language}.md").read_text(encoding="utf-8")
    for shown in (
        "neardup index build",
        "neardup index query",
        "neardup filter --store",
        'hash = "fnv1a_64"',
        f"simhash.{language}.md",
    ):
        assert shown in text, shown
