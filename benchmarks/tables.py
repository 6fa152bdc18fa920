"""Write the tables and the figures of the pages anew from the result files, or from what the code declares, between markers.

    python benchmarks/tables.py [--results FOLDER] [--check | --print]

A page has `<!-- table NAME -->` and `<!-- end -->` where a table belongs; what is between them is replaced. Below a table of
results stands where its figures come from. A figure in a sentence is `<!-- figure NAME -->39.9<!-- /figure -->`:
`figures.py` has the names.
Pages: README.md, benchmarks/README.md, and every page of docs that has such a marker.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import figures
import peers_chart
import tables_of_capacity
import tables_of_decisions
import tables_of_engines
import tables_of_features
import tables_of_reliability
import tables_of_schemas
import tables_of_service
import tables_of_speed
import tables_of_stores
import tables_of_tools
from cells import Record, provenance

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"
TABLES: dict[str, Callable[[Record], str]] = {
    make.__name__: make
    for make in (
        tables_of_speed.fingerprints,
        tables_of_speed.signatures,
        tables_of_speed.hamming_join,
        tables_of_speed.hamming_index,
        tables_of_speed.hamming_scale,
        tables_of_speed.exact_join,
        tables_of_speed.soak,
        tables_of_speed.end_to_end,
        tables_of_speed.memory,
        tables_of_speed.families,
        tables_of_speed.estimates,
        tables_of_speed.decontaminate,
        tables_of_speed.corpus_speed,
        tables_of_speed.stage_limits,
        tables_of_features.segmenters,
        tables_of_features.chinese_segmenters,
        tables_of_features.classical,
        tables_of_features.digitisations,
        tables_of_features.evaluation_advice,
        tables_of_features.decontamination_recall,
        tables_of_features.repeated_passages,
        tables_of_features.splits,
        tables_of_features.weights,
        tables_of_features.hashes,
        tables_of_tools.dedup_peers,
        tables_of_tools.open_sets,
        tables_of_tools.recipes,
        tables_of_tools.start,
        tables_of_reliability.reliability,
        tables_of_stores.store,
        tables_of_stores.store_growth,
        tables_of_stores.store_soak,
        tables_of_service.service,
        tables_of_service.service_soak,
        tables_of_service.service_waits,
        tables_of_engines.cluster,
        tables_of_engines.skew,
        tables_of_decisions.store_orders,
        tables_of_decisions.safe_distances,
        tables_of_decisions.removal_ranges,
        tables_of_decisions.guards,
    )
}
"""By the name of the table, which is that of the benchmark and of its result file, but for those in SHORT."""
SHORT: dict[str, tuple[str, Callable[[Record], str]]] = {
    "methods": ("dedup_peers", tables_of_tools.methods),
    "peers": ("dedup_peers", peers_chart.peers),
    "flips": ("reliability", tables_of_reliability.flips),
    "kills": ("reliability", tables_of_reliability.kills),
    "store-kills": ("store_kills", tables_of_reliability.kills),
    "service_soak_shared": ("service_soak_shared", tables_of_service.service_soak),
    "extrapolation": ("exact_join", tables_of_speed.extrapolation),
    "store_targets": ("store", tables_of_stores.store_targets),
    "capacity_of_a_document": ("store", tables_of_capacity.capacity_of_a_document),
    "capacity_of_a_store": ("store_growth", tables_of_capacity.capacity_of_a_store),
    "store_growth_targets": ("store_growth", tables_of_stores.store_growth_targets),
    "safe_distances_default": ("safe_distances", tables_of_decisions.safe_distances_default),
    "cluster-others": ("cluster", tables_of_engines.cluster_others),
    "cluster-plan": ("cluster", tables_of_engines.cluster_plan),
    "engines": ("cluster", tables_of_engines.engines),
    "ray-shuffle": ("ray_shuffle", tables_of_engines.ray_shuffle),
    "ray-others": ("cluster", tables_of_engines.others_on_ray),
    "hashes_bits": ("hashes", tables_of_features.hashes_bits),
    "hashes_changes": ("hashes", tables_of_features.hashes_changes),
    "hashes_angles": ("hashes", tables_of_features.hashes_angles),
}
"""By the name of the table: the benchmark, and the table of a part of its results."""
DECLARED: dict[str, Callable[[], str]] = {
    "audit-columns": tables_of_schemas.audit_columns,
    "contamination-columns": tables_of_schemas.contamination_columns,
    "passage-columns": tables_of_schemas.passage_columns,
    "memory-shares": tables_of_schemas.memory_shares,
}
"""By the name of the table: what makes it of the code, without results."""
COMPARED = ("open_sets", "dedup_peers", "fingerprints", "signatures", "hamming_index", "end_to_end", "exact_join")
"""The results that the table `comparison` is made of."""
MARKED = re.compile(r"(<!-- table ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def load(folder: Path, name: str) -> Record | None:
    """The result file of that benchmark, or None if there is none."""
    path = folder / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def _unmeasured(name: str) -> str:
    return f"*No results yet: `python benchmarks/{name}.py`.*"


def table_of(name: str, folder: Path) -> str:
    """The Markdown of that table; an unknown name is a KeyError."""
    if name in DECLARED:
        return DECLARED[name]()
    if name == "comparison":
        records = {each: record for each in COMPARED if (record := load(folder, each)) is not None}
        lacking = " ".join(_unmeasured(each) for each in COMPARED if each not in records)
        return "\n\n".join(part for part in (tables_of_tools.comparison(records), lacking) if part)
    source, make = SHORT[name] if name in SHORT else (name, TABLES[name])
    record = load(folder, source)
    return _unmeasured(source) if record is None else f"{make(record)}\n\n{provenance(source, record)}"


def figure_of(name: str, folder: Path) -> str:
    """The text of that figure; an unknown name is a KeyError."""
    return figures.figure_of(name, lambda source: load(folder, source))


def rewritten(page: str, folder: Path) -> str:
    """The text of a page with its tables and figures as the results have them."""
    page = MARKED.sub(lambda found: f"{found[1]}\n{table_of(found[2], folder)}\n\n{found[3]}", page)
    return figures.MARKED.sub(lambda found: f"{found[1]}{figure_of(found[2], folder)}{found[3]}", page)


def pages() -> list[Path]:
    """Those that may have tables and figures."""
    return [ROOT / "README.md", ROOT / "benchmarks" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def stale(folder: Path = RESULTS) -> list[Path]:
    """Pages whose tables or figures are not what the results say."""
    texts = {page: page.read_text(encoding="utf-8") for page in pages()}
    return [page for page, text in texts.items() if rewritten(text, folder) != text]


def write(folder: Path = RESULTS) -> list[Path]:
    """Write the stale pages anew. Returns them."""
    found = stale(folder)
    for page in found:
        page.write_text(rewritten(page.read_text(encoding="utf-8"), folder), encoding="utf-8")
    return found


def show(folder: Path) -> None:
    """Print all tables that there are results for, and all figures."""
    for name in TABLES:
        if load(folder, name) is not None:
            print(f"\n## {name}\n\n{table_of(name, folder)}")
    print(f"\n## comparison\n\n{table_of('comparison', folder)}\n\n## figures\n")
    for name in figures.FIGURES:
        print(f"{name}: {figure_of(name, folder)}")


def main() -> None:
    """Write, or check, or print the tables and figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER", help="default: benchmarks/results")
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--check", action="store_true", help="change nothing; fail if a page is stale")
    way.add_argument(
        "--print", action="store_true", help="print all tables that there are results for, and all figures"
    )
    given = parser.parse_args()
    if given.print:
        show(given.results)
    elif given.check:
        if found := stale(given.results):
            sys.exit(f"{', '.join(page.name for page in found)} stale; run: python benchmarks/tables.py")
    else:
        for page in write(given.results):
            print(f"written: {page.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
