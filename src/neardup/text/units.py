"""Cut texts into units, which are lines or paragraphs, and remove units from texts.

A line ends at a newline, with or without a carriage return before it; the last line ends at the end of the text, even if it is
empty. A paragraph is a run of lines that are not blank. The units of a text are numbered from 0; the bytes between two units are
the separator of the first.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.kernels.text.units import find_units
from neardup.kernels.text.utf8 import count_byte
from neardup.text.normalizers import utf8_buffers

SEPARATORS = {"line": "\n", "paragraph": "\n\n"}
"""Strings that join texts so that the units of the whole are the units of the texts, one after another."""
RUNS_AT_ONCE = 1 << 12
"""Runs of kept units that are joined at a time."""


@dataclass(frozen=True, slots=True)
class Units:
    """The units of n texts.

    Attributes:
        data: uint8[bytes].
        starts, ends: int64[units]; unit u is `data[starts[u]:ends[u]]`.
        firsts: int64[n + 1], the first unit of each text; the last value is the number of all units.
        sure: bool[units], the unit surely has a token; where False, it may have one.
    """

    data: Array
    starts: Array
    ends: Array
    firsts: Array
    sure: Array

    def __len__(self) -> int:
        return len(self.starts)

    def texts(self, chosen: Array) -> Any:
        """Arrow large_string[len(chosen)]: the units with these ascending numbers; none may be empty."""
        if not len(chosen):
            return pa.array([], pa.large_string())
        first, last = self.starts[chosen[0]], self.ends[chosen[-1]]
        starts, ends, data = self.starts[chosen] - first, self.ends[chosen] - first, self.data[first:last]
        offsets = np.zeros(len(chosen) + 1, np.int64)
        np.cumsum(ends - starts, out=offsets[1:])
        edges = np.zeros(len(data) + 1, np.int8)
        edges[starts] = 1
        edges[ends] -= 1  # where a unit ends its text, the next may begin there
        inside = np.cumsum(edges[:-1], dtype=np.int8).view(np.bool_)
        return pa.LargeStringArray.from_buffers(len(chosen), pa.py_buffer(offsets), pa.py_buffer(data[inside]))


def find(data: Array, offsets: Array, unit: str) -> Units:
    """The units (`line` or `paragraph`) of the texts `data[offsets[d]:offsets[d + 1]]`."""
    most = int(count_byte(data, offsets[0], offsets[-1], np.uint8(ord("\n")))) + len(offsets) - 1
    starts, ends = np.empty(most, np.int64), np.empty(most, np.int64)
    firsts, sure = np.empty(len(offsets), np.int64), np.empty(most, np.bool_)
    number = find_units(data, offsets, unit == "paragraph", starts, ends, firsts, sure)
    return Units(data, starts[:number], ends[:number], firsts, sure[:number])


def split(texts: Any, unit: str) -> Units:
    """The units of an Arrow large_string array; a null counts as an empty text."""
    data, offsets = utf8_buffers(texts)
    return find(data[offsets[0] : offsets[-1]], offsets - offsets[0], unit)


def without_units(texts: list[str], removed: Array, unit: str) -> list[str]:
    """The texts without the units `removed` (int64, ascending, counted over all the texts), each removed with its separator.

    If units at the end of a text are removed, the text keeps its ending, and the separator before those units is dropped.
    """
    written, before = [], 0
    for text in texts:
        data = text.encode()
        found = find(np.frombuffer(data, np.uint8), np.array([0, len(data)]), unit)
        keep = np.ones(len(found), np.bool_)
        first, last = np.searchsorted(removed, [before, before + len(found)])
        keep[removed[first:last] - before] = False
        before += len(found)
        written.append(text if first == last else _joined(data, found, np.flatnonzero(keep)).decode())
    return written


def _joined(data: bytes, found: Units, kept: Array) -> bytearray:
    """A text with some of its units, each with its separator. Runs of them are joined in blocks: there may be half a million."""
    begin, end = int(found.starts[0]), int(found.ends[-1])
    if not len(kept):
        return bytearray(data[:begin] + data[end:])
    breaks = np.flatnonzero(np.diff(kept) != 1)
    starts, ends = found.starts[kept[np.append(0, breaks + 1)]], np.empty(len(breaks) + 1, np.int64)
    ends[:-1] = found.starts[kept[breaks] + 1]
    ends[-1] = found.ends[kept[-1]]
    view, joined = memoryview(data), bytearray(data[:begin])
    for first in range(0, len(starts), RUNS_AT_ONCE):
        some = slice(first, first + RUNS_AT_ONCE)
        joined += b"".join([view[a:b] for a, b in zip(starts[some].tolist(), ends[some].tolist(), strict=True)])
    joined += view[end:]
    return joined
