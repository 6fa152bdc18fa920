"""A run of `filter` to files that can continue after a crash.

The index, or the store, is saved with a record of the run's state: the rows that were read, and the length of every output. The
outputs are on disk before the record is. So one file, the manifest of the index or the record of the store, decides how much of the
run has happened.
"""

import contextlib
import dataclasses
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from neardup.display import counted
from neardup.errors import DataError, InputError
from neardup.io.corpora.read_files import ReadFiles
from neardup.io.corpora.reading import Reading
from neardup.io.corpora.shard import OF_COLUMNS, Shard
from neardup.io.corpora.shards import Inputs, find_shards, listed_inputs
from neardup.io.endings import AUDIT_ENDING, REJECTS_ENDING, split_ending
from neardup.io.line_rows import demand_lines, pipe_shard
from neardup.io.outputs.growing_file import GrowingFile, partial_of
from neardup.io.outputs.output_names import STANDARD_OUTPUT, output_folder, stem
from neardup.io.outputs.outputs import Outputs
from neardup.io.storage.places import is_url, name_as_text, path_text, real_name
from neardup.jobs.streams.line_walk import Sinks
from neardup.progress import Progress

STATE = "filter"
"""The key of the record in the state of an index or a store."""


class Memory(Protocol):
    """What remembers documents, and the run with them: an index or a store.

    Attributes:
        noun: what it is, in messages.
        listed_inputs: the largest number of inputs that a record lists; None if it lists all.
        deciding: the options of this run that decide, besides those that it has for good.
    """

    noun: str
    listed_inputs: int | None
    deciding: dict[str, Any]

    @property
    def run(self) -> dict[str, Any] | None:
        """The record of the last run."""

    def save(self, run: dict[str, Any]) -> None:
        """Make documents and the record of the run durable together."""


STANDARD_INPUT = Path("-")


@dataclass(frozen=True)
class FilterPaths:
    """The paths of the output, the audit and the rejects; None for a file that is not written."""

    output: Path
    audit: Path | None
    rejects: Path | None

    @property
    def files(self) -> list[Path]:
        """The paths that are files, without standard output."""
        return [path for path in self.all if path not in (None, STANDARD_OUTPUT)]

    @property
    def all(self) -> tuple[Path | None, ...]:
        """The paths, in the order of the lengths in a record."""
        return self.output, self.audit, self.rejects


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
                or (known and (known[2] != "plain" or known[1] in OF_COLUMNS))
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
        Path(path_text(output)),
        Path(audit or beside + AUDIT_ENDING),
        Path(beside + REJECTS_ENDING) if with_rejects else None,
    )
    finals = [os.path.realpath(path) for path in found.files]
    if len(set(finals)) < len(finals):
        raise InputError(f"{output} and the audit are the same file. Name another `audit`.")
    return found


def demand_ended(memory: Memory, *, give_up: bool) -> None:
    """Refuse to continue after another run was interrupted; with `give_up`, end that run and publish its outputs as they are.

    Raises:
        InputError: another run was interrupted.
        DataError: the outputs of that run have changed.
    """
    record = memory.run
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
            if not partial_of(path).exists() and path.is_file() and path.stat().st_size == length:
                continue  # this was killed before, when it had renamed some
            if not partial_of(path).exists():  # the index may come from elsewhere, and name any file of this machine
                raise DataError(
                    f"The {memory.noun} names {path} as an output of the interrupted run, but what that run wrote, "
                    f"{partial_of(path)}, is missing. Restore it, or build the {memory.noun} anew."
                )
            with GrowingFile(path, length) as file:
                file.publish()
    memory.save(record | {"ended": True})


def filter_shards(inputs: Inputs, how: Reading, progress: Progress) -> list[Shard]:
    """The inputs of a run: files of lines, or standard input as it comes.

    Raises:
        InputError: an input is missing, is not of lines, or is standard input beside others.
    """
    given = listed_inputs(inputs)
    from_pipe = [str(each) for each in given] == ["-"]
    if "-" in map(str, given) and not from_pipe:
        raise InputError("Standard input (-) goes alone. Give either files, or -.")
    shards = [pipe_shard(how)] if from_pipe else find_shards(given, reading=how, progress=progress)
    demand_lines(shards)
    return shards


def files_of(shards: Sequence[Shard]) -> list[Shard]:
    """The shards that are files, without standard input."""
    return [shard for shard in shards if shard.path != STANDARD_INPUT]


