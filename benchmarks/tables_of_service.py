"""Tables of the service: each load and whether its target is reached; an hour of mixed requests; what others wait for."""

from cells import Record, number
from measure import table

TARGETS = {
    "single checks, paced": (1_500, 15.0),
    "single additions": (1_500, None),
    "single additions, slow syncs": (600, None),
    "batches of checks": (12_000, None),
    "batches of additions": (8_000, None),
    "single additions, four services": (200, None),
    "batches of additions, four services": (4_000, None),
}
"""Documents a second, and milliseconds of the p99, by the name of the case."""
MINUTES = 10
"""Rows of the table of a soak, at most; so many that not each has a compaction just before it."""
NEARLY = 0.99
"""Of a paced rate: the last request may be due just before the end."""


def service(record: Record) -> str:
    """Every case."""
    rows = []
    for name, of in record["cases"].items():
        if "skipped" in of:
            rows.append([name, "", of["skipped"], "", "", ""])
            continue
        errors = {status: count for status, count in of["statuses"].items() if status != "200"}
        wrong = "".join(f", {count:,} of status {status}" for status, count in errors.items())
        rows.append(
            [
                name,
                f"{of['clients']}",
                f"{of['a_second']:,}{wrong}",
                number(of["median_ms"]),
                number(of["p99_ms"]),
                _told(name, of),
            ]
        )
    head = ["", "clients", "documents a second", "median, ms", "p99, ms", "target"]
    said = (
        f"{record['documents']:,} documents of {record['document_bytes']:,} bytes in the store, "
        f"{record['shared_documents']:,} in that of four services, which is in PostgreSQL on the same machine, "
        f"{record['peer_documents']:,} in the indexes of other tools; {record['seconds']:g} s each. What is answered is "
        f"durable; of additions to other tools, {_durable(record)} survives a crash of the machine."
    )
    return f"{table(head, rows)}\n\n{said}"


def _durable(record: Record) -> str:
    return ", ".join(f"{durable} ({name})" for name, durable in record["durable"].items())


def _told(name: str, of: Record) -> str:
    if name not in TARGETS:
        return ""
    speed, p99 = TARGETS[name]
    is_reached = (
        of["a_second"] >= (1 if p99 is None else NEARLY) * speed
        and (p99 is None or of["p99_ms"] < p99)
        and set(of["statuses"]) == {"200"}
    )
    asked = f"{speed:,}" + ("" if p99 is None else f", p99 below {number(p99)} ms")
    return f"{asked}: {'reached' if is_reached else 'missed'}"


def service_soak(record: Record) -> str:
    """Some minutes of the requests, the last one among them."""
    minutes: list[Record] = record["minutes"]
    step = -(-len(minutes) // MINUTES)
    rows = [
        [
            f"{of['minute']}",
            number(of["load"], 2),
            f"{of['documents']:,}",
            f"{of['gone']:,}",
            f"{of['anonymous_mb']:,}",
            number(of["disk_mb"]),
            f"{of['files']}",
            f"{of['open_files']}",
            f"{of['threads']}",
            *(_times(of["work"], kind) for kind in ("check", "add", "add_many", "remove")),
            number(of["work"]["compact"]["most_ms"]) if "compact" in of["work"] else "",
        ]
        for of in reversed(minutes[::-1][::step])
    ]
    head = ["minute", "load", "documents", "gone", "memory, MB", "disk, MB", "files", "open files", "threads"]
    head += ["`check`, ms", "1 added, ms", "20 added, ms", "1 removed, ms", "compacted, ms"]
    wrong = {"lost": "copies not found", "returned": "removed ones found", "miscounted": "wrong numbers of documents"}
    said = ", ".join(f"{record[key]:,} {what}" for key, what in wrong.items())
    refused = sum(record["refused"].values())
    sound = "every byte was as written" if record["sound"] else "**there was damage**"
    services = "one service" if record["services"] == 1 else f"{record['services']} services"
    ran = f"After {record['seconds']:,.0f} seconds of {record['rate']:g} requests a second to {services}"
    told = f"{ran}: {said}; {refused:,} refused for a while; {sound}. Times are medians, and p99 in brackets."
    return f"{table(head, rows)}\n\n{told}"


def _times(work: Record, kind: str) -> str:
    return f"{number(work[kind]['median_ms'])} ({number(work[kind]['p99_ms'])})" if kind in work else ""


def service_waits(record: Record) -> str:
    """What a first start and a compaction take, by kind and number of documents."""
    rows = []
    for of in record["stores"]:
        compaction = of["compaction"]
        rows.append(
            [
                {"folder": "a folder", "postgresql": "PostgreSQL"}[of["kind"]],
                f"{of['documents']:,}",
                number(of["first_start_seconds"], 2),
                _with_copy(of),
                number(compaction["seconds"], 2),
                *(number(compaction[kind]["longest_seconds"], 2) for kind in ("checks", "additions")),
                f"{compaction['checks']['refused'] + compaction['additions']['refused']:,}",
                number(of["load"], 2),
            ]
        )
    head = ["a store in", "documents", "first start, s", "with a copy, s", "compacted, s", "longest `check`, s"]
    head += ["longest addition, s", "refused", "load"]
    return (
        f"{table(head, rows)}\n\nDocuments have 200 bytes. The machine was shared: the load is its average of a minute."
    )


def _with_copy(of: Record) -> str:
    return (
        f"{number(of['copy_seconds'], 2)} + {number(of['start_with_copy_seconds'], 2)}" if "copy_seconds" in of else ""
    )
