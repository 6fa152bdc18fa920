"""How fast one thread turns texts in memory into MinHash signatures of 128 values, and how well these estimate, beside others.

    python benchmarks/signatures.py [--quick] [--data FOLDER] [--output FILE]

Ours is `neardup.signatures(texts, threads=1)`, which also checks that the texts are valid Unicode, normalizes them and counts
their distinct shingles. The peers get lists of strings and cut them into words in small letters with `re`, once as they are
(words) and once in runs of three (the same work as ours). rensa has several calls for batches: the fastest counts.

Errors are taken on pairs of texts with a known share of their words replaced, over several seeds; every contender gets the same
sets of shingles, whose exact Jaccard coefficient is counted in Python.
"""

import importlib.util
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from corpora import Texts, data_folder, missing, open_texts, python_installation
from east_asian import CATALOGS, LAWS, japanese_catalogs, mixed_laws
from measure import arguments, environment, ratio, rounded, table, take_turns, write_json
from neardup.fingerprints.minhash import KINDS, jaccard_estimate, signatures

Array = np.ndarray[Any, np.dtype[Any]]
Work = Callable[[], object]

VALUES = 128
OUR_BYTES = 20_000_000
SAMPLE_BYTES = 1_000_000
"""How much the packages in Python are given: they take seconds for it."""
ROUNDS = 5
TARGETS = {"rensa": 5.0, "datasketch": 40.0}
LENGTHS = (12, 50, 250, 1000)
"""Words of the texts that errors are measured on."""
PAIRS, SEEDS = 400, 6
WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """The words of a text in small letters."""
    return WORD.findall(text.lower())


def shingles(text: str) -> list[str]:
    """Runs of three words."""
    found = words(text)
    return [" ".join(found[i : i + 3]) for i in range(len(found) - 2)] or [" ".join(found)]


def _datasketch_values(features: list[list[bytes]], seed: int) -> Array:
    from datasketch import MinHash

    return np.array([one.hashvalues for one in MinHash.bulk(features, num_perm=VALUES, seed=seed)])


RENSA = {
    "digests": "digests_from_token_sets",
    "matrix": "digest_matrix_from_token_sets",
    "byte matrix": "digest_matrix_from_token_byte_sets",
    "matrix, rho": "digest_matrix_from_token_sets_rho",
}


def _rensa_digests(call: str, features: list[list[Any]], seed: int) -> Any:
    from rensa import RMinHash

    return getattr(RMinHash, RENSA[call])(features, VALUES, seed)


def _encoded(features: list[str]) -> list[bytes]:
    return [feature.encode() for feature in features]


def _rensa_features(call: str, texts: list[str], cut: Callable[[str], list[str]]) -> list[list[Any]]:
    return [_encoded(cut(text)) if call == "byte matrix" else cut(text) for text in texts]


def installed(name: str) -> bool:
    """Whether the peer can be imported."""
    return importlib.util.find_spec(name) is not None


def peer_work(texts: list[str]) -> dict[str, Work]:
    """What each peer does, from texts."""
    work: dict[str, Work] = {}
    for features, cut in (("words", words), ("3-word shingles", shingles)):
        if installed("datasketch"):
            work[f"datasketch MinHash.bulk, {features}"] = lambda cut=cut: _datasketch_values(
                [_encoded(cut(text)) for text in texts], 1
            )
        if installed("rensa"):
            for call in RENSA:
                work[f"rensa RMinHash {call}, {features}"] = lambda call=call, cut=cut: _rensa_digests(
                    call, _rensa_features(call, texts, cut), 42
                )
    return work


def speeds(kind: str, texts: Texts, sample: Texts | None, rounds: int) -> list[dict[str, Any]]:
    """Ours of both kinds, and each peer of which there is one on a smaller sample."""
    work: dict[str, Work] = {
        f"neardup {name}": lambda name=name: signatures(texts.array, kind=name, threads=1) for name in KINDS
    }
    if sample is not None:
        work |= peer_work(sample.array.to_pylist())
    times = take_turns(work, rounds)
    ours = times["neardup one-permutation"]
    rows = []
    for name, timing in times.items():
        peer = not name.startswith("neardup")
        given = sample.bytes if peer and sample is not None else texts.bytes
        rows.append(
            {
                "texts": kind,
                "contender": name,
                **timing.as_record(given / 1e6, "megabytes_per_second"),
                "bytes": given,
                "ratio": rounded(ratio(ours, texts.bytes, timing, given), 3) if peer else None,
            }
        )
    for peer, target in TARGETS.items():
        # The fastest of its calls must be beaten by so much.
        of_peer = [row for row in rows if row["contender"].startswith(peer)]
        if of_peer:
            min(of_peer, key=lambda row: row["ratio"])["target"] = target
    return rows


def edited_pairs(source: Texts, length: int, pairs: int) -> list[tuple[str, str]]:
    """Texts of so many words, each with a copy of which a share of the words, from none to a third, was replaced by others."""
    vocabulary = sorted({word for text in source.array.to_pylist() for word in re.findall("[a-z]+", text.lower())})
    random = np.random.default_rng(length)
    found = []
    for share in np.linspace(0, 1 / 3, pairs):
        original = random.integers(0, len(vocabulary), length)
        copy = np.where(random.random(length) < share, random.integers(0, len(vocabulary), length), original)
        found.append((" ".join(vocabulary[i] for i in original), " ".join(vocabulary[i] for i in copy)))
    return found


