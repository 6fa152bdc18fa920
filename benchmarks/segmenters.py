"""What each segmenter costs, what the pipeline around it costs, and what worker processes bring.

    python benchmarks/segmenters.py [--quick] [--data FOLDER] [--output FILE]

Costs are seconds of processor time of one thread, from texts to fingerprints, so that other programs count little; beside them
rjieba and SudachiPy alone, which only make lists of strings. Two workers are measured against one thread by the clock on the
wall, and two plain threads of the package beside them: on a machine that is busy with other work, all of these come out low.
"""

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pyarrow as pa
import rjieba
import sudachipy

from corpora import Texts, data_folder, missing, open_texts
from east_asian import CATALOGS, japanese_catalogs
from measure import arguments, environment, ratio, rounded, table, take_turns, write_json
from neardup.fingerprints.simhash import fingerprint
from neardup.recipe.recipe import Recipe
from neardup.text.segmenters.sudachi import pieces
from neardup.text.segmenters.workers import end_workers

BYTES = 8_000_000
ROUNDS = 7
DOCUMENT = 1400
"""Characters of a Japanese document."""
AT_ONCE = 6
"""So many times the texts are gone through where workers are measured: each is to have several parts to do."""
MEGABYTE = 1e6


def by_rjieba(texts: list[str]) -> None:
    for text in texts:
        rjieba.cut(text)


def by_sudachipy(tokenizer: Any, texts: list[str]) -> None:
    for text in texts:
        for piece in pieces(text):
            [token.surface() for token in tokenizer.tokenize(piece)]


def in_two_threads(work: Callable[[int], object]) -> None:
    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def costs(texts: Texts, contenders: dict[str, Callable[[], object]], alone: str, rounds: int) -> dict[str, Any]:
    """Processor time of each; and of what runs by the package, how much more than the package alone."""
    timings = take_turns(contenders, rounds, time.thread_time)
    found: dict[str, Any] = {}
    for name, timing in timings.items():
        found[name] = timing.as_record(texts.bytes / MEGABYTE, "megabytes_per_second")
        found[name]["of_package_alone"] = rounded(1 / ratio(timing, 1, timings[alone], 1))
    return found


def workers(
    texts: Texts, recipe: Recipe, plain: Callable[[int], object], whole: Callable[[], object], rounds: int
) -> Any:
    """How many times as fast two workers are as one thread, and two threads of the package as one."""
    run = partial(fingerprint, pa.concat_arrays([texts.array] * AT_ONCE), recipe=recipe)
    contenders = {
        "one thread": partial(run, threads=1),
        "two workers": partial(run, threads=2),
        "package, one thread": whole,
        "package, two threads": partial(in_two_threads, plain),
    }
    timings = take_turns(contenders, rounds)
    end_workers()
    return {
        "two_workers": rounded(ratio(timings["two workers"], 1, timings["one thread"], 1)),
        "two_threads_of_the_package": rounded(
            ratio(timings["package, two threads"], 1, timings["package, one thread"], 1)
        ),
        "seconds": {name: rounded(timing.median) for name, timing in timings.items()},
    }


def fingerprints(texts: Texts, **fields: Any) -> Callable[[], object]:
    return partial(fingerprint, texts.array, recipe=Recipe(**fields), threads=1)


def chinese(texts: Texts, rounds: int) -> dict[str, Any]:
    rows = texts.array.to_pylist()
    contenders = {
        "rjieba alone": partial(by_rjieba, rows),
        "rjieba": fingerprints(texts, segmenter="rjieba"),
        "jieba": fingerprints(texts, segmenter="jieba"),
        "jieba, search": fingerprints(texts, segmenter="jieba", mode="search"),
        "jieba, no hmm": fingerprints(texts, segmenter="jieba", hmm=False),
        "jieba, stop words": fingerprints(texts, segmenter="jieba", stop_words=["zh"]),
        **_without_package(texts),
        "words, simplified": fingerprints(texts, normalize=["simplified", "nfkc_casefold"]),
    }
    return {
        "costs": costs(texts, contenders, "rjieba alone", rounds),
        "workers": workers(
            texts,
            Recipe(segmenter="rjieba"),
            lambda i: by_rjieba(rows[i::2] * AT_ONCE),
            lambda: by_rjieba(rows * AT_ONCE),
            rounds,
        ),
    }


def japanese(texts: Texts, rounds: int) -> dict[str, Any]:
    rows = texts.array.to_pylist()
    tokenizers = [sudachipy.Dictionary(dict="core").tokenizer(sudachipy.SplitMode.C) for _ in range(2)]
    contenders = {
        "sudachipy alone": partial(by_sudachipy, tokenizers[0], rows),
        **{f"sudachi {mode}": fingerprints(texts, segmenter="sudachi", mode=mode) for mode in "CBA"},
        "sudachi C, stop words": fingerprints(texts, segmenter="sudachi", stop_words=["ja"]),
        **_without_package(texts),
    }
    return {
        "costs": costs(texts, contenders, "sudachipy alone", rounds),
        "workers": workers(
            texts,
            Recipe(segmenter="sudachi"),
            lambda i: by_sudachipy(tokenizers[i], rows[i::2] * AT_ONCE),
            lambda: by_sudachipy(tokenizers[0], rows * AT_ONCE),
            min(rounds, 4),
        ),
    }


def _without_package(texts: Texts) -> dict[str, Callable[[], object]]:
    return {
        "words": fingerprints(texts),
        "words, stop words": fingerprints(texts, stop_words=["zh", "ja", "en"]),
        "characters, pairs": fingerprints(texts, segmenter="characters", word_shingle=2),
        "whitespace": fingerprints(texts, segmenter="whitespace"),
    }


def main() -> None:
    given = arguments(__doc__.splitlines()[0], "segmenters")
    size, rounds = (1_000_000, 3) if given.quick else (BYTES, ROUNDS)
    folder, name = data_folder(given.data), "zh_laws_national"
    sets: list[tuple[Texts, Callable[[Texts, int], dict[str, Any]]]] = []
    if (problem := missing(folder, name)) is None and folder is not None:
        sets.append((open_texts(folder, name).head(size), chinese))
    else:
        print(f"skipped: {problem}")
    if (catalogs := japanese_catalogs(DOCUMENT)) is not None:
        sets.append((catalogs.head(size), japanese))
    else:
        print(f"skipped: no Japanese message catalogs in {CATALOGS}")
    record: dict[str, Any] = {"environment": environment(("rjieba", "sudachipy", "sudachidict_core", "opencc"))}
    record["texts"] = [texts.as_record() for texts, _ in sets]
    for texts, measure in sets:
        record[texts.name] = found = measure(texts, rounds)
        rows = [
            [each, f"{values['megabytes_per_second']:g}", f"{values['of_package_alone']:g}"]
            for each, values in found["costs"].items()
        ]
        print(f"\n{texts.name}\n")
        print(table(["segmenter", "MB/s of processor time", "time, the package alone = 1"], rows))
        print(found["workers"])
    write_json(given.output, record)


if __name__ == "__main__":
    main()
