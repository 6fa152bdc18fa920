"""The flow as a whole against its obvious definition, and what may never change an answer."""

import json
import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import neardup as nd
from told import Told

VOCABULARY = "river stone bridge lamp winter ferry clock bread paper garden 法 律 条 猫 雨".split()
base = st.lists(st.sampled_from(VOCABULARY), min_size=6, max_size=24)


@st.composite
def corpora(draw):
    """Documents, many of which are edited copies of others."""
    bases = draw(st.lists(base, min_size=1, max_size=4))
    documents = []
    for _ in range(draw(st.integers(1, 12))):
        words = list(draw(st.sampled_from(bases)))
        for _ in range(draw(st.integers(0, 3))):
            at = draw(st.integers(0, len(words) - 1))
            words[at] = draw(st.sampled_from(VOCABULARY))
        documents.append(draw(st.sampled_from([" ", ", ", "  "])).join(words))
    return documents


def preference(texts, keep):
    rows = list(range(len(texts)))
    return {
        "first": rows,
        "last": rows[::-1],
        "longest": sorted(rows, key=lambda row: (-len(texts[row]), row)),
        "shortest": sorted(rows, key=lambda row: (len(texts[row]), row)),
    }[keep]


def naive_survivors(texts, *, keep, cluster, least, max_distance, bits=128, min_tokens=8):
    """survivor row of each row, by the definitions: exact duplicates first, then star or components over the rest."""
    order = preference(texts, keep)
    normalized = [naive.normalize(text) for text in texts]
    representative = {row: next(other for other in order if normalized[other] == normalized[row]) for row in order}
    near = [row for row in order if representative[row] == row and len(naive.tokens(texts[row])) >= min_tokens]
    prints = {row: naive.fingerprint(texts[row], bits=bits) for row in near}

    def grade(p, q):
        a, b = near[p], near[q]
        distance = (prints[a] ^ prints[b]).bit_count()
        if distance > max_distance:
            return -1
        return naive.similarity(texts[a], texts[b]) if least > 0 else 1 / (1 + distance)

    if cluster == "star":
        found = [survivor for survivor, _ in naive.star(len(near), grade, max(least, 1e-9))]
    else:
        found = naive.components(len(near), grade, max(least, 1e-9))
    survivor = {row: row for row in order} | {near[p]: near[q] for p, q in enumerate(found)}
    return [survivor[representative[row]] for row in range(len(texts))]


def survivors_of(result, n):
    of = list(range(n))
    for line in result.duplicates.to_pylist():
        of[line["row"]] = line["survivor_row"]
    return of


@pytest.mark.parametrize("cluster", ["star", "components"])
@pytest.mark.parametrize("keep", ["first", "last", "longest", "shortest"])
@given(texts=corpora(), least=st.sampled_from([0.0, 0.3, 0.6, 0.8, 1.0]), max_distance=st.integers(0, 60))
@settings(max_examples=25)
def test_survivors_are_those_of_the_definition(cluster, keep, texts, least, max_distance):
    result = nd.deduplicate(
        texts, keep=keep, cluster=cluster, min_similarity=least, max_distance=max_distance, threads=1
    )
    expected = naive_survivors(texts, keep=keep, cluster=cluster, least=least, max_distance=max_distance)
    assert survivors_of(result, len(texts)) == expected
    assert result.survivors == [text for row, text in enumerate(texts) if expected[row] == row]


@given(texts=corpora(), cluster=st.sampled_from(["star", "components"]), max_distance=st.integers(0, 60))
def test_every_stated_similarity_distance_and_flag_is_true(texts, cluster, max_distance):
    result = nd.deduplicate(texts, cluster=cluster, max_distance=max_distance, min_similarity=0.5)
    for line in result.duplicates.to_pylist():
        mine, other = texts[line["row"]], texts[line["survivor_row"]]
        assert line["exact"] == (naive.normalize(mine) == naive.normalize(other))
        assert line["similarity"] == (1.0 if line["exact"] else naive.similarity(mine, other))
        assert line["distance"] == (naive.fingerprint(mine) ^ naive.fingerprint(other)).bit_count()
        if cluster == "star" and not line["exact"]:
            assert line["similarity"] >= 0.5
        if cluster == "components":
            matched = texts[line["matched_id"]]
            equal = naive.normalize(mine) == naive.normalize(matched)
            assert line["matched_similarity"] == (1.0 if equal else naive.similarity(mine, matched))
            assert line["matched_similarity"] >= 0.5


