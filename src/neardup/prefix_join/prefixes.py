"""PREFIX: the rarest elements of each set, in a temporary file; the sets themselves are not kept."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.io.spool import Spool
from neardup.kernels.prefixes import prefixes
from neardup.prefix_join.counts import ElementCounts
from neardup.similarities import Elements

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Prefixes:
    """The prefixes of n sets.

    Attributes:
        elements: uint64[], those that are kept of each set, the rarest first, one set after another.
        starts: int64[n + 1]; set d keeps elements[starts[d]:starts[d + 1]].
        facts: int32[n, 4], see `neardup.kernels.prefixes.prefixes`.
        sizes: int64[n], elements of the whole set.
        digests: uint64[n, 2], equal for equal sets.
    """

    elements: Array
    starts: Array
    facts: Array
    sizes: Array
    digests: Array

    def __len__(self) -> int:
        return len(self.sizes)


def prefixes_of(elements: Elements, *, code: int, least: float, counts: ElementCounts) -> Prefixes:
    """The prefixes of some sets, for a similarity (`code`, see kernels/bounds.py) of `least`, by `counts` of all sets."""
    values, weights, offsets = elements.values, elements.weights, elements.offsets
    sizes = np.diff(offsets)
    n, longest = len(sizes), int(sizes.max(initial=0))
    kept = np.empty(len(values), np.uint64)
    facts, digests = np.empty((n, 4), np.int32), np.empty((n, 2), np.uint64)
    total = prefixes(
        code,
        values,
        values.view(np.uint8),
        weights,
        weights.view(np.uint8),
        offsets,
        counts.cells,
        counts.shift,
        float(least),
        np.empty(longest, np.uint16),
        np.empty(longest, np.int32),
        np.empty(longest, np.int32),
        np.empty(257, np.int64),
        np.empty(longest if len(weights) else 0, np.float64),
        kept,
        facts,
        digests,
    )
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(facts[:, 0], out=starts[1:])
    return Prefixes(kept[:total].copy(), starts, facts, sizes, digests)


class PrefixFile:
    """Prefixes that are appended, chunk by chunk, and then read as one; the elements lie in a temporary file."""

    def __init__(self, *, temp_dir: str | None) -> None:
        self._spool = Spool(np.uint64, temp_dir=temp_dir)
        self._parts: list[Prefixes] = []

    def append(self, part: Prefixes) -> None:
        self._spool.write(part.elements)
        self._parts.append(Prefixes(part.elements[:0], part.starts[:0], part.facts, part.sizes, part.digests))

    def whole(self) -> Prefixes:
        """All that was appended; until `close`."""
        self._spool.map()
        parts = self._parts or [
            Prefixes(
                *(np.empty(0, np.int64),) * 2,
                np.empty((0, 4), np.int32),
                np.empty(0, np.int64),
                np.empty((0, 2), np.uint64),
            )
        ]
        facts = np.concatenate([part.facts for part in parts])
        starts = np.zeros(len(facts) + 1, np.int64)
        np.cumsum(facts[:, 0], out=starts[1:])
        sizes = np.concatenate([part.sizes for part in parts])
        self._parts = []
        return Prefixes(self._spool.values, starts, facts, sizes, np.concatenate([part.digests for part in parts]))

    def close(self) -> None:
        self._spool.close()

    def __enter__(self) -> "PrefixFile":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
