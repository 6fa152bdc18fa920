"""Claims of the pages about what is found, and at what price."""

import random

import pytest

import neardup as nd
from neardup.judging.plan import plan_files

WORDS = [f"w{number}" for number in range(3000)]


def boilerplate(share, count=120, length=100):
    """Texts that share a passage of so many of their words, one after another or scattered."""
    chance = random.Random(3)
    common = chance.choices(WORDS, k=round(share * length))
    return [" ".join([*common, *chance.choices(WORDS, k=length - len(common))]) for _ in range(count)]


@pytest.mark.parametrize(("share", "nearly_all"), [(0.8, True), (0.2, False)])
def test_a_passage_that_all_texts_share_makes_all_pairs_match_if_it_is_most_of_them(tmp_path, share, nearly_all):
    texts = boilerplate(share)
    pairs = len(texts) * (len(texts) - 1) // 2
    assert (len(nd.match(texts, min_similarity=0.5)) == pairs) is nearly_all
    (tmp_path / "in.txt").write_text("\n".join(texts))
    plan = plan_files(tmp_path / "in.txt", lines=True, min_similarity=0.5)
    exact = next(each for each in plan.estimates if each.method == "exact")
    assert (exact.candidates > 0.9 * pairs) is nearly_all


def test_texts_that_share_scattered_words_are_no_candidates():
    chance = random.Random(4)
    common = chance.choices(WORDS, k=50)
    texts = [
        " ".join(word for pair in zip(common, chance.choices(WORDS, k=50), strict=True) for word in pair)
        for _ in range(60)
    ]
    assert len(nd.match(texts, min_similarity=0.5)) == 0


def test_languages_without_spaces_are_compared_by_characters():
    before = "เรือข้ามฟากออกจากท่าเรือเก่าเวลาเก้าโมงสิบนาทีทุกเช้า"
    after = before.replace("เก้าโมง", "แปดโมง")
    by_characters = nd.Similarity(segmenter="characters", word_shingle=5)
    assert nd.similarity(before, after) == 0
    assert nd.similarity(before, after, similarity=by_characters) > 0.5
    assert nd.similarity(before, after, similarity=str(by_characters)) > 0.5


@pytest.mark.parametrize("factor", [1.0, 1e6])
def test_tiny_weights_decide_bits_once_they_are_multiplied(factor):
    weights = {"a": 3e-6, "b": -1e-6, "c": 2e-6}
    found = nd.fingerprint_features([{name: value * factor for name, value in weights.items()}])
    expected = nd.fingerprint_features([{name: value * 1e6 for name, value in weights.items()}])
    assert (found == expected).all() == (factor > 1)


def test_a_copy_of_a_removed_text_names_what_the_first_copy_named():
    a = "one two three four five six seven eight nine ten"
    texts = [a + " x1 x2 x3", a, "k " + a, a]  # the third is kept, and the most similar to the last
    done = nd.deduplicate(texts, min_similarity=0.7).duplicates
    named = dict(zip(done["row"].to_pylist(), done["survivor_row"].to_pylist(), strict=True))
    similar = {row: [nd.similarity(texts[row], texts[other]) for other in (0, 2)] for row in (1, 3)}
    assert 2 not in named
    assert similar[3][1] > similar[3][0]
    assert named[1] == named[3] == 0
