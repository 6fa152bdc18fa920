"""Similarities are of texts as the recipe normalizes them, in every place that computes or uses one."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import naive
import neardup as nd
from columns import pairs_of
from guards import not_empty
from neardup.recipe.serialization import stored_recipe
from neardup.recipe.tables.parts import NORMALIZERS
from neardup.recipe.tables.similarities import SIMILARITIES
from neardup.text.side_by_side.rows import aligned_rows
from strategies import texts

KINDS = sorted(SIMILARITIES)
FOLD = "nfkc_casefold"
SINGLE = [(), *((name,) for name in NORMALIZERS)]
COMBINED = [
    *((FOLD, name) for name in NORMALIZERS if name != FOLD),
    ("digits", FOLD),
    (FOLD, "digits", "punctuation"),
    ("simplified", FOLD, "digits", "punctuation"),
]
STEPS = SINGLE + COMBINED
CONVERSIONS = {"simplified": "t2s", "shinjitai": "t2jp"}


def definition(name):
    """The naive step, or that of the package."""
    if name in naive.NORMALIZERS:
        return naive.NORMALIZERS[name]
    return pytest.importorskip("opencc", reason="the extra [zh] is not installed").OpenCC(CONVERSIONS[name]).convert


def normalized(text, steps):
    for name in steps:
        text = definition(name)(text)
    return text


def expected_similarity(a, b, kind, steps):
    """Of the cosine, by the recipe's own features; of the others, by the tokens of the normalized texts, folded."""
    a, b = normalized(a, steps), normalized(b, steps)
    if kind == "cosine" and (naive.words(a) or naive.words(b)):
        return naive.cosine(a, b, tokens=naive.words)
    return naive.similarity(a, b, kind)


def edited(base):
    """Variants of a text: some that one normalizer or another makes equal to it, some with a token more."""
    return st.sampled_from(
        [
            base,
            base.upper(),
            base.replace("4", "7"),
            base.replace(" - ", " "),
            base.replace("-", ""),
            base.replace("國", "国"),
            base.replace("brown", "red"),
            base + " and more 12",
            "國 " + base,
            "more of it, " + base.replace("國", "国").replace("4", "5"),
        ]
    )


BASES = (
    "The quick brown-fox (1984) jumps over 34 lazy dogs - in the 國",
    "漢字轉換：頭髮與發展，國學國學４４－44, four 4 Words",
    "3 - 4",
    "!",
)
corpora = st.lists(st.sampled_from(BASES).flatmap(edited), max_size=9)


def expected_pairs(corpus, kind, steps, least, min_tokens=1):
    """Pairs by row with their similarity: those of equal normalized texts, and those of long enough ones that are similar."""
    found = {}
    tokens = [len(naive.words(normalized(text, steps))) for text in corpus]
    for i, j in itertools.combinations(range(len(corpus)), 2):
        if min(tokens[i], tokens[j]) < min_tokens:
            equal = [normalized(text, steps) == normalized(corpus[i], steps) for text in corpus]
            if equal[j] and (tokens[i] or i == equal.index(True)):  # those without tokens, with the first of them
                found[i, j] = 1.0
        elif (value := expected_similarity(corpus[i], corpus[j], kind, steps)) >= least:
            found[i, j] = value
    return found


MIN_TOKENS = 4
"""Of simhash; other methods take all texts with a token."""


@pytest.mark.parametrize("steps", STEPS, ids="+".join)
@given(a=texts, b=texts, common=texts)
@example("12!", "34?", "")
@example("12", "34", "")
@example("國", "国", "a - b-c")
@settings(max_examples=12)
def test_a_similarity_is_of_what_the_recipe_normalizes(steps, a, b, common):
    recipe = nd.Recipe(normalize=steps)
    for kind in KINDS:
        for left, right in ((a, b), (common + " " + a, common + " " + b)):
            expected = expected_similarity(left, right, kind, steps)
            assert nd.similarity(left, right, kind=kind, recipe=recipe) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("steps", [*SINGLE, *COMBINED], ids="+".join)
