"""A run of `filter` from files to files that can continue after a crash.

The index is saved with a record of the run's state: the rows that were read, and the length of every output. The outputs are on
disk before the record is. So one file, the manifest of the index, decides how much of the run has happened.
"""

import contextlib
import dataclasses
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neardup.errors import DataError, InputError
from neardup.io.endings import AUDIT_ENDING, REJECTS_ENDING, split_ending
from neardup.io.growing_file import GrowingFile, partial_of
from neardup.io.outputs import STANDARD_OUTPUT, Outputs, output_folder, stem
from neardup.io.reading import Reading
from neardup.io.shard import Shard
from neardup.io.storage.places import is_url, real_name
from neardup.survivors.stream import Stream

STATE = "filter"
"""The key of the record in `Index.state`."""


@dataclass(frozen=True)
class FilterPaths:
    """The paths of the output, the audit and the rejects; None for a file that is not written."""

    output: Path
    audit: Path | None
    rejects: Path | None

    @property
    def files(self) -> list[Path]:
        """The paths that are files, without standard output."""
        return [path for path in (self.output, self.audit, self.rejects) if path not in (None, STANDARD_OUTPUT)]


def filter_paths(output: str, audit: str | None, *, with_rejects: bool) -> FilterPaths:
    """The final paths.

    Raises:
        InputError: the output or the audit is a folder or compressed, or there is no place for rejects.
    """
    for name, given in (("output", output), ("audit", audit)):
        if given is not None and given != "-":
            known = split_ending(Path(given).name)
            if (
                is_url(given)
                or output_folder(given) is not None
                or (known and (known[2] != "plain" or known[1] == "parquet"))
            ):
                raise InputError(
                    f"`{name}={given!r}`: this file grows line by line. Name a plain file on this machine, such as fresh.jsonl."
                )
    if output == "-" and audit is None:
        if with_rejects:
            raise InputError(
                "`on_error='skip'` with `output='-'` has no place for the rejects. Give `audit` a file; they are written beside it."
            )
        return FilterPaths(STANDARD_OUTPUT, None, None)
    if audit == "-":
        raise InputError("`audit='-'`: the audit is a file. Name one, such as removed.jsonl.")
    beside = stem(output) if audit is None else stem(audit)
    found = FilterPaths(
        Path(output),
        Path(audit or beside + AUDIT_ENDING),
        Path(beside + REJECTS_ENDING) if with_rejects else None,
    )
    finals = [os.path.realpath(path) for path in found.files]
    if len(set(finals)) < len(finals):
        raise InputError(f"{output} and the audit are the same file. Name another `audit`.")
    return found


def demand_ended(stream: Stream, *, give_up: bool) -> None:
    """Refuse to continue after another run was interrupted; with `give_up`, end that run and publish its outputs as they are.

    Raises:
        InputError: another run was interrupted.
        DataError: the outputs of that run have changed.
    """
    record = (stream.index.state or {}).get(STATE)
    if record is None or record["ended"]:
        return
    of = record["of"]
    if not give_up:
        inputs = " ".join(name for name, *_ in of["inputs"])
        raise InputError(
            f"A run of {inputs} to {of['output']} was interrupted. The same command, with the same files, goes on with it; or pass "
            "`give_up=True`, which ends it: its outputs appear with what they have."
        )
    for name, length in zip(("output", "audit", "rejects"), record["lengths"], strict=True):
        if of[name] is not None:
            path = Path(of[name])
            if not partial_of(path).exists():  # the index may come from elsewhere, and name any file of this machine
                raise DataError(
                    f"The index names {path} as an output of the interrupted run, but what that run wrote, {partial_of(path)}, "
                    "is missing. Restore it, or build the index anew."
                )
            with GrowingFile(path, length) as file:
                file.publish()
    stream.index.state = {**(stream.index.state or {}), STATE: record | {"ended": True}}
    stream.save()


class FilterRun:
    """One run from given inputs to given outputs.

    Attributes:
        ended: whether all inputs have been read; at most the outputs still have to be renamed.
        missing: the newline that the last output line lacks; it is written before the next line.
    """

    def __init__(
        self, stream: Stream, shards: Sequence[Shard], paths: FilterPaths, reading: Reading, on_error: str
    ) -> None:
        self._stream, self._shards, self._paths = stream, shards, paths
        self._of: dict[str, Any] = {
            "inputs": [[real_name(shard.path), *shard.state()] for shard in shards],
            **{
                name: None if path is None else os.path.realpath(path)
                for name, path in (("output", paths.output), ("audit", paths.audit), ("rejects", paths.rejects))
            },
            "max_distance": stream.max_distance,
            "on_error": on_error,
            "reading": dataclasses.asdict(reading) | {"text": list(reading.text)},
        }
        self._lengths = [0, 0, 0]
        self._files: list[GrowingFile | None] = []
        self.ended = False
        self.missing = b""

    def begin(self, *, overwrite: bool, give_up: bool) -> dict[str, int]:
        """Return the counts of the run so far.

        Raises:
            InputError: a run of another call was interrupted, or an output exists.
        """
        record = (self._stream.index.state or {}).get(STATE)
        if record is not None and record["of"] == self._of:
            self._lengths, self.ended = record["lengths"], record["ended"]
            self.missing = record["missing"].encode("latin-1")
            counts: dict[str, int] = record["counts"]
            return counts
        demand_ended(self._stream, give_up=give_up)
        with Outputs(self._paths.files, inputs=self._shards, overwrite=overwrite):
            return {}

    @contextlib.contextmanager
    def opened(self) -> Iterator[list["GrowingFile | None"]]:
        """Open the output, the audit and the rejects for appending; None for those that are not written."""
        with contextlib.ExitStack() as stack:
            for path, length in zip(
                (self._paths.output, self._paths.audit, self._paths.rejects), self._lengths, strict=True
            ):
                self._files.append(None if path is None else stack.enter_context(GrowingFile(path, length)))
            yield self._files

    def commit(self, counts: dict[str, int], missing: bytes, *, ended: bool) -> None:
        """Save the state of the run: everything read and written so far survives a crash."""
        self._lengths = [0 if file is None else file.sync() for file in self._files]
        record = {
            "of": self._of,
            "counts": dict(counts),
            "lengths": self._lengths,
            "ended": ended,
            "missing": missing.decode("latin-1"),
        }
        self._stream.index.state = {**(self._stream.index.state or {}), STATE: record}
        self._stream.save()
        self.ended = ended

    def publish(self) -> None:
        """Give the outputs of a finished run their final names, as far as they do not have them yet.

        Raises:
            InputError: an output is missing.
        """
        for path, length in zip(
            (self._paths.output, self._paths.audit, self._paths.rejects), self._lengths, strict=True
        ):
            if path is None:
                continue
            if partial_of(path).exists():
                with GrowingFile(path, length) as file:
                    file.publish()
            elif not path.exists():
                raise InputError(
                    f"This run has ended, so the index knows all of its documents, but {path} is not there any more. Restore it, "
                    "or build the index anew."
                )
