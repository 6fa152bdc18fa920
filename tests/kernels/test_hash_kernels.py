"""The hashes of features against other implementations, published values, and their slow twins."""

import json

import fnvhash
import google_crc32c
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_hashes
from columns import as_integers, joined
from guards import not_empty
from neardup.kernels.fingerprints.fnv import fnv1_64, fnv1a_32, fnv1a_64, go_fnv1a
from neardup.kernels.fingerprints.jenkins import lookup3, lookup3_features, phash2, phash2_features
from neardup.kernels.fingerprints.widths import widen_values
from neardup.kernels.io.crc32c import crc32c
from places import GOLDEN

u64 = np.uint64
FNV = {"fnv1_64": fnv1_64, "fnv1a_32": fnv1a_32, "fnv1a_64": fnv1a_64}


def pattern(n):
    """The bytes of which the frozen values are."""
    return bytes((31 * n + 17 * i * i + i) % 256 for i in range(n))


PATTERNS = [pattern(n) for n in range(301)]


def values_of(kernel, features):
    out = np.empty((len(features), 1), u64)
    kernel(*joined(features), out)
    return out[:, 0].tolist()


@pytest.mark.parametrize(
    ("name", "feature", "value"),
    [
        ("fnv1_64", b"", 0xCBF29CE484222325),
        ("fnv1_64", b"a", 0xAF63BD4C8601B7BE),
        ("fnv1_64", b"foobar", 0x340D8765A4DDA9C2),
        ("fnv1a_64", b"", 0xCBF29CE484222325),
        ("fnv1a_64", b"a", 0xAF63DC4C8601EC8C),
        ("fnv1a_64", b"foobar", 0x85944171F73967E8),
        ("fnv1a_32", b"", 0x811C9DC5),
        ("fnv1a_32", b"a", 0xE40C292C),
        ("fnv1a_32", b"foobar", 0xBF9CF968),
    ],
)
def test_fnv_gives_the_values_that_its_authors_publish(name, feature, value):
    assert values_of(FNV[name], [feature]) == [value]


@pytest.mark.parametrize("name", FNV)
def test_fnv_agrees_with_the_fnvhash_package_on_0_to_300_bytes(name):
    assert values_of(FNV[name], PATTERNS) == [getattr(fnvhash, name)(feature) for feature in PATTERNS]


def test_the_go_programs_hash_is_fnv1a_with_the_sign_that_go_prints():
    hashes = values_of(fnv1a_64, PATTERNS)
    assert any(value >= 2**63 for value in hashes)
    assert values_of(go_fnv1a, PATTERNS) == [value if value < 2**63 else 2**63 + (2**64 - value) for value in hashes]
    assert values_of(go_fnv1a, PATTERNS) == [naive_hashes.go_fnv1a(feature) for feature in PATTERNS]


@pytest.mark.parametrize(
    ("feature", "pc", "pb", "value"),
    [
        (b"", 0, 0, 0xDEADBEEF_DEADBEEF),
        (b"", 0, 0xDEADBEEF, 0xBD5B7DDE_DEADBEEF),
        (b"", 0xDEADBEEF, 0xDEADBEEF, 0x9C093CCD_BD5B7DDE),
        (b"Four score and seven years ago", 0, 0, 0x17770551_CE7226E6),
        (b"Four score and seven years ago", 0, 1, 0xE3607CAE_BD371DE4),
        (b"Four score and seven years ago", 1, 0, 0xCD628161_6CBEA4B3),
    ],
)
def test_lookup3_gives_the_values_that_its_author_publishes(feature, pc, pb, value):
    data, _ = joined([feature])
    assert lookup3(data, 0, len(data), u64(pc), u64(pb)) == value
    assert naive_hashes.lookup3(feature, pc, pb) == value


def test_lookup3_agrees_with_its_authors_program_on_0_to_300_bytes():
    frozen = json.loads((GOLDEN / "lookup3.json").read_text())
    assert values_of(lookup3_features, PATTERNS) == [int(value, 16) for value in frozen["values"]]


def test_phash2_agrees_with_erlang_on_0_to_300_bytes_and_on_words():
    frozen = json.loads((GOLDEN / "phash2.json").read_text())
    assert values_of(phash2_features, PATTERNS) == frozen["phash2(Binary, 1 bsl 32)"]
    assert [value % 2**27 for value in values_of(phash2_features, PATTERNS)] == frozen["phash2(Binary)"]
    assert values_of(phash2_features, [word.encode() for word in frozen["words"]]) == list(frozen["words"].values())
    for length, value in frozen["longer"].items():
        data, _ = joined([pattern(int(length))])
        assert phash2(data, 0, len(data)) == value


def test_the_published_check_value_of_crc32c_is_found_after_the_final_xor():
    data, _ = joined([b"123456789"])
    assert int(crc32c(data, 0, 9)) ^ 0xFFFFFFFF == 0xE3069283


def test_crc32c_agrees_with_the_google_crc32c_package_on_0_to_300_bytes():
    for feature in not_empty(PATTERNS):
        data, _ = joined([feature])
        assert int(crc32c(data, 0, len(data))) ^ 0xFFFFFFFF == google_crc32c.value(feature)


@given(st.binary(max_size=40), st.binary(max_size=9), st.binary(max_size=9))
def test_kernels_see_their_own_bytes_only_and_give_what_their_slow_twins_give(feature, before, after):
    data, offsets = joined([before, feature, after])
    start, end = int(offsets[1]), int(offsets[2])
    assert lookup3(data, start, end, u64(0), u64(0)) == naive_hashes.lookup3(feature)
    assert phash2(data, start, end) == naive_hashes.phash2(feature)
    assert crc32c(data, start, end) == naive_hashes.crc32c(feature)
    for name, kernel in FNV.items():
        assert values_of(kernel, [before, feature])[1] == getattr(naive_hashes, name)(feature)


@given(st.integers(1, 300).flatmap(lambda native: st.tuples(st.just(native), st.integers(0, 2**native - 1))))
def test_a_widened_hash_has_its_own_bits_below_and_xxh3_of_them_above(case):
    native, value = case
    words = -(-native // 64)
    values = np.frombuffer(value.to_bytes(8 * words, "big"), ">u8").astype(u64)[None, :]
    key, out = np.empty(words + 1, u64), np.empty((1, 8), u64)
    widen_values(values, native, key, key.view(np.uint8), out)
    assert as_integers(out) == [naive_hashes.at_width(value, native, 512)]
