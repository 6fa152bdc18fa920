"""The KIND of stores in PostgreSQL, and the import of what a store has exported, as one that appears when it is complete."""

import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

from neardup.errors import InputError, TransferError
from neardup.store.answers import StoreCheck
from neardup.store.postgresql.connection import Database
from neardup.store.postgresql.facts import is_there
from neardup.store.postgresql.places import DatabasePlace, database_place, is_database
from neardup.store.postgresql.problems import LostError
from neardup.store.postgresql.schema import upgrade
from neardup.store.postgresql.shared_files import SharedFiles
from neardup.store.postgresql.upkeep import compact_shared, verify_shared
from neardup.store.session.backend import Backend, Building, Kind
from neardup.store.upkeep import restore as restoring


class PostgreSQL(Kind):
    """A store in a database, to which several services write."""

    is_shared = True

    def has(self, path: Any) -> bool:
        return is_database(path)

    def shown(self, path: str | Path) -> str:
        return database_place(str(path)).shown

    def folder(self, path: str | Path) -> Path | None:  # noqa: ARG002
        return None

    def is_there(self, path: str | Path) -> bool:
        return is_there(database_place(str(path)))

    def open(self, path: str | Path, **how: Any) -> Backend:
        return SharedFiles(database_place(str(path)), **how)

    def compact(self, files: SharedFiles) -> bool:
        return compact_shared(files)

    def verify(self, files: SharedFiles) -> StoreCheck:
        return verify_shared(files)

    def backup(self, files: SharedFiles, target: str | Path) -> None:  # noqa: ARG002
        raise InputError(
            f"{files.shown} is backed up with its database: `pg_dump --schema={files.place.schema}`. For a copy that other "
            "programs read, use `export`."
        )

    def repair(self, path: str | Path, wait: float) -> StoreCheck:  # noqa: ARG002
        raise InputError(
            f"{self.shown(path)} is repaired with its database: restore a backup of that. A replica that is damaged is made anew "
            "when it is opened."
        )

    def restore(self, path: str | Path, exported: Path, threads: int | None) -> None:
        import_shared(database_place(str(path)), exported, threads)

    def build(self, path: str | Path, run: str | Path, made: Building) -> None:  # noqa: ARG002
        raise InputError(
            f"{self.shown(path)} is in a database, and a run makes a store in a folder. Build that, export it, and import the "
            "export: `neardup store import`."
        )

    def upgrade(self, path: str | Path) -> tuple[int, int]:
        place = database_place(str(path))
        database = Database(place, 0)
        try:
            return database.run(lambda connection: upgrade(connection, place))
        finally:
            database.drop()


def import_shared(place: DatabasePlace, exported: Path, threads: int | None) -> None:
    """Make a store of an export; see `Store.from_export`. Until it is complete, it has another name.

    Raises:
        InputError: there is a store of the name, or no export.
        DataError: the export is damaged.
    """
    facts = restoring.read_export(exported)
    if is_there(place):
        raise InputError(f"{place.shown} is a store already. Give the new one another name: `store=NAME`.")
    given = restoring.given_of_export(facts)
    unfinished = replace(place, store=f"unfinished {secrets.token_hex(4)}", replica=None)
    recipe = restoring.recipe_of_export(exported, facts)
    files = SharedFiles(
        unfinished, mode="w", wait=0, durable="batch", threads=threads, recipe=recipe, given=given, plan=facts["plan"]
    )
    try:
        with files.in_use(changes=True):
            restoring.fill(files, exported, facts)
        files.database.run(lambda connection: files.log.rename(connection, place.store))
    except LostError as problem:
        raise TransferError(place.shown, "importing", 1, str(problem)) from None
    except BaseException:
        files.database.run(files.log.drop)
        raise
    finally:
        files.close()
