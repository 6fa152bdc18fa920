"""NAMES of the outputs of a run: a file, a folder with a file for each shard, or standard output."""

import os
import sys
from collections.abc import Sequence
from glob import has_magic
from pathlib import Path

from neardup.errors import InputError
from neardup.io.corpora.shard import OF_COLUMNS, Shard
from neardup.io.endings import ALLOWED, split_ending
from neardup.io.formats.table import CONVERTED, FILES, FORMATS, is_converted
from neardup.io.storage.places import Place, is_url, place_of, real_name
from neardup.io.storage.refusals import mixed_formats
from neardup.io.storage.remote import RemotePath

STANDARD_OUTPUT = Path("-")
MAX_LISTED = 5
"""Problems of a kind that a message lists."""
_NO_LINES = (*OF_COLUMNS, "warc")
"""Formats whose files no program would read as lines."""


def output_folder(out: str) -> Place | None:
    """The folder that OUT names: OUT ends in a slash, or exists (a URL must end in one). None if OUT is a file or `-`."""
    if is_url(out):
        return place_of(out) if out.endswith("/") else None
    try:
        return Path(out) if out != "-" and (out.endswith(("/", os.sep)) or Path(out).is_dir()) else None
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error.strerror}. Name another output.") from None


def output_for(out: str | None, inputs: Sequence[str | Path], *, lines: bool = False) -> str | None:
    """OUT as it is meant: a name without an ending is a folder if a folder, a glob or several files are given.

    With `lines`, all inputs go to the one file that is named, whatever its ending.
    """
    if not out or out == str(STANDARD_OUTPUT) or lines or out.endswith(("/", os.sep)):
        return out
    names = [str(each) for each in inputs]
    is_several = len(names) > 1 or any(
        has_magic(name) or (name != "-" and output_folder(name) is not None) for name in names
    )
    return f"{out}/" if is_several and "." not in place_of(out).name.lstrip(".") else out


def output_names(out: str, shards: Sequence[Shard]) -> list[Place]:
    """The output file of each shard: one file for all, or the shard's relative name in a folder.

    Raises:
        InputError: the ending of OUT, or `-`, does not match the shards' format; the shards cannot share one file; two shards
            would have the same output; a shard lies in the output folder and would not be replaced by its own output.
    """
    folder = output_folder(out)
    if folder is None:
        return [_one_file(out, shards)] * len(shards)
    names = [folder / shard.relative for shard in shards]
    owner: dict[Place, Shard] = {}
    problems = []
    inside = real_name(folder) + "/"
    for name, shard in zip(names, shards, strict=True):
        first = owner.setdefault(name, shard)
        if first is not shard:
            problems.append(
                f"{first.name} and {shard.name} would both be written to {name}. Give the folder above them as input."
            )
        real = real_name(shard.path)
        if real.startswith(inside) and real != real_name(name):
            problems.append(f"{shard.name} lies in the output folder {out}. Name another folder.")
    if problems:
        raise InputError(listed(problems))
    return names


def demand_open(out: str) -> None:
    """Raise InputError if OUT is standard output, and that is closed."""
    if out == "-" and (sys.stdout is None or getattr(sys.stdout, "name", None) == os.devnull):  # see _prepare_streams
        raise InputError("`output='-'`: standard output is closed. Open it, or name a file.")


def _one_file(out: str, shards: Sequence[Shard]) -> Place:
    demand_open(out)
    path = place_of(out)
    if {shard.format for shard in shards} == {"lines"}:  # this format takes files with any ending
        if (known := split_ending(path.name)) and known[1] in _NO_LINES:
            raise mixed_formats(shards[0].name, "lines", known[1])
        FORMATS["lines"].check_together(shards)
        return path
    first = shards[0].format if shards else "jsonl"
    known = split_ending(path.name) if out != "-" else ("", "jsonl" if first in FILES else first, "plain")
    if known is None:
        raise InputError(f"{out}: the ending does not tell the format of the output. {ALLOWED}; a folder ends in /.")
    target = known[1]
    for shard in shards:
        if shard.format != target and (out == "-" or not is_converted(shard.format, target)):
            to = f"{target} on standard output" if out == "-" else target
            raise mixed_formats(shard.name, shard.format, to, converts=out != "-" and shard.format in CONVERTED)
    if any(shard.format != target for shard in shards):
        from neardup.io.formats.conversion.allowed import demand_convertible  # loads Arrow

        demand_convertible(shards, target)
        return path
    if out == "-" and first in OF_COLUMNS and sys.stdout.isatty():
        raise InputError(f"`output='-'`: {first} is not for a terminal. Redirect standard output, or name a file.")
    if len(shards) > 1:
        FORMATS[known[1]].check_together(shards)
    return path


def stem(out: str) -> str:
    """OUT without its data endings, for naming the files beside it: `out` for `out.jsonl.gz`, `kept` for `kept/`."""
    folder = output_folder(out)
    if isinstance(folder, RemotePath):
        return folder.url.rstrip("/")
    if folder is not None:
        return str(folder) if folder.name not in ("", "..") else str(folder.resolve())
    path = place_of(out)
    known = split_ending(path.name)
    return str(path.with_name(known[0])) if known else out


def listed(problems: Sequence[str]) -> str:
    """The first problems in lines, and how many more there are."""
    more = len(problems) - MAX_LISTED
    return "\n".join([*problems[:MAX_LISTED], *([f"… and {more} more of this kind."] if more > 0 else [])])
