"""MAINTENANCE of a store: what it takes, room and damage, copies, and its end."""

from pathlib import Path
from typing import Self

from neardup.io.storage.places import local_path
from neardup.store.back_ends import back_end_of
from neardup.store.kind import Kind
from neardup.store.session.backend import Backend
from neardup.store.session.calls import changing_call, one_call
from neardup.store.upkeep import export as exporting
from neardup.store.upkeep.info import StoreInfo, info_of
from neardup.store.upkeep.verify import StoreCheck


class Maintained:
    """The part of `neardup.store.store.Store` that has to do with its files alone."""

    _files: Backend
    _kind: Kind

    @one_call
    def info(self) -> StoreInfo:
        """What the store is, and what it takes."""
        return info_of(self._files)

    def ping(self) -> None:
        """Ask whether the store can be used now. A database is tried once, where other calls try again for `wait` seconds.

        Raises:
            InputError: the store is closed, or is not there any more.
            TransferError: the database cannot be reached.
        """
        self._files.ping()

    @changing_call
    def compact(self) -> bool:
        """Give up the room of documents that were removed, and of texts whose survivors were; and answer faster. Takes the
        room of what stays, once more, until it is done; a crash leaves the old or the new. Returns False if nothing is to be
        gained, and nothing was done.
        """
        return self._kind.compact(self._files)

    @one_call
    def verify(self) -> StoreCheck:
        """Read every byte, compare it with its checksum, and ask for every document."""
        return self._kind.verify(self._files)

    @one_call
    def backup(self, path: str | Path) -> None:
        """Copy the store, as it is now, to a folder that is empty or not there. Another process may write meanwhile.

        Raises:
            InputError: the folder is not empty.
        """
        self._kind.backup(self._files, path)

    @one_call
    def export(self, path: str | Path) -> None:
        """Write documents, remembered texts and facts as Parquet and JSON to a folder that is empty or not there.

        Raises:
            InputError: the folder is not empty.
        """
        exporting.export(self._files, local_path(path, "an export"))

    @classmethod
    def repair(cls, path: str | Path, *, wait: float = 0.0) -> StoreCheck:
        """Make anew what is made of other files, and remove the documents that are damaged. Returns what was wrong.

        Args:
            path: the folder of the store.
            wait: seconds to wait until another process that writes has ended.

        Raises:
            InputError: there is no store, or another process writes to it.
            DataError: the record is damaged, so nothing says what is there.
        """
        return back_end_of(path).repair(path, wait)

    @changing_call
    def flush(self) -> None:
        """Make durable what was changed; see `durable`."""
        self._files.flush()

    def close(self) -> None:
        """Make everything durable, and close the store, so that another process can write to it."""
        self._files.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
