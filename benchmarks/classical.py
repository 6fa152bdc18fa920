"""The classical recipe from file to file: how fast, and what do fifty million texts take?

    python benchmarks/classical.py [--quick] [--data FOLDER] [--scratch FOLDER] [--documents N] [--output FILE]

The recipe is the one of most Chinese write-ups of SimHash: jieba's words, stop words, TF-IDF by jieba's table, the 22 heaviest
words, FNV-1a, 64 bits, and a distance of 3 that decides alone. Each run is a process of its own, on all processors.

- `dedup` and `filter` of the laws with planted copies (`east_asian.py`), of texts of a kilobyte (`short_and_chinese.py`), and of
  texts of one sentence or two, in JSON lines. Medians of several rounds, in turns.
- `dedup` of N texts of one sentence or two (50 million), in Parquet, once: seconds, memory, and temporary files. Sentences are
  drawn by chance from all of the laws, so most texts of one sentence come several times. Every tenth text is one before it with a
  few characters appended.
"""

import argparse
import json
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import measure
import short_and_chinese as made
from chinese_corpus import write_corpus
from commands import Run, run
from corpora import Texts, data_folder, missing, open_texts
from east_asian import LAWS, laws_with_copies

RECIPE = """\
segmenter = "jieba"
stop_words = ["zh"]
weights = "tfidf"
document_frequencies = "jieba"
keywords = 22
hash = "fnv1a_64"
bits = 64
min_tokens = 1
word_shingle = 1
max_distance = 3
"""
DECIDED = ("--method", "simhash", "--min-similarity", "0", "--json")
ROUNDS, DOCUMENTS, QUICK_DOCUMENTS = 5, 50_000_000, 200_000
FILE_ROWS = 500_000
COPIED = 10
"""One text in so many is a copy."""
BEHIND = ("特此通知", "现予公布", "请遵照执行", "以下从略")
"""What is appended to a copy."""
COMMANDS = ("dedup", "filter")


def sentences(folder: Path) -> Any:
    """All different sentences of the laws, of eight characters and more: an Arrow array."""
    found = dict.fromkeys(
        sentence
        for text in open_texts(folder, LAWS).array.to_pylist()
        for sentence in made.SENTENCE.findall(text)
        if len(sentence) >= 8
    )
    return pa.array(found, pa.large_string())


def lines(known: Any, count: int, seed: int = 0) -> Iterator[pa.Table]:
    """So many texts of one or two sentences, so many of a file at a time."""
    chance = np.random.default_rng(seed)
    for first in range(0, count, FILE_ROWS):
        rows = min(FILE_ROWS, count - first)
        one, two = chance.integers(0, len(known), (2, rows))
        alone = chance.random(rows) < 0.5
        copies = np.arange(COPIED - 1, rows, COPIED)
        of = copies - chance.integers(1, COPIED, len(copies))
        one[copies], two[copies], alone[copies] = one[of], two[of], alone[of]
        behind = np.full(rows, "", object)
        behind[copies] = chance.choice(np.array(BEHIND, object), len(copies))
        second = pc.if_else(pa.array(alone), "", known.take(pa.array(two)).cast(pa.string()))
        texts = pc.binary_join_element_wise(
            known.take(pa.array(one)).cast(pa.string()), second, pa.array(behind, pa.string()), ""
        )
        yield pa.table({"id": np.arange(first, first + rows), "text": texts})


def cost(done: Run, size: int) -> dict[str, Any]:
    """What a run took."""
    return {
        "seconds": measure.rounded(done.seconds),
        "processor_seconds": measure.rounded(done.processor_seconds),
        "megabytes_a_second": measure.rounded(size / 1e6 / done.seconds),
        "peak_memory_bytes": done.peak_memory_bytes,
    }


def told(done: Run) -> dict[str, Any]:
    """What the summary of `dedup` says."""
    summary = json.loads(done.output)
    found = {name: summary[name] for name in ("survivors", "peak_temporary_bytes")}
    return found | {"stages": summary["seconds"]}