@given(corpus=corpora, least=st.sampled_from([0.3, 0.6, 0.8, 1.0]))
@settings(max_examples=5)
def test_an_exact_join_finds_the_pairs_of_the_definition_and_no_other(steps, kind, corpus, least):
    recipe = nd.Recipe(normalize=steps, min_tokens=MIN_TOKENS)
    expected = expected_pairs(corpus, kind, steps, least)
    if any(abs(value - least) < 1e-9 for value in expected.values()) and kind == "cosine":
        return  # which side of the threshold it is on is a matter of rounding
    options = {"method": "exact", "similarity": kind, "min_similarity": least, "recipe": recipe, "threads": 1}
    assert pairs_of(nd.match(corpus, **options)) == pytest.approx(expected, rel=1e-12)

    def grade(i, j):
        equal = normalized(corpus[i], steps) == normalized(corpus[j], steps)
        return 1.0 if equal else expected.get((min(i, j), max(i, j)), -1)

    for cluster in ("star", "components"):
        result = nd.deduplicate(corpus, cluster=cluster, **options)
        if cluster == "star":
            survivors = [survivor for survivor, _ in naive.star(len(corpus), grade, least)]
        else:
            survivors = naive.components(len(corpus), grade, least)
        assert np.flatnonzero(result.kept).tolist() == sorted(set(survivors))


@pytest.mark.parametrize("steps", STEPS, ids="+".join)
@given(corpus=corpora)
@settings(max_examples=10)
def test_other_methods_verify_by_the_same_similarity(steps, corpus):
    recipe = nd.Recipe(normalize=steps, min_tokens=MIN_TOKENS)
    options = {"min_similarity": 0.5, "recipe": recipe}
    for kind in KINDS:
        found = pairs_of(nd.match(corpus, method="simhash", similarity=kind, max_distance=128, **options))
        assert found == pytest.approx(expected_pairs(corpus, kind, steps, 0.5, MIN_TOKENS), rel=1e-12)
    found = pairs_of(nd.match(corpus, method="minhash", **options))
    assert found.items() <= expected_pairs(corpus, "jaccard", steps, 0.5).items()


@pytest.mark.parametrize("steps", STEPS, ids="+".join)
@given(corpus=corpora.filter(bool))
@settings(max_examples=10)
def test_signatures_are_of_the_normalized_texts(steps, corpus):
    recipe = nd.Recipe(normalize=steps)
    found = nd.signatures(corpus, recipe=recipe, values=32)
    assert (found.values == nd.signatures([normalized(text, steps) for text in corpus], values=32).values).all()


def test_variants_of_a_text_keep_none_of_its_other_matches_away():
    """Texts that the recipe makes equal are one text for joins; the similarity must not depend on which of them is read."""
    words = "the quick brown fox jumps over the lazy dog near the bank of a river".split()
    a, b = " ".join(words), " ".join([*words[:-2], "a", "lake"])
    punctuated = " ".join(f"{word[0]}-{word[1:]}" if len(word) > 2 else word for word in words)
    steps = ("nfkc_casefold", "punctuation")
    corpus, recipe = [punctuated, a, b], nd.Recipe(normalize=steps)
    found = pairs_of(nd.match(corpus, method="exact", min_similarity=0.6, recipe=recipe))
    assert found == expected_pairs(corpus, "jaccard", steps, 0.6)
    assert sorted(found) == [(0, 1), (0, 2), (1, 2)]
    assert len(nd.deduplicate(corpus, method="exact", min_similarity=0.6, recipe=recipe).survivors) == 1


def test_compare_and_report_look_at_the_normalized_texts():
    recipe = nd.Recipe(normalize=["nfkc_casefold", "digits", "punctuation"])
    left, right = "Page 12 of the long-winded report (3)", "page 34 of the longwinded report 9"
    found = nd.compare(left, right, recipe=recipe)
    assert set(found.similarities.values()) == {1.0}
    assert found.similarity == found.common_shingles / found.all_shingles == 1.0
    kinds = {segment.kind for row in aligned_rows(left, right, recipe.normalize) for segment in row.left}
    assert kinds == {"common"}
    assert any(segment.kind == "only" for row in aligned_rows(left, right) for segment in row.left)


def test_a_profile_has_no_normalizers_for_the_similarity():
    """Another tool's fingerprints are of texts as that tool prepares them; the similarity folds them, as it always does."""
    texts = ["The Cat sat on the mat, and slept there", "the cat SAT on the mat and slept there", "a dog barked at it"]
    for kind in not_empty(KINDS):
        if kind == "cosine":
            continue  # of the tool's own features
        found = nd.match(texts, recipe="leonsim", method="exact", similarity=kind, min_similarity=0.9)
        assert pairs_of(found) == {(0, 1): 1.0}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "cosine"])
