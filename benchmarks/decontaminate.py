"""How fast a corpus is scanned for the items of a benchmark, by the share of documents that hold one.

The corpus is text of the Python installation; the benchmark, 10,000 sentences of eight to thirty words that are in none of it, but
for those that are put into documents, whole. Beside it the usual rule in its usual form: a set of all 13-grams of words of the
items (of shorter ones, all words), asked for each 13-gram of a document, in Python (Brown et al. 2020, Language Models are
Few-Shot Learners, appendix C).
"""

import random
import re
from collections.abc import Sequence
from functools import partial

import neardup
from corpora import python_installation
from measure import arguments, environment, ratio, rounded, take_turns, write_json

ITEMS, BYTES, ROUNDS = 10_000, 10_000_000, 3
QUICK = 1_000, 3_000_000, 2
SHARES = (0.0, 0.01, 0.5)
GRAM = 13
SOME = "what which when who does how long far many first last river bridge stone winter ferry clock garden letter"
WORDS = SOME.split()


def make_items(count: int) -> list[str]:
    """Sentences by chance."""
    choose = random.Random(5)
    return [
        " ".join([*choose.choices(WORDS, k=choose.randrange(6, 28)), "item", str(number)]) for number in range(count)
    ]


def with_items(texts: Sequence[str], items: Sequence[str], share: float) -> list[str]:
    """The texts, where that share of them has an item in its middle."""
    choose, put = random.Random(7), []
    for text in texts:
        if choose.random() < share:
            middle = len(text) // 2
            text = f"{text[:middle]}\n{choose.choice(items)}\n{text[middle:]}"
        put.append(text)
    return put


def _grams(text: str) -> list[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return [tuple(words[i : i + GRAM]) for i in range(max(1, len(words) - GRAM + 1))]


def by_grams(texts: Sequence[str], items: Sequence[str]) -> int:
    """How many texts share 13 words with an item; items of fewer words are found only in texts of no more."""
    known = {gram for item in items for gram in _grams(item)}
    return sum(any(gram in known for gram in _grams(text)) for text in texts)


def by_neardup(texts: Sequence[str], items: Sequence[str], threads: int | None) -> int:
    """How many texts hold an item."""
    return neardup.decontaminate(texts, against=items, threads=threads).summary.contaminated


def main() -> None:
    """Measure all, and write the results."""
    given = arguments(__doc__.splitlines()[0], "decontaminate")
    count, size, rounds = QUICK if given.quick else (ITEMS, BYTES, ROUNDS)
    corpus = python_installation(size)
    items, texts = make_items(count), corpus.array.to_pylist()
    record = environment() | {"texts": corpus.as_record(), "items": count, "shares": (rows := [])}
    for share in SHARES:
        put = with_items(texts, items, share)
        took = sum(len(text.encode()) for text in put)
        planted = sum(after != before for after, before in zip(put, texts, strict=True))
        contenders = {
            "neardup": partial(by_neardup, put, items, None),
            "neardup, one thread": partial(by_neardup, put, items, 1),
            "13-grams in Python": partial(by_grams, put, items),
        }
        timings = take_turns(contenders, rounds)
        row = {"planted": planted, "documents": len(put), "bytes": took}
        for name, timing in timings.items():
            peer = timings["13-grams in Python"]
            row[name] = timing.as_record(took / 1e6, "MB_per_second") | {
                "found": contenders[name](),
                "times_the_peer": rounded(ratio(timing, took, peer, took), 3),
            }
        rows.append(row)
        print(row, flush=True)
    write_json(given.output, record)


if __name__ == "__main__":
    main()
