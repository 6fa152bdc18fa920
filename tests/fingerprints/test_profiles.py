"""Profiles: the fingerprints of other tools bit for bit, beside the tools themselves or values that they gave."""

import hashlib
import json
import random
import re
import sys
from dataclasses import replace

import numpy as np
import pytest
import regex
import simhash
from hypothesis import given
from hypothesis import strategies as st

import naive_profiles as naive
import neardup as nd
from guards import not_empty
from neardup.fingerprints.profiles import tools
from neardup.fingerprints.profiles.profile import as_integer
from neardup.fingerprints.profiles.values import (
    clickhouse_value,
    data_juicer_value,
    datasketch_signature,
    given_value,
    keyword_count,
    leonsim_value,
    moz_value,
    wayback_text,
    weighted_value,
)
from neardup.kernels.fingerprints.keywords import partial_sort
from neardup.recipe.presets import find_recipe
from neardup.recipe.tables import profiles as names
from places import GOLDEN, ROOT
from strategies import texts


def golden(name):
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))


VALUES = golden("profiles.json")
TEXT = "My voice is my password. What a cute cat: https://example.org/a.b, 漢字とかな Ωmega İstanbul ΟΔΟΣ"


def values(name, given_texts, bits=None, window=None):
    """Fingerprints as integers."""
    width = bits or names.PROFILES[name][0][0]
    return [as_integer(row) for row in tools.PROFILES[name].fingerprint(given_texts, width, window)]


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


@pytest.mark.parametrize("name", sorted(VALUES["clickhouse"]["functions"]))
def test_clickhouse_gave_these_values(name):
    cases = VALUES["clickhouse"]
    assert values(name, cases["texts"]) == [int(value) for value in cases["functions"][name]]


@pytest.mark.parametrize("function", range(32))
def test_clickhouse_gave_these_values_for_windows_of_other_sizes(function):
    cases = golden("clickhouse_windows.json")
    name, size, expected = cases["values"][function]
    assert [clickhouse_value(bytes.fromhex(each), name, size) for each in cases["texts_in_hex"]] == list(
        map(int, expected)
    )


def test_go_gave_these_values():
    cases = golden("go_simhash.json")
    for name, expected in not_empty(cases["functions"].items()):
        assert values(name, cases["texts"]) == list(map(int, expected)), name


def test_simhash_pybind_gave_these_values():
    cases = golden("moz.json")
    for column, name in enumerate(cases["columns"][1:], 1):
        given_texts = [case[0] for case in cases["cases"]]
        assert values(name, given_texts) == [int(case[column]) for case in cases["cases"]], name


@pytest.mark.parametrize("name", ["text-dedup-0.3.0", "text-dedup-0.3.1", "text-dedup-0.4.1"])
def test_a_package_that_is_missing_is_named(name, monkeypatch):
    monkeypatch.setattr("neardup.recipe.stored_parts.version_of", lambda name: None)
    with pytest.raises(
        nd.MissingExtra,
        match=rf"`profile='{name}'` needs xxhash. Install it: pip install 'neardup\[profiles\]'",
    ):
        values(name, ["a b c d e"])


def test_pages_need_their_parser(monkeypatch):
    monkeypatch.setitem(sys.modules, "selectolax.lexbor", None)
    with pytest.raises(nd.MissingExtra, match=r"`profile='wayback'` needs selectolax.*pip install 'neardup\[html\]'"):
        values("wayback", ["<p>page</p>"])


def test_distances_are_those_of_the_tools():
    assert nd.RECIPES["data-juicer"].recipe.max_distance == 4
    assert nd.RECIPES["leonsim"].recipe.max_distance == 2
    assert nd.RECIPES["moz"].recipe.max_distance == 3


def partly_sorted(weights, most):
    order = np.arange(len(weights))
    partial_sort(np.array(weights, np.float64), np.array([most]), np.array([0, len(weights)]), order)
    return order[:most].tolist()


def test_keywords_are_in_the_order_in_which_the_cpp_library_sorts_them():
    for weights, most, expected in not_empty(golden("partial_sort.json")["cases"]):
        assert partly_sorted(weights, most) == expected


