"""The result of a run that was done again: each file beside the one of then, and what changed since."""

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from neardup.display import ToldLine, counted, labeled, printable

State = Literal["same", "edited", "missing", "differs"]
STATES: dict[State, str] = {
    "same": "the same bytes",
    "edited": "changed since it was written: the run makes again what the summary records",
    "missing": "no longer there: the run makes again what the summary records",
    "differs": "other bytes than in the recorded run",
}
"""What became of a file."""


@dataclass(frozen=True, slots=True)
class ReproducedFile:
    """A file that was made again.

    Attributes:
        kind: `output`, `audit`, `rejects`, `items` or `superseded`.
        path: where the recorded run wrote it.
        state: one of STATES.
        at: the first byte that differs, counted from 0; None if none does, or the file is missing.
        bytes: its size now.
    """

    kind: str
    path: str
    state: State
    at: int | None
    bytes: int


@dataclass(frozen=True, slots=True)
class Changed:
    """What is not as it was: inputs, reference, recipe, a version."""

    name: str
    what: str


@dataclass(frozen=True, slots=True)
class Reproduction:
    """What `reproduce` found.

    Attributes:
        summary: the summary, as it was named.
        command: the command that was run again; None if it was not, because its inputs or its recipe changed.
        files: the files that were made again.
        changed: what is not as it was. Other versions may make the same bytes.
        output: the folder of the new files; None if they were removed.
        seconds: what the run took.
    """

    summary: str
    command: str | None
    files: tuple[ReproducedFile, ...]
    changed: tuple[Changed, ...]
    output: str | None
    seconds: float

    @property
    def same(self) -> bool:
        """Whether every file has the same bytes as then; of files that are gone, by the digest in the summary."""
        return bool(self.files) and all(each.state in ("same", "missing") for each in self.files)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {"same": self.same} | dataclasses.asdict(self)

    def to_json(self) -> bytes:
        """The result as one JSON object."""
        return json.dumps(self.as_dict(), ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"

    def __repr__(self) -> str:
        return f"Reproduction({self._verdict()})"

    def __str__(self) -> str:
        return labeled(self.lines())

    def lines(self) -> Iterator[ToldLine]:
        """What a person is told of it: files that differ, what changed, and the verdict."""
        apart = [each for each in self.files if each.state != "same"]
        for each in apart[:10]:
            at = "" if each.at is None else f"; first at byte {each.at:,}"
            yield each.state, f"{printable(each.path)} ({each.kind}): {STATES[each.state]}{at}"
        if len(apart) > 10:
            yield "", f"and {counted(len(apart) - 10, 'more file')}"
        for change in self.changed:
            yield "changed", f"{change.name}: {printable(change.what)}"
        if self.output is not None:
            yield "output", printable(self.output)
        yield ("same" if self.same else "not same"), self._verdict()

    def _verdict(self) -> str:
        if self.command is None:
            return "the run was not done again: it would be another one"
        size = sum(each.bytes for each in self.files)
        made = f"{counted(len(self.files), 'file')}, {counted(size, 'byte')}, by `neardup {self.command}` in {self.seconds:.1f} s"
        if self.same:
            return made
        apart = sum(each.state in ("edited", "differs") for each in self.files)
        why = "" if self.changed else "; inputs, options, recipe and versions are as recorded"
        return f"{apart:,} of {made}{why}"
