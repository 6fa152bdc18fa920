"""`split` and `GroupSplitter`: no two documents on different sides match, and the deal is the one that is defined."""

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import naive_splits
import neardup as nd
from neardup.fingerprints.documents import read_documents
from neardup.io.corpora.table_corpus import TableCorpus
from neardup.progress import Progress

pytestmark = pytest.mark.filterwarnings("ignore::neardup.SplitWarning")
"""Most corpora here are so small that two documents decide a side."""
HALVES = {"train": 0.5, "test": 0.5}
SHARES = {"train": 0.6, "val": 0.2, "test": 0.2}
ROSE, ROSE_TOO, TULIP, OAK = "A rose is a rose, said she.", "a rose is a rose said she", "A tulip.", "An oak."
FLOWERS = [ROSE, TULIP, ROSE_TOO, OAK]

words = st.sampled_from("ferry clock bread bridge stone winter".split())
texts = st.lists(words, min_size=1, max_size=5).map(" ".join)
rows = st.lists(
    st.fixed_dictionaries(
        {
            "text": texts,
            "host": st.sampled_from(["a", "b", None]),
            "repo": st.sampled_from([1, 2, 3, None, None, None]),
            "label": st.sampled_from(["x", "y", None]),
        }
    ),
    max_size=14,
)


def digests(data):
    """The digests of normalized texts, which the definition takes as given."""
    found = read_documents(TableCorpus(data), nd.Recipe(), progress=Progress()).digests
    return [tuple(map(int, each)) for each in found]


def defined(data, shares, *, least=0.8, seed=0, within=None, group=None, stratify=None):
    """The side of each row, by the definition."""

    def linked(p, q):
        if group is not None and data[p][group] is not None and data[p][group] == data[q][group]:
            return True
        if within is not None and data[p][within] != data[q][within]:
            return False
        one, other = data[p]["text"], data[q]["text"]
        return naive.normalize(one) == naive.normalize(other) or naive.similarity(one, other) >= least

    units = naive_splits.together(len(data), linked)
    keys = {}
    for row, digest in enumerate(digests(data)):
        key = naive_splits.key(seed, digest, None if within is None else data[row][within])
        keys[units[row]] = min(key, keys.get(units[row], key))
    strata = ["" if stratify is None else str(row[stratify]) for row in data]
    side = naive_splits.deal(units, strata, keys, naive_splits.fractions(shares.values()))
    return [list(shares)[side[unit]] for unit in units]


@given(rows, st.integers(-3, 3), st.booleans(), st.booleans(), st.booleans())
def test_documents_are_dealt_as_defined(data, seed, within, group, stratify):
    how = {"within": "host"} if within else {}
    how |= ({"group": "repo"} if group else {}) | ({"stratify": "label"} if stratify else {})
    data = data or [{"text": "a", "host": None, "repo": None, "label": None}]
    assert nd.split(data, SHARES, seed=seed, **how) == defined(data, SHARES, seed=seed, **how)


