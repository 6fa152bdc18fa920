"""`Similarity`: other shingles, tokens and normalizers, by every measure and method, against slow definitions."""

import itertools
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import naive
import neardup as nd
from columns import pairs_of
from neardup.recipe.recipe import digest_of
from neardup.recipe.similarity import measure_of, similarity_of, stored_similarity
from neardup.recipe.tables.similarities import SIMILARITIES

MEASURES = sorted(SIMILARITIES)
WORDS = [
    "a",
    "A",
    "Be",
    "be",
    "12",
    "17",
    "３４",
    "國",
    "国",
    "ﬀ",
    "x-y",
    "!",
    "- -",
    "か",
    "東京",
    "c, d",
    "\u2003",
    "é",
]
texts = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
corpora = st.lists(texts, max_size=9)
FOLD = "nfkc_casefold"
TOKENS = {"words": naive.words, "characters": naive.characters, "whitespace": naive.between_spaces}


def split(text):
    return text.split(" ")


@st.composite
def similarities(draw, measures=("jaccard", "weighted", "containment", "edit")):
    """Similarities with random shingles, segmenters and normalizers; their stop words are common."""
    measure, segmenter = draw(st.sampled_from(measures)), draw(st.sampled_from(sorted(TOKENS)))
    fields = {"measure": measure, "segmenter": segmenter}
    if measure != "edit":
        fields["word_shingle"] = draw(st.integers(1, 4))
        if segmenter == "words":
            fields["cjk_shingle"] = draw(st.integers(1, 4))
    steps = [None, (), (FOLD,), ("lower",), (FOLD, "digits"), ("digits",), (FOLD, "punctuation")]
    return nd.Similarity(**fields, normalize=draw(st.sampled_from(steps)))


def normalized(text, steps):
    for name in steps:
        text = naive.NORMALIZERS[name](text)
    return text


def compared_form(text, similarity, recipe):
    """After the similarity's own normalizers; or the recipe's, and then folding."""
    if similarity.normalize is not None:
        return normalized(text, similarity.normalize)
    return naive.normalize(normalized(text, recipe.normalize))


def shingles(text, similarity, recipe):
    found = TOKENS[similarity.segmenter](compared_form(text, similarity, recipe))
    if similarity.segmenter == "words":
        return naive.windows(found, similarity.word_shingle, similarity.cjk_shingle)
    size = similarity.word_shingle
    windows = [tuple(found[i : i + size]) for i in range(len(found) - size + 1)]
    return windows or ([tuple(found)] if found else [])


def expected_similarity(a, b, similarity, recipe):
    left, right = (shingles(each, similarity, recipe) for each in (a, b))
    if not left and not right:
        return float(compared_form(a, similarity, recipe) == compared_form(b, similarity, recipe))
    return naive.similarity_of_items(similarity.measure, left, right)


def fitting(similarity):
    """A recipe whose normalizers the similarity's begin with."""
    return nd.Recipe() if similarity.normalize in (None, (FOLD,), (FOLD, "digits")) else nd.Recipe(normalize=())


@given(a=texts, b=texts, similarity=similarities())
@example("a d", "a c d", nd.Similarity(word_shingle=1))
@example("A b", "a b", nd.Similarity(normalize=()))
@example("", "!", nd.Similarity(segmenter="whitespace"))
def test_similarities_of_texts_are_those_of_naive_shingles(a, b, similarity):
    recipe = fitting(similarity)
    found = nd.similarity(a, b, similarity=similarity, recipe=recipe)
    assert found == pytest.approx(expected_similarity(a, b, similarity, recipe), abs=1e-12)


