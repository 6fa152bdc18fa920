"""Parse and check the limits of a run: sizes in bytes, and the folder for temporary files."""

import os
import re

from neardup.errors import OptionError, is_integer

MIN_MEMORY_BYTES = 16 << 20
MEMORY_STEP_BYTES = 256 << 20
"""Half of the machine's memory is rounded down to a multiple of this: after an update a kernel keeps some pages more or fewer for
itself, and a run that is resumed must have the memory that it had."""

UNIT_BYTES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
MAX_SIZE_BYTES = 1 << 63
"""No size is so large: arrays and files count bytes in 63 bits."""


def memory_bytes(memory: int | str | None, *, least: int = MIN_MEMORY_BYTES) -> int:
    """Parse a number of bytes, such as 1000000, `512M` or `4G`; None gives half of the machine's memory.

    >>> memory_bytes("1.5G")
    1610612736
    """
    if memory is None:
        half = physical_bytes() // 2
        return half // MEMORY_STEP_BYTES * MEMORY_STEP_BYTES or half
    return size_in_bytes("memory", memory, least=least)


def physical_bytes() -> int:
    """The memory of the machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def size_in_bytes(option: str, given: int | str, *, least: int = 1) -> int:
    """Parse a number of bytes, such as 1000000, `512M` or `4G`.

    Raises:
        OptionError: the value is not a size, or is below `least` or not below MAX_SIZE_BYTES.
    """
    is_integer(given)  # refuses what cannot be printed
    found = re.fullmatch(r"(\d+(?:\.\d+)?) *([KMGT]?)(?:i?B)?", str(given).strip(), re.IGNORECASE)
    size = float(found[1]) * UNIT_BYTES[found[2].upper()] if found and not isinstance(given, bool) else 0.0
    is_whole = size.is_integer() or (found is not None and found[2] != "")  # 1.5G is a size, half a byte is not
    if not least <= size < MAX_SIZE_BYTES or not is_whole:
        limit = ", below 8,388,608T," if size >= MAX_SIZE_BYTES else f", at least {least >> 20}M," if least > 1 else ""
        raise OptionError(f"`{option}={given!r}`: give bytes{limit} as a number or as 512M or 4G.")
    return int(size)


def check_temp_dir(temp_dir: str | os.PathLike[str] | None) -> None:
    """Raise OptionError unless `temp_dir` is None or a folder in which files can be created."""
    if temp_dir is None:
        return
    if not isinstance(temp_dir, str | os.PathLike) or not os.path.isdir(temp_dir):
        raise OptionError(f"`temp_dir={temp_dir!r}`: there is no such folder. Make it, or give one that exists.")
    if not os.access(temp_dir, os.W_OK | os.X_OK):
        raise OptionError(
            f"`temp_dir={temp_dir!r}`: no file can be made in this folder. Give one that can be written to."
        )
