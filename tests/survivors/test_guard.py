"""A guard for digits: what numbers are, and that documents with different ones match in none of the ways to compare them."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
import xxhash
from hypothesis import example, given
from hypothesis import strategies as st

import naive
import neardup as nd
from naive_store_folder import StoreFolder
from neardup.fingerprints.numbers import number_digests
from neardup.text.normalizers import normalize

GUARD = {"guard": "same-numbers"}
ORDER = "Your order {} of March 4 has left our house today, and comes within {} days to the address that you gave us; thank you{}"
TEXTS = [
    ORDER.format(*each)
    for each in (
        ("1001", "2", "."),
        ("99", "14", "."),
        ("1001", "2", " all."),
        ("１００１", "٢", "."),
        ("1,001", "2", "."),
        ("99", "14", " so much."),
        ("1001", "two", "."),
    )
]
KEPT = [0, 1, 4, 6]
"""The rows that are kept with the guard."""
ROWS = [{"id": f"d{row}", "text": text} for row, text in enumerate(TEXTS)]
METHODS = [
    {"method": "exact", "min_similarity": 0.5},
    {"method": "minhash", "min_similarity": 0.5},
    {"method": "simhash", "min_similarity": 0.5, "max_distance": 30},
    {"method": "simhash", "min_similarity": 0, "max_distance": 30},
]
PIECES = st.sampled_from(["a", "1", "12", "٣", "²", "½", "x9", " ", ".", "零", "𝟗", "é", "१"])
ANY = st.lists(PIECES, max_size=6).map("".join)


@given(st.lists(ANY | st.text(max_size=5), max_size=6))
@example(["", "1"])
@example(["1", "", "1"])
@example(["12", "1 2", "1,2", "1", "2"])
def test_numbers_are_the_runs_of_digits_by_their_values(texts):
    found = number_digests(pa.array(texts, pa.large_string()), nd.Recipe().normalize).tolist()
    expected = [naive.numbers(normalize(text)) for text in texts]
    assert [[a == b for b in found] for a in found] == [[a == b for b in expected] for a in expected]
    assert [not each for each in expected] == [each == 0 for each in found]


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("1,000", "1000", False),
        ("1,000", "1.000", True),
        ("1.5", "1,5", True),
        ("1.5", "15", False),
        ("2024-01-02", "2024/01/02", True),
        ("2024-01-02", "2024-02-01", False),
        ("٣٫٥", "3.5", True),
        ("３", "3", True),
        ("m²", "m2", True),
        ("007", "7", False),
        ("three", "3", False),
        ("Ⅳ", "4", False),
        ("三", "3", False),
        ("v2", "v 2", True),
    ],
)
def test_what_is_the_same_number(left, right, same):
    texts = [f"There are {each} of them" for each in (left, right)]
    first, second = number_digests(pa.array(texts, pa.large_string()), nd.Recipe().normalize).tolist()
    assert (first == second) == same


@pytest.mark.parametrize("cluster", ["star", "components"])
@pytest.mark.parametrize("options", METHODS, ids=str)
def test_in_memory(options, cluster):
    found = nd.deduplicate(ROWS, cluster=cluster, **options, **GUARD)
    assert [row["id"] for row in found.survivors] == [f"d{row}" for row in KEPT]
    assert found.summary.options["guard"] == "same-numbers"
    assert len(nd.deduplicate(ROWS, cluster=cluster, **options).survivors) < len(KEPT)
    assert "guard" not in nd.deduplicate(ROWS, **options).summary.options
    left = nd.deduplicate(TEXTS[2:], against=TEXTS[:2], cluster=cluster, **options, **GUARD)
    assert left.survivors == [TEXTS[4], TEXTS[6]]
    pairs = nd.match(TEXTS, **options, **GUARD)
    assert set(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)) == {(0, 2), (0, 3), (2, 3), (1, 5)}


def test_with_a_column_both_must_be_equal():
    rows = [{**row, "house": "ab"[number // 3 % 2]} for number, row in enumerate(ROWS)]
    found = nd.deduplicate(rows, within="house", **METHODS[0], **GUARD)
    assert [row["id"] for row in found.survivors] == ["d0", "d1", "d3", "d4", "d5", "d6"]


@pytest.mark.parametrize("options", METHODS, ids=str)
@pytest.mark.parametrize("keep", ["first", "last", "always"])
def test_stores_decide_so(tmp_path, options, keep):
    def ids(answers):
        return [answer.duplicate_of for answer in answers]

    with nd.Store(tmp_path / "s", texts=True, keep=keep, **options, **GUARD) as store:
        given = [row["id"] for row in ROWS]
        answers = store.check_and_add_many(given[:4], TEXTS[:4]) + store.check_and_add_many(given[4:], TEXTS[4:])
        expected = {"first": [None, None, "d0", "d0", None, "d1", None]}
        if keep == "first":
            assert ids(answers) == expected[keep]
        assert len(store) == (len(KEPT) if keep != "always" else len(TEXTS))
        assert {match.id for match in store.neighbors(TEXTS[6])} == {"d6"}
        assert store.info().guard == "same-numbers"
        assert all(pair.a in ("d0", "d1", "d2") for pair in store.pairs())
        store.export(tmp_path / "exported")
        store.backup(tmp_path / "copy")
        kept = len(store)
    for other in (nd.Store.from_export(tmp_path / "again", tmp_path / "exported"), nd.Store(tmp_path / "copy")):
        with other as store:
            assert (store.options.guard, len(store)) == ("same-numbers", kept)
            assert [answer.is_new for answer in store.check_many([*TEXTS, ORDER.format(7, 7, ".")])] == [False] * 7 + [
                True
            ]
    assert nd.Store.repair(tmp_path / "s").is_sound
    if keep == "first":
        stream = nd.Stream(**options, **GUARD)
        assert [row for row, match in enumerate(stream.add_many(given, TEXTS)) if match is None] == KEPT
    with pytest.raises(nd.OptionError, match=r"was made with `min_similarity=0.*`"):
        nd.Store(tmp_path / "s", min_similarity=0.9)


def test_a_store_with_another_guard_is_refused_by_name(tmp_path):
    nd.Store(tmp_path / "without").close()
    with pytest.raises(nd.OptionError, match="was made with `guard=None`. Leave it out, or make another store."):
        nd.Store(tmp_path / "without", **GUARD)
    with nd.Store(tmp_path / "with", **GUARD) as store:
        store.check_and_add_many([row["id"] for row in ROWS], TEXTS)
    nd.Store(tmp_path / "with", **GUARD).close()
    Path(tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    against = {"against": tmp_path / "with", "dry_run": True}
    with pytest.raises(nd.OptionError, match="decides with `guard='same-numbers'`. Give the same"):
        nd.deduplicate_files(tmp_path / "in.jsonl", **against)
    done = nd.deduplicate_files(tmp_path / "in.jsonl", **against, **GUARD)
    assert done.summary.survivors == 0


@pytest.mark.parametrize("options", METHODS, ids=str)
def test_the_digest_of_numbers_is_kept_as_the_page_says(tmp_path, options):
    with nd.Store(tmp_path / "s", keep="always", **options, **GUARD) as store:
        store.check_and_add_many(list(range(len(TEXTS))), TEXTS)
    runs = ("".join(f"{run} " for run in naive.numbers(naive.normalize(text))) for text in TEXTS)
    expected = [xxhash.xxh3_128_intdigest(each.encode()) & (1 << 64) - 1 for each in runs]
    assert [row["numbers"] for row in StoreFolder(tmp_path / "s").documents.values()] == expected


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: nd.deduplicate(TEXTS, guard="numbers"), "`guard='numbers'`: give one of same-numbers, or None."),
        (lambda: nd.deduplicate(TEXTS, guard=True), "`guard=True`: give one of same-numbers, or None."),
        (
            lambda: nd.deduplicate([{1, 2}, {3}], **GUARD),
            "`guard='same-numbers'` compares the digits of texts, and these are given elements. Leave it out.",
        ),
        (
            lambda: nd.deduplicate(TEXTS, recipe=nd.Recipe(normalize=["nfkc_casefold", "digits"]), **GUARD),
            "the recipe makes each digit a 0 (`normalize`), so numbers are not known",
        ),
        (lambda: nd.Stream(recipe=nd.Recipe(normalize=["digits"]), **GUARD), "so numbers are not known"),
    ],
)
def test_what_has_no_numbers_is_refused(call, problem):
    with pytest.raises(nd.OptionError) as refused:
        call()
    assert problem in str(refused.value)