def expected_pairs(corpus, similarity, recipe, least, min_tokens=0):
    """Pairs of equal normalized texts, and of similar ones; of equal texts without tokens by the recipe, those with the first."""
    found, firsts = {}, {}
    forms = [normalized(text, recipe.normalize) for text in corpus]
    for i, j in itertools.combinations(range(len(corpus)), 2):
        has_elements = bool(shingles(corpus[j], similarity, recipe))
        if forms[i] == forms[j]:
            if has_elements or naive.words(naive.normalize(forms[j])) or firsts.setdefault(forms[i], i) == i:
                found[i, j] = 1.0
            continue
        left, right = (shingles(corpus[each], similarity, recipe) for each in (i, j))
        alike = naive.similarity_of_items(similarity.measure, left, right) if left and right else 0.0
        if alike >= least:
            found[i, j] = alike
    return found


@given(corpus=corpora, similarity=similarities(), least=st.sampled_from([0.2, 0.5, 2 / 3, 1.0]), method=st.sampled_from(["exact", "auto"]))  # fmt: skip
@example(["A b", "a b", "a B"], nd.Similarity(normalize=(), word_shingle=1), 0.5, "exact")
@settings(max_examples=80)
def test_exact_lists_every_pair(corpus, similarity, least, method):
    recipe = fitting(similarity)
    found = pairs_of(nd.match(corpus, method=method, similarity=similarity, min_similarity=least, recipe=recipe))
    assert found == pytest.approx(expected_pairs(corpus, similarity, recipe, least))


@given(corpus=corpora, similarity=similarities(("jaccard",)), method=st.sampled_from(["minhash", "simhash"]))
@settings(max_examples=40)
def test_methods_that_may_miss_pairs_list_no_others(corpus, similarity, method):
    recipe = fitting(similarity)
    found = pairs_of(
        nd.match(corpus, method=method, similarity=similarity, min_similarity=0.5, max_distance=128, recipe=recipe)
    )
    expected = expected_pairs(corpus, similarity, recipe, 0.5)
    assert found == pytest.approx({pair: alike for pair, alike in expected.items() if pair in found})
    assert all(pair in found for pair, alike in expected.items() if alike == 1.0 and method == "minhash")


@given(corpus=corpora, similarity=similarities(), cluster=st.sampled_from(["star", "components"]))
@settings(max_examples=40)
def test_survivors_are_those_of_a_naive_walk(corpus, similarity, cluster):
    recipe = fitting(similarity)
    options = {"method": "exact", "similarity": similarity, "min_similarity": 0.5, "cluster": cluster}
    result = nd.deduplicate(corpus, recipe=recipe, **options)

    def grade(q, p):
        if normalized(corpus[q], recipe.normalize) == normalized(corpus[p], recipe.normalize):
            return 1.0
        left, right = (shingles(corpus[each], similarity, recipe) for each in (q, p))
        return naive.similarity_of_items(similarity.measure, left, right) if left and right else 0.0

    if cluster == "star":
        kept = [survivor == row for row, (survivor, _) in enumerate(naive.star(len(corpus), grade, 0.5))]
    else:
        kept = [first == row for row, first in enumerate(naive.components(len(corpus), grade, 0.5))]
    assert result.kept.tolist() == kept


def test_a_name_is_the_similarity_with_the_defaults_of_its_measure():
    for name in MEASURES:
        assert similarity_of(nd.Similarity(measure=name)) == name
        assert similarity_of(name) == name == measure_of(nd.Similarity(measure=name))
    assert nd.Similarity(word_shingle=3, cjk_shingle=5) == nd.Similarity()
    assert nd.Similarity(measure="edit", word_shingle=1, cjk_shingle=1) == nd.Similarity(measure="edit")
    corpus = ["a b c d e f g", "a b c d e f g h", "x"]
    summaries = [
        nd.deduplicate(corpus, similarity=each).summary.as_dict()["options"] for each in ("jaccard", nd.Similarity())
    ]
    assert summaries[0] == summaries[1]
    assert summaries[0]["similarity"] == "jaccard"


