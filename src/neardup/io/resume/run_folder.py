"""The folder of a resumable run: the identity of the run, its checkpoints, and the outputs that are finished."""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from neardup.errors import DECODER_ERRORS, DataError, InputError, RecipeMismatch
from neardup.io.checksums import checksum
from neardup.io.outputs.renames import rename_all
from neardup.io.resume.checkpoint_file import PARTIAL, write_whole
from neardup.io.resume.checkpoints import SavedCheckpoints
from neardup.io.storage.places import partial_name
from neardup.recipe.short_rule import NAME, short_rule_of
from neardup.resources.scratch import IN_MEMORY, Scratch

FORMAT = 2
"""Version of the folder's format; version 1 used pickles."""
_MANIFEST, _RESULT, _OUTPUTS = "run.json", "result.json", "outputs"
_VERSIONS = "versions"
"""In the description of a run."""


class RunFolder:
    """The folder of one run; docs/resume-format.md is the specification.

    Args:
        folder: created if missing.
        run: everything that determines the run's results, as plain JSON values; a folder of another run is refused.
        scratch: where arrays read from the folder are allocated.

    Raises:
        RecipeMismatch: the folder belongs to a run with other inputs, another recipe or other options; the message names them.
        InputError: it is not such a folder, other versions began it, it is not writable, or another process uses it.
        DataError: a file in it is damaged.

    Attributes:
        folder: as given.
        checkpoints: the checkpoints of the run's passes and steps.
    """

    def __init__(self, folder: Path, run: dict[str, Any], scratch: Scratch = IN_MEMORY) -> None:
        self.folder = folder
        self._lock: int | None = None
        self.checkpoints = SavedCheckpoints(folder, scratch)
        run = json.loads(json.dumps(run))
        manifest = folder / _MANIFEST
        try:
            folder.mkdir(exist_ok=True)
            self._lock = _locked(folder)
            if manifest.exists():
                before = self._read(manifest)
                self.checkpoints.short_rule = before.setdefault(NAME, short_rule_of(before))
                _demand_same(folder, before, run | {NAME: before[NAME]})
            elif any(path.name != _MANIFEST + PARTIAL for path in folder.iterdir()):  # killed while it was created
                raise InputError(
                    f"{folder} is to keep the work of this run, but has other files. Remove it, or name another output."
                )
            else:
                write_whole(manifest, _sealed(run))
        except OSError as problem:
            self.release()
            raise InputError(f"{folder} is to keep the work of this run: {problem.strerror}.") from None
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Let another run use the folder."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _read(self, path: Path) -> dict[str, Any]:
        """The content of one of the JSON files."""
        content = path.read_bytes()
        if not content:  # runs never leave an empty file
            raise InputError(f"{path} is damaged. Remove {self.folder}, and the run begins anew.")
        try:
            found = json.loads(content)
            if "checksum" not in found and "versions" in found:
                raise InputError(
                    f"{self.folder} was begun by an older version of neardup, whose saved work is not read any more. Remove it, "
                    "and the run begins anew."
                )
            if found["checksum"] != checksum([found["format"], found["content"]]):
                raise ValueError
            if found["format"] != FORMAT:
                raise InputError(
                    f"{self.folder} was begun by another version of neardup: its format is {found['format']}, and this version "
                    f"reads {FORMAT}. Go on with that version, or remove the folder and begin anew."
                )
            return dict(found["content"])
        except DECODER_ERRORS:
            raise DataError(f"{path} is damaged. Remove {self.folder}, and the run begins anew.") from None

    def partial(self, final: Path) -> Path:
        """The hidden file that an output is written to: the same for every run that continues with this folder, different for
        another folder.
        """
        mark = hashlib.sha256(f"{self.folder.resolve()}\0{final}".encode("utf-8", "surrogateescape")).hexdigest()[:12]
        return partial_name(final, mark)

    def note(self, path: Path) -> None:
        """Record that a file is finished."""
        (self.folder / _OUTPUTS).mkdir(exist_ok=True)
        write_whole(self.folder / _OUTPUTS / path.name[-12:], b"%d" % path.stat().st_size)

    def has_noted(self, path: Path) -> bool:
        """Whether the file was finished, and still exists."""
        noted = self.folder / _OUTPUTS / path.name[-12:]
        return noted.exists() and path.exists() and noted.read_bytes() == b"%d" % path.stat().st_size

    def complete(self, finals: Iterable[Path], result: dict[str, Any]) -> None:
        """Mark the run as done; files may still need their final names."""
        content = {"finals": [os.fspath(final) for final in finals], "result": result}
        write_whole(self.folder / _RESULT, _sealed(content))

    def completed(self) -> dict[str, Any] | None:
        """The result of a run that is done, after giving all files their names; None if it is not done, or if files are gone.

        Raises:
            DataError: the record of the result is damaged.
            InputError: a file cannot get its name.
        """
        path = self.folder / _RESULT
        if not path.exists():
            return None
        found = self._read(path)
        renames = [(self.partial(final), final) for final in map(Path, found["finals"])]
        rename_all([(temporary, final) for temporary, final in renames if temporary.exists()])
        if not all(os.path.exists(final) for final in found["finals"]):
            path.unlink()
            return None
        self.clear()
        result: dict[str, Any] = found["result"]
        return result

    def clear(self) -> None:
        """Remove everything except the record that the run is done."""
        for path in self.folder.iterdir():
            if path.name not in (_MANIFEST, _RESULT):
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def _locked(folder: Path) -> int | None:
    """Lock a folder; returns the open folder, which has the lock until it is closed. None where folders cannot be locked.

    Raises:
        InputError: another process has locked it.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise InputError(f"Another process goes on with the run in {folder}. Wait until it has ended.") from None
    except OSError:
        os.close(handle)
        return None
    return handle


def _sealed(content: dict[str, Any]) -> bytes:
    """A JSON file with its format and a checksum, which shows that no byte has changed."""
    found = {"format": FORMAT, "checksum": checksum([FORMAT, content]), "content": content}
    return json.dumps(found, indent=2).encode("ascii")


def _demand_same(folder: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    different = [name for name in {**before, **now} if _is_other(before.get(name), now.get(name))]
    if not different:
        return
    if _VERSIONS in different:
        details = _difference(_VERSIONS, before.get(_VERSIONS) or {}, now[_VERSIONS]).removeprefix(f"{_VERSIONS}: ")
        raise InputError(
            f"{folder} was begun with other versions, and this run cannot go on with their work: {details}. Go on with those, or "
            "remove the folder and begin anew."
        )
    details = "; ".join(_difference(name, before.get(name), now.get(name)) for name in different)
    raise RecipeMismatch(
        f"{folder} has the work of another run: {details}. Run as before, or remove that folder and begin anew."
    )


def _is_other(before: Any, now: Any) -> bool:
    """Whether a value is another; an option that was not there yet was not given."""
    if isinstance(before, dict) and isinstance(now, dict):
        return any(before.get(key) != now.get(key) for key in {**before, **now})
    return bool(before != now)


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
