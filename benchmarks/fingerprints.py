"""How fast one thread turns texts in memory into fingerprints, beside ClickHouse, datasketch, PyPI simhash and rensa.

    python benchmarks/fingerprints.py [--quick] [--data FOLDER] [--output FILE]

Ours is `neardup.fingerprint(texts, threads=1)` with the default recipe: it checks that the texts are valid Unicode, normalizes
(NFKC, case, white space), tokenizes, counts, weighs and votes, 128 bits. None of the others normalizes. Each is given the texts
as it takes them best: ClickHouse a table in its own memory, the Python packages lists of strings.
"""

import importlib.util
import re
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numba
import numpy as np
import pyarrow as pa

from clickhouse import BLOCKS, ClickHouse, EqualWork
from corpora import Texts, data_folder, missing, open_texts, python_installation
from east_asian import CATALOGS, LAWS, japanese_catalogs, mixed_laws
from measure import Timing, arguments, environment, ratio, rounded, table, take_turns, write_json
from neardup.fingerprints.simhash import fingerprint
from neardup.kernels.text.tokens import code_tokens, token_arrays
from neardup.recipe.recipe import Recipe
from neardup.text.columns import as_text_arrays, in_chunks
from neardup.text.normalizers import FoldedTexts, fold_texts
from neardup.text.unicode_tables import fold_tables

Array = np.ndarray[Any, np.dtype[Any]]
Work = Callable[[], object]

ENGLISH_BYTES = 100_000_000
SAMPLE_BYTES = 2_000_000
"""How much the packages in Python are given: they take seconds for it."""
REPEATED = 8
"""The Japanese texts are two megabytes."""
ROUNDS = 9
PYTHON_ROUNDS = 5
TARGETS = {
    ("english", "ClickHouse wordShingleSimHash"): 4.0,
    ("english", "datasketch MinHash-128"): 100.0,
    ("english", "simhash"): 400.0,
    **{(kind, "ClickHouse ngramSimHashUTF8"): 1.5 for kind in ("chinese", "chinese with latin", "japanese")},
}
DEFAULT = "default recipe, normalization included"
WORD = re.compile(r"\w+")
# Compiled without a cache: neardup's would not see a change of this file.
_compile: Any = numba.njit(nogil=True, error_model="numpy", _nrt=False)


@_compile
def _tokenize_documents(data, offsets, tokens, tables):
    total = 0
    for d in range(len(offsets) - 1):
        total += code_tokens(data, offsets[d], offsets[d + 1], tokens, tables)[0]
    return total


def _tokens(folded: list[FoldedTexts]) -> int:
    longest = max(int(np.diff(part.offsets).max(initial=0)) for part in folded)
    tokens = token_arrays(longest)
    return sum(_tokenize_documents(part.data, part.offsets, tokens, fold_tables()) for part in folded)


def profile(texts: Texts, rounds: int) -> dict[str, Any]:
    """Where the time of `fingerprint` goes; what is left after its first three stages is counting, voting and the digest."""
    folded = [fold_texts(part) for part in in_chunks(texts.array)]
    recipe = Recipe()
    times = take_turns(
        {
            "check": lambda: as_text_arrays(texts.array),
            "normalize": lambda: sum(len(fold_texts(part)) for part in in_chunks(texts.array)),
            "tokenize": lambda: _tokens(folded),
            "whole": lambda: fingerprint(texts.array, recipe=recipe, threads=1),
        },
        rounds,
    )
    stages = {name: timing.median for name, timing in times.items()}
    stages["count, weigh, vote, digest"] = stages["whole"] - stages["check"] - stages["normalize"] - stages["tokenize"]
    shares = {name: rounded(seconds / stages["whole"], 3) for name, seconds in stages.items() if name != "whole"}
    tokens = _tokens(folded)
    return {
        "megabytes_per_second": rounded(texts.bytes / stages["whole"] / 1e6),
        "tokens": tokens,
        "nanoseconds_per_token": rounded(stages["whole"] / tokens * 1e9, 3),
        "share_of_time": shares,
    }


def _words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def _without_long_runs(texts: Texts) -> Texts:
    """PyPI simhash fails with NumPy 2 where a run of four characters comes more than 255 times: such texts are left out for it."""

    def most_common(text: str) -> int:
        letters = "".join(_words(text))
        return max(Counter(letters[i : i + 4] for i in range(len(letters) - 3)).values(), default=0)

    keep = [most_common(text) <= 255 for text in texts.array.to_pylist()]
    return Texts(texts.name, texts.array.filter(pa.array(keep)))


