"""`neardup compare`: two texts step by step, and the worked examples replayed."""

import json
import math
import re
from decimal import Decimal
from pathlib import Path

import pytest
from cli_corpora import BRIDGE, FERRY, FERRY_EDITED, FERRY_SHOUTED, write_lines

import naive
import neardup
from neardup.display import display_width
from places import GOLDEN

EXAMPLES = sorted((GOLDEN / "worked_examples").glob("*.json"))


def fingerprints_shown(shown):
    """The two fingerprints, put together from their lines."""
    return tuple("".join(re.findall(rf"^  {side} +([01]+)$", shown, re.MULTILINE)) for side in ("left", "right"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_worked_examples_are_replayed(run, example):
    expected = json.loads(example.read_text(encoding="utf-8"))
    done = run("compare", "--features", example)
    shown = done.out.decode()
    assert (done.code, done.err) == (0, "")
    if "distance" in expected:
        left, right = (expected[side]["features"][0]["hash"] for side in ("left", "right"))
        assert fingerprints_shown(shown) == (left, right)
        assert f"distance {expected['distance']} of {len(left)} bits: estimated cosine " in shown
        assert len(re.findall(r"\^", shown)) == expected["distance"]
        return
    sums = re.search(r"^  sums +\[(.*)\]$", shown, re.MULTILINE)[1].split(", ")
    assert list(map(Decimal, sums)) == list(map(Decimal, expected["sums"]))
    assert re.search(r"^  fingerprint +(.*)$", shown, re.MULTILINE)[1] == expected["fingerprint"]
    for feature in expected["features"]:
        assert re.search(rf"^  {feature['weight']} +1 +{feature['hash']}  {feature['feature']}$", shown, re.MULTILINE)
    assert max(map(display_width, shown.splitlines())) <= 80
    steps = neardup.replay(example)
    assert (steps.bits, list(steps.sums)) == (expected["fingerprint"], list(map(Decimal, expected["sums"])))


def test_there_are_worked_examples():
    assert len(EXAMPLES) >= 6


@pytest.mark.parametrize("left", [FERRY, BRIDGE, "", "!!!", "one two"])
@pytest.mark.parametrize("right", [FERRY_EDITED, FERRY_SHOUTED, BRIDGE, "", "???"])
@pytest.mark.parametrize(("recipe", "bits"), [("default", 128), ("default-64", 64)])
def test_what_is_shown_of_two_texts_is_what_is_computed(run, left, right, recipe, bits):
    shown = run("compare", "--text", left, right, "--recipe", recipe).out.decode()
    prints = [naive.fingerprint(text, bits=bits) for text in (left, right)]
    assert fingerprints_shown(shown) == tuple(f"{value:0{bits}b}" for value in prints)
    distance = (prints[0] ^ prints[1]).bit_count()
    assert f"\ndistance {distance} of {bits} bits: estimated cosine {math.cos(math.pi * distance / bits):.4f}" in shown
    assert shown.count("^") == distance
    assert f"\njaccard  {naive.similarity(left, right):.4f} = " in shown
    few = min(len(naive.tokens(text)) for text in (left, right)) < 8
    assert ("\nshort    fewer than 8 tokens: by fingerprints a duplicate only of an equal text" in shown) == few
    assert max(map(display_width, shown.splitlines())) <= 80


def test_tokens_and_the_heaviest_features_are_shown_and_the_rest_counted(run):
    shown = run("compare", "--text", "the cat and the dog and the bird", FERRY).out.decode()
    assert (
        "left: 8 tokens, 5 distinct features (8 in all)\n  tokens       the / cat / and / the / dog / and / the / bird\n"
        in shown
    )
    assert re.search(r"^  2 +3 +0x[0-9a-f]{32}  the$", shown, re.MULTILINE)
    assert re.search(r"^  2 +2 +0x[0-9a-f]{32}  and$", shown, re.MULTILINE)
    assert re.search(r"^  … and \d+ more$", shown, re.MULTILINE)


def test_texts_without_shingles_are_told_equal_or_not(run):
    assert (
        "jaccard  1.0000 = no shingles; the texts are equal after normalization"
        in run("compare", "--text", "", " ").out.decode()
    )
    assert (
        "jaccard  0.0000 = no shingles; the texts are not equal after normalization"
        in run("compare", "--text", "!", "?").out.decode()
    )


def test_every_similarity_is_shown(run):
    shown = run("compare", "--text", FERRY, FERRY + " So they say.").out.decode()
    found = dict(part.split() for part in re.search(r"^others +(.*)$", shown, re.MULTILINE)[1].split(", "))
    assert {name: float(value) for name, value in found.items()} == {
        kind: pytest.approx(naive.similarity(FERRY, FERRY + " So they say.", kind), abs=1e-4)
        for kind in ("weighted", "containment", "cosine", "edit")
    }


@pytest.mark.parametrize(
    "given",
    [("--recipe", "textbook"), ("--min-similarity", "0.5"), ("--similarity", "edit"), ("--keywords", "3")],
    ids=" ".join,
)
def test_what_decides_beside_given_features_is_refused(run, given):
    Path("f.json").write_text("{}")
    run("compare", "--features", "f.json", *given).refused(
        f"--features brings its own weights and hashes. Leave {given[0]} out."
    )


PAIRS = [
    (FERRY, FERRY_EDITED),
    (FERRY, FERRY_SHOUTED),
    (FERRY, BRIDGE),
    ("See page 2.", "see page 3."),
    ("", ""),
    ("a b c d", ""),
]


@pytest.mark.parametrize(
    "flags",
    [
        (),
        ("--min-similarity", "0.95"),
        ("--min-similarity", "0.97", "--similarity", "edit"),
        ("--similarity", "containment"),
        ("--recipe", "textbook"),
        ("--recipe", "default-64", "--min-similarity", "0"),
    ],
    ids=" ".join,
)
def test_the_verdict_comes_first_and_is_that_of_dedup(run, flags):
    for left, right in PAIRS:
        write_lines("in.jsonl", [{"id": 1, "text": left}, {"id": 2, "text": right}])
        done = run("dedup", "in.jsonl", "-o", "out.jsonl", "--overwrite", "--json", *flags)
        matches = json.loads(done.out)["duplicates"] == 1
        shown = run("compare", "--text", left, right, *flags).out.decode()
        assert shown.startswith("match " if matches else "no match "), (left, right, shown)
        told = json.loads(run("compare", "--text", left, right, "--json", *flags).out)
        assert told["matches"] is matches
        assert [line[9:] for line in shown.splitlines()[: len(told["reasons"])]] == told["reasons"]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ((), "match    jaccard 0.9048 reaches 0.8\n"),
        (("--min-similarity", "0.95"), "no match jaccard 0.9048 is below 0.95\n"),
        (("--similarity", "edit", "--min-similarity", "0.9"), "match    edit 0.9545 reaches 0.9\n"),
        (("--min-similarity", "0"), "match    distance 9 is within 18\n"),
        (("--recipe", "textbook"), "no match distance 6 is above 3\n"),
    ],
)
def test_the_verdict_says_what_decides(run, flags, said):
    assert run("compare", "--text", FERRY, FERRY_EDITED, *flags).out.decode().startswith(said)


