"""How good are the numbers of a report's slider? On the open sets: what it says of stricter thresholds, and what runs remove.

    python benchmarks/removal_ranges.py [--quick] [--data FOLDER] [--output FILE]

For each set and way of clustering, one run at each threshold; and from the matches of the runs at 0.7 and 0.8, the range of
removed documents at each stricter threshold, as `neardup.judging.reports.removal_ranges` gives it.
"""

from typing import Any

import measure
import neardup as nd
from corpora import OPEN_SETS, Texts, data_folder, missing, open_texts
from neardup.fingerprints.simhash import fingerprint_array
from neardup.judging.reports.bands import Bands
from neardup.judging.reports.removal_ranges import removal_ranges
from neardup.judging.reports.tally import tally
from neardup.recipe.recipe import Recipe

BASES = (0.7, 0.8)
THRESHOLDS = (0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)
CLUSTERINGS = ("star", "components")
QUICK_DOCUMENTS = 150


def measured(texts: Texts, cluster: str) -> dict[str, Any]:
    """For each base: thresholds, the least and the most that the slider says, and what a run removes."""
    strings = texts.array.to_pylist()
    digests = fingerprint_array(texts.array, Recipe()).digests[:, 0]
    runs = {
        threshold: nd.deduplicate(strings, method="exact", cluster=cluster, min_similarity=threshold).duplicates
        for threshold in THRESHOLDS
    }
    found: dict[str, Any] = {}
    for base in BASES:
        lines = runs[base].to_pylist()
        counts = tally(lines, Bands(base, None), rows=len(texts), bits=Recipe().bits)
        ranges = removal_ranges(counts, min_similarity=base, max_distance=None, digests=digests[counts.near.row])
        said = {round(each.threshold, 2): each for each in ranges}
        found[f"{base:g}"] = [
            {
                "threshold": threshold,
                "least": said[threshold].least,
                "most": said[threshold].most,
                "removed": runs[threshold].num_rows,
            }
            for threshold in THRESHOLDS
            if threshold > base
        ]
    return found


def main() -> None:
    """Measure, print, write the results."""
    given = measure.arguments(__doc__ or "", "removal_ranges")
    data = data_folder(given.data)
    record: dict[str, Any] = {
        "environment": measure.environment(),
        "skipped": [reason for name in OPEN_SETS if (reason := missing(data, name))],
        "sets": {},
    }
    for name in OPEN_SETS:
        if data is None or missing(data, name) is not None:
            continue
        texts = open_texts(data, name)
        texts = Texts(name, texts.array[:QUICK_DOCUMENTS]) if given.quick else texts
        one = record["sets"][name] = {
            "texts": texts.as_record(),
            "clusterings": {cluster: measured(texts, cluster) for cluster in CLUSTERINGS},
        }
        print(f"{name}: {one['clusterings']}", flush=True)
    for reason in record["skipped"]:
        print(f"skipped: {reason}")
    measure.write_json(given.output if record["sets"] else None, record)


if __name__ == "__main__":
    main()
