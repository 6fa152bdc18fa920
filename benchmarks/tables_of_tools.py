"""Tables of the de-duplication tools side by side, and of our own methods and recipes, from their result files."""

from collections.abc import Mapping
from typing import Any

from cells import Record, absent, number, ranged, ranked, share, spread
from measure import table
from neardup.recipe.presets import RECIPES

Cell = tuple[float | None, str]
METHODS = ("exact", "minhash", "simhash")
OPEN_SETS = {
    "en_pep_revisions_even": "PEPs",
    "zh_laws_national": "Chinese laws",
    "en_spdx_licenses": "licenses",
}


def _share(value: float | None) -> Cell:
    return value, share(value)


def _done(results: Mapping[str, Record]) -> dict[str, Record]:
    return {name: record for name, record in results.items() if "seconds" in record}


def dedup_peers(record: Record) -> str:
    """Time, memory and quality of each contender."""
    done = _done(record["results"])
    alone = next((each for name, each in done.items() if name.endswith("shingles alone")), None)
    rows: list[tuple[str, list[Cell]]] = []
    for name, each in done.items():
        if each is alone:
            continue
        pairs, survivors, documents = (each.get(part, {}) for part in ("pairs", "survivors", "documents"))
        gigabytes = each["peak_memory_mb"] / 1e3
        rows.append(
            (
                name,
                [
                    (each["processor_seconds"], number(each["processor_seconds"])),
                    (each["seconds"], spread(each, "seconds")),
                    (gigabytes, number(gigabytes, 2)),
                    _share(pairs.get("recall")),
                    _share(pairs.get("precision")),
                    _share(survivors.get("true pairs settled")),
                    _share(survivors.get("removed with a similar survivor")),
                    _share(documents.get("recall")),
                ],
            )
        )
    head = [
        "",
        "CPU seconds",
        "seconds",
        "peak GB",
        "recall of pairs",
        "precision",
        "pairs settled",
        "right removals",
        "documents touched",
    ]
    said = ranked(head, rows, (-1, -1, -1, 1, 1, 1, 1, 1))
    if alone is not None:
        took = number(alone["processor_seconds"])
        said += f" {took} CPU seconds of datasketch and rensa are shingling in Python, which they leave to the caller."
    return "\n\n".join(part for part in (said, absent(record["results"])) if part)


def methods(record: Record) -> str:
    """What each of our methods finds of the true pairs."""
    done = _done(record["results"])
    ours = {name: done[f"neardup {name}, pairs"] for name in METHODS if f"neardup {name}, pairs" in done}
    rows = [
        [f"`{name}`", share(of["pairs"]["recall"]), number(of["processor_seconds"], 2)] for name, of in ours.items()
    ]
    return table(["", "share of the pairs found", "CPU seconds"], rows)


def _of_set(each: Record) -> list[Cell]:
    pairs, survivors = each.get("pairs"), each.get("survivors", {})
    if pairs is None:
        settled = survivors.get("true pairs settled")
        written = f"settles {share(settled)}" if settled is not None else ""
        if settled is None and "documents" in each:
            written = f"touches {share(each['documents']['recall'])}"
        return [(None, written), (None, "")]
    nearly = pairs.get("share of 0.7")
    precise = f"{share(pairs['precision'])} ({share(nearly)})"
    return [_share(pairs["recall"]), (pairs["precision"], precise)]


def open_sets(record: Record) -> str:
    """Quality by set."""
    sets = record["sets"]
    head = [""]
    for name in sets:
        head += [f"{OPEN_SETS[name]}: {what}" for what in ("recall", "precision (at 0.7)")]
    names = [name for name in next(iter(sets.values()))["results"] if all(_ran(of, name) for of in sets.values())]
    rows = [(name, [cell for of in sets.values() for cell in _of_set(of["results"][name])]) for name in names]
    counts = ", ".join(
        f"{of['reference_pairs']['0.8']} among {of['asked']:,} {OPEN_SETS[name]}" for name, of in sets.items()
    )
    said = f"True pairs: {counts}.\n\n" + ranked(head, rows, (1, 1) * len(sets))
    missing = {
        f"{name} ({OPEN_SETS[of]})": each["results"][name]
        for of, each in sets.items()
        for name in each["results"]
        if not _ran(each, name)
    }
    return "\n\n".join(part for part in (said, absent(missing)) if part)


