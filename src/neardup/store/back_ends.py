"""BACK ENDS: one row for each kind of place that a store can be in, and which one a place is of."""

from contextlib import closing
from pathlib import Path
from typing import Any

from neardup.errors import InputError
from neardup.io.storage.places import local_path, misspelled_folder, near_folder
from neardup.recipe.presets import RecipeLike
from neardup.resources.resources import Resources
from neardup.store.answers import StoreCheck
from neardup.store.postgresql.kind import PostgreSQL
from neardup.store.session.backend import Backend, Building, Kind
from neardup.store.session.folder import is_store
from neardup.store.session.writer import Files
from neardup.store.upkeep import backup, build_from_run, compact, restore, verify
from neardup.store.upkeep.finished_run import read_decided_run


class Folder(Kind):
    """A store in a folder, to which one process writes at a time."""

    def has(self, path: Any) -> bool:  # noqa: ARG002
        return True

    def shown(self, path: str | Path) -> str:
        return str(path)

    def folder(self, path: str | Path) -> Path | None:
        return local_path(path, "a store")

    def is_there(self, path: str | Path) -> bool:
        return is_store(local_path(path, "a store"))

    def open(self, path: str | Path, **how: Any) -> Backend:
        try:
            return Files(path, **how)
        except OSError as problem:
            raise InputError(
                f"{path} cannot be opened: {problem.strerror}. Mend the cause, and open it again."
            ) from problem

    def compact(self, files: Files) -> bool:
        files.demand_writable()
        return compact.compact(files)

    def verify(self, files: Files) -> StoreCheck:
        return verify.check_files(files)

    def backup(self, files: Files, target: str | Path) -> None:
        backup.backup(files, local_path(target, "a store"))

    def repair(self, path: str | Path, wait: float) -> StoreCheck:
        return verify.repair(local_path(path, "a store"), wait)

    def restore(self, path: str | Path, exported: Path, threads: int | None) -> None:
        target = local_path(path, "a store")
        facts = restore.read_export(exported)
        given = restore.given_of_export(facts)
        recipe = restore.recipe_of_export(exported, facts)
        with build_from_run.folder_for(target) as folder, closing(_new(folder, recipe, threads, given)) as files:
            restore.restore(files, exported, facts)

    def build(self, path: str | Path, run: str | Path, made: Building) -> None:
        target, decided = local_path(path, "a store"), read_decided_run(run, made.recipe)
        given = {**decided.matching, "texts": made.texts}
        with (
            build_from_run.folder_for(target) as folder,
            closing(_new(folder, decided.recipe, made.threads, given)) as files,
        ):
            build_from_run.build(files, decided, Resources(made.threads), made.progress)

    def upgrade(self, path: str | Path) -> tuple[int, int]:
        raise InputError(
            f"{path} is a folder, and only tables in a database are upgraded. Export the store with the version of neardup that "
            "wrote it, and import it with this one."
        )


def _new(folder: Path, recipe: RecipeLike, threads: int | None, given: dict[str, Any]) -> Files:
    """A new store that is to be filled."""
    return Files(folder, mode="w", wait=0.0, durable="batch", threads=threads, recipe=recipe, given=given)


FOLDER = Folder()
BACK_ENDS: tuple[Kind, ...] = (PostgreSQL(), FOLDER)
"""The first of them that has a place is its kind. A new back end gets a row here."""


def back_end_of(path: Any) -> Kind:
    """The kind of back end that has the store at a place."""
    return next(kind for kind in BACK_ENDS if kind.has(path))


def shown_place(path: str | Path) -> str:
    """The place of a store as messages and lines show it: without password."""
    return back_end_of(path).shown(path)


def misspelled_store(path: str | Path) -> Path | None:
    """The store beside a place that has none, of which its name is a slip of the keyboard."""
    folder = back_end_of(path).folder(path)
    return None if folder is None or is_store(folder) else misspelled_folder(folder, is_store)


def no_store(path: str | Path, remedy: str) -> InputError:
    """The error for a place without a store; `remedy`: how one is made there."""
    folder = back_end_of(path).folder(path)
    near = "" if folder is None else near_folder(folder, is_store)
    return InputError(f"{shown_place(path)} is no store{near}. Name the folder of one, or {remedy}.")
