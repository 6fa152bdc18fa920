"""Does the segmenter `jieba` cut every text as the package jieba does?

    python benchmarks/jieba_identity.py [--data FOLDER] [--texts FOLDER ...] [--most BYTES] [--processes N] [--add] [--output FILE]

All tokens of all documents are compared: with the model and without, and of every tenth document in search mode. Documents are
those of the open set of Chinese laws, those that lie in the folders of `--texts`, and some that are generated from both with a
fixed seed: words of the dictionary, rare characters, Latin letters, digits, signs, emoji, white space and unassigned code points.

In a folder, `.txt` are lines, with or without a tag after each word; `.json` are strings, wherever they stand; a document has about
DOCUMENT characters. The package is slow: a hundred megabytes take some minutes on each processor.
"""

import argparse
import gzip
import hashlib
import io
import json
import logging
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow as pa

from corpora import data_folder
from measure import RESULTS, environment, rounded, table, write_json
from neardup.kernels.text.jieba_words import EVERY, GUESS, SEARCH
from neardup.text.normalizers import normalized
from neardup.text.segmenters.jieba import tokens_by
from neardup.text.segmenters.jieba_cache import kept_tables
from neardup.text.segmenters.jieba_counts import counted

DOCUMENT = 2000
PART = 200
"""Documents that are compared at a time."""
GENERATED = 20_000
SEED = 24
TAGGED = re.compile(r"(\S+)/[A-Za-z]+\s*")
OTHERS = "0123456789ABCXYZabcxyz+#&._%- \t\n\r\u3000\u00a0，。、；：？！“”（）《》…—·γжéあアｶ각😀👍🏽\u200d\ufe0f\u0378\ue000𠀀𪜶"


