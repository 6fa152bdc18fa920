"""The measured figures in the prose of the pages: of each name the result file, and how it is written.

A page has `<!-- figure NAME -->39.9<!-- /figure -->` within a line; `tables.py` rewrites what stands between. A figure is a bare
number: the page adds the unit, in its own language. No line may begin with one, for there Markdown takes a comment as a block.
A marker in backquotes is one that a page talks about.
"""

import operator
import re
from collections.abc import Callable, Sequence
from functools import reduce

from cells import Record, number, percent
from neardup.recipe.presets import RECIPES

Figure = tuple[str, Callable[[Record], str]]
MARKED = re.compile(r"((?<!`)<!-- figure ([\w-]+) -->)(?:(?!<!--).)*(<!-- /figure -->)")
UNMEASURED = "(not measured)"
MILLION = "1,000,000 documents"
RAN = (MILLION, "exact", "summary")


def _at(source: str, *keys: str | int, digits: int = 3, unit: float = 1.0) -> Figure:
    """A number at its place in a result file, in so many of its units."""
    return source, lambda record: number(reduce(operator.getitem, keys, record) / unit, digits)


def _sum(source: str, name: str, unit: float = 1.0) -> Figure:
    """A number that all sets of texts in a result file have, added up, in so many of its units."""
    return source, lambda record: f"{round(sum(of[name] for of in record['sets'].values()) / unit):,}"


def _count(source: str, *keys: str | int) -> Figure:
    """A whole number, with all its digits."""
    return source, lambda record: f"{reduce(operator.getitem, keys, record):,}"


def _percent(source: str, *keys: str | int, digits: int = 3) -> Figure:
    """A share, as a percentage."""
    return source, lambda record: percent(reduce(operator.getitem, keys, record), digits)


def _range(source: str, values: Callable[[Record], list[float]]) -> Figure:
    """The least and the greatest of several, to two digits."""
    return source, lambda record: "-".join(dict.fromkeys(number(end(values(record)), 2) for end in (min, max)))


def _waits(kind: str, *keys: str) -> Figure:
    """Seconds of the largest store of a kind in `service_waits.json`."""
    return "service_waits", lambda record: number(
        reduce(operator.getitem, keys, [each for each in record["stores"] if each["kind"] == kind][-1]), 2
    )


def _speed(contender: str) -> Figure:
    """Megabytes a second of a contender in `signatures.json`."""
    return "signatures", lambda record: number(
        next(each["megabytes_per_second"] for each in record["speeds"] if each["contender"] == contender)
    )


def _ranges(record: Record) -> list[Record]:
    """What the slider said and what runs removed, in all sets."""
    return [
        each
        for of_set in record["sets"].values()
        for bases in of_set["clusterings"].values()
        for found in bases.values()
        for each in found
    ]


def _missed(said: Record) -> float:
    """By what share of the removed documents their number lies outside the range."""
    removed: int = said["removed"]
    return max(said["least"] - removed, removed - said["most"], 0) / removed


def _bytes_a_document(record: Record) -> str:
    """By how much memory grows, that no file backs, from the run of a million to that of five."""
    small, large = (record[f"{millions},000,000 documents, auto"] for millions in (1, 5))
    grown = (large["peak_anonymous_mb"] - small["peak_anonymous_mb"]) * 1e6
    return number(grown / (large["documents"] - small["documents"]), 2)


WORDS, HAN = "English words", "pairs of Han characters"
"""The two kinds of features in `hashes.json`."""
DIGESTS = ("md5", "sha1", "sha512", "blake2b")
FNV_64 = ("fnv1_64", "fnv1a_64")


def _each_cost(names: Sequence[str]) -> Figure:
    """Nanoseconds a feature of these hashes at 64 bits, over both kinds of features, distinct and running."""
    return _range(
        "hashes",
        lambda record: [
            of["nanoseconds_a_feature"][name][f"{way}_64_bits"]
            for of in record["features"].values()
            for name in names
            for way in ("distinct", "running")
        ],
    )