def test_cppjieba_keeps_of_equally_heavy_words_those_of_its_partial_sort():
    text = "，".join(f"{a}{b}x" for a in "qwzkv" for b in "ptgj")  # in no dictionary: all weigh the mean
    recipe = nd.RECIPES["cppjieba"].recipe
    every = sorted(nd.keywords([text], recipe=replace(recipe, keywords=200))[0], key=lambda pair: pair[0].encode())
    assert len(every) == 20
    for most in (1, 5, 8):
        kept = partly_sorted([weight for _, weight in every], most)
        found = nd.keywords([text], recipe=replace(recipe, keywords=most))[0]
        assert found == [every[i] for i in kept]


def test_datasketch_gave_these_signatures():
    for seed, num_perm, features, expected in not_empty(golden("datasketch.json")["cases"]):
        assert datasketch_signature((f.encode() for f in features), num_perm=num_perm, seed=seed) == expected
    for scheme, expected in (  # by datasketch 2.0.0
        ("affine32", [1613064933, 548579758]),
        ("affine64", [9581248139623047146, 10077316115135850895]),
    ):
        assert datasketch_signature([b"Hello", b"world"], num_perm=2, scheme=scheme) == expected


def test_simhash_gave_these_values_for_given_features():
    cases = golden("leonsim.json")
    for features, bits, name, expected in not_empty(cases["cases"]):
        assert leonsim_value(features, bits=bits, hash=name) == int(expected)
    for features, bits, expected in not_empty(cases["also"]):
        weighted = [each if isinstance(each, str) else tuple(each) for each in features]
        assert leonsim_value(weighted, bits=bits) == int(expected)


def test_simhash_takes_any_hash_by_its_lowest_bits():
    def number(feature):
        return int.from_bytes(hashlib.blake2b(feature).digest(), "big")

    features = {"a": 3, "b": 2, "c": 2.5}
    expected = simhash.Simhash(features, 256, hashfunc=number).value
    assert leonsim_value(features, bits=256, hash=number) == expected
    assert leonsim_value(features, bits=256, hash=lambda f: hashlib.blake2b(f).digest()) == expected
    assert leonsim_value(features, bits=256, hash="blake2b") == expected
    assert given_value("wayback", {"a": 3, "b": 2}) == leonsim_value({"a": 3, "b": 2}, bits=256, hash="blake2b")


words = st.lists(
    st.one_of(st.sampled_from(["a", "bc", "four", "FIVE5", "漢字", "İ", "-", "\n", ""]), texts), max_size=14
)
sentences = st.one_of(texts, words.map(" ".join))


@given(sentences, st.integers(1, 7))
def test_profiles_give_what_a_slow_definition_gives(text, size):
    for name, slow in (
        ("moz", naive.moz),
        ("moz-character", naive.moz_character),
        ("data-juicer", naive.data_juicer),
        ("data-juicer-character", naive.data_juicer_character),
        ("text-dedup-0.3.0", naive.text_dedup_0_3_0),
        ("text-dedup-0.3.1", naive.text_dedup_0_3_1),
        ("text-dedup-0.4.0", naive.text_dedup_0_4_0),
        ("text-dedup-0.4.1", naive.text_dedup_0_4_1),
        ("clickhouse-ngram", naive.clickhouse_ngram),
        ("clickhouse-words", naive.clickhouse_words),
    ):
        assert values(name, [text]) == [slow(text)], name
        assert values(name, [text], window=size) == [slow(text, size)], name
    assert values("text-dedup-0.3.1", [text], 128) == [naive.text_dedup_0_3_1(text, bits=128)]
    assert values("text-dedup-0.4.0", [text], 128) == [naive.text_dedup_0_4_0(text, bits=128)]
    assert values("text-dedup-0.4.1", [text], 128) == [naive.text_dedup_0_4_1(text, bits=128)]
    assert values("clickhouse-ngram-any-case", [text]) == [naive.clickhouse_ngram(text, any_case=True)]
    for name, hash_name in (("ferd", "sha1"), ("ferd-md5", "md5"), ("ferd-sha512", "sha512")):
        assert values(name, [text]) == [naive.ferd(text, hash_name)]


@given(st.lists(st.integers(0, 2**64 - 1), max_size=9))
def test_moz_of_given_hashes(hashes):
    assert moz_value(hashes) == naive.simhash(hashes, 64)


