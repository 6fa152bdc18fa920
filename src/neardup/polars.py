"""Expressions for polars, for each row: importing this module gives every expression of polars the namespace `neardup`.

    import neardup.polars
    frame.with_columns(pl.col("text").neardup.fingerprint(), pl.col("old").neardup.similarity("new"))

A row's value depends on no other row, so it is the same in a stream, in chunks and in groups. What needs all rows takes the frame:
`neardup.deduplicate(frame)`.
"""

from typing import NoReturn

from neardup.integrations.rows import WHOLE, fingerprints_of_rows, similarities_of_rows, whole_column
from neardup.matching.similarities.compare_texts import compared_by
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.similarity import SimilarityLike
from neardup.recipe.stored_parts import check_installed
from neardup.recipe.tables.similarities import SimilarityName

check_installed("neardup.polars", ("polars",), "polars")

import polars as pl  # noqa: E402

__all__ = ["Expressions"]


@pl.api.register_expr_namespace("neardup")
class Expressions:
    """The namespace `neardup` of an expression of strings. A null gives a null."""

    def __init__(self, expression: pl.Expr) -> None:
        self._expression = expression

    def fingerprint(self, *, recipe: RecipeLike | None = None) -> pl.Expr:
        """The SimHash fingerprint of each text: UInt64 up to 64 bits, else Binary, the most significant byte first.

        Args:
            recipe: defines the fingerprint; `Recipe()` by default, which has 128 bits.

        Raises:
            OptionError: there is no such recipe; or, when the expression runs, the column has no strings.
        """
        used = recipe_of(recipe)
        kind = pl.UInt64 if used.words == 1 else pl.Binary

        def found(column: pl.Series) -> pl.Series:
            return pl.Series(column.name, fingerprints_of_rows(column.to_arrow(), used), dtype=kind)

        return self._expression.map_batches(found, return_dtype=kind, is_elementwise=True)

    def similarity(
        self,
        other: pl.Expr | str,
        *,
        kind: SimilarityName | None = None,
        similarity: SimilarityLike | None = None,
        recipe: RecipeLike | None = None,
    ) -> pl.Expr:
        """The similarity of each text to that of another column in the same row, from 0 to 1, as `neardup.similarity` computes it.

        Args:
            other: an expression of strings, or the name of a column.
            kind, similarity, recipe: as of `neardup.similarity`.

        Raises:
            OptionError: an option has a value that is not allowed; or, when the expression runs, a column has no strings.
        """
        chosen, used = compared_by(kind, similarity, recipe)
        against = pl.col(other) if isinstance(other, str) else other

        def found(columns: pl.Series) -> pl.Series:
            left, right = (field.to_arrow() for field in columns.struct.unnest().get_columns())
            return pl.Series(columns.name, similarities_of_rows(left, right, chosen, used), dtype=pl.Float64)

        pair = pl.struct(self._expression.alias("left"), against.alias("right"))
        named = self._expression.meta.output_name(raise_if_undetermined=False) or "similarity"
        return pair.map_batches(found, return_dtype=pl.Float64, is_elementwise=True).alias(named)

    def __getattr__(self, name: str) -> NoReturn:
        if name in WHOLE:
            raise AttributeError(whole_column(name, "An expression"))
        raise AttributeError(f"An expression has no `neardup.{name}`, but `fingerprint` and `similarity`.")