def _digests_beside_lookup3(way: str) -> Figure:
    """How many times as long as lookup3 the digests take."""
    return _range(
        "hashes",
        lambda record: [
            cost[name][f"{way}_64_bits"] / cost["lookup3"][f"{way}_64_bits"]
            for cost in (of["nanoseconds_a_feature"] for of in record["features"].values())
            for name in DIGESTS
        ],
    )


def _widening(record: Record) -> list[float]:
    """Nanoseconds that a hash of 64 bits takes more at 128."""
    costs = [of["nanoseconds_a_feature"] for of in record["features"].values()]
    names = ("xxh3_64", *FNV_64, "lookup3")
    return [cost[name]["distinct_128_bits"] - cost[name]["distinct_64_bits"] for cost in costs for name in names]


def _chance(what: str) -> Figure:
    """What the deviations of perfect bits reach once in a hundred tables, by the number of bits."""
    return _range(
        "hashes",
        lambda record: [each[what]["chance"] for of in record["features"].values() for each in of["bits"].values()],
    )


def _angle(record: Record, kind: str, name: str, bits: str) -> Record:
    """The error of the angle by that hash, of whole documents."""
    error: Record = record["features"][kind]["errors"][0][name][bits]
    return error


def _other_angles(record: Record) -> list[float]:
    """The errors at 128 bits, English documents, of all hashes but FNV's of 64 bits."""
    names = [name for name in record["features"][WORDS]["bits"] if name not in FNV_64]
    return [_angle(record, WORDS, name, "128")["rms_degrees"] for name in names]


def _fnv_beside_random(record: Record) -> list[float]:
    """How many times the error of random bits those of FNV are, of English documents at 64 bits."""
    random = _angle(record, WORDS, "random bits", "64")["rms_degrees"]
    return [_angle(record, WORDS, name, "64")["rms_degrees"] / random for name in FNV_64]


def _whole_angle(kind: str, name: str, bits: int, what: str) -> Figure:
    return "hashes", lambda record: number(_angle(record, kind, name, str(bits))[what]).replace("-", "−")


def _within(record: Record, recipe: str, distance: int, only: str | None = None) -> tuple[float, float]:
    """The share of the reference pairs within the distance, and how many unlike pairs come with each, in all sets or `only` one."""
    ours = RECIPES[recipe].recipe.as_dict().items()
    [by_name] = [each["sets"] for each in record["recipes"] if each["recipe"].items() <= ours]
    sets = [found for name, found in by_name.items() if only in (None, name)]
    similar, unlike = (sum(each[name][distance] for each in sets) for name in ("similar", "unlike"))
    return similar / sum(each["all_similar"] for each in sets), unlike / similar


def _recipe_percent(recipe: str, distance: int, only: str | None = None) -> Figure:
    return "recipes", lambda record: percent(_within(record, recipe, distance, only)[0])


def _recipe_unlike(recipe: str, distance: int) -> Figure:
    return "recipes", lambda record: number(_within(record, recipe, distance)[1], 2)


def _dissimilar_percents(recipe: str, distance: int) -> Callable[[Record], list[float]]:
    """Of each set: how many of the documents that a distance removes are not similar to those that are kept."""
    return lambda record: [
        100 * each["dissimilar"][distance] / each["removed"][distance]
        for each in record["recipes"][recipe]["sets"].values()
    ]


def _found_percents(recipe: str, distance: int) -> Callable[[Record], list[float]]:
    """Of each set: how many of the documents that verification removes a distance removes, too."""
    return lambda record: [
        100 * each["found"][distance] / each["duplicates"][distance]
        for each in record["recipes"][recipe]["sets"].values()
    ]


def _million_seconds(method: str) -> Figure:
    return _at("exact_join", MILLION, method, "seconds")


def _million_removed(method: str) -> Figure:
    return _count("exact_join", MILLION, method, "summary", "duplicates")


