"""OUTPUTS of a run: files that appear complete or not at all."""

import contextlib
import itertools
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.errors import InputError
from neardup.io.corpora.read_files import NOTHING_READ, ReadFiles
from neardup.io.outputs.growing_file import to_disk
from neardup.io.outputs.output_names import MAX_LISTED, STANDARD_OUTPUT, listed
from neardup.io.outputs.renames import rename_all, upload_all
from neardup.io.storage.compression import open_for_writing
from neardup.io.storage.compressions import compression_of_name
from neardup.io.storage.places import Place, partial_name, real_name
from neardup.io.storage.remote import RemotePath
from neardup.resources.unfinished import removed_by, undisturbed

if TYPE_CHECKING:
    from neardup.io.resume.run_folder import RunFolder

LINES_AT_ONCE = 1 << 10
_EXISTS = " exists already. Name another output, or pass `overwrite=True` to replace it."


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
            raise InputError(_told(problems))
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
            raise InputError(_told(problems))

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

    def write_lines(self, path: Place, lines: Iterable[str]) -> None:
        """Write one of `paths`, a file about documents (audit, rejects): lines, compressed as its name says."""
        with open_for_writing(self.claim(path), compression_of_name(path.name)) as file:
            lines = iter(lines)
            while some := "".join(itertools.islice(lines, LINES_AT_ONCE)):
                file.write(some.encode())

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

    def written(self, paths: Iterable[Place]) -> list[Path]:
        """Of some of `paths`, the files that stand in for those that `commit` will name."""
        return [
            self._temporary[path]
            for path in dict.fromkeys(paths)
            if path in self._temporary and path not in self._absent
        ]

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
            raise InputError(_told(problems))
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


def _told(problems: Sequence[str]) -> str:
    there = [problem.removesuffix(_EXISTS) for problem in problems if problem.endswith(_EXISTS)]
    if len(there) > 1:  # what to do is said once
        others = [problem for problem in problems if not problem.endswith(_EXISTS)]
        beyond = f" and {len(there) - MAX_LISTED:,} more" if len(there) > MAX_LISTED else ""
        names = ", ".join(there[:MAX_LISTED]) + beyond
        problems = [f"{names} exist already. Name another output, or pass `overwrite=True` to replace them.", *others]
    return listed(problems)
