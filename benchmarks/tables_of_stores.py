"""Tables of stores: beside other tools, how they grow, and an hour of mixed work."""

import math
import statistics
from collections.abc import Callable

from cells import Record, absent, number, ranged, share, spread
from measure import table

KINDS = {"pieces": "3 KB", "short": "200 bytes"}
"""The kinds of texts in `store.json`, and what they are called."""
SPEEDS = {"pieces": 15_000, "short": 50_000}
BYTES_BESIDES_SETS = 1_000
MEDIAN, P99, OPENING, MILLION, TEN_MILLION = 150.0, 1_000.0, 2.0, "1000000", "10000000"
"""Targets: documents a second; bytes; microseconds of `check` at a million documents; seconds to open ten million."""
MINUTES = 12
"""Rows of the table of the soak, at most."""


def _verdict(reached: bool) -> str:
    return "reached" if reached else "missed"


def _each(check: Record, figure: str) -> str:
    return " / ".join(number(of[figure]) for of in check.values())


def _measured(record: Record, kind: str) -> dict[str, Record]:
    found: dict[str, Record] = record[kind]["contenders"]
    return {name: of for name, of in found.items() if "documents" in of}


def store(record: Record) -> str:
    """Every contender: what it promises, and what it takes."""
    rows = []
    for kind, called in KINDS.items():
        for name, of in _measured(record, kind).items():
            rows.append(
                [
                    called,
                    name,
                    of["decides_by"],
                    of["durable"],
                    f"{of['documents']:,}",
                    spread(of, "documents_a_second"),
                    _each(of["check"], "median"),
                    _each(of["check"], "p99"),
                    number(of.get("open_seconds"), 2),
                    number(_on_disk(of)),
                    share(of["duplicates_found"]),
                    share(of["survivors_lost"]),
                ]
            )
    head = ["texts", "", "a duplicate by", "durable", "documents", "a second", "`check`, median µs", "p99 µs"]
    head += ["opens in, s", "bytes on disk", "duplicates found", "survivors lost"]
    lacking = {name: of for kind in KINDS for name, of in record[kind]["contenders"].items() if "documents" not in of}
    return "\n\n".join(part for part in (table(head, rows), _won(record), absent(lacking), _load(record)) if part)


def _on_disk(of: Record) -> float | None:
    """Bytes of each kept document; None if it keeps nothing on disk."""
    size = of.get("bytes", {})
    return sum(size[part] for part in size if "memory" not in part) / of["kept"] or None


def _slowest_check(of: Record) -> float:
    return max(asked["median"] for asked in of["check"].values())


COLUMNS: tuple[tuple[str, int, Callable[[Record], float | None]], ...] = (
    ("documents a second", 1, lambda of: of["documents_a_second"]),
    ("the median of the slowest kind of `check`", -1, _slowest_check),
    ("bytes on disk", -1, _on_disk),
    ("duplicates found", 1, lambda of: of["duplicates_found"]),
)
"""What is compared: 1 if more is better, -1 if less is."""


def _won(record: Record) -> str:
    """Who beats both methods of ours, and in what."""
    said = []
    for kind, called in KINDS.items():
        measured = _measured(record, kind)
        for what, sign, value in COLUMNS:
            values = {name: sign * found for name, of in measured.items() if (found := value(of)) is not None}
            own = max((found for name, found in values.items() if name.startswith("neardup")), default=-math.inf)
            if names := [name for name, found in values.items() if found > own]:
                said.append(f"{what} of {called} ({', '.join(names)})")
    return f"Peers win: {'; '.join(said)}." if said else "No peer is better in any column."


def _load(record: Record) -> str:
    loads = [
        load for kind in KINDS for of in record[kind]["contenders"].values() if "load" in of for load in of["load"]
    ]
    return (
        f"The machine was shared: its load average was {number(record['load_before'][0], 2)} before, and "
        f"{number(min(loads), 2)} to {number(max(loads), 2)} in the middle round of each contender, itself included."
    )


def store_targets(record: Record) -> str:
    """The targets of speed and room, and whether they are reached."""
    rows = []
    for kind, called in KINDS.items():
        for name, of in _measured(record, kind).items():
            if name.startswith("neardup"):
                said = _verdict(of["documents_a_second"] >= SPEEDS[kind])
                if said == "missed" and of["max"] >= SPEEDS[kind]:
                    said = f"missed (reached in the best of {of['rounds']} rounds)"
                what = f"documents of {called} a second, durable, {name}"
                rows.append([what, f"{SPEEDS[kind]:,}", spread(of, "documents_a_second"), said])
    for name, of in _measured(record, "pieces").items():
        if "bytes_a_document_besides_sets" in of:
            size = of["bytes_a_document_besides_sets"]
            what = f"bytes of a document of 3 KB besides its set, {name}"
            rows.append([what, f"at most {BYTES_BESIDES_SETS:,}", number(size), _verdict(size <= BYTES_BESIDES_SETS)])
    return table(["", "target", "measured", ""], rows)


