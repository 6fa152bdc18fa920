"""ROWS: fingerprints and similarities for each row of Arrow columns of strings, for frames and SQL; a null gives a null."""

from typing import Any

import numpy as np
import pyarrow as pa

from neardup.errors import OptionError
from neardup.fingerprints.simhash import fingerprint
from neardup.matching.similarities.compare_texts import similarities_between
from neardup.recipe.recipe import Recipe
from neardup.recipe.similarity import Similarity
from neardup.recipe.tables.similarities import SimilarityName
from neardup.text.columns import as_text_arrays

WHOLE = ("clusters", "deduplicate", "duplicates", "is_duplicate", "is_near_duplicate", "pairs", "match", "unique")
"""Names that people may try for what needs all rows at once."""


def whole_column(name: str, spoken_of: str) -> str:
    """Why there is no such function of rows; `spoken_of`: what would call it."""
    return (
        f"{spoken_of} has no `{name}`: it sees a part of the rows at a time, and a near-duplicate may be in another. Give the "
        "whole frame: `neardup.deduplicate(frame)`, whose `annotations` have a row for each of its rows."
    )


def fingerprints_of_rows(texts: Any, recipe: Recipe) -> Any:
    """The SimHash of each text: uint64 up to 64 bits, else big-endian bytes of that width."""
    column = _column(texts)
    found = fingerprint(column.drop_null(), recipe=recipe, threads=1)
    if recipe.words > 1:
        kind = pa.binary(8 * recipe.words)
        content = pa.py_buffer(np.ascontiguousarray(found).astype(">u8").tobytes())
        return _back(pa.Array.from_buffers(kind, len(found), [None, content]).cast(pa.binary()), column)
    return _back(pa.array(found), column)


def similarities_of_rows(left: Any, right: Any, similarity: Similarity | SimilarityName, recipe: Recipe) -> Any:
    """The similarity of the two texts of each row, from 0 to 1."""
    sides = [_column(left), _column(right)]
    there = pa.compute.and_(*(pa.compute.is_valid(side) for side in sides))
    given = [as_text_arrays(side.filter(there)) for side in sides]
    texts = [some[0] if some else pa.array([], pa.large_string()) for some in given]
    found = similarities_between(texts[0], texts[1], similarity=similarity, recipe=recipe)
    return _spread(pa.array(found), there)


def _column(texts: Any) -> Any:
    """One Arrow array of strings.

    Raises:
        OptionError: it is of another type.
    """
    column = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    if pa.types.is_null(column.type) or pa.types.is_string_view(column.type):
        return column.cast(pa.large_string())
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        raise OptionError(f"The column has the type {column.type}; give strings.")
    return column


def _back(found: Any, column: Any) -> Any:
    return _spread(found, column.is_valid())


def _spread(found: Any, there: Any) -> Any:
    """Values of the rows that have one (booleans), with null elsewhere."""
    has = there.to_numpy(zero_copy_only=False)
    places = np.cumsum(has) - 1
    return found.take(pa.array(places, mask=~has))
