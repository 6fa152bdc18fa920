"""Profiles: the fingerprints of other tools bit for bit, beside the tools themselves or values that they gave."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
import simhash
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.profiles import names, tools
from neardup.profiles.helpers import datasketch_signature, leonsim_value, wayback_text, weighted_value
from neardup.profiles.profile import as_integer
from strategies import texts

GOLDEN = json.loads(Path(__file__).with_name("golden").joinpath("profiles.json").read_text(encoding="utf-8"))
TEXT = "My voice is my password. What a cute cat: https://example.org/a.b, 漢字とかな Ωmega İstanbul ΟΔΟΣ"


def values(name, given_texts, bits=None):
    """Fingerprints as integers."""
    width = bits or names.PROFILES[name][0][0]
    return [as_integer(row) for row in tools.PROFILES[name].fingerprint(given_texts, width)]


def test_every_profile_has_a_name_a_purpose_and_a_recipe():
    assert list(tools.PROFILES) == list(names.PROFILES)
    for name in names.PROFILES:
        assert nd.RECIPES[name].recipe.profile == name


@given(st.lists(texts, max_size=5), st.sampled_from([8, 24, 64, 128]))
def test_leonsim_is_the_package_simhash(given_texts, bits):
    assert values("leonsim", given_texts, bits) == [simhash.Simhash(text, bits).value for text in given_texts]


@pytest.mark.parametrize("floating", [True, False])
def test_leonsim_with_weights_is_the_package_simhash(floating):
    choose = random.Random(5)
    for _ in range(60):
        features = [
            (f"f{i}", choose.random() * 100 if floating else choose.randint(1, 100))
            for i in range(choose.randint(1, 450))
        ]
        assert leonsim_value(features) == simhash.Simhash(features).value
        assert leonsim_value(dict(features), bits=32) == simhash.Simhash(dict(features), 32).value
        if not floating:  # a string takes the weight of the pair before it
            mixed = [each if choose.random() < 0.5 else each[0] for each in features]
            assert leonsim_value(mixed) == simhash.Simhash(mixed).value


@pytest.mark.parametrize("name", sorted(GOLDEN["clickhouse"]["functions"]))
def test_clickhouse_gave_these_values(name):
    cases = GOLDEN["clickhouse"]
    assert values(name, cases["texts"]) == [int(value) for value in cases["functions"][name]]


def test_published_values():
    assert values("mfonda", ["this is a test phrase", "foo bar", ""]) == [
        0x8C3A5F7E9ECB3F35,
        0xD8DBE7186BAD3DB3,
        2**64 - 1,
    ]
    assert values("ferd", ["My voice is my password."]) == [0xC20577ED68263FB5972749E213E68C59210CB27D]
    assert values("clickhouse-ngram", ["what a cute cat.", ""]) == [130877626, 2**64 - 1]
    assert values("clickhouse-words", ["what a cute cat.", ""]) == [3795742796, 0]
    assert leonsim_value(["aaa", "bbb"]) == 57087923692560392
    keywords = [("蓝翔", 11.7392), ("CEO", 11.7392), ("升职", 10.8562), ("加薪", 10.6426), ("手扶拖拉机", 10.0089)]
    assert weighted_value(keywords, hash="lookup3") == 17831459094038722629
    assert datasketch_signature([b"Hello"], num_perm=4) == [734825475, 960773806, 359816889, 342714745]


def test_what_each_tool_takes_of_a_text():
    def features(name, text):
        return dict(tools.PROFILES[name].features(text))

    assert features("leonsim", "") == {b"": 1}
    assert features("leonsim", "A-b c!") == {b"abc": 1}
    assert features("moz", "a b c") == {}
    assert features("moz", "A b, c d E") == {b"a b c d": 1, b"b c d e": 1}
    assert features("moz-character", "A b, c d E") == {b"abcd": 1, b"bcde": 1}
    assert features("mfonda", "It's AT http://x.y/z it's") == {b"it's": 2, b"at": 1, b"http://x.y/z": 1}
    assert features("mfonda-unicode", "ΟΔΟΣ a_b 1ﬁx") == {"οδοσ".encode(): 1, b"a_b": 1, b"fix": 1}
    assert features("mfonda-cjk", "漢漢A") == {"漢".encode(): 2, b"a": 1}
    assert features("ferd", "abcdef") == {b"bc": 1, b"cd": 1, b"de": 1}
    assert features("ferd", "abc") == {}
    assert features("clickhouse-ngram-utf8", "漢字か") == {}
    assert features("clickhouse-words", "one Two three four5 漢字") == {"threefour5漢字".encode(): 1}
    assert features("data-juicer", "a b c d e") == {}
    assert features("data-juicer", "A b  c d e f") == {b"a b c d e f": 1}
    assert features("text-dedup", "a b c d") == {}
    assert features("text-dedup", "a, b c d") == {b"a  b": 1, b" b c": 1, b"b c d": 1}
    page = "<script>x</script><style>y</style><!-- z --><p>One two, TWO</p>"
    assert features("wayback", page) == {b"one": 1, b"two": 2}


def test_a_tie_is_what_the_tool_says():
    assert values("mfonda", [""]) == [2**64 - 1]
    assert values("ferd-md5", ["ab"]) == [2**128 - 1]
    assert values("data-juicer", ["too short"]) == [0]
    assert values("text-dedup", ["too short"]) == [0]


def test_web_archive_writes_little_endian_base64():
    assert wayback_text(1, bits=16) == "AQA="


@pytest.mark.parametrize("name", names.PROFILES)
def test_a_profile_is_used_like_any_recipe(name, tmp_path):
    recipe = nd.RECIPES[name].recipe
    given_texts = [TEXT, TEXT + " and more", "", "短い"]
    found = nd.fingerprint(given_texts, recipe=recipe, threads=1)
    rows = found.reshape(len(given_texts), -1)
    assert [as_integer(row) for row in rows] == values(name, given_texts)
    np.testing.assert_array_equal(found, nd.fingerprint(given_texts, recipe=recipe, threads=2))
    shown = nd.compare(TEXT, TEXT + " and more", recipe=recipe)
    assert [int(shown.left.bits, 2), int(shown.right.bits, 2)] == values(name, given_texts[:2])
    assert shown.distance == nd.distance(rows[0], rows[1])


def test_the_go_program_as_intended_and_as_written():
    assert names.signed_fnv1a(b"") == 1 << 63 | (2**64 - 0xCBF29CE484222325)
    written = [names.signed_fnv1a(str(i).encode()) for i in range(200)]
    for i, value in enumerate(written):
        hashed = 0xCBF29CE484222325
        for byte in str(i).encode():
            hashed = (hashed ^ byte) * 0x100000001B3 % 2**64
        digits = f"{hashed if hashed < 2**63 else hashed - 2**64:064b}"  # as Go's %064b of an int64
        assert value == int("".join("0" if digit == "0" else "1" for digit in digits), 2)
    texts_of_law = (
        "公民的合法的私有财产不受侵犯。国家依照法律规定保护公民的私有财产权和继承权。",
        "国家保护公民的合法私有财产权和继承权。",
    )
    intended = nd.compare(*texts_of_law, recipe=nd.RECIPES["fnv1a"].recipe, keywords=(6, 4))
    as_written = nd.compare(*texts_of_law, recipe=nd.RECIPES["go-fnv1a"].recipe, keywords=(6, 4))
    assert (len(intended.left.features), len(intended.right.features)) == (6, 4)
    assert [feature.name for feature in intended.left.features] == [
        feature.name for feature in as_written.left.features
    ]
    assert intended.left.bits != as_written.left.bits
    for found, hash_name in (
        (intended, "fnv1a_64"),
        (nd.compare(*texts_of_law, recipe=nd.RECIPES["cppjieba"].recipe, keywords=(6, 4)), "lookup3"),
    ):
        weighted = [(feature.name, float(feature.weight)) for feature in found.left.features]
        assert int(found.left.bits, 2) == weighted_value(weighted, hash=hash_name)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"profile": "leonsin"}, "profile='leonsin': give one of leonsim.*did you mean leonsim"),
        ({"profile": "leonsim", "bits": 65}, "bits=65 with profile='leonsim': give one of 64, 8"),
        ({"profile": "ferd"}, "bits=128 with profile='ferd': give one of 160"),
        ({"profile": "moz", "bits": 64, "hash": "md5", "weights": "tf"}, "weights, hash with profile='moz'"),
    ],
)
def test_what_a_profile_does_not_have_is_refused(fields, said):
    with pytest.raises(nd.OptionError, match=said):
        nd.Recipe(**fields)


def test_widths_that_leonsim_does_not_have_are_refused():
    with pytest.raises(nd.OptionError, match="multiple of 8"):
        leonsim_value(["a"], bits=60)