def python_peers(sample: Texts) -> tuple[dict[str, tuple[Texts, Work]], list[str]]:
    """What the packages written for Python do, each with its bulk call, words as tokens; and the reasons for what is skipped."""
    texts = sample.array.to_pylist()
    peers: dict[str, tuple[Texts, Work]] = {}
    skipped = []
    if importlib.util.find_spec("datasketch"):
        from datasketch import MinHash

        def by_datasketch() -> object:
            return MinHash.bulk(([word.encode() for word in _words(text)] for text in texts), num_perm=128)

        peers["datasketch MinHash-128"] = sample, by_datasketch
    else:
        skipped.append("datasketch MinHash-128: datasketch is not installed")
    if importlib.util.find_spec("simhash"):
        from simhash import Simhash

        allowed = _without_long_runs(sample)
        allowed_texts = allowed.array.to_pylist()
        peers["simhash"] = allowed, lambda: [Simhash(text).value for text in allowed_texts]
    else:
        skipped.append("simhash: simhash is not installed")
    if importlib.util.find_spec("rensa"):
        from rensa import RMinHash

        def by_rensa() -> object:
            return RMinHash.digests_from_token_sets([_words(text) for text in texts], 128, 42)

        peers["rensa RMinHash-128"] = sample, by_rensa
    else:
        skipped.append("rensa RMinHash-128: rensa is not installed")
    return peers, skipped


