"""De-duplicating the same documents by neardup's methods and by its peers: time, memory, recall, precision.

Each contender is a whole process (`peer_contenders.py`; text-dedup and datatrove: their own) with a time limit. Its time is
from the start of its interpreter to its end: imports, reading a file of texts, the work, writing pairs, clusters or flags.
Processor seconds are of all its processes, its memory is that of the largest one. neardup and rensa use all processors,
text-dedup and datatrove as many processes, datasketch and SetSimilaritySearch one. All take turns, three rounds: the median,
and the least and greatest.

The documents are pieces of text files of the Python installation, and near-copies of one in nineteen.

The truth is every pair of documents whose similarity as `neardup.similarity` has it is 0.8 or more: what the exact methods find,
compared with one another. What a contender's output allows is judged (`judging.py`).

The peers' shingles are the words' of their own tokenizer, so a pair next to 0.8 may lie on the other side for them.
"""

import argparse
import json
import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import measure
from contender import AT_LEAST, Array, Found
from contests import Contest, add_interpreters, contend, interpreters, versions
from corpora import PIECE, python_installation
from judging import coded, judge
from neardup.recipe.tables.methods import METHODS
from peer_contenders import contenders
from planted import near_copies

DOCUMENTS, QUICK_DOCUMENTS = 100_000, 1_000
LIMIT, QUICK_LIMIT = 1200, 60
"""Seconds of a run."""
ROUNDS = 3
EXACT = ("neardup exact, pairs", "SetSimilaritySearch all_pairs")
"""Either has every pair."""


def write_documents(count: int, path: Path) -> int:
    """Write JSON lines: texts of the Python installation with near-copies."""
    originals = count * 19 // 20
    texts = python_installation(2 * PIECE * originals).array.to_pylist()[:originals]
    documents = [(f"installed/{row}", text) for row, text in enumerate(texts)]
    documents += [(copy.id, copy.text) for copy in near_copies(documents, 1 / 19, random.Random(0))]
    random.Random(1).shuffle(documents)
    with path.open("w", encoding="utf-8") as lines:
        for name, text in documents:
            lines.write(json.dumps({"id": name, "text": text}, ensure_ascii=False) + "\n")
    return len(documents)


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
    parser.add_argument("--quick", action="store_true", help="1,000 documents, one round; writes no results")
    parser.add_argument("--documents", type=int, default=DOCUMENTS, metavar="N", help="default: %(default)s")
    parser.add_argument(
        "--only", nargs="+", metavar="WORD", help="contenders whose name has one of the words; writes no results"
    )
    add_interpreters(parser)
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: benchmarks/results/dedup_peers.json")
    given = parser.parse_args()
    if given.output is None and not given.quick and given.only is None:
        given.output = measure.RESULTS / "dedup_peers.json"
    return given


def main() -> None:
    """Run all, judge, and write the results."""
    given = _arguments()
    record: dict[str, Any] = {
        "environment": measure.environment(("datasketch", "rensa", "SetSimilaritySearch", "semhash")),
        "min_similarity": AT_LEAST,
    }
    found: dict[str, Found] = {}
    results: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        documents_file = Path(folder) / "documents.jsonl"
        documents = write_documents(QUICK_DOCUMENTS if given.quick else given.documents, documents_file)
        contest = Contest(
            documents_file,
            "english",
            QUICK_LIMIT if given.quick else LIMIT,
            1 if given.quick else ROUNDS,
            interpreters(given),
        )
        record["environment"]["versions"] |= versions(contest.interpreters)
        names = [
            name
            for name in contenders(list(METHODS), contest.interpreters)
            if not given.only or any(word in name for word in given.only)
        ]
        for name, (results[name], output) in contend(names, contest).items():
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