def store_growth(record: Record) -> str:
    """What each method takes at each number of documents."""
    rows = []
    for method, of in record["methods"].items():
        before = 0
        for stop, at in of["stops"].items():
            parts = [part for part in of["parts"] if before < part["documents"]]
            parts = [part for part in parts if part["documents"] <= int(stop) + 1024]
            before = parts[-1]["documents"]
            speeds, loads = ([part[key] for part in parts] for key in ("a_second", "load"))
            rows.append(
                [
                    f"`{method}`",
                    f"{int(stop):,}",
                    f"{at['kept']:,}",
                    ranged(statistics.median(loads), loads, 2),
                    ranged(statistics.median(speeds), speeds),
                    number(max(part["slowest_batch_seconds"] for part in parts)),
                    _each(at["check"], "median"),
                    _each(at["check"], "p99"),
                    number(at["close_seconds"], 2),
                    number(at["open_seconds"], 2),
                    f"{at['anonymous_mb']:,}",
                    *(number(size / at["kept"]) for size in _sizes(at["bytes"])),
                ]
            )
    head = ["method", "documents", "kept", "load", "a second", "slowest batch, s", "`check`, median µs", "p99 µs"]
    head += ["closed in, s", "opened in, s", "memory, MB", "bytes a kept one: sets", "other"]
    stopped = {f"`{method}`": of for method, of in record["methods"].items() if "stopped" in of}
    said = "The machine was shared: the load is its average of a minute, our two threads included."
    return "\n\n".join(part for part in (table(head, rows), absent(stopped), said) if part)


def _sizes(sizes: Record) -> tuple[int, int]:
    sets = sizes.get("compared", 0) + sizes.get("joined", 0)
    return sets, sum(sizes.values()) - sets


def store_growth_targets(record: Record) -> str:
    """The targets at a million documents and at ten, and whether they are reached."""
    rows = []
    for method, of in record["methods"].items():
        for figure, most in (("median", MEDIAN), ("p99", P99)):
            for kind, asked in of["stops"].get(MILLION, {"check": {}})["check"].items():
                what = f"`check` of {kind} at a million documents, {figure}, µs, `{method}`"
                rows.append([what, f"below {number(most, 4)}", number(asked[figure]), _verdict(asked[figure] < most)])
        stop = TEN_MILLION if TEN_MILLION in of["stops"] else max(of["stops"], key=int)
        took, enough = of["stops"][stop]["open_seconds"], int(stop) >= int(TEN_MILLION)
        said = _verdict(took < OPENING) if enough else "not measured: ten million were not reached in time"
        at = "" if enough else f" at {int(stop):,}"
        rows.append(
            [f"seconds to open ten million, `{method}`", f"below {number(OPENING)}", f"{number(took, 2)}{at}", said]
        )
    return table(["", "target", "measured", ""], rows)


def store_soak(record: Record) -> str:
    """Some minutes of the work, the last one among them."""
    minutes: list[Record] = record["minutes"]
    step = -(-len(minutes) // MINUTES)
    rows = [
        [
            str(of["minute"]),
            number(of["load"], 2),
            f"{of['documents']:,}",
            f"{of['gone']:,}",
            f"{of['anonymous_mb']:,}",
            number(of["disk_mb"]),
            str(of["files"]),
            str(of["open_files"]),
            *(_times(of["work"], kind) for kind in ("add", "check", "remove")),
            *(_most(of["work"], kind) for kind in ("expire", "open", "compact")),
        ]
        for of in reversed(minutes[::-1][::step])
    ]
    head = ["minute", "load", "documents", "gone", "memory, MB", "disk, MB", "files", "open files"]
    head += ["256 added, ms", "`check`, ms", "4 removed, ms", "expired, ms", "opened, ms", "compacted, ms"]
    wrong = {"lost": "copies not found", "returned": "removed ones found", "miscounted": "wrong numbers of documents"}
    said = ", ".join(f"{record[key]:,} {what}" for key, what in wrong.items())
    sound = "every byte was as written" if record["sound"] else "**there was damage**"
    seconds = f"{record['seconds']:,.0f} seconds of `{record['method']}`"
    return f"{table(head, rows)}\n\nAfter {seconds}: {said}; {sound}. Times are medians, and p99 in brackets."


def _times(work: Record, kind: str) -> str:
    return f"{number(work[kind]['median_ms'])} ({number(work[kind]['p99_ms'])})" if kind in work else ""


def _most(work: Record, kind: str) -> str:
    return number(work[kind]["most_ms"]) if kind in work else ""
