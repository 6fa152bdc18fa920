"""OVERLAPS: how much of an item a document has: the part with most of its shingles, and the longest run, of the tokens."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.matching.items import best_passage
from neardup.matching.contamination.items import SEPARATOR, ItemForm
from neardup.matching.contamination.options import LEAST_TOKENS
from neardup.matching.contamination.token_places import TokenPlaces


class Run(NamedTuple):
    """A run of tokens: its length, and where it starts in the second sequence."""

    length: int
    start: int


class RunFinder:
    """Finds the longest run that another sequence has in common with this one.

    It is the suffix automaton of the sequence: Blumer et al. (1985), The smallest automaton recognizing the subwords of a text.
    """

    def __init__(self, sequence: Iterable[Hashable]) -> None:
        self._next: list[dict[Hashable, int]] = [{}]
        self._link, self._length = [-1], [0]
        last = 0
        for token in sequence:
            last = self._extend(last, token)

    def _extend(self, last: int, token: Hashable) -> int:
        """Add a token at the end; `last` and the result are the states of the whole sequence before and after."""
        state = self._state({}, 0, self._length[last] + 1)
        at = last
        while at >= 0 and token not in self._next[at]:
            self._next[at][token] = state
            at = self._link[at]
        if at < 0:
            return state
        target = self._next[at][token]
        if self._length[target] == self._length[at] + 1:
            self._link[state] = target
            return state
        copy = self._state(dict(self._next[target]), self._link[target], self._length[at] + 1)
        while at >= 0 and self._next[at].get(token) == target:
            self._next[at][token] = copy
            at = self._link[at]
        self._link[target] = self._link[state] = copy
        return state

    def _state(self, following: dict[Hashable, int], link: int, length: int) -> int:
        self._next.append(following)
        self._link.append(link)
        self._length.append(length)
        return len(self._length) - 1

    def longest(self, other: Sequence[Hashable]) -> Run:
        """The longest run that `other` has in common with the sequence, the first of several; of length 0 if there is none."""
        found, state, length = Run(0, 0), 0, 0
        for place, token in enumerate(other):
            while state and token not in self._next[state]:
                state = self._link[state]
                length = self._length[state]
            state = self._next[state].get(token, 0)
            length = length + 1 if state else 0
            if length > found.length:
                found = Run(length, place + 1 - length)
        return found


class Overlap(NamedTuple):
    """What a document has of an item.

    Attributes:
        share: of the item's distinct shingles, in the part of the document that has most of them.
        run: tokens of the longest run that both have; 0 if it is shorter than a shingle may be.
        span: the tokens [first, end) of that part.
        run_span: the tokens of that run.
        places, numbers: int64[n], where the document has shingles of the item, ascending, and which.
    """

    share: float
    run: int
    span: tuple[int, int]
    run_span: tuple[int, int]
    places: Array
    numbers: Array

    def passage(self, min_share: float) -> tuple[int, int]:
        """The tokens that contaminate: those of the part if it has this share, or else those of the run."""
        return self.span if self.share >= min_share else self.run_span

    def shingles_in(self, passage: tuple[int, int]) -> Array:
        """int64[n]: which shingles of the item begin in these tokens of the document."""
        found: Array = np.unique(self.numbers[slice(*np.searchsorted(self.places, passage))])
        return found


class DocumentShingles:
    """The shingles of a document, in the order of their hashes, to find those of items among them."""

    def __init__(self, known: TokenPlaces) -> None:
        self.known = known
        self._order = np.argsort(known.hashes, kind="stable")
        self._hashes = known.hashes[self._order]

    def overlap(self, item: ItemForm) -> Overlap:
        """What the document has of the item. Hashes find the places; the tokens there are compared."""
        places, numbers = self._places(item)
        first = int(best_passage(places, numbers, item.reach, np.zeros(len(item.hashes), np.int64)))
        end = int(np.searchsorted(places, places[first] + item.reach)) if len(places) else 0
        inside = places[first:end][tightest(places[first:end].tolist(), numbers[first:end].tolist())]
        ends = inside + self.known.sizes[inside]
        span = (int(inside[0]), int(ends.max())) if end else (0, 0)
        tokens = tuple(self.known.tokens(*span))
        found = {tokens[a:b] for a, b in zip((inside - span[0]).tolist(), (ends - span[0]).tolist(), strict=True)}
        run = self._longest_run(item, places)
        return Overlap(
            len(found & item.shingles) / len(item.shingles),
            run.length,
            span,
            (run.start, run.start + run.length),
            places,
            numbers,
        )

    def _places(self, item: ItemForm) -> tuple[Array, Array]:
        """Where the document has shingles of the item (int64[n], ascending), and which (their numbers in the item)."""
        starts = np.searchsorted(self._hashes, item.hashes, "left")
        counts = np.searchsorted(self._hashes, item.hashes, "right") - starts
        numbers = np.repeat(np.arange(len(item.hashes)), counts)
        within = np.arange(len(numbers)) - np.repeat(np.cumsum(counts) - counts, counts)
        places = self.known.places[self._order[np.repeat(starts, counts) + within]]
        order = np.argsort(places, kind="stable")  # runs that ascend are merged
        return places[order], numbers[order]

    def _longest_run(self, item: ItemForm, places: Array) -> Run:
        """The longest common run, if it is as long as a shingle may be; then so many shingles of the item in a row begin in it
        as it has tokens, but for the last four. Of such rows, the longest are looked at first.
        """
        longest = Run(LEAST_TOKENS - 1, 0)
        if not len(places):
            return Run(0, 0)
        at = np.unique(places)
        bounds = np.concatenate([[0], np.flatnonzero(np.diff(at) != 1) + 1, [len(at)]])
        firsts, rows = at[bounds[:-1]], np.diff(bounds)
        whole = SEPARATOR + item.text + SEPARATOR
        finder: RunFinder | None = None
        for i in np.argsort(-rows, kind="stable").tolist():
            first, end = int(firsts[i]), min(int(firsts[i] + rows[i]) + LEAST_TOKENS - 1, len(self.known.starts))
            beyond = int(self.known.sizes[first:end].max()) - 1  # of words alone, but for the last two
            if rows[i] + LEAST_TOKENS - 1 <= longest.length:
                break
            if rows[i] + beyond > longest.length:
                last = first + int(rows[i]) - 1
                tokens, least = (
                    self.known.tokens(first, end),
                    min(int(self.known.sizes[last]), end - last) + last - first,
                )
                run = _nearly_whole_run(tokens, whole, least)
                if run is None:
                    finder = RunFinder(item.tokens) if finder is None else finder
                    run = finder.longest(tokens)
                longest = Run(run.length, first + run.start) if run.length > longest.length else longest
        return longest if longest.length >= LEAST_TOKENS else Run(0, 0)


def _nearly_whole_run(tokens: Sequence[bytes], item: bytes, least: int) -> Run | None:
    """The longest run of tokens that an item has, the first of several, if it is at least so long; else None. `item`: its tokens,
    between separators.

    Most often there is one: a text that was copied differs from its original in few places, and a row is what is between two. It is
    found by bytes, and no automaton has to be made.
    """
    for length in range(len(tokens), max(least, 1) - 1, -1):
        for start in range(len(tokens) - length + 1):
            if SEPARATOR + SEPARATOR.join(tokens[start : start + length]) + SEPARATOR in item:
                return Run(length, start)
    return None


def tightest(places: list[int], numbers: list[int]) -> slice:
    """The shortest slice of these places of shingles that has all the shingles that they have; the first of several."""
    counts, first, distinct = Counter[int](), 0, len(set(numbers))
    best, length = slice(0, len(numbers)), places[-1] - places[0] + 1 if places else 0
    for end, number in enumerate(numbers, 1):
        counts[number] += 1
        while counts[numbers[first]] > 1:
            counts[numbers[first]] -= 1
            first += 1
        if len(counts) == distinct and places[end - 1] - places[first] < length - 1:
            best, length = slice(first, end), places[end - 1] - places[first] + 1
    return best
