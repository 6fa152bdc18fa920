"""Write the tables of docs/choosing.md and docs/comparison.md from benchmarks/results.

python tools/make_tables.py
"""

import importlib.util
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def _record(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / f"benchmarks/results/{name}.json").read_text(encoding="utf-8"))
    return found


def _beside(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / f"{name}.py")
    if spec is None or spec.loader is None:
        raise RuntimeError(f"tools/{name}.py is missing")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def table(columns: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    """A table in Markdown; the first column is text, the others are numbers."""
    lines = [columns, ["---", *["---:"] * (len(columns) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def digits(value: float, places: int = 3) -> str:
    """A number with so many significant digits, without an exponent."""
    return f"{float(f'{value:.{places}g}'):,.10g}"


def _share(value: float) -> str:
    """A share; whatever is not all does not look like all."""
    return "1" if value == 1 else f"{value:.{6 if value > 0.9995 else 3}f}".rstrip("0")


def machine() -> str:
    """What the figures were measured on, and with which versions."""
    environment = _record("dedup_peers")["environment"]
    on, versions = environment["machine"], environment["versions"]
    packages = ", ".join(f"{name} {version}" for name, version in versions.items() if name != "python")
    processor = f"{on['processors']} cores of an {on['processor']} ({on['compiled_for']})"
    return f"{processor}, {environment['date']}; Python {versions['python']}, {packages}."


def dedup_table() -> str:
    """Every contender on 100,000 documents."""
    results = _record("dedup_peers")["results"]

    def rows() -> Iterator[Sequence[str]]:
        for name, found in results.items():
            if "seconds" not in found:
                continue  # what could not be run
            pairs, survivors = found.get("pairs"), found.get("survivors")
            yield [
                name,
                digits(found["seconds"]),
                digits(found["peak_memory_mb"] / 1000, 2),
                _share(pairs["recall"]) if pairs else "",
                _share(pairs["precision"]) if pairs else "",
                _share(survivors["true pairs settled"]) if survivors else "",
                _share(survivors["removed with a similar survivor"]) if survivors else "",
            ]

    columns = ["", "seconds", "peak GB", "recall of pairs", "precision", "pairs settled", "right removals"]
    return table(columns, rows())


def methods_table() -> str:
    """What each of our methods finds of the true pairs there."""
    results = _record("dedup_peers")["results"]

    def rows() -> Iterator[Sequence[str]]:
        for method in ("exact", "minhash", "simhash"):
            found = results[f"neardup {method}, pairs"]
            yield [f"`{method}`", _share(found["pairs"]["recall"]), digits(found["seconds"], 2)]

    return table(["", "share of the pairs found", "seconds"], rows())


def fingerprint_table() -> str:
    """Fingerprints of one thread, beside each peer."""

    def rows() -> Iterator[Sequence[str]]:
        for kind in _record("fingerprints")["results"].values():
            for row in kind["rows"]:
                ours, theirs = (row[side]["megabytes_per_second"] for side in ("ours", "theirs"))
                shown = [digits(ours), digits(theirs)]
                shown[theirs > ours] = f"**{shown[theirs > ours]}**"
                yield [f"{row['texts']}, {row['work']}", row["peer"], *shown, digits(row["ratio"])]

    return table(["texts, work", "peer", "neardup, MB/s", "peer, MB/s", "times"], rows())


def signature_table() -> str:
    """MinHash signatures of one thread: speed and error."""
    record = _record("signatures")
    errors = {each["contender"]: each["all"] for each in record["errors"]}

    def rows() -> Iterator[Sequence[str]]:
        for speed in record["speeds"]:
            if speed["texts"] == "English":
                name = speed["contender"].split(", words")[0].split(", 3-word")[0]
                yield [speed["contender"], digits(speed["megabytes_per_second"]), digits(errors[name])]

    return table(["", "MB/s", "rms error"], rows())


def distance_table() -> str:
    """What some distances find, and how many unlike pairs come with each."""
    shown = {"default": (14, 18, 20), "default-64": (8, 10), "textbook": (3, 12)}
    curves = _beside("make_curves")

    def rows() -> Iterator[Sequence[str]]:
        for curve in curves.curves():
            for distance in shown[curve.name]:
                usual = distance == curves.USUAL[curve.name]
                yield [
                    f"`{curve.name}`",
                    f"**{distance}**" if usual else f"{distance}",
                    f"{curve.found[distance]:.3f}",
                    digits(curve.unlike[distance], 2),
                ]

    return table(["recipe", "distance", "pairs found", "unlike pairs for each"], rows())


TABLES: dict[str, dict[str, Callable[[], str]]] = {
    "choosing.md": {"methods": methods_table, "distances": distance_table},
    "comparison.md": {
        "machine": machine,
        "dedup": dedup_table,
        "fingerprints": fingerprint_table,
        "signatures": signature_table,
    },
}


def page(name: str) -> str:
    """The page with its tables made anew, each between `<!-- table: NAME -->` and `<!-- end -->`."""
    text = (DOCS / name).read_text(encoding="utf-8")
    for what, make in TABLES[name].items():
        begin, end = f"<!-- table: {what} -->\n", "<!-- end -->"
        before, found, after = text.partition(begin)
        if not found or end not in after:
            raise SystemExit(f"docs/{name} has no place for {what!r}: mark it with {begin.strip()} and {end}")
        text = before + begin + "\n" + make() + "\n\n" + after[after.index(end) :]
    return text


if __name__ == "__main__":
    for name in TABLES:
        (DOCS / name).write_text(page(name), encoding="utf-8")
