"""PREFIX: keep the rarest elements of each set in a temporary file; the sets themselves are not kept."""

from dataclasses import dataclass

import numpy as np

from neardup.arrays import Array
from neardup.io.resume.codecs import ascend, codec
from neardup.kernels.matching import prefixes as kernels
from neardup.matching.similarities.table import Elements
from neardup.resources.resources import Resources
from neardup.resources.spool import Spool


def _is_sound(found: "Prefixes") -> bool:
    """Whether the recorded places lie within each set and within the arrays."""
    kept, skipped, probing, indexed = found.facts.T
    return (
        ascend(found.starts, len(found.elements))
        and bool((found.facts >= 0).all() and (np.diff(found.starts) == kept).all())
        and bool(
            (np.maximum(probing, indexed) <= kept).all() and (kept.astype(np.int64) + skipped <= found.sizes).all()
        )
        and len(found.rests) in (0, len(found.elements))
    )


@codec(
    "prefixes",
    1,
    is_sound=_is_sound,
    elements="uint64[total]",
    rests="float32[rests]",
    starts="int64[n+1]",
    facts="int32[n, 4]",
    sizes="int64[n]",
    digests="uint64[n, 2]",
)
@dataclass(frozen=True, slots=True)
class Prefixes:
    """The prefixes of n sets.

    Attributes:
        elements: uint64[], the kept elements of each set, rarest first, one set after another.
        rests: float32[], of the same length, for the cosine: how much of the norm lies in the shared elements from this one on;
            else empty.
        starts: int64[n + 1]; set d keeps elements[starts[d]:starts[d + 1]].
        facts: int32[n, 4], see `neardup.kernels.matching.prefixes.PrefixArrays`.
        sizes: int64[n], number of elements of the whole set.
        digests: uint64[n, 2], equal for equal sets.
    """

    elements: Array
    rests: Array
    starts: Array
    facts: Array
    sizes: Array
    digests: Array

    def __len__(self) -> int:
        return len(self.sizes)


def prefixes_of(elements: Elements, *, code: int, min_similarity: float, counts: Array) -> Prefixes:
    """Make the prefixes of some sets, for the similarity `code` with threshold `min_similarity`.

    `counts`: uint16[total], of each element, over all sets; see `ElementCounts`.
    """
    values, weights, offsets = elements.values, elements.weights, elements.offsets
    sizes = np.diff(offsets)
    n, longest = len(sizes), int(sizes.max(initial=0))
    sets = kernels.SetArrays(values, values.view(np.uint8), weights, weights.view(np.uint8), offsets)
    memory = kernels.PrefixMemory(
        places=np.empty(longest, np.int32),
        spare=np.empty(longest, np.int32),
        ordered=np.empty(longest if len(weights) else 0, np.float64),
        ends=np.empty(257, np.int64),
    )
    kept, rests = np.empty(len(values), np.uint64), np.empty(len(weights), np.float32)
    facts, digests = np.empty((n, 4), np.int32), np.empty((n, 2), np.uint64)
    out = kernels.PrefixArrays(kept, rests, facts, digests)
    total = kernels.prefixes(code, float(min_similarity), sets, counts, memory, out)
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(facts[:, 0], out=starts[1:])
    return Prefixes(_read_only(kept[:total]), _read_only(rests[:total]), starts, facts, sizes, digests)


def _read_only(values: Array) -> Array:
    """Return a read-only copy, like an array mapped from a file: kernels are compiled for one kind of array."""
    values = values.copy()
    values.flags.writeable = False
    return values


class PrefixFile:
    """Prefixes appended chunk by chunk, then read as one; all data is in temporary files."""

    def __init__(self, resources: Resources) -> None:
        files, self._scratch = resources.files, resources.scratch
        self._elements, self._rests = Spool(np.uint64, files=files), Spool(np.float32, files=files)
        self._facts, self._sizes = Spool(np.int32, files=files), Spool(np.int64, files=files)
        self._digests = Spool(np.uint64, files=files)

    def append(self, part: Prefixes) -> None:
        self._elements.write(part.elements)
        self._rests.write(part.rests)
        self._facts.write(part.facts)
        self._sizes.write(part.sizes)
        self._digests.write(part.digests)

    def whole(self) -> Prefixes:
        """Return all that was appended; valid until `close`."""
        self._elements.map()
        self._rests.map()
        facts, digests = self._facts.changeable().reshape(-1, 4), self._digests.changeable().reshape(-1, 2)
        starts = self._scratch.zeros(len(facts) + 1, np.int64)
        np.cumsum(facts[:, 0], out=starts[1:])
        sizes = self._sizes.changeable()
        return Prefixes(self._elements.values, self._rests.values, starts, facts, sizes, digests)

    def close(self) -> None:
        for spool in (self._elements, self._rests, self._facts, self._sizes, self._digests):
            spool.close()

    def __enter__(self) -> "PrefixFile":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