@pytest.mark.parametrize("form", ["set", "occurrences", "sequence"])
@given(text=texts)
@settings(max_examples=30)
def test_the_way_with_names_makes_the_elements_of_the_way_without(form, text):
    """Both ways must agree: a similarity that spells out the folding of the recipe is not another similarity."""
    measure = {"set": "jaccard", "occurrences": "weighted", "sequence": "edit"}[form]
    import pyarrow as pa

    from neardup.fingerprints.shingle_hashes import shingle_hashes
    from neardup.matching.similarities.table import in_form, maker_of

    array, recipe = pa.array([text, text + " a a", ""], pa.large_string()), nd.Recipe()
    similarity = nd.Similarity(measure=measure, normalize=(FOLD,))
    maker = maker_of(similarity)
    plainly = maker.stored(array, recipe)
    by_name = in_form(*shingle_hashes(array, similarity, recipe), maker.verified)
    assert plainly.values.tolist() == by_name.values.tolist()
    assert plainly.offsets.tolist() == by_name.offsets.tolist()


def test_digests_are_frozen_and_differ():
    """A digest that changes by accident would make files of one version foreign to the next."""
    found = {
        "jaccard": nd.Similarity(),
        "edit": nd.Similarity(measure="edit"),
        "cosine": nd.Similarity(measure="cosine"),
        "shingle": nd.Similarity(word_shingle=1),
        "whitespace": nd.Similarity(segmenter="whitespace", word_shingle=2, normalize=()),
        "folded": nd.Similarity(normalize=[FOLD]),
        "stop": nd.Similarity(stop_words=["en"]),
    }
    assert len({each.digest() for each in found.values()}) == len(found)
    assert {name: each.digest() for name, each in found.items()} == DIGESTS


DIGESTS = {
    "jaccard": "d0d347832f35e9ae",
    "edit": "92ada54ab6fb5167",
    "cosine": "3247f71fa4429043",
    "shingle": "9a3a20052aea4d15",
    "whitespace": "5c4fb27e6c7cd8bf",
    "folded": "3786a54a8f31f25a",
    "stop": "bb655c00a2f76b1a",
}


@pytest.mark.parametrize(
    "similarity",
    [
        nd.Similarity(word_shingle=2, cjk_shingle=3),
        nd.Similarity(measure="weighted", segmenter="whitespace", word_shingle=1, normalize=()),
        nd.Similarity(normalize=[FOLD, "digits"], stop_words=["en", "zh"]),
        nd.Similarity(measure="edit", segmenter="characters"),
    ],
)
def test_a_stored_similarity_is_the_same(similarity):
    recorded = json.loads(json.dumps(similarity.as_dict()))
    again = stored_similarity(recorded)
    assert again.digest() == similarity.digest() == digest_of(recorded)
    again.check_available()


def test_a_stored_similarity_without_its_parts_is_refused_by_name(tmp_path):
    words = tmp_path / "stop.txt"
    words.write_text("the\n")
    own = nd.Similarity(stop_words=[words], segmenter=nd.Segmenter(split, name="split", version="1"))
    again = stored_similarity(json.loads(json.dumps(own.as_dict())))
    assert again.digest() == own.digest()
    with pytest.raises(
        nd.OptionError, match="`similarity`: of its `segmenter`, only the identity, .*split.* is recorded"
    ):
        nd.match(["a b"], similarity=again)
    with pytest.raises(nd.OptionError, match="only the identity"):
        nd.similarity("a b", "b a", similarity=again)
    for recorded in ("x", 1, {"measure": "x"}, {}):
        with pytest.raises(ValueError, match="is no similarity"):
            stored_similarity(recorded)


