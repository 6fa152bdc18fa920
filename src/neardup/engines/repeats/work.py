"""WORK: what is to be done where passages are cut; and the rows between its stages.

Every key but that of hashes is a document, so all that is known of a document comes to one bucket. A stage answers what came from
a bucket by any document of it: all rows of the bucket are there together. So of a passage that is in every document, a bucket
asks once.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.columns import ascending, beginnings, runs
from neardup.engines.job_options import Work
from neardup.engines.schemas import BOOL, BYTES, INT
from neardup.engines.stages import Output
from neardup.recipe.recipe import Recipe
from neardup.survivors.repeats.options import PassageOptions
from neardup.survivors.repeats.token_stream import TokenStream

TEXT = pa.large_string()
PLACE_BITS = 40
"""Of a place in a document; the rest of 64 bits is for numbers of documents of a bucket."""
PIECE_BYTES = 1 << 25
"""Bytes of texts or tokens that a stage yields at a time, about."""
_KNOWN = {"doc": INT, "rank": INT, "group": INT, "is_reference": BOOL}
DOCUMENTS = Output(pa.schema({**_KNOWN, "tokens": INT, "cost": INT, "value": TEXT}), ("doc",))
RANKED = Output(pa.schema(_KNOWN), ("doc",))
MINIMIZERS = Output(pa.schema({"value": INT, "is_again": BOOL}), ("value",), is_sorted=False)
AGAIN = Output(pa.schema({"division": INT, "value": INT}), ("division",), is_sorted=False)
"""Minimizers of several places, each by the two hashes that are its cells."""
CELLS = Output(pa.schema({"division": INT, "cells": BYTES}))
_HASH = {"high": INT, "low": INT}
WINDOWS = Output(pa.schema({"doc": INT, "place": INT, **_HASH}), ("doc",), is_sorted=False)
"""Windows that may have stood earlier, with hashes of two bases; places count from the first of the document."""
FIRSTS = Output(
    pa.schema({**_HASH, "group": INT, "rank": INT, "doc": INT, "place": INT, "has_others": BOOL}),
    ("high", "low", "group"),
    is_sorted=False,
)
"""The earliest window of each hash in a bucket of documents, and whether there are others in it."""
EARLIEST = Output(pa.schema({"doc": INT, **_HASH, "group": INT, "copy": INT, "copy_place": INT}), ("doc",))
"""The earliest place of all, for the bucket of a document."""
RUNS = Output(pa.schema({"doc": INT, "place": INT, "count": INT, "copy": INT, "copy_place": INT}), ("doc",))
"""Consecutive windows whose earliest places are consecutive, too."""
ASKED = Output(pa.schema({"doc": INT, "asker": INT, "place": INT, "end": INT}), ("doc",))
"""Places whose tokens the bucket of another document needs."""
TEXTS = Output(pa.schema({"doc": INT, "id": TEXT, "text": TEXT}), ("doc",), is_text=True)
SENT = Output(pa.schema({"doc": INT, "copy": INT, "place": INT, "tokens": BYTES}), ("doc",), is_text=True)
"""Tokens of a copy, each with an end, from a place on, for the bucket of a document."""
_SPAN = {"column": INT, "start": INT, "end": INT}
_SEGMENT = {"doc": INT, "place": INT, "copy": INT, "copy_place": INT, "tokens": INT, **_SPAN}
SEGMENTS = Output(pa.schema({**_SEGMENT, "is_separated": BOOL}), ("doc",))
EDITED = Output(pa.schema({"doc": INT, "id": TEXT, "text": TEXT, "left": INT}), ("doc",), is_text=True)
"""Documents without what is cut from them, and how many tokens they have left."""
COPIES = Output(pa.schema({"doc": INT, "asker": INT, "place": INT, "tokens": INT}), ("doc",))
"""Copies that segments of a bucket name, and whether another document than their own names them."""
_COPY = {"copy_id": TEXT, "copy_column": INT, "copy_start": INT, "copy_end": INT, "copy_is_cut": BOOL}
LOCATED = Output(pa.schema({"doc": INT, "copy": INT, "copy_place": INT, "tokens": INT, **_COPY}), ("doc",))
OUTCOMES = Output(
    pa.schema({"doc": INT, "id": TEXT, "text": TEXT, "is_removed": BOOL, "is_kept_for_copies": BOOL}),
    ("doc",),
    is_text=True,
)
"""What becomes of documents from which something is cut."""
EDITS = Output(
    pa.schema({"part": INT, "doc": INT, "text": TEXT, "is_removed": BOOL}), ("part",), is_text=True, is_sorted=False
)
"""The same, for the parts of the input."""
LOGGED = Output(
    pa.schema(
        {
            "doc": INT, "place": INT, "id": TEXT, **_SPAN, "tokens": INT, "copy": INT, **_COPY,
            "copy_in_reference": BOOL, "separator": TEXT, "document_removed": BOOL,
        }
    ),
    ("doc",),
)  # fmt: skip
"""A row for each segment."""


@dataclass(frozen=True)
class PassageWork(Work):
    """What is to be done.

    Attributes:
        passages: what counts as a passage, and what is cut; the other options order documents.
        columns: texts are those of so many columns, with `neardup.survivors.repeats.token_stream.SEPARATOR` between them.
    """

    passages: PassageOptions = field(default_factory=PassageOptions)
    columns: int = 1

    @classmethod
    def of_passages(cls, recipe: Recipe, passages: PassageOptions, columns: int = 1) -> "PassageWork":
        """For a recipe and options."""
        order = passages.order.changed(method="exact", threads=1)
        return cls(recipe, order, 0, None, passages=passages, columns=columns)

    @cached_property
    def stream(self) -> TokenStream:
        """What cuts texts into tokens."""
        return TokenStream(self.passages.tokens_by, self.recipe, self.columns)

    @property
    def deciding(self) -> dict[str, Any]:
        return self.passages.as_dict()


def joined(known: tuple[Array, ...], asked: tuple[Array, ...]) -> Array:
    """int64[n]: the row of `known` that has the same values as each row that is asked, in columns of int64; -1 if none has.

    Rows of `known` differ from each other.
    """
    count = len(known[0])
    columns = [np.concatenate(both) for both in zip(known, asked, strict=True)]
    order = ascending(*columns)  # equal rows stay as they are, so the known one comes first
    if not len(order):
        return order
    ordered = [column[order] for column in columns]
    first = order[beginnings(*ordered)][runs(*ordered)]
    found = np.empty(len(order), np.int64)
    found[order] = np.where(first < count, first, -1)
    return found[count:]
