"""Tables of what each part of the package takes, beside its peers where there are some, from their result files."""

from cells import Record, number, percent, ranged, share, spread
from measure import table

METHODS = ("auto", "exact", "minhash", "simhash")


def _verdict(ratio: float, target: float | None) -> str:
    if ratio < 1:
        return "**the peer wins**"
    return "" if target is None else "reached" if ratio >= target else "missed"


def fingerprints(record: Record) -> str:
    """Ours beside each peer, by texts and work."""
    rows = [
        [
            row["texts"].capitalize(),
            row["work"],
            spread(row["ours"], "megabytes_per_second"),
            row["peer"],
            spread(row["theirs"], "megabytes_per_second"),
            number(row["ratio"]),
            number(row["target"]),
            _verdict(row["ratio"], row["target"]),
        ]
        for result in record["results"].values()
        for row in result["rows"]
    ]
    return table(["texts", "work", "ours, MB/s", "peer", "peer, MB/s", "ratio", "target", ""], rows)


def signatures(record: Record) -> str:
    """Speeds, with the error of each contender that estimates."""
    errors = {each["contender"]: each for each in record["errors"]}
    lengths = [*record["errors"][0]["by_words"]]
    rows = []
    for row in record["speeds"]:
        name = row["contender"]
        error = errors.get(name.rsplit(", ", 1)[0] if row["ratio"] is not None else name)
        ratio, target = row["ratio"], row.get("target")
        rows.append(
            [
                row["texts"],
                name,
                spread(row, "megabytes_per_second"),
                number(ratio),
                number(target),
                "" if ratio is None else _verdict(ratio, target),
                *(share(error["by_words"][length]) if error else "" for length in lengths),
                share(error["all"]) if error else "",
            ]
        )
    head = [
        "texts",
        "contender",
        "MB/s",
        "ours is faster by",
        "target",
        "",
        *(f"error, {n} words" for n in lengths),
        "all",
    ]
    return table(head, rows)


def hamming_join(record: Record) -> str:
    """What the planner chose and expected, and what it took."""
    rows = [
        [
            f"{row['fingerprints']:,}",
            str(row["bits"]),
            str(row["max_distance"]),
            str(row["tables"]),
            number(row["expected_seconds"]),
            number(row.get("seconds")),
            f"{row['pairs']:,}" if "pairs" in row else "",
        ]
        for row in [*record["planned"], *record["foreseen"]]
    ]
    return table(["fingerprints", "bits", "distance", "tables", "expected seconds", "seconds", "pairs"], rows)


def hamming_index(record: Record) -> str:
    """Microseconds a query of each index."""
    rows = []
    for corpus in ("uniform", "package texts"):
        for k, of in record.get(corpus, {}).items():
            ours = of["queries"]["neardup"]["microseconds"]
            for name, each in of["queries"].items():
                said = "**the peer wins**" if each["microseconds"] < ours and each["found"] >= 1 else ""
                if name == "neardup" and "times_the_fastest_faiss" in of:
                    said = f"{number(of['times_the_fastest_faiss'])} times as fast as the fastest of FAISS"
                rows.append([corpus, k, name, spread(each, "microseconds"), share(each["found"]), said])
            one = of["one_query_microseconds"]
            rows.append([corpus, k, "neardup, one query from Python", number(one["median"]), "1", ""])
    name = "PyPI simhash, 20,000 fingerprints, k=3"
    if name in record:
        rows.append(["uniform", "k=3", name, spread(record[name], "microseconds"), "", ""])
    return table(["fingerprints", "distance", "index", "microseconds a query", "found", ""], rows)


def hamming_scale(record: Record) -> str:
    """Growth of the join and of the index."""
    rows = [
        [
            f"{row['fingerprints']:,}",
            ranged(row["seconds"], row["range"]),
            number(row["build_seconds"]),
            number(row["query_microseconds"]),
        ]
        for row in record["growth"]["sizes"]
    ]
    if "largest" in record:
        row = record["largest"]
        rows.append([f"{row['fingerprints']:,}", f"{number(row['seconds'])}; {row['peak_gigabytes']:g} GB", "", ""])
    powers = record["growth"]["exponents"]
    rows.append(
        ["grows by the power", *(number(powers[name]) for name in ("seconds", "build_seconds", "query_microseconds"))]
    )
    return table(["fingerprints", "self-join, seconds", "index built, seconds", "microseconds a query"], rows)