def recorded_inputs(shards: Sequence[Shard], listed: int | None) -> list[list[Any]]:
    """Inputs as a record has them: each with its state; or of more than `listed`, a digest of these."""
    states = [[name_as_text(real_name(shard.path)), *shard.state()] for shard in shards]
    if listed is None or len(states) <= listed:
        return states or [["standard input"]]
    digest = hashlib.blake2b(json.dumps(states).encode(), digest_size=16).hexdigest()
    return [[states[0][0]], [f"and {counted(len(states) - 1, 'more input')}", digest]]


class FilterRun:
    """One run from given inputs to given outputs.

    Attributes:
        ended: whether all inputs have been read; at most the outputs still have to be renamed.
        missing: the newline that the last output line lacks; it is written before the next line.
    """

    def __init__(
        self,
        memory: Memory,
        shards: Sequence[Shard],
        paths: FilterPaths,
        reading: Reading,
        on_error: str,
        reads: ReadFiles,
    ) -> None:
        self._memory, self._inputs, self._paths, self._reads = memory, files_of(shards), paths, reads
        self._of: dict[str, Any] = {
            "inputs": recorded_inputs(self._inputs, memory.listed_inputs),
            **{
                name: None if path is None else os.path.realpath(path)
                for name, path in zip(("output", "audit", "rejects"), paths.all, strict=True)
            },
            **memory.deciding,
            "on_error": on_error,
            "reading": dataclasses.asdict(reading) | {"text": list(reading.text)},
        }
        self._lengths = [0, 0, 0]
        self._files: list[GrowingFile | None] = []
        self._is_saved = False
        self.ended = False
        self.missing = b""

    @property
    def _is_from_pipe(self) -> bool:
        return not self._inputs

    def begin(self, *, overwrite: bool, give_up: bool) -> dict[str, int]:
        """Return the counts of the run so far; of a pipe, which cannot be read again, none.

        Raises:
            InputError: a run of another call was interrupted, or an output exists.
        """
        record = self._memory.run
        if record is not None and record["of"] == self._of:
            self._lengths, self.ended = record["lengths"], record["ended"]
            self.missing = record["missing"].encode("latin-1")
            self._is_saved = True
            counts: dict[str, int] = record["counts"]
            if not self._is_from_pipe:
                return counts
            if not self.ended:
                return {}
            self._lengths, self.ended, self.missing = [0, 0, 0], False, b""
        demand_ended(self._memory, give_up=give_up)
        with Outputs(self._paths.files, reads=self._reads, overwrite=overwrite):
            return {}

    @contextlib.contextmanager
    def opened(self) -> Iterator[Sinks]:
        """Open the output, the audit and the rejects for appending. If nothing was saved, a failure leaves none of them."""
        with contextlib.ExitStack() as stack:
            try:
                for path, length in zip(self._paths.all, self._lengths, strict=True):
                    self._files.append(None if path is None else stack.enter_context(GrowingFile(path, length)))
                yield Sinks(*self._files)
            except BaseException:
                if not self._is_saved:
                    for file in self._files:
                        if file is not None:
                            file.remove()
                raise

    def record(self, counts: dict[str, int], missing: bytes, *, ended: bool) -> dict[str, Any]:
        """Everything written so far, once it is on disk."""
        self._lengths = [0 if file is None else file.sync() for file in self._files]
        self._is_saved = True
        return {
            "of": self._of,
            "counts": dict(counts),
            "lengths": self._lengths,
            "ended": ended,
            "missing": missing.decode("latin-1"),
        }

    def commit(self, counts: dict[str, int], missing: bytes, *, ended: bool) -> None:
        """Save the state of the run: everything read and written so far survives a crash."""
        self._memory.save(self.record(counts, missing, ended=ended))
        self.ended = ended

    def publish(self) -> None:
        """Give the outputs of a finished run their final names, as far as they do not have them yet.

        Raises:
            InputError: an output is missing.
        """
        for path, length in zip(self._paths.all, self._lengths, strict=True):
            if path is None:
                continue
            if partial_of(path).exists():
                with GrowingFile(path, length) as file:
                    file.publish()
            elif not path.exists():
                raise InputError(
                    f"This run has ended, so the {self._memory.noun} knows all of its documents, but {path} is not there any more. "
                    f"Restore it, or build the {self._memory.noun} anew."
                )
