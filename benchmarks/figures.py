"""The measured figures in the prose of the pages: of each name the result file, and how it is written.

A page has `<!-- figure NAME -->39.9<!-- /figure -->` within a line; `tables.py` rewrites what stands between. A figure is a bare
number: the page adds the unit, in its own language. No line may begin with one, for there Markdown takes a comment as a block.
A marker in backquotes is one that a page talks about.
"""

import operator
import re
from collections.abc import Callable
from functools import reduce

from cells import Record, number, percent
from neardup.recipe import RECIPES

Figure = tuple[str, Callable[[Record], str]]
MARKED = re.compile(r"((?<!`)<!-- figure ([\w-]+) -->)(?:(?!<!--).)*(<!-- /figure -->)")
UNMEASURED = "(not measured)"
MILLION = "1,000,000 documents"
RAN = (MILLION, "exact", "summary")


def _at(source: str, *keys: str | int, digits: int = 3, unit: float = 1.0) -> Figure:
    """A number at its place in a result file, in so many of its units."""
    return source, lambda record: number(reduce(operator.getitem, keys, record) / unit, digits)


def _count(source: str, *keys: str | int) -> Figure:
    """A whole number, with all its digits."""
    return source, lambda record: f"{reduce(operator.getitem, keys, record):,}"


def _percent(source: str, *keys: str | int, digits: int = 3) -> Figure:
    """A share, as a percentage."""
    return source, lambda record: percent(reduce(operator.getitem, keys, record), digits)


def _range(source: str, values: Callable[[Record], list[float]]) -> Figure:
    """The least and the greatest of several, to two digits."""
    return source, lambda record: "-".join(dict.fromkeys(number(end(values(record)), 2) for end in (min, max)))


def _speed(contender: str) -> Figure:
    """Megabytes a second of a contender in `signatures.json`."""
    return "signatures", lambda record: number(
        next(each["megabytes_per_second"] for each in record["speeds"] if each["contender"] == contender)
    )


def _bytes_a_document(record: Record) -> str:
    """By how much memory grows, that no file backs, from the run of a million to that of five."""
    small, large = (record[f"{millions},000,000 documents, auto"] for millions in (1, 5))
    grown = (large["peak_anonymous_mb"] - small["peak_anonymous_mb"]) * 1e6
    return number(grown / (large["documents"] - small["documents"]), 2)


def _within(record: Record, recipe: str, distance: int) -> tuple[float, float]:
    """The share of the reference pairs within the distance, and how many unlike pairs come with each."""
    ours = RECIPES[recipe].recipe.as_dict().items()
    [sets] = [each["sets"].values() for each in record["recipes"] if each["recipe"].items() <= ours]
    similar, unlike = (sum(each[name][distance] for each in sets) for name in ("similar", "unlike"))
    return similar / sum(each["all_similar"] for each in sets), unlike / similar


def _recipe(recipe: str, distance: int) -> dict[str, Figure]:
    return {
        f"{recipe}-at-{distance}-percent": ("recipes", lambda record: percent(_within(record, recipe, distance)[0])),
        f"{recipe}-at-{distance}-unlike": ("recipes", lambda record: number(_within(record, recipe, distance)[1], 2)),
    }


def _million(method: str) -> dict[str, Figure]:
    return {
        f"million-{method}-seconds": _at("exact_join", MILLION, method, "seconds"),
        f"million-{method}-gb": _at("exact_join", MILLION, method, "peak_memory_mb", digits=2, unit=1e3),
        f"million-{method}-removed": _count("exact_join", MILLION, method, "summary", "duplicates"),
    }


def _contender(name: str, contender: str) -> dict[str, Figure]:
    place = ("dedup_peers", "results", contender)
    return {
        f"{name}-seconds": _at(*place, "seconds"),
        f"{name}-gb": _at(*place, "peak_memory_mb", digits=2, unit=1e3),
    }


def _hamming(name: str, corpus: str, k: str, contender: str) -> dict[str, Figure]:
    place = ("hamming_index", corpus, k, "queries", contender)
    return {f"{name}-microseconds": _at(*place, "microseconds"), f"{name}-found-percent": _percent(*place, "found")}


