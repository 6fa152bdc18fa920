"""Remember documents for good: `nd.Store` beside datasketch on Redis, PyPI simhash, FAISS and a plain SQLite table of bands.

Pieces of sources of about 3 KB, and of about 200 bytes, come in batches of 1,024. Each is new, or a duplicate of an earlier one.
How many are decided a second, and are they on disk? Then single texts are asked about: new ones, near copies (a kept text with a
word more) and copies. Then it is closed and opened. What `dedup --method exact` decides of the same documents is the measure of
right and wrong. The contenders do different work: each row says what decides, and what a crash loses. Who is slow gets as many
documents as it decides in some seconds, which is easier than more. Each runs in a process of its own, in turns, so many rounds.

Targets, with durable batches on two processors: 15,000 documents of 3 KB and 50,000 of 200 bytes a second; at most 1 KB on disk for
a kept document of 3 KB, besides its set of shingles. `store_growth.py` has those of a million and more.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import measure
from contender import AT_LEAST
from store_contenders import CONTENDERS
from store_texts import KINDS, sources

DOCUMENTS = {"pieces": 49_152, "short": 262_144}
QUESTIONS, SECONDS, ROUNDS = 1_000, 10.0, 3
"""Of each kind; of a contender that is slow; of each contender."""
LIMIT_SECONDS = 600.0
SETS = ("compared", "joined")
"""The files that have the sets of shingles."""


def prepared(kind: str, count: int, asked: int, seconds: float) -> dict[str, Any]:
    """What the contenders are given: documents, what is right of them, and texts that are unseen."""
    import neardup

    texts = sources(kind, count + asked)
    given, unseen = texts[:-asked], texts[-asked:]
    duplicates = neardup.deduplicate(given, method="exact", min_similarity=AT_LEAST, cluster="star", keep="first")
    is_new = np.ones(len(given), bool)
    is_new[duplicates.duplicates["row"].to_numpy()] = False
    return {"texts": given, "is_new": is_new.tolist(), "unseen": unseen, "seconds": seconds}


def contend(name: str, texts: Path) -> dict[str, Any]:
    """One run of a contender, in a process of its own."""
    script = Path(__file__).with_name("store_contenders.py")
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(script), name, str(texts), folder]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return {"stopped": f"not done after {LIMIT_SECONDS:g} s"}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["no word of it"])[-1]}
    record: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return record


def together(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The median of the rounds for each figure, and the least and greatest of the speeds."""
    lacking = next((run for run in runs if "documents" not in run), None)
    if lacking is not None:
        return lacking
    speeds = [run["documents_a_second"] for run in runs]
    record = _medians(runs)
    spread = {"min": min(speeds), "max": max(speeds), "rounds": len(runs)}
    return {"decides_by": record["decides_by"], "durable": record["durable"], **spread, **record}


def _medians(values: list[Any]) -> Any:
    """The medians of equal places; of what is no number, the last."""
    last = values[-1]
    if isinstance(last, dict):
        return {key: _medians([value[key] for value in values if key in value]) for key in last}
    if isinstance(last, list):
        return [_medians(list(each)) for each in zip(*values, strict=True)]
    if isinstance(last, bool | str):
        return last
    if last is None:
        return None
    middle = statistics.median(value for value in values if value is not None)
    return int(middle) if isinstance(last, int) else measure.rounded(middle)


def besides_sets(record: dict[str, Any]) -> float:
    """Bytes on disk for each kept document, without its set of shingles."""
    return sum(size for kind, size in record["bytes"].items() if kind not in SETS) / record["kept"]


def main() -> None:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="4,096 documents, one round; writes no results")
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: benchmarks/results/store.json")
    given = parser.parse_args()
    if given.output is None and not given.quick:
        given.output = measure.RESULTS / "store.json"
    record: dict[str, Any] = {
        "environment": measure.environment(("datasketch", "redis", "faiss-cpu", "simhash")),
        "load_before": os.getloadavg(),
    }
    with tempfile.TemporaryDirectory() as name:
        for kind in KINDS:
            count = 4096 if given.quick else DOCUMENTS[kind]
            asked = 100 if given.quick else QUESTIONS
            content = prepared(kind, count, asked, 1.0 if given.quick else SECONDS)
            texts = Path(name) / f"{kind}.json"
            texts.write_text(json.dumps(content), encoding="utf-8")
            size = sum(len(text.encode()) for text in content["texts"])
            about = {"documents": len(content["texts"]), "bytes_a_document": round(size / len(content["texts"]))}
            about["survivors"] = sum(content["is_new"])
            runs: dict[str, list[dict[str, Any]]] = {each: [] for each in CONTENDERS}
            for number in range(1 if given.quick else ROUNDS):
                turn = number % len(runs)
                for each in [*runs][turn:] + [*runs][:turn]:
                    runs[each].append(contend(each, texts))
                    print(kind, each, json.dumps(runs[each][-1]), flush=True)
            found = {each: together(of) for each, of in runs.items()}
            for of in found.values():
                if "bytes" in of and "compared" in of["bytes"]:
                    of["bytes_a_document_besides_sets"] = round(besides_sets(of))
            record[kind] = {**about, "contenders": found}
    measure.write_json(given.output, record)


if __name__ == "__main__":
    main()
