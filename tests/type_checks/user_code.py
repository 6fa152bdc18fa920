"""What users write: a line marked `# error` must be reported by mypy and by pyright, no other line by either; nothing is run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, assert_type

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import neardup as nd
from neardup.store.answers import Removal

texts = ["a rose is a rose", "A rose is a rose!", "a tulip"]
rows = [{"id": 1, "text": "a rose"}, {"id": 2, "text": "a tulip"}]
frame = pd.DataFrame({"text": texts})
fast = pl.DataFrame({"text": texts})
table = pa.table({"text": texts})
recipe = nd.Recipe(bits=64, max_distance=3)


def lines() -> Iterator[str]:
    yield from texts


# ----------------------------------------------------------------------------------------------- deduplicate: what comes back

assert_type(nd.deduplicate(texts).survivors, list[str])
assert_type(nd.deduplicate(tuple(texts)).survivors, tuple[str, ...])
assert_type(nd.deduplicate(lines()).survivors, list[str])
assert_type(nd.deduplicate(frame).survivors, pd.DataFrame)
assert_type(nd.deduplicate(fast).survivors, pl.DataFrame)
assert_type(nd.deduplicate(fast.lazy()).survivors, pl.LazyFrame)
assert_type(nd.deduplicate(fast["text"]).survivors, pl.Series)
assert_type(nd.deduplicate(texts).of(np.ones((3, 8))), np.ndarray[tuple[int, int], np.dtype[np.float64]])
assert_type(nd.deduplicate(texts).of(["en", "de", "fr"]), list[str])
assert_type(nd.deduplicate(texts).of(frame), pd.DataFrame)
ids = [row["id"] for row in nd.deduplicate(rows, text="text", id="id").survivors]
assert_type(nd.deduplicate([{"a"}, {"b"}], similarity=nd.Similarity(measure="containment")).survivors, list[set[str]])
alike = nd.similarity({"a", "d"}, ["a", 1]) + nd.similarity("a", "b", similarity=nd.Similarity(word_shingle=1))
nd.Similarity(measure="jacard")  # error
lengths = [len(text) for text in nd.deduplicate(dict(enumerate(texts)).values()).survivors]
columns = nd.deduplicate(table).survivors.column_names
of_relation = nd.deduplicate(duckdb.table("texts")).survivors.num_rows
of_column = nd.deduplicate(frame["text"]).survivors.str.len()
upper = nd.deduplicate(texts).survivors.upper()  # error
first: int = nd.deduplicate(texts).survivors[0]  # error
wrong: pl.DataFrame = nd.deduplicate(frame).survivors  # error


def best(data: pd.DataFrame) -> nd.DedupResult[pd.DataFrame]:
    return nd.deduplicate(data, keep="longest")


def unspecified(data: list[str]) -> nd.DedupResult:
    return nd.deduplicate(data)


# ------------------------------------------------------------------------------------------------------- deduplicate: options

nd.deduplicate(texts, keep="last", method="minhash", min_similarity=0.7, threads=2, memory="4G", temp_dir="/tmp")
nd.deduplicate(frame, text=("title", "text"), id="id", keep="max:score", within="host", cluster="components")
nd.deduplicate(frame, keep=len, within=lambda text: text[:2], prefer_source=["books", "web"], source="kind")
nd.deduplicate(rows, html="main", against=texts, recipe="textbook", progress=True, memory=1 << 30)
nd.deduplicate(texts, recipe=Path("mine.toml"), progress=lambda event: print(event.stage, event.share))
nd.deduplicate(texts, recipe=nd.RECIPES["default"], similarity="containment", max_distance=None)
nd.deduplicate(texts, kep="last")  # error
nd.deduplicate(texts, method="minhsh")  # error
nd.deduplicate(texts, min_similarity="0.8")  # error
nd.deduplicate(texts, similarity="dice")  # error
nd.deduplicate(texts, cluster="stars")  # error
nd.deduplicate(texts, keep=3)  # error
nd.deduplicate(texts, recipe=17)  # error
nd.deduplicate(texts, threads="2")  # error
nd.deduplicate(texts, html="all")  # error
nd.deduplicate(texts, memory=[4])  # error
nd.deduplicate(texts, recipe=nd.VectorRecipe(dimension=3))  # error
nd.deduplicate(17)  # error
nd.deduplicate(texts, lines=True)  # error
nd.DedupOptions(method="exact", min_similarity=0.9)
nd.DedupOptions(method="exakt")  # error

# -------------------------------------------------------------------------------------------------------------------- recipes

nd.Recipe(weights="tfidf", hash="md5", normalize=["nfkc", "digits"], document_frequencies="idf.parquet", keywords=20)
nd.Recipe(hash=nd.HashFunction(len, name="length", version="1", bits=8), document_frequencies="jieba", weights="tfidf")
nd.Recipe(segmenter="sudachi", mode="A", dictionary=Path("words.csv"), stop_words=["ja", "mine.txt", Path("also.txt")])
nd.Recipe(segmenter=nd.Segmenter(str.split, name="split", version="1"), stop_words=("en",), normalize=())
nd.Recipe(normalize=[], weights="cppjieba", segmenter="jieba", keywords="by_length")
nd.Recipe(profile="text-dedup-0.4.0", bits=64, profile_window=5)
nd.Recipe(weights="idf")  # error
nd.Recipe(hash="md4")  # error
nd.Recipe(hash=len)  # error
nd.Recipe(normalize=["nfkd"])  # error
nd.Recipe(normalize="nfkc")  # error
nd.Recipe(segmenter="mecab")  # error
nd.Recipe(segmenter=str.split)  # error
nd.Recipe(segmenter="sudachi", mode="D")  # error
nd.Recipe(keywords="by_weight")  # error
nd.Recipe(keywords=0.5)  # error
nd.Recipe(dictionary=["a", "rose"])  # error
nd.Recipe(stop_words=[3])  # error
nd.Recipe(document_frequencies={"a": 3})  # error
nd.Recipe(profile="simhash-py")  # error
nd.Recipe(hmm="no")  # error
nd.Recipe(word_shingles=2)  # error
assert_type(nd.RECIPES["textbook"], nd.NamedRecipe)
nd.RECIPES["textbook"].recipe.bits.bit_length()
nd.RECIPES["textbook"].bits  # error

# ------------------------------------------------------------------------------------------------------------ other in memory

assert_type(nd.match(texts), nd.Matches)
nd.match(texts, frame, method="exact", similarity="weighted", within="host", threads=1, memory="1G", recipe="default")
nd.match(rows, text="text", html="main")
nd.match(texts, html="all")  # error
nd.match(texts, keep="last")  # error
nd.match(texts, cluster="star")  # error
nd.match(texts, methd="exact")  # error
assert_type(nd.evaluate(texts), nd.Evaluation)
nd.evaluate(texts, pairs=[(0, 1), (1, 2)], methods=("exact", "minhash"), target_recall=0.9, min_similarity=0.7)
nd.evaluate(texts, pairs=[{"left_id": 0, "right_id": 1, "label": 1}], methods="exact", similarity="cosine", memory="2G")
nd.evaluate(texts, pairs=frame, complete=True, recipe="default-64")
nd.evaluate(rows, text="text", id="id", html="whole", sample=100)
nd.evaluate(texts, html="all")  # error
nd.evaluate(texts, methods=("auto",))  # error
nd.evaluate(texts, keep="last")  # error
nd.evaluate(texts, sample="all")  # error
assert_type(nd.similarity("a", "b", kind="edit"), float)
nd.similarity("a", "b", kind="cosine", recipe="textbook")
nd.similarity("a", "b", kind="hamming")  # error
nd.similarity("a", "b", recipe=17)  # error
prints = nd.fingerprint(frame, text="text", recipe="default-64", threads=2)
nd.fingerprint(texts, recipe=64)  # error
nd.fingerprint_features([{"a": 1.5}, [("b", 2)]], recipe=recipe)
nd.fingerprint_features([{"a": 1.5}], hash="md5")  # error
assert_type(nd.keywords(texts, recipe="cppjieba"), list[list[tuple[str, float]]])
nd.keywords(frame, text=("title", "text"), threads=2)
nd.keywords(texts, text=3)  # error
nd.keywords("a", recipe=b"cppjieba")  # error
nd.compare("a", "b", recipe="default", keywords=(22, 11)).distance.bit_length()
assert_type(nd.compare("a", "b").left, nd.FingerprintSteps)
nd.compare("a", 3)  # error
nd.compare("a", "b", recipe=3)  # error
signed = nd.signatures(texts, kind="permutations", bits=16, values=64, seed=2)
assert_type(signed, nd.Signatures)
nd.signatures(texts, kind="minwise")  # error
nd.signatures(texts, bits=8)  # error
nd.jaccard_estimate(signed[0], signed[1:]).similarity
nd.jaccard_estimate(signed, "b")  # error
bands = nd.plan_bands(0.8, values=128)
nd.find_banded(signed, bands, memory="1G", threads=2).left.tolist()
nd.find_banded(signed, bands, memory=(1,))  # error
nd.find_banded(signed, 3)  # error
assert_type(nd.hit_probability(0.8, bands), float)
nd.miss_probability(np.linspace(0, 1), bands).tolist()
nd.hit_probability(0.8, bands).shape  # error
nd.miss_probability(0.8, 20)  # error
vectors = nd.fingerprint_vectors(np.ones((2, 3)), bits=64, method="gaussian")
nd.fingerprint_vectors(np.ones((2, 3)), method="normal")  # error
nd.estimated_cosine(3, bits=64).cosine.is_integer()
nd.estimated_cosine("3", 64)  # error
nd.fit(texts, "idf.parquet", recipe="default", merge=["old.parquet"], memory="1G").features.bit_length()
nd.fit(frame, "idf.parquet", text="text", progress=True)
nd.fit(texts, "idf.parquet", progress="bar")  # error
nd.fit(texts, recipe="default")  # error
nd.fit(texts, "idf.parquet", recipe=3)  # error
explained = nd.explain("audit.jsonl", "17").removed
nd.explain("audit.jsonl")  # error
nd.replay("features.json")
nd.replay()  # error

# -------------------------------------------------------------------------------------------------------------------- hamming

nd.join(prints, max_distance=3, memory="4G", threads=2).left.tolist()
nd.join(prints, max_distance="3")  # error
nd.join(prints, max_distance=3, memory=b"4G")  # error
nd.distance(3, 5).bit_length()
nd.distance("3", 5)  # error
assert_type(nd.distances(3, prints), np.ndarray[tuple[Any, ...], np.dtype[np.uint16]])
nd.distances(3)  # error
plan = nd.plan(1 << 26, max_distance=3, bits=64, memory="12G").method
nd.plan(1 << 26)  # error
nd.plan(1 << 26, max_distance=3, memory=["12G"])  # error
index = nd.Index(max_distance=3, bits=64, method="prefix-tables", recipe="default-64", prefix=20, tables=30)
index.add(None, prints)
near = [number.bit_length() for _, number in index.query(3)]
pairs = [found.left for found in index.pairs(memory="1G", equal=False)]
nd.Index(max_distance=3, recipe=nd.VectorRecipe(dimension=3))
nd.Index(max_distance=3, method="prefix-table")  # error
nd.Index(max_distance=3, blocks="4")  # error
nd.Index(max_distance=3, block=4)  # error
nd.Index(max_distance=3, recipe=3)  # error
index.pairs(memory=b"1G")  # error
with nd.Stream("seen.store", recipe="default", method="minhash", min_similarity=0.9, threads=2) as stream:
    match = stream.add("a", "a rose")
    if match is not None and match.similarity is not None:
        match.similarity.is_integer()
        match.distance.bit_length()
    assert_type(stream.add_many([1, "b"], texts), list[nd.Match | None])
stream.add("a")  # error
nd.Stream(recipe=3)  # error
nd.Stream(index)  # error
nd.Stream(metod="exact")  # error

# ---------------------------------------------------------------------------------------------------------------------- files

done = nd.deduplicate_files(["a.jsonl", Path("b.jsonl")], "out/", against="ref.jsonl", overwrite=True, resume=True)
assert_type(done, nd.FileResult)
assert_type(done.summary, nd.Summary)
if done.estimate is not None:
    done.estimate.seconds
done.summery  # error
nd.deduplicate_files("a.jsonl", "out.jsonl", recipe="textbook", keep="last", text="body", html="main", on_error="skip")
nd.deduplicate_files("a.jsonl", "out.jsonl", kep="last")  # error
nd.deduplicate_files("a.jsonl", "out.jsonl", method="minhsh")  # error
nd.deduplicate_files("a.jsonl", "out.jsonl", on_error="ignore")  # error
nd.deduplicate_files("a.jsonl", "out.jsonl", recipe=17)  # error
nd.deduplicate_files("a.jsonl", 3)  # error
nd.deduplicate_files("a.jsonl", "out.jsonl", dry_run="yes")  # error
units = nd.deduplicate_units("a.jsonl", "out.jsonl", unit="line", keep="last")
assert_type(units, nd.UnitResult)
assert_type(units.summary, nd.UnitSummary)
nd.deduplicate_units("a.jsonl", "out.jsonl")  # error
nd.deduplicate_units("a.jsonl", "out.jsonl", unit="sentence")  # error
nd.deduplicate_units("a.jsonl", "out.jsonl", unit="line", html="main")  # error
cut = nd.passages_files(["a.jsonl", Path("b.jsonl")], "out/", against="ref.jsonl", list=True, align="line", html="main")
assert_type(cut, nd.FilePassages)
assert_type(cut.summary, nd.PassagesSummary)
assert_type(nd.passages(["a"], scope="same-document", min_left=0).texts, list[str])
assert_type(nd.passages(pd.DataFrame({"text": ["a"]}), against=["b"]).texts, pd.DataFrame)
assert_type(nd.passages(["a"]).spans, list[list[tuple[int, int, int]]])
nd.passages(["a"], scope="everywhere")  # error
nd.passages(["a"], align="word")  # error
nd.passages(["a"], min_tokens="50")  # error
nd.passages(["a"], elements="tags")  # error
nd.passages_files("a.jsonl", "out.jsonl", elements="tags")  # error
nd.passages_files("a.jsonl", "out.jsonl", min_similarity=0.9)  # error
nd.pair_files("a.jsonl", "pairs.jsonl", method="exact", text="body", encoding="utf-16", recipe="default").bit_length()
nd.pair_files("a.jsonl", "pairs.jsonl", on_error="skip", max_document_bytes="1G", lines=True, against=["b.jsonl"])
nd.pair_files("a.jsonl", "pairs.jsonl", keep="last")  # error
nd.pair_files("a.jsonl", "pairs.jsonl", on_error="ignore")  # error
nd.pair_files("a.jsonl", "pairs.jsonl", txt="body")  # error
nd.cluster_files("pairs.jsonl", "c.parquet", documents="prints/", keep="first", rethreshold=0.9, within="host")
nd.cluster_files("pairs.jsonl", "c.parquet", documents="prints/", method="exact")  # error
nd.cluster_files("pairs.jsonl", "c.parquet", documents="prints/", cluster="chain")  # error
nd.apply_files("c.parquet", ["a.jsonl"], "out/", annotate=True, threads=2)
nd.apply_files("c.parquet", ["a.jsonl"], "out/", text="body", encoding="utf-16")
nd.apply_files("c.parquet", ["a.jsonl"])  # error
nd.apply_files("c.parquet", ["a.jsonl"], "out/", keep="last")  # error
nd.evaluate_files("a.jsonl", pairs="labels.csv", plot="a.png", text="body", methods=["simhash"], max_distance=3)
nd.evaluate_files("a.jsonl", keep="last")  # error
nd.evaluate_files("a.jsonl", recipe=3)  # error
nd.estimate_files("a.jsonl", recipe="default", method="exact", keep="last", text="body", memory="1G").to_json()
nd.estimate_files("a.jsonl", progress=True, on_error="skip")
nd.estimate_files("a.jsonl", metod="exact")  # error
planned = nd.plan_files("a.jsonl", text="body", recipe="default", min_similarity=0.7, memory="4G", on_error="skip")
assert_type(planned, nd.JoinPlan)
nd.plan_files(documents=1 << 26, max_distance=3, bits=64, memory="12G").to_json()
nd.plan_files(documents="67108864")  # error
nd.plan_files("a.jsonl", kep="last")  # error
nd.fingerprint_files("a.jsonl", "prints/", recipe="default", value=["host"], on_error="skip", html="whole")
nd.fingerprint_files("a.jsonl", "prints/", html="all")  # error
nd.fingerprint_files("a.jsonl", "prints/", method="exact")  # error
nd.fingerprint_vector_files("a.parquet", "prints.parquet", vector="embedding", method="signs", on_error="skip")
nd.fingerprint_vector_files("a.parquet", "prints.parquet", vector="embedding", method="sign")  # error
nd.fit_files("a.jsonl", "idf.parquet", recipe="default", memory="1G", text="body", progress=True)
nd.fit_files("a.jsonl", "idf.parquet", on_error="none")  # error
nd.build_index("index", "a.jsonl", recipe="default", method="block-tables", method_options={"blocks": 6}, text="body")
nd.build_index("index", "a.jsonl", method_options={"block": 6})  # error
nd.build_index("index", "a.jsonl", method="tables")  # error
nd.add_to_index("index", "a.jsonl", on_error="skip", text="body")
nd.add_to_index("index", "a.jsonl", recipe="default")
nd.query_index("index", texts=["a rose"], max_distance=3)
nd.query_index("index", texts=["a rose"], distance=3)  # error
nd.remove_from_index("index", ["a"]).bit_length()
nd.remove_from_index("index", 3)  # error
filtered = nd.filter_files("index", "a.jsonl", "out.jsonl", recipe="default", lines=True, create=True)
assert_type(filtered, nd.FilterResult)
filtered.passed = 0  # error
nd.filter_files("index", "a.jsonl", "out.jsonl", similarity="jaccard", create=True)  # error
nd.report("out.duplicates.jsonl", "out.html", overwrite=True)
nd.report("out.duplicates.jsonl", "out.html", overwriet=True)  # error
assert_type(nd.diff("a.summary.json", "b.summary.json", samples=3).only_a, int)
nd.diff("a.summary.json")  # error
assert_type(nd.reproduce("a.summary.json", threads=2), nd.Reproduction)
nd.reproduce("a.summary.json", thread=2)  # error

# --------------------------------------------------------------------------------------------------------------- a service

client = nd.Client("http://127.0.0.1:8080", store="news")
assert_type(client.remove(["a"]), Removal)
assert_type(client.check_and_add_many(["a"], texts, metadata=[{"n": 1}], key="k"), list[nd.StoreAnswer])
client.check_and_add("a", "a rose", metdata=1)  # error
client.expire(by="seen")  # error
with client as opened:
    assert_type(opened, nd.Client)


async def awaited(tasks: nd.AsyncClient) -> None:
    assert_type(await tasks.check("a rose"), nd.StoreAnswer)
    await tasks.check(7)  # error
    tasks.info().documents  # error
