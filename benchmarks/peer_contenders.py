"""What `dedup_peers.py` compares, each in a process of its own: texts in memory to pairs, clusters or flags.

    python benchmarks/peer_contenders.py NAME DOCUMENTS.jsonl FOUND.npz [--text-dedup PYTHON]

Every contender is a function of the list of texts; reading them and importing packages is not timed. MinHash peers get the set of a
text's shingles of three words in small letters (the whole text if it has fewer), 128 permutations, the threshold 0.8.
"""

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from commands import LAUNCHER

Array = np.ndarray[Any, np.dtype[Any]]
Found = dict[str, Array]
"""Pairs of rows as `left` and `right`, or a label for each row as `cluster`, or a flag for each row as `removed` or `touched`.

Also `candidates` where they are counted, and `seconds` and `peak` where they are those of another process."""

AT_LEAST = 0.8
PERMUTATIONS = 128
SEED = 42
WORD = re.compile(r"\w+")


def word_shingles(text: str) -> set[str]:
    """The distinct runs of three words."""
    words = WORD.findall(text.lower())
    return {" ".join(words[i : i + 3]) for i in range(max(1, len(words) - 2))}


def _pairs(pairs: list[tuple[int, int]]) -> tuple[Array, Array]:
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    return ends.min(axis=1), ends.max(axis=1)


def _estimated_alike(pairs: list[tuple[int, int]], signatures: Array) -> Found:
    """The candidates whose signatures agree in at least that share of values."""
    left, right = _pairs(pairs)
    alike = np.zeros(len(left), bool)
    for first in range(0, len(left), 1 << 16):
        part = slice(first, first + (1 << 16))
        alike[part] = (signatures[left[part]] == signatures[right[part]]).mean(axis=1) >= AT_LEAST
    return {"left": left[alike], "right": right[alike], "candidates": np.array(len(left))}


def shingles_alone() -> Callable[[list[str]], Found]:
    """What the MinHash peers' times have in common."""

    def work(texts: list[str]) -> Found:
        for text in texts:
            word_shingles(text)
        return {}

    return work


def datasketch_lsh() -> Callable[[list[str]], Found]:
    """MinHash.bulk, MinHashLSH with an insertion session, and the estimated similarity of what it returns."""
    from datasketch import MinHash, MinHashLSH

    def work(texts: list[str]) -> Found:
        tokens = ([shingle.encode() for shingle in word_shingles(text)] for text in texts)
        signatures = MinHash.bulk(tokens, num_perm=PERMUTATIONS)
        index = MinHashLSH(threshold=AT_LEAST, num_perm=PERMUTATIONS)
        with index.insertion_session() as session:
            for row, signature in enumerate(signatures):
                session.insert(row, signature)
        pairs = [
            (other, row) for row, signature in enumerate(signatures) for other in index.query(signature) if other < row
        ]
        return _estimated_alike(pairs, np.stack([signature.hashvalues for signature in signatures]))

    return work


def rensa_lsh() -> Callable[[list[str]], Found]:
    """RMinHash and RMinHashLSH with 16 bands, and the estimated similarity of what it returns."""
    from rensa import RMinHash, RMinHashLSH

    def work(texts: list[str]) -> Found:
        signatures = RMinHash.from_token_sets(map(word_shingles, texts), PERMUTATIONS, SEED)
        index = RMinHashLSH(AT_LEAST, PERMUTATIONS, 16)
        index.insert_many(signatures)
        pairs = [
            (other, row) for row, found in enumerate(index.query_all(signatures)) for other in found if other < row
        ]
        return _estimated_alike(pairs, np.array([signature.digest() for signature in signatures], np.uint32))

    return work


def rensa_deduplicator() -> Callable[[list[str]], Found]:
    """RMinHashDeduplicator with LSH, as its documentation keeps unique documents: a flag for each text, no pairs."""
    from rensa import RMinHashDeduplicator

    def work(texts: list[str]) -> Found:
        index = RMinHashDeduplicator(threshold=AT_LEAST, num_perm=PERMUTATIONS, use_lsh=True, seed=SEED)
        kept = index.add_pairs((str(row), word_shingles(text)) for row, text in enumerate(texts))
        return {"removed": ~np.array(kept, bool)}

    return work


def rensa_rho() -> Callable[[list[str]], Found]:
    """The sampling sketch of rensa's own benchmark, 8 bands: which texts share a band with another one, no pairs."""
    from rensa import RMinHash, RMinHashLSH

    def work(texts: list[str]) -> Found:
        matrix = RMinHash.digest_matrix_from_token_sets_rho(map(word_shingles, texts), PERMUTATIONS, SEED)
        index = RMinHashLSH(AT_LEAST, PERMUTATIONS, 8)
        return {"touched": np.array(index.query_duplicate_flags_matrix_one_shot(matrix), bool)}

    return work


def set_similarity_search() -> Callable[[list[str]], Found]:
    """all_pairs (exact) over neardup's own shingle sets; texts without a shingle are left out, which it cannot take."""
    import pyarrow as pa
    from SetSimilaritySearch import all_pairs

    from neardup.similarities import shingle_sets_of

    def work(texts: list[str]) -> Found:
        values, offsets = shingle_sets_of(pa.array(texts, pa.large_string()))
        rows = np.flatnonzero(np.diff(offsets))
        sets = [values[offsets[row] : offsets[row + 1]].tolist() for row in rows]
        found = [(a, b) for a, b, _ in all_pairs(sets, similarity_func_name="jaccard", similarity_threshold=AT_LEAST)]
        left, right = _pairs(found)
        left, right = rows[left], rows[right]
        return {"left": left, "right": right}

    return work


