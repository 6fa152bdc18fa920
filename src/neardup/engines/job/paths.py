"""PATHS of what a command on an engine reads and writes: formats by their endings, and which lie in one another."""

import posixpath
import re
from collections.abc import Collection, Mapping, Sequence

from neardup.errors import InputError, OptionError

FORMATS = {".parquet": "parquet", ".orc": "orc", ".json": "json", ".jsonl": "json", ".csv": "csv"}
"""Of the endings of paths."""
_CODECS = {".gz": "gzip", ".bz2": "bzip2", ".zst": "zstd"}
"""Of the second endings that lines have."""


def format_of(path: str, otherwise: str) -> tuple[str, str | None]:
    """The format that the ending of a path tells, or else another one; and the codec of compressed lines."""
    stem, ending = posixpath.splitext(path.rstrip("/"))
    inner = FORMATS.get(posixpath.splitext(stem)[1].lower())
    if ending.lower() in _CODECS and inner in ("json", "csv"):
        return inner, _CODECS[ending.lower()]
    return FORMATS.get(ending.lower(), otherwise), None


def without_ending(path: str) -> tuple[str, str]:
    """A path without the ending that tells its format, and that ending."""
    path = path.rstrip("/")
    found = re.search(
        rf"({'|'.join(map(re.escape, FORMATS))})({'|'.join(map(re.escape, _CODECS))})?$", path, re.IGNORECASE
    )
    return (path, "") if found is None or path[: found.start()].endswith("/") else (path[: found.start()], found[0])


def demand_one_format(paths: Sequence[str], otherwise: str) -> str:
    """The format of paths that are read together.

    Raises:
        OptionError: they have several.
    """
    found = {format_of(path, otherwise)[0]: path for path in paths}
    if len(found) > 1:
        shown = ", ".join(f"{path} ({name})" for name, path in found.items())
        raise OptionError(
            f"All inputs must have one format, and these differ: {shown}. Write them in one format first."
        )
    return next(iter(found))


def demand_apart(written: Mapping[str, str], reading: Collection[str]) -> None:
    """Refuse what is written if it is, holds, or lies in something else that is written, or what is read.

    Args:
        written: whole paths, by what was given.
        reading: whole paths.

    Raises:
        InputError: it is so.
    """
    for at, (path, place) in enumerate(written.items()):
        if any(_overlap(place, other) for other in reading):
            raise InputError(f"{path} is to be written, and is, holds, or lies in what is read. Choose another path.")
        for other in list(written)[:at]:
            if _overlap(place, written[other]):
                raise InputError(f"{path} and {other} are both to be written, and overlap. Choose other paths.")


def _overlap(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")
