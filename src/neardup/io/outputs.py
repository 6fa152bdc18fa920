"""Outputs of a run: their names, and files that appear complete or not at all."""

import contextlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.errors import InputError
from neardup.io.endings import ALLOWED, split_ending
from neardup.io.formats.table import FORMATS
from neardup.io.growing_file import to_disk
from neardup.io.read_files import NOTHING_READ, ReadFiles
from neardup.io.renames import rename_all
from neardup.io.shard import Shard
from neardup.io.storage.places import Place, is_url, partial_name, place_of, real_name
from neardup.io.storage.refusals import mixed_formats
from neardup.io.storage.remote import RemotePath
from neardup.io.storage.uploads import upload_all
from neardup.resources.unfinished import removed_by, undisturbed

if TYPE_CHECKING:
    from neardup.io.run_folder import RunFolder

STANDARD_OUTPUT = Path("-")
_LISTED = 5
_EXISTS = " exists already. Name another output, or pass `overwrite=True` to replace it."


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
        raise InputError(_listed(problems))
    return names


def _one_file(out: str, shards: Sequence[Shard]) -> Place:
    if out == "-" and sys.stdout is None:
        raise InputError("`output='-'`: standard output is closed. Open it, or name a file.")
    path = place_of(out)
    if {shard.format for shard in shards} == {"lines"}:  # this format takes files with any ending
        _refuse_parquet(path, shards[0])
        FORMATS["lines"].check_together(shards)
        return path
    known = split_ending(path.name) if out != "-" else ("", "jsonl", "plain")
    if known is None:
        raise InputError(f"{out}: the ending does not tell the format of the output. {ALLOWED}; a folder ends in /.")
    for shard in shards:
        if shard.format != known[1]:
            raise mixed_formats(shard.name, shard.format, "JSON lines on standard output" if out == "-" else known[1])
    if len(shards) > 1:
        FORMATS[known[1]].check_together(shards)
    return path


def _refuse_parquet(path: Place, shard: Shard) -> None:
    if path.suffix.lower() == ".parquet":
        raise mixed_formats(shard.name, "lines", "parquet")


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