@pytest.mark.parametrize(
    ("recipe", "named"),
    [
        (nd.Recipe(word_shingle=2), "`word_shingle`"),
        (nd.Recipe(cjk_shingle=5, normalize=["digits"]), r"`cjk_shingle`.*Recipe\(normalize=\['digits'\]\)"),
        (nd.Recipe(weights="tf", segmenter="characters"), "`weights` and `segmenter`"),
        ("leonsim", "`profile`"),
        ("textbook", "`word_shingle` and `cjk_shingle` and `weights`"),
    ],
)
def test_parts_of_a_recipe_that_would_be_ignored_are_refused(kind, recipe, named):
    with pytest.raises(nd.OptionError, match=f"`kind='{kind}'` is of shingles that no recipe changes: {named}"):
        nd.similarity("a b", "b a", kind=kind, recipe=recipe)
    with pytest.raises(nd.OptionError, match=f"Signatures are of shingles that no recipe changes: {named}"):
        nd.signatures(["a b"], recipe=recipe)


def test_parts_of_a_recipe_that_are_of_fingerprints_alone_are_none_of_a_similarity():
    for recipe in ("default", "default-64", nd.Recipe(bits=32, hash="fnv1a_64", min_tokens=1, max_distance=2)):
        assert nd.similarity("a b", "A B", recipe=recipe) == 1.0


def test_signatures_of_texts_that_were_normalized_differently_are_not_compared():
    digits = nd.signatures(["page 1 of 2"], recipe=nd.Recipe(normalize=["digits"]))
    assert nd.jaccard_estimate(digits, digits[0]).similarity.tolist() == [1.0]
    with pytest.raises(nd.RecipeMismatch, match="texts normalized by digits cannot be compared.*by nfkc_casefold"):
        nd.jaccard_estimate(digits, nd.signatures(["page 1 of 2"]))
    as_they_are = nd.signatures(["page 1 of 2"], recipe=nd.Recipe(normalize=[]))
    assert nd.jaccard_estimate(as_they_are, nd.signatures(["PAGE 1 of 2"])).similarity.tolist() == [1.0]


def test_a_normalizer_that_is_not_available_is_refused_wherever_a_similarity_is_computed():
    """OpenCC of another version may convert differently, so a stored recipe keeps only the identity of the step."""
    values = nd.Recipe().as_dict() | {"normalize": [{"name": "simplified", "opencc": "0.0.1"}]}
    recipe = stored_recipe(values)
    for use in (
        lambda: nd.similarity("a b", "b a", recipe=recipe),
        lambda: nd.signatures(["a b"], recipe=recipe),
        lambda: nd.deduplicate(["a b", "b a"], recipe=recipe),
        lambda: nd.match(["a b", "b a"], recipe=recipe, method="minhash"),
        lambda: nd.compare("a b", "b a", recipe=recipe),
    ):
        with pytest.raises(nd.OptionError, match="`normalize`: what is stored was made with opencc 0.0.1"):
            use()


def test_a_function_is_no_normalizer():
    with pytest.raises(nd.OptionError, match="`normalize=.*': give one of nfkc_casefold|`normalize=<.*give one of"):
        nd.Recipe(normalize=[str.lower])


@given(corpus=corpora)
@settings(max_examples=20)
def test_a_segmenter_of_the_caller_cuts_features_and_leaves_the_similarity(corpus):
    """A function of one's own decides the fingerprint; the similarity is of the default tokens of the normalized text."""
    recipe = nd.Recipe(
        segmenter=nd.Segmenter(str.split, name="split", version="1"), normalize=["nfkc_casefold", "digits"]
    )
    plain = nd.Recipe(normalize=["nfkc_casefold", "digits"])
    options = {"method": "exact", "min_similarity": 0.5}
    assert nd.match(corpus, recipe=recipe, **options).similarity.tolist() == [
        nd.similarity(corpus[i], corpus[j], recipe=plain)
        for i, j in sorted(pairs_of(nd.match(corpus, recipe=recipe, **options)))
    ]


def test_similarities_and_signatures_take_a_recipe_in_every_form(tmp_path):
    path = tmp_path / "digits.toml"
    path.write_text('normalize = ["nfkc_casefold", "digits"]\n', encoding="utf-8")
    recipe, texts = nd.Recipe(normalize=["nfkc_casefold", "digits"]), ["Page 12", "page 34"]
    for form in (recipe, path, str(path)):
        assert nd.similarity(*texts, recipe=form) == 1.0
        found = nd.signatures(texts, recipe=form)
        assert nd.jaccard_estimate(found[0], found[1]).similarity == 1.0
    for form in ("default", nd.RECIPES["default"], None):
        assert nd.similarity(*texts, recipe=form) == 0.0
        assert (nd.signatures(texts, recipe=form).values == nd.signatures(texts).values).all()
    with pytest.raises(nd.OptionError, match="There is no recipe 'nonesuch'"):
        nd.signatures(texts, recipe="nonesuch")
