"""Tables of engines: Spark and Ray beside one process and beside others on Spark, what larger corpora would take, and skew."""

import math
from collections.abc import Iterator

from cells import Record, number, share
from measure import table

OVERHEAD = {1_000_000: 5.0, 8_000_000: 3.0}
"""How many times as long as one process Spark may take on the same processors: the target."""
SHUFFLED = {"exact": 1_500, "minhash": 600}
"""Bytes that may travel for each document of 3 KB: the target."""
PACKAGES = "package texts, "
OTHERS = {
    "neardup.spark": "`neardup.spark`, `exact`",
    "mllib": "MLlib `MinHashLSH`, 10 tables",
    "bands": "MinHash bands in RDDs, unverified",
}
PLANNED = (10**8, 10**9, 2 * 10**9, 8 * 10**9)
"""Documents of 3 KB."""
CORES = (64, 1000)
BUCKET_BYTES = 1 << 28
MOST_DOCUMENTS = 1 << 31
"""That the marks, which go to every task, allow."""


def cluster(record: Record) -> str:
    """Spark beside one process."""
    rows = [
        [
            name,
            f"{run['documents']:,}",
            number(run["text_bytes"] / 1e9),
            number(run["seconds"]["one process"]),
            number(run["seconds"]["spark"]),
            number(run["overhead"]),
            number(run["shuffled_bytes_each"]),
        ]
        for name, run in record["runs"].items()
    ]
    head = ["texts, method", "documents", "GB", "one process, s", "Spark, s", "times", "bytes that travel, a document"]
    return f"{table(head, rows)}\n\n{' '.join(_verdicts(record))}"


def _verdicts(record: Record) -> Iterator[str]:
    """Which targets are reached, and how time grows."""
    runs = record["runs"]
    for method, most in SHUFFLED.items():
        if run := runs.get(PACKAGES + method):
            each = run["shuffled_bytes_each"]
            yield f"Bytes a document of 3 KB, `{method}`: {number(each)}, at most {most:,} aimed at: {_verdict(each <= most)}."
    for name, run in runs.items():
        most = OVERHEAD.get(run["documents"])
        if most is not None and run["method"] == "exact":
            times = run["overhead"]
            told = f"{name.capitalize()}: {number(times)} times one process, at most {number(most)} aimed at"
            yield f"{told}: {_verdict(times <= most)}."
    made = [(run["documents"], run["seconds"]["spark"]) for name, run in runs.items() if name.endswith("made texts")]
    if len(made) > 1:
        (few, short), (many, long) = min(made), max(made)
        growth = f"{number(many / few)} times as many texts took Spark {number(long / short)} times as long"
        yield f"From {few:,} to {many:,} made texts: {growth}."


def _verdict(reached: bool) -> str:
    return "reached" if reached else "missed"


def cluster_others(record: Record) -> str:
    """Others on Spark beside ours."""
    others = record.get("others")
    if others is None:
        return "Others on Spark were not measured."
    rows = []
    for name, called in OTHERS.items():
        run = others[name]
        ours = name == "neardup.spark"
        if "seconds" not in run:
            rows.append([called, f"not finished after {number(run['unfinished_after'])}", "", ""])
            continue
        rows.append(
            [
                called,
                number(run["seconds"]),
                "1" if ours else share(run["recall"]),
                "1" if ours else share(run["precision"]),
            ]
        )
    about = f"{others['documents']:,} package texts, of which {others['pairs']:,} pairs are 0.8 alike."
    return f"{about}\n\n{table(['', 'seconds', 'recall', 'precision'], rows)}"


def cluster_plan(record: Record) -> str:
    """What larger corpora would take, if each document costs what one of a million did."""
    rows = []
    for method in SHUFFLED:
        run = record["runs"].get(PACKAGES + method)
        if run is None:
            continue
        processors = record["environment"]["machine"]["processors"]
        core_seconds = processors * run["seconds"]["spark"] / run["documents"]
        widest = max(stage["bytes"] / stage["runs"] for stage in run["stages"].values()) / run["documents"]
        for documents in PLANNED:
            hours = [number(documents * core_seconds / 3600 / cores) for cores in CORES]
            travels = documents * run["shuffled_bytes_each"] / 1e12
            tasks = math.ceil(3 * documents * widest / BUCKET_BYTES)
            limit = "" if documents <= MOST_DOCUMENTS else "refused: more than 2^31 documents"
            rows.append(
                [method, f"{documents:,}", number(3e-9 * documents), number(travels), f"{tasks:,}", *hours, limit]
            )
    head = [
        "method",
        "documents of 3 KB",
        "TB of text",
        "TB that travel",
        "buckets",
        *(f"hours on {cores:,} cores" for cores in CORES),
        "",
    ]
    return table(head, rows)


