"""Every near-duplicate of up to a million real documents: seconds, memory, growth and recall of each method, from cold files.

The corpus is `package_texts.py`'s. Each run is a process of its own, `neardup dedup --method NAME --min-similarity 0.8`, JSON lines
in and out, after the system was asked to forget the files; the kernels are compiled before.

Recall is of the planted near-copies whose similarity to their origin, computed from the two texts alone, is 0.8 or more: such a
pair is settled if not both survive. How many ended in one cluster is given beside it; a cluster is a survivor and what matched it,
so two similar documents may be duplicates of different survivors.

Targets: `auto` and `exact` under 5 minutes and 4 GB at a million; recall 1 by `exact`, 0.999 by what `auto` takes.
"""

import argparse
import json
import os
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import measure
import package_texts
from chart_style import INK, new_figure, save
from commands import run
from corpora import python_installation
from neardup.recipe.tables.methods import METHODS
from planted import RATES, Copy, near_copies

AT_LEAST = 0.8
MEMORY = "4G"
METHOD_ORDER = [name for name in ("auto", "exact", "minhash", "simhash") if name in METHODS]
SUMMARY_FIELDS = (
    "method",
    "reason",
    "join",
    "duplicates",
    "exact_duplicates",
    "clusters",
    "candidates",
    "matches",
    "seconds",
)
TARGET_SECONDS, TARGET_BYTES = 300, 4e9


@dataclass(frozen=True)
class Corpus:
    """Files of documents, and the planted near-copies of which both ends are in them, with their true similarities."""

    name: str
    documents: int
    files: tuple[Path, ...]
    copies: tuple[Copy, ...]
    similarity: np.ndarray[Any, np.dtype[Any]]


def _corpus(name: str, documents: int, files: Sequence[Path], copies: Sequence[Copy]) -> Corpus:
    return Corpus(name, documents, tuple(files), tuple(copies), package_texts.similarities_of(list(copies)))


def steps_of(folder: Path) -> list[Corpus]:
    """The nested corpora."""
    facts = json.loads((folder / "package_texts.json").read_text(encoding="utf-8"))
    return [
        _corpus(
            name,
            facts["documents"] // package_texts.SHARDS * step["shards"],
            [package_texts.shard_path(folder, number) for number in range(step["shards"])],
            package_texts.planted_copies(folder, step["shards"]),
        )
        for name, step in facts["corpora"].items()
    ]


def small_corpus(folder: Path) -> Corpus:
    """Texts of the Python installation with planted near-copies: what every machine has."""
    texts = python_installation(10_000_000).array.to_pylist()
    documents = [(f"installed/{row}", text) for row, text in enumerate(texts)]
    copies = near_copies(documents, 0.05, random.Random(0))
    documents += [(copy.id, copy.text) for copy in copies]
    random.Random(1).shuffle(documents)
    file = folder / "small.jsonl"
    file.write_text(
        "".join(json.dumps({"id": name, "text": text}, ensure_ascii=False) + "\n" for name, text in documents),
        encoding="utf-8",
    )
    return _corpus(f"{len(documents):,} documents", len(documents), [file], copies)


def forget(files: Sequence[Path]) -> bool:
    """Ask the system to drop the files from its cache; false where it cannot be asked."""
    if not hasattr(os, "posix_fadvise"):
        return False
    for path in files:
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return True


def clusters_of(audit: Path) -> dict[str, str]:
    """The survivor of every removed document, by id."""
    with audit.open(encoding="utf-8") as lines:
        return {record["id"]: record["survivor_id"] for record in map(json.loads, lines)}


def _share(hits: int, trials: int) -> dict[str, Any]:
    low, high = measure.wilson(hits, trials)
    share = measure.rounded(hits / trials, 6) if trials else None
    return {"pairs": trials, "found": hits, "share": share, "95 %": [measure.rounded(low), measure.rounded(high)]}


def recall_of(corpus: Corpus, survivor: dict[str, str]) -> dict[str, Any]:
    """Which planted pairs of similarity AT_LEAST and more were settled, over all and by rate; and how many below it."""
    settled = np.array([copy.id in survivor or copy.origin in survivor for copy in corpus.copies], bool)
    together = np.array(
        [survivor.get(copy.id, copy.id) == survivor.get(copy.origin, copy.origin) for copy in corpus.copies], bool
    )
    rates = np.array([copy.rate for copy in corpus.copies])
    similar = corpus.similarity >= AT_LEAST
    return {
        "settled": _share(int(settled[similar].sum()), int(similar.sum())),
        "in one cluster": _share(int(together[similar].sum()), int(similar.sum())),
        "settled by rate of edits": {
            f"{rate:g}": _share(int(settled[similar & (rates == rate)].sum()), int((similar & (rates == rate)).sum()))
            for rate in RATES
        },
        "below the similarity": {
            "pairs": int((~similar).sum()),
            "in one cluster": int(together[~similar].sum()),
        },
    }


