"""Corpora of many small documents, made of the open sets: Chinese of a kilobyte, short English texts, and lines of one template.

All are the same every time. One document in five is a *planted* copy of another: some of its characters or words are changed, so
few that most of the pairs are at 0.8 or above.
"""

import random
import re
from pathlib import Path

import pyarrow as pa

from corpora import Texts, open_texts

COPIES = 0.2
CHINESE_CHARACTERS = (200, 500)
SHORT_WORDS = (10, 60)
SENTENCE = re.compile(r"[^。；：\s][^。；：\n]*[。；：]?")
TEMPLATE = (
    "this page was made by the system on the day that is given below and it has no other content than what the table of the "
    "month says of station number {} in district {} where the keeper reads the gauge at noon and writes down what it shows in "
    "the book that is sent to the office at the end of each week together with form {} and nothing else"
)
"""A line of sixty words and more, of which three are numbers."""


def _texts(name: str, texts: list[str]) -> Texts:
    return Texts(name, pa.array(texts, pa.large_string()))


def chinese(folder: Path, documents: int, *, share: float = 1.0) -> Texts:
    """Documents of about a kilobyte: runs of one to four sentences from all over the Chinese laws, put together.

    `share`: of the sentences, the others are not used; the fewer, the more documents have each.
    """
    chance = random.Random(1)
    sentences = [
        sentence
        for text in open_texts(folder, "zh_laws_national").array.to_pylist()
        for sentence in SENTENCE.findall(text)
        if len(sentence) >= 8
    ]
    sentences = sentences[: round(share * len(sentences))]
    originals = [_chinese_document(sentences, chance) for _ in range(round(documents * (1 - COPIES)))]
    copies = [_with_changes(chance.choice(originals), "", chance) for _ in range(documents - len(originals))]
    few = f", from {share:.0%} of the sentences" if share < 1 else ""
    return _mixed(f"Chinese, {documents:,} of a kilobyte{few}", originals + copies, chance)


def _chinese_document(sentences: list[str], chance: random.Random) -> str:
    wanted, parts, size = chance.randint(*CHINESE_CHARACTERS), [], 0
    while size < wanted:
        first = chance.randrange(len(sentences))
        parts += sentences[first : first + chance.randint(1, 4)]
        size = sum(map(len, parts))
    return "".join(parts)


def short(folder: Path, documents: int) -> Texts:
    """Runs of 10 to 60 words from anywhere in the PEPs and the licenses."""
    chance = random.Random(2)
    words = [
        word
        for name in ("en_pep_revisions_even", "en_spdx_licenses")
        for text in open_texts(folder, name).array.to_pylist()
        for word in text.split()
    ]
    originals = []
    for _ in range(round(documents * (1 - COPIES))):
        first = chance.randrange(len(words))
        originals.append(" ".join(words[first : first + chance.randint(*SHORT_WORDS)]))
    copies = [_with_changes(chance.choice(originals), " ", chance) for _ in range(documents - len(originals))]
    return _mixed(f"short, {documents:,} of 10 to 60 words", originals + copies, chance)


def titles(documents: int) -> Texts:
    """Questions of some twelve words, as people ask them: few beginnings, many subjects."""
    chance = random.Random(3)
    asks = [
        "how do I",
        "what is the best way to",
        "why can I not",
        "is it possible to",
        "when should one",
        "where do I",
    ]
    verbs = ["read", "write", "remove", "install", "compare", "measure", "open", "convert", "sort", "print"]
    things = [f"{a}{b}" for a in ("data", "web", "net", "file", "text", "user") for b in range(2_000)]
    originals = [
        f"{chance.choice(asks)} {chance.choice(verbs)} the {chance.choice(things)} of a {chance.choice(things)} in "
        f"{chance.choice(things)} with {chance.choice(things)}?"
        for _ in range(round(documents * (1 - COPIES)))
    ]
    copies = [_with_changes(chance.choice(originals), " ", chance) for _ in range(documents - len(originals))]
    return _mixed(f"questions, {documents:,} of 14 words", originals + copies, chance)


def templated(documents: int) -> Texts:
    """Lines of one template, in which three numbers differ."""
    chance = random.Random(4)
    lines = [TEMPLATE.format(*(chance.randrange(10**6) for _ in range(3))) for _ in range(documents)]
    return _texts(f"one template, {documents:,} lines", lines)


def _with_changes(text: str, between: str, chance: random.Random) -> str:
    """One to three pieces of the text put elsewhere by others of it."""
    pieces = text.split(between) if between else list(text)
    for _ in range(chance.randint(1, 1 + len(pieces) // 60)):
        pieces[chance.randrange(len(pieces))] = chance.choice(pieces)
    return between.join(pieces)


def _mixed(name: str, texts: list[str], chance: random.Random) -> Texts:
    chance.shuffle(texts)
    return _texts(name, texts)
