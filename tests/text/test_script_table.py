"""Twenty scripts: what one changed word, marks and spaces do to the similarity; the table on the page is what is computed here."""

import unicodedata
from pathlib import Path

import pytest

import naive
import neardup as nd
from places import ROOT

PAGE = ROOT / "docs" / "scripts.md"
WORDS = dict(
    line.split(": ") for line in (Path(__file__).parent / "twenty_scripts.txt").read_text(encoding="utf-8").splitlines()
)
"""Twenty words in each script."""
BETWEEN = dict.fromkeys(("Han", "Kana", "Thai", "Lao", "Khmer", "Burmese", "Javanese"), "") | {"Tibetan": "་"}
"""What stands between words, if not a space."""


def forty(script):
    """A text of forty words: the twenty in their order, then in another one."""
    words = WORDS[script].split()
    return words + [words[7 * place % 20] for place in range(20)]


def written(script, words, between=None):
    return (BETWEEN.get(script, " ") if between is None else between).join(words)


def unmarked(text):
    """The text without accents, points and vowel signs."""
    parts = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(part for part in parts if part not in naive.MARKS))


def pairs(script):
    """The text, and what each column compares it with; None where there is nothing to compare."""
    words = forty(script)
    text = written(script, words)
    changed = written(script, [*words[:20], words[10], *words[21:]])
    plain = unmarked(text)
    spaced = written(script, words, "" if BETWEEN.get(script, " ") == " " else " ")
    return text, changed, plain if plain != text else None, spaced


def row(script):
    text, changed, plain, spaced = pairs(script)
    cells = [
        (changed, None),
        (changed, "all-scripts"),
        (plain, None),
        (plain, "unmarked"),
        (spaced, None),
        (spaced, "all-scripts"),
    ]
    shown = ["–" if other is None else f"{nd.similarity(text, other, recipe=recipe):.2f}" for other, recipe in cells]
    return f"| {script} | {' | '.join(shown)} |"


def table(name):
    """The rows of a table on the page."""
    found = PAGE.read_text(encoding="utf-8").partition(f"<!-- {name} -->")[2].partition(f"<!-- {name} end -->")[0]
    return found.strip().splitlines()[2:]


def test_the_table_of_the_page_is_what_is_computed():
    assert table("scripts") == [row(script) for script in WORDS]


def test_the_table_of_words_by_a_dictionary_is_what_is_computed():
    pytest.importorskip("icu4py", reason="the extra [icu] is not installed")

    def by_words(script):
        text, changed, _, spaced = pairs(script)
        one, spaces = (nd.similarity(text, other, similarity="jaccard(segmenter=icu)") for other in (changed, spaced))
        found = nd.compare(text, "", recipe=nd.Recipe(segmenter="icu")).left.tokens
        return f"| {script} | {one:.2f} | {spaces:.2f} | {len(found)} |"

    assert table("icu") == [by_words(script) for script in ("Thai", "Lao", "Khmer", "Burmese")]


@pytest.mark.parametrize("script", WORDS)
def test_one_changed_word_of_forty_stays_above_the_default_threshold_in_version_2(script):
    text, changed, plain, _ = pairs(script)
    assert len(forty(script)) == 40
    assert nd.similarity(text, changed, recipe="all-scripts") > 0.8
    for other in filter(None, (changed, plain)):
        for recipe, version in ((None, 1), ("all-scripts", 2)):
            found = nd.similarity(text, other, recipe=recipe)
            assert found == pytest.approx(naive.similarity(text, other, version=version))
    if plain is not None:
        assert nd.similarity(text, plain, recipe="unmarked") == 1.0
