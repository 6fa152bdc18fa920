"""Room for temporary files: what is free, and a refusal, before the work, of what would not fit."""

import shutil
import tempfile

from neardup.display import size_text
from neardup.errors import OptionError


def free_bytes(temp_dir: str | None) -> int:
    """What is free where temporary files go."""
    return shutil.disk_usage(temp_dir or tempfile.gettempdir()).free


def check_room(needed: int, temp_dir: str | None, *, work: str, instead: str) -> None:
    """Raise OptionError if `work`, in words, needs more bytes of temporary files than are free; `instead`: what else to give."""
    free = free_bytes(temp_dir)
    if needed > free:
        raise OptionError(
            f"{work} takes about {size_text(needed)} of temporary files, and {size_text(free)} are free in "
            f"{temp_dir or tempfile.gettempdir()}. Give a `temp_dir` with more room, more memory, such as `memory='2G'`, or "
            f"{instead}."
        )