@given(texts=corpora())
def test_following_the_links_of_a_component_leads_to_its_survivor(texts):
    result = nd.deduplicate(texts, cluster="components", max_distance=50, min_similarity=0.4)
    links = {line["row"]: line["matched_id"] for line in result.duplicates.to_pylist()}
    for line in result.duplicates.to_pylist():
        row = line["row"]
        for _ in range(len(texts)):
            row = links.get(row, row)
        assert row == line["survivor_row"]


@given(texts=corpora())
def test_clusters_are_named_by_their_smallest_row(texts):
    result = nd.deduplicate(texts, keep="last", max_distance=40, min_similarity=0.5)
    rows = result.clusters.to_pylist()
    for row in rows:
        members = [other["row"] for other in rows if other["survivor_id"] == row["survivor_id"]]
        assert row["cluster_id"] == min(members)
        assert len(members) > 1


@pytest.mark.parametrize("cluster", ["star", "components"])
def test_threads_change_nothing(cluster):
    random = np.random.default_rng(7)
    texts = [" ".join(random.choice(VOCABULARY, 30)) for _ in range(300)]
    texts += [text.replace("lamp", "bread", 1) for text in texts]
    results = [nd.deduplicate(texts, cluster=cluster, threads=threads) for threads in (1, 2, 5)]
    assert results[0].duplicates.num_rows >= 100
    assert all(result.duplicates.equals(results[0].duplicates) for result in results)


@given(texts=corpora(), least=st.sampled_from([0.0, 0.5, 0.9]), max_distance=st.integers(0, 60))
def test_match_lists_every_pair_of_the_definition(texts, least, max_distance):
    found = nd.match(texts, min_similarity=least, max_distance=max_distance)
    expected = []
    for left in range(len(texts)):
        for right in range(left + 1, len(texts)):
            a, b = texts[left], texts[right]
            if min(len(naive.tokens(a)), len(naive.tokens(b))) < 8:
                equal = [naive.normalize(text) == naive.normalize(a) for text in texts]
                if equal[right] and (naive.tokens(a) or left == equal.index(True)):
                    expected.append((left, right, 1.0))
                continue
            distance = (naive.fingerprint(a) ^ naive.fingerprint(b)).bit_count()
            similarity = naive.similarity(a, b)
            if distance <= max_distance and (least == 0 or similarity >= least):
                expected.append((left, right, similarity if least > 0 else None))
    similarities = [None if value != value else value for value in found.similarity.tolist()]
    assert list(zip(found.left.tolist(), found.right.tolist(), similarities, strict=True)) == expected


def test_short_and_empty_texts_are_duplicates_only_of_equal_ones():
    texts = ["", " ", "one two", "One  two", "one two three", "!!!", "!!!", "???", "a b c d e f g", "a b c d e f g."]
    for least in (0.0, 0.8):
        result = nd.deduplicate(texts, min_similarity=least, max_distance=128)
        assert result.survivors == ["", "one two", "one two three", "!!!", "???", "a b c d e f g", "a b c d e f g."]
        assert result.summary.short == 10
        assert result.summary.exact_duplicates == result.summary.duplicates == 3


def test_a_page_repeated_very_often_costs_no_list_of_pairs():
    texts = [
        f"page {i} of the same boilerplate that stands on every site we crawl, again and again" for i in range(3)
    ] * 5_000
    result = nd.deduplicate(texts, min_similarity=0.5, max_distance=40)
    assert result.summary.duplicates == 14_999
    assert result.summary.candidates < 10


def test_similar_texts_that_chain_are_one_component_but_not_one_star():
    words = [f"word{i}" for i in range(60)]
    texts = [" ".join(words[shift : shift + 40]) for shift in (0, 4, 8, 12, 16)]
    options = {"max_distance": 128, "min_similarity": 0.7}
    star = nd.deduplicate(texts, cluster="star", **options)
    components = nd.deduplicate(texts, cluster="components", **options)
    assert len(components.survivors) == 1
    assert len(star.survivors) > 1
    assert min(star.duplicates.column("similarity").to_pylist()) >= 0.7
    assert min(components.duplicates.column("similarity").to_pylist()) < 0.7