def clickhouse_rows(kind: str, texts: Texts, function: str, rounds: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Ours beside ClickHouse's function for such texts, and the same n-gram SimHash by both. Returns rows and what was checked."""
    with ClickHouse(texts.array) as database:
        equal = EqualWork(texts.array)
        same = bool(np.array_equal(database.fingerprints("ngramSimHash(text, 3)"), equal.fingerprints()))
        contenders: dict[str, Work] = {
            "ours": lambda: fingerprint(texts.array, threads=1),
            "our kernels": equal.fingerprints,
            "touch every byte": lambda: database.reduce("sum(cityHash64(text))"),
        }
        calls = {function: f"groupBitXor({function}(text))", "ngramSimHash": "groupBitXor(ngramSimHash(text, 3))"}
        for name, call in calls.items():
            for blocks in BLOCKS:
                contenders[f"{name}, {blocks}"] = partial(database.reduce, call, blocks)
        times = take_turns(contenders, rounds)
        version = database.version
    # Both sides read memory; ClickHouse's figure is without what a query costs that only reads every byte.
    overhead = times["touch every byte"].median

    def best(name: str) -> Timing:
        timing = min((times[f"{name}, {blocks}"] for blocks in BLOCKS), key=lambda timing: timing.median)
        return Timing(tuple(second - overhead for second in timing.seconds))

    ours, equal_work = (texts, times["ours"]), (texts, times["our kernels"])
    rows = [
        _row(kind, DEFAULT, ours, f"ClickHouse {function}", (texts, best(function))),
        _row(
            kind,
            "equal work: ngramSimHash(text, 3)",
            equal_work,
            "ClickHouse ngramSimHash",
            (texts, best("ngramSimHash")),
        ),
    ]
    notes = {
        "clickhouse_version": version,
        "same_bits_as_ngramSimHash": same,
        "subtracted_seconds": rounded(overhead),
        "seconds": {name: rounded(timing.median) for name, timing in times.items()},
    }
    return rows, notes


def _row(kind: str, work: str, ours: tuple[Texts, Timing], peer: str, theirs: tuple[Texts, Timing]) -> dict[str, Any]:
    (our_texts, our_timing), (peer_texts, peer_timing) = ours, theirs
    return {
        "texts": kind,
        "work": work,
        "peer": peer,
        "ours": our_timing.as_record(our_texts.bytes / 1e6, "megabytes_per_second"),
        "theirs": peer_timing.as_record(peer_texts.bytes / 1e6, "megabytes_per_second"),
        "peer_bytes": peer_texts.bytes,
        "ratio": rounded(ratio(our_timing, our_texts.bytes, peer_timing, peer_texts.bytes), 3),
        "target": TARGETS.get((kind, peer)),
    }


def measure(kind: str, texts: Texts, function: str, *, python: bool, quick: bool) -> tuple[dict[str, Any], list[str]]:
    """All rows for one kind of text, and what was skipped."""
    rounds = 3 if quick else ROUNDS
    skipped: list[str] = []
    rows: list[dict[str, Any]] = []
    notes: dict[str, Any] = {}
    if importlib.util.find_spec("chdb"):
        rows, notes = clickhouse_rows(kind, texts, function, rounds)
    else:
        skipped.append(f"{kind}, ClickHouse: chdb is not installed")
    if python:
        sample = texts.head(SAMPLE_BYTES // 4 if quick else SAMPLE_BYTES)
        peers, reasons = python_peers(sample)
        skipped += [f"{kind}, {reason}" for reason in reasons]
        ours = texts.head(10 * sample.bytes)
        work = {name: peer_work for name, (_, peer_work) in peers.items()}
        times = take_turns({"ours": lambda: fingerprint(ours.array, threads=1), **work}, PYTHON_ROUNDS)
        mine = ours, times["ours"]
        rows += [_row(kind, DEFAULT, mine, peer, (given, times[peer])) for peer, (given, _) in peers.items()]
    return {"corpus": texts.as_record(), "rows": rows, "clickhouse": notes, "profile": profile(texts, rounds)}, skipped


def repeated(texts: Texts | None) -> Texts | None:
    """The texts several times: so few would be read out of the caches, and be done before a call has begun."""
    return texts and Texts(f"{texts.name}, {REPEATED} times", pa.concat_arrays([texts.array] * REPEATED))


def main() -> None:
    """Measure, print the table, write the results."""
    given = arguments(__doc__.splitlines()[0], "fingerprints")
    warnings.simplefilter("ignore")  # of the peers
    folder = data_folder(given.data)
    results, skipped = {}, []
    english = python_installation(ENGLISH_BYTES // 10 if given.quick else ENGLISH_BYTES)
    results["english"], reasons = measure("english", english, "wordShingleSimHash", python=True, quick=given.quick)
    skipped += reasons
    reason = missing(folder, LAWS)
    east_asian: dict[str, Texts | None] = {"japanese": repeated(japanese_catalogs())}
    if reason is None and folder is not None:
        east_asian = {"chinese": open_texts(folder, LAWS), "chinese with latin": mixed_laws(folder)} | east_asian
    else:
        skipped.append(f"chinese, {reason}")
    for kind, texts in east_asian.items():
        if texts is None:
            skipped.append(f"{kind}: no message catalogs in {CATALOGS}")
            continue
        results[kind], reasons = measure(kind, texts, "ngramSimHashUTF8", python=False, quick=given.quick)
        skipped += reasons

    rows = [row for result in results.values() for row in result["rows"]]
    head = ["texts", "work", "ours, MB/s", "peer", "peer, MB/s", "ratio", "target"]
    print(
        table(
            head,
            [
                [
                    row["texts"],
                    row["work"],
                    _span(row["ours"]),
                    row["peer"],
                    _span(row["theirs"]),
                    f"{row['ratio']:.3g}",
                    "" if row["target"] is None else f"{row['target']:g}",
                ]
                for row in rows
            ],
        )
    )
    for kind, result in results.items():
        shares = ", ".join(f"{name} {share:.0%}" for name, share in result["profile"]["share_of_time"].items())
        corpus = result["corpus"]
        print(f"\n{kind}: {corpus['documents']:,} documents, {corpus['bytes'] / 1e6:.0f} MB; time: {shares}")
        if result["clickhouse"] and not result["clickhouse"]["same_bits_as_ngramSimHash"]:
            raise SystemExit("The kernel for equal work does not give ClickHouse's bits: its speed means nothing.")
    for reason in skipped:
        print(f"skipped: {reason}")
    peers = ("chdb", "datasketch", "simhash", "rensa")
    record = {"environment": environment(peers), "recipe": Recipe().as_dict(), "results": results, "skipped": skipped}
    write_json(given.output, record)


def _span(speed: dict[str, Any]) -> str:
    return f"{speed['megabytes_per_second']:.3g} ({speed['min']:.3g}-{speed['max']:.3g})"


if __name__ == "__main__":
    main()
