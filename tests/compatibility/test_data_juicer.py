"""data-juicer's SimHash operator and its recipes."""

import numpy as np
import pytest

import neardup as nd
from compatibility.corpus import CHARACTERS, NEAR_COPIES, PIECES, TEXTS
from compatibility.recipes import assert_same_features, assert_same_values, clusters, features, fingerprints
from neardup.fingerprints.profiles.tools import DATA_JUICER
from neardup.fingerprints.profiles.values import data_juicer_value, moz_value

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]
NAMES = {"space": "data-juicer", "character": "data-juicer-character", "punctuation": "data-juicer-punctuation"}


@pytest.mark.parametrize("release", ["1.3.1", "1.6.1"])
@pytest.mark.parametrize("tokenization", NAMES)
def test_texts_have_the_same_features_and_fingerprints(release, tokenization, ask):
    texts = TEXTS + CHARACTERS
    found = ask("data-juicer", release, texts=texts, options={"tokenization": tokenization})
    assert_same_features(NAMES[tokenization], texts, found["features"])
    assert_same_values(texts, fingerprints(NAMES[tokenization], texts), map(int, found["values"]))
    some = len(PIECES)
    assert_same_values(texts[:some], map(moz_value, found["features"][:some]), map(int, found["values"][:some]))


@pytest.mark.parametrize("tokenization", NAMES)
@pytest.mark.parametrize("options", [{"window_size": 1}, {"lowercase": False}, {"ignore_pattern": "[aeiou\u0301]+"}])
def test_the_options_of_the_operator_do_the_same(tokenization, options, ask):
    options = {"tokenization": tokenization, **options}
    found = ask("data-juicer", "1.6.1", texts=TEXTS, options=options)
    assert_same_values(TEXTS, (data_juicer_value(text, **options) for text in TEXTS), map(int, found["values"]))


@pytest.mark.parametrize(
    ("release", "tokenization"),
    [  # releases before 1.0 stop at punctuation with an AttributeError
        *(
            (release, tokenization)
            for release in ("0.1.0", "1.2.0", "1.3.0")
            for tokenization in ("space", "character")
        ),
        ("1.2.0", "punctuation"),
        ("1.3.0", "punctuation"),
    ],
)
def test_releases_before_1_3_1_leave_out_the_last_window(release, tokenization, ask):
    found = ask("data-juicer", release, texts=TEXTS, options={"tokenization": tokenization})
    cut, between = DATA_JUICER[tokenization]
    between = "!" if tokenization == "punctuation" else between  # any mark
    shorter = [between.join(cut(text.lower())[:-1]) for text in TEXTS]
    ours = [data_juicer_value(text, tokenization=tokenization, lowercase=False) for text in shorter]
    assert_same_values(TEXTS, ours, map(int, found["values"]))


@pytest.mark.parametrize("tokenization", ["space", "character"])
def test_pairs_and_kept_texts_are_the_same(tokenization, ask):
    name = NAMES[tokenization]
    texts = [text for text in NEAR_COPIES + TEXTS if features(name, text)]
    found = ask("data-juicer", "1.6.1", texts=texts, options={"tokenization": tokenization}, pairs=True)
    values = np.unique(np.array(fingerprints(name, texts), np.uint64))
    ours = nd.join(values, max_distance=4)
    pairs = zip(values[ours.left].tolist(), values[ours.right].tolist(), strict=True)
    assert sorted([str(min(pair)), str(max(pair))] for pair in pairs) == found["pairs"]
    assert sorted(set(clusters(name, texts))) == found["kept"]
    assert len(found["kept"]) < len(texts) - 10