def test_given_features():
    assert moz_value([]) == 0
    assert moz_value([0xDEADBEEF] * 64) == 0xDEADBEEF
    assert moz_value([16045690984833335023, 2401053088876216592]) == 0  # all ties
    assert moz_value([0xABCD, 0xBCDE, 0xCDEF]) == 44495
    assert moz_value(["a", b"b"]) == given_value("moz", ["a", "b"])
    assert given_value("mfonda", {"foo": 1, "bar": 1}) == 0xD8DBE7186BAD3DB3
    assert given_value("ferd", [(b"a", 2), (b"b", 1)]) == given_value("ferd", ["a"])
    assert given_value("ferd-md5", []) == 2**128 - 1
    hashes = [13352372148217134600, 5020219685658847592]
    assert naive.simhash(hashes, 64) == moz_value(hashes) == 74633958390507528
    assert [keyword_count("漢" * n) for n in (0, 199, 200, 240, 8000, 9000)] == [5, 5, 5, 6, 200, 200]


def test_texts_without_features_are_short_and_no_duplicates_of_one_another():
    for name, first, second in (
        ("data-juicer", "only three words", "or four of them"),
        ("text-dedup-0.3.0", " ", "   "),
        ("text-dedup-0.4.0", "four", "more"),
        ("text-dedup-0.4.1", "only three words", "or four of them"),
        ("moz", "only three words", "or three others"),
        ("mfonda-unicode", "12 34", "56"),
        ("clickhouse-words", "all too few", "or not"),
        ("clickhouse-ngram-utf8", "漢字か", "かな文"),
        ("ferd", "abc", "xyz"),
        ("leonsim", "?!", "..."),
    ):
        recipe = nd.RECIPES[name].recipe
        values = nd.fingerprint([first, second], recipe=recipe).tolist()
        assert values[0] == values[1], name
        found = nd.deduplicate([first, second], recipe=recipe, method="simhash", min_similarity=0)
        assert (found.summary.short, found.summary.duplicates) == (2, 0), name


def test_windows_of_another_size_are_another_recipe():
    recipe = nd.Recipe(profile="clickhouse-ngram", profile_window=5, bits=64, min_tokens=1)
    assert recipe.digest() != nd.RECIPES["clickhouse-ngram"].recipe.digest()
    assert int(nd.fingerprint([TEXT], recipe=recipe)[0]) == clickhouse_value(TEXT, size=5)
    assert int(nd.compare(TEXT, TEXT, recipe=recipe).left.bits, 2) == clickhouse_value(TEXT, size=5)


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
        return dict(tools.PROFILES[name].features_of(text))

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
    assert features("data-juicer", "a b c\nd e f\tg") == {}  # a line break is part of a word
    assert features("data-juicer-character", "ABC DEF") == {b"abc de": 1, b"bc def": 1}
    assert features("data-juicer-punctuation", "A,b。c!!d-e") == {b"a b c  d e": 1}
    assert features("mfonda-unicode", "㎐") == {b"hz": 1}  # NFKC comes before small letters
    assert features("mfonda-cjk", "ﬁ") == {"ﬁ".encode(): 1}  # and is not done here
    assert features("clickhouse-words-any-case", "abc\x10def") == {}  # 0x10 | 0x20 is a digit, but cuts before
    assert features("text-dedup-0.3.0", " A b,  c d\ne ") == {b"A b, c": 1, b"d\ne": 1}
    assert features("text-dedup-0.3.0", "a a a a a a a") == {b"a a a": 2, b"a": 1}
    assert features("text-dedup-0.3.1", "Aaaa") == {}
    assert features("text-dedup-0.3.1", "Aaaaa b") == {b"Aaa": 1, b"aaa": 1, b"aa ": 1, b"a b": 1}
    assert features("text-dedup-0.4.0", "Aaaaa b") == {b"aaa": 1, b"aa ": 1, b"a b": 1}
    assert features("text-dedup-0.4.0", "ΟΔΟΣΟ") == {
        "οδο".encode(): 1,
        "δος".encode(): 1,
        "οσο".encode(): 1,
    }  # cut, then lowercased
    assert features("text-dedup-0.4.1", "a, b c d") == {}
    assert features("text-dedup-0.4.1", "a, b c d_e 5") == {b"a b c": 1, b"b c d_e": 1, b"c d_e 5": 1}
    page = "<title>My</title><script>x</script><style>y</style><!-- z --><p>One two, <b>TWO</b>s</p>"
    assert features("wayback", page) == {b"my": 1, b"one": 1, b"two": 2, b"s": 1}
    assert features("wayback", "just a.string") == {b"just": 1, b"a": 1, b"string": 1}
    assert features("wayback", "") == {}


