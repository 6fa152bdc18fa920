"""CHECKPOINT: the folder of a job: what the job is, and what its finished stages gave. A run that failed goes on from there.

    FOLDER/job/                     a line of JSON: what the job is
    FOLDER/divided/                 another: how it was divided, when it began
    FOLDER/copied/                  one for each input that was copied first, since its rows differ whenever the cluster makes them
    FOLDER/finished/                a line of JSON for each finished stage, written after its rows
    FOLDER/rows/003-equal-1f0c…/    the rows of a stage, as one attempt wrote them
    FOLDER/written/                 what a command writes

Files are added and never changed. An attempt that was cut short has no line, and the next one has a folder of its own: neither it
nor tasks of it that still run can change what others read.
"""

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from neardup.engines.job_options import Work
from neardup.engines.stages import KEPT, Measured
from neardup.errors import DataError, InputError, RecipeMismatch
from neardup.recipe.short_rule import NAME, SHORT_RULE, short_rule_of
from neardup.version import __version__

FORMAT = 3
"""Of the folder."""
_JOB, _DIVIDED, _COPIED, _FINISHED, _ROWS = "job", "divided", "copied", "finished", "rows"
_WITHOUT_EFFECT = ("threads", "memory", "temp_dir", "temp_limit")
"""Options that decide no result."""
_OF_VERSION = ("neardup", NAME)
"""What is told of the version, which nobody gives."""
_SHOWN, _LENGTH = 3, 60
"""Differences of jobs in a message, and characters of a value."""


class Notes(Protocol):
    """The notes of one name, as lines of JSON."""

    def add(self, note: Mapping[str, Any]) -> None:
        """Write a note."""
        ...

    def read(self) -> list[dict[str, Any]]:
        """All notes, in no order; none, if nothing was noted."""
        ...


def parsed_notes(folder: object, texts: Iterable[str | bytes]) -> list[dict[str, Any]]:
    """Notes in the folder of a job.

    Raises:
        DataError: they are damaged.
    """
    try:
        return [json.loads(text) for text in texts]
    except ValueError:
        raise DataError(
            f"The record in {folder} is damaged. Give another folder as `work=`, and the job begins anew."
        ) from None


class Store(Protocol):
    """Where an engine keeps what it writes. As a string, the path of the folder."""

    def notes(self, name: str) -> Notes:
        """The notes of a name."""
        ...

    def other_file(self) -> str | None:
        """A file in the folder, if it has any."""
        ...


