"""The table of the service: each load, what came of it, and whether the target is reached."""

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
        f"{record['peer_documents']:,} in the indexes of other tools; {record['seconds']:g} s each."
    )
    return f"{table(head, rows)}\n\n{said}"


def _told(name: str, of: Record) -> str:
    if name not in TARGETS:
        return ""
    speed, p99 = TARGETS[name]
    is_reached = (
        of["a_second"] >= NEARLY * speed and (p99 is None or of["p99_ms"] < p99) and set(of["statuses"]) == {"200"}
    )
    asked = f"{speed:,}" + ("" if p99 is None else f", p99 below {number(p99)} ms")
    return f"{asked}: {'reached' if is_reached else 'missed'}"
