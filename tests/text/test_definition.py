"""The page that defines tokens and similarities is complete: a program written from it alone agrees with the package.

The program below knows only the page, whose table it reads, and Python's Unicode data. It shares nothing with `naive.py`.
"""

import itertools
import random
import re
import unicodedata
from collections import Counter
from fractions import Fraction
from functools import cache
from math import isclose, sqrt

import numpy as np
import pyarrow as pa
import pytest

import neardup as nd
from marks import long
from neardup.text.normalizers import NORMALIZER_TABLE
from neardup.text.normalizers import normalize as normalized_by_package
from neardup.text.segmenters.tokens import words_of
from neardup.text.tokenizers import tokens as tokens_by_package
from places import ROOT

PAGE = (ROOT / "docs" / "definition.md").read_text(encoding="utf-8")
KNOWN = unicodedata if unicodedata.unidata_version == "14.0.0" else unicodedata.ucd_3_2_0
"""Characters of another version may have changed: only those are drawn that are in a version before both."""


def table_of_the_page():
    """The sets of characters by class."""
    table = PAGE.partition("<!-- characters -->")[2].partition("<!-- characters end -->")[0]
    found = {}
    for name, points in re.findall(r"^\| ([a-z ]+) \| ([0-9A-F -]+) \|$", table, re.MULTILINE):
        ends = [[int(end, 16) for end in part.split("-")] for part in points.split()]
        found[name] = {chr(point) for first, *last in ends for point in range(first, (last or [first])[0] + 1)}
    return found


CLASSES = table_of_the_page()
SINGLE = {1: ("single",), 2: ("single", "spaceless", "emoji")}
VERSIONS = pytest.mark.parametrize("version", SINGLE)


def letters_of_the_page():
    table = PAGE.partition("<!-- letters -->")[2].partition("<!-- letters end -->")[0]
    rows = re.findall(r"^\| ([0-9A-F ]+) \| ([0-9A-F]+) \|$", table, re.MULTILINE)
    return {chr(int(point, 16)): chr(int(to, 16)) for points, to in rows for point in points.split()}


LETTERS = letters_of_the_page()


@cache
def changed(character, row):
    parts = unicodedata.normalize("NFKD", character)
    replaced = LETTERS if row == "hamza" else {}
    left = [replaced.get(part, part) for part in parts if part not in CLASSES[row]]
    found = unicodedata.normalize("NFC", "".join(left))
    return character if left == list(parts) or len(found) > 1 else found


STEPS = {
    "marks": lambda text: "".join(changed(c, "mark") for c in text),
    "letters": lambda text: "".join(changed(c, "hamza") for c in text),
    "word_breaks": lambda text: text.replace("\u200b", " "),
}


@cache
def folded(character):
    if character in CLASSES["white space"]:
        return " "
    before, now = "", character
    while now != before:
        before = now
        now = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", now).casefold())
        now = unicodedata.normalize("NFKC", "".join(c for c in now if c not in CLASSES["ignorable"]))
    return now


def normalize(text):
    return " ".join(part for part in unicodedata.normalize("NFC", "".join(map(folded, text))).split(" ") if part)


@cache
def class_of(character, version=1):
    if any(character in CLASSES[name] for name in SINGLE[version]):
        return "single"
    return "run" if unicodedata.category(character)[0] in "LMN" else "separator"


def tokens(text, version=1):
    found, before = [], "separator"
    for character in normalize(text):
        kind = class_of(character, version)
        if kind == before == "run":
            found[-1] += character
        elif kind != "separator":
            found.append(character)
        before = kind
    return found


def windows(units, w, s, version):
    sizes = [s if class_of(unit[0], version) == "single" else w for unit in units]
    whole = [tuple(units[i : i + size]) for i, size in enumerate(sizes) if i + size <= len(units)]
    return whole or [tuple(units)] * bool(units)


def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            above, row[j] = row[j], min(above + (x != y), row[j] + 1, row[j - 1] + 1)
    return row[-1]


def similarity(a, b, kind, version=1):
    left, right = tokens(a, version), tokens(b, version)
    if not left or not right:
        return float(not left and not right and normalize(a) == normalize(b))
    if kind == "edit":
        longer = max(len(left), len(right))
        return float(Fraction(longer - distance(left, right), longer))
    sizes = (1, 2) if kind == "cosine" else (3, 5)
    x, y = (Counter(windows(each, *sizes, version)) for each in (left, right))
    common = x.keys() & y.keys()
    if kind == "cosine":
        p, q = ({window: count.bit_length() for window, count in each.items()} for each in (x, y))
        squares = [sum(value**2 for value in each.values()) for each in (p, q)]
        return sum(p[each] * q[each] for each in common) / sqrt(squares[0] * squares[1])
    if kind == "weighted":
        return float(Fraction(sum((x & y).values()), sum((x | y).values())))
    return float(Fraction(len(common), min(len(x), len(y)) if kind == "containment" else len(x.keys() | y.keys())))


CHARACTERS = [c for c in map(chr, range(0x110000)) if KNOWN.category(c) not in ("Cn", "Cs", "Co")]
SCRIPTS = {}
for _each in CHARACTERS:
    SCRIPTS.setdefault(unicodedata.name(_each, "?").split()[0], []).append(_each)
