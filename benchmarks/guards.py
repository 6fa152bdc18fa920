"""What a guard for digits changes: on the open sets, what is removed with it and without, and which true pairs match.

    python benchmarks/guards.py [--quick] [--data FOLDER] [--output FILE]

Documents are removed at the default threshold, pairs are listed at it; the sets of citations, products and titles have shorter
texts, which are compared at 0.5. True are the pairs of the reference: those of set Jaccard 0.8 and more, or those that people have
labeled; in the sets of two shops or bibliographies, only pairs across are labeled, and listed. Texts that differ in digits only are
near-copies by the first, and may be by the second.
"""

import csv
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

import measure
import neardup as nd
from contender import AT_LEAST
from corpora import OPEN_SETS, data_folder, documents_of, missing, reference_set

LABELED = ("en_cora", "en_abt_buy", "en_dblp_acm")
SHORT = 0.5
QUICK_DOCUMENTS = 300
GUARDS: tuple[Any, ...] = (None, "same-numbers")


@dataclass(frozen=True)
class Labeled:
    """The texts of a set, and its true pairs by row. `sides`: of which each text is, if only pairs across count."""

    texts: list[str]
    true: set[tuple[int, int]]
    sides: list[str] | None = None

    def counted(self, left: int, right: int) -> bool:
        """Whether a pair of rows counts."""
        return self.sides is None or self.sides[left] != self.sides[right]


def of_reference(data: Path, name: str) -> Labeled:
    """A set with reference pairs."""
    found = reference_set(data, name)
    chosen = found.jaccard >= AT_LEAST
    pairs = zip(found.left[chosen].tolist(), found.right[chosen].tolist(), strict=True)
    return Labeled(found.texts.array.to_pylist(), set(pairs))


def of_labels(data: Path, name: str) -> Labeled:
    """A set that people have labeled."""
    documents = documents_of(data / name)
    row = {document["id"]: number for number, document in enumerate(documents)}
    with (data / name / "pairs.csv").open(encoding="utf-8", newline="") as lines:
        pairs = [(row[each["a"]], row[each["b"]]) for each in csv.DictReader(lines) if each["label"] == "1"]
    sides = [document["side"] for document in documents] if "side" in documents[0] else None
    return Labeled([document["text"] for document in documents], {(min(pair), max(pair)) for pair in pairs}, sides)


def measured(labeled: Labeled, least: float) -> dict[str, Any]:
    """With each guard: what is removed, and how good the pairs are."""
    texts, true = labeled.texts, labeled.true
    found: dict[str, Any] = {"documents": len(texts), "true": len(true), "min_similarity": least}
    for guard in GUARDS:
        options: dict[str, Any] = {"method": "exact", "min_similarity": least, "guard": guard}
        counts = nd.deduplicate(texts, **options).summary
        listed = nd.match(pa.array(texts, pa.large_string()), **options)
        every = zip(listed.left.tolist(), listed.right.tolist(), strict=True)
        pairs = [pair for pair in every if labeled.counted(*pair)]
        hits = sum(pair in true for pair in pairs)
        found[str(guard)] = {
            "removed": counts.duplicates,
            "only_digits": counts.only_digits,
            "pairs": len(pairs),
            "precision": measure.rounded(hits / len(pairs)) if pairs else None,
            "recall": measure.rounded(hits / len(true)) if true else None,
        }
    return found


def main() -> None:
    """Measure, print, write the results."""
    given = measure.arguments(__doc__ or "", "guards")
    data = data_folder(given.data)
    record: dict[str, Any] = {
        "environment": measure.environment(),
        "skipped": [reason for name in (*OPEN_SETS, *LABELED) if (reason := missing(data, name))],
        "sets": {},
    }
    for name in (*OPEN_SETS, *LABELED):
        if data is None or missing(data, name) is not None:
            continue
        labeled = (of_labels if name in LABELED else of_reference)(data, name)
        if given.quick:
            true = {pair for pair in labeled.true if max(pair) < QUICK_DOCUMENTS}
            labeled = replace(labeled, texts=labeled.texts[:QUICK_DOCUMENTS], true=true)
        record["sets"][name] = measured(labeled, SHORT if name in LABELED else AT_LEAST)
        print(f"{name}: {record['sets'][name]}", flush=True)
    for reason in record["skipped"]:
        print(f"skipped: {reason}")
    measure.write_json(given.output if record["sets"] else None, record)


if __name__ == "__main__":
    main()
