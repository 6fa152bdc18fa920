"""Given sets and lists: compared as they are, by every measure and method, in memory."""

import itertools
import random
import sys
import unicodedata

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import naive
import neardup as nd
from columns import pairs_of
from neardup.recipe.given_elements import recipe_of_elements, similarity_of_elements
from neardup.recipe.tables.similarities import SIMILARITIES
from neardup.text.given_elements import BadElements, elements_of, text_of, texts_of_lists, token_of
from neardup.text.normalizers import normalized
from neardup.text.segmenters.tokens import between_spaces_of

MEASURES = sorted(SIMILARITIES)
NAMES = [
    "a",
    "A",
    "b",
    "d",
    "",
    " ",
    "a b",
    "%",
    "%20",
    "a\u2003b",
    "é",
    "e\u0301",
    "1",
    "!",
    "國",
    "\x00",
    "s:a",
    "\n",
    "ﬀ",
]
elements = st.one_of(st.sampled_from(NAMES), st.integers(-3, 5), st.just(10**30))
rows = st.lists(elements, max_size=7)
corpora = st.lists(rows, max_size=12)


def typed(row):
    """The elements with their types: the integer 1 is not the string "1"."""
    return [(type(each), each) for each in row]


def expected_similarity(kind, a, b):
    return naive.similarity_of_items(kind, typed(a), typed(b))


def expected_pairs(kind, corpus, least):
    """All pairs that reach the similarity, with it; of empty lists, those with the first."""
    first_empty = next((i for i, row in enumerate(corpus) if not row), None)
    found = {}
    for i, j in itertools.combinations(range(len(corpus)), 2):
        a, b = corpus[i], corpus[j]
        alike = expected_similarity(kind, a, b)
        if alike >= least and (a or b or i == first_empty):
            found[i, j] = alike
    return found


@given(a=rows, b=rows, kind=st.sampled_from(MEASURES))
@example(["a", "d"], ["a", "c", "d"], "jaccard")
@example(["a"], ["A"], "jaccard")
@example([1], ["1"], "jaccard")
@example([], [], "cosine")
@example(["a", "a"], ["a"], "weighted")
def test_the_similarity_of_given_lists_is_that_of_their_elements(a, b, kind):
    assert nd.similarity(a, b, kind=kind) == pytest.approx(expected_similarity(kind, a, b), abs=1e-12)
    if kind != "edit":
        assert nd.similarity(set(a), frozenset(b), kind=kind) == pytest.approx(
            expected_similarity(kind, list(set(a)), list(set(b))), abs=1e-12
        )


def test_the_sets_of_the_textbook():
    assert nd.similarity({"a", "d"}, {"a", "c", "d"}) == 2 / 3
    both = nd.signatures([{"a", "d"}, {"a", "c", "d"}], values=1024)
    assert both.sizes.tolist() == [2, 3]
    estimate = nd.jaccard_estimate(both[0], both[1])
    assert abs(estimate.similarity - 2 / 3) < 4 * estimate.standard_error


@given(
    corpus=corpora,
    kind=st.sampled_from(MEASURES),
    method=st.sampled_from(["auto", "exact", "simhash"]),
    least=st.sampled_from([0.1, 0.5, 2 / 3, 0.8, 1.0]),
)
@example([["a", "d"], ["a", "c", "d"], [], []], "jaccard", "exact", 2 / 3)
@settings(max_examples=60)
def test_every_pair_of_lists_is_found(corpus, kind, method, least):
    options = {"max_distance": 128, "recipe": nd.Recipe(min_tokens=1)} if method == "simhash" else {}
    found = pairs_of(nd.match(corpus, method=method, similarity=kind, min_similarity=least, **options))
    assert found == pytest.approx(expected_pairs(kind, corpus, least))


@given(left=corpora, right=corpora, kind=st.sampled_from(MEASURES))
@settings(max_examples=30)
def test_every_pair_of_two_corpora_of_lists_is_found(left, right, kind):
    found = pairs_of(nd.match(left, right, method="exact", similarity=kind, min_similarity=0.5))
    expected = {
        (i, j): alike
        for i, a in enumerate(left)
        for j, b in enumerate(right)
        if (a or b) and (alike := expected_similarity(kind, a, b)) >= 0.5
    }
    assert {pair: alike for pair, alike in found.items() if left[pair[0]] or right[pair[1]]} == pytest.approx(expected)


def many_sets(seed=1, n=300):
    """Sets of 30 elements, a third of them near an earlier one."""
    rng, found = random.Random(seed), []
    for _ in range(n):
        if found and rng.random() < 0.35:
            near = set(rng.choice(found))
            for _ in range(rng.randint(0, 4)):
                near.discard(rng.choice(sorted(near)))
                near.add(f"e{rng.randrange(5000)}")
            found.append(near)
        else:
            found.append({f"e{rng.randrange(5000)}" for _ in range(30)})
    return found


