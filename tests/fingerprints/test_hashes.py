"""Hashes of features: the table, the widths, a caller's functions, refusals, and bits that do not change."""

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_hashes
from columns import as_integers, joined
from guards import not_empty
from neardup.errors import OptionError
from neardup.fingerprints.hashes import hash_features
from neardup.recipe.tables.hashes import HASH_ROWS, HASHES, HashFunction
from places import GOLDEN

VALUES = json.loads((GOLDEN / "hashes.json").read_text(encoding="utf-8"))
first_bytes = HashFunction(lambda feature: int.from_bytes(feature[:5], "big"), name="first-bytes", version="1", bits=40)


def hashed(features, name, bits):
    return as_integers(hash_features(*joined(features), name, bits))


def test_the_table_has_the_names_that_recipes_may_give_and_each_is_defined_by_its_slow_twin():
    assert tuple(HASH_ROWS) == tuple(naive_hashes.HASHES) == HASHES
    assert {name: each.bits for name, each in HASH_ROWS.items()} == {
        name: native for name, (native, _) in naive_hashes.HASHES.items()
    }


@pytest.mark.parametrize("name", HASHES)
@given(
    features=st.lists(st.one_of(st.binary(max_size=30), st.text(max_size=9).map(str.encode)), max_size=9),
    bits=st.integers(1, 512),
)
def test_every_hash_at_every_width_is_what_its_slow_twin_gives(name, features, bits):
    assert hashed(features, name, bits) == [naive_hashes.hash_feature(feature, name, bits) for feature in features]


@pytest.mark.parametrize("name", HASHES)
def test_named_hashes_give_the_values_that_they_gave(name):
    features = [text.encode() for text in VALUES["features"]]
    for bits, values in not_empty(VALUES["hashes"][name].items()):
        assert [f"{value:x}" for value in hashed(features, name, int(bits))] == values, bits


@pytest.mark.parametrize("name", [*HASHES, first_bytes], ids=[*HASHES, "a function"])
def test_the_hash_at_one_width_is_the_low_end_of_the_hash_at_any_larger_one(name):
    features = [b"", b"a", "中国".encode(), bytes(300)]
    widest = hashed(features, name, 512)
    for bits in range(1, 513):
        assert hashed(features, name, bits) == [value % 2**bits for value in widest], bits


@pytest.mark.parametrize("name", [*HASHES, first_bytes], ids=[*HASHES, "a function"])
def test_rows_have_as_many_words_as_the_bits_need_also_where_there_are_no_features(name):
    for bits, words in ((1, 1), (64, 1), (65, 2), (128, 2), (129, 3), (512, 8)):
        for features in ([], [b"a"], [b"a", b"b", b"a"]):
            rows = hash_features(*joined(features), name, bits)
            assert (rows.shape, rows.dtype) == ((len(features), words), np.uint64)


@pytest.mark.parametrize("name", [*HASHES, first_bytes], ids=[*HASHES, "a function"])
def test_features_may_lie_anywhere_in_their_buffer(name):
    data, _ = joined([b"xxabcdefyy"])
    offsets = np.array([2, 5, 5, 8])
    assert as_integers(hash_features(data, offsets, name, 96)) == hashed([b"abc", b"", b"def"], name, 96)


@pytest.mark.parametrize("bits", [27, 32])
def test_the_low_bits_of_phash2_are_what_erlang_gives_for_either_range(bits):
    frozen = json.loads((GOLDEN / "phash2.json").read_text(encoding="utf-8"))["words"]
    assert hashed([word.encode() for word in frozen], "phash2", bits) == [value % 2**bits for value in frozen.values()]


def test_a_function_is_called_once_for_each_distinct_feature():
    calls = []

    def length(feature):
        calls.append(feature)
        return np.uint8(len(feature))

    mine = HashFunction(length, name="length", version="1", bits=8)
    assert hashed([b"a", b"bb", b"a", b"", b"bb"], mine, 8) == [1, 2, 1, 0, 2]
    assert calls == [b"a", b"bb", b""]


def test_functions_are_told_apart_by_name_version_and_bits():
    given = {"name": "length", "version": "1", "bits": 8}
    mine = HashFunction(len, **given)
    assert mine == HashFunction(lambda feature: len(feature), **given)
    assert hash(mine) == hash(HashFunction(lambda feature: len(feature), **given))
    assert mine.as_dict() == given
    for other in ({"name": "size"}, {"version": "2"}, {"bits": 9}):
        assert mine != HashFunction(len, **(given | other))


@pytest.mark.parametrize("value", [-1, 256, 0.5, None, "a", b"a"])
def test_a_value_that_does_not_fit_is_refused_with_its_feature(value):
    mine = HashFunction(lambda feature: value, name="mine", version="1", bits=8)
    with pytest.raises(
        OptionError, match=r"The hash 'mine' gave .* for b'word': it must give an integer from 0 to 2\^8 - 1."
    ):
        hashed([b"word"], mine, 8)


def test_an_impossible_function_is_refused_with_all_its_problems():
    with pytest.raises(OptionError) as refusal:
        HashFunction("md5", name="md5", version="", bits=0)
    assert str(refusal.value) == (
        "This hash is not possible. `function='md5'`: give a function that takes bytes and gives an integer; "
        "`version=''`: give a string that is not empty; `name='md5'`: this is a hash of the package; give another name; "
        "`bits=0`: give an integer from 1 to 512."
    )


@pytest.mark.parametrize("bits", [0, 513, -1, True, 64.0, "64"])
def test_impossible_widths_are_refused(bits):
    with pytest.raises(OptionError, match=f"`bits={bits!r}`: give an integer from 1 to 512."):
        hashed([b"a"], "md5", bits)
    with pytest.raises(OptionError, match=f"`bits={bits!r}`: give an integer from 1 to 512."):
        HashFunction(len, name="length", version="1", bits=bits)


@pytest.mark.parametrize(
    ("given", "nearest"), [("MD5", "md5"), ("fnv1a-64", "fnv1a_64"), ("sha-1", "sha1"), ("phash", "phash2")]
)
def test_an_unknown_name_is_refused_with_all_names_and_the_nearest(given, nearest):
    with pytest.raises(OptionError) as refusal:
        hashed([b"a"], given, 64)
    assert (
        str(refusal.value)
        == f"`hash={given!r}`: give one of {', '.join(HASHES)}, or a HashFunction. Did you mean {nearest}?"
    )


def test_a_name_like_no_other_is_refused_with_all_names():
    with pytest.raises(OptionError, match=r"`hash='q'`: give one of xxh3_64, .* or a HashFunction\.$"):
        hashed([b"a"], "q", 64)


def test_a_bare_function_is_refused_because_a_recipe_could_not_name_it():
    with pytest.raises(
        OptionError, match=r"is neither a name nor a HashFunction. Wrap a function of your own: HashFunction\("
    ):
        hashed([b"a"], len, 64)


def test_names_are_known_without_loading_compiled_code():
    program = "from neardup.recipe.tables.hashes import HASHES\nimport sys\nprint(sorted({'numba', 'numpy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_unknown_attribute_of_the_family_is_an_attribute_error():
    with pytest.raises(ImportError, match="cannot import name 'md5'"):
        from neardup.fingerprints.hashes import md5  # noqa: F401
