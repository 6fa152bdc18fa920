"""Similarities of texts: definitions, what they tell apart, and that all that verifies can use each."""

import dataclasses
import gzip
import json
import subprocess
import sys
from collections import Counter
from math import isclose

import numpy as np
import pyarrow as pa
import pytest
import xxhash
from hypothesis import example, given
from hypothesis import strategies as st

import naive
import neardup as nd
from columns import large_strings
from guards import not_empty
from neardup.fingerprints.simhash import fingerprint_array
from neardup.hamming.near import near_fingerprints
from neardup.io.corpora.batch import Batch
from neardup.io.corpora.table_corpus import TableCorpus
from neardup.kernels.fingerprints.votes import WEIGHTINGS as WEIGHTS
from neardup.kernels.matching import bounds, similarities
from neardup.matching.similarities.element_store import ElementStore, read_again
from neardup.matching.similarities.first_pass import first_pass
from neardup.matching.similarities.table import SIMILARITY_TABLE
from neardup.progress import Progress
from neardup.recipe.tables.similarities import SIMILARITIES
from neardup.resources.resources import Resources
from neardup.survivors import clusters
from neardup.survivors.clusters import CLUSTERERS
from places import DATA
from strategies import texts

KINDS = sorted(SIMILARITY_TABLE)
SETS = ("jaccard", "weighted", "containment")


def of_text(found, i):
    return found.values[found.offsets[i] : found.offsets[i + 1]].tolist()


def occurrence_hashes(counts):
    """Occurrence 0 of an element has its hash, occurrence i the hash of it and i."""
    return sorted(
        xxhash.xxh3_64_intdigest(naive.little(value, i)) if i else value
        for value, n in counts.items()
        for i in range(n)
    )


def test_rows_kernels_and_definitions_name_the_same_similarities():
    assert list(SIMILARITY_TABLE) == list(SIMILARITIES) == list(similarities.CODES) == list(naive.SIMILARITIES)
    assert sorted(similarities.CODES.values()) == list(range(len(SIMILARITIES)))