def test_two_files_are_compared_like_their_texts(run):
    Path("a.txt").write_text(FERRY, encoding="utf-8")
    Path("b.txt").write_text(BRIDGE, encoding="utf-8")
    assert run("compare", "a.txt", "b.txt").out == run("compare", "--text", FERRY, BRIDGE).out


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a.txt"],
        ["a.txt", "a.txt", "a.txt"],
        ["a.txt", "a.txt", "--text", "a", "b"],
        ["--text", "a", "b", "--features", "f.json"],
        ["a.txt", "--features", "f.json"],
    ],
)
def test_exactly_one_kind_of_input_is_taken(run, arguments):
    Path("a.txt").write_text("a")
    done = run("compare", *arguments)
    assert (done.code, done.out) == (2, b"")
    assert 'Give two files, or --text "…" "…", or --features FILE.json.' in done.err


def test_files_that_cannot_be_read_are_told(run):
    Path("a.txt").write_text("a")
    Path("bytes.txt").write_bytes(b"ab\xff")
    done = run("compare", "a.txt", "missing.txt")
    assert (done.code, done.err) == (
        2,
        "neardup: error: missing.txt: there is no such file. To compare two texts instead of two files, put --text before them.\n",
    )
    done = run("compare", "a.txt", "a b " * 2_000)
    assert (done.code, done.err) == (
        2,
        f"neardup: error: {'a b ' * 50}…: there is no such file. To compare two texts instead of two files, put --text before them.\n",
    )
    done = run("compare", "a.txt", ".")
    assert (done.code, done.err) == (2, "neardup: error: . cannot be read: Is a directory.\n")
    done = run("compare", "a.txt", "bytes.txt")
    assert (done.code, done.err) == (
        1,
        "neardup: error: bytes.txt is not UTF-8: invalid start byte at byte 2. Convert it first.\n",
    )
    run("compare", "--text", "a", "b\udcff").refused(
        "The right text is not Unicode text: surrogates not allowed (character 1). Give it in UTF-8.", code=1
    )


