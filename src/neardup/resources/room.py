"""Room for temporary files: what is free, and a refusal, before the work, of what would not fit."""

import shutil
import tempfile

from neardup.display import size_text
from neardup.errors import OptionError
from neardup.resources.limits import physical_bytes


def free_bytes(temp_dir: str | None) -> int:
    """What is free where temporary files go."""
    return shutil.disk_usage(temp_dir or tempfile.gettempdir()).free


def check_room(needed: int, temp_dir: str | None, *, work: str, instead: str, memory: int | None = None) -> None:
    """Raise OptionError if `work`, in words, needs more bytes of temporary files than are free.

    The message says what else to give: `instead`, and as much `memory` (bytes) as would do without files, if the machine has it.
    """
    free = free_bytes(temp_dir)
    if needed > free:
        gigabytes = None if memory is None or memory > physical_bytes() else -(-memory >> 30)
        enough = "" if gigabytes is None else f" `memory='{gigabytes}G'`,"
        raise OptionError(
            f"{work} takes about {size_text(needed)} of temporary files, and {size_text(free)} are free in "
            f"{temp_dir or tempfile.gettempdir()}. Give a `temp_dir` with more room,{enough} or {instead}."
        )