class Kept:
    """A folder.

    Attributes:
        folder: its path.
        job: all that decides what stages give, as plain values.
        division: how the job is divided: what the first run gave `begin`. Empty before.
        copies: of inputs, what `copied` was given, by their names.
    """

    def __init__(self, store: Store, job: Mapping[str, Any]) -> None:
        """Open the folder of a job. `job`: all that decides what stages give, as plain values.

        Raises:
            RecipeMismatch: the folder is that of another job.
            InputError: it is none of a job, and not empty; or another version made it.
            DataError: its record is damaged.
        """
        self._store, self.folder = store, str(store)
        self.job, self._is_open = json.loads(json.dumps(job)), False
        self.division: dict[str, Any] = {}
        self.copies: dict[str, dict[str, Any]] = {}
        self._finished: dict[tuple[int, str], dict[str, Any]] = {}
        self._jobs, self._divided, self._copies, self._ends = (
            store.notes(name) for name in (_JOB, _DIVIDED, _COPIED, _FINISHED)
        )
        jobs = self._jobs.read()
        if not jobs:
            self._demand_empty()
            return
        found = jobs[0]
        if found.get("format") != FORMAT:
            raise InputError(
                f"{self.folder} was begun by another version of neardup: its format is {found.get('format')!r}, and this version "
                f"reads {FORMAT}. Go on with that version, or give another folder as `work=`."
            )
        _demand_same(self.folder, found["job"], self.job)
        self.division = next(iter(self._divided.read()), {})
        self.copies = {record.pop("name"): record for record in self._copies.read()}
        self._is_open = True
        records = sorted(self._ends.read(), key=lambda record: str(record["rows_in"]))
        self._finished = {(record["number"], record["name"]): record for record in records}

    def begin(self, division: Mapping[str, Any]) -> None:
        """Write down how the job is divided; and before that, what it is."""
        self.open()
        self.division = json.loads(json.dumps(division))
        self._divided.add(self.division)

    def open(self) -> None:
        """Write down what the job is, if that was not done."""
        if not self._is_open:
            self._jobs.add({"format": FORMAT, "job": self.job})
            self._is_open = True

    def copied(self, name: str, path: str, content: Mapping[str, Any]) -> None:
        """Write down that an input is copied, and what its rows are."""
        self.copies[name] = {"rows_in": path[len(self.folder) :], **content}
        self._copies.add({"name": name, **self.copies[name]})

    def path(self, number: int, name: str) -> str:
        """A new folder for the rows of a stage."""
        return f"{self.folder}/{_ROWS}/{number:03d}-{name.replace(' ', '-')}-{secrets.token_hex(4)}"

    def has(self, number: int, name: str) -> bool:
        """Whether a stage is finished."""
        return (number, name) in self._finished

    def finish(self, number: int, path: str, measured: Measured) -> None:
        """Write down that a stage is finished, and what it gave."""
        record = {"number": number, "name": measured.name, "rows_in": path[len(self.folder) :]}
        record |= {"seconds": measured.seconds, "rows": measured.rows, "bytes": measured.bytes}
        self._ends.add(record)

    def stage(self, number: int, name: str) -> tuple[str, Measured]:
        """Where the rows of a finished stage are, and what it took when it ran."""
        record = self._finished[number, name]
        measured = Measured(name, record["seconds"], record["rows"], record["bytes"], KEPT)
        return self.folder + record["rows_in"], measured

    def demand_whole(self, path: str, then: Measured, now: Measured) -> None:
        """Refuse rows that are not those that a stage gave.

        Raises:
            DataError: some are missing, or there are others.
        """
        if (then.rows, then.bytes) != (now.rows, now.bytes):
            raise DataError(
                f"{path} has {sum(now.rows.values()):,} rows in {sum(now.bytes.values()):,} bytes, and the stage gave "
                f"{sum(then.rows.values()):,} in {sum(then.bytes.values()):,}. Files were removed or changed: give another folder "
                "as `work=`, and the job begins anew."
            )

    def _demand_empty(self) -> None:
        found = self._store.other_file()
        if found:
            raise InputError(
                f"{self.folder} is to keep the work of this job, but has other files, such as {found}. Give a folder that "
                "is empty or not there as `work=`, or that of a run of the same job which failed."
            )


def job_of(work: Work, kind: str, *, text: str, id: str, order: Sequence[str]) -> dict[str, Any]:  # noqa: A002
    """What decides what stages give, besides the input, as plain values. `kind`: what the job is."""
    options = {name: value for name, value in work.deciding.items() if name not in _WITHOUT_EFFECT}
    return {
        "kind": kind,
        "neardup": __version__,
        "recipe": work.recipe.digest(),
        "options": options,
        NAME: SHORT_RULE,
        "columns": {"text": text, "id": id, "order": list(order)},
    }


def _demand_same(folder: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    then, given = dict(_flat({NAME: short_rule_of(before), **before})), dict(_flat(now))
    different = [name for name in {**then, **given} if then.get(name) != given.get(name)]
    of_version = [name for name in different if name in _OF_VERSION]
    if of_version:
        told = "; ".join(f"{name} was {_shown(then.get(name))}, now {_shown(given.get(name))}" for name in of_version)
        raise InputError(
            f"{folder} was begun by another version of neardup, and this one cannot go on with its work: {told}. Go on with that "
            "version, or give another folder as `work=`, and the job begins anew."
        )
    if different:
        shown = "; ".join(
            f"{name} was {_shown(then.get(name))}, now {_shown(given.get(name))}" for name in different[:_SHOWN]
        )
        more = f"; and {len(different) - _SHOWN} more" if len(different) > _SHOWN else ""
        raise RecipeMismatch(
            f"{folder} has the work of another job: {shown}{more}. Give what was given then, or another folder as `work=`."
        )


def _flat(values: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in values.items():
        found += _flat(value, f"{before}{name} ") if isinstance(value, dict) else [(before + name, value)]
    return found


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LENGTH else text[: _LENGTH - 1] + "…"
