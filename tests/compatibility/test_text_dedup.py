"""text-dedup's SimHash and the recipes of its releases."""

import pytest

from compatibility.corpus import CHARACTERS, NEAR_COPIES, PIECES, TEXTS
from compatibility.recipes import assert_same_features, assert_same_values, clusters, fingerprints
from compatibility.tools import TOOLS

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]
SHORT = [text for text in TEXTS if len(text) < 5]


@pytest.mark.parametrize("release", TOOLS["text-dedup"].releases)
def test_texts_have_the_same_features_and_fingerprints(release, ask):
    name = f"text-dedup-{release}"
    texts = TEXTS + CHARACTERS
    found = ask("text-dedup", release, texts=texts, bits=64)
    assert_same_features(name, texts, found["features"])
    values = [0 if value == "00" else int(value, 16) for value in found["fingerprints"]]
    assert_same_values(texts, fingerprints(name, texts), values)


@pytest.mark.parametrize("release", ["0.3.1", "0.4.0"])
def test_fingerprints_of_128_bits_are_the_same(release, ask):
    texts = [text for text in TEXTS if len(text) >= 5]
    found = ask("text-dedup", release, texts=texts, bits=128)
    values = [int(value, 16) for value in found["fingerprints"]]
    assert_same_values(texts, fingerprints(f"text-dedup-{release}", texts, bits=128), values)


@pytest.mark.parametrize("release", ["0.3.1", "0.4.0"])
def test_a_text_of_less_than_5_characters_has_one_byte_there_and_none_here(release, ask):
    found = ask("text-dedup", release, texts=SHORT, bits=64)
    assert set(found["fingerprints"]) == {"00"}
    assert set(fingerprints(f"text-dedup-{release}", SHORT)) == {0}


@pytest.mark.parametrize("release", ["0.3.1", "0.4.0"])
def test_the_command_keeps_one_text_of_each_cluster(release, ask):
    texts = [text for text in [*NEAR_COPIES, *PIECES.values()] if len(text) >= 5]
    found = ask("text-dedup", release, texts=texts, bits=64, command=True)
    assert found["stopped"] == ""
    ours = clusters(f"text-dedup-{release}", texts)
    kept = sorted(ours[row] for row in found["kept"])
    assert kept == sorted(set(ours))
    assert len(kept) < len(texts) - 15
    if release == "0.3.1":  # the first; 0.4.0 keeps whichever text its union by rank makes the root
        assert kept == found["kept"]


@pytest.mark.parametrize("release", ["0.3.1", "0.4.0"])
def test_the_command_stops_at_a_text_of_less_than_5_characters(release, ask):
    found = ask("text-dedup", release, texts=["a longer text", "four"], bits=64, command=True)
    assert "AssertionError: 64, 1, 64" in found["stopped"]
