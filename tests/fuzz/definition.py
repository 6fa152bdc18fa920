"""DEFINITION: what must come out of a case, by `tests/naive.py` and by looking at every pair."""

import itertools
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import naive
from fuzz.cases import Case

NEAR_NOTHING = 1e-9


@dataclass(frozen=True)
class Item:
    """What is compared: a document, or a line or paragraph of one.

    Attributes:
        row: of the document, over the inputs and then the reference; `number`: of the line or paragraph.
        text: of it; `group`: it matches only within, with the numbers if there is a guard; `score`: of its document.
        is_reference: it belongs to the reference.
    """

    row: int
    number: int
    text: str
    group: str | None
    score: int | None
    is_reference: bool = False


@dataclass(frozen=True)
class Reading:
    """How a recipe reads texts, and the similarity of two."""

    normalize: tuple[str, ...] = ("nfkc_casefold",)
    word_shingle: int = 1
    cjk_shingle: int = 2
    weights: str = "log"
    bits: int = 128
    min_tokens: int = 8
    version: int = 1

    def normalized(self, text: str) -> str:
        """The text after all steps."""
        return _normalized(text, self.normalize)

    def tokens(self, text: str) -> list[str]:
        return _words(self.normalized(text), self.version)

    def fingerprint(self, text: str) -> int:
        return _fingerprint(
            self.normalized(text), self.word_shingle, self.cjk_shingle, self.weights, self.bits, self.version
        )

    def similarity(self, a: str, b: str, kind: str) -> float:
        """Of two texts with tokens."""
        a, b = self.normalized(a), self.normalized(b)
        if kind == "cosine":
            features = {"word_shingle": self.word_shingle, "cjk_shingle": self.cjk_shingle, "weights": self.weights}
            return min(1.0, naive.cosine(a, b, tokens=_words, version=self.version, **features))
        return _similarity(a, b, kind, self.version)


@lru_cache(1 << 14)
def _normalized(text: str, steps: tuple[str, ...]) -> str:
    for name in steps:
        text = naive.NORMALIZERS[name](text)
    return text


@lru_cache(1 << 14)
def _words(text: str, version: int) -> list[str]:
    return naive.words(text, version)


@lru_cache(1 << 14)
def _fingerprint(text: str, word_shingle: int, cjk_shingle: int, weights: str, bits: int, version: int) -> int:
    options = {
        "version": version,
        "word_shingle": word_shingle,
        "cjk_shingle": cjk_shingle,
        "weights": weights,
        "bits": bits,
    }
    return naive.fingerprint(text, tokens=_words, **options)


@lru_cache(1 << 16)
def _similarity(a: str, b: str, kind: str, version: int) -> float:
    if not naive.tokens(a, version) or not naive.tokens(
        b, version
    ):  # what a recipe leaves as a token may be none to a similarity
        return float(naive.normalize(a) == naive.normalize(b))
    return naive.similarity(a, b, kind, version=version)


@dataclass(frozen=True)
class Outcome:
    """Of a removed item: the place of its survivor among the items, and what the audit says of the two."""

    survivor: int
    similarity: float | None
    distance: int
    exact: bool