OF_THE_TABLE = [c for c in CHARACTERS if any(c in members for members in CLASSES.values())]
TRAPS = [c for c in CHARACTERS if folded(c) != c or unicodedata.category(c)[0] == "M"]


def drawn(chance):
    """A text of few characters, of one or two scripts, with marks, spaces and characters of the table."""
    scripts = [SCRIPTS[name] for name in chance.choices(list(SCRIPTS), k=2)]
    pools = [*scripts, *scripts, OF_THE_TABLE, TRAPS, [" "], list("ab_'-.")]
    few = [chance.choice(chance.choice(pools)) for _ in range(chance.randint(1, 6))]
    return "".join(chance.choices(few, k=chance.randint(0, 14)))


def tokens_by_kernel(texts, version):
    """What the kernels cut, of many texts."""
    from neardup.fingerprints.workspace import Workspace

    folded_texts = Workspace(lambda longest, most: None).fold(pa.array(texts, pa.large_string()))
    found = words_of(folded_texts, version)
    return [
        [found.text(token) for token in range(first, last)]
        for first, last in itertools.pairwise(np.asarray(found.documents).tolist())
    ]


@VERSIONS
@pytest.mark.parametrize("number", [5_000, long(1_000_000)])
def test_tokens_of_random_texts_of_all_scripts_are_those_of_the_page(number, version):
    chance = random.Random(number)
    for _ in range(0, number, 5_000):
        texts = [drawn(chance) for _ in range(5_000)]
        for text, found in zip(texts, tokens_by_kernel(texts, version), strict=True):
            assert found == tokens(text, version), ascii(text)


@VERSIONS
@pytest.mark.parametrize("number", [400, long(100_000)])
def test_similarities_of_random_texts_are_those_of_the_page(number, version):
    recipe = nd.Recipe(version=version)
    chance = random.Random(number)
    for _ in range(number):
        a = " ".join(drawn(chance) for _ in range(chance.randint(0, 4)))
        b = "".join(a[i : i + 5] if chance.random() < 0.8 else drawn(chance) for i in range(0, len(a), 5))
        for kind in ("jaccard", "weighted", "containment", "cosine", "edit"):
            found, expected = nd.similarity(a, b, kind=kind, recipe=recipe), similarity(a, b, kind, version)
            same = isclose(found, expected, rel_tol=1e-12, abs_tol=1e-15) if kind == "cosine" else found == expected
            assert same, (kind, ascii(a), ascii(b), found, expected)


@VERSIONS
@pytest.mark.parametrize("step", [19, long(1)])
def test_every_character_has_the_class_of_the_page(step, version):
    for character in [*CHARACTERS[::step], *OF_THE_TABLE[:300]]:
        text = f"a{character}b"
        assert normalized_by_package(text) == normalize(text), ascii(text)
        assert tokens_by_package(text, version) == tokens(text, version), ascii(text)


@pytest.mark.parametrize("number", [2_000, long(200_000)])
@pytest.mark.parametrize("name", STEPS)
def test_normalizers_of_spellings_are_those_of_the_page(name, number):
    chance = random.Random(number)
    pool = sorted(set().union(*(CLASSES[row] for row in ("mark", "hamza")), LETTERS, "\u200bأéộйﻷשׁ"))
    texts = [drawn(chance) + "".join(chance.choices(pool, k=3)) for _ in range(number)]
    column = pa.array(texts, pa.large_string())
    found = NORMALIZER_TABLE[name](column)
    for place, text in enumerate(texts):
        assert found[place] == STEPS[name](text), ascii(text)


@pytest.mark.parametrize("name", ["marks", "letters"])
@pytest.mark.parametrize("step", [19, long(1)])
def test_every_character_becomes_what_the_page_says(name, step):
    some = [*CHARACTERS[::step], *(c for c in CHARACTERS if STEPS[name](c) != c)]
    found = NORMALIZER_TABLE[name](pa.array(some, pa.large_string()))
    assert [found[place] for place in range(len(some))] == [STEPS[name](c) for c in some]


def test_ideographs_of_later_versions_of_unicode_are_tokens_and_other_unassigned_characters_separate():
    assert tokens_by_package("a\U00031350b") == ["a", "\U00031350", "b"]
    assert tokens_by_package("a\U00010200b") == ["a", "b"] == tokens("a\U00010200b")


def test_a_removal_names_the_most_similar_kept_document_before_it_and_of_equals_the_first():
    a = "one two three four five six seven eight nine ten"
    near, nearer = a + " x1 x2 x3 x4 x5 x6", a + " y1 y2 y3"
    texts = [near, nearer, a, a + " z1 z2 z3", "k " + a, a.upper()]
    kept, named = [], {}
    for row, text in enumerate(texts):
        first = next(place for place, other in enumerate(texts) if normalize(other) == normalize(text))
        if first != row:
            named[row] = named.get(first, first)
            continue
        alike = [(similarity(text, texts[each], "jaccard"), -each) for each in kept]
        best = max(alike, default=(0.0, 0))
        if best[0] >= 0.7:
            named[row] = -best[1]
        else:
            kept.append(row)
    done = nd.deduplicate(texts, min_similarity=0.7).duplicates
    found = dict(zip(done["row"].to_pylist(), done["survivor_row"].to_pylist(), strict=True))
    assert found == named
    assert len(named) >= 2
