"""De-duplicating the same 100,000 documents by neardup's methods and by its peers: time, memory, recall, precision.

Each contender is a process of its own (`peer_contenders.py`) with a time limit; its time is from texts in memory (text-dedup: a
data set on the disk) to pairs, clusters or flags, its memory the process's, texts and all. neardup and rensa use all processors,
text-dedup as many processes (its memory is the largest one's), datasketch and SetSimilaritySearch one.

The truth is every pair of documents whose similarity as `neardup.similarity` has it is 0.8 or more: what the exact methods find,
compared with one another. What a contender's output allows is judged:

- pairs: recall and precision of the pairs that it lists, or that lie in one cluster;
- survivors: of the true pairs, how many are settled (not both survive), and of the removed documents, how many have a similar one
  among the survivors. Of pairs, in the order of the input, a document goes if it has a pair with an earlier survivor; of a cluster
  the first stays;
- documents: recall and precision of the documents that have any near-copy.

The peers' shingles are the words' of their own tokenizer, so a pair next to 0.8 may lie on the other side for them.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import measure
import package_texts
from commands import LAUNCHER
from corpora import python_installation
from neardup.options import METHODS
from peer_contenders import AT_LEAST, Array, Found, contenders
from planted import near_copies

DOCUMENTS, QUICK_DOCUMENTS = 100_000, 5_000
LIMIT, QUICK_LIMIT = 1200, 60
"""Seconds of a contender."""
EXACT = ("neardup exact, pairs", "SetSimilaritySearch all_pairs")
"""Either has every pair."""
NEEDS = {
    "datasketch": "datasketch",
    "rensa": "rensa",
    "SetSimilaritySearch": "SetSimilaritySearch",
    "text-dedup": "text_dedup.minhash",
}


def write_documents(given: argparse.Namespace, path: Path) -> int:
    """Write JSON lines: the first of the corpus of package texts, or texts of the Python installation with near-copies."""
    if given.quick:
        texts = python_installation(16_000_000).array.to_pylist()[: QUICK_DOCUMENTS * 19 // 20]
        documents = [(f"installed/{row}", text) for row, text in enumerate(texts)]
        documents += [(copy.id, copy.text) for copy in near_copies(documents, 1 / 19, random.Random(0))]
        random.Random(1).shuffle(documents)
    else:
        documents = list(package_texts.first_documents(given.folder, DOCUMENTS))
    with path.open("w", encoding="utf-8") as lines:
        for name, text in documents:
            lines.write(json.dumps({"id": name, "text": text}, ensure_ascii=False) + "\n")
    return len(documents)


def why_not(name: str, python: str) -> str | None:
    """Why that contender cannot run, or None: the last line of what its interpreter says of the import."""
    package = next((module for start, module in NEEDS.items() if name.startswith(start)), None)
    if package is None:
        return None
    interpreter = python if package.startswith("text_dedup") else sys.executable
    done = subprocess.run([interpreter, "-c", f"import {package}"], capture_output=True, text=True, check=False)
    return done.stderr.strip().splitlines()[-1] if done.returncode else None


def contend(name: str, documents: Path, given: argparse.Namespace) -> tuple[dict[str, Any], Found | None]:
    """Run one contender. Returns what it took, or why there is nothing, and what it found."""
    reason = why_not(name, given.text_dedup)
    if reason:
        return {"skipped": reason}, None
    limit = QUICK_LIMIT if given.quick else LIMIT
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "found.npz"
        script = Path(__file__).with_name("peer_contenders.py")
        command = [sys.executable, script, name, documents, found, "--text-dedup", given.text_dedup]
        launcher = [sys.executable, "-S", "-c", LAUNCHER]
        process = subprocess.Popen(
            [*launcher, *map(str, command)], stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        try:
            output, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return {"stopped": f"not done after {limit} s"}, None
        code, _, _, _, printed = json.loads(output)
        took = json.loads(printed.strip().splitlines()[-1]) if not code else {"failed": f"exit status {code}"}
        if "failed" in took:
            return took, None
        record = {
            "seconds": measure.rounded(took["seconds"]),
            "peak_memory_mb": round(took["peak_memory_bytes"] / 1e6),
            "peak_memory_before_mb": round(took["peak_memory_before_bytes"] / 1e6),
        }
        if took["candidates"] is not None:
            record["candidates"] = took["candidates"]
        with np.load(found) as arrays:
            return record, dict(arrays)


def coded(found: Found, documents: int) -> Array:
    """Pairs of rows as sorted distinct numbers: int64[p]."""
    return np.unique(found["left"] * documents + found["right"])


def removed_by(found: Found, documents: int) -> Array | None:
    """Which documents do not survive: bool[documents], or None where that is not said."""
    removed = np.zeros(documents, bool)
    if "removed" in found:
        return found["removed"]
    if "cluster" in found:
        _, first = np.unique(found["cluster"], return_index=True)
        removed[:] = True
        removed[first] = False
        return removed
    if "left" not in found:
        return None
    order = np.argsort(found["right"], kind="stable")
    left, right = found["left"][order], found["right"][order]
    starts = np.flatnonzero(np.diff(right, prepend=-1))
    for start, end in zip(starts, np.append(starts[1:], len(right)), strict=True):
        removed[right[start]] = not removed[left[start:end]].all()
    return removed


def _pairs_in_clusters(cluster: Array) -> int:
    sizes = np.unique(cluster, return_counts=True)[1].astype(np.int64)
    return int((sizes * (sizes - 1) // 2).sum())


def _shares(hits: int, wanted: int, given: int) -> dict[str, Any]:
    return {
        "true": wanted,
        "found": given,
        "recall": measure.rounded(hits / wanted, 6) if wanted else None,
        "precision": measure.rounded(hits / given, 6) if given else None,
    }


def judge(found: Found, truth: Array, documents: int) -> dict[str, Any]:
    """What of the truth was found, as far as the output says; `truth` as by `coded`."""
    left, right = truth // documents, truth % documents
    similar = np.zeros(documents, bool)
    similar[left] = similar[right] = True
    record: dict[str, Any] = {}
    touched = found.get("touched")
    if "left" in found:
        pairs = coded(found, documents)
        record["pairs"] = _shares(len(np.intersect1d(pairs, truth, assume_unique=True)), len(truth), len(pairs))
        touched = np.zeros(documents, bool)
        touched[found["left"]] = touched[found["right"]] = True
    elif "cluster" in found:
        cluster = found["cluster"]
        record["pairs"] = _shares(int((cluster[left] == cluster[right]).sum()), len(truth), _pairs_in_clusters(cluster))
        _, label, sizes = np.unique(cluster, return_inverse=True, return_counts=True)
        touched = sizes[label] > 1
    removed = removed_by(found, documents)
    if removed is not None:
        has_survivor = np.zeros(documents, bool)
        has_survivor[left[~removed[right]]] = True
        has_survivor[right[~removed[left]]] = True
        settled = int((removed[left] | removed[right]).sum())
        justified = int((removed & has_survivor).sum())
        record["survivors"] = {
            "removed": int(removed.sum()),
            "true pairs settled": measure.rounded(settled / len(truth), 6) if len(truth) else None,
            "removed with a similar survivor": measure.rounded(justified / removed.sum(), 6) if removed.any() else None,
        }
    if touched is not None:
        record["documents"] = _shares(int((touched & similar).sum()), int(similar.sum()), int(touched.sum()))
    return record


def truth_of(found: dict[str, Found], documents: int) -> tuple[Array | None, dict[str, Any]]:
    """Every true pair, and how the exact methods agree."""
    sets = {name: coded(found[name], documents) for name in EXACT if name in found}
    if not sets:
        return None, {"skipped": f"none of {', '.join(EXACT)} finished: nothing to judge by"}
    record: dict[str, Any] = {"pairs": {name: len(pairs) for name, pairs in sets.items()}}
    if len(sets) == 2:
        ours, theirs = sets.values()
        record["only in the first"] = len(np.setdiff1d(ours, theirs, assume_unique=True))
        record["only in the second"] = len(np.setdiff1d(theirs, ours, assume_unique=True))
    return next(iter(sets.values())), record


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--quick", action="store_true", help="5,000 documents of the Python installation; writes no results"
    )
    parser.add_argument("--folder", type=Path, default=package_texts.default_folder(), help="default: %(default)s")
    parser.add_argument(
        "--only", nargs="+", metavar="WORD", help="contenders whose name has one of the words; writes no results"
    )
    parser.add_argument(
        "--text-dedup",
        default=sys.executable,
        metavar="PYTHON",
        help="an interpreter that has text-dedup; this one if not given",
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: benchmarks/results/dedup_peers.json")
    given = parser.parse_args()
    given.text_dedup = os.path.abspath(
        shutil.which(given.text_dedup) or given.text_dedup
    )  # it is run in another folder
    if given.output is None and not given.quick and given.only is None:
        given.output = measure.RESULTS / "dedup_peers.json"
    return given


def main() -> None:
    """Run all, judge, and write the results."""
    given = _arguments()
    reason = None if given.quick else package_texts.missing(given.folder)
    if reason:
        print(f"skipped: {reason}")
        return
    record: dict[str, Any] = {
        "environment": measure.environment(("datasketch", "rensa", "SetSimilaritySearch", "text-dedup")),
        "min_similarity": AT_LEAST,
    }
    found: dict[str, Found] = {}
    results: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        documents_file = Path(folder) / "documents.jsonl"
        documents = write_documents(given, documents_file)
        names = list(contenders(list(METHODS), given.text_dedup))
        for name in names:
            if given.only and not any(word in name for word in given.only):
                continue
            results[name], output = contend(name, documents_file, given)
            print(f"{name}: {json.dumps(results[name])}", flush=True)
            if output is not None:
                found[name] = output
        truth, record["truth"] = truth_of(found, documents)
    for name, output in found.items():
        results[name] |= judge(output, truth, documents) if truth is not None else {}
        print(f"{name}: {json.dumps(results[name])}")
    print(f"truth: {json.dumps(record['truth'])}")
    measure.write_json(given.output, record | {"documents": documents, "results": results})


if __name__ == "__main__":
    main()
