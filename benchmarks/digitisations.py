"""How many poems of one digitisation are found in another, by the steps that normalize them?

    python benchmarks/digitisations.py --texts FOLDER [--output FILE]

The poems of the Tang exist in two independent digitisations in the npm package chinese-poetry: `quantangshi` and
`yudingquantangshi`, which differ in variants of characters, in line breaks and in punctuation. FOLDER is that package, unpacked.
Equal texts within one of them count once. `neardup.match` finds every pair of a similarity, by theorem, so the steps alone differ.

That two texts are one poem is judged by what no similarity sees: its author. Names are compared in simplified characters.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import opencc

import measure
import neardup as nd
from neardup.recipe.tables.parts import NormalizerName

FILES = {"quantangshi": "poet.tang.*.json", "yudingquantangshi": "*.json"}
STEPS: tuple[tuple[NormalizerName, ...], ...] = (
    ("nfkc_casefold",),
    ("shinjitai", "nfkc_casefold"),
    ("simplified", "nfkc_casefold"),
)
SIMILARITIES = (0.8, 0.5)


class Digitisation(NamedTuple):
    """Poems, and their authors in simplified characters."""

    texts: list[str]
    authors: list[str]


def poems(folder: Path, name: str) -> Iterator[tuple[str, str]]:
    """Each poem with its author, in the order of the files."""
    for path in sorted((folder / name).rglob(FILES[name])):
        for poem in json.loads(path.read_text("utf-8")):
            if text := "\n".join(poem["paragraphs"]):
                yield text, poem["author"]


def digitisation(folder: Path, name: str) -> Digitisation:
    """All poems of one, each text once."""
    simple, found = opencc.OpenCC("t2s"), dict[str, str]()
    for text, author in poems(folder, name):
        found.setdefault(text, simple.convert(author))
    return Digitisation(list(found), list(found.values()))


def matched(
    left: Digitisation, right: Digitisation, steps: tuple[NormalizerName, ...], similarity: float
) -> dict[str, Any]:
    """How many poems of the right one are near a poem of the left one, and how many of the pairs have one author."""
    recipe = nd.Recipe(normalize=steps, min_tokens=1)
    found = nd.match(left.texts, right.texts, method="exact", min_similarity=similarity, recipe=recipe)
    pairs = list(zip(found.left.tolist(), found.right.tolist(), strict=True))
    same = sum(left.authors[i] == right.authors[j] for i, j in pairs)
    return {
        "normalize": list(steps),
        "min_similarity": similarity,
        "pairs": len(pairs),
        "found": len({j for _, j in pairs}),
        "of_one_author": measure.rounded(same / len(pairs)) if pairs else None,
    }


def main() -> None:
    """Count, show, and write the results."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--texts", type=Path, required=True, help="the npm package chinese-poetry, unpacked")
    parser.add_argument("--output", type=Path, default=measure.RESULTS / "digitisations.json")
    given = parser.parse_args()
    left, right = (digitisation(given.texts / "dist", name) for name in FILES)
    record: dict[str, Any] = {
        "environment": measure.environment(("opencc",)),
        "left": len(left.texts),
        "right": len(right.texts),
        "equal": len(set(left.texts) & set(right.texts)),
        "rows": [matched(left, right, steps, similarity) for steps in STEPS for similarity in SIMILARITIES],
    }
    for row in record["rows"]:
        print(row)
    measure.write_json(given.output, record)


if __name__ == "__main__":
    main()
