"""What a run would take, by a sample."""

import dataclasses
import gzip
import json
import math
import random
import re
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import neardup as nd
from neardup.io.corpora import sample as sampling
from neardup.io.corpora.file_corpus import open_corpus
from neardup.io.corpora.reading import Reading
from neardup.io.corpora.sample import read_sample
from neardup.judging import estimate as estimating
from neardup.matching.candidates.costs import typical_estimates
from neardup.options import CLUSTERS, DedupOptions
from neardup.recipe.tables.methods import METHODS
from neardup.resources.resources import DEFAULTS

WORDS = [f"word{number}" for number in range(3_000)]


def random_texts(count, seed=0):
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, 30)) for _ in range(count)]


def write(path, texts):
    lines = "".join(json.dumps({"id": number, "text": text}) + "\n" for number, text in enumerate(texts)).encode()
    path.write_bytes(gzip.compress(lines) if path.suffix == ".gz" else lines)
    return path


@pytest.fixture
def small_parts(monkeypatch):
    """Samples of 64 KB, in parts of 16 KB, so that a small corpus is not read whole."""
    monkeypatch.setattr(sampling, "SAMPLED_BYTES", 1 << 16)
    monkeypatch.setattr(sampling, "BATCH_BYTES", 1 << 14)
    monkeypatch.setattr("neardup.io.formats.lines.read_lines.__defaults__", (1 << 14,))


@pytest.mark.parametrize("name", ["in.jsonl", "in.jsonl.gz"])
def test_a_sample_stands_for_all_documents_whatever_the_compression(tmp_path, name, small_parts):
    path = write(tmp_path / name, random_texts(4_000))
    found = nd.estimate_files(path)
    assert found.sampled_documents < 1_000
    assert found.sampled_bytes < found.input_bytes == path.stat().st_size
    # The decompressor reads ahead, so of a small compressed file more seems to have been read than was.
    assert found.documents == pytest.approx(4_000, rel=0.1 if name == "in.jsonl" else 0.8)


def test_what_is_small_is_read_whole(tmp_path):
    path = write(tmp_path / "in.jsonl", random_texts(300))
    found = nd.estimate_files(path)
    assert (found.documents, found.sampled_documents) == (300, 300)
    assert found.sampled_bytes == found.input_bytes == path.stat().st_size


def test_shards_are_sampled_all_over_the_corpus(tmp_path, small_parts):
    for number in range(30):
        write(tmp_path / f"{number:02}.jsonl", random_texts(100, number))
    corpus = open_corpus(tmp_path, Reading())
    found = read_sample(corpus)
    assert found.shards == sampling.MAX_SHARDS
    assert found.growth == pytest.approx(30 * 100 / len(found), rel=0.05)
    assert sampling._spread(np.array([1, 1, 1_000] + [1] * 20)) == [2]


@pytest.mark.parametrize("method", ["exact", "minhash", "simhash"])
def test_the_stages_that_are_expected_are_those_that_are_done(tmp_path, method):
    path = write(tmp_path / "in.jsonl", random_texts(300) + random_texts(50))
    found = nd.deduplicate_files(path, dry_run=True, method=method)
    assert found.estimate.method == method
    assert set(found.estimate.seconds) == set(found.summary.seconds)
    assert found.estimate.reason is None
    assert sum(found.estimate.seconds.values()) == pytest.approx(2 * found.estimate.seconds["total"], abs=0.01)


@pytest.mark.long
def test_more_of_the_same_takes_more_of_everything(tmp_path, small_parts):
    small = nd.estimate_files(write(tmp_path / "small.jsonl", random_texts(1_000)), method="exact")
    large = nd.estimate_files(write(tmp_path / "large.jsonl", random_texts(40_000)), method="exact")
    assert large.memory_bytes - small.memory_bytes > 39_000 * 200
    assert large.documents > 30 * small.documents


def test_a_sample_of_many_pairs_is_thinned(tmp_path, monkeypatch):
    monkeypatch.setattr(estimating, "PILOT_DOCUMENTS", 50)
    monkeypatch.setattr(estimating, "MAX_PAIRS", 1_000)
    done = []
    find = estimating.find_duplicates

    def watched(corpus, *arguments, **kept):
        done.append(len(corpus))
        return find(corpus, *arguments, **kept)

    monkeypatch.setattr(estimating, "find_duplicates", watched)
    texts = [f"this page was made by the system and has no other content than line {number}" for number in range(400)]
    found = nd.estimate_files(write(tmp_path / "in.jsonl", texts), method="simhash")
    assert (found.documents, found.sampled_documents) == (400, 400)
    assert done[0] <= 50
    assert done[1] < 60


@pytest.mark.parametrize("documents", [1, 7, 100, 299, 300, 1_000, 123_457])
def test_a_sample_stands_for_as_many_documents_as_are_asked_for(tmp_path, documents):
    path = write(tmp_path / "in.jsonl", random_texts(300))
    corpus = open_corpus(path, Reading())
    whole = read_sample(corpus)
    part = whole.standing_for(documents)
    assert len(part) * part.growth == pytest.approx(documents, rel=0.005)
    assert len(part) <= min(documents, 300)
    assert part.total_bytes == pytest.approx(whole.total_bytes * documents / 300, rel=0.05, abs=1)


