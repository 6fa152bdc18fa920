"""How good is the advice of `evaluate` on labeled sets, beside the best of a sweep over all similarities and thresholds?

Sets with all pairs labeled (`pairs.csv`): every pair of the sweep that is not listed is false. Sets with people's scores
(`scores.csv`): pairs from 4 of 5 up are near-duplicates, and others are not; precision is that of the listed pairs. Long texts:
revisions of one document or one law are near-duplicates (`*_groups.jsonl`), licenses of Jaccard similarity 0.8 and more by
another definition of tokens (`oracle_pairs_word3.jsonl`), and two editions of one book; every other pair is false.
"""

import csv
import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import neardup as nd
from corpora import data_folder, documents_of, missing
from measure import arguments, environment, table, write_json
from neardup.judging.evaluation.request import OTHER_SHINGLES
from neardup.recipe.tables.similarities import SIMILARITIES

SETS = (
    "en_cora",
    "en_abt_buy",
    "en_dblp_acm",
    "ko_sts",
    "ja_sts",
    "en_ocr_books",
    "en_pep_revisions_even",
    "en_spdx_licenses",
    "zh_laws_national",
)
QUICK = ("ko_sts", "ja_sts")
SWEPT = (*SIMILARITIES, *OTHER_SHINGLES)
NEAR_SCORE, NEAR_JACCARD = 4.0, 0.8
EDITIONS = ("remember00palm", "remembermeorholy00palm")
"""Books that are one work."""
LONG = 2000
"""Where texts have more characters on average, edit distances are left out of the sweep: they would take hours."""
LEAST, LEAST_OF_MANY, MANY = 0.05, 0.3, 3000
"""The sweep begins at the first threshold; at the second, where there are more than so many documents."""


class Labeled(NamedTuple):
    """Texts and labeled pairs of rows; `complete`: all near-duplicates are among them."""

    texts: list[str]
    pairs: list[tuple[int, int, int]]
    complete: bool


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def labels_of(folder: Path) -> Iterator[tuple[str, str, bool]]:
    """Labeled pairs of ids."""
    if folder.name == "en_ocr_books":
        yield (*EDITIONS, True)
    for file in folder.glob("*_groups.jsonl"):
        for group in _lines(file):
            yield from ((a, b, True) for a, b in itertools.combinations(group["ids"], 2))
    if folder.name == "en_spdx_licenses":
        for line in _lines(folder / "oracle_pairs_word3.jsonl"):
            yield line["a"], line["b"], line["jaccard"] >= NEAR_JACCARD
    for file in (*folder.glob("pairs.csv"), *folder.glob("scores.csv")):
        with file.open(encoding="utf-8", newline="") as lines:
            for line in csv.DictReader(lines):
                near = int(line["label"]) if "label" in line else float(line["score"]) >= NEAR_SCORE
                yield line["a"], line["b"], bool(near)


def labeled(folder: Path, name: str) -> Labeled:
    """Read a labeled set."""
    documents = documents_of(folder / name)
    row = {str(document["id"]): place for place, document in enumerate(documents)}
    pairs = {
        (min(row[a], row[b]), max(row[a], row[b])): int(near)
        for a, b, near in labels_of(folder / name)
        if row[a] != row[b]
    }
    return Labeled(
        [document["text"] for document in documents],
        [(*pair, near) for pair, near in pairs.items()],
        not (folder / name / "scores.csv").exists(),
    )


def best_f1(found: Labeled, similarity: Any) -> tuple[float, float]:
    """The highest F1 of any threshold, and the threshold."""
    positive = {(a, b) for a, b, near in found.pairs if near}
    if found.complete:
        least = LEAST if len(found.texts) <= MANY else LEAST_OF_MANY
        matches = nd.match(found.texts, method="exact", similarity=similarity, min_similarity=least)
        values = matches.similarity
        true = np.array(
            [pair in positive for pair in zip(matches.left.tolist(), matches.right.tolist(), strict=True)], bool
        )
    else:
        values = np.array(
            [nd.similarity(found.texts[a], found.texts[b], similarity=similarity) for a, b, _ in found.pairs]
        )
        true = np.array([bool(near) for *_, near in found.pairs])
    order = np.argsort(-values, kind="stable")
    values, right = values[order], np.cumsum(true[order])
    last = np.append(values[1:] != values[:-1], True)[: len(values)]
    f1 = np.where(last, 2 * right / (np.arange(1, len(values) + 1) + len(positive)), 0)
    place = int(f1.argmax())
    return float(f1[place]), float(values[place])


def measured(folder: Path, name: str) -> dict[str, Any]:
    """The advice for a set, and the best of the sweep."""
    found = labeled(folder, name)
    began = time.perf_counter()
    result = nd.evaluate(found.texts, pairs=found.pairs, complete=found.complete)
    advice = result.recommendation.best
    assert advice is not None
    seconds = time.perf_counter() - began
    is_long = sum(map(len, found.texts)) > LONG * len(found.texts)
    swept = [similarity for similarity in SWEPT if not (is_long and str(similarity).startswith("edit"))]
    sweep = {str(similarity): best_f1(found, similarity) for similarity in swept}
    best = max(sweep, key=lambda each: sweep[each][0])
    return {
        "set": name,
        "documents": len(found.texts),
        "bytes": sum(len(text.encode()) for text in found.texts),
        "labeled": len(found.pairs),
        "complete": found.complete,
        "advice": {
            "method": advice.method,
            "similarity": str(advice.similarity),
            "threshold": advice.min_similarity,
            "recall": advice.recall.value,
            "precision": advice.precision.value,
            "f1": advice.f1.value,
            "found": advice.found,
            "unlabeled": advice.unlabeled,
        },
        "best": {"similarity": best, "threshold": sweep[best][1], "f1": sweep[best][0]},
        "sweep": {each: {"f1": f1, "threshold": threshold} for each, (f1, threshold) in sweep.items()},
        "seconds": round(seconds, 1),
    }


def main() -> None:
    """Measure, show, and write the results."""
    given = arguments(str(__doc__).splitlines()[0], "evaluation_advice")
    folder = data_folder(given.data)
    sets = []
    for name in QUICK if given.quick else SETS:
        lacking = missing(folder, name)
        if folder is None or lacking:
            print(f"skipped: {lacking}")
            continue
        sets.append(measured(folder, name))
        each = sets[-1]
        rows = [
            [kind, each[kind]["similarity"], f"{each[kind]['threshold']:.3f}", f"{each[kind]['f1']:.3f}"]
            for kind in ("advice", "best")
        ]
        print(table([name, "similarity", "threshold", "F1"], rows), each["seconds"], flush=True)
    write_json(given.output, {"environment": environment(), "sets": sets})


if __name__ == "__main__":
    main()
