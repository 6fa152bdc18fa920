"""CHECKPOINTS: save the passes and steps of a run as they finish, so that a run that was killed continues where it stopped.

A pass over a corpus of shards writes one file for each group of shards that it has finished, with the results of their batches. A
step that uses the whole corpus writes one file. docs/resume-format.md describes the folder.
"""

import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from neardup.arrays import Array
from neardup.errors import DataError
from neardup.io.corpora.batch import Batch
from neardup.io.corpora.protocol import Corpus, Group, Piece, ShardedCorpus
from neardup.io.resume.checkpoint_file import CheckpointFile, read_checkpoint, write_checkpoint
from neardup.recipe.short_rule import SHORT_RULE
from neardup.resources.scratch import IN_MEMORY, Scratch

Result = TypeVar("Result")
Reader = Callable[[Iterable[Group]], Iterator[tuple[Group, Piece[Any]]]]
"""Reads the pieces of some groups, in order, lazily."""

STATE_SECONDS = 60.0
"""Seconds between saves of the array that a pass accumulates into; it is saved between two groups of shards."""
DONE, STATE = ".done", ".state"


class Checkpoints:
    """Checkpoints of a run that is not resumable: nothing is saved, everything is computed.

    Attributes:
        folder: the folder of the checkpoints; None if nothing is saved.
        skipped: how many times a group of shards was not read, because an earlier run had finished it.
        short_rule: the version of the rule of short texts by which the run began.
    """

    folder: Path | None = None
    skipped = 0
    short_rule = SHORT_RULE

    def map(
        self,
        corpus: Corpus,
        work: Callable[[Batch], Result],
        *,
        name: str,  # noqa: ARG002 - for subclasses that save
        wanted: Array | None = None,
        state: Array | None = None,  # noqa: ARG002
    ) -> Iterator[tuple[int, Result]]:
        """One pass over a corpus, like the corpus's `map`; its results must have codecs.

        Args:
            corpus: a corpus in memory, without shards, is read in full again.
            work: applied to each batch.
            name: the name of the pass in the run.
            wanted: see `Corpus.map`.
            state: an array that `work` also accumulates into; it is saved from time to time, and restored.
        """
        return corpus.map(work, wanted=wanted)

    def checkpoint(self, name: str, compute: Callable[[], Result]) -> Result:  # noqa: ARG002
        """The result of `compute`, computed once per run; it must have a codec."""
        return compute()

    def free_bytes(self) -> int:
        """The bytes that checkpoints may take in total in their folder."""
        return sys.maxsize


NO_CHECKPOINTS = Checkpoints()


