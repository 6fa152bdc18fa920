"""What each hash of features costs, how evenly and independently its bits fall, and how well SimHash estimates angles by it.

    python benchmarks/hashes.py [--quick] [--data FOLDER] [--output FILE]

Features are words of English texts and pairs of Han characters. `docs/hashes.md` says what follows from the figures.
"""

import random
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from corpora import Texts, data_folder, missing, open_texts, python_installation, reference_set
from hash_chart import draw
from hash_statistics import (
    Documents,
    avalanche,
    bits_of,
    evenness,
    independence,
    joined,
    random_error,
    simhash_error,
    weighted_documents,
)
from measure import arguments, environment, rounded, table, take_turns, write_json
from neardup.fingerprints.hashes import hash_features
from neardup.recipe.tables.hashes import HASH_ROWS, HASHES

ENGLISH, CHINESE = "en_pep_revisions_even", "zh_laws_national"
WORD, HAN = re.compile(r"[^\W\d_]+"), re.compile("[\u4e00-\u9fff]+")
ROUNDS, DRAWS, WIDTHS = 7, 16, (32, 64, 128)
RUNNING, CHANGED, RANDOM_PAIRS, MOST_DOCUMENTS = 300_000, 20_000, 1_500, 500
SHORT = range(8, 31)
"""Features of a short text."""


def words(text: str) -> list[bytes]:
    """Runs of letters, in small letters."""
    return [word.encode() for word in WORD.findall(text.lower())]


def han_pairs(text: str) -> list[bytes]:
    """Every two adjacent Han characters."""
    return [run[i : i + 2].encode() for run in HAN.findall(text) for i in range(len(run) - 1)]


def rows_by(name: str, features: Sequence[bytes], bits: int) -> Any:
    return hash_features(*joined(features), name, bits)


def measure_cost(running: list[bytes], distinct: list[bytes], rounds: int) -> dict[str, Any]:
    """Nanoseconds a feature at 64 and 128 bits, of running text and of distinct features."""
    inputs = {"running": joined(running), "distinct": joined(distinct)}
    contenders: dict[str, Callable[[], object]] = {
        f"{name} {kind} {bits}": partial(hash_features, *inputs[kind], name, bits)
        for name in HASHES
        for kind, bits in (("running", 64), ("distinct", 64), ("distinct", 128))
    }
    times = take_turns(contenders, rounds)
    sizes = {"running": len(running), "distinct": len(distinct)}
    return {
        name: {
            label: rounded(times[f"{name} {kind} {bits}"].median / sizes[kind] * 1e9, 3)
            for label, kind, bits in (
                ("distinct_64_bits", "distinct", 64),
                ("distinct_128_bits", "distinct", 128),
                ("running_64_bits", "running", 64),
            )
        }
        for name in HASHES
    }