@pytest.mark.parametrize("cluster", ["star", "components"])
@pytest.mark.parametrize(("method", "more"), [("exact", {}), ("minhash", {}), ("simhash", {"max_distance": 128})])
def test_documents_of_a_reference_are_not_compared_with_one_another(method, more, cluster):
    """A copy of one is its duplicate, and not that of another which is like it: by some shingles, or by all of them."""
    words = [f"word{i}" for i in range(60)]
    for known in ([" ".join(words[:40]), " ".join(words[2:42])], [" ".join(words[:9] * 2), " ".join(words[:9] * 3)]):
        found = nd.deduplicate([known[1]], against=known, cluster=cluster, method=method, **more)
        [line] = found.duplicates.to_pylist()
        assert (line["reference_row"], line["exact"], line["similarity"], line["distance"]) == (1, True, 1.0, 0)


TEXTS = [
    "the ferry leaves at ten past nine from the old pier",
    "The ferry leaves at ten past nine from the old pier!",
    "bread",
]


def test_data_comes_back_as_what_it_was():
    import pandas as pd
    import polars as pl

    table = pa.table({"id": ["a", "b", "c"], "text": TEXTS, "n": [1, 2, 3]})
    assert nd.deduplicate(table).survivors.equals(table.take([0, 2]))
    frame = pd.DataFrame({"text": TEXTS, "n": [1, 2, 3]}, index=[7, 8, 9])
    assert nd.deduplicate(frame).survivors.index.tolist() == [7, 9]
    polars = pl.DataFrame({"text": TEXTS, "n": [1, 2, 3]})
    assert nd.deduplicate(polars).survivors["n"].to_list() == [1, 3]
    assert nd.deduplicate(TEXTS).survivors == [TEXTS[0], TEXTS[2]]
    assert nd.deduplicate(tuple(TEXTS)).survivors == (TEXTS[0], TEXTS[2])
    rows = [{"id": i, "text": text} for i, text in enumerate(TEXTS)]
    assert nd.deduplicate(rows).survivors == [rows[0], rows[2]]
    assert nd.deduplicate(pd.Series(TEXTS)).survivors.tolist() == [TEXTS[0], TEXTS[2]]
    assert nd.deduplicate(pl.Series(TEXTS)).survivors.to_list() == [TEXTS[0], TEXTS[2]]
    assert nd.deduplicate(pa.array(TEXTS)).survivors.to_pylist() == [TEXTS[0], TEXTS[2]]


def test_ids_are_those_of_the_column_or_the_rows():
    table = pa.table({"key": ["x", "y", "z"], "text": TEXTS})
    line = nd.deduplicate(table, id="key").duplicates.to_pylist()[0]
    assert (line["id"], line["survivor_id"], line["row"], line["survivor_row"]) == ("y", "x", 1, 0)
    assert nd.deduplicate(table).duplicates.column("id").to_pylist() == [1]
    assert nd.deduplicate(pa.table({"id": ["x", "x", "z"], "text": TEXTS})).summary.repeated_ids == 1


def test_no_documents_at_all_are_no_error():
    result = nd.deduplicate([])
    assert (result.survivors, result.summary.documents, result.summary.duplicates) == ([], 0, 0)
    assert len(nd.match([])) == 0