def test_minhash_finds_pairs_of_sets_and_no_others():
    corpus = many_sets()
    expected = expected_pairs("jaccard", [sorted(each) for each in corpus], 0.7)
    found = pairs_of(nd.match(corpus, method="minhash", min_similarity=0.7, max_distance=128))
    assert found.items() <= expected.items()
    assert len(expected) > 50
    assert len(found) >= 0.98 * len(expected)


@given(corpus=corpora, kind=st.sampled_from(MEASURES), cluster=st.sampled_from(["star", "components"]))
@settings(max_examples=40)
def test_survivors_of_lists_are_those_of_a_naive_walk(corpus, kind, cluster):
    result = nd.deduplicate(corpus, method="exact", similarity=kind, min_similarity=0.5, cluster=cluster)

    def grade(q, p):
        return 1.0 if typed(corpus[q]) == typed(corpus[p]) else expected_similarity(kind, corpus[q], corpus[p])

    if cluster == "star":
        kept = [survivor == row for row, (survivor, _) in enumerate(naive.star(len(corpus), grade, 0.5))]
    else:
        kept = [first == row for row, first in enumerate(naive.components(len(corpus), grade, 0.5))]
    assert result.kept.tolist() == kept
    assert result.survivors == list(itertools.compress(corpus, kept))


def test_lists_near_a_reference_are_removed_and_only_lists_of_equal_groups_match():
    reference = [["x", "y", "z"]]
    rows_ = [["x", "y", "z", "w"], ["p"], ["x", "q"]]
    assert nd.deduplicate(rows_, against=reference, min_similarity=0.6).survivors == rows_[1:]
    grouped = [{"tags": ["a", "b"], "of": each} for each in (1, 2, 1)]
    assert nd.deduplicate(grouped, elements="tags", within="of").survivors == grouped[:2]
    assert nd.deduplicate(grouped, elements="tags", against=[["b", "a"]]).survivors == []


@pytest.mark.parametrize("kind", ["list", "large_list", "dictionary", "pandas", "polars", "fixed", "integers"])
def test_columns_of_lists_of_every_type_are_read_alike(kind):
    tags = [["a", "b"], ["b", "a"], ["c d", "%"], ["é", "a"]]
    if kind == "integers":
        tags = [[1, 2], [2, 1], [3, 4], [5, 1]]
    table = pa.table({"tags": tags})
    data = {
        "list": lambda: table,
        "integers": lambda: table,
        "large_list": lambda: table.cast(pa.schema([("tags", pa.large_list(pa.large_string()))])),
        "dictionary": lambda: pa.table(
            {"tags": pa.array(tags, pa.list_(pa.string())).cast(pa.list_(pa.dictionary(pa.int32(), pa.string())))}
        ),
        "fixed": lambda: pa.table({"tags": pa.array(tags, pa.list_(pa.string(), 2))}),
        "pandas": lambda: pytest.importorskip("pandas").DataFrame({"tags": tags}),
        "polars": lambda: pytest.importorskip("polars").DataFrame({"tags": tags}),
    }[kind]()
    result = nd.deduplicate(data, elements="tags")
    assert result.kept.tolist() == [True, False, True, True]
    assert type(result.survivors) is type(data)
    assert nd.fingerprint(table["tags"]).tolist() == nd.fingerprint(tags).tolist()


@given(row=rows, other=rows)
def test_different_elements_are_different_tokens(row, other):
    assert (text_of(row) == text_of(other)) == (typed(row) == typed(other))
    assert elements_of(text_of(row)) == row
    assert text_of(row).split() == [token_of(each) for each in row]


@given(
    found=st.lists(st.one_of(st.none(), st.lists(st.one_of(st.none(), st.text(max_size=3)), max_size=3)), max_size=6)
)
def test_lists_of_arrow_are_written_as_those_of_python(found):
    texts, problems = texts_of_lists(pa.array(found, pa.list_(pa.string())))
    expected = [None if row is None or None in row else text_of(row) for row in found]
    assert texts.to_pylist() == expected
    assert [row for row, _ in problems] == [row for row, text in enumerate(expected) if text is None]


def test_no_character_of_a_token_is_white_space_for_the_segmenter():
    codes = [code for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    tokens = between_spaces_of(normalized(pa.array([f"a{chr(code)}a" for code in codes], pa.large_string()), ()))
    spaces = [chr(code) for code, n in zip(codes, np.diff(tokens.documents).tolist(), strict=True) if n > 1]
    assert len(spaces) > 15
    assert all(token_of(space) != f"s:{space}" for space in spaces)
    assert all(unicodedata.category(space)[0] in "ZC" for space in spaces)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ([["a"], ["b", None]], "Row 1: None is null, not a string or an integer"),
        ([["a"], [True]], "Row 1: True is a bool, not a string or an integer"),
        ([[1.5]], "Row 0: 1.5 is a float"),
        ([["a"], "b"], "Row 1: it is a str, not a list"),
        ([["a"], None], "Row 1: it is null, not a list"),
        ([[b"a"]], "Row 0: b'a' is a bytes"),
    ],
)
def test_what_is_no_list_of_strings_and_integers_is_refused(row, reason):
    with pytest.raises(nd.DataError, match=reason):
        nd.deduplicate(row)


