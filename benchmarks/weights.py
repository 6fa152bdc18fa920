"""What each weight of features costs, and how fast document frequencies are counted.

    python benchmarks/weights.py [--quick] [--data FOLDER] [--output FILE]

One thread, from texts to the features that vote with their weights; beside it the same with uniform weights, which is the cost of
everything else. Chinese words are by the segmenter `jieba`.
"""

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import neardup as nd
from corpora import Texts, data_folder, missing, open_texts
from measure import arguments, environment, rounded, table, take_turns, write_json
from neardup.fingerprints.features import weighted_features
from neardup.fingerprints.weights.table import EXTRACTORS
from neardup.recipe.tables.parts import WEIGHTS
from neardup.text.columns import in_chunks
from neardup.text.normalizers import normalized

KINDS = {"English words": ("en_pep_revisions_even", "words"), "Chinese words": ("zh_laws_national", "jieba")}
ROUNDS, SIZE, SLOW_SIZE = 5, 6 << 20, 1 << 20
"""Rounds, and bytes of text; of extractors that are slow fewer."""


def weigh_all(texts: Texts, recipe: nd.Recipe) -> None:
    """The features of all texts with their weights."""
    for chunk in in_chunks(texts.array):
        weighted_features(normalized(chunk, recipe.normalize), recipe)


def recipes(segmenter: str, frequencies: nd.DocumentFrequencies) -> dict[str, nd.Recipe]:
    """One for each weight that goes with the segmenter, and keywords by length."""
    chinese = segmenter == "jieba"
    names = [name for name in WEIGHTS if chinese or name not in ("cppjieba", *EXTRACTORS)]
    more: dict[str, Any] = {"tfidf": {"document_frequencies": frequencies}}
    made = {name: nd.Recipe(weights=name, segmenter=segmenter, **more.get(name, {})) for name in names}
    return made | {"tf, keywords by length": nd.Recipe(weights="tf", segmenter=segmenter, keywords="by_length")}


def measure(texts: Texts, segmenter: str, rounds: int, folder: Path) -> dict[str, Any]:
    """MB a second by weight, and of counting."""
    plain = nd.Recipe(segmenter=segmenter)
    path = folder / f"{segmenter}.parquet"
    frequencies = nd.fit(texts.array, path, recipe=plain)
    by_name = recipes(segmenter, frequencies)
    fast = {name: partial(weigh_all, texts, recipe) for name, recipe in by_name.items() if name not in EXTRACTORS}
    few = texts.head(SLOW_SIZE // 4)
    slow = {name: partial(weigh_all, few, recipe) for name, recipe in by_name.items() if name in EXTRACTORS}
    counting = {"fit": lambda: nd.fit(texts.array, path, recipe=plain, threads=1, overwrite=True)}
    timed = {name: (timing, texts.bytes) for name, timing in take_turns({**fast, **counting}, rounds).items()}
    if slow:
        timed |= {name: (timing, few.bytes) for name, timing in take_turns(slow, min(rounds, 3)).items()}
    return {
        "texts": texts.as_record(),
        "features": frequencies.features,
        "megabytes_a_second": {name: timing.as_record(size / 1e6, "MB/s") for name, (timing, size) in timed.items()},
    }


def main() -> None:
    """Measure, show, and write the results."""
    given = arguments(str(__doc__).splitlines()[0], "weights")
    record: dict[str, Any] = environment(["jieba", "rjieba"])
    folder = data_folder(given.data)
    with tempfile.TemporaryDirectory() as temporary:
        for kind, (name, segmenter) in KINDS.items():
            lacking = missing(folder, name)
            if folder is None or lacking:
                print(lacking)
                continue
            texts = open_texts(folder, name)
            found = measure(
                texts.head(SLOW_SIZE if given.quick else SIZE), segmenter, 2 if given.quick else ROUNDS, Path(temporary)
            )
            record[kind] = found
            speeds = found["megabytes_a_second"]
            print(table([kind, "MB/s"], [[each, str(rounded(speed["MB/s"], 3))] for each, speed in speeds.items()]))
    write_json(given.output, record)


if __name__ == "__main__":
    main()
