"""Tables of what a service needs: bytes and microseconds of a document, and memory, by what a store holds."""

from cells import Record, number
from measure import table

KINDS = {"pieces": "3 KB", "short": "200 bytes"}
"""The kinds of texts in `store.json`, and what they are called."""
OURS = {"neardup exact": "`exact`", "neardup minhash": "`minhash`"}


def capacity_of_a_document(record: Record) -> str:
    """What each method takes of disk and time for a document of each kind."""
    rows = []
    for kind, called in KINDS.items():
        for name, method in OURS.items():
            of = record[kind]["contenders"][name]
            rows.append(
                [
                    called,
                    method,
                    f"{of['kept']:,}",
                    number(sum(of["bytes"].values()) / of["kept"]),
                    number(1e6 / of["documents_a_second"]),
                    *_check(of["check"]),
                ]
            )
    return table(["texts of", "method", "documents", "bytes on disk", "to add, µs", "to check, µs", "p99, µs"], rows)


def capacity_of_a_store(record: Record) -> str:
    """What a store needs of disk and memory at each number of documents."""
    rows = []
    for name, of in record["methods"].items():
        if "," in name:  # another way to be durable
            continue
        for stop, at in of["stops"].items():
            rows.append(
                [
                    f"`{name}`",
                    f"{int(stop):,}",
                    number(sum(at["bytes"].values()) / 1e9),
                    number(at["anonymous_mb"]),
                    number(at["file_backed_mb"]),
                    *_check(at["check"]),
                    number(at["open_seconds"], 2),
                ]
            )
    head = ["method", "documents", "disk, GB", "memory, MB", "files in memory, MB", "to check, µs", "p99, µs"]
    return table([*head, "to open, s"], rows)


def _check(asked: Record) -> tuple[str, str]:
    """The slowest median, and the slowest p99, of the kinds of questions."""
    return number(max(of["median"] for of in asked.values())), number(max(of["p99"] for of in asked.values()))