class Definition:
    """A case by its definition.

    Attributes:
        case, reading: what is asked.
        items: what is compared, in the order of the inputs and then of the reference.
        method, found: the method that is taken; for minhash, the pairs of items that it has found.
    """

    def __init__(self, case: Case, texts: list[str], *, method: str, found: set[tuple[int, int]] | None = None) -> None:
        self.case, self.reading, self.method, self.found = case, Reading(**case.recipe), method, found
        self.texts = texts
        self.items = list(self._items())
        self.least = case.option("min_similarity")
        self.kind = case.option("similarity")
        self._grades: dict[tuple[int, int], float] = {}

    def _items(self) -> Any:
        empty_is_none = self.case.kind in ("csv", "tsv") and self.case.way not in ("rows", "table", "match")
        for row, (document, text) in enumerate(zip(self.case.all_documents, self.texts, strict=True)):
            is_reference = row >= len(self.case.documents)
            value = document.language if self.case.option("within") else None
            group = None if value is None or (value == "" and empty_is_none and not is_reference) else str(value)
            guarded = self.case.option("guard") is not None
            if self.case.unit == "document":
                key = repr((group, naive.numbers(self._compared(text)))) if guarded else group
                yield Item(row, 0, text, key, document.score, is_reference)
                continue
            for number, body in enumerate(naive.units(text, self.case.unit)[1::2]):
                if naive.tokens(body, self.reading.version):
                    key = repr((group, naive.numbers(self._compared(body)))) if guarded else group
                    yield Item(row, number, body, key, document.score)

    def _compared(self, text: str) -> str:
        """The form of texts that similarities compare, which a guard reads."""
        return naive.normalize(self.reading.normalized(text))

    @cached_property
    def max_distance(self) -> int | None:
        """Above it, no pair matches."""
        given = self.case.option("max_distance")
        if self.method == "minhash":
            return int(0.3 * self.reading.bits) if given is None else given
        if self.method == "simhash":
            return {128: 18, 64: 10}[self.reading.bits] if given is None else given
        return None

    @cached_property
    def min_tokens(self) -> int:
        return self.reading.min_tokens if self.method == "simhash" else 1

    @cached_property
    def order(self) -> list[int]:
        """The items, the most preferred first."""
        keep = self.case.option("keep")
        inputs = [place for place, item in enumerate(self.items) if not item.is_reference]
        if keep == "last":
            inputs.reverse()
        elif keep in ("longest", "shortest"):
            sign = -1 if keep == "longest" else 1
            inputs.sort(key=lambda place: sign * len(self.items[place].text))
        elif keep != "first":
            sign = -1 if keep.startswith("max") else 1
            scores = [item.score for item in self.items]
            inputs.sort(key=lambda place: (scores[place] is None, sign * (scores[place] or 0)))
        return [place for place, item in enumerate(self.items) if item.is_reference] + inputs

    @cached_property
    def same(self) -> dict[int, int]:
        """The most preferred item with the same normalized text, and in the same group, of each."""
        first: dict[Any, int] = {}
        keys = {
            place: (self.reading.normalized(self.items[place].text), self.items[place].group) for place in self.order
        }
        for place in self.order:
            first.setdefault(keys[place], place)
        return {place: first[keys[place]] for place in self.order}

    def distance(self, p: int, q: int) -> int:
        return (self.reading.fingerprint(self.items[p].text) ^ self.reading.fingerprint(self.items[q].text)).bit_count()

    def similarity(self, p: int, q: int) -> float:
        a, b = self.items[p].text, self.items[q].text
        if self.reading.normalized(a) == self.reading.normalized(b):
            return 1.0
        return self.reading.similarity(a, b, self.kind)

    def could_match(self, p: int, q: int) -> bool:
        """Whether two different texts match, if the method finds the pair."""
        a, b = self.items[p], self.items[q]
        if a.group != b.group or (a.is_reference and b.is_reference):
            return False
        if min(len(self.reading.tokens(each.text)) for each in (a, b)) < self.min_tokens:
            return False
        if self.max_distance is not None and self.distance(p, q) > self.max_distance:
            return False
        return self.least == 0 or self.reading.similarity(a.text, b.text, self.kind) >= self.least

    def grade(self, p: int, q: int) -> float:
        """The similarity of a pair that matches, or its nearness where distances decide; -1 if it does not match."""
        pair = (min(p, q), max(p, q))
        if pair not in self._grades:
            matches = self.could_match(p, q) and (self.found is None or pair in self.found)
            value = self.reading.similarity(self.items[p].text, self.items[q].text, self.kind) if self.least else None
            self._grades[pair] = -1.0 if not matches else 1 / (1 + self.distance(p, q)) if value is None else value
        return self._grades[pair]

    @cached_property
    def removed(self) -> dict[int, Outcome]:
        """The items that are gone."""
        near = [
            p
            for p in self.order
            if self.same[p] == p and len(self.reading.tokens(self.items[p].text)) >= self.min_tokens
        ]
        least = max(self.least, NEAR_NOTHING)

        def grade(p: int, q: int) -> float:
            return self.grade(near[p], near[q])

        if self.case.option("cluster") == "star":
            stays = [survivor for survivor, _ in naive.star(len(near), grade, least)]
        else:
            stays = naive.components(len(near), grade, least)
        survivor = {p: p for p in self.order} | {near[p]: near[q] for p, q in enumerate(stays)}
        found = {}
        for place, item in enumerate(self.items):
            stays_for = survivor[self.same[place]]
            if item.is_reference or stays_for == place:
                continue
            exact = self.same[place] == stays_for
            known = exact or self.least > 0
            similarity = self.similarity(place, stays_for) if known else None
            found[place] = Outcome(stays_for, similarity, self.distance(place, stays_for), exact)
        return found

    @cached_property
    def clusters(self) -> dict[int, list[int]]:
        """The items of the inputs of each cluster with a removed one, by its survivor."""
        found: dict[int, list[int]] = {}
        for place, outcome in self.removed.items():
            found.setdefault(outcome.survivor, []).append(place)
        for survivor, members in found.items():
            if not self.items[survivor].is_reference:
                members.append(survivor)
            members.sort()
        return found

    def pairs(self, *, of_reference: bool) -> dict[tuple[int, int], float | None]:
        """Every pair that matches, with its similarity; of texts without tokens, each with the first equal one only."""
        found: dict[tuple[int, int], float | None] = {}
        keys = [(self.reading.normalized(item.text), item.group) for item in self.items]
        first: dict[Any, int] = {}
        first_of_reference: dict[Any, int] = {}
        for place, key in enumerate(keys):
            first.setdefault(key, place)
            if self.items[place].is_reference:
                first_of_reference.setdefault(key, place)
        for p, q in itertools.combinations(range(len(self.items)), 2):
            if of_reference and self.items[p].is_reference == self.items[q].is_reference:
                continue
            tokens = len(self.reading.tokens(self.items[p].text))
            if keys[p] == keys[q]:
                firsts = {first[keys[p]], first_of_reference.get(keys[p]) if of_reference else first[keys[p]]}
                if tokens or {p, q} & firsts:
                    found[p, q] = 1.0 if self.least > 0 or tokens < self.min_tokens else None
            elif self.could_match(p, q) and (self.found is None or (p, q) in self.found):
                found[p, q] = self.similarity(p, q) if self.least > 0 else None
        return found

    def written(self) -> list[str | None]:
        """Of each input, the text that is written for it; None if it is removed."""
        gone: dict[int, set[int]] = {}
        for place in self.removed:
            gone.setdefault(self.items[place].row, set()).add(self.items[place].number)
        found: list[str | None] = []
        for row, text in enumerate(self.texts[: len(self.case.documents)]):
            mine = gone.get(row, set())
            if self.case.unit == "document":
                found.append(None if mine else text)
                continue
            bodies = naive.units(text, self.case.unit)[1::2]
            is_left = any(
                naive.tokens(body, self.reading.version) for number, body in enumerate(bodies) if number not in mine
            )
            found.append(None if mine and not is_left else naive.without_units(text, self.case.unit, mine))
        return found