class Outputs:
    """Output files, written beside their final names and renamed together by `commit`.

    As a context manager, it checks all outputs before any work, and removes unfinished files at the end, also after an exception
    or an interrupt. If the machine stops while files are being renamed, each file is still either the old or the new one.

    Args:
        paths: all final names; `-` needs nothing.
        reads: what the run reads; `overwrite` does not replace it.
        overwrite: replace existing files.
        folder, audit_folder: folders to create if missing, including folders in them (see `output_folder`).
        temp_dir: the folder where files for remote stores are written first; the system's temporary folder by default.
        saved: the folder of a resumable run; unfinished files then stay, and finished files are not written again.

    Raises:
        InputError: on entering, with every problem found: a file exists, is read by the run, is named twice, or is not a regular
            file; its folder is missing or not writable.
    """

    def __init__(
        self,
        paths: Iterable[Place],
        *,
        reads: ReadFiles = NOTHING_READ,
        overwrite: bool = False,
        folder: Place | None = None,
        audit_folder: Place | None = None,
        saved: "RunFolder | None" = None,
        temp_dir: str | None = None,
    ) -> None:
        self._paths = [path for path in dict.fromkeys(paths) if path != STANDARD_OUTPUT]
        self._known = frozenset(self._paths)
        self._reads = reads
        self._overwrite = overwrite
        self._folders = [os.path.realpath(each) for each in (folder, audit_folder) if isinstance(each, Path)]
        self._temporary: dict[Place, Path] = {}
        self._made: list[Path] = []
        self._saved = saved
        self._absent: list[Place] = []
        self._temp_dir = temp_dir
        self._staging: Path | None = None
        self._replaced: set[RemotePath] = set()
        self._registered = contextlib.ExitStack()

    def __enter__(self) -> "Outputs":
        self.check_files()
        if problems := list(self._folder_problems()):
            self._remove()
            raise InputError(_listed(problems))
        self._registered.enter_context(removed_by(self._given_up))
        return self

    def check_files(self) -> None:
        """Refuse paths that exist, are read by the run, are named twice, or are not regular files; nothing is made.

        Raises:
            InputError: with every problem found.
        """
        problems = [problem for path in self._paths for problem in self._problems(path)]
        finals: dict[str, Place] = {}
        for path in self._paths:
            first = finals.setdefault(real_name(path), path)
            if first is not path:
                problems.append(f"{first} and {path} are the same file, but two outputs. Name another for one of them.")
        if problems:
            raise InputError(_listed(problems))

    def _problems(self, path: Place) -> Iterator[str]:
        if (problem := self._reads.problem(path)) is not None:
            yield problem
            return
        if isinstance(path, RemotePath):
            yield from self._remote_problems(path)
            return
        try:
            status = path.stat()
        except FileNotFoundError:
            return
        except OSError as error:
            yield f"{path} cannot be written: {error.strerror}."
            return
        if stat.S_ISDIR(status.st_mode):
            yield f"{path} is a folder; a file is to be written there. Name another output."
        elif not stat.S_ISREG(status.st_mode):
            yield f"{path} is not a regular file. Name another output, or - for standard output."
        elif not self._overwrite:
            yield f"{path}{_EXISTS}"

    def _remote_problems(self, path: RemotePath) -> Iterator[str]:
        try:
            if path.is_dir():
                yield f"{path} is a folder; a file is to be written there. Name another output."
            elif not path.is_file():
                return
            elif not self._overwrite:
                yield f"{path}{_EXISTS}"
            else:
                self._replaced.add(path)
        except OSError as error:
            yield f"{path} cannot be written: {error.strerror}."

    def _folder_problems(self) -> Iterator[str]:
        remote = {path.parent: path for path in self._paths if isinstance(path, RemotePath)}
        for path in remote.values():
            try:
                path.check_writable()
            except OSError as error:
                yield f"{path} cannot be written: {error.strerror}. Name another output."
        for folder in dict.fromkeys(_final(path).parent for path in self._paths if isinstance(path, Path)):
            try:
                if any(folder.is_relative_to(each) for each in self._folders):
                    self._make(folder)
                tempfile.TemporaryFile(dir=folder).close()
            except FileNotFoundError:
                yield f"The folder {folder} does not exist. Make it, or name another output."
            except OSError as error:
                yield f"The folder {folder} cannot be written: {error.strerror}. Name another output."

    def _make(self, folder: Path) -> None:
        if folder.exists():
            return
        self._make(folder.parent)
        self._made.append(folder)  # recorded first: an interrupt may come in between
        folder.mkdir()

    def claim(self, path: Place) -> Path:
        """Return the temporary file, empty at first, that stands in for one of `paths`; `-` stands for itself."""
        if path == STANDARD_OUTPUT:
            return STANDARD_OUTPUT
        if path not in self._known:
            raise ValueError(f"{path} is not one of the outputs")
        if path not in self._temporary and isinstance(path, RemotePath):
            if self._staging is None:
                self._staging = Path(tempfile.mkdtemp(prefix="neardup-", dir=self._temp_dir))
            self._temporary[path] = self._staging / f"{len(self._temporary):06}"
            self._temporary[path].touch()
        elif path not in self._temporary:
            final = _final(path)
            # Recorded before it exists: an interrupt may come in between.
            if self._saved is None:
                self._temporary[path] = partial_name(final, f"{os.getpid()}-{os.urandom(6).hex()}")
            else:
                self._temporary[path] = self._saved.partial(final)
            self._temporary[path].touch(exist_ok=self._saved is not None)
        return self._temporary[path]

    def finish(self, path: Place) -> None:
        """Declare that this file is complete."""
        if self._saved is not None and path != STANDARD_OUTPUT:
            to_disk(self._temporary[path])
            self._saved.note(self._temporary[path])

    def is_finished(self, path: Place) -> bool:
        """Whether an earlier run finished this file."""
        return self._saved is not None and path != STANDARD_OUTPUT and self._saved.has_noted(self.claim(path))

    @property
    def written_bytes(self) -> int:
        """Bytes written to the claimed files so far."""
        return sum(temporary.stat().st_size for temporary in self._temporary.values())

    def leave_out(self, path: Place) -> None:
        """Declare that one of `paths` gets no file: `commit` removes the file that it would replace."""
        self._absent.append(path)

    def commit(self, result: dict[str, Any] | None = None) -> None:
        """Give all claimed files their final names, once their data is on disk.

        `result`: the run's result, kept with its saved work.

        Raises:
            InputError: a file exists now that did not exist before, a store denies one, or a file cannot be renamed; then no local
                file gets its name, and those of before are as they were.
            TransferError: a store fails again and again; then no file exists that did not exist before.
        """
        remote = {path: local for path, local in self._temporary.items() if isinstance(path, RemotePath)}
        for path, temporary in self._temporary.items():
            if path not in remote:
                to_disk(temporary)
        problems = [problem for path in (*self._temporary, *self._absent) for problem in self._problems(path)]
        if problems:
            raise InputError(_listed(problems))
        with undisturbed():
            self._name_all(remote, result or {})
        for folder in {_final(path).parent for path in self._paths if isinstance(path, Path)}:
            to_disk(folder)
        self._made.clear()
        if self._saved is not None:
            self._saved.clear()

    def _name_all(self, remote: dict[RemotePath, Path], result: dict[str, Any]) -> None:
        """Give all claimed files their final names; those of `remote` go to their stores."""
        upload_all(remote, replaced=self._replaced)
        for sent in remote:
            del self._temporary[sent]
        if self._saved is not None:
            self._saved.complete(map(_final, self._temporary), result)
        renames = [(temporary, _final(path)) for path, temporary in self._temporary.items()]
        rename_all(renames, removed=[path for path in self._absent if isinstance(path, Path)])
        for path in self._absent:
            if isinstance(path, RemotePath):
                path.unlink(missing_ok=True)
        self._temporary.clear()

    def _given_up(self) -> str | None:
        """Remove unfinished files; says what stays. The thread that writes them may still be at work."""
        self._remove()
        return self._what_stays()

    def _what_stays(self) -> str | None:
        if self._saved is None:
            return None
        return (
            f"finished work stays in {self._saved.folder}, and the same command goes on with it. To give it up, remove that "
            "folder and hidden files with .partial- in their names beside the outputs"
        )

    def _remove(self) -> None:
        if self._staging is not None:
            shutil.rmtree(self._staging, ignore_errors=True)
            self._staging = None
        if self._saved is not None:
            return
        for temporary in list(self._temporary.values()):
            temporary.unlink(missing_ok=True)
        self._temporary.clear()
        for folder in reversed(self._made):
            with contextlib.suppress(OSError):  # not empty: it holds another program's files
                folder.rmdir()
        self._made.clear()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._registered.close()
        self._remove()
        if kind is not None and issubclass(kind, KeyboardInterrupt) and (stays := self._what_stays()):
            raise KeyboardInterrupt(stays)


def _final(path: Place) -> Path:
    """The final place of a local file."""
    return Path(real_name(path))


def _listed(problems: Sequence[str]) -> str:
    there = [problem.removesuffix(_EXISTS) for problem in problems if problem.endswith(_EXISTS)]
    if len(there) > 1:  # what to do is said once
        others = [problem for problem in problems if not problem.endswith(_EXISTS)]
        beyond = f" and {len(there) - _LISTED:,} more" if len(there) > _LISTED else ""
        names = ", ".join(there[:_LISTED]) + beyond
        problems = [f"{names} exist already. Name another output, or pass `overwrite=True` to replace them.", *others]
    more = len(problems) - _LISTED
    return "\n".join([*problems[:_LISTED], *([f"… and {more} more of this kind."] if more > 0 else [])])
