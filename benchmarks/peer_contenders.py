"""What `dedup_peers.py` compares, each as a whole process: from a file of texts to a file of pairs, clusters or flags.

    python benchmarks/peer_contenders.py NAME DOCUMENTS.jsonl FOUND.npz [--language chinese] [--text-dedup PYTHON] …

Every contender is a function of the list of texts; who starts the process measures all of it, imports and files too. MinHash peers
get the set of a
text's shingles in small letters, 128 permutations, the threshold 0.8. Shingles are of three words, or, in Chinese, of five
characters without spaces and punctuation, as datasketch and rensa leave them to the caller; the whole text if it has fewer.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from contender import (
    AT_LEAST,
    CHARACTERS,
    LANGUAGES,
    MEASURED,
    PERMUTATIONS,
    SEED,
    Array,
    Found,
    Interpreters,
    UnavailableError,
)
from external_peers import datatrove, semhash, text_dedup

WORD = re.compile(r"\w+")
Shingles = Callable[[str], set[str]]


def word_shingles(text: str) -> set[str]:
    """The distinct runs of three words."""
    words = WORD.findall(text.lower())
    return {" ".join(words[i : i + 3]) for i in range(max(1, len(words) - 2))}


def character_shingles(text: str) -> set[str]:
    """The distinct runs of five characters of the words."""
    letters = "".join(WORD.findall(text.lower()))
    return {letters[i : i + CHARACTERS] for i in range(max(1, len(letters) - CHARACTERS + 1))}


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


def shingles_alone(shingles: Shingles) -> Callable[[list[str]], Found]:
    """What the MinHash peers' times have in common."""

    def work(texts: list[str]) -> Found:
        for text in texts:
            shingles(text)
        return {}

    return work


def datasketch_lsh(shingles: Shingles) -> Callable[[list[str]], Found]:
    """MinHash.bulk, MinHashLSH with an insertion session, and the estimated similarity of what it returns."""
    from datasketch import MinHash, MinHashLSH

    def work(texts: list[str]) -> Found:
        tokens = ([shingle.encode() for shingle in shingles(text)] for text in texts)
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


def rensa_lsh(shingles: Shingles) -> Callable[[list[str]], Found]:
    """RMinHash and RMinHashLSH with 16 bands, and the estimated similarity of what it returns."""
    from rensa import RMinHash, RMinHashLSH

    def work(texts: list[str]) -> Found:
        signatures = RMinHash.from_token_sets(map(shingles, texts), PERMUTATIONS, SEED)
        index = RMinHashLSH(AT_LEAST, PERMUTATIONS, 16)
        index.insert_many(signatures)
        pairs = [
            (other, row) for row, found in enumerate(index.query_all(signatures)) for other in found if other < row
        ]
        return _estimated_alike(pairs, np.array([signature.digest() for signature in signatures], np.uint32))

    return work


def rensa_deduplicator(shingles: Shingles) -> Callable[[list[str]], Found]:
    """RMinHashDeduplicator with LSH, as its documentation keeps unique documents: a flag for each text, no pairs."""
    from rensa import RMinHashDeduplicator

    def work(texts: list[str]) -> Found:
        index = RMinHashDeduplicator(threshold=AT_LEAST, num_perm=PERMUTATIONS, use_lsh=True, seed=SEED)
        kept = index.add_pairs((str(row), shingles(text)) for row, text in enumerate(texts))
        return {"removed": ~np.array(kept, bool)}

    return work


def rensa_rho(shingles: Shingles) -> Callable[[list[str]], Found]:
    """The sampling sketch of rensa's own benchmark, 8 bands: which texts share a band with another one, no pairs."""
    from rensa import RMinHash, RMinHashLSH

    def work(texts: list[str]) -> Found:
        matrix = RMinHash.digest_matrix_from_token_sets_rho(map(shingles, texts), PERMUTATIONS, SEED)
        index = RMinHashLSH(AT_LEAST, PERMUTATIONS, 8)
        return {"touched": np.array(index.query_duplicate_flags_matrix_one_shot(matrix), bool)}

    return work


def set_similarity_search() -> Callable[[list[str]], Found]:
    """all_pairs (exact) over neardup's own shingle sets; texts without a shingle are left out, which it cannot take."""
    import pyarrow as pa
    from SetSimilaritySearch import all_pairs

    from neardup.matching.similarities.table import shingle_sets_of

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

        def work(texts: list[str]) -> Found:
            found = neardup.match(texts, method=method, min_similarity=AT_LEAST)
            return {"left": found.left, "right": found.right}

        return work

    return prepare


def neardup_survivors(method: str) -> Callable[[], Callable[[list[str]], Found]]:
    """`neardup.deduplicate`: which texts survive."""

    def prepare() -> Callable[[list[str]], Found]:
        import neardup

        def work(texts: list[str]) -> Found:
            result = neardup.deduplicate(texts, method=method, min_similarity=AT_LEAST)
            removed = np.zeros(len(texts), bool)
            removed[result.duplicates["row"].to_numpy()] = True
            return {"removed": removed}

        return work

    return prepare


def contenders(
    methods: list[str], interpreters: Interpreters, language: str = "english"
) -> dict[str, Callable[[], Callable[[list[str]], Found]]]:
    """All of them by name: what prepares each."""
    shingles = word_shingles if language == "english" else character_shingles
    ours = {f"neardup {method}, pairs": neardup_pairs(method) for method in methods}
    ours |= {f"neardup {method}, survivors": neardup_survivors(method) for method in methods}
    return ours | {
        "SetSimilaritySearch all_pairs": set_similarity_search,
        "shingles alone": lambda: shingles_alone(shingles),
        "datasketch MinHashLSH": lambda: datasketch_lsh(shingles),
        "rensa RMinHashLSH": lambda: rensa_lsh(shingles),
        "rensa RMinHashDeduplicator": lambda: rensa_deduplicator(shingles),
        "rensa rho": lambda: rensa_rho(shingles),
        "text-dedup minhash": text_dedup("minhash", interpreters.text_dedup, language),
        "text-dedup simhash": text_dedup("simhash", interpreters.text_dedup, language),
        "datatrove minhash": datatrove(5, interpreters.datatrove, language),
        "datatrove minhash, shingles of 3": datatrove(3, interpreters.datatrove, language),
        "semhash": semhash,
    }


def main() -> None:
    """Run one contender; what it says goes to standard output as JSON, what it found to the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("documents", type=Path)
    parser.add_argument("found", type=Path)
    parser.add_argument("--language", choices=LANGUAGES, default="english")
    parser.add_argument("--text-dedup", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--datatrove", default=sys.executable, metavar="PYTHON")
    given = parser.parse_args()
    interpreters = Interpreters(given.text_dedup, given.datatrove)
    methods = [
        word.rstrip(",") for word in given.name.split()[1:2]
    ]  # of ours; peers do not import neardup for its table
    prepare = contenders(methods, interpreters, given.language)[given.name]
    with given.documents.open(encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    try:
        found = prepare()(texts)
    except UnavailableError as reason:
        print(json.dumps({"skipped": str(reason)}))
        return
    except Exception as problem:  # a peer's failure is a result
        print(json.dumps({"failed": f"{type(problem).__name__}: {problem}"}))
        return
    record = {name: found.pop(name).item() for name in ("candidates", *MEASURED) if name in found}
    np.savez(given.found, **found)
    print(json.dumps(record))


if __name__ == "__main__":
    main()