def exact_join(record: Record) -> str:
    """Seconds and memory by size and method."""
    sizes = [name for name in record if name.endswith(" documents")]
    rows = []
    for size in sizes:
        cells = []
        for method in METHODS:
            of = record[size].get(method)
            took = "" if of is None or method != "auto" else f" ({of['summary']['method']})"
            cells.append("" if of is None else f"{number(of['seconds'])} s, {of['peak_memory_mb'] / 1e3:.2f} GB{took}")
        rows.append([size, *cells])
    last = record[sizes[-1]]
    cells = [share(last[method]["planted"]["settled"]["share"]) if method in last else "" for method in METHODS]
    rows.append([f"planted copies settled, of {last[METHODS[1]]['planted']['settled']['pairs']:,}", *cells])
    removed = [f"{last[method]['summary']['duplicates']:,}" if method in last else "" for method in METHODS]
    return table(["", *METHODS], [*rows, ["removed", *removed]])


LARGE_RUN = {"documents": 14_868_862, "seconds": 36 * 60 + 44, "processors": 16}
"""fastdedup's published run on one machine: FineWeb sample-10BT, 29 GB, by MinHash, with 23 GB of memory (its README)."""


def extrapolation(record: Record) -> str:
    """What as many documents as in that run would take, by the growth of ours."""
    sizes = [name for name in record if name.endswith(" documents")]
    if len(sizes) < 2:
        return "Of one size nothing can be told about growth."
    documents = int(sizes[-1].split()[0].replace(",", ""))
    processors = record["environment"]["machine"]["processors"]
    factor = LARGE_RUN["documents"] / documents
    rows = []
    for method in METHODS[1:]:
        last, grows = record[sizes[-1]][method], record["growth"][method]["seconds"]
        slopes = sorted([max(1.0, grows["all steps"]), max(1.0, grows["last two"])])
        seconds = [last["seconds"] * factor**slope for slope in slopes]
        rows.append(
            [
                f"neardup `{method}`, extrapolated",
                number(last["seconds"]),
                "-".join(dict.fromkeys(number(slope) for slope in slopes)),
                "-".join(dict.fromkeys(number(each / 60, 2) for each in seconds)),
                f"{processors}",
                "-".join(dict.fromkeys(number(each * processors / 3600, 2) for each in seconds)),
            ]
        )
    minutes, hours = LARGE_RUN["seconds"] / 60, LARGE_RUN["seconds"] * LARGE_RUN["processors"] / 3600
    theirs = ["fastdedup, published", "", "", number(minutes, 2), str(LARGE_RUN["processors"]), number(hours, 2)]
    head = ["", "seconds of a million", "grows by n to the", "minutes", "processors", "processor hours"]
    return table(head, [*rows, theirs])


def soak(record: Record) -> str:
    """Time and memory of each run."""
    rows = [
        [
            name,
            number(each["seconds"]),
            *(f"{each[f'peak_{kind}_mb']:,}" for kind in ("anonymous", "file_backed", "temporary")),
        ]
        for name, each in record.items()
        if isinstance(each, dict) and "peak_anonymous_mb" in each
    ]
    return table(["", "seconds", "anonymous memory at the peak, MB", "file-backed", "temporary files"], rows)


def end_to_end(record: Record) -> str:
    """What a person waits for."""
    rows = []
    for name, each in record.items():
        if isinstance(each, dict) and "seconds" in each:
            speed = number(each.get("text_mb_per_second"))
            memory = f"{each['peak_memory_mb']:,}" if "peak_memory_mb" in each else ""
            size = f"{name}, {each['documents']:,} documents, {each['text_mb']:g} MB" if "text_mb" in each else name
            rows.append([size, spread(each, "seconds"), speed, memory])
    return table(["", "seconds", "MB of text a second", "peak MB"], rows)


def memory(record: Record) -> str:
    """Peak memory by size and method."""
    rows = [
        [name, f"{each['peak_memory_mb']:,}", number(each["seconds"]), f"{each['text_mb']:,}"]
        for name, each in record.items()
        if isinstance(each, dict) and "peak_memory_mb" in each
    ]
    return table(["", "peak MB", "seconds", "MB of text"], rows)