def test_the_result_says_in_a_line_what_happened():
    assert repr(nd.deduplicate(TEXTS)) == "DedupResult(3 documents → 2 survivors, 1 duplicate (0 exact) in 1 cluster)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "magic"}, "`method='magic'`: give one of auto, exact, minhash, simhash"),
        ({"min_similarity": 1.5}, r"`min_similarity=1.5`: give a number from 0 \(by distance alone\) to 1"),
        ({"min_similarity": True}, "min_similarity=True"),
        ({"min_similarity": float("nan")}, "min_similarity=nan"),
        ({"max_distance": -1}, "`max_distance=-1`: give an integer from 0"),
        ({"max_distance": 129}, "`max_distance=129`: the recipe has 128 bits"),
        ({"max_distance": 2.5}, "max_distance=2.5"),
        ({"keep": "best"}, "`keep='best'`: give one of first, last, longest, shortest"),
        ({"cluster": "cliques"}, "`cluster='cliques'`: give one of star, components"),
        ({"similarity": "likeness"}, "`similarity='likeness'`: give one of jaccard"),
        ({"memory": "4 apples"}, "`memory='4 apples'`: give bytes, at least 16M, as a number or as 512M or 4G"),
        ({"memory": 1000}, "`memory=1000`: give bytes"),
        ({"memory": True}, "memory=True"),
        ({"method": "exact", "min_similarity": 0}, "`method='exact'` finds pairs by their similarity"),
        ({"method": "minhash", "min_similarity": 0}, "give a `min_similarity` above 0, or `method='simhash'`"),
        (
            {"method": "minhash", "similarity": "containment"},
            "`similarity='containment'`: `method='minhash'` promises nothing",
        ),
        ({"method": "exact", "max_distance": 3}, "`max_distance=3`: `method='exact'` asks for no distance"),
        ({"threads": 0}, "`threads=0`: give an integer from 1"),
        (
            {"threshold": 0.7},
            r"`threshold`: deduplicate\(\) has no such option \(did you mean `min_similarity`\?\)\.$",
        ),
        ({"kep": "last"}, r"`kep`: deduplicate\(\) has no such option \(did you mean `keep`\?\)"),
        ({"quux": 1, "keep": "best"}, r"`quux`: deduplicate\(\) has no such option. There are `text`, .* `method`, "),
        ({"threads": 0, "keep": "best"}, "`keep='best'`.*`threads=0`"),
    ],
)
def test_options_that_are_not_allowed_are_refused(options, message):
    with pytest.raises(nd.OptionError, match=message):
        nd.deduplicate(TEXTS, **options)


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ("one text", nd.OptionError, "data is one str; give a list of strings"),
        (42, nd.OptionError, "data is a int; give a list of strings"),
        (["a", None], nd.DataError, "Text 1 is null"),
        (["a", 3], nd.OptionError, "Text 1 is a int, not a string: '3'"),
        (["a", "\ud800"], nd.DataError, "lone surrogate"),
        ([{"txt": "a"}], nd.InputError, "There is no column 'text' for the texts. The columns are txt"),
        (pa.table({"text": [1, 2]}), nd.OptionError, "The column 'text' has the type int64; give strings"),
        (pa.table({"text": ["a", None]}), nd.DataError, "Text 1 of the column 'text' is null"),
        (pa.array([1.5]), nd.OptionError, "type double"),
        ({"text": TEXTS}, nd.OptionError, "data is one dict; give a list of strings or of dicts"),
        ([{"text": "a"}, {"body": "b"}], nd.InputError, "Row 1 is no dict with 'text'"),
        ([{"text": "a"}, "b"], nd.InputError, "Row 1 is no dict with 'text'"),
        (pa.table([TEXTS, TEXTS], names=["text", "text"]), nd.InputError, "There are 2 columns 'text'"),
    ],
)
def test_data_that_cannot_be_used_is_refused(data, error, message):
    with pytest.raises(error, match=message):
        nd.deduplicate(data)


def test_columns_that_are_not_read_are_not_looked_at():
    import pandas as pd

    rows = [{"text": TEXTS[0], "x": 1}, {"text": TEXTS[1], "x": "s"}, {"text": TEXTS[2], "x": None}]
    assert nd.deduplicate(rows).survivors == [rows[0], rows[2]]
    assert len(nd.deduplicate(pd.DataFrame({"text": TEXTS, "x": [1, "s", None]})).survivors) == 2


def test_record_batches_arrays_and_numpy_come_back_as_what_they_were():
    batch = pa.RecordBatch.from_pydict({"id": [1, 2, 3], "text": TEXTS})
    assert nd.deduplicate(batch).survivors.equals(batch.take(pa.array([0, 2])))
    assert nd.deduplicate(np.array(TEXTS, object)).survivors.tolist() == [TEXTS[0], TEXTS[2]]
    assert nd.deduplicate(pa.chunked_array([], pa.string())).survivors.to_pylist() == []


