"""Which changes of an item on a page hide it from `decontaminate`, by the length of the item; and what a lower share costs.

Items are passages of books of the 19th century, as read by machine, and each is put into a page of other text after one kind of
change. False flags are counted on pages of corpora that hold none of the items: other books, proposals, licenses, titles of papers;
with the passages, and with questions that are made of templates.
"""

import itertools
import random
import re
from collections.abc import Callable
from pathlib import Path

import neardup as nd
from corpora import data_folder, documents_of, missing
from measure import arguments, environment, table, write_json

LENGTHS = (10, 20, 40, 80, 200)
COUNT, QUICK_COUNT = 300, 40
SHARES = (0.8, 0.7, 0.6, 0.5, 0.4, 0.3)
PAGE, LINE, PARAGRAPH = 400, 60, 25
"""Words of a page, characters of a line, words of a paragraph."""
BOOKS, OTHERS = (
    ("practicalthought00nev", "thoughtsonpopery00nevi", "memoirjamesbrai00ricegoog"),
    ("calltounconv00baxt", "gospeltruth00whit", "remember00palm"),
)
"""Books from which items are taken, and others, by other authors."""
TEMPLATES = (
    "What is the main purpose of the {} in the context of the {}?",
    "Which of the following is not true of the {} of a {}?",
    "According to the text, who is responsible for the {} of the {}?",
    "How many times may the {} be changed before the {} is no longer valid?",
    "Explain in your own words the difference between the {} and the {}.",
    "Under which of these conditions does the {} apply to the {}?",
)
NOUNS = (
    "license author module function church book work copyright notice version package type court article standard committee".split()  # noqa: SIM905
)
"""Questions that nobody has asked, of words that are common in the clean corpora."""
SETS = ("en_ocr_books", "en_pep_revisions_even", "en_spdx_licenses", "en_dblp_acm")
Words = list[str]


def wrapped(words: Words) -> list[Words]:
    """Lines of some sixty characters."""
    lines, length = [[words[0]]], len(words[0])
    for word in words[1:]:
        if length + len(word) >= LINE:
            lines.append([])
            length = 0
        lines[-1].append(word)
        length += len(word) + 1
    return lines


def hyphenated(words: Words) -> str:
    """Lines, of which the last word is divided where it is long enough."""
    lines = [" ".join(line) for line in wrapped(words)]
    return "\n".join(re.sub(r"(\w{3})(\w{3,})$", r"\1-\n\2", line) for line in lines)


def punctuated(words: Words) -> str:
    """Without the punctuation that there was, and with other."""
    bare = [re.sub(r"\W", "", word) for word in words]
    return " ".join(f"“{word}”," if place % 4 == 0 and word else word for place, word in enumerate(bare))


def numbered(parts: list[Words]) -> str:
    """Each part with its number."""
    return "\n".join(f"{number}. {' '.join(part)}" for number, part in enumerate(parts, 7))


