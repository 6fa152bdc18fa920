"""The back ends of stores, for tests that hold for all of them: one row each in BACK_ENDS."""

import contextlib
import sqlite3

from neardup.store.store import Store


class Folders:
    """Stores in folders, which one process writes to, and others read."""

    def __init__(self, request):
        self._home = request.getfixturevalue("tmp_path") / "stores"

    def place(self, name="s"):
        """The place of a store that is not there."""
        return str(self._home / name)

    alone = place
    """The place of one that has nothing in common with others."""

    def others(self, place):
        """Stores that see what is written at a place, and those that may write there, too."""
        return [Store(place, mode="r")], []

    def count(self, place, table):
        """How many rows a table has."""
        with contextlib.closing(sqlite3.connect(f"{place}/record.sqlite")) as base:
            return base.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


class Databases:
    """Stores in PostgreSQL, which several services write to."""

    def __init__(self, request):
        self._server, self._schema = request.getfixturevalue("server"), request.getfixturevalue("schema")
        self._home = request.getfixturevalue("tmp_path")

    def place(self, name="default"):
        return self._server.place(self._schema, name)

    def alone(self, name):
        return self._server.place(f"{self._schema}_{name}".lower())

    def others(self, place):
        services = [Store(place), Store(f"{place}&replica={self._home / 'late'}")]
        return [*services, Store(place, mode="r")], services

    def count(self, place, table):
        return self._server.execute(f"SELECT count(*) FROM {self._schema}.{table}")[0][0]


BACK_ENDS = {"folder": Folders, "postgresql": Databases}