def test_rows_load_no_compiled_code():
    program = (
        "from neardup.recipe.tables.similarities import SIMILARITIES\nfrom neardup.recipe.tables.methods import METHODS\n"
        "import sys\nprint(sorted({'numba', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("kind", KINDS)
@given(a=texts, b=texts, common=texts)
@example("?", "!", "")
@example("...", "...", "")
@example("", "a", "")
@example("to be", "to be or not to be", "")
def test_similarity_is_what_its_definition_says(kind, a, b, common):
    for left, right in ((a, b), (common + " " + a, common + " " + b), (a, a)):
        found, expected = nd.similarity(left, right, kind=kind), naive.similarity(left, right, kind)
        assert isclose(found, expected, rel_tol=1e-12) if kind == "cosine" else found == expected
        assert nd.similarity(right, left, kind=kind) == found
        assert 0 <= found <= 1


@pytest.mark.parametrize("weights", WEIGHTS)
@given(a=texts, b=texts, word_shingle=st.integers(1, 3), cjk_shingle=st.integers(1, 3))
def test_the_cosine_is_of_the_recipes_features_and_weights(weights, a, b, word_shingle, cjk_shingle):
    recipe = nd.Recipe(word_shingle=word_shingle, cjk_shingle=cjk_shingle, weights=weights)
    expected = (
        naive.similarity(a, b, "cosine", word_shingle=word_shingle, cjk_shingle=cjk_shingle, weights=weights)
        if (naive.tokens(a) or naive.tokens(b))
        else naive.similarity(a, b)
    )
    assert isclose(nd.similarity(a, b, kind="cosine", recipe=recipe), expected, rel_tol=1e-12)


@given(items=st.lists(texts, max_size=4), weights=st.sampled_from(sorted(WEIGHTS)))
def test_elements_are_the_shingles_their_occurrences_or_weighted_features(items, weights):
    recipe, array = nd.Recipe(weights=weights), large_strings(items)
    found = {kind: row.elements(array, recipe) for kind, row in SIMILARITY_TABLE.items()}
    sequences = SIMILARITY_TABLE["edit"].stored(array, recipe)
    for i, text in enumerate(items):
        tokens = naive.tokens(text)
        shingles = Counter(map(naive.feature_hash, naive.windows(tokens, 3, 5)))
        features = Counter(map(naive.feature_hash, naive.windows(tokens, 1, 2)))
        assert of_text(found["jaccard"], i) == of_text(found["containment"], i) == sorted(shingles)
        assert of_text(found["weighted"], i) == occurrence_hashes(shingles)
        assert of_text(found["cosine"], i) == sorted(features)
        of_features = found["cosine"].weights[slice(*found["cosine"].offsets[i : i + 2])]
        assert of_features.tolist() == [naive.WEIGHTS[weights](features[value]) for value in sorted(features)]
        assert of_text(found["edit"], i) == occurrence_hashes(Counter(map(naive.token_hash, tokens)))
        assert of_text(sequences, i) == list(map(naive.token_hash, tokens))


@pytest.mark.parametrize("kind", KINDS)
@given(a=texts, b=texts, common=texts, least=st.sampled_from([0.05, 0.5, 0.8, 1.0]))
def test_no_pair_of_texts_at_the_threshold_falls_short_of_the_bounds_of_its_elements(kind, a, b, common, least):
    row, recipe = SIMILARITY_TABLE[kind], nd.Recipe()
    pair = [common + " " + a, common + " " + b]
    if not naive.tokens(pair[0] + " " + pair[1]) or nd.similarity(*pair, kind=kind) < least:
        return
    found = row.elements(large_strings(pair), recipe)
    left, right = sorted((of_text(found, 0), of_text(found, 1)), key=len)
    assert similarities.sizes_may_match(row.code, len(left), len(right), least)
    if row.code in similarities.BY_NORM:
        fronts = [
            set(found.values[first:last][: bounds.cosine_prefix(found.weights, first, last, least)].tolist())
            for first, last in zip(found.offsets[:-1], found.offsets[1:], strict=True)
        ]
        assert fronts[0] & fronts[1]
        return
    assert len(set(left) & set(right)) >= similarities.required_overlap(row.code, len(left), len(right), least)
    probing, indexed = (left, right) if row.row.larger_first else (right, left)
    front = set(probing[: similarities.prefix_length(row.code, len(probing), least)])
    assert front & set(indexed[: similarities.index_length(row.code, len(indexed), least)])


def test_each_similarity_tells_apart_what_it_is_for():
    passage = "it was the best of times it was the worst of times and the age of wisdom"
    longer = (
        "Before all that somebody wrote many other lines. "
        + passage
        + " And then came a good deal more of it, and so on."
    )
    repeated, shuffled = passage + ". " + passage, " ".join(sorted(passage.split()))

    def of(kind, a, b):
        return round(nd.similarity(a, b, kind=kind), 2)

    assert of("containment", passage, longer) == 1.0 > 0.7 > of("jaccard", passage, longer)
    assert of("jaccard", passage, repeated) > 0.85 > 0.55 > of("weighted", passage, repeated)
    assert of("cosine", passage, shuffled) == 1.0 > 0.6 > of("edit", passage, shuffled)
    assert of("edit", passage, passage.replace("best", "better").replace("worst", "worse")) == 0.88
    assert of("jaccard", passage, passage.replace("best", "better").replace("worst", "worse")) == 0.4


def test_a_kind_that_is_not_known_is_refused_with_those_that_are():
    with pytest.raises(nd.OptionError, match="`kind` is the name of a similarity. Give a `Similarity` as `similarity`"):
        nd.similarity("a", "b", kind=nd.Similarity(word_shingle=1))
    with pytest.raises(nd.OptionError, match="`kind='dice'`: give one of jaccard, weighted, containment, cosine, edit"):
        nd.similarity("a", "b", kind="dice")


@pytest.mark.parametrize("kind", KINDS)
def test_stored_texts_have_the_similarity_of_the_texts_themselves(kind):
    random = np.random.default_rng(3)
    items = [" ".join(random.choice(["a", "b", "c", "d", "中", "国"], int(random.integers(0, 90)))) for _ in range(12)]
    recipe = nd.Recipe(weights="sqrt")
    wanted = np.arange(12) != 5
    left, right = (side.astype(np.int64) for side in np.nonzero(~np.eye(12, dtype=bool)))
    keep = (left != 5) & (right != 5)
    left, right = left[keep], right[keep]
    store = ElementStore.of_verification(kind, recipe, resources=Resources(2))
    with read_again(store, TableCorpus(items), wanted, progress=Progress()) as sets:
        found = sets.similarities(left, right, 0.0)
        some = sets.similarities(left, right, 0.4)
        assert sets.ends[5] == sets.starts[5]
        assert sets.bytes_each == (16 if kind == "cosine" else 8)
        sets.was_read(10_000, 1 << 30)  # more than any share: the pages go back
        assert sets.similarities(left, right, 0.0).tolist() == found.tolist()
    assert found.tolist() == [
        nd.similarity(items[a], items[b], kind=kind, recipe=recipe if kind == "cosine" else None)
        for a, b in zip(left, right, strict=True)
    ]
    assert some.tolist() == np.where(found >= 0.4, found, -1.0).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_elements_of_a_join_serve_verification_but_for_edit(kind):
    """Which compares tokens in their order, and a join their occurrences."""
    how = {"resources": Resources(1)}
    texts = pa.array(["a rose is a rose is a rose", None, "a tulip is no rose"], pa.large_string())
    batch = Batch(0, texts, pa.nulls(3, pa.large_string()))
    with (
        ElementStore.of_join(kind, nd.Recipe(), room=1 << 20, **how) as join,
        ElementStore.of_verification(kind, nd.Recipe(), **how) as verification,
    ):
        (rows, joined), (_, verified) = join.of_batch(batch), verification.of_batch(batch)
        assert rows.tolist() == [0, 2]
        assert verification.serves_verification
        assert join.serves_verification == all(map(np.array_equal, joined, verified)) == (kind != "edit")


def test_a_store_that_lacks_a_batch_counts_as_full():
    """What was saved of a run whose store was full has no elements from there on."""
    batch = Batch(0, pa.array(["a rose"], pa.large_string()), pa.nulls(1, pa.large_string()))
    with ElementStore.of_join("jaccard", nd.Recipe(), resources=Resources(1), room=1 << 20) as store:
        store.take(0, store.of_batch(batch))
        assert not store.is_full
        store.take(1, None)
        assert store.is_full
        store.take(2, store.of_batch(batch))
        assert store.first_pass(batch, nd.Recipe())[1] is None


NOTES = [
    "the ferry leaves at ten past nine from the old pier and comes back at noon",
    "the ferry leaves at ten past nine from the old pier and comes back at noon every day but sunday in winter",
    "the ferry leaves at ten past nine from the new pier and comes back at noon",
    "an entirely different sentence about nothing that anyone would ever sail to",
]


@pytest.mark.parametrize("kind", KINDS)
def test_matching_lists_the_pairs_at_the_threshold_of_the_similarity_asked_for(kind):
    found = nd.match(NOTES, method="simhash", max_distance=128, min_similarity=0.6, similarity=kind)
    expected = [
        (i, j, nd.similarity(NOTES[i], NOTES[j], kind=kind))
        for i in range(4)
        for j in range(i + 1, 4)
        if nd.similarity(NOTES[i], NOTES[j], kind=kind) >= 0.6
    ]
    assert expected
    assert list(zip(found.left.tolist(), found.right.tolist(), found.similarity.tolist(), strict=True)) == expected


@pytest.mark.parametrize(
    "recipe", [nd.Recipe(), nd.Recipe(weights="sqrt", bits=200, max_distance=None), nd.Recipe(hash="md5")]
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_first_pass_gives_what_fingerprints_and_elements_are_apart(kind, recipe):
    texts = pa.array([*NOTES, None, "", "...", "河上的老石桥建于明代，桥 bridge"], pa.large_string())
    prints, elements = first_pass(texts, recipe, SIMILARITY_TABLE[kind])
    for found, expected in not_empty(
        zip(
            (*dataclasses.astuple(prints), *elements),
            (*dataclasses.astuple(fingerprint_array(texts, recipe)), *SIMILARITY_TABLE[kind].elements(texts, recipe)),
            strict=True,
        )
    ):
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("clusterer", CLUSTERERS)
@pytest.mark.parametrize("kind", KINDS)
def test_clusters_are_of_the_matches_by_the_similarity_asked_for(kind, clusterer, threads, monkeypatch):
    # Of 24 documents: some survivors are of earlier steps, some of the same.
    monkeypatch.setattr(clusters, "DOCUMENTS_PER_STEP", 7)
    random = np.random.default_rng(5)
    base = [random.choice([f"{letter}{i}" for letter in "abcdefgh"], 30).tolist() for i in range(4)]
    items = []
    for _ in range(24):
        words = list(base[int(random.integers(0, 4))])
        for place in random.integers(0, 30, int(random.integers(0, 6))):
            words[place] = "中"
        items.append(" ".join(words))
    rows, least = np.arange(24), 0.7
    candidates = near_fingerprints(nd.fingerprint(items), max_distance=128, resources=Resources(1))
    store = ElementStore.of_verification(kind, nd.Recipe(), resources=Resources(1))
    with read_again(store, TableCorpus(items), np.ones(24, bool), progress=Progress()) as sets:
        how = {"min_similarity": least, "progress": Progress(), "resources": Resources(threads)}
        found = CLUSTERERS[clusterer](candidates, rows, sets, **how)
    definition = {"star": naive.star, "components": naive.components}[clusterer]
    expected = definition(24, lambda p, q: nd.similarity(items[p], items[q], kind=kind), least)
    survivors = [of for of, _ in expected] if clusterer == "star" else expected
    assert found.survivor.tolist() == survivors
    assert 1 < len(set(survivors)) < 24
    for p, q in enumerate(survivors):
        assert p == q or found.similarity[p] == nd.similarity(items[p], items[q], kind=kind)


def test_a_comparison_has_every_similarity():
    found = nd.compare(NOTES[0], NOTES[2])
    assert found.similarities == {kind: nd.similarity(NOTES[0], NOTES[2], kind=kind) for kind in SIMILARITY_TABLE}
    assert found.similarity == found.similarities["jaccard"]


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the open evaluation sets, in ../shared/data")
def test_containment_finds_excerpts_of_real_texts_where_jaccard_does_not():
    with gzip.open(DATA / "en_spdx_licenses/docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        whole = [json.loads(line)["text"] for line, _ in zip(lines, range(60), strict=False)]
    excerpts = [" ".join(text.split()[10 : 10 + len(text.split()) // 3]) for text in whole]
    long = [(excerpt, text) for excerpt, text in zip(excerpts, whole, strict=True) if len(excerpt.split()) > 30]
    assert len(long) > 30
    for excerpt, text in long:
        assert nd.similarity(excerpt, text, kind="containment") > 0.95
        assert nd.similarity(excerpt, text) < 0.6


def test_an_explanation_gives_the_similarity_that_the_run_asked_for(tmp_path):
    source, target = tmp_path / "notes.jsonl", tmp_path / "kept.jsonl"
    source.write_text("".join(json.dumps({"id": str(i), "text": text}) + "\n" for i, text in enumerate(NOTES)))
    nd.deduplicate_files([source], str(target), similarity="edit", min_similarity=0.99, method="simhash")
    [audit] = tmp_path.glob("*.duplicates.jsonl")
    found = nd.explain(audit, "0")
    assert [near.similarity for near in found.neighbors] == [
        nd.similarity(NOTES[0], NOTES[near.row], kind="edit") for near in found.neighbors
    ]
    assert len(found.neighbors) == 3
    [summary] = tmp_path.glob("*.summary.json")
    whole = summary.read_text()
    for name, other in (('"edit"', '"dice"'), ('"simhash"', '"guess"')):
        summary.write_text(whole.replace(name, other))
        with pytest.raises(nd.DataError, match="is not the summary of a run"):
            nd.explain(audit, "0")
