"""Finished work of a run in a folder, so that a run that was killed goes on where it was.

A pass over the corpus leaves a file for each shard that it has finished, with what came of its batches; a step that looks at the
whole corpus leaves one file. Each is written under another name, brought to the disk and renamed, so it is whole or not there.
"""

import hashlib
import json
import os
import pickle
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np

from neardup.arrays import Array
from neardup.errors import DataError, InputError, RecipeMismatch

Group = tuple[int, int]
Piece = TypeVar("Piece")
Result = TypeVar("Result")

STATE_SECONDS = 60.0
"""A pass that gathers into one array has it saved so often, between two shards."""

_MANIFEST, _RESULT, _PARTIAL, _DONE = "run.json", "result.json", ".partial", ".done"
_KINDS = {
    "numpy": {"ndarray", "dtype"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.numeric": {"_frombuffer"},
    "pyarrow.lib": {"_restore_array", "py_buffer", "type_for_alias"},
    "neardup.hamming.candidate_graph": {"CandidateGraph"},
    "neardup.matching.candidates.task": {"Found"},
    "neardup.fingerprints.documents": {"Part"},
    "neardup.fingerprints.minhash": {"Signatures"},
    "neardup.fingerprints.simhash": {"Fingerprints"},
    "neardup.matching.prefix_join.prefixes": {"Prefixes"},
    "neardup.matching.similarities.table": {"Elements"},
    "neardup.survivors.decisions": {"Decisions"},
    "neardup.fingerprints.unit_corpus": {"UnitPart"},
}
"""All that the files of a run may hold; anything else in them is not read, for a pickle can name any function."""


class SavedWork:
    """The folder of one run.

    Args:
        folder: made where missing.
        run: what decides the run's results, as plain JSON values; a folder of another run is refused.

    Raises:
        RecipeMismatch: the folder is of a run with other inputs, another recipe or other options; the message names them.
        InputError: it is no such folder, or cannot be written.

    Attributes:
        skipped: how many times a shard was not read, because that was done before.
    """

    def __init__(self, folder: Path, run: dict[str, Any]) -> None:
        self.folder = folder
        run = json.loads(json.dumps(run))
        manifest = folder / _MANIFEST
        try:
            folder.mkdir(exist_ok=True)
            if manifest.exists():
                _demand_same(folder, json.loads(manifest.read_bytes()), run)
            elif any(path.name != _MANIFEST + _PARTIAL for path in folder.iterdir()):  # it was killed while it began
                raise InputError(
                    f"{folder} is to keep the work of this run, but has other files. Remove it, or name another output."
                )
            else:
                write_whole(manifest, json.dumps(run, ensure_ascii=False, indent=2).encode())
        except OSError as problem:
            raise InputError(f"{folder} is to keep the work of this run: {problem.strerror}.") from None
        except ValueError as problem:
            if isinstance(problem, RecipeMismatch):
                raise
            raise InputError(f"{manifest} is damaged. Remove {folder}, and the run begins anew.") from None
        self.skipped = 0

    def once(self, name: str, compute: Callable[[], Result]) -> Result:
        """What `compute` gives, computed once."""
        path = self.folder / (name + _DONE)
        if path.exists():
            with path.open("rb") as file:
                return _load(file, path)  # type: ignore[no-any-return]
        found = compute()
        with _Writing(path) as file:
            pickle.dump(found, file, 5)
        return found

    def pieces(
        self,
        name: str,
        read: Callable[[Iterable[Group]], Iterator[tuple[Group, Piece]]],
        groups: Sequence[Group],
        state: Array | None = None,
    ) -> Iterator[tuple[Group, Piece]]:
        """The pieces of a pass over groups of shards, in order, each with its group.

        Args:
            name: of the pass.
            read: the pieces of some groups, in order, lazily; what a group gives is saved once it is finished.
            groups: all of them.
            state: an array that the pass gathers into besides; saved now and then, between two groups.
        """
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        done = len(groups) if state is None else _restore(folder, state)
        first = 0
        while first < done and (path := _path(folder, first)).exists():
            with path.open("rb") as file:
                for piece in _load_all(file, path):
                    yield groups[first], piece
            first += 1
        self.skipped += first
        while first < len(groups):
            begun: list[Group] = []
            yield from _saved(folder, first, read(_noted(_for_a_while(groups[first:], state), begun)), begun)
            first += len(begun)
            if state is not None:
                _save(folder, state, first)

    def mark(self, final: Path) -> str:
        """The same for every run that goes on with this folder, and for one output; of another folder another one."""
        return hashlib.sha256(f"{self.folder.resolve()}\0{final}".encode("utf-8", "surrogateescape")).hexdigest()[:12]

    def note(self, path: Path) -> None:
        """Remember that a file is finished."""
        (self.folder / "outputs").mkdir(exist_ok=True)
        write_whole(self.folder / "outputs" / path.name[-12:], str(path.stat().st_size).encode())

    def has_noted(self, path: Path) -> bool:
        """Whether the file is finished, and still there."""
        noted = self.folder / "outputs" / path.name[-12:]
        return noted.exists() and path.exists() and path.stat().st_size == int(noted.read_bytes())

    def complete(self, renames: Iterable[tuple[Path, Path]], result: dict[str, Any]) -> None:
        """From now on the run counts as done, though files may have to be given their final names."""
        names = [[os.fspath(temporary), os.fspath(final)] for temporary, final in renames]
        write_whole(self.folder / _RESULT, json.dumps({"renames": names, "result": result}).encode())

    def completed(self) -> dict[str, Any] | None:
        """The result of a run that is done, with all its files in place; None if it is not, or files are gone."""
        path = self.folder / _RESULT
        if not path.exists():
            return None
        found = json.loads(path.read_bytes())
        for temporary, final in found["renames"]:
            if os.path.exists(temporary):
                os.replace(temporary, final)
        if not all(os.path.exists(final) for _, final in found["renames"]):
            path.unlink()
            return None
        self.clear()
        result: dict[str, Any] = found["result"]
        return result

    def clear(self) -> None:
        """Remove all but the record that the run is done."""
        for path in self.folder.iterdir():
            if path.name not in (_MANIFEST, _RESULT):
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def write_whole(path: Path, content: bytes) -> None:
    """A file that is there with all its content, or not at all."""
    with _Writing(path) as file:
        file.write(content)


class _Writing:
    """A file that gets its name when it is complete."""

    def __init__(self, path: Path) -> None:
        self._path, self._partial = path, path.with_name(path.name + _PARTIAL)
        self.file: BinaryIO = self._partial.open("wb")

    def commit(self) -> None:
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        os.replace(self._partial, self._path)

    def abandon(self) -> None:
        self.file.close()
        self._partial.unlink(missing_ok=True)

    def __enter__(self) -> BinaryIO:
        return self.file

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.commit()
        else:
            self.abandon()


def _path(folder: Path, number: int) -> Path:
    return folder / f"{number:06}{_DONE}"


def _noted(groups: Iterable[Group], begun: list[Group]) -> Iterator[Group]:
    for group in groups:
        begun.append(group)
        yield group


def _for_a_while(groups: Sequence[Group], state: Array | None) -> Iterator[Group]:
    """The groups; no more once a state is due to be saved."""
    began = time.monotonic()
    for group in groups:
        yield group
        if state is not None and time.monotonic() - began > STATE_SECONDS:
            return


def _saved(
    folder: Path, first: int, pieces: Iterator[tuple[Group, Piece]], begun: list[Group]
) -> Iterator[tuple[Group, Piece]]:
    """The pieces of the groups that are `begun` meanwhile, numbered from `first`; each group's are saved, be they none."""
    finished = 0
    writing: _Writing | None = None
    try:
        for group, piece in pieces:
            while writing is None or begun[finished] != group:
                if writing is not None:
                    writing.commit()
                    finished += 1
                writing = _Writing(_path(folder, first + finished))
            pickle.dump(piece, writing.file, 5)
            yield group, piece
        while finished < len(begun):
            (writing or _Writing(_path(folder, first + finished))).commit()
            writing = None
            finished += 1
    finally:
        if writing is not None:
            writing.abandon()


def _save(folder: Path, state: Array, groups: int) -> None:
    """Save what was gathered from the first so many groups; what was saved before is not needed any more."""
    before = list(folder.glob("*.state"))
    with _Writing(folder / f"{groups:06}.state") as file:
        np.save(file, state)
    for path in before:
        if path.name != f"{groups:06}.state":
            path.unlink()


def _restore(folder: Path, state: Array) -> int:
    """Of how many groups the state that was saved last is, now in `state`; 0 if none was saved."""
    saved = max(folder.glob("*.state"), default=None)
    if saved is None:
        return 0
    state[:] = np.load(saved, allow_pickle=False)
    return int(saved.stem)


class _Plain(pickle.Unpickler):
    """Reads only what _KINDS names."""

    def find_class(self, module: str, name: str) -> Any:
        if name not in _KINDS.get(module, ()):
            raise pickle.UnpicklingError(f"{module}.{name} is not of a run")
        return super().find_class(module, name)


def _load_all(file: BinaryIO, path: Path) -> Iterator[Any]:
    size = path.stat().st_size
    while file.tell() < size:
        yield _load(file, path)


def _load(file: BinaryIO, path: Path) -> Any:
    try:
        return _Plain(file).load()
    except (pickle.UnpicklingError, EOFError, AttributeError, ImportError, IndexError, ValueError) as problem:
        raise DataError(
            f"{path} is damaged ({problem}). Remove the folder {path.parent}, and that part of the run is done again."
        ) from None


def _demand_same(folder: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    different = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if not different:
        return
    details = "; ".join(_difference(name, before.get(name), now.get(name)) for name in different)
    raise RecipeMismatch(
        f"{folder} has the work of another run: {details}. Run as before, or remove that folder and begin anew."
    )


def _difference(name: str, before: Any, now: Any) -> str:
    if isinstance(before, dict) and isinstance(now, dict):
        parts = [
            f"{key} was {before.get(key)!r}, is {now.get(key)!r}"
            for key in {**before, **now}
            if before.get(key) != now.get(key)
        ]
        return f"{name}: {', '.join(parts[:3])}{' …' if len(parts) > 3 else ''}"
    if isinstance(before, list) and isinstance(now, list):
        old, new = ({json.dumps(each) for each in values} for values in (before, now))
        names = list(dict.fromkeys(json.loads(each)[0] for each in sorted(old ^ new)))
        return (
            f"{name} have changed: {', '.join(names[:3])}{' …' if len(names) > 3 else ''}"
            if names
            else f"the order of {name}"
        )
    return f"{name} was {before!r}, is {now!r}"