def test_a_recipe_that_equates_what_the_similarity_tells_apart_is_refused():
    for normalize, recipe in (
        ((), nd.Recipe()),
        (("lower",), nd.Recipe()),
        ((FOLD,), nd.Recipe(normalize=[FOLD, "digits"])),
    ):
        similarity = nd.Similarity(normalize=normalize)
        for use in (
            lambda s=similarity, r=recipe: nd.similarity("a", "A", similarity=s, recipe=r),
            lambda s=similarity, r=recipe: nd.match(["a", "A"], similarity=s, recipe=r),
            lambda s=similarity, r=recipe: nd.deduplicate(["a", "A"], similarity=s, recipe=r),
            lambda s=similarity, r=recipe: nd.evaluate(["a", "A"], similarity=s, recipe=r),
        ):
            with pytest.raises(
                nd.OptionError, match=r"texts that the recipe makes equal are one.*Give a recipe with `normalize="
            ):
                use()
    with pytest.raises(nd.OptionError, match="texts that the recipe makes equal"):
        nd.signatures(["a"], similarity=nd.Similarity(normalize=()))
    apart = {"similarity": nd.Similarity(normalize=(), word_shingle=1), "recipe": nd.Recipe(normalize=())}
    assert nd.deduplicate(["a b", "A b", "a b"], **apart).survivors == ["a b", "A b"]
    assert (
        nd.match(["a b", "A b"], min_similarity=0, max_distance=128, similarity=nd.Similarity(normalize=())) is not None
    )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"measure": "x"}, "`measure='x'`: give one of jaccard, weighted"),
        (
            {"measure": "cosine", "word_shingle": 2},
            "`word_shingle` with `measure='cosine'`, which compares the features",
        ),
        (
            {"measure": "cosine", "segmenter": "whitespace", "normalize": ()},
            "`segmenter` and `normalize` with `measure=",
        ),
        (
            {"measure": "edit", "word_shingle": 2},
            "`word_shingle=2` with `measure='edit'`, which compares single tokens",
        ),
        ({"word_shingle": 0}, "`word_shingle=0`: give an integer from 1 to 64"),
        ({"cjk_shingle": True}, "`cjk_shingle=True`: give an integer"),
        ({"segmenter": "whitespace", "cjk_shingle": 2}, "`cjk_shingle=2` is for `segmenter='words'`"),
        ({"segmenter": "x", "normalize": ["y"]}, "`segmenter='x'`: give one of .*; `normalize='y'`: give one of"),
        ({"mode": "search"}, "`mode='search'` with `segmenter='words'`"),
        ({"dictionary": "no.txt"}, "dictionary 'no.txt' cannot be read"),
        ({"stop_words": "en"}, "`stop_words='en'`: give a list"),
    ],
)
def test_similarities_that_are_not_possible_are_refused(fields, message):
    with pytest.raises(nd.OptionError, match=f"This similarity is not possible. .*{message}"):
        nd.Similarity(**fields)


def test_what_is_no_similarity_is_refused():
    with pytest.raises(nd.OptionError, match=r"did you mean jaccard\?\), or a file that ends in .toml"):
        nd.deduplicate(["a"], similarity="jacard")
    for value in (1, None, nd.Recipe()):
        with pytest.raises(
            nd.OptionError, match="give one of jaccard, .*, a `Similarity`, or a file that ends in .toml"
        ):
            nd.deduplicate(["a"], similarity=value)
    with pytest.raises(nd.OptionError, match="say the same"):
        nd.similarity("a", "b", kind="edit", similarity="jaccard")
    with pytest.raises(nd.OptionError, match="signatures estimate jaccard only"):
        nd.signatures(["a"], similarity="weighted")
    with pytest.raises(nd.OptionError, match="`similarity='edit'`: `method='minhash'` promises nothing"):
        nd.match(["a"], method="minhash", similarity=nd.Similarity(measure="edit", segmenter="characters"))
    with pytest.raises(nd.RecipeMismatch, match="the similarity jaccard cannot be compared|of the similarity"):
        nd.jaccard_estimate(nd.signatures(["a"]), nd.signatures(["a"], similarity=nd.Similarity(word_shingle=1)))


def test_a_similarity_of_a_file_has_its_paths_in_its_folder(tmp_path):
    (tmp_path / "stop.txt").write_text("of\n")
    path = tmp_path / "own.toml"
    path.write_text('word_shingle = 1\nstop_words = ["stop.txt"]\n')
    assert nd.similarity("cup of tea", "cup tea", similarity=path) == 1.0
    assert nd.similarity("cup of tea", "cup tea", similarity=str(path)) == 1.0
    path.write_text('word_shingel = 1\nmeasure = "x"\n')
    with pytest.raises(nd.OptionError, match=r"own.toml: a similarity has no `word_shingel` \(did you mean `word_shingle`\?\).*`measure='x'`"):  # fmt: skip
        nd.deduplicate(["a"], similarity=path)
    with pytest.raises(nd.InputError, match="There is no similarity file 'none.toml'"):
        nd.deduplicate(["a"], similarity="none.toml")