def strings(value: Any) -> Iterator[str]:
    """All strings in a value of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from strings(each)


def lines_of(path: Path) -> Iterator[str]:
    """What a file holds, piece by piece."""
    if path.suffix == ".json":
        yield from strings(json.loads(path.read_text("utf-8")))
        return
    for line in path.read_text("utf-8").splitlines():
        tagged = TAGGED.findall(line)
        yield "".join(tagged) if tagged and len("".join(tagged)) > len(line) // 4 else line


def documents_of(folder: Path) -> Iterator[str]:
    """Documents of the files in a folder, each file once, in the order of their names."""
    seen = set()
    for path in sorted([*folder.rglob("*.txt"), *folder.rglob("*.json")]):
        digest = hashlib.sha256(path.read_bytes()).digest()
        if digest in seen:
            continue
        seen.add(digest)
        lines, size = [], 0
        for line in lines_of(path):
            lines.append(line)
            size += len(line)
            if size >= DOCUMENT:
                yield "\n".join(lines)
                lines, size = [], 0
        if lines:
            yield "\n".join(lines)


def laws(folder: Path) -> Iterator[str]:
    with gzip.open(folder / "zh_laws_national" / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)["text"]


def generated() -> Iterator[str]:
    """Texts of words, characters and signs by chance."""
    draw, words = random.Random(SEED), list(counted(()).counts)
    kinds: tuple[Callable[[], str], ...] = (
        lambda: draw.choice(words),
        lambda: chr(draw.randrange(0x4E00, 0xA000)),
        lambda: draw.choice(OTHERS),
        lambda: "".join(draw.choices("0123456789.%ab", k=draw.randrange(1, 8))),
        lambda: chr(draw.randrange(1, 0xD800)),
    )
    for _ in range(GENERATED):
        weights = draw.choice(((9, 1, 1, 1, 0), (2, 6, 1, 1, 1), (3, 3, 3, 3, 0)))
        pieces = draw.choices(kinds, weights, k=draw.randrange(1, 200))
        yield "".join(piece() for piece in pieces)


_PACKAGE: Any = None


def package() -> Any:
    """The package with its own dictionary, and not with what another program left in its cache."""
    global _PACKAGE
    if _PACKAGE is None:
        import jieba

        jieba.setLogLevel(logging.WARNING)
        _PACKAGE = jieba.Tokenizer()
        with jieba.dt.get_dict_file() as file:
            _PACKAGE.FREQ, _PACKAGE.total = _PACKAGE.gen_pfdict(io.BytesIO(file.read()))
        _PACKAGE.initialized = True
    return _PACKAGE


def by_kernels(texts: list[str], how: int) -> list[list[str]]:
    found = tokens_by(kept_tables(()), normalized(pa.array(texts, pa.large_string()), ()), how | EVERY)
    edges = found.documents
    return [[found.text(i) for i in range(edges[d], edges[d + 1])] for d in range(len(texts))]


def compare(texts: list[str]) -> tuple[Counter[str], list[Any]]:
    """What was compared, and the first difference of each document that is cut otherwise."""
    tokenizer, counts = package(), Counter[str]()
    found: list[Any] = []
    ways: dict[str, tuple[int, list[str], Callable[[str], Iterable[str]]]] = {
        "cut": (GUESS, texts, lambda text: tokenizer.cut(text)),
        "cut, HMM=False": (0, texts, lambda text: tokenizer.cut(text, HMM=False)),
        "cut_for_search": (GUESS | SEARCH, texts[::10], lambda text: tokenizer.cut_for_search(text)),
        "cut_for_search, HMM=False": (SEARCH, texts[::10], lambda text: tokenizer.cut_for_search(text, HMM=False)),
    }
    for way, (how, of, cut) in ways.items():
        for text, ours in zip(of, by_kernels(of, how), strict=True):
            theirs = list(cut(text))
            counts[way] += len(theirs)
            if ours != theirs:
                place = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), -1)
                found.append([way, ours[max(0, place - 1) : place + 3], theirs[max(0, place - 1) : place + 3]])
    counts["documents"], counts["bytes"] = len(texts), sum(len(text.encode()) for text in texts)
    return counts, found


def parts(texts: Iterable[str], most: int) -> Iterator[list[str]]:
    """Documents, PART at a time, up to so many bytes; lone surrogates of damaged files become question marks."""
    rest, size = iter(texts), 0
    while size < most and (part := list(islice(rest, PART))):
        part = [text.encode("utf-8", "replace").decode() for text in part]
        size += sum(len(text.encode()) for text in part)
        yield part


def measure(texts: Iterable[str], most: int, pool: ProcessPoolExecutor) -> dict[str, Any]:
    started, counts = time.monotonic(), Counter[str]()
    differing: list[Any] = []
    for of_part, found in pool.map(compare, parts(texts, most)):
        counts += of_part
        differing += found
    named = {name: counts.pop(name) for name in ("documents", "bytes")}
    return {
        **named,
        "tokens": dict(counts),
        "documents_cut_otherwise": len(differing),
        "differences": differing[:20],
        "minutes": rounded((time.monotonic() - started) / 60),
    }


def main() -> None:
    """Compare, show, and write the results."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--data", type=Path, help="the folder of the open sets")
    parser.add_argument("--texts", type=Path, nargs="*", default=[], help="folders with .txt and .json")
    parser.add_argument("--most", type=int, default=1 << 62, help="bytes of each set; default: all")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--output", type=Path, default=RESULTS / "jieba_identity.json")
    parser.add_argument("--add", action="store_true", help="keep what the result file has of other sets")
    given = parser.parse_args()
    sets: dict[str, Iterable[str]] = {"generated": generated()}
    if (folder := data_folder(given.data)) is not None:
        sets["zh_laws_national"] = laws(folder)
    sets |= {each.name: documents_of(each) for each in given.texts}
    kept_tables(())
    record: dict[str, Any] = {"environment": environment(("jieba",)), "sets": {}}
    if given.add:
        record["sets"] = json.loads(given.output.read_text("utf-8"))["sets"]
    with ProcessPoolExecutor(given.processes, mp_context=get_context("spawn")) as pool:
        for name, texts in sets.items():
            record["sets"][name] = {"commit": record["environment"]["commit"], **measure(texts, given.most, pool)}
            print(name, record["sets"][name], flush=True)
            write_json(given.output, record)
    rows = [
        [name, str(found["bytes"]), str(found["documents_cut_otherwise"])] for name, found in record["sets"].items()
    ]
    print(table(["texts", "bytes", "documents that are cut otherwise"], rows))
    if any(found["documents_cut_otherwise"] for found in record["sets"].values()):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
