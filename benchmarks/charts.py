"""Draw all charts of the benchmarks anew from the result files.

python benchmarks/charts.py
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import comparison_chart
import exact_join
import hamming_scale
import hash_chart
import store_growth_chart
import vectors_chart

RESULTS = Path(__file__).parent / "results"


def draw_exact_join(record: dict[str, Any], path: Path) -> None:
    """See `exact_join.plot`; the runs of each method, by the number of documents."""
    runs: dict[str, dict[int, dict[str, Any]]] = {}
    for name, corpus in record.items():
        if name.endswith(" documents"):
            for method, of in corpus.items():
                runs.setdefault(method, {})[int(name.split()[0].replace(",", ""))] = of
    exact_join.plot(runs, path)


CHARTS: dict[str, tuple[str, Callable[[dict[str, Any], Path], None]]] = {
    "comparison": ("dedup_peers", comparison_chart.draw),
    "exact_join": ("exact_join", draw_exact_join),
    "hamming_scale": ("hamming_scale", hamming_scale.draw),
    "hashes": ("hashes", hash_chart.draw),
    "store_growth": ("store_growth", store_growth_chart.draw),
    "vectors": ("vectors", vectors_chart.draw),
}
"""By the name of the chart: its result file, and what draws it."""


if __name__ == "__main__":
    for name, (source, draw) in CHARTS.items():
        draw(json.loads((RESULTS / f"{source}.json").read_text(encoding="utf-8")), RESULTS / f"{name}.svg")
