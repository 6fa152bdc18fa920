"""CASES: what one comparison is about, drawn by chance from a seed and a number."""

import dataclasses
import random
from dataclasses import dataclass, field
from typing import Any

from fuzz import texts

SIMILARITIES = ("jaccard", "weighted", "containment", "cosine", "edit")
METHODS = ("exact", "exact", "minhash", "simhash", "auto")
LANGUAGES = ("en", "de", "", None, 7, "7")
KEEPS = ("first", "last", "longest", "shortest", "max:score", "min:score")
NORMALIZERS = ("nfkc_casefold", "nfkc", "casefold", "lower", "digits", "punctuation", "marks", "letters", "word_breaks")
KINDS = ("jsonl", "csv", "tsv", "parquet", "txt", "lines")
"""Formats of files; those after the first four have no columns."""
WAYS = ("rows", "rows", "rows", "table", "match", "match", "files", "files", "command", "command", "resume", "stages")
SHARES = (None, None, 1 << 10, 1 << 14)
"""Bytes of every share of the memory, instead of the parts of at least 16 MB: so small corpora, too, do not fit."""


@dataclass(frozen=True)
class Document:
    """A text with the columns that options may name."""

    text: str
    language: Any = None
    score: Any = None


@dataclass(frozen=True)
class Case:
    """A corpus, options, and the way in which the library is asked.

    Attributes:
        documents: the inputs; `reference`: a reference, or None.
        options: of `deduplicate` by name; resources among them.
        recipe: fields of the recipe that are not the default.
        unit: document, line or paragraph.
        way: one of WAYS; `kind`: the format of its files.
        share: see SHARES.
        step: the documents of a step of clustering; None for the usual.
        keeps_elements: whether the first pass may keep what a join needs.
        patient: whether `auto` prefers exact, as it does with few documents.
        block: survivors are found first, among so many documents at a time; None for the usual.
    """

    documents: tuple[Document, ...]
    options: dict[str, Any]
    reference: tuple[Document, ...] | None = None
    recipe: dict[str, Any] = field(default_factory=dict)
    unit: str = "document"
    way: str = "rows"
    kind: str = "jsonl"
    share: int | None = None
    step: int | None = None
    keeps_elements: bool = True
    patient: bool = True
    block: int | None = None

    @property
    def texts(self) -> list[str]:
        """Those of the inputs, then those of the reference."""
        return [each.text for each in self.all_documents]

    @property
    def all_documents(self) -> tuple[Document, ...]:
        return self.documents + (self.reference or ())

    def option(self, name: str) -> Any:
        """An option, or its default."""
        return self.options.get(name, DEFAULTS[name])


DEFAULTS = {
    "method": "auto", "min_similarity": 0.8, "similarity": "jaccard", "max_distance": None, "keep": "first",
    "cluster": "star", "within": None, "guard": None,
}  # fmt: skip


def threshold(rng: random.Random) -> float:
    """From 0.01 to 1; often a fraction that sets of some size have, or the number beside it."""
    drawn = rng.random()
    if drawn < 0.3:
        return rng.choice([0.01, 0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0])
    if drawn < 0.6:
        return round(rng.uniform(0.01, 1), rng.choice([2, 3, 15]))
    whole = rng.randint(1, 40)
    exact = max(0.01, rng.randint(1, whole) / whole)
    return min(1.0, exact + rng.choice([0, 0, 1, -1]) * 2.0**-53 * rng.choice([1, 2, 4]))


def _recipe(rng: random.Random, similarity: str) -> dict[str, Any]:
    """Fields that are not the default; for all but the cosine, few of them say anything about similarities."""
    found: dict[str, Any] = {}
    if rng.random() < 0.5:
        return found
    if rng.random() < 0.5:
        found["normalize"] = tuple(rng.sample(NORMALIZERS, rng.randint(0, 3)))
    if rng.random() < 0.3:
        found["bits"] = rng.choice([64, 128, 192, 17, 512])
    if rng.random() < 0.3:
        found["min_tokens"] = rng.choice([1, 3, 8, 20])
    if rng.random() < 0.3:
        found["version"] = 2
    if similarity == "cosine" and rng.random() < 0.6:
        found["weights"] = rng.choice(["uniform", "tf", "log", "sqrt"])
        found["word_shingle"], found["cjk_shingle"] = rng.randint(1, 4), rng.randint(1, 4)
    return found


