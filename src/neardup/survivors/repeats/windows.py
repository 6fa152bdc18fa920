"""WINDOWS: the second pass, which finds all windows that may have stood earlier, and keeps their tokens to compare them."""

from dataclasses import dataclass, field

import numpy as np

from neardup.arrays import Array
from neardup.io.corpora.batch import Batch
from neardup.io.corpora.protocol import Corpus
from neardup.io.resume.checkpoints import Checkpoints
from neardup.io.resume.codecs import codec
from neardup.kernels.repeats import regions as kernels
from neardup.kernels.repeats.windows import find_repeated_windows
from neardup.progress import Progress
from neardup.resources.resources import Resources
from neardup.resources.spool import Spool
from neardup.survivors.repeats.first_pass import Places, gram_of
from neardup.survivors.repeats.partitions import Partitions
from neardup.survivors.repeats.seen import Cells
from neardup.survivors.repeats.token_stream import Stream, TokenStream
from neardup.text.columns import in_chunks

PRIME = (1 << 61) - 1
BASE = 0x1D0C_9E5A_77B3_4F21 % PRIME
"""The base of the hashes of windows. Whatever it is, tokens are compared before anything is cut."""


def _is_sound(found: "Windows") -> bool:
    """Whether places ascend within the texts, and regions have as many tokens as they say, one after another."""
    ends = found.region_places + found.region_counts
    starts = np.append(0, np.flatnonzero(found.data == kernels.END) + 1)  # of tokens
    firsts = np.cumsum(found.region_counts) - found.region_counts
    anchored = [
        np.arange(first, first + n, kernels.ANCHORED) for first, n in zip(firsts, found.region_counts, strict=True)
    ]
    return (
        bool((np.diff(found.places, prepend=-1) > 0).all() and (found.places < found.size).all())
        and bool(
            (found.region_places >= np.append(0, ends[:-1])[: len(ends)]).all() and (found.region_counts > 0).all()
        )
        and bool((ends <= found.size).all())
        and len(starts) == found.region_counts.sum() + 1
        and starts[-1] == len(found.data)
        and np.array_equal(found.offsets, starts[np.concatenate([np.empty(0, np.int64), *anchored])])
    )


@codec(
    "passages windows",
    1,
    is_sound=_is_sound,
    values="uint64[windows]",
    places="int64[windows]",
    region_places="int64[regions]",
    region_counts="int64[regions]",
    data="uint8[bytes]",
    offsets="int64[anchors]",
    rows="value",
    size="value",
)
@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of some consecutive texts that may have stood earlier, and their regions; places count from the first text.

    `rows`, `size`: of these texts, and the places that they have.
    """

    values: Array
    places: Array
    region_places: Array
    region_counts: Array
    data: Array
    offsets: Array
    rows: int
    size: int


@dataclass(frozen=True, slots=True)
class WindowFinder:
    """Finds the windows of batches; any thread may use it.

    Attributes:
        stream: what cuts texts into tokens.
        size: tokens of a window.
        seen: the minimizers of all windows.
        base: of the hashes.
    """

    stream: TokenStream
    size: int
    seen: Cells
    base: int = BASE
    power: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "power", pow(self.base, self.size, PRIME))

    def of_batch(self, batch: Batch) -> list[Windows]:
        """The windows of each chunk of a batch."""
        return [self.of(self.stream.of(texts)) for texts in in_chunks(batch.texts)]

    def hashes(self, stream: Stream) -> tuple[Array, Array]:
        """The hashes and places of the windows of some tokens: uint64[n], int64[n]."""
        pieces, total = stream.pieces, len(stream.hashes)
        grams = np.empty(int(np.diff(pieces).max(initial=0)), np.uint64)
        values, places = np.empty(total, np.uint64), np.empty(total, np.int64)
        n = find_repeated_windows(
            stream.hashes, pieces, self.size, gram_of(self.size), np.uint64(self.base), np.uint64(self.power),
            self.seen.shift, self.seen.cells, grams, values, places,
        )  # fmt: skip
        return values[:n], places[:n]

    def of(self, stream: Stream) -> Windows:
        """The windows of some tokens."""
        pieces, total = stream.pieces, len(stream.hashes)
        sizes = len(stream.firsts) - 1, total + len(pieces) - 1
        values, places = self.hashes(stream)
        n = len(values)
        if not n:
            none = np.empty(0, np.int64)
            return Windows(values, none, none, none, np.empty(0, np.uint8), none, *sizes)
        tokens, most = stream.spans(), n
        region_places, region_counts = np.empty(most, np.int64), np.empty(most, np.int64)
        data = np.empty(int((tokens.ends - tokens.starts).sum()) + total, np.uint8)
        offsets = np.empty(total // kernels.ANCHORED + most, np.int64)
        regions, length, anchors = kernels.gather_regions(
            tokens.data, tokens.starts, tokens.ends, pieces, places, n, self.size,
            region_places, region_counts, data, offsets,
        )  # fmt: skip
        return Windows(
            values.copy(), places.copy(), region_places[:regions].copy(), region_counts[:regions].copy(),
            data[:length].copy(), offsets[:anchors].copy(), *sizes,
        )  # fmt: skip


class RegionFiles:
    """The regions of a corpus, in temporary files."""

    def __init__(self, resources: Resources) -> None:
        kinds = (np.int64, np.int64, np.int64, np.int64, np.uint8)
        self._places, self._counts, self._anchors, self._offsets, self._data = (
            Spool(kind, files=resources.files) for kind in kinds
        )
        self._length, self._anchor = 0, 0

    def add(self, first: int, found: Windows) -> None:
        """Append the regions of some texts, whose places count from `first`."""
        self._places.write(found.region_places + first)
        self._counts.write(found.region_counts)
        anchors = -(-found.region_counts // kernels.ANCHORED)
        self._anchors.write(self._anchor + np.cumsum(anchors) - anchors)
        self._offsets.write(found.offsets + self._length)
        self._data.write(found.data)
        self._length += len(found.data)
        self._anchor += len(found.offsets)

    def whole(self) -> kernels.Regions:
        """All regions, mapped; nothing is added afterwards."""
        self._anchors.write(np.array([self._anchor]))
        self._offsets.write(np.array([self._length]))
        spools = (self._places, self._counts, self._anchors, self._data, self._offsets)
        return kernels.Regions(*(spool.changeable() for spool in spools))

    def close(self) -> None:
        for spool in (self._places, self._counts, self._anchors, self._offsets, self._data):
            spool.close()


def salts_of(groups: Array | None) -> Array | None:
    """uint64[rows]: different for different groups (int64[rows], below 2^32), in the bits that partitions keep; None without
    groups.
    """
    return None if groups is None else groups.astype(np.uint64) * np.uint64(0x9E3779B1) << np.uint64(32)


def find_windows(
    corpus: Corpus,
    finder: WindowFinder,
    places: Places,
    partitions: Partitions,
    regions: RegionFiles,
    progress: Progress,
    *,
    salts: Array | None,
    checkpoints: Checkpoints,
) -> None:
    """Read the documents again; put the windows that may have stood earlier into partitions, and their tokens into regions."""
    for row, parts in checkpoints.map(corpus, finder.of_batch, name="passages-windows"):
        place, rows = int(places.starts[row]), 0
        for found in parts:
            values = found.values
            if salts is not None and len(values):
                values = values ^ salts[places.rows_of(found.places + place)]
            partitions.add(place, values, found.places)
            if len(found.region_places):
                regions.add(place, found)
            place += found.size
            rows += found.rows
        progress.advance(rows)
    partitions.words.flush()
