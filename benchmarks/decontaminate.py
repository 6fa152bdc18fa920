"""How fast a corpus is searched for the items of a benchmark, and which documents are found, beside decon and corpus-assay.

The corpus is 100 MB of pieces of texts: the open sets, if there are any, and files of the Python installation. The 10,000 items are
passages of 60 to 1,200 characters: half of them taken out of documents of the corpus, half out of files that follow those in the
installation. A document is contaminated if it has all letters and digits of an item in a row: `holders` finds every such document,
also the copies of those that items were taken from, by plain Python.

Each contender is a whole process, or two, from files to files; they take turns. decon and corpus-assay run with their
documented settings, by an interpreter of Python 3.12 that has both (`requirements-decontamination.txt`).
"""

import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import measure
from commands import Run, launch
from corpora import PIECE, data_folder, missing, open_texts, pieces, python_installation

BYTES, ITEMS, ROUNDS = 100_000_000, 10_000, 3
QUICK = 4_000_000, 500, 1
SHARDS = 8
"""Files of the corpus: decon and corpus-assay divide the work by files."""
SHORTEST, LONGEST = 60, 1200
"""Characters of an item."""
SETS = {
    "en_pep_revisions_even": "English",
    "en_spdx_licenses": "English",
    "en_ocr_books": "English",
    "zh_laws_national": "Chinese",
}
SOURCE = "source text"
ANCHOR = re.compile("[ei的第]")
"""Places at which a document is asked for items; nearly every text of 60 characters has one."""
KEY = 16
DECON = """
import sys, decon
_, corpus, items, report, clean = sys.argv
places = {"cleaned_output_dir": clean, "purify": True} if clean else {}
decon.detect(decon.Config(training_dir=corpus, evals_dir=items, report_output_dir=report, **places))
"""
ASSAY = """
benchmarks:
  - name: bench
    dataset: json
    data_files: {{test: {items}/items.jsonl}}
    splits: [test]
    fields: [question]
ngram: 13
min_hits: 3
min_coverage: 0.001
"""
"""The thresholds are those that `corpus-assay init-config` writes."""
Documents = list[tuple[str, str]]
"""The kind and the text of each."""


def make_corpus(size: int, data: Path | None) -> tuple[Documents, list[str]]:
    """Documents of so many bytes, at most half of them of the open sets, and as many characters again of other texts."""
    documents: Documents = []
    for name, kind in SETS.items():
        if data is not None and missing(data, name) is None:
            found = [(kind, part) for text in open_texts(data, name).array.to_pylist() for part in pieces(text, PIECE)]
            documents += found if size == BYTES else found[:100]
    left = size - sum(len(text.encode()) for _, text in documents)
    others = python_installation(2 * left).array.to_pylist()
    taken = 0
    while left > 0 and taken < len(others):
        documents.append((SOURCE, others[taken]))
        left -= len(others[taken].encode())
        taken += 1
    random.Random(1).shuffle(documents)
    return documents, others[taken:]


def make_items(documents: Documents, others: Sequence[str], count: int) -> list[str]:
    """Passages by chance: half of documents, half of the other texts."""
    choose, items = random.Random(2), list[str]()
    while len(items) < count:
        text = choose.choice(documents)[1] if len(items) % 2 else choose.choice(others)
        length = round(SHORTEST * (LONGEST / SHORTEST) ** choose.random())
        first = choose.randrange(max(1, len(text) - length))
        passage = text[first : first + length]
        if not any("\u3400" <= letter <= "\u9fff" for letter in passage):  # whole words
            passage = passage[passage.find(" ") + 1 : passage.rfind(" ")]
        item = passage.strip()
        if _key(letters_of(item)) is not None and len(letters_of(item)) >= SHORTEST // 2:
            items.append(item)
    return items


