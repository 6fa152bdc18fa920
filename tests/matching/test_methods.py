"""The methods of finding candidates, against a look at all pairs; and the choice among them."""

import dataclasses
import itertools
import random
import re
import shutil
import zlib
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import neardup as nd
from columns import pairs_of
from near_copies import near_copies
from neardup import dedup
from neardup.dedup import find_duplicates
from neardup.fingerprints.minhash import Signing
from neardup.io.corpora.table_corpus import TableCorpus
from neardup.matching.candidates import auto, exact, minhash, sampled_sets
from neardup.matching.candidates.methods import opener_of
from neardup.matching.candidates.sampled_sets import chosen_texts
from neardup.matching.prefix_join import join
from neardup.matching.similarities.table import Elements
from neardup.options import DedupOptions
from neardup.progress import Progress
from neardup.recipe.tables.methods import METHODS, Promise
from neardup.recipe.tables.similarities import SIMILARITIES
from neardup.resources.resources import Resources
from neardup.survivors import clusters as clustering
from told import Told

WORDS = "the a river bank old ferry leaves at nine ten past pier wooden bridge 河 上 的 老 石 桥 建 于 明 代 雨 の 駅".split()


@st.composite
def corpora(draw):
    """Texts of a few words each, with near copies; empty ones, equal ones and single words among them."""
    choose = random.Random(draw(st.integers(0, 2**32)))
    texts = []
    for _ in range(choose.randint(0, 14)):
        words = choose.choices(WORDS, k=choose.choice([0, 1, 2, 4, 12, 40]))
        if texts and choose.random() < 0.6:
            words = choose.choice(texts).split()
            for _ in range(choose.randint(0, 2)):
                words[choose.randint(0, len(words)) : choose.randint(0, len(words))] = choose.choices(WORDS)
        texts.append(" ".join(words))
    return texts


def true_pairs(texts, kind, least, cut=0):
    """Every pair that is similar enough, by its definition; equal normalized texts are, whatever they hold.

    Those without tokens are paired with the first of them only. `cut`: the texts before it are one side, the others another.
    """
    found = {}
    normal = [naive.normalize(text) for text in texts]
    for left, right in itertools.combinations(range(len(texts)), 2):
        if cut and not left < cut <= right:
            continue
        similarity = 1.0 if normal[left] == normal[right] else naive.similarity(texts[left], texts[right], kind)
        firsts = {normal.index(normal[left]), normal.index(normal[right], cut)}
        if similarity >= least and (naive.tokens(texts[left]) or {left, right} & firsts):
            found[left, right] = similarity
    return found


@pytest.mark.parametrize("name", METHODS)
def test_every_row_of_a_method_names_an_opener_and_similarities_that_there_are(name):
    row = METHODS[name]
    assert callable(opener_of(name))
    assert row.meaning
    assert set(row.serves or ()) <= set(SIMILARITIES)
    assert (row.promise is Promise.PROBABLE) == (row.miss_probability > 0) == bool(row.why_missed)
    assert row.tokens_needed(7) == (7 if row.min_tokens is None else row.min_tokens)


@pytest.mark.parametrize("kind", sorted(set(SIMILARITIES) - {"cosine"}))
@given(texts=corpora(), least=st.sampled_from([1.0, 0.8, 0.5, 0.1]))
def test_exact_finds_every_pair_that_is_similar_enough_and_no_other(texts, kind, least):
    found = nd.match(texts, method="exact", min_similarity=least, similarity=kind, threads=1)
    assert pairs_of(found) == true_pairs(texts, kind, least)


@given(texts=corpora(), least=st.sampled_from([1.0, 0.8, 0.5, 0.1]))
def test_exact_finds_every_pair_by_the_cosine(texts, least):
    found = pairs_of(nd.match(texts, method="exact", min_similarity=least, similarity="cosine", threads=1))
    expected = true_pairs(texts, "cosine", least - 1e-9)
    assert found == pytest.approx({pair: expected[pair] for pair in found})
    assert {pair for pair, similarity in expected.items() if similarity >= least + 1e-9} <= set(found)