def test_a_tie_is_what_the_tool_says():
    assert values("mfonda", [""]) == [2**64 - 1]
    assert values("ferd-md5", ["ab"]) == [2**128 - 1]
    assert values("data-juicer", ["too short"]) == [0]
    assert values("text-dedup-0.4.1", ["too short"]) == [0]


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
        ({"profile": "leonsin"}, "`profile='leonsin'`: give one of leonsim.*did you mean leonsim"),
        ({"profile": "leonsim", "bits": 65}, "`bits=65` with `profile='leonsim'`: give one of 8, 16"),
        ({"profile": "ferd"}, "`bits=128` with `profile='ferd'`: give one of 160"),
        ({"profile_window": 3}, "`profile_window=3` without a `profile`: leave it out"),
        (
            {"profile": "ferd", "bits": 160, "profile_window": 3},
            "`profile='ferd'`, which has no windows of other sizes",
        ),
        ({"profile": "moz", "bits": 64, "profile_window": 0}, "`profile_window=0`: give an integer from 1 to 64"),
        ({"profile": "moz", "bits": 64, "profile_window": True}, "`profile_window=True`: give an integer"),
        ({"profile": "moz", "bits": 64, "hash": "md5", "weights": "tf"}, "`weights`, `hash` with `profile='moz'`"),
    ],
)
def test_what_a_profile_does_not_have_is_refused(fields, said):
    with pytest.raises(nd.OptionError, match=said):
        nd.Recipe(**fields)


def test_what_the_functions_of_given_features_do_not_have_is_refused():
    with pytest.raises(nd.OptionError, match="`bits=60`: give a multiple of 8 up to 512"):
        leonsim_value(["a"], bits=60)
    with pytest.raises(nd.OptionError, match="`bits=256`: the hash has 128 bits. Give no more, or another hash"):
        leonsim_value(["a"], bits=256)
    with pytest.raises(nd.OptionError, match="`hash='crc'`: give one of md5, sha1"):
        leonsim_value(["a"], hash="crc")
    with pytest.raises(nd.OptionError, match="`function='simHash'`: give one of ngramSimHash"):
        clickhouse_value("a", "simHash")
    with pytest.raises(nd.OptionError, match="`size=26`: give an integer from 1 to 25"):
        clickhouse_value("a", size=26)
    with pytest.raises(nd.OptionError, match="`profile='x'`: give one of leonsim"):
        given_value("x", ["a"])


@given(sentences, st.integers(1, 7), st.sampled_from(["space", "character", "punctuation"]), st.booleans())
def test_data_juicer_by_its_own_options(text, size, tokenization, lowercase):
    changed = re.sub("[aF]", "", text.lower() if lowercase else text)
    pieces, between = {
        "space": ([word for word in changed.split(" ") if word], " "),
        "character": (list(changed), ""),
        "punctuation": (regex.split(r"\p{P}", changed), " "),
    }[tokenization]
    options = {"tokenization": tokenization, "window_size": size, "lowercase": lowercase}
    expected = naive.moz_windows(pieces, size, between)
    assert data_juicer_value(text, **options, ignore_pattern="[aF]") == expected
    assert data_juicer_value(text, **options, ignore_pattern=regex.compile("[aF]")) == expected