def errors(source: Texts, pairs: int, seeds: int) -> list[dict[str, Any]]:
    """The root mean square error of the estimated similarity, by length of the texts and of all."""
    contenders = [*(f"neardup {kind}" for kind in KINDS)]
    contenders += [f"neardup {kind}, 16 bits" for kind in KINDS]
    contenders += ["datasketch MinHash.bulk"] if installed("datasketch") else []
    contenders += [f"rensa RMinHash {call}" for call in RENSA] if installed("rensa") else []
    squares: dict[str, list[float]] = {name: [] for name in contenders}
    expected = []
    for length in LENGTHS:
        texts = edited_pairs(source, length, pairs)
        flat = [text for pair in texts for text in pair]
        sets = [set(shingles(text)) for text in flat]
        true = np.array([len(a & b) / len(a | b) for a, b in zip(sets[::2], sets[1::2], strict=True)])
        expected.append(float(np.mean(true * (1 - true)) / VALUES))
        for name in contenders:
            total = 0.0
            for seed in range(1, seeds + 1):
                estimate = _estimates(name, flat, sets, seed)
                total += float(np.mean((estimate - true) ** 2)) / seeds
            squares[name].append(total)
    rows = [("sqrt(J (1 - J) / k): independent values", expected), *squares.items()]
    return [
        {
            "contender": name,
            "by_words": {str(length): rounded(value**0.5, 3) for length, value in zip(LENGTHS, of, strict=True)},
            "all": rounded(float(np.mean(of)) ** 0.5, 3),
        }
        for name, of in rows
    ]


def _estimates(name: str, texts: list[str], sets: list[set[str]], seed: int) -> Array:
    if name.startswith("neardup"):
        kind, _, bits = name.removeprefix("neardup ").partition(", ")
        found = signatures(texts, kind=kind, seed=seed, bits=16 if bits else 32, threads=1)
        if found.sizes.tolist() != [len(of) for of in sets]:
            raise SystemExit("The shingles are not the same sets: errors mean nothing.")
        return np.asarray(jaccard_estimate(found[::2], found[1::2]).similarity)
    features = [sorted(of) for of in sets]
    if name.startswith("datasketch"):
        values = _datasketch_values([_encoded(of) for of in features], seed)
    else:
        call = name.removeprefix("rensa RMinHash ")
        given: list[list[Any]] = [_encoded(of) for of in features] if call == "byte matrix" else [*features]
        digests = _rensa_digests(call, given, seed)
        values = np.array(digests.to_rows() if hasattr(digests, "to_rows") else digests)
    return np.asarray((values[::2] == values[1::2]).mean(axis=1))


def main() -> None:
    """Measure, print the tables, write the results."""
    given = arguments(__doc__.splitlines()[0], "signatures")
    warnings.simplefilter("ignore")  # of the peers
    rounds = 3 if given.quick else ROUNDS
    english = python_installation(OUR_BYTES // 4 if given.quick else OUR_BYTES)
    sample = english.head(SAMPLE_BYTES // 4 if given.quick else SAMPLE_BYTES)
    rows = speeds("English", english, sample, rounds)
    corpora = [english.as_record()]
    skipped = [f"{name}: it is not installed" for name in ("datasketch", "rensa") if not installed(name)]
    folder = data_folder(given.data)
    reason = missing(folder, LAWS)
    east_asian: dict[str, Texts | None] = {"Japanese": japanese_catalogs()}
    if reason is None and folder is not None:
        east_asian = {"Chinese": open_texts(folder, LAWS), "Chinese with Latin": mixed_laws(folder)} | east_asian
    else:
        skipped.append(f"Chinese, {reason}")
    for kind, texts in east_asian.items():
        if texts is None:
            skipped.append(f"{kind}: no message catalogs in {CATALOGS}")
        else:
            rows += speeds(kind, texts, None, rounds)
            corpora.append(texts.as_record())
    measured = errors(sample, PAIRS // 4 if given.quick else PAIRS, 2 if given.quick else SEEDS)

    print(
        table(
            ["texts", "contender", "MB/s", "we are faster by", "target"],
            [
                [
                    row["texts"],
                    row["contender"],
                    f"{row['megabytes_per_second']:.3g} ({row['min']:.3g}-{row['max']:.3g})",
                    "" if row["ratio"] is None else f"{row['ratio']:.3g}",
                    f"{row['target']:g}" if "target" in row else "",
                ]
                for row in rows
            ],
        )
    )
    print("\nRoot mean square error of the similarity, by words of a text:\n")
    print(
        table(
            ["contender", *map(str, LENGTHS), "all"],
            [
                [row["contender"], *(f"{row['by_words'][str(n)]:.4f}" for n in LENGTHS), f"{row['all']:.4f}"]
                for row in measured
            ],
        )
    )
    for line in skipped:
        print(f"skipped: {line}")
    record = {
        "environment": environment(("datasketch", "rensa")),
        "values": VALUES,
        "corpora": corpora,
        "speeds": rows,
        "errors": measured,
        "skipped": skipped,
    }
    write_json(given.output, record)


if __name__ == "__main__":
    main()
