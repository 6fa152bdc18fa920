"""What is found on a corpus made here, by definition, and on real corpora with reference pairs; these are skipped without the corpora."""

import gzip
import json
import random
from functools import partial

import pytest

import naive
import neardup as nd
from near_copies import edited_copies
from neardup.fingerprints.minhash import Signing
from neardup.matching.candidates import minhash
from places import DATA

SETS = {
    "zh_laws_national": "oracle_pairs_char5.jsonl",
    "en_pep_revisions_even": "oracle_pairs_word3.jsonl",
    "en_spdx_licenses": "oracle_pairs_word3.jsonl",
}
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"the evaluation corpora are not in {DATA}; set NEARDUP_DATA")


def test_a_corpus_made_here_is_found_whole_by_exact_and_nearly_by_the_others():
    texts = edited_copies(150)
    shingles = [frozenset(naive.shingle_counts(text)) for text in texts]
    similarity = {
        (a, b): len(shingles[a] & shingles[b]) / len(shingles[a] | shingles[b])
        for b in range(len(texts))
        for a in range(b)
    }
    reference = {pair for pair, value in similarity.items() if value >= 0.8}
    assert len(reference) > 180
    found = {}
    for method in ("exact", "minhash", "simhash"):
        pairs = nd.match(texts, method=method, min_similarity=0.8)
        found[method] = dict(
            zip(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True), pairs.similarity.tolist(), strict=True)
        )
        assert all(value == pytest.approx(similarity[pair]) for pair, value in found[method].items()), method
    assert set(found["exact"]) == reference
    assert set(found["minhash"]) <= reference
    assert len(found["minhash"]) >= 0.995 * len(reference)
    assert len(reference & set(found["simhash"])) >= 0.9 * len(reference)


def read(name):
    with gzip.open(DATA / name / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    pairs = [json.loads(line) for line in (DATA / name / SETS[name]).read_text(encoding="utf-8").splitlines()]
    rows = {document["id"]: row for row, document in enumerate(documents)}
    reference = {tuple(sorted((rows[pair["a"]], rows[pair["b"]]))) for pair in pairs if pair["jaccard"] >= 0.8}
    return [document["text"] for document in documents], reference


@needs_data
def test_exact_finds_every_reference_pair_and_minhash_hardly_less(monkeypatch):
    by_exact = by_minhash = 0
    for name in SETS:
        texts, reference = read(name)
        exact = nd.match(texts, method="exact")
        found = set(zip(exact.left.tolist(), exact.right.tolist(), strict=True))
        assert reference <= found
        assert (exact.similarity >= 0.8).all()
        for seed in range(10):
            monkeypatch.setattr(minhash, "Signing", partial(Signing, seed=seed))
            pairs = nd.match(texts, method="minhash")
            pairs = set(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
            assert pairs <= found
            by_minhash += len(pairs)
        by_exact += 10 * len(found)
    assert by_exact >= 7990
    assert by_minhash / by_exact >= 0.999


@needs_data
def test_nearly_all_reference_pairs_are_found_by_simhash_and_every_stated_similarity_is_true():
    found_pairs = all_pairs = 0
    for name in SETS:
        texts, reference = read(name)
        found = nd.match(texts, method="simhash")
        similarities = {
            (left, right): value
            for left, right, value in zip(
                found.left.tolist(), found.right.tolist(), found.similarity.tolist(), strict=True
            )
        }
        found_pairs += len(reference & set(similarities))
        all_pairs += len(reference)
        for left, right in random.Random(0).sample(sorted(similarities), 12):
            equal = naive.normalize(texts[left]) == naive.normalize(texts[right])
            assert similarities[left, right] == (1.0 if equal else naive.similarity(texts[left], texts[right]))
    assert all_pairs == 799
    assert found_pairs / all_pairs >= 0.97


@needs_data
@pytest.mark.parametrize("name", SETS)
def test_every_duplicate_is_as_similar_to_its_survivor_as_was_asked(name):
    texts, _ = read(name)
    result = nd.deduplicate(texts)
    assert result.duplicates.num_rows > 20
    for line in random.Random(0).sample(result.duplicates.to_pylist(), 8):
        similarity = naive.similarity(texts[line["row"]], texts[line["survivor_row"]])
        assert similarity >= 0.8
        assert line["similarity"] == similarity
