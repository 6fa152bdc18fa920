"""SHARED TEXTS: the texts of a store in PostgreSQL, which every service reads in the database, and no replica has."""

from collections.abc import Mapping, Sequence
from typing import Any

from neardup.store.postgresql.places import DatabasePlace
from neardup.store.record.sealed_texts import Original


class SharedTexts:
    """The columns of texts. `rows`: the key of the store's rows; see `Head`."""

    def __init__(self, place: DatabasePlace) -> None:
        self._documents, self._removed = f'"{place.schema}".documents', f'"{place.schema}".removed'

    def of_documents(self, connection: Any, rows: int, names: Mapping[int, str]) -> dict[int, Original]:
        """The texts of kept documents, whose ids are given as JSON by number, of those that there are."""
        query = (
            f"SELECT number, text FROM {self._documents} WHERE rows = %s AND number = ANY(%s) AND content IS NOT NULL"
        )
        found = connection.execute(query, (rows, list(names)), binary=True).fetchall()
        return {number: Original(names[number], text) for number, text in found}

    def of_removed(self, connection: Any, rows: int, numbers: Sequence[int]) -> dict[int, Original]:
        """The texts of remembered duplicates with those of these numbers that there are."""
        query = (
            f"SELECT number, id, text FROM {self._removed} WHERE rows = %s AND number = ANY(%s) AND digest IS NOT NULL"
        )
        found = connection.execute(query, (rows, list(numbers)), binary=True).fetchall()
        return {number: Original(name or "null", text) for number, name, text in found}