def _documents(rng: random.Random, found: list[str]) -> tuple[Document, ...]:
    return tuple(Document(text, rng.choice(LANGUAGES), rng.choice([None, 0, 1, 2, -5])) for text in found)


def draw(seed: int, number: int) -> Case:
    """The case of that number; always the same."""
    rng = random.Random(f"{seed}/{number}")
    size = rng.choice([rng.randint(0, 6), rng.randint(2, 16), rng.randint(8, 40)]) if rng.random() < 0.99 else 150
    is_family = rng.random() < 0.15
    unit = rng.choice(["document"] * 5 + ["line", "paragraph"])
    way, kind = rng.choice(WAYS), rng.choice(KINDS)
    method = rng.choice(METHODS)
    similarity = rng.choice(SIMILARITIES) if method != "minhash" else "jaccard"
    if similarity == "jaccard" and is_family:  # with more pairs, of which minhash may miss some
        size = rng.randint(30, 100)
    options: dict[str, Any] = {"method": method, "similarity": similarity, "min_similarity": threshold(rng)}
    recipe = _recipe(rng, similarity) if way != "stages" else {}  # the runner of stages has the default one
    bits = recipe.get("bits", 128)
    if method != "exact" and (
        rng.random() < 0.4 or (method == "simhash" and recipe)
    ):  # few recipes have a distance of their own
        options["max_distance"] = rng.choice([0, 3, bits // 8, bits // 4, bits // 3, bits])
    if method == "simhash" and rng.random() < 0.3:
        options["min_similarity"] = 0.0
    options |= {"keep": rng.choice(KEEPS), "cluster": rng.choice(["star", "components"])}
    if rng.random() < 0.3:
        options["within"] = "language"
    options |= {"threads": rng.randint(1, 8), "memory": rng.choice(["16M", "64M", "1G"])}
    reference = None
    if unit != "document":
        way, found = rng.choice(["files", "command"]), texts.corpus_of_units(rng, min(size, 12))
        kind = rng.choice(KINDS[:-1])
    else:
        found = texts.corpus(rng, size)
        if way != "stages" and rng.random() < 0.35:
            cut = rng.randint(0, len(found))
            found, reference = found[cut:], _documents(rng, found[:cut])
    if way == "stages" and options["method"] == "auto":
        options["method"] = "exact"
    if rng.random() < 0.2 and "digits" not in recipe.get("normalize", ()):
        options["guard"] = "same-numbers"
    case = Case(
        documents=_documents(rng, found), options=options, reference=reference, recipe=recipe, unit=unit, way=way, kind=kind,
        share=rng.choice(SHARES), step=rng.choice([None, None, 1, 7]), keeps_elements=rng.random() < 0.7, patient=rng.random() < 0.8,
        block=rng.choice([None, None, 2, 5]),
    )  # fmt: skip
    return _possible(case)


def _possible(case: Case) -> Case:
    """The case without what its way or its format cannot have."""
    options = dict(case.options)
    if case.kind == "txt" and not case.documents:
        case = dataclasses.replace(case, kind="jsonl")
    if case.way == "match":  # which does not say what auto takes
        case = dataclasses.replace(case, patient=True)
    if case.way in ("files", "command", "resume", "stages") and case.kind in ("txt", "lines"):
        options.pop("within", None)
        if ":" in options["keep"]:
            options["keep"] = "longest"
    if case.way in ("match", "stages"):
        options["keep"] = "first" if ":" in options["keep"] else options["keep"]
    if case.way == "match":
        options = {name: value for name, value in options.items() if name not in ("keep", "cluster")}
    if options["method"] == "exact":
        options.pop("max_distance", None)
    return dataclasses.replace(case, options=options)
