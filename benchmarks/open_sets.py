"""Quality on the open sets: which reference pairs each de-duplication tool finds, which others it lists, and how long it takes.

    python benchmarks/open_sets.py [--quick] [--data FOLDER] [--output FILE]

The reference is nobody's own: every pair of set Jaccard 0.5 and more, of character 5-grams (Chinese) or 3-grams of words, computed
outside this project (see `corpora.py`). True are those of 0.8 and more. Everyone defines tokens in a way of his own, so a pair at
0.79 may be right by his definition: beside the precision at 0.8 stands the share of the listed pairs that have 0.7, and 0.5.

The contenders are those of `dedup_peers.py`, with the same limits: three runs each, each in a process of its own. In Chinese
datasketch and rensa, which leave the tokens to the caller, get runs of five characters, which is the reference's definition; so
does text-dedup's MinHash, by a space around each ideograph, as it splits at what is no letter; datatrove segments by jieba.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import measure
from contender import AT_LEAST, Array, Interpreters
from contests import Contest, add_interpreters, contend, interpreters, versions
from corpora import OPEN_SETS, ReferenceSet, data_folder, missing, reference_set
from judging import judge
from neardup.recipe.tables.methods import METHODS
from peer_contenders import contenders

LIMIT, QUICK_LIMIT = 600, 90
"""Seconds of a run."""
ROUNDS = 3
QUICK_DOCUMENTS = 300
NEARLY = (0.7, 0.5)
LEFT_OUT = ("survivors", "shingles alone")
QUICK_LEFT_OUT = (*LEFT_OUT, "auto", "shingles of 3")


def contending(of: Interpreters, quick: bool) -> list[str]:
    """Names of those that are asked here: not how a pass divides, nor the flow that ends as the pairs do."""
    left_out = QUICK_LEFT_OUT if quick else LEFT_OUT
    return [name for name in contenders(list(METHODS), of) if not any(word in name for word in left_out)]


def language_of(name: str) -> str:
    """By which the peers' tokens are chosen."""
    return "chinese" if name.startswith("zh_") else "english"


def at(references: ReferenceSet, jaccard: float, documents: int) -> Array:
    """The reference pairs from that on, coded as `judging.coded` does."""
    chosen = (references.jaccard >= jaccard) & (references.right < documents)
    return np.unique(references.left[chosen] * documents + references.right[chosen])


def quality(found: dict[str, Array], references: ReferenceSet, documents: int) -> dict[str, Any]:
    """As `judge` has it, and how many of the listed pairs are at least nearly true."""
    record = judge(found, at(references, AT_LEAST, documents), documents)
    if "pairs" in record:
        wider = (judge(found, at(references, jaccard, documents), documents)["pairs"] for jaccard in NEARLY)
        record["pairs"] |= {
            f"share of {jaccard:g}": each["precision"] for jaccard, each in zip(NEARLY, wider, strict=True)
        }
    return record


def measured(references: ReferenceSet, given: argparse.Namespace, names: list[str]) -> dict[str, Any]:
    """All contenders on one set."""
    texts = references.texts.array.to_pylist()[: QUICK_DOCUMENTS if given.quick else None]
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "documents.jsonl"
        file.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
        contest = Contest(
            file,
            language_of(references.texts.name),
            QUICK_LIMIT if given.quick else LIMIT,
            1 if given.quick else ROUNDS,
            interpreters(given),
        )
        for name, (took, found) in contend(names, contest).items():
            results[name] = took
            if found is not None:
                results[name] |= quality(found, references, len(texts))
            print(f"{references.texts.name}, {name}: {json.dumps(results[name])}", flush=True)
    pairs = {f"{jaccard:g}": len(at(references, jaccard, len(texts))) for jaccard in (AT_LEAST, *NEARLY)}
    return {"texts": references.texts.as_record(), "asked": len(texts), "reference_pairs": pairs, "results": results}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="the first 300 documents of each, one run of fewer contenders; writes no results",
    )
    parser.add_argument("--data", metavar="FOLDER", help="the folder of the open sets (default: NEARDUP_DATA)")
    parser.add_argument(
        "--only", nargs="+", metavar="WORD", help="contenders whose name has one of the words; writes no results"
    )
    add_interpreters(parser)
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: benchmarks/results/open_sets.json")
    given = parser.parse_args()
    if given.output is None and not given.quick and given.only is None:
        given.output = measure.RESULTS / "open_sets.json"
    return given


def main() -> None:
    """Measure, print, write the results."""
    given = _arguments()
    data = data_folder(given.data)
    of = interpreters(given)
    names = [name for name in contending(of, given.quick) if not given.only or any(word in name for word in given.only)]
    record: dict[str, Any] = {
        "environment": measure.environment(("datasketch", "rensa", "SetSimilaritySearch", "semhash")),
        "min_similarity": AT_LEAST,
        "sets": {},
        "skipped": [reason for name in OPEN_SETS if (reason := missing(data, name))],
    }
    record["environment"]["versions"] |= versions(of)
    for name in OPEN_SETS:
        if data is not None and missing(data, name) is None:
            record["sets"][name] = measured(reference_set(data, name), given, names)
    for reason in record["skipped"]:
        print(f"skipped: {reason}")
    measure.write_json(given.output if record["sets"] else None, record)


if __name__ == "__main__":
    main()