def dedup(corpus: Corpus, method: str, folder: Path) -> dict[str, Any]:
    """One run, and what it took and found."""
    output, audit = folder / "out.jsonl", folder / "audit.jsonl"
    options = ["--method", method, "--min-similarity", AT_LEAST, "--memory", MEMORY, "--temp-dir", folder]
    cold = forget(corpus.files)
    done = run(
        *(
            "dedup",
            *corpus.files,
            "-o",
            output,
            "--audit",
            audit,
            *map(str, options),
            "--overwrite",
            "--quiet",
            "--json",
        )
    )
    summary = json.loads(done.output)
    record = {
        "seconds": measure.rounded(done.seconds),
        "processor_seconds": measure.rounded(done.processor_seconds),
        "peak_memory_mb": round(done.peak_memory_bytes / 1e6),
        "files_were_cold": cold,
        "planted": recall_of(corpus, clusters_of(audit)),
        "summary": {name: summary[name] for name in SUMMARY_FIELDS if name in summary},
    }
    output.unlink()
    audit.unlink()
    return record


def exponent(documents: Sequence[int], amounts: Sequence[float]) -> float | None:
    """The slope on logarithmic scales: 1 is linear, 2 quadratic growth."""
    if len(documents) < 2:
        return None
    return measure.rounded(float(np.polyfit(np.log(documents), np.log(amounts), 1)[0]), 3)


def growth(runs: dict[str, dict[int, dict[str, Any]]]) -> dict[str, Any]:
    """Exponents of time, memory and matches, over all steps and over the last two."""
    record = {}
    for method, by_size in runs.items():
        sizes = sorted(by_size)
        columns = {
            "seconds": [by_size[size]["seconds"] for size in sizes],
            "peak memory": [by_size[size]["peak_memory_mb"] for size in sizes],
            "matches": [max(1, by_size[size]["summary"]["matches"]) for size in sizes],
        }
        record[method] = {
            name: {"all steps": exponent(sizes, column), "last two": exponent(sizes[-2:], column[-2:])}
            for name, column in columns.items()
        }
    return record


def plot(runs: dict[str, dict[int, dict[str, Any]]], path: Path) -> None:
    """Seconds and memory over documents, on logarithmic scales, with the targets."""
    figure = new_figure("exact_join", 10, 4)
    panels = figure.subplots(1, 2)
    rows = (
        (
            "seconds, cold files to survivors",
            lambda record: record["seconds"],
            TARGET_SECONDS,
            (5, 10, 20, 50, 100, 200, 300),
        ),
        ("peak memory, GB", lambda record: record["peak_memory_mb"] / 1e3, TARGET_BYTES / 1e9, (0.25, 0.5, 1, 2, 4)),
    )
    for panel, (label, amount, target, ticks) in zip(panels, rows, strict=True):
        for method, by_size in runs.items():
            sizes = sorted(by_size)
            panel.plot(sizes, [amount(by_size[size]) for size in sizes], marker="o", label=method)
        panel.axhline(target, color=INK, linestyle=":", label="target at a million")
        sizes = sorted({size for by_size in runs.values() for size in by_size})
        panel.set(xscale="log", yscale="log", xlabel="documents", ylabel=label)
        panel.set_xticks(sizes, [f"{size:,}" for size in sizes])
        panel.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        panel.minorticks_off()
        panel.grid()
    panels[0].legend()
    save(figure, path)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="on texts of the Python installation; writes no results")
    parser.add_argument("--folder", type=Path, default=package_texts.default_folder(), help="default: %(default)s")
    parser.add_argument("--methods", nargs="+", choices=METHOD_ORDER, default=METHOD_ORDER)
    parser.add_argument("--steps", type=int, metavar="N", help="the N smallest corpora only; writes no results")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="default: benchmarks/results/exact_join.json and .svg"
    )
    given = parser.parse_args()
    if given.output is None and not given.quick and given.steps is None:
        given.output = measure.RESULTS / "exact_join.json"
    return given


def main() -> None:
    """Run all and write the results."""
    given = _arguments()
    record: dict[str, Any] = {"environment": measure.environment(("msgspec",)), "min_similarity": AT_LEAST}
    reason = None if given.quick else package_texts.missing(given.folder)
    if reason:
        print(f"skipped: {reason}")
        return
    with tempfile.TemporaryDirectory(dir=None if given.quick else given.folder) as name:
        folder = Path(name)
        small = small_corpus(folder)
        for method in given.methods:
            dedup(small, method, folder)  # compiles
        corpora = [small] if given.quick else steps_of(given.folder)[: given.steps]
        runs: dict[str, dict[int, dict[str, Any]]] = {method: {} for method in given.methods}
        for corpus in corpora:
            for method in given.methods:
                found = runs[method][corpus.documents] = dedup(corpus, method, folder)
                record.setdefault(corpus.name, {})[method] = found
                print(f"{corpus.name}, {method}: {json.dumps(found)}", flush=True)
    record["growth"] = growth(runs)
    print(json.dumps(record["growth"]))
    if given.output is not None:
        if not given.quick:
            record["corpus"] = json.loads((given.folder / "package_texts.json").read_text(encoding="utf-8"))
        measure.write_json(given.output, record)
        plot(runs, given.output.with_suffix(".svg"))


if __name__ == "__main__":
    main()