def test_what_is_compressed_takes_longer_to_write(tmp_path):
    plain, packed = (nd.estimate_files(write(tmp_path / name, random_texts(300))) for name in ("a.jsonl", "b.jsonl.gz"))
    assert packed.seconds["write"] > 0.001 > plain.seconds["write"]


def test_the_seconds_of_a_run_are_in_three_parts(tmp_path):
    found = nd.estimate_files(write(tmp_path / "in.jsonl", random_texts(20)), method="exact")
    parts, seconds = found.parts, found.seconds
    assert (parts["reading"], parts["writing"]) == (seconds["fingerprint"], seconds["write"])
    assert sum(parts.values()) == pytest.approx(seconds["total"])


def test_choosing_takes_nothing_of_a_run_that_need_not_choose(tmp_path):
    path = write(tmp_path / "in.jsonl", random_texts(20))
    found = nd.estimate_files(path)
    assert found.reason is not None
    assert found.seconds["choose"] == 0


def test_an_estimate_shows_itself_in_a_line(tmp_path):
    found = nd.estimate_files(write(tmp_path / "in.jsonl", random_texts(20)))
    assert repr(found).startswith("CostEstimate(20 documents in 5.5 KiB take less than 1 s, ")
    assert json.loads(found.to_json()) == found.as_dict()
    assert "from a sample of 20 documents" in str(found)


def test_a_file_without_documents_takes_next_to_nothing(tmp_path):
    (tmp_path / "in.jsonl").write_bytes(b"")
    found = nd.estimate_files(tmp_path / "in.jsonl")
    assert (found.documents, found.input_bytes) == (0, 0)


@pytest.mark.parametrize(
    ("content", "kind", "message"),
    [
        (b'{"text": "a"}\n{"text": 3}\n', nd.RowError, "row 1"),
        (gzip.compress(b'{"text": "a"}\n' * 5_000)[:-20], nd.DataError, "it ends too early"),
        (b'{"body": "a"}\n', nd.InputError, 'has no column "text"'),
    ],
)
def test_what_cannot_be_sampled_is_refused_as_by_the_run(tmp_path, content, kind, message):
    path = tmp_path / ("in.jsonl.gz" if content.startswith(b"\x1f\x8b") else "in.jsonl")
    path.write_bytes(content)
    with pytest.raises(kind, match=message) as by_run:
        nd.deduplicate_files(path, str(tmp_path / "out.jsonl"))
    with pytest.raises(kind) as by_estimate:
        nd.estimate_files(path)
    assert str(by_estimate.value) == str(by_run.value)


def test_rows_set_aside_are_no_documents_of_the_sample(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_bytes(b'{"text": "a b c"}\n{"text": 3}\n')
    events = []
    assert nd.estimate_files(path, on_error="skip", progress=events.append).sampled_documents == 1
    assert {event.stage for event in events} == {"estimate"}
    assert nd.plan_files(path, on_error="skip").documents == 1
    with pytest.raises(nd.RowError):
        nd.plan_files(path)


NEEDED = {"keep_as": {"keep": "max:n"}, "drop_matched": {"cluster": "components"}}
"""What another option takes for granted."""
OPTIONS = {
    "text": ["text", "text"],
    "elements": "words",
    "id": "n",
    "html": "whole",
    "lines": True,
    "encoding": "utf-8",
    "dialect": ";",
    "max_document_bytes": "1M",
    "method": "minhash",
    "min_similarity": 0.5,
    "similarity": "cosine",
    "max_distance": 3,
    "keep": "max:n",
    "keep_as": "number",
    "cluster": "components",
    "guard": "same-numbers",
    "keep_most": 2,
    "drop_matched": True,
    "max_cluster": 0.9,
    "prefer_source": "b.jsonl",
    "within": "lang",
    "threads": 1,
    "memory": "64M",
    "temp_dir": ".",
    "temp_limit": "1G",
    "recipe": "textbook",
    "on_error": "skip",
    "progress": lambda _: None,
}
"""Each option of `estimate_files`, with a value."""


def test_every_option_of_an_estimate_is_tried():
    fields = {field.name for kind in (Reading, DedupOptions) for field in dataclasses.fields(kind)}
    assert {*fields, "recipe", "on_error", "progress"} == set(OPTIONS)


@pytest.mark.parametrize(
    "given",
    [
        *(NEEDED.get(name, {}) | {name: value} for name, value in OPTIONS.items()),
        {"keep": len, "within": lambda text: text[:5]},
    ],
)
def test_an_estimate_takes_every_option_of_a_run(tmp_path, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    rows = [
        {"n": at, "lang": "en" if at % 3 else None, "text": text, "words": text.split()}
        for at, text in enumerate(random_texts(40))
    ]
    for name in ("a.jsonl", "b.jsonl"):
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert nd.estimate_files(["a.jsonl", "b.jsonl"], **given).documents == 80


def test_values_and_sources_of_a_sample_are_those_of_its_documents(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("a.jsonl", "b.jsonl")):
        rows = [
            {"id": f"{name}{at}", "text": None if at % 5 == 4 else "x" * at, "n": 100 * number + at} for at in range(50)
        ]
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    corpus = open_corpus(["a.jsonl", "b.jsonl"], Reading(), values=["n"], on_error="skip")
    part = read_sample(corpus).thinned(3)
    sampled = sampling.SampledCorpus(part, with_values=True, resources=DEFAULTS)
    batches = [batch for _, batch in sampled.map(lambda batch: batch)]
    found = [
        (int(n), len(text), json.loads(token))
        for batch in batches
        for n, text, token in zip(
            *(each.to_pylist() for each in (batch.values[0], batch.texts, batch.ids)), strict=True
        )
    ]
    assert len(found) == len(sampled) == 27
    assert all(n % 100 == length and token == f"{'ab'[n // 100]}.jsonl{length}" for n, length, token in found)
    assert sampled.source_ranks(["b.jsonl"]).tolist() == [1 - n // 100 for n, _, _ in found]


def test_values_without_an_order_are_refused_by_an_estimate(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"id": n, "text": "a b c", "score": n}) + "\n" for n in [9, 10, "n/a"]))
    with pytest.raises(nd.DataError, match=r"text, such as 'n/a' \(id \"n/a\"\), among numbers, such as 9 \(id 9\)"):
        nd.estimate_files(path, keep="max:score")
    with pytest.raises(nd.InputError, match="no input is of this source"):
        nd.estimate_files(path, prefer_source="elsewhere")
    with pytest.raises(nd.InputError, match=r'has no column "day".*keep'):
        nd.estimate_files(path, keep="min:day")