def by_command(name: str, source: Path, size: int) -> dict[str, Any]:
    """One run of a command; `filter` makes a new index."""
    folder = source.parent
    options = ("-o", folder / f"{name}.jsonl", "--recipe", folder / "classical.toml", "--overwrite", "--quiet")
    if name == "dedup":
        done = run(name, source, *options, *DECIDED)
        return cost(done, size) | told(done)
    with tempfile.TemporaryDirectory(dir=folder) as new:
        done = run(name, source, *options, "--create", "--index", Path(new) / "index")
    with (folder / f"{name}.jsonl").open("rb") as lines:
        return cost(done, size) | {"survivors": sum(1 for _ in lines)}


def in_turns(texts: Texts, rounds: int, folder: Path) -> dict[str, Any]:
    """The figures of `dedup` and `filter` of one corpus."""
    source = folder / "in.jsonl"
    write_corpus(source, texts)
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in COMMANDS}
    for number in range(rounds + 1):
        for name in COMMANDS:
            done = by_command(name, source, texts.bytes)
            if number:  # the first round warms up
                runs[name].append(done)
    found: dict[str, Any] = {"name": texts.name, "documents": len(texts), "bytes": texts.bytes, "rounds": rounds}
    for name, some in runs.items():
        middle = statistics.median_low(each["seconds"] for each in some)
        found[name] = next(each for each in some if each["seconds"] == middle)
    return found


def at_scale(folder: Path, known: Any, count: int) -> dict[str, Any]:
    """`dedup` of very many texts, once."""
    source, size = folder / "lines", 0
    source.mkdir()
    for number, table in enumerate(lines(known, count)):
        size += pc.sum(pc.binary_length(table["text"])).as_py()
        pq.write_table(table, source / f"{number:04d}.parquet", compression="zstd", row_group_size=1 << 16)
    done = run(
        "dedup", source, "-o", f"{folder / 'unique'}/", "--recipe", folder / "classical.toml", "--quiet", *DECIDED
    )
    return {"documents": count, "bytes": size} | cost(done, size) | told(done)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="less than a minute, on less data; writes no results")
    parser.add_argument("--data", metavar="FOLDER", help="the folder of the open sets (default: NEARDUP_DATA)")
    parser.add_argument("--scratch", metavar="FOLDER", help="where the texts are written: 10 GB for 50 million")
    parser.add_argument("--documents", type=int, metavar="N", help="how many texts of a sentence or two; 0: none")
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: benchmarks/results/classical.json")
    given = parser.parse_args()
    if given.output is None and not given.quick:
        given.output = measure.RESULTS / "classical.json"
    if given.documents is None:
        given.documents = QUICK_DOCUMENTS if given.quick else DOCUMENTS
    return given


def main() -> None:
    """Measure all and write the results."""
    given = arguments()
    folder = data_folder(given.data)
    problem = missing(folder, LAWS)
    if problem or folder is None:
        print(f"skipped: {problem}")
        return
    known = sentences(folder)
    few = next(lines(known, QUICK_DOCUMENTS if given.quick else FILE_ROWS))
    corpora = {
        "laws": laws_with_copies(folder),
        "kilobytes": made.chinese(folder, 10_000 if given.quick else 200_000),
        "sentences": Texts("one sentence or two of the laws", few["text"].combine_chunks().cast(pa.large_string())),
    }
    if given.quick:
        del corpora["laws"]
    record: dict[str, Any] = {"environment": measure.environment(), "recipe": RECIPE}
    for name, texts in corpora.items():
        with tempfile.TemporaryDirectory(dir=given.scratch) as temporary:
            (Path(temporary) / "classical.toml").write_text(RECIPE, encoding="utf-8")
            record[name] = in_turns(texts, 1 if given.quick else ROUNDS, Path(temporary))
        print(f"{name}: {json.dumps(record[name], ensure_ascii=False)}", flush=True)
    if given.documents:
        with tempfile.TemporaryDirectory(dir=given.scratch) as temporary:
            (Path(temporary) / "classical.toml").write_text(RECIPE, encoding="utf-8")
            record["at scale"] = at_scale(Path(temporary), known, given.documents)
        print(f"at scale: {json.dumps(record['at scale'])}")
    if given.output is not None:
        measure.write_json(given.output, record)


if __name__ == "__main__":
    main()
