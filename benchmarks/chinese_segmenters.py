"""How many megabytes of Chinese a second does a thread cut into words, and weigh for keywords, beside other tools?

    python benchmarks/chinese_segmenters.py [--quick] [--data FOLDER] [--texts FOLDER ...] [--cppjieba FOLDER] [--output FILE]

In turns, round by round, processor seconds of one thread each: our segmenter `jieba` to arrays of tokens, the packages rjieba and
jieba to lists of strings, and cppjieba compiled here to vectors of strings, if the folder with its source is given (the package
nodejieba of npm carries it: submodules/cppjieba). jieba is slow, so it gets a part of the texts. Two threads of ours are measured
against one by the clock on the wall, which a busy machine distorts.

Texts are the open set of Chinese laws, and those in the folders of `--texts`, as in `jieba_identity.py`.
"""

import argparse
import logging
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jieba
import jieba.analyse
import pyarrow as pa
import rjieba

from corpora import Texts, data_folder, missing, open_texts
from jieba_identity import documents_of
from measure import RESULTS, Timing, environment, ratio, rounded, table, take_turns, write_json
from neardup.fingerprints.features import weighted_features
from neardup.kernels.text.jieba_words import GUESS, SEARCH
from neardup.recipe.recipe import Recipe
from neardup.text.normalizers import FoldedTexts, normalized
from neardup.text.segmenters.jieba import tokens_by, word_tables

SIZE, SLOW_SIZE, QUICK_SIZE = 8_000_000, 400_000, 1_000_000
"""Bytes of each set; of those that the package jieba cuts; and with `--quick`."""
ROUNDS = 7
OURS = "jieba, kernels"
PROGRAM = r"""
#include <chrono>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include "cppjieba/Jieba.hpp"

// Cuts the texts of a file, which zero bytes end, once for each line of standard input; writes the seconds of the processor.
int main(int, char** arguments) {
  const std::string folder = arguments[1];
  cppjieba::Jieba jieba(folder + "/jieba.dict.utf8", folder + "/hmm_model.utf8", folder + "/user.dict.utf8",
                        folder + "/idf.utf8", folder + "/stop_words.utf8");
  std::ifstream file(arguments[2], std::ios::binary);
  const std::string data((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<std::string> texts;
  for (size_t begin = 0, end; (end = data.find('\0', begin)) != std::string::npos; begin = end + 1)
    texts.push_back(data.substr(begin, end - begin));
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto before = std::clock();
    size_t found = 0;
    std::vector<std::string> words;
    for (const auto& text : texts) {
      jieba.Cut(text, words, true);
      found += words.size();
    }
    std::cout << double(std::clock() - before) / CLOCKS_PER_SEC << " " << found << std::endl;
  }
}
"""