def corpus_speed(record: Record) -> str:
    """Both formats beside a plain reading and copy."""
    rows = []
    for kind in ("jsonl", "parquet"):
        of = record[kind]
        times = of["seconds"]["dedup"]
        speeds = [of["megabytes"] / value for value in times]
        target = of["target_megabytes_a_second"]
        median = of["megabytes_a_second"]["dedup"]
        rows.append(
            [
                kind,
                number(median) if len(speeds) == 1 else ranged(median, speeds),
                f"{target} ({'reached' if median >= target else 'missed'})",
                *(number(of["megabytes_a_second"][name]) for name in ("read", "copy")),
                f"{of['run']['peak_memory_mb']:,}",
                ", ".join(f"{stage} {number(value, 2)}" for stage, value in of["run"]["seconds"].items()),
            ]
        )
    return table(["", "dedup, MB/s", "target", "only read", "copy", "peak MB", "seconds of a run by stage"], rows)


def stage_limits(record: Record) -> str:
    """Each stage beside what the machine takes for the bytes that it moves."""
    rows = [
        [
            stage,
            spread(of, "seconds"),
            number(of["floor"], 2),
            number(of["seconds"] / of["floor"], 2),
            ", ".join(f"{what} {number(seconds, 2)}" for what, seconds in of["parts"].items()),
        ]
        for stage, of in record["stages"].items()
    ]
    total = sum(of["seconds"] for of in record["stages"].values())
    floor = sum(of["floor"] for of in record["stages"].values())
    rows.append(["all", number(total), number(floor), number(total / floor, 2), ""])
    return table(["", "seconds", "floor", "times the floor", "the floor's parts, seconds"], rows)


def families(record: Record) -> str:
    """What corpora cost whose texts are nearly alike."""
    rows = []
    for run in record["runs"]:
        done = run["outcome"] == "done"
        rows.append(
            [
                run["shape"],
                f"{run['documents']:,}",
                f"{run['similarity']} {run['min_similarity']}",
                run["tool"] + (f" ({run['method']})" if run["tool"].endswith("auto") and done else ""),
                number(run["seconds"]) if done else "refused" if "seconds" in run else run["outcome"],
                number(run["temporary_bytes"] / 1e6) if done else "",
                number(run["peak_memory_bytes"] / 1e6) if "peak_memory_bytes" in run else "",
                f"{run['survivors']:,}" if done else "",
            ]
        )
    columns = ["lines of", "lines", "similarity", "", "s", "temporary files, MB", "peak memory, MB", "survivors"]
    return table(columns, rows)


def estimates(record: Record) -> str:
    """What was expected of runs, and what they took; what is not near is marked."""
    scales = {"seconds": 1.0, "memory_bytes": 1e6, "temporary_bytes": 1e6}

    def cell(run: Record, name: str) -> str:
        found = run[name]
        both = f"{number(found['expected'] / scales[name])} / {number(found['taken'] / scales[name])}"
        return both if found["is_good"] else f"**{both}**"

    rows = [
        [run["corpus"], f"{run['method']} {run['min_similarity']}", number(run["input_bytes"] / 1e6)]
        + [cell(run, name) for name in scales]
        for run in record["runs"]
    ]
    return table(["corpus", "method", "MB", "s", "memory, MB", "temporary files, MB"], rows)


def decontaminate(record: Record) -> str:
    """How fast a corpus is searched for the items of a benchmark, and which documents are found."""
    kinds = next(iter(record["results"].values()))["found_by_kind"]
    lengths = next(iter(record["results"].values()))["found_by_letters"]

    def found(of: Record, part: str, name: str) -> str:
        hits, documents = of[part][name]
        return f"{percent(hits / documents)} %"

    rows = [
        [
            name,
            ranged(of["processor_seconds"], of["processor_seconds_range"]),
            ranged(of["seconds"], of["seconds_range"]),
            number(of["peak_memory_mb"] / 1e3, 2),
            f"{of['found']:,}",
            f"{of['flagged'] - of['found']:,}",
            *(found(of, "found_by_kind", kind) for kind in kinds),
            *(found(of, "found_by_letters", length) for length in lengths),
        ]
        for name, of in record["results"].items()
    ]
    head = [
        "",
        "CPU seconds",
        "seconds",
        "memory, GB",
        "found",
        "others",
        *kinds,
        *(f"{each} letters" for each in lengths),
    ]
    first = next(iter(record["results"].values()))
    rounds = "one round" if first["rounds"] == 1 else f"medians of {first['rounds']} rounds"
    said = (
        f"{record['documents']:,} documents, {number(record['bytes'] / 1e6)} MB; {record['items']:,} items; "
        f"{first['true']:,} documents have a whole item; {rounds}."
    )
    return table(head, rows) + "\n\n" + said