def _ran(of: Record, name: str) -> bool:
    return "seconds" in of["results"].get(name, {})


def recipes(record: Record) -> str:
    """Reference pairs found by fingerprints alone, of one recipe at one distance."""
    chosen = {"default": (14, 16, 18, 20), "default-64": (8, 10), "textbook": (3, 12)}
    if "recipes" not in record:
        return f"skipped: {'; '.join(record['skipped'])}"
    rows = []
    for name, distances in chosen.items():
        ours = RECIPES[name].recipe
        for each in record["recipes"]:
            if not each["recipe"].items() <= ours.as_dict().items():
                continue
            for at in distances:
                sums = {name: sum(of[name][at] for of in each["sets"].values()) for name in ("similar", "unlike")}
                of_all = sum(of["all_similar"] for of in each["sets"].values())
                rows.append(
                    [
                        f"`{name}`",
                        f"**{at}**" if at == ours.max_distance else str(at),
                        share(sums["similar"] / of_all),
                        number(sums["unlike"] / sums["similar"], 2),
                    ]
                )
    return table(["recipe", "distance", "pairs found", "unlike pairs for each"], rows)


def fastest(queries: Mapping[str, Any], start: str) -> tuple[str, Record] | None:
    """The quickest of the contenders with such a name that found all."""
    of_kind = {name: each for name, each in queries.items() if name.startswith(start) and each["found"] >= 1}
    return min(of_kind.items(), key=lambda item: item[1]["microseconds"]) if of_kind else None


OURS = ("neardup exact, pairs", "neardup simhash, pairs")
"""Those of our methods that the README shows."""


def _grouped(label: str, said: Mapping[str, str], wins: Mapping[str, str]) -> list[list[str]]:
    """Rows of one comparison: ours first, then every peer, with what it is better in."""
    rows = [["", said[name], "", f"`--method {name.split()[1].rstrip(',')}`"] for name in OURS if name in said]
    for name, written in said.items():
        if not name.startswith("neardup"):
            better = f": **{wins[name]}**" if wins.get(name) else ""
            rows.append(["", "", written, name + better])
    rows[0][0] = label
    return rows


def _open_set_rows(record: Record) -> list[list[str]]:
    sets = record["sets"].values()
    true = sum(of["reference_pairs"]["0.8"] for of in sets)
    shares: dict[str, tuple[float, float]] = {}
    for name in next(iter(sets))["results"]:
        found = [of["results"][name].get("pairs") for of in sets]
        if all(found):
            hits = sum(pairs["recall"] * pairs["true"] for pairs in found)
            shares[name] = round(hits / true, 6), round(hits / sum(pairs["found"] for pairs in found), 6)
    ours = [shares[name] for name in OURS if name in shares]
    if not ours:
        return []
    wins = {
        name: " and ".join(
            f"better {what}"
            for place, what in enumerate(("recall", "precision"))
            if values[place] > max(own[place] for own in ours)
        )
        for name, values in shares.items()
    }
    said = {name: f"{share(recall)}, {share(precision)}" for name, (recall, precision) in shares.items()}
    return _grouped(f"{true:,} true pairs of three open sets: recall, precision", said, wins)