def letters_of(text: str) -> str:
    """Letters and digits in a row, without regard to case and width."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


def _key(letters: str) -> str | None:
    place = ANCHOR.search(letters)
    key = letters[place.start() : place.start() + KEY] if place else ""
    return key if len(key) == KEY else None


def holders(documents: Documents, items: Sequence[str]) -> dict[int, int]:
    """The rows of documents that hold an item whole, each with the letters of the longest one."""
    by_key: dict[str, list[str]] = {}
    for letters in map(letters_of, items):
        if (key := _key(letters)) is not None:
            by_key.setdefault(key, []).append(letters)
    found: dict[int, int] = {}
    for row, (_, text) in enumerate(documents):
        letters = letters_of(text)
        keys = {letters[place.start() : place.start() + KEY] for place in ANCHOR.finditer(letters)} & by_key.keys()
        held = [len(item) for key in keys for item in by_key[key] if item in letters]
        if held:
            found[row] = max(held)
    return found


def write_inputs(folder: Path, documents: Documents, items: Sequence[str]) -> None:
    """`corpus/` with shards of JSON lines, `items/` with a file that all contenders read."""
    for name in ("corpus", "items"):
        (folder / name).mkdir()
    each = -(-len(documents) // SHARDS)
    for shard in range(SHARDS):
        with (folder / "corpus" / f"{shard}.jsonl").open("w", encoding="utf-8") as lines:
            for row in range(shard * each, min(len(documents), (shard + 1) * each)):
                lines.write(json.dumps({"id": str(row), "text": documents[row][1]}, ensure_ascii=False) + "\n")
    with (folder / "items" / "items.jsonl").open("w", encoding="utf-8") as lines:
        for number, item in enumerate(items):
            record = {"doc_id": number, "eval_key": "bench", "question": item}
            lines.write(json.dumps(record, ensure_ascii=False) + "\n")


def commands(folder: Path, python: str | None) -> dict[str, list[list[str]]]:
    """The processes of each contender; each writes into `folder/out`."""
    corpus, items, out = (str(folder / name) for name in ("corpus", "items", "out"))
    against = ["--against", f"{items}/items.jsonl", "--against-text", "question", "--against-id", "doc_id", "--quiet"]
    ours = [sys.executable, "-m", "neardup", "decontaminate", corpus, *against, "-o"]
    found = {"neardup": [[*ours, f"{out}/clean.jsonl"]], "neardup, gzip": [[*ours, f"{out}/clean.jsonl.gz"]]}
    if python is None:
        return found
    decon = [python, "-c", DECON, corpus, items, f"{out}/report"]
    config = folder / "assay.yaml"
    config.write_text(ASSAY.format(items=items), encoding="utf-8")
    assay = [str(Path(python).with_name("corpus-assay"))]
    build = [*assay, "build-index", "--config", str(config), "--out-index", f"{out}/bench.native", "--allow-unpinned"]
    scan = [*assay, "scan", "--config", str(config), "--index", f"{out}/bench.native", "--input", corpus]
    scan += ["--id-key", "id", "--max-return-records", "1000000", "--out-dir", f"{out}/scan"]
    return found | {
        "decon, gzip": [[*decon, f"{out}/clean"]],
        "decon, report only": [[*decon, ""]],
        "corpus-assay, report only": [build, scan],
    }


def rows_found(name: str, folder: Path, documents: int) -> set[int]:
    """The rows that the contender reports, of the files that it wrote."""
    out, each = folder / "out", -(-documents // SHARDS)
    if name.startswith("neardup"):
        return {int(line["id"]) for line in _lines(out, "clean.contaminated.jsonl")}
    if name.startswith("decon"):
        found = _lines(out / "report", "*.jsonl")
        return {int(line["training_file"].split(".")[0]) * each + line["training_line"] for line in found}
    return {int(line["doc_id"].split("-")[0]) for line in _lines(out / "scan" / "contaminated_docs", "*.ndjson")}


def _lines(folder: Path, pattern: str) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob(pattern)):
        yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


def take_turns(folder: Path, python: str | None, documents: int) -> dict[str, tuple[Run, set[int]]]:
    """One round: what each contender took, and the rows that it found."""
    taken: dict[str, tuple[Run, set[int]]] = {}
    places = {"HF_HOME": str(folder / "hub"), "HF_HUB_OFFLINE": "1"}
    for name, processes in commands(folder, python).items():
        for left in ("out", "hub"):
            shutil.rmtree(folder / left, ignore_errors=True)
        (folder / "out").mkdir()
        runs = [launch(command, **places) for command in processes]
        both = Run(
            sum(run.seconds for run in runs),
            sum(run.processor_seconds for run in runs),
            max(run.peak_memory_bytes for run in runs),
            "",
        )
        taken[name] = both, rows_found(name, folder, documents)
        print(name, both, flush=True)
    return taken


def as_record(
    runs: Sequence[Run], found: set[int], true: dict[int, int], documents: Documents, size: int
) -> dict[str, Any]:
    """Medians and ranges of the runs; of the true documents, the found ones by kind and by the letters of the longest item."""
    kinds = sorted({kind for kind, _ in documents})
    lengths = {"under 100": (0, 100), "100 to 299": (100, 300), "300 and more": (300, 10**9)}
    record: dict[str, Any] = {"rounds": len(runs)}
    for name in ("seconds", "processor_seconds"):
        values = [getattr(run, name) for run in runs]
        record[name] = measure.rounded(statistics.median(values))
        record[f"{name}_range"] = [measure.rounded(end(values)) for end in (min, max)]
    return record | {
        "MB_per_processor_second": measure.rounded(size / 1e6 / record["processor_seconds"]),
        "peak_memory_mb": round(max(run.peak_memory_bytes for run in runs) / 1e6),
        "flagged": len(found),
        "true": len(true),
        "found": len(found & true.keys()),
        "found_by_kind": {
            kind: [sum(row in found for row in rows), len(rows)]
            for kind in kinds
            if (rows := [row for row in true if documents[row][0] == kind])
        },
        "found_by_letters": {
            name: [sum(row in found for row in rows), len(rows)]
            for name, (least, most) in lengths.items()
            if (rows := [row for row, letters in true.items() if least <= letters < most])
        },
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="4 MB, 500 items, one round; writes no results")
    parser.add_argument("--data", metavar="FOLDER", help="the folder of the open sets (default: NEARDUP_DATA)")
    parser.add_argument(
        "--decontamination",
        metavar="PYTHON",
        help="an interpreter that has decon and corpus-assay; without it, neardup alone",
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the inputs and the rows that each found here")
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: benchmarks/results/decontaminate.json")
    given = parser.parse_args()
    if given.output is None and not given.quick:
        given.output = measure.RESULTS / "decontaminate.json"
    return given


def peer_versions(python: str) -> dict[str, str]:
    """The versions of both peers, and of the Python that runs them."""
    code = (
        "import importlib.metadata as m, json, platform; print(json.dumps({'decontaminate': m.version('decontaminate'), "
        "'corpus-assay': m.version('corpus-assay'), 'python of the peers': platform.python_version()}))"
    )
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    found: dict[str, str] = json.loads(done.stdout)
    return found


def main() -> None:
    """Measure all, and write the results."""
    given = _arguments()
    size, count, rounds = QUICK if given.quick else (BYTES, ITEMS, ROUNDS)
    python = given.decontamination and os.path.abspath(shutil.which(given.decontamination) or given.decontamination)
    record: dict[str, Any] = {"environment": measure.environment()}
    record["environment"]["versions"] |= peer_versions(python) if python else {}
    documents, others = make_corpus(size, data_folder(given.data))
    items = make_items(documents, others, count)
    true = holders(documents, items)
    with tempfile.TemporaryDirectory() as name:
        folder = given.keep or Path(name)
        write_inputs(folder, documents, items)
        total = sum(len(text.encode()) for _, text in documents)
        record |= {"documents": len(documents), "bytes": total, "items": len(items), "results": {}}
        runs: dict[str, list[Run]] = {}
        for _ in range(rounds):
            taken = take_turns(folder, python, len(documents))
            for name, (run, found) in taken.items():
                runs.setdefault(name, []).append(run)
                record["results"][name] = as_record(runs[name], found, true, documents, total)
            measure.write_json(given.output, record)
        if given.keep:
            rows = {"true": sorted(true)} | {name: sorted(found) for name, (_, found) in taken.items()}
            measure.write_json(folder / "rows.json", rows)
    for name, of in record["results"].items():
        print(f"{name}: {json.dumps(of)}")


if __name__ == "__main__":
    main()
