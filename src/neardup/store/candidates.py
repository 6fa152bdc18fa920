"""CANDIDATES of a store: which kept texts may match a new one, and which new ones each other, by the methods of `dedup`."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from neardup.arrays import Array
from neardup.fingerprints.minhash import Signing
from neardup.hamming.index.index import Index
from neardup.matching.candidates.minhash import minhash_agreement, minhash_bands
from neardup.matching.candidates.task import min_tokens_of
from neardup.matching.distance_limit import distance_limit
from neardup.matching.similarities.table import Elements, maker_of
from neardup.options import DedupOptions
from neardup.recipe.recipe import Recipe
from neardup.store.keys import BY_HASH, Order, Table, band_keys, exact_tables, learned, may_match
from neardup.store.postings import Keys, Postings, joined_keys
from neardup.store.texts import Texts, no_elements

Pairs = tuple[Array, Array]
"""Two int64[p]."""
FIRST_LEARNED, LEARNED_GROWTH = 512, 16
"""The order of elements is learned when a store has so many texts, and again when it has grown so many times."""
SAMPLED = 4096
"""Texts of which it is learned, the last ones."""


class Candidates(ABC):
    """Finds candidates among kept texts, which it knows by their numbers.

    Attributes:
        signing: how texts are signed, if the method needs that.
        min_tokens: texts with fewer tokens match only equal ones.
        max_distance: the largest distance of candidates, if the method has one.
    """

    signing: Signing | None = None

    def __init__(self, recipe: Recipe, options: DedupOptions) -> None:
        self.recipe, self.options = recipe, options
        self.min_tokens = min_tokens_of(options.method, recipe, options)
        self.max_distance = distance_limit(recipe, options)

    def long_enough(self, tokens: Array) -> Array:
        """bool[n]: whether texts with so many tokens (int64[n]) match others than equal ones."""
        enough: Array = tokens >= self.min_tokens
        return enough

    @abstractmethod
    def sketches(self, texts: Texts) -> list[bytes]:
        """What `keep` needs of each text, besides its fingerprint, for a file."""

    def learn(self, texts: Texts) -> bytes | None:  # noqa: ARG002
        """Look at texts that will be kept. Returns what was learned of all texts so far, for a file, or None."""
        return None

    def use(self, order: bytes) -> None:  # noqa: ARG002
        """From now on, make sketches by what `learn` has returned."""
        return

    @abstractmethod
    def keep(self, sketches: Sequence[bytes], prints: Array, tokens: Array, numbers: Array) -> None:
        """Keep texts under ascending numbers (int64[k]): fingerprints uint64[k, words], numbers of tokens int64[k]."""

    @abstractmethod
    def of_kept(self, texts: Texts) -> Pairs:
        """Pairs of a place in `texts` and the number of a kept text."""

    @abstractmethod
    def among(self, texts: Texts) -> Pairs:
        """Pairs of two places in `texts`, the smaller first."""


class ExactCandidates(Candidates):
    """Every pair that reaches the similarity, by theorem: both have a key in common; see `keys`.

    The order of elements is learned from samples as the store grows. Each text is kept under the order of its time, and asked for
    under all of them.
    """

    def __init__(self, recipe: Recipe, options: DedupOptions) -> None:
        super().__init__(recipe, options)
        self._kept: list[tuple[Order, list[Postings]]] = []
        self._sample: list[Array] = []
        self._texts = 0
        self._use(BY_HASH)

    def _use(self, order: Order) -> None:
        self._kept.append((order, [Postings() for _ in self._tables_of(no_elements(), BY_HASH)]))

    def _tables_of(self, elements: Elements, order: Order) -> tuple[Table, ...]:
        return exact_tables(elements, self.options.measure, self.options.min_similarity, order)

    def _tables(self, texts: Texts, order: Order) -> tuple[Table, ...]:
        wanted = self.long_enough(texts.prints.tokens)
        return tuple(Table(*(keys.of(wanted) for keys in table)) for table in self._tables_of(texts.joined, order))

    def learn(self, texts: Texts) -> bytes | None:
        self._sample += [texts.joined.values[begin:end] for begin, end in pairwise(texts.joined.offsets.tolist())]
        del self._sample[:-SAMPLED]
        if self._texts + len(texts) < FIRST_LEARNED * LEARNED_GROWTH ** (len(self._kept) - 1):
            return None
        return learned(self._sample).as_bytes()

    def use(self, order: bytes) -> None:
        self._use(Order.of_bytes(order))

    def sketches(self, texts: Texts) -> list[bytes]:
        sizes = np.diff(texts.joined.offsets).tolist()
        tables = [table.stored for table in self._tables(texts, self._kept[-1][0])]
        edges = [np.searchsorted(keys.texts, np.arange(len(texts) + 1)).tolist() for keys in tables]
        found = []
        for i, size in enumerate(sizes):
            spans = [slice(*edge[i : i + 2]) for edge in edges]
            head = np.array([len(self._kept) - 1, size, *(span.stop - span.start for span in spans)], "<u4")
            content = [
                keys.keys[span].astype("<u8", copy=False).tobytes() for keys, span in zip(tables, spans, strict=True)
            ]
            found.append(b"".join([head.tobytes(), *content]))
        return found

    def keep(self, sketches: Sequence[bytes], prints: Array, tokens: Array, numbers: Array) -> None:  # noqa: ARG002
        tables = len(self._kept[0][1])
        found: list[list[list[Keys]]] = [[[] for _ in range(tables)] for _ in self._kept]
        for sketch, number in zip(sketches, numbers.tolist(), strict=True):
            version, size, *counts = np.frombuffer(sketch, "<u4", 2 + tables).tolist()
            at = 4 * (2 + tables)
            for i, count in enumerate(counts):
                keys = np.frombuffer(sketch, "<u8", count, at)
                positions = np.arange(count, dtype=np.uint32)
                found[version][i].append(Keys(keys, np.full(count, number), positions, np.full(count, size, np.uint32)))
                at += 8 * count
        for (_, kept), parts in zip(self._kept, found, strict=True):
            for postings, part in zip(kept, parts, strict=True):
                postings.add(joined_keys(part))
        self._texts += len(sketches)

    def of_kept(self, texts: Texts) -> Pairs:
        found = [
            _met(kept, self._tables(texts, order), self._may_match) for order, kept in self._kept if any(map(len, kept))
        ]
        return _unique(found)

    def among(self, texts: Texts) -> Pairs:
        return _among(self._tables(texts, self._kept[-1][0]), self._may_match)

    def _may_match(self, asked: Keys, stored: Keys) -> Array:
        return may_match(asked, stored, self.options.measure, self.options.min_similarity)


def _met(kept: Sequence[Postings], tables: Sequence[Table], may: Callable[[Keys, Keys], Array] | None = None) -> Pairs:
    """Pairs of an asked text and a stored one that have a key in common, with which they may match."""
    found = []
    for postings, table in zip(kept, tables, strict=True):
        at, stored = postings.find(table.asked.keys)
        asked = table.asked.some(at)
        if may is not None:
            passed = may(asked, stored)
            asked, stored = asked.some(passed), stored.some(passed)
        found.append((asked.texts, stored.texts))
    return _unique(found)


def _among(tables: Sequence[Table], may: Callable[[Keys, Keys], Array] | None = None) -> Pairs:
    """The same of texts that are stored and asked for at once, the smaller place first."""
    kept = [Postings() for _ in tables]
    for postings, table in zip(kept, tables, strict=True):
        postings.add(table.stored)
    asked, stored = _met(kept, tables, may)
    left, right = _unique([(np.minimum(asked, stored), np.maximum(asked, stored))])
    apart = left != right
    return left[apart], right[apart]


def _unique(found: list[Pairs]) -> Pairs:
    """The pairs, each once, ascending."""
    left = np.concatenate([np.empty(0, np.int64), *(pair[0] for pair in found)])
    right = np.concatenate([np.empty(0, np.int64), *(pair[1] for pair in found)])
    if not len(left):
        return left, right
    packed = np.unique(left << 40 | right)
    return packed >> 40, packed & (1 << 40) - 1


class MinHashCandidates(Candidates):
    """Pairs that agree in a band and in enough values of their signatures, and pass the sieve of fingerprints."""

    def __init__(self, recipe: Recipe, options: DedupOptions) -> None:
        super().__init__(recipe, options)
        self._bands = minhash_bands(options.min_similarity)
        self._least = minhash_agreement(options.min_similarity, self._bands)
        given = maker_of(options.compared_by).given
        self.signing = Signing(values=self._bands.values, normalize=tuple(recipe.normalize), similarity=given)
        self._kept, self._signatures, self._prints = (
            Postings(),
            _Rows(self._bands.values, np.uint32),
            _Rows(recipe.words, np.uint64),
        )

    def _keys(self, texts: Texts) -> Keys:
        assert texts.signatures is not None
        wanted = self.long_enough(texts.prints.tokens) & (texts.signatures.sizes > 0)
        return band_keys(texts.signatures.values, self._bands).of(wanted)

    def sketches(self, texts: Texts) -> list[bytes]:
        assert texts.signatures is not None
        rows = zip(texts.signatures.values, texts.signatures.sizes > 0, strict=True)
        return [values.astype("<u4", copy=False).tobytes() if any_ else b"" for values, any_ in rows]

    def keep(self, sketches: Sequence[bytes], prints: Array, tokens: Array, numbers: Array) -> None:
        has_any = np.array([len(sketch) > 0 for sketch in sketches], np.bool_)
        values = np.zeros((len(sketches), self._bands.values), np.uint32)
        values[has_any] = np.frombuffer(b"".join(sketches), "<u4").reshape(-1, self._bands.values)
        keys = band_keys(values, self._bands).of(self.long_enough(tokens) & has_any)
        self._kept.add(keys.named(numbers))
        self._signatures.set(numbers, values)
        self._prints.set(numbers, prints)

    def of_kept(self, texts: Texts) -> Pairs:
        assert texts.signatures is not None
        keys = self._keys(texts)
        places, numbers = _met([self._kept], [Table(keys, keys)])
        mine, prints = texts.signatures.values, texts.prints.values
        proposed = self._proposes(
            mine[places], self._signatures.values[numbers], prints[places], self._prints.values[numbers]
        )
        return places[proposed], numbers[proposed]

    def among(self, texts: Texts) -> Pairs:
        assert texts.signatures is not None
        keys = self._keys(texts)
        left, right = _among([Table(keys, keys)])
        mine, prints = texts.signatures.values, texts.prints.values
        proposed = self._proposes(mine[left], mine[right], prints[left], prints[right])
        return left[proposed], right[proposed]

    def _proposes(self, left: Array, right: Array, left_prints: Array, right_prints: Array) -> Array:
        agree = left == right
        in_a_band = agree.reshape(len(left), self._bands.bands, self._bands.rows).all(axis=2).any(axis=1)
        proposed: Array = in_a_band & (agree.sum(axis=1) >= self._least)
        if self.max_distance is None:
            return proposed
        near: Array = np.bitwise_count(left_prints ^ right_prints).sum(axis=1, dtype=np.int64) <= self.max_distance
        return proposed & near


class SimHashCandidates(Candidates):
    """Every pair of fingerprints within the distance."""

    def __init__(self, recipe: Recipe, options: DedupOptions) -> None:
        super().__init__(recipe, options)
        assert self.max_distance is not None  # simhash has one
        self._most = self.max_distance
        self._index = Index(max_distance=self._most, bits=64 * recipe.words)

    def sketches(self, texts: Texts) -> list[bytes]:
        return [b""] * len(texts)

    def keep(self, sketches: Sequence[bytes], prints: Array, tokens: Array, numbers: Array) -> None:  # noqa: ARG002
        enough = self.long_enough(tokens)
        if enough.any():
            self._index.add(numbers[enough], np.ascontiguousarray(prints[enough]))

    def of_kept(self, texts: Texts) -> Pairs:
        rows = np.flatnonzero(self.long_enough(texts.prints.tokens))
        near = self._index.query_many(np.ascontiguousarray(texts.prints.values[rows]), threads=1)
        listed = [near[i] for i in range(len(rows))]
        places = np.repeat(rows, [len(each) for each in listed])
        return places, np.array([number for each in listed for number, _ in each], np.int64)

    def among(self, texts: Texts) -> Pairs:
        rows = np.flatnonzero(self.long_enough(texts.prints.tokens))
        values = texts.prints.values[rows]
        left, right = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for i in range(len(rows) - 1):
            distances = np.bitwise_count(values[i + 1 :] ^ values[i]).sum(axis=1, dtype=np.int64)
            near = np.flatnonzero(distances <= self._most)
            left.append(np.full(len(near), rows[i]))
            right.append(rows[i + 1 :][near])
        return np.concatenate(left), np.concatenate(right)


class _Rows:
    """Rows by number, with room for more."""

    def __init__(self, width: int, kind: type) -> None:
        self.values: Array = np.zeros((0, width), kind)

    def set(self, numbers: Array, rows: Array) -> None:
        most = int(numbers.max(initial=-1)) + 1
        if most > len(self.values):
            grown = np.zeros((max(most, 2 * len(self.values)), self.values.shape[1]), self.values.dtype)
            grown[: len(self.values)] = self.values
            self.values = grown
        self.values[numbers] = rows


CANDIDATES: dict[str, Callable[[Recipe, DedupOptions], Candidates]] = {
    "exact": ExactCandidates,
    "minhash": MinHashCandidates,
    "simhash": SimHashCandidates,
}
"""The methods of a store."""
