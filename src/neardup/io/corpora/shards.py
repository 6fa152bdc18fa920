"""Turn the inputs of the command line into the shards of a corpus."""

import contextlib
import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from neardup.display import counted
from neardup.errors import DataError, InputError
from neardup.io.corpora.reading import Reading
from neardup.io.corpora.shard import OF_COLUMNS, Shard, standard_input
from neardup.io.endings import ALLOWED, HTML, NAMED_ONLY, RECORDS, split_ending
from neardup.io.storage.compression import open_for_reading
from neardup.io.storage.compressions import COMPRESSIONS, HEAD_BYTES, compression_of_name, sniff
from neardup.io.storage.places import Place, identity, name_as_text, place_of, status_of
from neardup.io.storage.remote import RemotePath
from neardup.progress import Progress
from neardup.resources.unfinished import TemporaryFolder

_UNKNOWN, _RECORD, _ONLY_NAMED, _HOW_HTML = (
    "of no known format",
    "for they are records of a run",
    "for such files are read only if they are named",
    "for HTML is read with `html='main'` or `html='whole'`",
)
_MAX_LISTED = 5
_READ_BYTES = 1 << 20
_BINARY = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\xff\xff\xff\xff": ".arrows"}
"""What files with columns begin with, and the endings of their names."""
_WARC = b"WARC/"
_OTHER_COMPRESSIONS = {".zip", ".br", ".7z", ".snappy", ".lzma", ".z"}


Inputs = str | Path | Sequence[str | Path]
"""One file, folder, glob, URL or `-`, or several of them."""


def listed_inputs(inputs: str | Path | Iterable[str | Path]) -> tuple[str | Path, ...]:
    """The inputs as a tuple, also if there is only one."""
    if isinstance(inputs, str | Path):
        return (inputs,)
    if not isinstance(inputs, Iterable):
        raise InputError(f"{inputs!r:.80} does not name a file. Give a string, a pathlib.Path or several of them.")
    return tuple(inputs)


def find_shards(
    inputs: Inputs,
    *,
    temporary: TemporaryFolder | None = None,
    reading: Reading | None = None,
    progress: Progress | None = None,
) -> list[Shard]:
    """Find the files named by `inputs`, in the order given; files of a folder or a glob are sorted by relative path.

    A folder stands for all files of known endings below it, except hidden ones, `.json` and `.md`, and except HTML unless `reading`
    declares HTML texts. A glob stands for all its matches. `-` stands for standard input, which is written to a file in
    `temporary`, if that is given: Parquet, Arrow and WARC are known by their first bytes; else they are lines, if `reading` says
    so, CSV, if it has a dialect, or JSON lines. Symbolic links are followed. URLs are looked up in their stores. `progress`
    receives the files in folders that are passed over, except hidden ones.

    Raises:
        InputError: with every problem found: an input does not exist or is not readable, an ending is unknown, a folder or glob has
            no file, or a file occurs twice.
        MissingExtra: a URL needs a package that is not installed.
        TransferError: a store fails again and again.
    """
    reading, progress = reading or Reading(), progress or Progress()
    wanted = [str(given) for given in listed_inputs(inputs)]
    found: dict[str, list[Shard]] = {}
    problems = [f"{given} is given twice. Name it once." for given in dict.fromkeys(wanted) if wanted.count(given) > 1]
    for given in dict.fromkeys(wanted):
        try:
            found[given] = _expand(given, reading, progress) if given != "-" else []
        except InputError as error:
            problems.append(str(error))
    problems = problems or repeated_files([shard for shards in found.values() for shard in shards])
    if problems:
        raise InputError("\n".join(problems))
    if not wanted:
        raise InputError("No input is given. Name files, folders or globs, or - for standard input.")
    if "-" in found:  # last, because it may take long to arrive
        found["-"] = [_standard_input(temporary, reading)]
    return [shard for shards in found.values() for shard in shards]


def demand_present(inputs: Iterable[str]) -> None:
    """Refuse names of local files that are not there: a first look, before modules are loaded for a search of all inputs.

    Raises:
        InputError: with every such name.
    """
    places = {given: place_of(given) for given in inputs if given and given != "-" and not glob.has_magic(given)}
    missing = [given for given, place in places.items() if isinstance(place, Path) and not os.path.lexists(place)]
    if missing:
        raise InputError("\n".join(map(_no_such, missing)))