def test_half_of_a_surrogate_pair_is_refused():
    with pytest.raises(nd.DataError):
        nd.deduplicate([["\ud800"], ["a"]])
    with pytest.raises(nd.DataError):
        nd.similarity(["\ud800"], ["a"])


def test_what_lists_have_no_use_for_is_refused():
    lists, texts_ = [["a"], ["b"]], ["a", "b"]
    dicts = [{"tags": ["a"], "text": "x"}]
    refusals = [
        (lambda: nd.deduplicate(dicts, elements="tags", text="text2"), "`text` with `elements='tags'`"),
        (lambda: nd.deduplicate(dicts, elements="tags", html="main"), "`html` with `elements='tags'`"),
        (lambda: nd.deduplicate(lists, text="body"), "`text`: data is one column of sets or lists"),
        (lambda: nd.deduplicate(dicts, elements=""), "`elements=''`: give the name of a column of lists"),
        (lambda: nd.deduplicate(lists, keep=len), "`keep`: a function gets texts"),
        (lambda: nd.deduplicate(lists, against=texts_), "`data` has sets or lists, and `against` has texts"),
        (lambda: nd.match(texts_, lists), "`texts` has texts, and `other` has sets or lists"),
        (lambda: nd.deduplicate(lists, recipe="textbook"), "`word_shingle` and `cjk_shingle` of this recipe would be"),
        (lambda: nd.fingerprint(lists, recipe=nd.Recipe(normalize=["digits"])), "`normalize` of this recipe"),
        (lambda: nd.match(lists, similarity=nd.Similarity(word_shingle=2)), "given elements are compared as they are"),
        (lambda: nd.signatures(lists, similarity="cosine"), "signatures estimate jaccard only"),
        (lambda: nd.match([{"a"}], similarity="edit"), "`similarity='edit'` compares the order of elements"),
        (lambda: nd.similarity({"a"}, {"b"}, kind="edit"), "`similarity='edit'` compares the order of elements"),
        (lambda: nd.similarity({"a"}, "b"), "a is a set, b a str"),
        (lambda: nd.decontaminate(lists, against=["x"]), "`data` has sets or lists, and only texts"),
        (lambda: nd.decontaminate(["x"], against=lists), "`against` has sets or lists, and only texts"),
    ]
    for call, message in refusals:
        with pytest.raises(nd.OptionError, match=message):
            call()
    with pytest.raises(nd.InputError, match="no column 'labels' for the elements"):
        nd.deduplicate(dicts, elements="labels")
    with pytest.raises(nd.DataError, match="'n' is int64, but lists of strings or integers are needed"):
        nd.deduplicate(pa.table({"n": [1]}), elements="n")


def test_the_recipe_and_similarity_of_elements_are_their_own():
    """A finished run records both, and they are resolved again when it is read again."""
    for recipe in (nd.Recipe(), nd.RECIPES["default-64"].recipe, nd.Recipe(bits=32, hash="fnv1a_64", weights="tf")):
        made = recipe_of_elements(recipe)
        assert recipe_of_elements(made) == made
        assert (made.bits, made.hash, made.weights, made.segmenter) == (
            recipe.bits,
            recipe.hash,
            recipe.weights,
            "whitespace",
        )
    assert recipe_of_elements(nd.Recipe()).max_distance == 18
    for name in MEASURES:
        assert similarity_of_elements(similarity_of_elements(name)) == similarity_of_elements(name)


def test_longest_is_the_list_with_the_most_elements():
    rows_ = [["a very long element", "b", "c"], ["a very long element", "b", "c", "d"]]
    assert nd.deduplicate(rows_, min_similarity=0.7, keep="longest").survivors == rows_[1:]
    assert nd.deduplicate(rows_, min_similarity=0.7, keep="shortest").survivors == rows_[:1]


def test_numpy_elements_and_types_of_survivors():
    rows_ = ((np.int64(1), 2), (2, 1), (3,))
    assert nd.deduplicate(rows_).survivors == ((1, 2), (3,))
    assert nd.deduplicate(iter([{"a"}, {"a"}])).survivors == [{"a"}]
    with pytest.raises(BadElements):
        token_of(np.bool_(True))


def test_evaluate_measures_sets():
    corpus = many_sets(n=60)
    result = nd.evaluate(corpus, min_similarity=0.7)
    assert result.recommendation.reaches_target
    assert [score.recipe for score in result.recipes] == ["the given recipe"]
    pairs = sorted(expected_pairs("jaccard", [sorted(each) for each in corpus], 0.7))
    labeled = nd.evaluate(corpus, pairs=pairs, min_similarity=0.7)
    assert {str(trial.similarity).partition("(")[0] for trial in labeled.trials} <= {
        "jaccard", "weighted", "containment", "cosine", "None",
    }  # fmt: skip
    assert nd.match(corpus, **labeled.recommendation.options())
