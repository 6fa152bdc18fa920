"""Similarities in words: what is given twice, and how stores show theirs."""

import pytest

import neardup as nd
from neardup.recipe.similarity import recorded_in_words, similarity_of, similarity_to_store


def test_a_field_that_is_given_twice_is_refused():
    with pytest.raises(nd.OptionError, match="word_shingle is given twice. Give it once"):
        similarity_of("jaccard(word_shingle=1, word_shingle=5)")


@pytest.mark.parametrize(
    "given", ["jaccard", "edit", "jaccard(word_shingle=1)", "weighted(word_shingle=2, cjk_shingle=3)"]
)
def test_what_was_recorded_is_shown_as_it_may_be_given(given):
    shown = recorded_in_words(similarity_to_store(given))
    assert similarity_of(shown) == similarity_of(given)


def test_what_words_cannot_say_is_shown_as_it_was_recorded():
    recorded = similarity_to_store(nd.Similarity(stop_words=("en",)))
    assert '"stop_words"' in recorded_in_words(recorded)
