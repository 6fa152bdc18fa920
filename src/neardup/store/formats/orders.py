"""The files of ORDERS of elements, see `neardup.matching.element_order`."""

from pathlib import Path
from typing import Any

import numpy as np

from neardup.errors import DataError
from neardup.hamming.index.files.segment_file import SegmentFile, write_segment_file
from neardup.kernels.store.prefixes import Order
from neardup.matching.element_order import order_of
from neardup.store.formats.segments import REPAIR


def write_order(path: Path, order: Order) -> dict[str, Any]:
    """Write an order to a new file. Returns what the record says of it."""
    known = np.flatnonzero(order.counts)
    arrays = {"elements": order.elements[known], "counts": order.counts[known]}
    return {"file": path.name, "seal": f"{write_segment_file(path, arrays, {}):016x}"}


def read_order(file: SegmentFile) -> Order:
    """Read what `write_order` has written.

    Raises:
        DataError: the file is damaged.
    """
    if file.damaged_pages():
        raise DataError(f"{file.path} is damaged. {REPAIR}")
    arrays = file.arrays
    return order_of(arrays["elements"], arrays["counts"])