def test_numbers_of_numpy_are_numbers():
    result = nd.deduplicate(TEXTS, max_distance=np.int64(3), min_similarity=np.float32(0.5))
    assert (result.summary.max_distance, result.summary.min_similarity) == (3, 0.5)
    assert json.dumps(result.summary.as_dict())


def test_a_recipe_with_the_bits_of_a_named_one_has_its_distance():
    def distance(recipe, method="simhash"):
        return nd.deduplicate(TEXTS, recipe=recipe, method=method).summary.max_distance

    assert distance(nd.Recipe()) == 18
    assert distance(nd.Recipe(bits=64)) == 10
    with pytest.raises(nd.OptionError, match="This recipe of 32 bits has no distance of its own"):
        distance(nd.Recipe(bits=32))
    assert distance(nd.Recipe(bits=32), "exact") is None
    assert distance(nd.Recipe(bits=64), "minhash") == 19  # the sieve's


def test_invalid_utf8_in_an_arrow_array_is_refused():
    broken = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(np.array([0, 2], np.int32)), pa.py_buffer(b"\xff\xfe")]
    )
    with pytest.raises(nd.DataError, match="not valid"):
        nd.fingerprint(broken)


def test_one_string_instead_of_many_is_refused():
    with pytest.raises(nd.OptionError, match=r"Even one text goes in a list: \[text\]"):
        nd.fingerprint("a text")


def test_match_refuses_what_only_deduplication_knows():
    with pytest.raises(nd.OptionError, match=r"`keep`: match\(\) has no such option; it decides which of"):
        nd.match(TEXTS, keep="last")


def test_a_join_that_would_take_for_ever_is_refused_with_the_estimate():
    from neardup.matching.candidates.simhash import check_cost
    from neardup.progress import Progress

    with pytest.raises(
        nd.OptionError, match="joining 10,000,000,000 fingerprints within distance 30 of 128 bits takes .* days"
    ):
        check_cost(10**10, nd.Recipe(), 30, Progress())


def test_a_join_that_will_take_long_is_announced():
    from neardup.matching.candidates.simhash import check_cost

    told = Told()
    check_cost(1_000_000, nd.Recipe(), 16, told)
    assert told.lines == []
    check_cost(1_000_000_000, nd.Recipe(), 16, told)
    assert "1,000,000,000 fingerprints within distance 16 of 128 bits will take about" in told.lines[0]


def naive_choice(texts, reference, *, score, group, cluster, least):
    """Survivors by the definitions: the reference first, then by falling score; only equal groups match; method exact."""
    everything = [*texts, *reference]
    rows = range(len(everything))
    order = [row for row in rows if row >= len(texts)]
    order += sorted(rows[: len(texts)], key=lambda row: (-score(texts[row]), row))

    def grade(p, q):
        a, b = everything[order[p]], everything[order[q]]
        if group(a) != group(b):
            return -1
        if naive.normalize(a) == naive.normalize(b):
            return 2  # before all that are not equal
        return naive.similarity(a, b) if naive.tokens(a) and naive.tokens(b) else -1

    if cluster == "star":
        found = [p if order[p] >= len(texts) else q for p, (q, _) in enumerate(naive.star(len(order), grade, least))]
    else:
        found = naive.components(len(order), grade, least)
    return {order[p]: order[q] for p, q in enumerate(found) if order[p] < len(texts)}


def last_letter(text):
    return text.rstrip(" ,")[-1]


@pytest.mark.parametrize("method", ["exact", "minhash"])
@pytest.mark.parametrize("cluster", ["star", "components"])
@given(texts=corpora(), least=st.sampled_from([0.3, 0.6, 0.8, 1.0]))
@settings(max_examples=25)
def test_only_documents_of_one_group_match_and_the_one_of_the_largest_value_survives(method, cluster, texts, least):
    def score(text):
        return text.count("e")

    result = nd.deduplicate(
        texts, method="exact", keep=score, within=last_letter, cluster=cluster, min_similarity=least, threads=1
    )
    expected = naive_choice(texts, [], score=score, group=last_letter, cluster=cluster, least=least)
    found = dict(enumerate(survivors_of(result, len(texts))))
    if cluster == "star":
        assert found == expected
    else:  # which of several equal texts stands for them may differ; what is kept may not
        assert {row for row in found if found[row] == row} == {row for row in expected if expected[row] == row}
    if method == "minhash" and least >= 0.6:
        other = nd.deduplicate(
            texts,
            method=method,
            keep=score,
            within=last_letter,
            cluster=cluster,
            min_similarity=least,
            max_distance=128,
        )
        for line in other.duplicates.to_pylist():
            assert last_letter(texts[line["row"]]) == last_letter(texts[line["survivor_row"]])