@given(rows, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(data, random):
    order = random.sample(range(len(data)), len(data))
    how = {"group": "repo", "stratify": "label"} if data else {}
    one = nd.split(data, SHARES, **how)
    assert nd.split([data[row] for row in order], SHARES, **how) == [one[row] for row in order]


def test_seeds_deal_differently_and_each_always_the_same():
    many = [f"text number {number} of the {number % 7}" for number in range(60)]
    found = {seed: nd.split(many, HALVES, seed=seed, min_similarity=1) for seed in (0, 1, -1, 2**64 - 1)}
    assert len({tuple(sides) for sides in found.values()}) == 4
    assert all(Counter(sides) == {"train": 30, "test": 30} for sides in found.values())
    assert nd.split(many, HALVES, seed=np.int64(1), min_similarity=1) == found[1]


KINDS = [
    (list, list),
    (tuple, list),
    (iter, list),
    (lambda texts: [{"text": text} for text in texts], list),
    (lambda texts: np.array(texts), np.ndarray),
    (lambda texts: pa.array(texts), pa.Array),
    (lambda texts: pa.table({"text": texts}), pa.Array),
    (lambda texts: pl.Series(texts), pl.Series),
    (lambda texts: pl.DataFrame({"text": texts}), pl.Series),
    (lambda texts: pl.DataFrame({"text": texts}).lazy(), pl.Series),
    (lambda texts: pd.Series(texts, index=[3, 1, 4, 5]), pd.Series),
    (lambda texts: pd.DataFrame({"text": texts}, index=[3, 1, 4, 5]), pd.Series),
]


@pytest.mark.parametrize(("make", "kind"), KINDS)
def test_the_column_is_of_the_kind_of_the_data(make, kind):
    found = nd.split(make(FLOWERS), HALVES)
    assert isinstance(found, kind)
    assert list(found.to_pylist() if kind is pa.Array else found) == ["train", "test", "train", "test"]
    if kind is pd.Series:
        assert (found.index.tolist(), found.name) == ([3, 1, 4, 5], "side")
    if kind is pl.Series:
        assert (found.name, found.dtype) == ("side", pl.String)


def test_given_lists_are_split_by_their_elements():
    baskets = [["a", "b", "c"], ["c", "b", "a"], ["x"], ["y"]]
    sides = nd.split(baskets, HALVES)
    assert sides[0] == sides[1] != sides[2] == sides[3]
    assert nd.split([{"tags": each} for each in baskets], HALVES, elements="tags") == sides


def test_another_version_and_measure_of_similarity_decide_what_matches():
    thai = ["ภาษาไทย", "ภาษาไทยๆ"]
    texts = [*thai, "one two three four", "one two three five"]
    plain = nd.split(texts, HALVES, min_similarity=0.6)
    assert plain[0] != plain[1]
    version = nd.Similarity(measure="jaccard", version=2)
    apart = nd.split(texts, HALVES, similarity=version, min_similarity=0.6)
    assert apart[0] == apart[1]
    edited = nd.split(texts, HALVES, similarity="edit", min_similarity=0.7)
    assert edited[2] == edited[3]


def test_one_set_of_matching_documents_that_decides_a_side_is_told():
    with pytest.warns(
        nd.SplitWarning, match="stay together, so one set of matching documents decides this side"
    ) as told:
        assert set(nd.split([ROSE, ROSE_TOO, ROSE, TULIP], HALVES)) == {"train", "test"}
    assert told[0].filename == __file__
    with pytest.warns(nd.SplitWarning, match=r"train has 75.0 % of the documents, and 50 % were asked for"):
        nd.split([ROSE, ROSE_TOO, ROSE, TULIP], HALVES)


def test_all_in_one_component_and_nothing_at_all():
    assert nd.split([ROSE] * 5, HALVES) == ["train"] * 5
    assert nd.split([], HALVES) == []
    assert nd.split(["", "", ""], HALVES) == ["train"] * 3


REFUSED = [
    (lambda: nd.split(FLOWERS, {"train": 0.9}), "a split has two sides or more"),
    (lambda: nd.split(FLOWERS, {"train": 0.9, "test": 0.2}), "the shares add up to 1.1. Make it 1."),
    (
        lambda: nd.split(FLOWERS, {"train": 1, "test": 0}),
        "the share of 'train' is 1. Give a number above 0 and below 1",
    ),
    (lambda: nd.split(FLOWERS, {"train": True, "test": 0.5}), "the share of 'train' is True"),
    (
        lambda: nd.split(FLOWERS, {"a/b": 0.5, "test": 0.5}),
        "'a/b' cannot name a side and its files. Use letters, digits",
    ),
    (
        lambda: nd.split(FLOWERS, {"Conflicts": 0.5, "test": 0.5}),
        "'Conflicts' is the name of documents that match two sides",
    ),
    (lambda: nd.split(FLOWERS, {"Train": 0.5, "train": 0.5}), "two sides are called 'train'"),
    (lambda: nd.split(FLOWERS, "train=0.5,train=0.5"), "two sides are called 'train'"),
    (lambda: nd.split(FLOWERS, "train 0.5"), "'train 0.5' is not NAME=SHARE"),
    (lambda: nd.split(FLOWERS, "train=half,test=0.5"), "'train=half' is not NAME=SHARE"),
    (lambda: nd.split(FLOWERS, [0.5, 0.5]), "give the share of each side, such as"),
    (lambda: nd.split(FLOWERS, HALVES, seed=1.5), "`seed=1.5`: give an integer of 64 bits"),
    (lambda: nd.split(FLOWERS, HALVES, seed=2**64), "give an integer of 64 bits"),
    (lambda: nd.split(FLOWERS, HALVES, group=""), "`group=''`: give the name of a column"),
    (lambda: nd.split(FLOWERS, HALVES, stratify=3), "`stratify=3`: give the name of a column"),
    (lambda: nd.split(FLOWERS, HALVES, min_similarity=0), "every two documents would match. Give a number above 0"),
    (lambda: nd.split(FLOWERS, HALVES, method="minhash"), "`method`: split() has no such option"),
    (lambda: nd.split(FLOWERS, HALVES, threshold=0.5), "did you mean `min_similarity`?"),
    (lambda: nd.GroupSplitter(1), "`n_splits=1`: give a number of folds, from 2 to 10,000"),
    (lambda: nd.GroupSplitter(3, stratify="y"), "`stratify='y'`: give True, to share out the values of y, or False"),
    (lambda: nd.GroupSplitter(3, keep="last"), "`keep`: GroupSplitter() has no such option"),
    (
        lambda: list(nd.GroupSplitter(5).split(FLOWERS)),
        "X has 3 sets of documents that stay together, and each fold needs one",
    ),
    (
        lambda: list(nd.GroupSplitter(2, stratify=True).split(FLOWERS)),
        "shares out the values of `y`, which is not given",
    ),
    (
        lambda: list(nd.GroupSplitter(2).split(FLOWERS, groups=[1])),
        "`groups` has 1 value, and X has 4 rows. Give as many.",
    ),
    (
        lambda: list(nd.GroupSplitter(2).split(np.zeros((4, 7)))),
        "X is a matrix of 4 rows and 7 columns; texts are needed",
    ),
]


@pytest.mark.parametrize(("call", "said"), REFUSED)
def test_what_cannot_be_split_is_refused_in_words(call, said):
    with pytest.raises(nd.OptionError) as problem:
        call()
    assert said in str(problem.value)


@pytest.mark.parametrize("option", ["group", "stratify", "within"])
def test_a_column_that_is_missing_is_named(option):
    with pytest.raises(nd.InputError, match=r"There is no column 'host' for the values\. The columns are text"):
        nd.split([{"text": ROSE}], HALVES, **{option: "host"})


@given(rows, st.integers(2, 4), st.booleans(), st.booleans())
def test_folds_have_no_matches_and_together_all_rows(data, n_splits, with_groups, stratify):
    found = nd.GroupSplitter(n_splits, stratify=stratify, min_similarity=0.6)
    given = [row["text"] for row in data]
    groups = [row["repo"] for row in data] if with_groups else None
    try:
        folds = list(found.split(given, [row["label"] for row in data], groups))
    except nd.OptionError:
        assert len(given) < 2 * n_splits or with_groups  # too few sets for the folds
        return
    assert sorted(row for _, test in folds for row in test.tolist()) == list(range(len(data)))
    for train, test in folds:
        assert len(test)
        assert sorted([*train.tolist(), *test.tolist()]) == list(range(len(data)))
        for one in test.tolist():
            for other in train.tolist():
                assert naive.similarity(given[one], given[other]) < 0.6
                assert not with_groups or groups[one] is None or groups[one] != groups[other]


def test_groups_of_any_kind_of_column_stay_together_and_missing_ones_are_none():
    for groups in (
        [1, None, None, 1],
        np.array([1, np.nan, np.nan, 1]),
        pd.Series([1, None, None, 1]),
        pa.array([1, None, None, 1]),
    ):
        folds = [test.tolist() for _, test in nd.GroupSplitter(2).split(FLOWERS, groups=groups)]
        assert folds == [[0, 2, 3], [1]]
    assert repr(nd.GroupSplitter(2, within="host")) == "GroupSplitter(2, stratify=False, seed=0, within='host')"
    assert nd.GroupSplitter(3).get_n_splits(FLOWERS) == 3


def test_scikit_learn_takes_it_as_a_cross_validator():
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
    from sklearn.pipeline import make_pipeline

    base = [f"the {noun} of number {number}" for number in range(12) for noun in ("ferry", "clock")]
    labels = [number % 2 for number in range(24)]
    cv = nd.GroupSplitter(3, stratify=True, min_similarity=1)
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression())
    assert cross_val_score(pipeline, base, labels, cv=cv).tolist() == [1.0] * 3
    assert (
        cross_val_score(pipeline, base, labels, cv=cv, groups=[number // 2 for number in range(24)]).tolist()
        == [1.0] * 3
    )
    search = GridSearchCV(pipeline, {"logisticregression__C": [0.1, 1.0]}, cv=cv).fit(base, labels)
    assert search.n_splits_ == 3
    frame = pd.DataFrame({"text": base})
    assert len(list(cv.split(frame, pd.Series(labels)))) == 3
    clusters = nd.deduplicate(base, cluster="components").annotations["cluster_id"].to_numpy()
    assert not np.isnan(clusters).any()
    assert len(list(GroupKFold(2).split(base, groups=clusters))) == 2