class Compiled:
    """cppjieba in a process of its own."""

    def __init__(self, source: Path, folder: Path, texts: Texts) -> None:
        (folder / "main.cpp").write_text(PROGRAM)
        (folder / "texts").write_bytes(
            b"".join(text.encode().replace(b"\0", b" ") + b"\0" for text in texts.array.to_pylist())
        )
        headers = [f"-I{source / 'include'}", f"-I{source / 'deps' / 'limonp' / 'include'}"]
        command: list[str | Path] = [
            "g++",
            "-O3",
            "-march=native",
            "-std=c++17",
            "-w",
            *headers,
            "-o",
            folder / "main",
            folder / "main.cpp",
        ]
        subprocess.run(command, check=True)
        self.process = subprocess.Popen(
            [folder / "main", source / "dict", folder / "texts"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def seconds(self) -> float:
        """The seconds of one pass over the texts."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline().split()[0])

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def each(cut: Callable[[str], object], rows: list[str]) -> None:
    for text in rows:
        cut(text)


def in_threads(work: Callable[[], object], number: int) -> None:
    threads = [threading.Thread(target=work) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def weigh(folded: FoldedTexts, recipe: Recipe) -> None:
    weighted_features(folded, recipe)


def timed(contenders: dict[str, Callable[[], object]], compiled: Compiled | None, rounds: int) -> dict[str, Timing]:
    """The processor seconds of each contender, in turns; those of the compiled one are its own."""
    seconds: list[float] = []
    if compiled is not None:
        contenders = {**contenders, "cppjieba, compiled": lambda: seconds.append(compiled.seconds())}
    found = take_turns(contenders, rounds, time.thread_time)
    if compiled is not None:
        found["cppjieba, compiled"] = Timing(tuple(seconds[-rounds:]))
    return found


def measure(texts: Texts, cppjieba: Path | None, rounds: int) -> dict[str, Any]:
    """The figures of one set of texts."""
    rows, few = texts.array.to_pylist(), texts.head(min(SLOW_SIZE, texts.bytes // 4))
    tables, folded = word_tables(), normalized(texts.array, ())
    slow_rows, slow_folded = few.array.to_pylist(), normalized(few.array, ())
    weights = {
        name: Recipe(segmenter="jieba", weights=name, normalize=[]) for name in ("jieba_tfidf", "jieba_textrank")
    }
    contenders: dict[str, Callable[[], object]] = {
        OURS: partial(tokens_by, tables, folded, GUESS),
        "jieba, kernels, no hmm": partial(tokens_by, tables, folded, 0),
        "jieba, kernels, search": partial(tokens_by, tables, folded, GUESS | SEARCH),
        "rjieba": partial(each, rjieba.cut, rows),
        "keywords by TF-IDF, kernels": partial(weigh, folded, weights["jieba_tfidf"]),
        "keywords by TextRank, kernels": partial(weigh, folded, weights["jieba_textrank"]),
    }
    slow: dict[str, Callable[[], object]] = {
        OURS: partial(tokens_by, tables, slow_folded, GUESS),
        "jieba, the package": partial(each, jieba.lcut, slow_rows),
        "keywords by TF-IDF, the package": partial(each, partial(jieba.analyse.extract_tags, topK=None), slow_rows),
        "keywords by TextRank, the package": partial(each, partial(jieba.analyse.textrank, topK=None), slow_rows),
    }
    with tempfile.TemporaryDirectory() as folder:
        compiled = Compiled(cppjieba, Path(folder), texts) if cppjieba else None
        found = timed(contenders, compiled, rounds)
        if compiled:
            compiled.end()
    of_few = take_turns(slow, max(1, min(rounds, 3)), time.thread_time)
    ours = found[OURS]
    twice = take_turns(
        {f"{n} threads": partial(in_threads, partial(tokens_by, tables, folded, GUESS), n) for n in (1, 2)}, rounds
    )
    million = 1e6
    speeds = {name: timing.as_record(texts.bytes / million, "MB/s") for name, timing in found.items()}
    speeds |= {
        name: timing.as_record(few.bytes / million, "MB/s") for name, timing in of_few.items() if name not in speeds
    }
    ratios = {name: rounded(ratio(ours, 1, timing, 1)) for name, timing in found.items() if name != OURS}
    ratios |= {name: rounded(ratio(of_few[OURS], 1, timing, 1)) for name, timing in of_few.items() if name != OURS}
    return {
        **texts.as_record(),
        "one_thread": speeds,
        "times_as_fast": ratios,
        "two_threads_of_one": rounded(2 * ratio(twice["2 threads"], 1, twice["1 threads"], 1)),
    }


def folder_texts(folder: Path, size: int) -> Texts:
    """The first documents in a folder."""
    found, total = [], 0
    for text in documents_of(folder):
        found.append(text)
        total += len(text.encode())
        if total >= size:
            break
    return Texts(folder.name, pa.array(found, pa.large_string()))


def main() -> None:
    """Measure, show, and write the results."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="less texts, two rounds")
    parser.add_argument("--data", help="the folder of the open sets")
    parser.add_argument("--texts", type=Path, nargs="*", default=[], help="folders with .txt and .json")
    parser.add_argument("--cppjieba", type=Path, help="the folder with the source of cppjieba")
    parser.add_argument("--output", type=Path, default=RESULTS / "chinese_segmenters.json")
    given = parser.parse_args()
    jieba.setLogLevel(logging.WARNING)
    jieba.initialize()
    size, rounds = (QUICK_SIZE, 2) if given.quick else (SIZE, ROUNDS)
    sets = [folder_texts(each, size) for each in given.texts]
    folder = data_folder(given.data)
    if (problem := missing(folder, "zh_laws_national")) or folder is None:
        print(f"skipped: {problem}")
    else:
        sets.insert(0, open_texts(folder, "zh_laws_national").head(size))
    record: dict[str, Any] = {"environment": environment(("jieba", "rjieba")), "sets": {}}
    for texts in sets:
        record["sets"][texts.name] = found = measure(texts, given.cppjieba, rounds)
        rows = [
            [name, str(speed["MB/s"]), str(found["times_as_fast"].get(name, ""))]
            for name, speed in found["one_thread"].items()
        ]
        print(f"\n{texts.name}\n\n{table(['', 'MB/s', 'jieba by kernels is so many times as fast'], rows)}", flush=True)
        print("two threads of one:", found["two_threads_of_one"], flush=True)
        write_json(given.output, record)


if __name__ == "__main__":
    main()
