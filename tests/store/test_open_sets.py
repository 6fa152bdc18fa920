"""On a part of the open evaluation sets: a stream has the decisions of the batch. `benchmarks/store_orders.py` takes them whole."""

import gzip
import json
import random
from itertools import islice

import pytest
from streams import of_batch

import neardup as nd
from places import DATA

DOCUMENTS = 120
SETS = ("en_pep_revisions_even", "en_spdx_licenses", "zh_laws_national")
WAYS = [
    ("exact", "jaccard"),
    ("exact", "containment"),
    ("exact", "edit"),
    ("exact", "cosine"),
    ("minhash", "jaccard"),
    ("simhash", "jaccard"),
]


@pytest.fixture(scope="module")
def texts():
    """The beginnings of some documents of all sets: whole, the longest are slow to compare."""
    found = []
    for name in SETS:
        with gzip.open(DATA / name / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
            found += [json.loads(line)["text"][:2_000] for line in islice(lines, DOCUMENTS)]
    return found


@pytest.mark.skipif(not DATA.is_dir(), reason=f"the evaluation corpora are not in {DATA}; set NEARDUP_DATA")
@pytest.mark.parametrize(("method", "similarity"), WAYS)
def test_a_stream_of_an_open_set_is_decided_as_the_batch_is(texts, method, similarity):
    options = {"method": method, "similarity": similarity, "min_similarity": 0.8}
    for seed, size, threads in ((None, 50, 1), (1, 7, 8)):
        rows = list(range(len(texts)))
        if seed is not None:
            random.Random(seed).shuffle(rows)
        ordered = [texts[row] for row in rows]
        expected = of_batch(ordered, **options)
        assert len(ordered) - expected.count(None) > 30
        with nd.Stream(threads=threads, **options) as stream:
            found = []
            for first in range(0, len(ordered), size):
                some = ordered[first : first + size]
                found += stream.add_many(range(first, first + len(some)), some)
        assert found == expected
