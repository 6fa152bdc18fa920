"""Functions for DuckDB, for each row: `neardup.duckdb.register(connection)`.

    SELECT neardup_fingerprint(text), neardup_similarity(old, new) FROM pages

A row's value depends on no other row. What needs all rows takes the relation: `neardup.deduplicate(connection.sql("FROM pages"))`.
"""

from typing import Any

from neardup.errors import OptionError
from neardup.integrations.rows import fingerprints_of_rows, similarities_of_rows
from neardup.matching.similarities.compare_texts import compared_by
from neardup.recipe.presets import RecipeLike, recipe_of
from neardup.recipe.similarity import SimilarityLike
from neardup.recipe.stored_parts import check_installed
from neardup.recipe.tables.similarities import SimilarityName

check_installed("neardup.duckdb", ("duckdb",), "duckdb")

import duckdb  # noqa: E402

__all__ = ["register"]
FINGERPRINT, SIMILARITY = "neardup_fingerprint", "neardup_similarity"


def register(
    connection: Any,
    *,
    recipe: RecipeLike | None = None,
    kind: SimilarityName | None = None,
    similarity: SimilarityLike | None = None,
) -> None:
    """Give a connection `neardup_fingerprint(text)` and `neardup_similarity(a, b)`. NULL gives NULL.

    The fingerprint is a UBIGINT up to 64 bits, so `bit_count(xor(a, b))` is the distance of two; else a BLOB, the most significant
    byte first. The similarity is a DOUBLE from 0 to 1. To change the options, register again.

    Args:
        connection: of DuckDB, such as `duckdb.connect()`.
        recipe: of the fingerprints; `Recipe()` by default, which has 128 bits.
        kind, similarity: as of `neardup.similarity`, with the default recipe.

    Raises:
        OptionError: it is no connection of DuckDB, or an option has a value that is not allowed.
        MissingExtra: DuckDB is not installed.
    """
    if not isinstance(connection, duckdb.DuckDBPyConnection):
        raise OptionError(
            f"`connection` is a {type(connection).__name__}. Give one of DuckDB, such as `duckdb.connect()`."
        )
    used, (chosen, compared) = recipe_of(recipe), compared_by(kind, similarity, None)

    def fingerprint(texts: Any) -> Any:
        return fingerprints_of_rows(texts, used)

    def alike(left: Any, right: Any) -> Any:
        return similarities_of_rows(left, right, chosen, compared)

    for name, function, given, answer in (
        (FINGERPRINT, fingerprint, ["VARCHAR"], "UBIGINT" if used.words == 1 else "BLOB"),
        (SIMILARITY, alike, ["VARCHAR", "VARCHAR"], "DOUBLE"),
    ):
        if connection.execute("SELECT 1 FROM duckdb_functions() WHERE function_name = ?", [name]).fetchall():
            connection.remove_function(name)
        connection.create_function(name, function, given, answer, type="arrow")
