"""VERSIONS of the format of stores and of exports: what is said of those that this program does not read."""

from pathlib import Path
from typing import Any

from neardup.errors import DataError

_OLDER = (
    "Export it with the version of neardup that wrote it: `neardup store export`. "
    "Then make a store of the export with this one: `neardup store import`."
)
_OLDER_EXPORT = (
    "Make a store of it with the version of neardup that wrote it: `neardup store import`. "
    "Then export that with a later version: `neardup store export`."
)
_NEWER = "Install a version of neardup that reads it."


class OtherVersionError(DataError):
    """A store or an export of another version, which may be whole."""


def demand_version(path: Path, written: Any, own: int, *, is_export: bool = False) -> None:
    """Refuse what another version has written.

    Args:
        path: the file that says its version.
        written: the version that it says.
        own: the one that is read.
        is_export: whether it is an export, and not a store.

    Raises:
        OtherVersionError: the versions differ.
    """
    if written == own and not isinstance(written, bool):
        return
    is_newer = isinstance(written, int) and written > own
    remedy = _NEWER if is_newer else _OLDER_EXPORT if is_export else _OLDER
    what = "exports" if is_export else "stores"
    raise OtherVersionError(
        f"{path} has version {written!r} of the format of {what}; this version of neardup reads {own}. {remedy}"
    )