def test_data_juicer_as_usual_is_its_recipe():
    for name in ("space", "character", "punctuation"):
        profile = "data-juicer" if name == "space" else f"data-juicer-{name}"
        assert [data_juicer_value(TEXT, tokenization=name)] == values(profile, [TEXT])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: leonsim_value("abc"), "features is a str: give a list of them. Of a whole text"),
        (lambda: given_value("mfonda", "abc"), "features is a str"),
        (lambda: moz_value(b"abc"), "features is a bytes"),
        (lambda: leonsim_value([("a",)]), r"The feature \('a',\): give a string, or a string and its weight"),
        (lambda: leonsim_value({"a": "x"}), "The weight of the feature 'a' is 'x': give a number"),
        (lambda: weighted_value([("a", True)], hash="md5"), "The weight of the feature 'a' is True: give a number"),
        (
            lambda: given_value("leonsim", [("a", 1.5)]),
            "'a' is 1.5: give an integer; `fingerprint_features` takes others",
        ),
        (lambda: given_value("leonsim", ["a"], bits=7), "`bits=7` with `profile='leonsim'`: give one of 8, 16"),
        (lambda: given_value("leonsin", ["a"]), "`profile='leonsin'`: give one of leonsim"),
        (lambda: moz_value([1 << 64]), "is none of 64 bits. Give integers from 0 to"),
        (lambda: moz_value([1.5]), "The feature 1.5 is a float: give strings"),
        (lambda: datasketch_signature(["a"]), "The feature 'a' is a str: give bytes"),
        (lambda: datasketch_signature([b"a"], num_perm=0), "`num_perm=0`: give an integer of at least 1"),
        (
            lambda: datasketch_signature([b"a"], scheme="affine"),
            "`scheme='affine'`: give one of legacy, affine32, affine64",
        ),
        (lambda: wayback_text(1 << 256), "give whole bytes, and an integer that fits them"),
        (lambda: data_juicer_value("a", tokenization="words"), "`tokenization='words'`: give one of space, character"),
        (lambda: data_juicer_value("a", window_size=0), "`window_size=0`: give an integer of at least 1"),
    ],
)
def test_features_that_are_none_are_refused(call, said):
    with pytest.raises(nd.OptionError, match=said):
        call()


def test_given_features_are_hashed_as_the_tool_of_the_recipe_does_it():
    features = {"foo": 1, "bar": 2, "baz": 1}
    for name in names.PROFILES:
        recipe = nd.RECIPES[name].recipe
        [found] = nd.fingerprint_features([features], recipe=recipe).reshape(1, -1)
        assert as_integer(found) == given_value(name, features), name
    [found] = nd.fingerprint_features([{"a": 3, "b": 2, "c": 2.5}], recipe=nd.RECIPES["leonsim"].recipe)
    assert int(found) == leonsim_value({"a": 3, "b": 2, "c": 2.5})
    [empty] = nd.fingerprint_features([{}], recipe=nd.RECIPES["mfonda"].recipe)
    assert int(empty) == 2**64 - 1


def test_the_cosine_is_of_the_features_of_the_tool():
    recipe = nd.RECIPES["leonsim"].recipe
    left, right = "abcdab", "abcdx"  # abcd bcda cdab; abcd bcdx
    assert nd.similarity(left, right, kind="cosine", recipe=recipe) == pytest.approx(1 / 6**0.5)
    assert nd.compare(left, right, recipe=recipe).similarities["cosine"] == pytest.approx(1 / 6**0.5)
    assert nd.similarity("?!", "...", kind="cosine", recipe=recipe) == 0
    found = nd.deduplicate([left, right], recipe=recipe, method="exact", similarity="cosine", min_similarity=0.4)
    assert found.summary.duplicates == 1
    assert nd.keywords(["abab ab", ""], recipe=recipe) == [[("abab", 2.0), ("baba", 1.0)], []]
    assert nd.keywords(["漢"], recipe=nd.RECIPES["clickhouse-ngram"].recipe) == [[("漢", 1.0)]]


def test_words_that_are_cut_within_characters_are_shown_by_their_bytes():
    [[(name, _), *_]] = nd.keywords(["漢字"], recipe=nd.RECIPES["ferd"].recipe)
    assert name == "\\xbc\\xa2"


def test_the_recipe_file_of_the_documentation_is_cppjiebas_with_its_stop_words(tmp_path):
    page = (ROOT / "docs" / "profiles.md").read_text(encoding="utf-8")
    fields = re.search(r"```toml\n(.*?)```", page, re.DOTALL)[1]
    (tmp_path / "mine.toml").write_text(fields, encoding="utf-8")
    (tmp_path / "stop_words.utf8").write_text("我们\n", encoding="utf-8")
    found = find_recipe(str(tmp_path / "mine.toml"))
    assert replace(found, stop_words=()).digest() == nd.RECIPES["cppjieba"].recipe.digest()
    assert [each.lines for each in found.stop_words] == [("我们",)]