FEATURE = {"feature": "a", "weight": 1, "hash": "01"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "bad.json cannot be read as JSON: Expecting value"),
        ("{", "bad.json cannot be read as JSON"),
        ([], 'bad.json: give an object with "features", a list of {"feature", "weight", "hash"}.'),
        ({"features": []}, 'bad.json: give an object with "features"'),
        ({"features": {"a": 1}}, 'bad.json: give an object with "features"'),
        ({"left": {"features": [FEATURE]}}, 'bad.json: give an object with "features"'),
        ({"left": {"features": [FEATURE]}, "right": []}, 'bad.json, right: give an object with "features"'),
        ({"features": [1]}, 'bad.json, feature 0: give an object with "feature", "weight" and "hash".'),
        (
            {"features": [FEATURE, {"feature": "a", "weight": 1}]},
            'bad.json, feature 1: give an object with "feature", "weight" and "hash".',
        ),
        ({"features": [FEATURE | {"weight": "heavy"}]}, "bad.json, feature 0: \"weight\" is 'heavy'; give a number."),
        ({"features": [FEATURE | {"weight": True}]}, 'bad.json, feature 0: "weight" is True; give a number.'),
        ({"features": [FEATURE | {"weight": float("nan")}]}, 'bad.json, feature 0: "weight" is nan; give a number.'),
        (
            {"features": [FEATURE | {"hash": "012"}]},
            "bad.json, feature 0: \"hash\" is '012'; give a string of 0s and 1s",
        ),
        ({"features": [FEATURE | {"hash": 101}]}, 'bad.json, feature 0: "hash" is 101; give a string of 0s and 1s'),
        ({"features": [FEATURE | {"hash": ""}]}, "bad.json, feature 0: \"hash\" is ''; give a string of 0s and 1s"),
        (
            {"features": [FEATURE, FEATURE | {"hash": "011"}]},
            "bad.json: the hashes have 2 and 3 bits; give all the same width.",
        ),
        (
            {"left": {"features": [FEATURE]}, "right": {"features": [FEATURE | {"hash": "011"}]}},
            "bad.json: left has 2 bits, right 3; give both the same width.",
        ),
    ],
)
def test_feature_files_that_say_nothing_clear_are_refused(run, content, message):
    Path("bad.json").write_text(content if isinstance(content, str) else json.dumps(content))
    done = run("compare", "--features", "bad.json")
    assert (done.code, done.out) == (1, b"")
    assert message in done.err


def test_a_missing_feature_file_is_told(run):
    done = run("compare", "--features", "missing.json")
    assert (done.code, done.err) == (2, "neardup: error: missing.json cannot be read: No such file or directory.\n")


def test_sums_of_given_weights_are_exact(run):
    tiny, huge = "0.00000000000000000001", "1000000000000000000000000000000"
    features = ", ".join(
        f'{{"feature": "{i}", "weight": {weight}, "hash": "1"}}' for i, weight in enumerate((huge, tiny, "-" + huge))
    )
    Path("exact.json").write_text(f'{{"features": [{features}]}}')
    assert "sums         [1e-20]" in run("compare", "--features", "exact.json").out.decode()
    assert json.loads(run("compare", "--features", "exact.json", "--json").out)["sums"] == [tiny]