def changed(words: Words, chance: random.Random) -> str:
    """One word in ten is another one, at random places."""
    words = list(words)
    for place in chance.sample(range(len(words)), len(words) // 10):
        words[place] = f"{chance.choice(words)}ing"
    return " ".join(words)


CHANGES: dict[str, Callable[[Words, random.Random], str]] = {
    "verbatim": lambda words, _: " ".join(words),
    "case": lambda words, _: " ".join(words).upper(),
    "punctuation": lambda words, _: punctuated(words),
    "line breaks": lambda words, _: "\n    ".join(" ".join(line) for line in wrapped(words)),
    "hyphens at line ends": lambda words, _: hyphenated(words),
    "`&nbsp;` between words": lambda words, _: "&nbsp;".join(words),
    "other entities": lambda words, _: " &mdash; ".join(
        " ".join(f"&ldquo;{w}&#8221;" for w in line) for line in wrapped(words)
    ),
    "HTML tags": lambda words, _: "<br/>".join(
        " ".join(f"<i>{w[:1]}</i>{w[1:]}" for w in line) for line in wrapped(words)
    ),
    "numbered lines": lambda words, _: numbered(wrapped(words)),
    "numbered paragraphs": lambda words, _: numbered(
        [words[n : n + PARAGRAPH] for n in range(0, len(words), PARAGRAPH)]
    ),
    "one word in ten changed": changed,
    "first half only": lambda words, _: " ".join(words[: len(words) // 2]),
    "last half only": lambda words, _: " ".join(words[len(words) // 2 :]),
}


def words_of(text: str) -> Words:
    """The words of a text, without marks of the printer; words that lines divide are joined."""
    return [word for word in re.sub(r"-\s*\n\s*", "", text).split() if re.search(r"[A-Za-z]", word)]


def passages(books: list[Words], length: int, count: int, chance: random.Random) -> list[Words]:
    """Passages that do not overlap, of so many words each."""
    places = [(n, first) for n, book in enumerate(books) for first in range(300, len(book) - length - 300, length)]
    return [books[n][first : first + length] for n, first in chance.sample(places, min(count, len(places)))]


def pages_of(texts: list[str]) -> list[str]:
    """Pages of texts."""
    return [" ".join(words[n : n + PAGE]) for words in map(str.split, texts) for n in range(0, len(words), PAGE)]


def found(pages: list[str], items: list[str], min_share: float) -> int:
    """How many pages hold an item."""
    return nd.decontaminate(pages, against=items, min_share=min_share).summary.contaminated


def main() -> None:
    """Measure all, and write the results."""
    given = arguments(str(__doc__).splitlines()[0], "decontamination_recall")
    folder = data_folder(given.data)
    if lacking := [why for name in SETS if (why := missing(folder, name))]:
        print("\n".join(lacking))
        return
    assert folder is not None
    record = environment() | measured(folder, QUICK_COUNT if given.quick else COUNT)
    for part in ("changes", "shares"):
        print(
            table(
                [part, *map(str, LENGTHS)], [[str(name), *map(str, of.values())] for name, of in record[part].items()]
            )
        )
    print(record["clean"])
    write_json(given.output, record)


def measured(folder: Path, count: int) -> dict[str, object]:
    """The share of items that is found, by change and length, and by share; and false flags."""
    of_set = {name: {str(each["id"]): each["text"] for each in documents_of(folder / name)} for name in SETS}
    chance, books = random.Random(11), [words_of(of_set["en_ocr_books"][name]) for name in BOOKS]
    around = pages_of(list(of_set["en_spdx_licenses"].values()))
    kinds = {length: passages(books, length, count, chance) for length in LENGTHS}
    items = {length: [" ".join(words) for words in kinds[length]] for length in LENGTHS}

    def pages(change: str, length: int) -> list[str]:
        return [
            f"{chance.choice(around)}\n\n{CHANGES[change](words, chance)}\n\n{chance.choice(around)}"
            for words in kinds[length]
        ]

    changes = {
        change: {n: found(pages(change, n), items[n], 0.8) / len(items[n]) for n in LENGTHS} for change in CHANGES
    }
    put = {n: pages("one word in ten changed", n) for n in LENGTHS}
    shares = {share: {n: found(put[n], items[n], share) / len(items[n]) for n in LENGTHS} for share in SHARES}
    benchmarks = {
        "passages": [item for length in LENGTHS for item in items[length]],
        "questions": [each.format(a, b) for each in TEMPLATES for a, b in itertools.permutations(NOUNS, 2)],
    }
    corpora = {
        "other books": pages_of([of_set["en_ocr_books"][name] for name in OTHERS]),
        "proposals": pages_of(list(of_set["en_pep_revisions_even"].values())),
        "licenses": around,
        "titles of papers": list(of_set["en_dblp_acm"].values()),
    }
    clean = {
        name: {
            "pages": len(texts),
            **{kind: {share: found(texts, every, share) for share in SHARES} for kind, every in benchmarks.items()},
        }
        for name, texts in corpora.items()
    }
    return {
        "items": {n: len(items[n]) for n in LENGTHS},
        "benchmarks": {kind: len(of) for kind, of in benchmarks.items()},
        "changes": changes,
        "shares": shares,
        "clean": clean,
    }


if __name__ == "__main__":
    main()
