"""BACKUP: copy a store as its record is, while another process may write."""

import contextlib
import os
import shutil
from pathlib import Path

from neardup.errors import InputError
from neardup.io.outputs.growing_file import to_disk
from neardup.store.formats.contents import Contents
from neardup.store.formats.derived import Derived
from neardup.store.record.record import Record
from neardup.store.session.backend import Documents
from neardup.store.session.folder import RECORD, REPLICA_MARK, free_folder
from neardup.store.session.writer import Files


def backup(files: Files, target: Path) -> None:
    """Copy a store as its record is now, which a reader holds as it is: a writer may go on. The copy of a replica is a replica.

    Raises:
        InputError: the target is not free, or within the store.
        DataError: the copy is not what the record says.
    """
    files.demand_at_rest()
    demand_outside(files, target)
    free_folder(target)
    files.flush()
    facts = files.record.facts()
    files.contents.copy_to(target, facts["ends"])
    files.derived.copy_to(target, facts["derived"])
    copy_recipe(files, target)
    for folder in files.candidates.folders():
        with contextlib.suppress(OSError):  # a writer replaces it: what is not whole is removed
            shutil.copytree(folder, target / folder.name)
    files.candidates.copied(target, facts)
    if (files.path / REPLICA_MARK).exists():
        _copy(files.path / REPLICA_MARK, target / REPLICA_MARK)
    files.record.copy_to(target / RECORD)  # last: without it, the copy is no store
    to_disk(target)
    _demand_whole(files, target)


def demand_outside(files: Documents, target: Path) -> None:
    """Refuse to write into the folder of the store itself."""
    if target.resolve().is_relative_to(files.path.resolve()):
        raise InputError(f"{target} is in the folder of the store. Name a folder elsewhere.")


def _demand_whole(files: Files, target: Path) -> None:
    """Refuse a copy whose files are not those that its record names, as far as headers, lengths and seals tell."""
    with contextlib.closing(Record(target / RECORD, readonly=True)) as record:
        facts = record.facts()
        record.marks()
    whose = {"store": facts["store"], "generation": facts["generation"]}
    Contents(target, files.layout, facts["ends"], **whose, readonly=True).close()
    Derived(target, facts["derived"]).close()


def copy_recipe(files: Documents, target: Path) -> None:
    """Copy the files of the recipe."""
    for path in [*files.path.glob("words-*"), *files.path.glob("frequencies-*")]:
        _copy(path, target / path.name)


def _copy(source: Path, target: Path) -> None:
    """Copy a file, durably."""
    with source.open("rb") as read, target.open("xb") as write:
        shutil.copyfileobj(read, write, 1 << 22)
        write.flush()
        os.fsync(write.fileno())