def test_weights_are_shown_with_few_digits_and_all_of_them_are_in_the_json(run):
    weight = "1234567890123456789012345678901234567890.50"
    Path("long.json").write_text(f'{{"features": [{{"feature": "a", "weight": {weight}, "hash": "1"}}]}}')
    exact = json.loads(run("compare", "--features", "long.json", "--json").out)
    assert (exact["features"][0]["weight"], exact["sums"]) == (weight, [weight])
    weight = "3.1415926535897932384626433"
    Path("long.json").write_text(f'{{"features": [{{"feature": "a", "weight": {weight}, "hash": "1"}}]}}')
    shown = run("compare", "--features", "long.json").out.decode()
    assert "  3.14159      1      1  a" in shown
    assert "sums         [3.14159]" in shown


def test_what_two_texts_have_is_given_as_json(run):
    found = json.loads(run("compare", "--text", FERRY, FERRY_EDITED, "--json").out)
    expected = neardup.compare(FERRY, FERRY_EDITED)
    assert (found["distance"], found["left"]["bits"]) == (expected.distance, expected.left.bits)
    assert [Decimal(weight) for weight in found["left"]["sums"]] == list(expected.left.sums)


def test_the_go_program_compares_22_keywords_with_11(run):
    words = "，".join(f"{a}{b}x" for a in "qwzkvm" for b in "ptgjd")  # thirty words that no dictionary has
    Path("a.txt").write_text(words, encoding="utf-8")
    Path("b.txt").write_text(words[:-3] + "yyy", encoding="utf-8")
    done = run("compare", "--recipe", "go-fnv1a", "--keywords", "22,11", "a.txt", "b.txt").ok()
    assert re.findall(r"tokens, (\d+) distinct features", done.out.decode()) == ["22", "11"]
    found = neardup.compare(words, words[:-3] + "yyy", recipe=neardup.RECIPES["go-fnv1a"].recipe, keywords=(22, 11))
    assert fingerprints_shown(done.out.decode())[:1] == (found.left.bits,)
    assert f"distance {found.distance} of 64 bits" in done.out.decode()


def test_stop_words_are_left_out(run):
    Path("stop.txt").write_text("cat\n")
    shown = run(
        "compare", "--stop-words", "stop.txt", "--stop-words", "en", "--text", "the cat sat", "the dog"
    ).out.decode()
    assert re.findall(r"tokens       (.*)", shown) == ["sat", "dog"]
    run("compare", "--stop-words", "nowhere.txt", "--text", "a", "b").refused(
        "stop list 'nowhere.txt': give one of zh, ja, en"
    )
    run("compare", "--stop-words", "en", "--recipe", "moz", "--text", "a", "b").refused(
        "which decides that: leave it out"
    )
    refused = run("compare", "--stop-words", "en", "--features", "f.json")
    assert "--features brings its own weights and hashes. Leave --stop-words out.\n" in refused.err


@pytest.mark.parametrize("given", ["0", "22,11,3", "x", "5,", "-3", "2.5"])
def test_keywords_that_are_no_numbers_are_refused(run, given):
    run("compare", "--keywords", given, "--text", "a b", "c").refused(
        f"--keywords {given}: give a number of at least 1, or two with a comma between, such as 22,11."
    )


def test_a_profile_has_no_keywords(run):
    done = run("compare", "--recipe", "leonsim", "--keywords", "3", "--text", "a b", "c").refused()
    assert done.err.endswith("`keywords` with `profile='leonsim'`, which decides that: leave it out.\n")


def test_compare_counts_the_tokens_of_another_tool_as_dedup_does(run):
    said = "the quick brown fox jumps over the lazy dog"
    done = run("compare", "--recipe", "leonsim", "--min-similarity", "0", "--text", said, f"{said}s")
    assert "so only equal texts match" not in done.out.decode()
    assert "\nshort" not in done.out.decode()


@pytest.mark.parametrize(
    "content",
    ['{"features": [], "features": []}', '{"features": [{"name": "a", "weight": 1, "weight": 2, "hash": "01"}]}'],
)
def test_a_key_that_occurs_twice_is_refused_by_its_name(run, tmp_path, content):
    path = tmp_path / "twice.json"
    path.write_text(content)
    done = run("compare", "--features", str(path))
    assert done.code == 1
    assert re.search(r'the key "(features|weight)" occurs 2 times', done.err)
