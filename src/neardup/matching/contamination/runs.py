"""The longest run of tokens that two sequences have in common, in time that grows with their lengths, not with their product."""

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple


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