@given(texts=corpora(), cut=st.integers(0, 14), method=st.sampled_from(["exact", "minhash", "simhash"]))
def test_two_sets_of_texts_are_matched_with_each_other_only(texts, cut, method):
    ours, theirs = texts[:cut], texts[cut:]
    words = [text for text in texts if naive.tokens(text)]
    everything = pairs_of(nd.match(words, method=method, min_similarity=0.5))
    place = [i for i, text in enumerate(texts) if naive.tokens(text)]
    expected = {(place[a], place[b]): s for (a, b), s in everything.items() if place[a] < len(ours) <= place[b]}
    if ours:
        empty = true_pairs(texts, "jaccard", 1.0, cut=len(ours))
        expected |= {pair: 1.0 for pair in empty if not naive.tokens(texts[pair[0]])}
    found = pairs_of(nd.match(ours, theirs, method=method, min_similarity=0.5))
    assert found == {(a, b - len(ours)): s for (a, b), s in expected.items()}


@given(texts=corpora())
def test_several_passes_and_threads_change_nothing(texts):
    expected = pairs_of(nd.match(texts, method="exact", min_similarity=0.5, threads=1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(join, "POSTING_BYTES", 1 << 20)
        assert pairs_of(nd.match(texts, method="exact", min_similarity=0.5, threads=3, memory="16M")) == expected


@given(texts=corpora(), keep=st.sampled_from(["first", "last", "longest"]))
def test_removing_duplicates_by_exact_is_clustering_all_pairs(texts, keep):
    texts = list({naive.normalize(text): text for text in texts}.values())  # equal ones go where the first of them goes
    rows = nd.deduplicate([{"text": text} for text in texts], method="exact", min_similarity=0.5, keep=keep).duplicates
    key = {"first": int, "last": lambda i: -i, "longest": lambda i: -len(texts[i])}[keep]
    order = sorted(range(len(texts)), key=key)
    pairs = true_pairs(texts, "jaccard", 0.5)

    def grade(q, p):
        return pairs.get(tuple(sorted((order[q], order[p]))), 0.0)

    expected = naive.star(len(texts), grade, 0.5)
    survivors = {order[p]: order[q] for p, (q, _) in enumerate(expected) if p != q}
    assert {row["row"]: row["survivor_row"] for row in rows.to_pylist()} == survivors


@pytest.mark.parametrize("bits", [17, 384, 385, 512])
@pytest.mark.parametrize("method", ["exact", "minhash", "simhash"])
def test_every_method_takes_fingerprints_of_every_width(method, bits):
    texts = [*near_copies(6), near_copies(1)[0]]
    found = nd.match(
        texts,
        method=method,
        recipe=nd.Recipe(bits=bits),
        min_similarity=0.5,
        max_distance=None if method == "exact" else bits,
    )
    assert pairs_of(found) == true_pairs(texts, "jaccard", 0.5)


POEM = "Still falls the rain upon the harbor wall, and no one counts the boats."
POEM_AGAIN = "Still falls the rain upon the harbour wall, and no one counts the boats"
OTHER = "The winter came by night and took the leaves."


def test_short_texts_are_compared_by_their_words_and_not_by_chance():
    texts = [POEM, OTHER, POEM_AGAIN, "Yes.", "No.", "yes!", ""]
    assert set(pairs_of(nd.match(texts, method="exact", min_similarity=0.5))) == {(0, 2), (3, 5)}
    assert set(pairs_of(nd.match(texts, min_similarity=0.5, method="minhash"))) == {(0, 2), (3, 5)}


def test_the_choice_is_exact_where_it_is_not_much_slower_and_says_why():
    told = Told()
    summary = nd.deduplicate(near_copies(5_000), progress=told).summary
    assert summary.method == "exact"
    assert summary.options["method"] == "auto"
    assert summary.reason.startswith("exact would not take more than 2 times as long as minhash and more than 5 s")
    assert told.lines == [f"method exact: {summary.reason}"]
    postings = int(summary.reason.split("estimate ")[1].split(" posting")[0].replace(",", ""))
    assert postings == pytest.approx(summary.join["postings"], rel=0.3)


def test_the_choice_is_the_same_every_time_on_any_number_of_threads():
    texts = near_copies(3000)
    reasons = {nd.deduplicate(texts, threads=threads).summary.reason for threads in (1, 1, 3)}
    assert len(reasons) == 1


def test_the_choice_is_minhash_where_exact_would_take_much_longer(monkeypatch):
    monkeypatch.setattr(auto, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(auto, "TIMES_SLOWER", 0.0)
    summary = nd.deduplicate(near_copies(400)).summary
    assert summary.method == "minhash"
    assert (summary.join["miss_probability"], summary.max_distance) == (1e-3, 38)
    assert nd.deduplicate(near_copies(400), similarity="edit").summary.method == "exact"


@pytest.mark.parametrize(
    "similarity", ["jaccard", nd.Similarity(word_shingle=2), nd.Similarity(segmenter="characters")]
)
def test_signatures_of_elements_that_auto_has_kept_are_those_of_the_texts(similarity, monkeypatch):
    monkeypatch.setattr(auto, "is_slow", lambda *_: True)
    monkeypatch.setattr(auto, "PATIENCE_SECONDS", 0.0)
    corpus = TableCorpus([*near_copies(200), "", "one"])

    def found(**how):
        options = DedupOptions(similarity=similarity, min_similarity=0.6, threads=2)
        made = find_duplicates(corpus, nd.Recipe(), options, Progress(), **how)
        return made.found.method, made.found.candidates.near.tolist(), made.found.costs

    read = found(keep_elements=False)
    assert read[0] == "minhash"
    assert len(read[1]) > 100
    monkeypatch.setattr(Signing, "sign", None)  # of texts
    assert found() == read


def free(count):
    return lambda _: type("Usage", (), {"free": count})


def kinds_of_corpora():
    choose = random.Random(1)
    return {
        "short": [" ".join(choose.choices(WORDS, k=6)) for _ in range(400)],
        "long": near_copies(150),
        "chinese": ["".join(choose.choices("河上的老石桥建于明代渡口九点离开", k=80)) for _ in range(300)],
        "templated": [f"this page was made by the system and has no other content than line {n}" for n in range(300)],
        "nothing": [],
    }


@pytest.mark.parametrize("corpus", kinds_of_corpora())
@pytest.mark.parametrize("slower", [2.0, 0.0])
def test_neither_memory_nor_threads_nor_the_disk_change_the_method_the_reason_or_a_decision(
    corpus, slower, monkeypatch, tmp_path
):
    monkeypatch.setattr(auto, "TIMES_SLOWER", slower)
    monkeypatch.setattr(auto, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(sampled_sets, "SAMPLED_ELEMENTS", 2_000)  # so that not all is sampled
    texts = kinds_of_corpora()[corpus]
    found = set()
    for memory, threads, temp_dir, room in (
        ("16M", 1, None, 1 << 50),
        ("64M", 4, str(tmp_path), 1 << 50),
        ("1G", 2, None, 1 << 50),
        ("64G", 3, str(tmp_path), 1 << 50),
        (None, None, None, 1 << 22),  # no room for the elements of all texts
    ):
        monkeypatch.setattr(shutil, "disk_usage", free(room))
        result = nd.deduplicate(texts, memory=memory, threads=threads, temp_dir=temp_dir)
        summary = result.summary
        found.add((summary.method, summary.reason, str(result.duplicates.to_pydict()), summary.candidates))
    assert len(found) == 1
    if slower == 0 and texts:
        assert found.pop()[0] == "minhash"


@pytest.mark.parametrize(("method", "said"), [("exact", "exact"), ("minhash", "minhash")])
def test_auto_refuses_what_the_disk_does_not_hold_and_takes_no_other_method(method, said, monkeypatch):
    monkeypatch.setattr(auto, "TIMES_SLOWER", 0.0 if method == "minhash" else 99.0)
    monkeypatch.setattr(auto, "PATIENCE_SECONDS", 0.0)
    estimates = {name: getattr(auto, name) for name in ("estimate_exact", "estimate_minhash")}
    for name, estimated in estimates.items():
        monkeypatch.setattr(
            auto,
            name,
            lambda *given, made=estimated, **kept: dataclasses.replace(made(*given, **kept), disk_bytes=9 << 40),
        )
    with pytest.raises(
        nd.OptionError, match=f"`method='{said}'`, which auto takes for this corpus, takes about 9.0 TiB"
    ) as refusal:
        nd.deduplicate(near_copies(100))
    assert "Give a `temp_dir` with more room, or" in str(refusal.value)


@pytest.mark.parametrize("method", ["exact", "minhash", "simhash"])
def test_pairs_that_neither_memory_nor_disk_hold_are_refused_before_they_are_looked_for(method, monkeypatch):
    choose = random.Random(2)
    texts = [f"{' '.join(WORDS)} {choose.random()}" for _ in range(5_000)]
    monkeypatch.setattr(shutil, "disk_usage", free(100 << 20))
    options = {"max_distance": 60} if method == "simhash" else {"min_similarity": 0.6}
    with pytest.raises(
        nd.OptionError, match=r"about [\d,]+ pairs, which takes about [\d.]+ MiB of temporary files"
    ) as refusal:
        nd.match(texts, method=method, memory="16M", **options)
    assert re.search(r"and [89]\d\.\d MiB are free for them in", str(refusal.value))
    (enough,) = re.findall("more room, `memory='([0-9]+)G'`, or a", str(refusal.value))
    Resources(memory=f"{enough}G").check_pairs(10_000_000, work="a join", instead="")
    with pytest.raises(
        nd.OptionError, match=r"which takes about \S+ TiB .* Give a `temp_dir` with more room, or something else\."
    ):
        Resources(memory="16M").check_pairs(
            1 << 40, work="a join, which", instead="something else"
        )  # no machine has so much


@pytest.mark.parametrize("similarity", ["jaccard", "weighted", "containment", "cosine", "edit"])
def test_prefixes_that_the_disk_does_not_hold_are_refused_before_they_are_made(similarity, monkeypatch):
    choose = random.Random(4)
    texts = [" ".join(choose.choices(WORDS, k=30)) for _ in range(4_000)]
    summaries = {}
    little = 2_000_000 if similarity == "cosine" else 1_200_000  # sums of its weights lie in files besides
    for room in (1 << 50, little):  # all elements would not fit in the second; those of the prefixes do
        monkeypatch.setattr(shutil, "disk_usage", free(room))
        found = nd.deduplicate(texts, method="exact", similarity=similarity, min_similarity=0.95)
        summaries[room] = (found.duplicates.to_pydict(), found.summary.candidates)
    assert summaries[1 << 50] == summaries[little]
    assert "room" in found.summary.seconds or similarity == "cosine"
    monkeypatch.setattr(shutil, "disk_usage", free(100_000))
    monkeypatch.setattr(exact, "prefixes_of", None)
    with pytest.raises(
        nd.OptionError, match=r"`method='exact'` takes about [\d.]+ KiB of temporary files, and 87.9 KiB"
    ) as refusal:
        nd.deduplicate(texts, method="exact", similarity=similarity, min_similarity=0.95)
    assert "Give a `temp_dir` with more room, or a higher" in str(refusal.value)


def test_signatures_that_neither_memory_nor_disk_hold_are_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", free(1000))
    with pytest.raises(nd.OptionError, match="`method='minhash'` of 8,000 documents takes about 2.7 MiB"):
        nd.deduplicate([f"text number {i}" for i in range(8_000)], method="minhash", memory="16M")


def test_what_is_small_or_served_by_no_other_method_is_not_looked_at_for_a_choice(monkeypatch):
    monkeypatch.setattr(auto, "choose", None)
    summary = nd.deduplicate(near_copies(300)).summary
    assert (summary.method, summary.reason) == ("exact", "exact takes no more than 5 s on the reference machine")
    monkeypatch.setattr(auto, "PATIENCE_SECONDS", 0.0)
    assert nd.deduplicate(near_copies(300), similarity="edit").summary.reason == "no other method serves edit"


def test_the_choice_is_exact_where_no_bands_serve_the_similarity(monkeypatch):
    monkeypatch.setattr(auto, "PATIENCE_SECONDS", 0.0)
    summary = nd.deduplicate(near_copies(40), min_similarity=1e-6).summary
    assert summary.method == "exact"
    assert summary.reason.endswith("no bands serve 1e-06")
    with pytest.raises(nd.OptionError, match="values, more than 1024"):
        nd.deduplicate(near_copies(40), min_similarity=1e-6, method="minhash")


def test_signatures_that_cannot_be_searched_in_the_memory_are_searched_in_files():
    many = [f"text {i // 2} of many {i // 2}" for i in range(100_000)]
    little, much = (nd.deduplicate(many, method="minhash", memory=memory) for memory in ("16M", "2G"))
    assert little.duplicates.equals(much.duplicates)
    assert len(little.survivors) == 50_000


def test_the_least_element_chooses_a_share_of_the_texts_however_long():
    generator = np.random.default_rng(0)
    for size in (1, 30, 1000):
        values = np.sort(generator.integers(0, 2**64, (2_000, size), np.uint64), axis=1).ravel()
        elements = Elements(values, np.empty(0), np.arange(2_001) * size)
        assert chosen_texts(elements, 0.1).mean() == pytest.approx(0.1, abs=0.03)
    assert chosen_texts(elements, 1.0).all()


@pytest.mark.parametrize("options", [{"max_distance": 20}, {"min_similarity": 0}])
def test_the_choice_is_simhash_where_a_distance_is_asked_for(options):
    assert nd.deduplicate(near_copies(20), **options).summary.method == "simhash"


@pytest.mark.parametrize("method", ["exact", "minhash", "auto"])
@pytest.mark.parametrize("texts", [[], [""], ["", "!"], ["one"], ["one", "one"]])
def test_almost_nothing_is_no_error(method, texts):
    assert len(nd.deduplicate(texts, method=method).survivors) == len({naive.normalize(text) for text in texts})


def test_minhash_misses_hardly_a_pair_over_ten_seeds(monkeypatch):
    texts = near_copies(600)
    exact = pairs_of(nd.match(texts, method="exact"))
    found = 0
    for seed in range(10):
        monkeypatch.setattr(minhash, "Signing", partial(Signing, seed=seed))
        pairs = pairs_of(nd.match(texts, method="minhash"))
        assert pairs.items() <= exact.items()
        found += len(pairs)
    assert len(exact) > 150
    assert found / (10 * len(exact)) >= 0.999


def test_the_sieve_can_be_off():
    texts = near_copies(200)
    wide = nd.deduplicate(texts, method="minhash", max_distance=128).summary
    narrow = nd.deduplicate(texts, method="minhash", max_distance=2).summary
    assert (wide.max_distance, narrow.max_distance) == (128, 2)
    assert narrow.join["pairs"] < wide.join["pairs"]


def test_a_page_repeated_with_other_punctuation_is_one_class():
    texts = [near_copies(1)[0].replace(" ", "," * i + " ", 1) for i in range(1, 2000)]
    result = nd.deduplicate(texts, method="exact")
    assert len(result.survivors) == 1
    assert result.summary.candidates == 1998  # not two millions
    assert np.all(result.duplicates.column("similarity").to_numpy() == 1.0)


@pytest.mark.parametrize("kind", ["jaccard", "weighted", "containment", "cosine", "edit"])
@pytest.mark.parametrize("cluster", ["star", "components"])
@given(texts=corpora())
@settings(max_examples=15)
def test_elements_kept_by_the_first_pass_decide_as_those_of_texts_read_again(kind, cluster, texts):
    options = DedupOptions(method="exact", similarity=kind, cluster=cluster, min_similarity=0.5, threads=2)
    found = [
        find_duplicates(TableCorpus(texts), nd.Recipe(), options, Progress(), keep_elements=keep).decisions
        for keep in (True, False)
    ]
    for name in ("survivor", "similarity", "matched", "cluster"):
        np.testing.assert_array_equal(getattr(found[0], name), getattr(found[1], name))


def test_the_choice_is_the_same_whether_elements_are_kept_or_not(monkeypatch):
    monkeypatch.setattr(auto, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(sampled_sets, "SAMPLED_ELEMENTS", 1 << 12)
    texts = [*near_copies(300), "", "!"]
    found = [
        find_duplicates(TableCorpus(texts), nd.Recipe(), DedupOptions(), Progress(), keep_elements=keep)
        for keep in (True, False)
    ]
    assert "by estimate" in found[0].found.reason
    assert found[0].found.reason == found[1].found.reason


def test_elements_that_find_no_room_are_not_kept(monkeypatch):
    read_again = []
    original = clustering.read_again
    monkeypatch.setattr(
        clustering, "read_again", lambda *given, **named: read_again.append(1) or original(*given, **named)
    )
    texts = [f"number {i % 20} of a list of sentences that differ in one word" for i in range(60)]
    expected = nd.deduplicate(texts, method="exact", threads=1)
    assert read_again == []
    for room in (0, 100, 2_000):
        monkeypatch.setattr(dedup, "room_for_elements", lambda options, room=room: room)
        found = nd.deduplicate(texts, method="exact", threads=1)
        assert found.survivors == expected.survivors
        assert found.duplicates.equals(expected.duplicates)
    assert len(read_again) == 3


@pytest.mark.parametrize(
    "recipe",
    [
        nd.Recipe(segmenter=nd.Segmenter(str.split, name="split", version="1")),
        nd.Recipe(
            hash=nd.HashFunction(lambda name: zlib.crc32(name), name="zlib-crc32", version="1", bits=32),
            bits=32,
            max_distance=3,
        ),
        nd.Recipe(segmenter="characters", weights="uniform"),
    ],
    ids=["segmenter", "hash", "characters"],
)
def test_auto_takes_what_its_choice_gives_with_any_recipe(recipe):
    found = nd.deduplicate(near_copies(400), recipe=recipe)
    by_distance = recipe.max_distance is not None
    assert found.summary.method in (("simhash",) if by_distance else ("exact", "minhash"))
    same = nd.deduplicate(near_copies(400), recipe=recipe, method=found.summary.method)
    assert found.survivors == same.survivors
    assert found.duplicates.to_pydict() == same.duplicates.to_pydict()


@pytest.mark.parametrize("method", ["exact", "minhash", "simhash"])
def test_equal_texts_without_tokens_are_each_paired_with_the_first_of_them(method):
    texts = ["", "?", "some words that are here", "", "...", "?", "", "some words that are here"]
    within = {"kind": ["a", "a", "a", "a", "a", "a", "b", "a"], "text": texts}
    found = nd.match(texts, method=method, min_similarity=0.8)
    assert pairs_of(found) == dict.fromkeys([(0, 3), (0, 6), (1, 5), (2, 7)], 1.0)
    assert sorted(pairs_of(nd.match(pa.table(within), method=method, within="kind"))) == [(0, 3), (1, 5), (2, 7)]
    across = pairs_of(nd.match(["", "", "", "?"], ["", "?", "", "!"], method=method))
    assert sorted(across) == [(0, 0), (0, 2), (1, 0), (2, 0), (3, 1)]
    many = nd.match(["" for _ in range(3_000)], method=method)
    assert len(many) == 2_999
    assert not many.left.any()


@pytest.mark.parametrize("cluster", ["star", "components"])
def test_the_pairs_of_texts_without_tokens_still_connect_them(cluster):
    texts = ["", "some words", "", "?", "", "some words"]
    found = nd.match(texts, method="exact")
    joined = naive.components(len(texts), lambda q, p: float((q, p) in pairs_of(found)), 0.5)
    assert joined == [0, 1, 0, 3, 0, 1]
    assert np.flatnonzero(nd.deduplicate(texts, method="exact", cluster=cluster).kept).tolist() == [0, 1, 3]
