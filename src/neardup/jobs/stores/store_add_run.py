"""A run of `store add` that can continue after a crash: how far it came is saved in the store, with the documents.

The answers are on disk before their documents are. So the record of the store alone decides how much of the run has happened.
"""

import contextlib
import dataclasses
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neardup.display import counted
from neardup.errors import InputError
from neardup.io.corpora.read_files import ReadFiles
from neardup.io.corpora.reading import Reading
from neardup.io.corpora.shard import Shard
from neardup.io.outputs.growing_file import GrowingFile, partial_of
from neardup.io.outputs.output_names import STANDARD_OUTPUT
from neardup.io.outputs.outputs import Outputs
from neardup.io.storage.places import Place, real_name
from neardup.jobs.stores.store_answers import UpdateCounts
from neardup.jobs.streams.filter_run import recorded_inputs
from neardup.store.answers import StoreAnswer
from neardup.store.record.command_state import ADDING, CommandState, state_for_commands
from neardup.store.store import Store

MAX_LISTED_INPUTS = 16
"""The largest number of inputs that are listed there: it is written with every commit."""


@dataclass(kw_only=True)
class AddCounts(UpdateCounts):
    """The counts of a run so far.

    Attributes:
        documents: all that were decided.
        new: those that are kept, and of whose id no text was. With them, the store has `new - replaced - dropped` more documents.
        matched: those of them that match other documents, and are kept as well: by `keep="always"`.
        exact: documents that are not kept, and whose text equals that of their first match.
        unchanged: those of them whose own id the store has with that text.
        replaced: documents in whose place a better one of another id was kept.
    """

    documents: int = 0
    new: int = 0
    matched: int = 0
    exact: int = 0
    unchanged: int = 0
    replaced: int = 0

    def count(self, answers: Sequence[StoreAnswer], *, keep: str) -> None:
        """Count the answers to some documents of a store with this `keep`."""
        self.count_updates(answers)
        self.documents += len(answers)
        for answer in answers:
            is_same, is_kept = answer.status == "unchanged", answer.is_new or keep == "always"
            self.new += is_kept and not is_same and not answer.is_update
            self.matched += is_kept and answer.status == "duplicate"
            self.exact += is_same or (answer.exact and not is_kept)
            self.unchanged += is_same
            self.replaced += len(answer.replaces) - answer.is_update - (is_same and answer.is_new)  # by itself

    @property
    def duplicates(self) -> int:
        """Those that are not kept, or were before."""
        return self.documents - self.new - self.updated


def why_not_continued(inputs: Sequence[str], output: Place | None) -> str:
    """Why a run cannot continue after an interruption; empty if it can."""
    if "-" in inputs:
        return "standard input cannot be read again"
    if output == STANDARD_OUTPUT:
        return "standard output cannot be taken back"
    if output is not None and (not isinstance(output, Path) or output.suffix != ".jsonl"):
        return f"{output} cannot grow; name a plain .jsonl file on this machine for that"
    return ""


class AddRun:
    """One run from given files to a file of answers, or to none.

    Attributes:
        counts: of what was decided so far.
        ended: whether all is decided; at most the answers still have to be renamed.
    """

    def __init__(
        self, store: Store, shards: Sequence[Shard], output: Path | None, reading: Reading, metadata: Sequence[str]
    ) -> None:
        self._store, self._shards, self._output = store, shards, output
        self._inputs = recorded_inputs(shards, MAX_LISTED_INPUTS)
        same = {
            "inputs": [real_name(shard.path) for shard in shards],
            "output": None if output is None else os.path.realpath(output),
            "reading": dataclasses.asdict(reading) | {"text": list(reading.text)},
            "metadata": list(metadata),
        }
        self._key = hashlib.blake2b(json.dumps(same, sort_keys=True).encode(), digest_size=16).hexdigest()
        self._length, self._is_saved = 0, False
        self._file: GrowingFile | None = None
        self.counts, self.ended = AddCounts(), False

    def begin(self, *, overwrite: bool, give_up: bool, reads: ReadFiles) -> None:
        """Learn how far the same run came before, or forget it; an InputError if the inputs are not what they were, or the output
        exists.
        """
        known = self._runs().get(self._key)
        if known is not None and give_up:
            self._forget()
            if self._output is not None:
                partial_of(self._output).unlink(missing_ok=True)
            known = None
        if known is None:
            if self._output is not None:
                with Outputs([self._output], reads=reads, overwrite=overwrite):
                    return
            return
        if known["inputs"] != self._inputs:
            name, done = self._changed(known["inputs"]), known["counts"]["documents"]
            raise InputError(
                f"{name} has changed since this command was interrupted, after {counted(done, 'document')}. "
                "Restore it, and the command goes on; or pass `give_up=True` to begin anew: documents that were added before are "
                "then copies of themselves."
            )
        self._length, self.ended, self._is_saved = known["length"], known["ended"], True
        self.counts = AddCounts(**known["counts"])

    def _changed(self, before: list[list[Any]]) -> str:
        """The name of an input that is not what it was; of many, no states are recorded."""
        if len(self._shards) > MAX_LISTED_INPUTS:
            return "One of the inputs"
        return next(str(now[0]) for now, then in zip(self._inputs, before, strict=True) if now != then)

    @property
    def has_output(self) -> bool:
        """Whether answers are written."""
        return self._output is not None

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """Open the file of answers for appending; if nothing of it was saved, it is removed after a failure."""
        if self._output is None:
            yield
            return
        with GrowingFile(self._output, self._length) as self._file:
            try:
                yield
            except BaseException:
                if not self._is_saved:
                    self._file.remove()
                raise

    def state_after(self, lines: bytes, *, ended: bool = False) -> dict[str, Any]:
        """Write answers, and return the state of the run to be saved with their documents."""
        if self._file is not None:
            self._file.write(lines)
            self._length = self._file.sync()
        self._is_saved = True
        counts = vars(self.counts).copy()
        entry = {"inputs": self._inputs, "counts": counts, "length": self._length, "ended": ended}
        return {ADDING: self._runs() | {self._key: entry}}

    def end(self) -> None:
        """Record that all is decided, before the answers get their name."""
        if self._output is not None:
            state = {**state_for_commands(self._store.state), **self.state_after(b"", ended=True)}
            self._store.check_and_add_many([], [], state=CommandState(state))

    def publish(self) -> None:
        """Give the answers their name, and forget the run."""
        if self._output is not None and partial_of(self._output).exists():
            with GrowingFile(self._output, self._length) as file:
                file.publish()
        self._forget()

    def _runs(self) -> dict[str, Any]:
        found: dict[str, Any] = state_for_commands(self._store.state).get(ADDING, {})
        return found

    def _forget(self) -> None:
        if self._key not in self._runs():
            return
        runs = {key: each for key, each in self._runs().items() if key != self._key}
        state = {name: value for name, value in self._store.state.items() if name != ADDING}
        self._store.check_and_add_many([], [], state=CommandState(state | ({ADDING: runs} if runs else {})))