FIGURES: dict[str, Figure] = {
    **_million("auto"),
    **_million("exact"),
    **_million("minhash"),
    **_million("simhash"),
    "million-exact-count-seconds": _at("exact_join", *RAN, "seconds", "count", digits=2),
    "million-exact-prefixes-seconds": _at("exact_join", *RAN, "seconds", "prefixes", digits=2),
    "million-exact-join-seconds": _at("exact_join", *RAN, "seconds", "join", digits=2),
    "million-exact-postings-millions": _at("exact_join", *RAN, "join", "postings", unit=1e6),
    "million-exact-looks-millions": _at("exact_join", *RAN, "join", "visits", unit=1e6),
    "million-exact-met-millions": _at("exact_join", *RAN, "join", "looked_at", unit=1e6),
    "planted-copies": _count("exact_join", MILLION, "exact", "planted", "settled", "pairs"),
    "true-pairs": _count("dedup_peers", "truth", "pairs", "neardup exact, pairs"),
    **_contender("minhash-survivors", "neardup minhash, survivors"),
    **_contender("rensa-deduplicator", "rensa RMinHashDeduplicator"),
    **_contender("shingling", "shingles alone"),
    **_recipe("default", 12),
    **_recipe("default", 14),
    **_recipe("default", 18),
    **_recipe("default-64", 10),
    **_recipe("textbook", 3),
    **_recipe("textbook", 12),
    "rho-mb-per-second": _speed("rensa RMinHash matrix, rho, words"),
    "rensa-mb-per-second": _speed("rensa RMinHash digests, words"),
    **_hamming("usearch-texts", "package texts", "k=3", "usearch (approximate)"),
    "soak-auto-1m-mb": _count("soak", "1,000,000 documents, auto", "peak_anonymous_mb"),
    "soak-auto-5m-mb": _count("soak", "5,000,000 documents, auto", "peak_anonymous_mb"),
    "soak-minhash-1m-mb": _count("soak", "1,000,000 documents, minhash", "peak_anonymous_mb"),
    "soak-minhash-5m-mb": _count("soak", "5,000,000 documents, minhash", "peak_anonymous_mb"),
    "soak-bytes-a-document": ("soak", _bytes_a_document),
    "json-lines-mb-per-second": _at("end_to_end", "large file", "text_mb_per_second"),
    "dense-times-the-product": _range(
        "vectors",
        lambda record: [each[way]["times_the_product"] for each in record["dense"] for way in ("signs", "gaussian")],
    ),
    "sparse-nanoseconds": _range(
        "vectors", lambda record: [each["hashed dimensions"]["nanoseconds_an_entry"] for each in record["sparse"]]
    ),
    "sparse-baseline-times": _range(
        "vectors", lambda record: [each["a hash for each bit"]["times_hashed_dimensions"] for each in record["sparse"]]
    ),
    "sparse-python-times": _range(
        "vectors",
        lambda record: [each["a hash for each bit, in Python"]["times_hashed_dimensions"] for each in record["sparse"]],
    ),
    "cosines-texts-pairs": _count("vectors", "cosines", "word counts", 0, "pairs"),
    "cosines-texts-64-percent": _percent(
        "vectors", "cosines", "word counts", 0, "share_within_2_standard_errors", digits=2
    ),
    "cosines-texts-128-percent": _percent(
        "vectors", "cosines", "word counts", 1, "share_within_2_standard_errors", digits=2
    ),
    "cosines-random-pairs": _count("vectors", "cosines", "random vectors", 0, "pairs"),
    "cosines-random-64-percent": _percent(
        "vectors", "cosines", "random vectors", 0, "share_within_2_standard_errors", digits=2
    ),
    "cosines-random-128-percent": _percent(
        "vectors", "cosines", "random vectors", 1, "share_within_2_standard_errors", digits=2
    ),
    "jieba-times-rjieba": _at("segmenters", "zh_laws_national", "costs", "jieba", "of_package_alone", digits=2),
    "jieba-two-workers": _at("segmenters", "zh_laws_national", "workers", "two_workers", digits=2),
    "rjieba-two-threads": _at("segmenters", "zh_laws_national", "workers", "two_threads_of_the_package", digits=2),
    "sudachi-two-workers": _at("segmenters", "ja_catalogs", "workers", "two_workers", digits=2),
    "sudachipy-two-threads": _at("segmenters", "ja_catalogs", "workers", "two_threads_of_the_package", digits=2),
    "join-16-million-seconds": _at("hamming_join", "side_by_side", "uniform", "seconds"),
    "join-skewed-seconds": _at("hamming_join", "side_by_side", "skewed", "seconds"),
}
"""By name: the benchmark whose result file has it, and how it is written. An unknown name on a page is an error."""


def figure_of(name: str, load: Callable[[str], Record | None]) -> str:
    """The text of that figure; an unknown name is a KeyError."""
    source, write = FIGURES[name]
    record = load(source)
    return UNMEASURED if record is None else write(record)