@given(texts=corpora(), least=st.sampled_from([0.0, 0.6, 1.0]), method=st.sampled_from(["simhash", "exact"]))
@settings(max_examples=40)
def test_pairs_within_groups_are_the_pairs_of_one_group(texts, least, method):
    options = {"method": "simhash", "max_distance": 40} if least == 0 or method == "simhash" else {"method": "exact"}
    everything = nd.match(texts, min_similarity=least, **options)
    within = nd.match(texts, min_similarity=least, within=last_letter, **options)
    expected = [
        pair
        for pair in zip(everything.left.tolist(), everything.right.tolist(), strict=True)
        if last_letter(texts[pair[0]]) == last_letter(texts[pair[1]])
    ]
    assert list(zip(within.left.tolist(), within.right.tolist(), strict=True)) == expected


def test_a_leak_into_a_test_set_is_counted_by_itself_and_not_by_whom_a_removal_names():
    chance = random.Random(7)
    words = [f"w{number}" for number in range(500)]
    train = [" ".join(chance.choices(words, k=40)) for _ in range(30)]
    test = []
    for text in train[:15]:
        extra = chance.choices(words, k=20)
        test += [" ".join([text, *extra]), " ".join([text, *extra[:12]]), text + " end"]
    alike = {row for row, text in enumerate(test) if any(naive.similarity(text, other) >= 0.7 for other in train)}
    assert set(nd.match(test, train, min_similarity=0.7).left.tolist()) == alike
    summary = nd.deduplicate(test, against=train, min_similarity=0.7).summary
    assert (len(alike), summary.duplicates, summary.against_reference) == (30, 30, 15)
    assert summary.matching_reference == 30


def has_a_first_word(text):
    return "yes" if text.startswith("w") else "no"


@pytest.mark.parametrize("within", [None, has_a_first_word], ids=["all", "within"])
@pytest.mark.parametrize("keep", ["first", "longest"])
@pytest.mark.parametrize("cluster", ["star", "components"])
@pytest.mark.parametrize("method", ["exact", "minhash", "simhash", "auto"])
def test_documents_that_match_the_reference_are_those_that_match_lists(method, cluster, keep, within):
    chance = random.Random(11)
    words = [f"w{number}" for number in range(300)]
    train = ["", "!", *(" ".join(chance.choices(words, k=chance.choice([3, 12, 40]))) for _ in range(20))]
    test = ["", "?", *(" ".join(chance.choices(words, k=30)) for _ in range(4))]
    for text in train[2:16]:
        extra = chance.choices(words, k=20)
        test += [
            " ".join([text, *extra]),
            " ".join([text, *extra[:12]]),
            text + " end",
            f"- {text}",
            chance.choice(test),
        ]
    how = {"method": method, "min_similarity": 0.7, "within": within}
    summary = nd.deduplicate(test, against=train, cluster=cluster, keep=keep, **how).summary
    expected = len(set(nd.match(test, train, **how).left.tolist()))
    assert summary.matching_reference == expected > 10
    assert cluster == "components" or summary.against_reference < expected


def test_documents_that_match_the_reference_are_counted_where_texts_are_read_again(monkeypatch):
    monkeypatch.setattr("neardup.dedup.room_for_elements", lambda _: 0)
    train = ["the old ferry leaves the pier at ten past nine and comes back at four in the afternoon"]
    later = train[0] + " or five or six in summer"
    summary = nd.deduplicate([later + " when days are long", later], against=train, min_similarity=0.7).summary
    assert (summary.against_reference, summary.matching_reference) == (0, 1)


def test_without_a_reference_nothing_matches_it():
    assert nd.deduplicate(["one and the same text", "one and the same text"]).summary.matching_reference == 0