def test_stages_that_estimates_look_up_are_stages_of_runs():
    package = Path(nd.__file__).parent
    shown = {
        name
        for path in package.rglob("*.py")
        for name in re.findall(r'\.stage\(\s*"([a-z ]+)"', path.read_text("utf-8"))
    }
    looked_up = re.findall(
        r'(?:took\.get\(|took\[|found\[|name == )"([a-z ]+)"',
        "".join(
            (package / "judging" / name).read_text("utf-8")
            for name in ("estimate.py", "extrapolation.py", "run_cost.py")
        ),
    )
    assert {"fingerprint", "join", "verify"} <= set(looked_up)
    assert set(looked_up) | {name for row in METHODS.values() for name in row.passes} <= shown


def partly_alike(common, count, seed=0):
    """Texts of 50 words, of which so many are in all of them."""
    generator = random.Random(seed)
    same = " ".join(f"w{i}" for i in range(common))
    return [f"{same} {' '.join(str(generator.random()) for _ in range(50 - common))}" for _ in range(count)]


def test_candidates_grow_with_the_square_of_the_documents(tmp_path):
    path = write(tmp_path / "in.jsonl", partly_alike(36, 1000))
    now, then = (
        {each.method: each for each in nd.plan_files(path, min_similarity=0.7, documents=n).estimates}
        for n in (1000, 10_000)
    )
    assert then["minhash"].candidates == pytest.approx(100 * now["minhash"].candidates, rel=0.05)


@settings(max_examples=25)
@given(
    common=st.integers(0, 50),
    read=st.integers(1, 60),
    documents=st.one_of(st.none(), st.integers(1, 10**7)),
    min_similarity=st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.8, 1.0]),
    cluster=st.sampled_from(sorted(CLUSTERS)),
)
def test_no_estimate_has_more_pairs_than_there_are(tmp_path_factory, common, read, documents, min_similarity, cluster):
    path = write(tmp_path_factory.mktemp("texts") / "in.jsonl", partly_alike(common, read))
    found = nd.plan_files(path, documents=documents, min_similarity=min_similarity, cluster=cluster)
    pairs = found.documents * (found.documents - 1) // 2
    for each in found.estimates:
        assert each.candidates <= pairs
        assert each.method == "minhash" or each.meetings <= pairs
        assert math.isfinite(each.seconds)


@given(documents=st.integers(0, 10**10))
def test_typical_estimates_have_no_more_pairs_than_there_are(documents):
    for each in typical_estimates(documents, memory=1 << 30):
        assert each.candidates <= documents * (documents - 1) // 2


def test_a_plan_takes_the_options_that_choose_survivors(tmp_path):
    rows = [{"text": text, "score": n, "site": n % 2} for n, text in enumerate(partly_alike(40, 20))]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    plan = nd.plan_files(path, keep="max:score", within="site", prefer_source=str(path), cluster="components")
    assert plan.documents == 20
    with pytest.raises(nd.InputError, match='no column "scor"'):
        nd.plan_files(path, keep="max:scor")