def _contender(contender: str) -> Figure:
    return _at("dedup_peers", "results", contender, "processor_seconds")


FIGURES: dict[str, Figure] = {
    "million-exact-seconds": _million_seconds("exact"),
    "million-exact-gb": _at("exact_join", MILLION, "exact", "peak_memory_mb", digits=2, unit=1e3),
    "million-exact-removed": _million_removed("exact"),
    "million-minhash-seconds": _million_seconds("minhash"),
    "million-minhash-removed": _million_removed("minhash"),
    "million-simhash-seconds": _million_seconds("simhash"),
    "million-exact-count-seconds": _at("exact_join", *RAN, "seconds", "count", digits=2),
    "million-exact-prefixes-seconds": _at("exact_join", *RAN, "seconds", "prefixes", digits=2),
    "million-exact-join-seconds": _at("exact_join", *RAN, "seconds", "join", digits=2),
    "million-exact-postings-millions": _at("exact_join", *RAN, "join", "postings", unit=1e6),
    "million-exact-looks-millions": _at("exact_join", *RAN, "join", "visits", unit=1e6),
    "million-exact-met-millions": _at("exact_join", *RAN, "join", "looked_at", unit=1e6),
    "million-exact-passes": _count("exact_join", *RAN, "join", "passes"),
    "chinese-made-of-rjieba": _at("chinese_corpus", "made", "processor_seconds_of_rjieba", digits=2),
    "chinese-made-mb": _at("chinese_corpus", "made", "dedup", "peak_memory_mb", digits=3),
    "peer-documents": _count("dedup_peers", "documents"),
    "true-pairs": _count("dedup_peers", "truth", "pairs", "neardup exact, pairs"),
    "minhash-survivors-seconds": _contender("neardup minhash, survivors"),
    "rensa-deduplicator-seconds": _contender("rensa RMinHashDeduplicator"),
    "shingling-seconds": _contender("shingles alone"),
    "default-at-12-percent": _recipe_percent("default", 12),
    "default-at-12-unlike": _recipe_unlike("default", 12),
    "default-at-16-percent": _recipe_percent("default", 16),
    "default-at-16-unlike": _recipe_unlike("default", 16),
    "default-at-18-percent": _recipe_percent("default", 18),
    "default-at-18-of-chinese-percent": _recipe_percent("default", 18, "zh_laws_national"),
    "default-at-18-unlike": _recipe_unlike("default", 18),
    "default-64-at-10-unlike": _recipe_unlike("default-64", 10),
    "textbook-at-3-percent": _recipe_percent("textbook", 3),
    "textbook-at-3-of-chinese-percent": _recipe_percent("textbook", 3, "zh_laws_national"),
    "textbook-at-12-percent": _recipe_percent("textbook", 12),
    "rho-mb-per-second": _speed("rensa RMinHash matrix, rho, words"),
    "rensa-mb-per-second": _speed("rensa RMinHash digests, words"),
    "usearch-texts-found-percent": _percent(
        "hamming_index", "package texts", "k=3", "queries", "usearch (approximate)", "found"
    ),
    "fuzz-cases": _count("reliability", "fuzz", "cases"),
    "fuzz-minutes": ("reliability", lambda record: number(record["fuzz"]["processor_seconds"] / 60, 2)),
    "fuzz-documents": _count("reliability", "fuzz", "documents"),
    "fuzz-removed": _count("reliability", "fuzz", "removed"),
    "fuzz-minhash-pairs": _count("reliability", "fuzz", "minhash_pairs"),
    "fuzz-minhash-missed": _count("reliability", "fuzz", "minhash_missed"),
    "fuzz-minhash-expected": (
        "reliability",
        lambda record: number(record["fuzz"]["minhash_missed_at_most_expected"], 2),
    ),
    "fuzz-finds": ("reliability", lambda record: f"{len(record['fuzz']['finds'])}"),
    "flips": _count("reliability", "flips", "flips"),
    "flips-finds": ("reliability", lambda record: f"{len(record['flips']['finds'])}"),
    "kills": _count("reliability", "kills", "kills"),
    "kills-finished": _count("reliability", "kills", "finished_runs"),
    "store-kills": _count("store_kills", "kills", "kills"),
    "store-kills-finished": _count("store_kills", "kills", "finished_runs"),
    "store-kills-finds": ("store_kills", lambda record: f"{len(record['kills']['finds'])}"),
    "compacted-folder-seconds": _waits("folder", "compaction", "seconds"),
    "first-start-seconds": _waits("postgresql", "first_start_seconds"),
    "service-kills": _count("service_kills", "kills"),
    "service-kills-requests": _count("service_kills", "requests"),
    "service-kills-finds": _count("service_kills", "finds"),
    "cluster-overhead": _at("cluster", "runs", "package texts, exact", "overhead"),
    "ray-overhead": _at("cluster", "runs", "package texts, exact", "ray", "overhead"),
    "ray-overhead-of-many": _at("cluster", "runs", "8,000,000 made texts", "ray", "overhead"),
    "cluster-kills-workers": _count("cluster_kills", "workers_killed"),
    "cluster-kills-stages": _count("cluster_kills", "stages"),
    "cluster-kills-drivers": _count("cluster_kills", "drivers_killed"),
    "cluster-kills-different": _count("cluster_kills", "different"),
    "ray-kills-nodes": _count("cluster_kills", "ray", "nodes_killed"),
    "ray-kills-workers": _count("cluster_kills", "ray", "workers_killed"),
    "ray-kills-stages": _count("cluster_kills", "ray", "stages"),
    "ray-kills-drivers": _count("cluster_kills", "ray", "drivers_killed"),
    "ray-kills-different": _count("cluster_kills", "ray", "different"),
    "kills-finds": ("reliability", lambda record: f"{len(record['kills']['finds'])}"),
    "soak-auto-1m-mb": _count("soak", "1,000,000 documents, auto", "peak_anonymous_mb"),
    "soak-auto-5m-mb": _count("soak", "5,000,000 documents, auto", "peak_anonymous_mb"),
    "soak-minhash-1m-mb": _count("soak", "1,000,000 documents, minhash", "peak_anonymous_mb"),
    "soak-minhash-5m-mb": _count("soak", "5,000,000 documents, minhash", "peak_anonymous_mb"),
    "soak-bytes-a-document": ("soak", _bytes_a_document),
    "program-least-mb": _at("by_hand", "program_and_batches", "least_mb"),
    "program-most-mb": _at("by_hand", "program_and_batches", "most_mb"),
    "clusters-document-bytes": _at("by_hand", "stages", "clusters_bytes_a_document"),
    "clusters-document-gb-100m": _at("by_hand", "stages", "clusters_bytes_a_document", unit=10),
    "clusters-pair-bytes": _at("by_hand", "stages", "clusters_bytes_a_pair"),
    "clusters-pair-gb-100m": _at("by_hand", "stages", "clusters_bytes_a_pair", unit=10),
    "apply-document-bytes": _at("by_hand", "stages", "apply_bytes_a_document"),
    "apply-removed-bytes": _at("by_hand", "stages", "apply_bytes_a_removed_document"),
    "report-seconds": _at("by_hand", "report_of_a_million_duplicates", "seconds"),
    "report-kb": _at("by_hand", "report_of_a_million_duplicates", "page_kb"),
    "fit-mb": _at("by_hand", "fit_in_128_mb", "memory_mb"),
    "long-line-mb": _at("by_hand", "line_of_2_gb", "memory_mb"),
    "long-line-seconds": _at("by_hand", "line_of_2_gb", "seconds"),
    "resume-document-bytes": _at("by_hand", "resume_folder", "bytes_a_document"),
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
    "identity-megabytes": _sum("jieba_identity", "bytes", unit=1e6),
    "identity-otherwise": _sum("jieba_identity", "documents_cut_otherwise"),
    "rjieba-times-rjieba": _at("segmenters", "zh_laws_national", "costs", "rjieba", "of_package_alone", digits=2),
    "rjieba-two-workers": _at("segmenters", "zh_laws_national", "workers", "two_workers", digits=2),
    "rjieba-two-threads": _at("segmenters", "zh_laws_national", "workers", "two_threads_of_the_package", digits=2),
    "sudachi-two-workers": _at("segmenters", "ja_catalogs", "workers", "two_workers", digits=2),
    "sudachipy-two-threads": _at("segmenters", "ja_catalogs", "workers", "two_threads_of_the_package", digits=2),
    "hashes-words": _count("hashes", "features", WORDS, "distinct"),
    "hashes-han-pairs": _count("hashes", "features", HAN, "distinct"),
    **{
        f"hashes-{name}-collisions": _count(
            "hashes", "features", HAN, "bits", name, "features_with_the_hash_of_another"
        )
        for name in ("fnv1a_32", "phash2")
    },
    "hashes-widening-nanoseconds": _range("hashes", _widening),
    "hashes-digests-running-times": _digests_beside_lookup3("running"),
    "hashes-digests-distinct-times": _digests_beside_lookup3("distinct"),
    "hashes-phash2-nanoseconds": _each_cost(["phash2"]),
    "hashes-fnv-nanoseconds": _each_cost(FNV_64),
    "hashes-xxh3-nanoseconds": _each_cost(["xxh3_64", "xxh3_128"]),
    "hashes-chance-of-bits": _chance("evenness"),
    "hashes-chance-of-pairs": _chance("independence"),
    "hashes-fnv1-ones-percent": _percent("hashes", "features", HAN, "bits", "fnv1_64", "evenness", "share_of_ones"),
    "hashes-fnv1-correlation": _at(
        "hashes", "features", WORDS, "bits", "fnv1_64", "independence", "correlation", digits=2
    ),
    **{
        f"hashes-{name}-fixed-bits": _count(
            "hashes", "features", WORDS, "bits", name, "avalanche", "last character", "bits_that_never_change"
        )
        for name in FNV_64
    },
    **{f"hashes-{name}-degrees-at-128": _whole_angle(WORDS, name, 128, "rms_degrees") for name in FNV_64},
    "hashes-others-degrees-at-128": _range("hashes", _other_angles),
    "hashes-fnv1a_32-degrees-at-32": _whole_angle(WORDS, "fnv1a_32", 32, "rms_degrees"),
    "hashes-fnv1a_32-mean-at-32": _whole_angle(WORDS, "fnv1a_32", 32, "mean_degrees"),
    "hashes-crc32c-mean-at-32": _whole_angle(HAN, "crc32c", 32, "mean_degrees"),
    "safe-default-dissimilar-at-18-percent": _range("safe_distances", _dissimilar_percents("default", 18)),
    "safe-default-found-at-3-percent": _range("safe_distances", _found_percents("default", 3)),
    "removal-ranges": ("removal_ranges", lambda record: number(len(_ranges(record)))),
    "removal-ranges-outside": (
        "removal_ranges",
        lambda record: number(sum(_missed(each) > 0 for each in _ranges(record))),
    ),
    "removal-ranges-outside-percent": (
        "removal_ranges",
        lambda record: number(100 * max(map(_missed, _ranges(record))), 2),
    ),
    "hashes-fnv-times-random": _range("hashes", _fnv_beside_random),
}
"""By name: the benchmark whose result file has it, and how it is written. An unknown name on a page is an error."""


def figure_of(name: str, load: Callable[[str], Record | None]) -> str:
    """The text of that figure; an unknown name is a KeyError."""
    source, write = FIGURES[name]
    record = load(source)
    return UNMEASURED if record is None else write(record)