def test_the_refusal_of_a_recipe_that_would_be_ignored_says_what_to_give():
    with pytest.raises(nd.OptionError, match=r"give them to `similarity=Similarity\(…\)`"):
        nd.similarity("a d", "a c d", recipe=nd.Recipe(word_shingle=2))
    assert nd.similarity("a d", "a c d", similarity=nd.Similarity(word_shingle=1)) == 2 / 3


@given(corpus=st.lists(texts, min_size=1, max_size=5), similarity=similarities(("jaccard",)))
@settings(max_examples=20)
def test_signatures_are_of_the_shingles_of_the_similarity(corpus, similarity):
    recipe = fitting(similarity)
    found = nd.signatures(corpus, similarity=similarity, recipe=nd.Recipe(normalize=recipe.normalize), values=16)
    assert found.sizes.tolist() == [len(set(shingles(text, similarity, recipe))) for text in corpus]
    for i, j in itertools.combinations(range(len(corpus)), 2):
        same = set(shingles(corpus[i], similarity, recipe)) == set(shingles(corpus[j], similarity, recipe))
        assert (found.values[i].tolist() == found.values[j].tolist()) == same


def test_a_segmenter_of_the_caller_cuts_what_is_compared():
    own = nd.Similarity(word_shingle=1, segmenter=nd.Segmenter(lambda text: text.split("/"), name="slash", version="1"))
    assert nd.similarity("a b/c", "a b/d", similarity=own) == 1 / 3
    assert nd.match(["a b/c/d", "a b/d/c", "a/b"], similarity=own).left.tolist() == [0]


@pytest.mark.parametrize("method", ["exact", "minhash"])
@pytest.mark.parametrize(
    "recipe",
    [
        nd.Recipe(stop_words=["en"]),
        nd.Recipe(segmenter=nd.Segmenter(lambda text: [], name="nothing", version="1")),
    ],
)
def test_texts_without_tokens_by_the_recipe_are_compared_by_those_of_the_similarity(method, recipe):
    """A text of stop words only is no short text for a similarity that has them."""
    short = "the of and to the in that it is was for on are as with his they at be this from have or by one had"
    corpus = [short, short + " not", "", "!", "!", short + " but", "Of other words, this one is."]
    found = nd.match(corpus, method=method, recipe=recipe, min_similarity=0.8, max_distance=None)
    assert pairs_of(found) == pytest.approx(
        {
            (i, j): 1.0 if corpus[i] == corpus[j] else nd.similarity(corpus[i], corpus[j])
            for i, j in itertools.combinations(range(len(corpus)), 2)
            if corpus[i] == corpus[j] or nd.similarity(corpus[i], corpus[j]) >= 0.8
        }
    )


def test_a_remedy_is_named_once():
    with pytest.raises(nd.OptionError, match=r"Give a recipe with `normalize=\[\]`, or leave"):
        nd.deduplicate(["a"], similarity=nd.Similarity(normalize=[]))
    with pytest.raises(
        nd.OptionError, match=r"Give a recipe with `normalize=\['digits'\]` or `normalize=\[\]`, or leave"
    ):
        nd.deduplicate(["a"], similarity=nd.Similarity(normalize=["digits"]))


def test_a_similarity_by_a_package_of_another_version_says_what_to_install():
    values = nd.Similarity(segmenter="rjieba").as_dict()
    values["segmenter"]["rjieba"] = "0.0.1"
    with pytest.raises(
        nd.OptionError, match=r"its `segmenter` is not here: .* made with rjieba 0\.0\.1, .*pip install rjieba==0"
    ):
        stored_similarity(values).check_available()