def neardup_pairs(method: str) -> Callable[[], Callable[[list[str]], Found]]:
    """`neardup.match`: every pair, with its true similarity."""

    def prepare() -> Callable[[list[str]], Found]:
        import neardup

        neardup.match(["to be or not to be, that is the question"] * 2, method=method)  # compiles

        def work(texts: list[str]) -> Found:
            found = neardup.match(texts, method=method, min_similarity=AT_LEAST)
            return {"left": found.left, "right": found.right}

        return work

    return prepare


def neardup_survivors(method: str) -> Callable[[], Callable[[list[str]], Found]]:
    """`neardup.deduplicate`: which texts survive."""

    def prepare() -> Callable[[list[str]], Found]:
        import neardup

        neardup.deduplicate(["to be or not to be, that is the question"] * 2, method=method)  # compiles

        def work(texts: list[str]) -> Found:
            result = neardup.deduplicate(texts, method=method, min_similarity=AT_LEAST)
            removed = np.zeros(len(texts), bool)
            removed[result.duplicates["row"].to_numpy()] = True
            return {"removed": removed}

        return work

    return prepare


TEXT_DEDUP = {
    "minhash": ("--ngram", "3", "--num_perm", str(PERMUTATIONS), "--threshold", str(AT_LEAST), "--hash_func", "xxh3"),
    "simhash": (),
}
"""The options of text-dedup's commands; SimHash's are its defaults: runs of 3 characters, 64 bits, distance 3."""
MAKE_DATASET = """
import sys, datasets
_, source, cache, output = sys.argv
datasets.load_dataset("json", data_files=source, split="train", cache_dir=cache).select_columns("text").save_to_disk(output)
"""
LIST_CLUSTERS = """
import json, pickle, sys
forest = pickle.load(open(sys.argv[1], "rb"))
print(json.dumps([[row, forest.find(row)] for row in list(forest.parent)]))
"""


def text_dedup(command: str, python: str) -> Callable[[], Callable[[list[str]], Found]]:
    """text-dedup's command line from a data set on the disk to its union-find, with as many processes as it takes by itself."""

    def prepare() -> Callable[[list[str]], Found]:
        folder = tempfile.TemporaryDirectory()
        source, cache, data, output = (Path(folder.name) / name for name in ("in.jsonl", "cache", "data", "out"))

        def work(texts: list[str]) -> Found:
            source.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
            subprocess.run([python, "-c", MAKE_DATASET, str(source), str(cache), str(data)], check=True)
            places = ["--local", "--path", str(data), "--output", str(output), "--column", "text", "--debug"]
            command_line = [python, "-m", f"text_dedup.{command}", *places, *TEXT_DEDUP[command]]
            done = subprocess.run(
                [sys.executable, "-S", "-c", LAUNCHER, *command_line],
                check=True,
                cwd=folder.name,
                stdout=subprocess.PIPE,
            )
            code, seconds, _, peak, _ = json.loads(done.stdout)
            if code:
                raise RuntimeError(f"{' '.join(command_line)} failed with {code}")
            listed = subprocess.run(
                [python, "-c", LIST_CLUSTERS, str(output / "uf.pkl")], check=True, stdout=subprocess.PIPE
            )
            cluster = np.arange(len(texts))
            for row, root in json.loads(listed.stdout):
                cluster[row] = root
            folder.cleanup()
            return {"cluster": cluster, "seconds": np.array(seconds), "peak": np.array(peak)}

        return work

    return prepare


def contenders(methods: list[str], python: str) -> dict[str, Callable[[], Callable[[list[str]], Found]]]:
    """All of them by name: what prepares each."""
    ours = {f"neardup {method}, pairs": neardup_pairs(method) for method in methods}
    ours |= {f"neardup {method}, survivors": neardup_survivors(method) for method in methods}
    return ours | {
        "SetSimilaritySearch all_pairs": set_similarity_search,
        "word shingles alone": shingles_alone,
        "datasketch MinHashLSH": datasketch_lsh,
        "rensa RMinHashLSH": rensa_lsh,
        "rensa RMinHashDeduplicator": rensa_deduplicator,
        "rensa rho": rensa_rho,
        "text-dedup minhash": text_dedup("minhash", python),
        "text-dedup simhash": text_dedup("simhash", python),
    }


def _bytes(peak: int) -> int:
    """What the system counts in kilobytes, but macOS in bytes."""
    return int(peak) * (1 if sys.platform == "darwin" else 1024)


def measured(work: Callable[[list[str]], Found], texts: list[str]) -> tuple[dict[str, Any], Found]:
    """What the work took, and what it found."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    found = work(texts)
    seconds = time.perf_counter() - began
    own = "peak" in found
    peak = int(found.pop("peak")) if own else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    record = {
        "seconds": float(found.pop("seconds", seconds)),
        "peak_memory_bytes": _bytes(peak),
        "peak_memory_before_bytes": 0 if own else _bytes(before),
        "candidates": int(found.pop("candidates")) if "candidates" in found else None,
    }
    return record, found


def main() -> None:
    """Run one contender; its times and memory go to standard output as JSON, what it found to the file."""
    from neardup.options import METHODS

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("documents", type=Path)
    parser.add_argument("found", type=Path)
    parser.add_argument("--text-dedup", default=sys.executable, metavar="PYTHON")
    given = parser.parse_args()
    work = contenders(list(METHODS), given.text_dedup)[given.name]()
    with given.documents.open(encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    try:
        record, found = measured(work, texts)
    except Exception as problem:  # a peer's failure is a result
        print(json.dumps({"failed": f"{type(problem).__name__}: {problem}"}))
        return
    np.savez(given.found, **found)
    print(json.dumps(record))


if __name__ == "__main__":
    main()