def _peer_rows(record: Record) -> list[list[str]]:
    shown = {name: each for name, each in _done(record["results"]).items() if "pairs" in each}
    ours = [shown[name] for name in OURS if name in shown]
    if not ours:
        return []
    less = {"processor_seconds": "faster", "peak_memory_mb": "less memory"}
    wins = {
        name: ", ".join(said for what, said in less.items() if each[what] < min(own[what] for own in ours))
        for name, each in shown.items()
    }
    said = {
        name: f"{share(each['pairs']['recall'])}, {share(each['pairs']['precision'])}, {number(each['processor_seconds'])} s, "
        f"{number(each['peak_memory_mb'] / 1e3, 2)} GB"
        for name, each in shown.items()
    }
    return _grouped(
        f"{record['documents']:,} documents, all pairs at 0.8: recall, precision, CPU time, memory", said, wins
    )


def _speed_rows(records: Mapping[str, Record]) -> list[list[str]]:
    rows = []
    for kind, of in records.get("fingerprints", {}).get("results", {}).items():
        for row in of["rows"]:
            work = "fingerprints" if row["work"].startswith("default") else row["work"]
            ours, theirs = (number(row[side]["megabytes_per_second"]) for side in ("ours", "theirs"))
            label = f"{kind.capitalize()}, {work}, one thread, MB/s"
            rows.append([label, ours, theirs, row["peer"] + _wins(row["ratio"])])
    speeds = records.get("signatures", {}).get("speeds", ())
    for row in speeds:
        if row.get("target"):
            mine = next(each for each in speeds if each["texts"] == row["texts"])
            pair = (number(each["megabytes_per_second"]) for each in (mine, row))
            rows.append(["MinHash of 128 values, one thread, MB/s", *pair, row["contender"] + _wins(row["ratio"])])
    for corpus in ("uniform", "package texts"):
        for k, of in records.get("hamming_index", {}).get(corpus, {}).items():
            peer = fastest(of["queries"], "Index")
            if peer is not None:
                pair = (number(each["microseconds"]) for each in (of["queries"]["neardup"], peer[1]))
                label = f"A query of an index, {corpus}, 64 bits, {k}, microseconds"
                rows.append([label, *pair, f"FAISS `{peer[0]}`{_wins(of['times_the_fastest_faiss'])}"])
    return rows


def _wins(ratio: float) -> str:
    return ": **here it wins**" if ratio < 1 else ""


def _alone_rows(records: Mapping[str, Record]) -> list[list[str]]:
    rows = []
    if "end_to_end" in records:
        speed = number(records["end_to_end"]["large file"]["text_mb_per_second"])
        rows.append(["JSON lines to JSON lines, every pair found and verified, MB/s of text", speed, "", ""])
    if "exact_join" in records:
        size = [name for name in records["exact_join"] if name.endswith(" documents")][-1]
        run = records["exact_join"][size]["exact"]
        took = f"{number(run['seconds'])} s, {run['peak_memory_mb'] / 1e3:.2g} GB"
        rows.append([f"{size} from files, every near-duplicate removed", took, "", "`--method exact`"])
    return rows


def start(record: Record) -> str:
    """What is installed, and the seconds of a first and of later commands."""
    rows = []
    for name, each in record["tools"].items():
        warm = each["warm"]
        rows.append(
            [
                name,
                number(each["installed_bytes"] / 1e6) if "installed_bytes" in each else "",
                number(each["first"]["wall_s"]),
                ranged(warm["wall_s"], [warm["wall_min_s"], warm["wall_max_s"]]),
                number(warm["processor_s"]),
            ]
        )
    return table(["", "installed, MB", "first command, s", "later commands, s", "processor seconds of these"], rows)


def comparison(records: Mapping[str, Record]) -> str:
    """The table at a glance: each row measured side by side; where the peer is better, that is said."""
    rows = _open_set_rows(records["open_sets"]) if "open_sets" in records else []
    rows += _peer_rows(records["dedup_peers"]) if "dedup_peers" in records else []
    return table(["", "neardup", "the other", ""], [*rows, *_speed_rows(records), *_alone_rows(records)])