def engines(record: Record) -> str:
    """One process, Spark and Ray on the same two processors."""
    rows = []
    for name, run in record["runs"].items():
        ours = run.get("ray")
        seconds, memory = run["seconds"], [run.get("peak_bytes"), ours and ours["peak_bytes"]]
        rows.append([
            name, f"{run['documents']:,}", *(_or_nothing(seconds.get(each)) for each in ("one process", "spark", "ray")),
            _or_nothing(run.get("shuffled_bytes_each")), _or_nothing(ours and ours["shuffled_bytes_each"]),
            *(_or_nothing(each and each / 1e9) for each in memory),
        ])  # fmt: skip
    head = [
        "texts, method",
        "documents",
        "one process, s",
        "Spark, s",
        "Ray, s",
        "bytes a document that travel on Spark",
        "on Ray",
    ]
    return table([*head, "GB of memory on Spark", "on Ray"], rows)


def _or_nothing(value: float | None) -> str:
    return "not measured" if value is None else number(value)


def others_on_ray(record: Record) -> str:
    """MinHash by others on Ray beside ours."""
    others = record.get("others", {})
    rows = []
    for name, called in (("neardup.ray", "`neardup.ray`, `exact`"), ("data-juicer", "data-juicer"), ("daft", "Daft")):
        run = others.get(name)
        if run is None:
            continue
        shares = [share(run[each]) for each in ("recall", "precision")] if "seconds" in run else ["", ""]
        took = number(run["seconds"]) if "seconds" in run else "failed"
        if "unfinished_after" in run:
            took = f"not finished after {number(run['unfinished_after'])}"
        rows.append([called, took, number(run["peak_bytes"] / 1e9), *shares])
    if not rows:
        return "Others on Ray were not measured."
    about = f"{others['documents']:,} package texts, of which {others['pairs']:,} pairs are 0.8 alike."
    return f"{about}\n\n{table(['', 'seconds', 'GB of memory', 'recall', 'precision'], rows)}"


def ray_shuffle(record: Record) -> str:
    """What carries packed rows on Ray, and what becomes of it when a node is killed."""
    rows = []
    for way, runs in record["ways"].items():
        usual, killed = runs["as it is"], runs["a node is killed"]
        memory = f"{usual['peak_bytes'] / 1e6:,.0f}"
        rows.append([way, number(usual["seconds"]), memory, usual["answer"], killed["answer"]])
    head = ["way", "seconds", "MB of memory", "answer", "answer when a node is killed"]
    about = f"{record['megabytes']} MB from {record['tasks']} tasks to {record['buckets']} buckets, on two nodes of one CPU each."
    return f"{about}\n\n{table(head, rows)}"


def skew(record: Record) -> str:
    """What the largest task of the slow stages does beside the median one, and what other joins would do."""
    rows = []
    for name, run in record["corpora"].items():
        stages = "; ".join(
            f"{stage['name']} {stage['rows_of_largest']:,} and {stage['rows_of_median']:,.0f}"
            for stage in run["stages"]
        )
        rows.append(
            [
                f"{name} ({run['options']['min_similarity']})",
                f"{run['documents']:,}",
                number(run["seconds"]),
                f"{run['pairs_listed']:,}; {number(run['pairs_in_tiles'])}",
                f"{run['pairs_of_texts_compared']:,}; {run['texts_sent']:,}",
                stages or "none but readings",
                number(run["prefix_join"]["pairs_of_largest_task"]),
                number(run["random_groups"]["comparisons"]),
            ]
        )
    head = ["corpus (similarity)", "documents", "seconds", "pairs listed; compared in tiles", "texts compared; sent on"]
    head += [
        "slow stages: rows of largest and median task",
        "largest task of a prefix join, pairs",
        "random groups, pairs",
    ]
    return table(head, rows)