def _no_such(given: str) -> str:
    return f"{given}: there is no such file or folder."


def _expand(given: str, reading: Reading, progress: Progress) -> list[Shard]:
    if not given:
        raise InputError("An input is an empty string. Name a file, a folder or a glob, or - for standard input.")
    path = place_of(given)
    if isinstance(path, RemotePath):
        return _expand_remote(path, reading, progress)
    given = str(path)
    if path.is_dir():
        return _folder(path, path, reading, progress)
    if os.path.lexists(path):
        return [_shard(path, path.parent, reading)]
    if not glob.has_magic(given):
        raise InputError(_no_such(given))
    matches = glob.glob(given, recursive=True)
    if "**" in given:  # ** also matches every folder beside the files in it
        matches = [match for match in matches if not os.path.isdir(match)]
    if not matches:
        raise InputError(f"{given}: no file matches. Check the pattern; hidden files are never matched.")
    fixed = Path(*path.parts[: next(i for i, part in enumerate(path.parts) if glob.has_magic(part))])
    shards: list[Shard] = []
    for match in map(Path, matches):
        shards += _folder(match, fixed, reading, progress) if match.is_dir() else [_shard(match, fixed, reading)]
    return sorted(shards, key=lambda shard: shard.relative)


def _expand_remote(path: RemotePath, reading: Reading, progress: Progress) -> list[Shard]:
    try:
        if glob.has_magic(path.url):
            fixed, matches = path.matches()
            if not matches:
                raise InputError(f"{path}: no file matches. Check the pattern; hidden files are never matched.")
            shards: list[Shard] = []
            for match in matches:
                is_folder = match.url.endswith("/")
                shards += _folder(match, fixed, reading, progress) if is_folder else [_shard(match, fixed, reading)]
            return sorted(shards, key=lambda shard: shard.relative)
        if path.is_dir():
            return _folder(path, path, reading, progress)
        if split_ending(path.name) is None:
            path.status()  # a missing file needs no advice about its ending
        return [_shard(path, path.parent, reading)]
    except FileNotFoundError as error:
        raise InputError(f"{path}: {error.strerror}.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None


def _folder(folder: Place, base: Place, reading: Reading, progress: Progress) -> list[Shard]:
    shards, named_only = [], []
    passed_over: dict[str, list[str]] = {}
    files = folder.files() if isinstance(folder, RemotePath) else _files_below(folder, frozenset())
    for path in files:
        known = split_ending(path.name)
        if path.suffix.lower() in _OTHER_COMPRESSIONS and split_ending(path.stem):
            raise InputError(f"{path}: {path.suffix} is not read. {ALLOWED}. Compress it anew, or move it elsewhere.")
        ending = path.name[len(known[0]) :].lower() if known else ""
        if path.name.endswith(RECORDS):
            passed_over.setdefault(_RECORD, []).append(_below(path, folder))
        elif ending in NAMED_ONLY or (ending in HTML and reading.html is None):
            named_only.append(ending)
            why = _HOW_HTML if ending in HTML else _ONLY_NAMED
            passed_over.setdefault(why, []).append(_below(path, folder))
        elif known:
            shards.append(_shard(path, base, reading))
        else:
            passed_over.setdefault(_UNKNOWN, []).append(_below(path, folder))
    if not shards:
        message = f"{folder}: this folder has no file with a known ending. {ALLOWED}."
        if named_only and named_only[0] in HTML:
            message += f" Its {named_only[0]} files are read with `html='main'` or `html='whole'`."
        elif named_only:
            message += f" Its {named_only[0]} files are read only if they are named: '{folder}/**/*{named_only[0]}'."
        raise InputError(message)
    for why, names in passed_over.items():
        some = ", ".join(sorted(names)[:_MAX_LISTED]) + (" …" if len(names) > _MAX_LISTED else "")
        progress.passed_over += len(names)
        progress.say(f"{counted(len(names), 'file')} in {folder} passed over, {why}: {some}")
    return sorted(shards, key=lambda shard: shard.relative)


def _below(path: Place, folder: Place) -> str:
    """The name of a file relative to a folder, for messages."""
    if isinstance(path, RemotePath):
        return path.url[len(str(folder).rstrip("/")) + 1 :]
    return name_as_text(path.relative_to(str(folder)))


def _files_below(folder: Path, above: frozenset[tuple[int, int]]) -> Iterator[Path]:
    """All files except hidden ones; a link back to an enclosing folder is not followed."""
    try:
        status = folder.stat()
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise InputError(f"{folder} cannot be read: {error.strerror}.") from None
    here = (status.st_dev, status.st_ino)
    if here in above:
        return
    for path in entries:
        if path.name.startswith("."):
            continue
        if path.is_dir():
            yield from _files_below(path, above | {here})
        else:
            yield path


def _shard(path: Place, base: Place, reading: Reading, name: str | None = None) -> Shard:
    known = split_ending(path.name)
    if known is None and not reading.lines:
        raise InputError(f"{path}: the ending does not tell the format. {ALLOWED}.")
    if known and path.name[len(known[0]) :].lower() in HTML and reading.html is None and not reading.lines:
        raise InputError(
            f"{path} is HTML: pass `html='main'` or `html='whole'` to extract its text, or `lines=True` to read it as it is."
        )
    kind, compression = (known[1], known[2]) if known else ("lines", compression_of_name(path.name))
    if reading.lines:
        if kind in OF_COLUMNS:
            raise InputError(f"{path} has columns, not lines. Leave out `lines`, or the file.")
        if kind == "warc":
            raise InputError(f"{path} has records of WARC, not lines. Leave out `lines`, or the file.")
        kind = "lines"
    stored = (reading.encoding, int(reading.max_document_bytes), reading.dialect)
    if isinstance(path, RemotePath):
        relative = path.url[len(base.url.rstrip("/")) + 1 :] if isinstance(base, RemotePath) else path.name
        size, version = path.known or path.status()
        return Shard(
            replace(path, known=(size, version)), path.url, relative, kind, compression, size, version, *stored
        )
    try:
        size, modified = status_of(path)
        if not path.is_file():
            raise InputError(f"{path} is not a regular file. Give its contents on standard input: -")
        path.open("rb").close()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    relative = Path(os.path.relpath(path, str(base))).as_posix()
    return Shard(path, name or name_as_text(path), relative, kind, compression, size, modified, *stored)


def repeated_files(shards: Iterable[Shard], because: str = "all its rows would be duplicates") -> list[str]:
    """One problem for each file that occurs twice among the shards, and why it is one."""
    seen: dict[tuple[Any, Any], Shard] = {}
    problems = []
    for shard in shards:
        first = seen.setdefault(identity(shard.path), shard)
        if first is not shard:
            also = "" if first.name == shard.name else f" (as {first.name})"
            problems.append(f"{shard.name} is given twice{also}: {because}. Name it once.")
    return problems


def _standard_input(temporary: TemporaryFolder | None, reading: Reading) -> Shard:
    if temporary is None:
        raise InputError("Standard input cannot be read again. Name the files instead.")
    name = "stdin.txt" if reading.lines else "stdin.jsonl" if reading.dialect is None else "stdin.csv"
    path = temporary.write(name, iter(partial(standard_input().read, _READ_BYTES), b""))
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    ending = next((ending for begin, ending in _BINARY.items() if head.startswith(begin)), "")
    if ending:
        path = path.rename(path.with_name(f"stdin{ending}"))
        return replace(_shard(path, temporary.path, reading, "stdin"), relative=path.name)
    compression = sniff(head)
    if not reading.lines and _begins_warc(path, compression):
        name = "stdin.warc"
        path = path.rename(path.with_name(name))
    if compression != "plain":
        path = path.rename(path.with_name(path.name + COMPRESSIONS[compression].ending))
    return replace(_shard(path, temporary.path, reading, "stdin"), relative=name)


def _begins_warc(path: Path, compression: str) -> bool:
    with contextlib.suppress(DataError), open_for_reading(path, compression) as file:
        return file.read(len(_WARC)) == _WARC
    return False