class SavedCheckpoints(Checkpoints):
    """Checkpoints of a resumable run, in a folder of its own.

    Args:
        folder: the run's folder, which must exist.
        scratch: where arrays read from the folder are allocated.
        state_seconds: seconds between saves of a state.

    Raises:
        DataError: from every method: a file in the folder is damaged, or has another version.
    """

    def __init__(self, folder: Path, scratch: Scratch = IN_MEMORY, *, state_seconds: float = STATE_SECONDS) -> None:
        self.folder: Path = folder
        self._scratch, self._state_seconds = scratch, state_seconds
        self.skipped = 0

    def checkpoint(self, name: str, compute: Callable[[], Result]) -> Result:
        if not (self.folder / (name + DONE)).exists():
            found = compute()
            write_checkpoint(self.folder, name + DONE, found)
            return found
        return self._only(name + DONE)  # type: ignore[no-any-return]

    def free_bytes(self) -> int:
        """See `Checkpoints`; includes the bytes that checkpoints already take."""
        taken = sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())
        return taken + shutil.disk_usage(self.folder).free

    def _only(self, name: str) -> Any:
        """Return the value of a file that holds one value."""
        values = list(read_checkpoint(self.folder, name, scratch=self._scratch))
        if len(values) != 1:
            path = self.folder / name
            raise DataError(f"{path} has {len(values)} values instead of one. Remove it, and that part is done again.")
        return values[0]

    def map(
        self,
        corpus: Corpus,
        work: Callable[[Batch], Result],
        *,
        name: str,
        wanted: Array | None = None,
        state: Array | None = None,
    ) -> Iterator[tuple[int, Result]]:
        if not isinstance(corpus, ShardedCorpus):
            return corpus.map(work, wanted=wanted)

        def read(groups: Iterable[Group]) -> Iterator[tuple[Group, Piece[Result]]]:
            return corpus.pieces(work, groups, wanted=wanted)

        return corpus.rows(self._pieces(name.replace(" ", "-"), read, corpus.groups(), state))

    def _pieces(
        self, name: str, read: Reader, groups: Sequence[Group], state: Array | None
    ) -> Iterator[tuple[Group, Piece[Any]]]:
        """The pieces of all groups, beginning with the saved ones."""
        (self.folder / name).mkdir(exist_ok=True)
        done = self._done(name, len(groups)) if state is None else self._restore(name, state)
        for number in range(done):
            for piece in read_checkpoint(self.folder, _name_of(name, number), scratch=self._scratch):
                yield groups[number], piece
        self.skipped += done
        while done < len(groups):
            begun: list[Group] = []
            some = groups[done:] if state is None else _for_a_while(groups[done:], self._state_seconds)
            pieces = read(_noted(some, begun))
            yield from self._saved(name, done, pieces, begun)
            done += len(begun)
            if state is not None:
                self._save(name, state, done)

    def _done(self, name: str, groups: int) -> int:
        """How many groups, counted from the first, have been saved."""
        there = (number for number in range(groups) if not (self.folder / _name_of(name, number)).exists())
        return next(there, groups)

    def _saved(
        self, name: str, first: int, pieces: Iterator[tuple[Group, Piece[Any]]], begun: list[Group]
    ) -> Iterator[tuple[Group, Piece[Any]]]:
        """Yield the pieces of the groups `begun` so far, numbered from `first`; a group without pieces is saved, too."""
        finished = 0
        writing: CheckpointFile | None = None
        try:
            for group, piece in pieces:
                while writing is None or begun[finished] != group:
                    if writing is not None:
                        writing.commit()
                        finished += 1
                    writing = CheckpointFile(self.folder, _name_of(name, first + finished))
                writing.add(piece)
                yield group, piece
            while finished < len(begun):
                (writing or CheckpointFile(self.folder, _name_of(name, first + finished))).commit()
                writing = None
                finished += 1
        finally:
            if writing is not None:
                writing.abandon()

    def _save(self, name: str, state: Array, groups: int) -> None:
        """Save the state after the first `groups` groups, and remove the earlier state, which is no longer needed."""
        before, now = list((self.folder / name).glob(f"*{STATE}")), f"{name}/{groups:06}{STATE}"
        write_checkpoint(self.folder, now, state)
        for path in before:
            if path != self.folder / now:
                path.unlink()

    def _restore(self, name: str, state: Array) -> int:
        """Load the last saved state into `state`, and return how many groups it covers; 0 if none was saved."""
        saved = max((self.folder / name).glob(f"*{STATE}"), key=lambda path: int(path.stem), default=None)
        if saved is None or self._done(name, int(saved.stem)) < int(saved.stem):
            return 0  # pieces were removed: everything is accumulated again
        found = self._only(f"{name}/{saved.name}")
        if not isinstance(found, type(state)) or (found.shape, found.dtype) != (state.shape, state.dtype):
            raise DataError(f"{saved} has another array than is gathered. Remove the folder {saved.parent}.")
        state[:] = found
        return int(saved.stem)


def _name_of(name: str, number: int) -> str:
    """The name of a group's file in the folder of the run."""
    return f"{name}/{number:06}{DONE}"


def _noted(groups: Iterable[Group], begun: list[Group]) -> Iterator[Group]:
    for group in groups:
        begun.append(group)
        yield group


def _for_a_while(groups: Sequence[Group], seconds: float) -> Iterator[Group]:
    """Yield groups, at least one, until the time is over."""
    began = time.monotonic()
    for group in groups:
        yield group
        if time.monotonic() - began > seconds:
            return
