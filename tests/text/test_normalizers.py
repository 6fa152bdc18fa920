"""Normalizers and stop words: each step against its definition, in the order given."""

import re
import unicodedata

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import neardup as nd
from guards import not_empty
from neardup.recipe import stored_parts
from neardup.recipe.files.word_lists import STOP_LISTS, stop_list
from neardup.recipe.tables.parts import NORMALIZERS
from neardup.text import normalizers
from neardup.text.normalizers import NORMALIZER_TABLE, normalized
from neardup.text.segmenters.table import tokens_of
from strategies import any_text, texts

some_texts = st.lists(st.one_of(any_text, texts), max_size=5)


def after(given_texts, steps):
    found = normalized(pa.array(given_texts, pa.large_string()), steps)
    return [found[d] for d in range(len(found))]


def tokens(text, recipe):
    found = tokens_of(normalized(pa.array([text], pa.large_string()), recipe.normalize), recipe)
    return [found.text(i) for i in range(len(found.starts))]


def test_every_normalizer_that_recipes_know_is_in_the_table():
    assert set(NORMALIZER_TABLE) == set(NORMALIZERS)


@given(some_texts)
@pytest.mark.parametrize("name", sorted(naive.NORMALIZERS))
def test_each_step_is_what_its_definition_says(name, given_texts):
    assert after(given_texts, [name]) == [naive.NORMALIZERS[name](text) for text in given_texts]


@given(some_texts, st.lists(st.sampled_from(sorted(naive.NORMALIZERS)), max_size=4))
def test_steps_follow_one_another_as_given_and_none_leaves_texts_as_they_are(given_texts, steps):
    expected = given_texts
    for step in steps:
        expected = [naive.NORMALIZERS[step](text) for text in expected]
    assert after(given_texts, steps) == expected


def test_steps_say_what_they_do():
    assert after(["Ａ１ ﬁ ß"], ["nfkc"]) == ["A1 fi ß"]
    assert after(["Straße ΣΑΣ"], ["casefold"]) == ["strasse σασ"]
    assert after(["Straße ΣΑΣ"], ["lower"]) == ["straße σας"]
    assert after(["1984 ٣ ９ ½ ②"], ["digits"]) == ["0000 0 0 ½ ②"]
    assert after(["«don't», a_b + c。「ア」€"], ["punctuation"]) == ["dont ab  cア€"]
    assert after(["漢字轉換，頭髮與發展"], ["simplified"]) == ["汉字转换，头发与发展"]
    assert after([None, "a\0b"], []) == ["", "a\0b"]


def test_sliced_columns_with_nulls_are_normalized_like_others():
    column = pa.array(["left out", "Ａ1", None, "ｂ.2"], pa.large_string()).slice(1)
    for name in not_empty(NORMALIZERS):
        found = normalized(column, [name])
        assert [found[d] for d in range(3)] == [normalized(column.take([d]), [name])[0] for d in range(3)]


def test_what_a_later_unicode_knows_is_left_alone(monkeypatch):
    monkeypatch.setattr(normalizers, "UNICODE_VERSION", "0")  # so that unassigned characters are looked for
    unknown = "\U0001fa75"  # assigned in Unicode 15.0
    assert after([f"Ａ{unknown}Ｂ"], ["nfkc"]) == [f"A{unknown}B"]
    assert after([f"A{unknown}B"], ["casefold"]) == [f"a{unknown}b"]


def test_a_missing_opencc_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr(stored_parts, "version_of", lambda name: None)
    with pytest.raises(nd.MissingExtra, match=r"opencc\. Install it: pip install 'neardup\[zh\]'"):
        nd.fingerprint(["a"], recipe=nd.Recipe(normalize=["simplified"]))


@given(texts, st.lists(st.sampled_from(["the", "quick", "国", "ひ", "don", "A", "é"]), min_size=1))
def test_stop_words_are_left_out_before_windows_are_formed(tmp_path_factory, text, words):
    path = tmp_path_factory.mktemp("stop") / "words.txt"
    path.write_text("\n".join(words), encoding="utf-8")
    left = [token for token in naive.tokens(text) if token not in {naive.normalize(word) for word in words}]
    assert tokens(text, nd.Recipe(stop_words=[path])) == left


def test_features_run_over_stop_words():
    recipe = nd.Recipe(word_shingle=2, stop_words=["en"])
    shown = nd.compare("the cat and the dog", "", recipe=recipe).left
    assert [feature.name for feature in shown.features] == ["cat dog"]


def test_stop_words_are_normalized_as_texts_are(tmp_path):
    path = tmp_path / "stop.txt"
    path.write_text("ＴＨＥ\n", encoding="utf-8")
    assert tokens("the cat", nd.Recipe(stop_words=[path])) == ["cat"]
    assert tokens("the THE cat", nd.Recipe(stop_words=[path], normalize=["nfkc"])) == ["the", "cat"]


@pytest.mark.parametrize(
    ("name", "segmenter", "text", "left"),
    [
        ("en", "words", "It isn't the cat's fault", ["cat", "fault"]),
        ("zh", "jieba", "我们的法律是公正的", ["法律", "公正"]),
        ("ja", "sudachi", "私は図書館へ行きました", ["図書館", "行き"]),
    ],
)
def test_lists_of_the_package_leave_what_carries_meaning(name, segmenter, text, left):
    assert tokens(text, nd.Recipe(segmenter=segmenter, stop_words=[name])) == left


@pytest.mark.parametrize("name", STOP_LISTS)
def test_lists_of_the_package_are_in_normal_form_without_repetition(name):
    lines = stop_list(name).lines
    assert len(set(lines)) == len(lines)
    assert [unicodedata.normalize("NFKC", line).casefold() for line in lines] == list(lines)
    assert not [line for line in lines if re.search(r"\s", line)]


def test_digests_of_the_lists_of_the_package_are_frozen():
    """A changed list changes bits: say so in CHANGELOG."""
    assert {name: stop_list(name).digest for name in STOP_LISTS} == {
        "zh": "0e22a8c6df9180da",
        "ja": "7ffd1b8aa717b17b",
        "en": "9fc417b21567c4e7",
    }


def test_many_stop_words_cost_no_false_hits(tmp_path):
    path = tmp_path / "stop.txt"
    path.write_text("\n".join(f"w{i}" for i in range(0, 4000, 2)))
    found = tokens(" ".join(f"w{i}" for i in range(4000)), nd.Recipe(stop_words=[path]))
    np.testing.assert_array_equal(found, [f"w{i}" for i in range(1, 4000, 2)])