def changes(features: list[bytes], generator: random.Random) -> dict[str, list[bytes]]:
    """Each feature with another first character, another last one, and one bit flipped anywhere."""
    texts = [feature.decode() for feature in features]
    letters = sorted({letter for text in texts for letter in text})

    def other(letter: str) -> str:
        return generator.choice(
            [each for each in letters if each != letter and len(each.encode()) == len(letter.encode())]
        )

    def flipped(feature: bytes) -> bytes:
        at = generator.randrange(8 * len(feature))
        return bytes(byte ^ (1 << at % 8 if i == at // 8 else 0) for i, byte in enumerate(feature))

    return {
        "last character": [(text[:-1] + other(text[-1])).encode() for text in texts],
        "first character": [(other(text[0]) + text[1:]).encode() for text in texts],
        "one bit": [flipped(feature) for feature in features],
    }


def measure_bits(distinct: list[bytes], changed: int) -> dict[str, Any]:
    """Evenness, independence and avalanche of each hash at its native width."""
    generator = random.Random(0)
    sample = generator.sample(distinct, min(changed, len(distinct)))
    altered = changes(sample, generator)
    record = {}
    for name, each in HASH_ROWS.items():
        rows = rows_by(name, distinct, each.bits)
        found = bits_of(rows, each.bits)
        before = bits_of(rows_by(name, sample, each.bits), each.bits)
        record[name] = {
            "native_bits": each.bits,
            "features_with_the_hash_of_another": len(distinct) - len(np.unique(rows, axis=0)),
            "evenness": evenness(found),
            "independence": independence(found),
            "avalanche": {
                what: avalanche(before, bits_of(rows_by(name, after, each.bits), each.bits))
                for what, after in altered.items()
            },
        }
    return record


def measure_error(documents: Documents, draws: int) -> dict[str, Any]:
    """The error of the angle by every hash, and by random bits."""
    return {
        "texts": documents.as_record(),
        "draws": draws,
        "random bits": {str(bits): random_error(documents, bits, draws) for bits in WIDTHS},
        **{
            name: {str(bits): simhash_error(documents, partial(rows_by, name), bits, draws) for bits in WIDTHS}
            for name in HASHES
        },
    }


def random_pairs(n: int, count: int) -> Any:
    generator = np.random.default_rng(1)
    pairs = generator.integers(0, n, (2 * count, 2))
    return pairs[pairs[:, 0] != pairs[:, 1]][:count]


def long_documents(texts: Texts, features: Callable[[str], list[bytes]], known: Any, count: int) -> Documents:
    """Whole documents: pairs that are known to be similar, and random ones."""
    split = [features(text) for text in texts.array.to_pylist()[:MOST_DOCUMENTS]]
    near = known[(known < len(split)).all(axis=1)][:count]
    pairs = np.concatenate([near, random_pairs(len(split), count)])
    full = np.array([len(each) > 0 for each in split])
    return weighted_documents(f"{texts.name}, whole", split, pairs[full[pairs].all(axis=1)])


def short_documents(texts: Texts, features: Callable[[str], list[bytes]], count: int) -> Documents:
    """Short runs of features, each paired with itself after some were dropped, and with others."""
    generator = random.Random(2)
    split: list[list[bytes]] = []
    for text in texts.array.to_pylist()[: 2 * MOST_DOCUMENTS]:
        found = features(text)
        size = generator.choice(SHORT)
        if len(found) > 2 * size:
            start = generator.randrange(len(found) - size)
            split.append(found[start : start + size])
            split.append([each for each in split[-1] if generator.random() > 0.3] or split[-1][:1])
    near = np.arange(len(split)).reshape(-1, 2)[:count]
    pairs = np.concatenate([near, random_pairs(len(split), count)])
    return weighted_documents(f"{texts.name}, {SHORT[0]} to {SHORT[-1]} features", split, pairs)


def measured_texts(given: Any) -> list[tuple[str, Texts, Callable[[str], list[bytes]], Any]]:
    """What can be read: the kind of features, the texts, how to split them, and the pairs that are known."""
    folder = data_folder(given.data)
    none = np.empty((0, 2), np.int64)
    found: list[tuple[str, Texts, Callable[[str], list[bytes]], Any]] = []
    for name, kind, features in ((ENGLISH, "English words", words), (CHINESE, "pairs of Han characters", han_pairs)):
        reason = missing(folder, name)
        if reason is None and folder is not None:
            known = reference_set(folder, name)
            found.append((kind, open_texts(folder, name), features, np.stack([known.left, known.right], axis=1)))
        else:
            print(f"skipped: {reason}")
    if not any(kind == "English words" for kind, *_ in found):
        found.insert(0, ("English words", python_installation(3_000_000), words, none))
    return found


def show(kind: str, record: dict[str, Any]) -> None:
    """Print the figures as tables."""
    print(f"\n{kind}: {record['distinct']:,} distinct, {record['mean_bytes']} bytes on average\n")
    cost, bits = record["nanoseconds_a_feature"], record["bits"]
    rows = [[f"`{name}`", str(HASH_ROWS[name].bits), *map("{:.3g}".format, cost[name].values())] for name in HASHES]
    print(table(["hash", "native bits", "ns, distinct, 64 bits", "distinct, 128", "running, 64"], rows))
    confused = {name: each["features_with_the_hash_of_another"] for name, each in bits.items()}
    print(f"\nfeatures with the hash of another one: {confused}")
    for what, parts in (("evenness", "bits"), ("independence", "pairs")):
        rows = []
        for name in HASHES:
            each = bits[name][what]
            rows.append(
                [f"`{name}`", f"{each['largest_z']}", f"{each['chance']}", f"{each['above_chance']} of {each['of']}"]
            )
        print("\n" + table(["hash", f"{what}: largest z", "chance", f"{parts} above it"], rows))
    for what in bits["md5"]["avalanche"]:
        rows = []
        for name in HASHES:
            each = bits[name]["avalanche"][what]
            shares = [f"{each[key]}" for key in ("mean", "lowest", "highest", "bits_that_never_change")]
            rows.append([f"`{name}`", *shares, f"{each['bits_outside_0.45_to_0.55']} of {each['of']}"])
        print("\n" + table(["hash", f"{what}: mean", "lowest", "highest", "never", "outside 0.45-0.55"], rows))
    for error in record["errors"]:
        rows = []
        for name in ("random bits", *HASHES):
            widths = error[name].values()
            draws = [
                f"{each['rms_degrees']} ({each['from']}-{each['to']}), {each['mean_degrees']:+}" for each in widths
            ]
            rows.append([name, *draws, *(str(each.get("as_it_is", "")) for each in widths)])
        head = [f"{bits} bits: rms (range), mean" for bits in WIDTHS]
        print(f"\n{error['texts']}\n\n" + table(["hash", *head, *(f"{bits}, as it is" for bits in WIDTHS)], rows))


def main() -> None:
    given = arguments(str(__doc__).splitlines()[0], "hashes")
    quick = given.quick
    record: dict[str, Any] = {**environment(["xxhash"]), "features": {}}
    for kind, texts, split, known in measured_texts(given):
        texts = Texts(texts.name, texts.array.slice(0, 150)) if quick else texts
        known = known[(known < len(texts)).all(axis=1)]
        running = [feature for text in texts.array.to_pylist() for feature in split(text)]
        distinct = sorted(set(running))
        random.Random(3).shuffle(distinct)
        count = 200 if quick else RANDOM_PAIRS
        documents = [long_documents(texts, split, known, count), short_documents(texts, split, count)]
        record["features"][kind] = {
            "texts": texts.as_record(),
            "occurrences": len(running),
            "distinct": len(distinct),
            "mean_bytes": rounded(sum(map(len, distinct)) / len(distinct), 3),
            "nanoseconds_a_feature": measure_cost(running[:RUNNING], distinct, 2 if quick else ROUNDS),
            "bits": measure_bits(distinct, CHANGED),
            "errors": [measure_error(each, 2 if quick else DRAWS) for each in documents],
        }
        show(kind, record["features"][kind])
    write_json(given.output, record)
    if given.output is not None:
        draw(record, given.output.with_suffix(".svg"))


if __name__ == "__main__":
    main()
