"""The passages that a log of cuts names, and their copies, read again and shown in their contexts."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from neardup.display import printable
from neardup.errors import InputError
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.judging.reports.run_inputs import NOT_AS_BEFORE, RunInputs
from neardup.survivors.repeats.records.cut_log_reader import CutLine
from neardup.survivors.repeats.token_stream import SEPARATOR

AROUND = 60
"""Characters of context on both sides of a passage."""
SHOWN = 400
"""Characters of a passage that are shown."""

Place = tuple[str | None, int]
"""A document: a file of the reference and its row there, or None and its row over the inputs."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A passage in its context.

    Attributes:
        before, passage, after: the text; of a long passage, its beginning and its end.
        left_out: how many characters of the passage are not shown.
        left, right: whether the text goes on there.
    """

    before: str
    passage: str
    after: str
    left_out: int = 0
    end: str = ""
    left: bool = False
    right: bool = False

    @classmethod
    def of(cls, text: str, start: int, end: int) -> "Excerpt":
        """Some characters of a text."""
        passage, last, left_out = text[start:end], "", 0
        if len(passage) > SHOWN:
            half = SHOWN // 2
            left_out = len(passage) - 2 * half
            passage, last = passage[:half], passage[-half:]
        first, behind = max(0, start - AROUND), min(len(text), end + AROUND)
        return cls(text[first:start], passage, text[end:behind], left_out, last, first > 0, behind < len(text))

    def in_a_line(self) -> str:
        """The excerpt on one line, the passage in brackets."""
        gap = f" … {self.left_out:,} more characters … " if self.left_out else ""
        before, after = "…" * self.left + self.before, self.after + "…" * self.right
        return f"{_flat(before)}[{_flat(self.passage)}{gap}{_flat(self.end)}]{_flat(after)}"


def _flat(text: str) -> str:
    return printable(text.replace("\n", "⏎"))


@dataclass(frozen=True, slots=True)
class ShownCut:
    """A line of the log, with its passage and the copy."""

    line: CutLine
    passage: Excerpt
    copy: Excerpt


def places_of(lines: Iterable[CutLine]) -> set[Place]:
    """The documents of passages and of copies."""
    found = set[Place]()
    for line in lines:
        found.add((None, line["row"]))
        found.add(_copy(line))
    return found


def _copy(line: CutLine) -> Place:
    return (None, line["copy_row"]) if line["copy_row"] is not None else (line["reference"], line["reference_row"])


def shown_cuts(lines: Iterable[CutLine], texts: dict[Place, tuple[str, str]], columns: list[str]) -> list[ShownCut]:
    """Lines with their texts. `texts`: the id and the text of each document.

    Raises:
        InputError: the texts are not those of the log.
    """
    shown = list[ShownCut]()
    for line in lines:
        own = _excerpt(line, "", (None, line["row"]), texts, columns)
        shown.append(ShownCut(line, own, _excerpt(line, "copy_", _copy(line), texts, columns)))
    return shown


def _excerpt(
    line: CutLine, prefix: str, place: Place, texts: dict[Place, tuple[str, str]], columns: list[str]
) -> Excerpt:
    """The passage of a line, or its copy; `prefix`: of the names of its columns."""
    token, text = texts.get(place, ("null", ""))
    parts, column = text.split(SEPARATOR), line.get(f"{prefix}column")
    number = columns.index(column) if column in columns else 0
    start, end = line[f"{prefix}start"], line[f"{prefix}end"]
    if json.loads(token) != line[f"{prefix}id"] or number >= len(parts) or not start < end <= len(parts[number]):
        raise InputError(f"{NOT_AS_BEFORE} Put those back, or run again.")
    return Excerpt.of(parts[number], start, end)


def read_texts(inputs: RunInputs, wanted: set[Place]) -> dict[Place, tuple[str, str]]:
    """The ids, as JSON, and the texts of some documents."""
    found = dict[Place, tuple[str, str]]()
    if inputs.corpus is not None:
        _read(inputs.corpus, None, {row for file, row in wanted if file is None}, found)
    for shard in inputs.reference.shards if inputs.reference is not None else ():
        rows = {row for file, row in wanted if file == shard.name}
        if rows and inputs.reference is not None:
            _read(inputs.reference.part([shard]), shard.name, rows, found)
    return found


def _read(corpus: FileCorpus, file: str | None, rows: set[int], found: dict[Place, tuple[str, str]]) -> None:
    for first, batch in corpus.map(lambda batch: batch):
        for row in range(first, first + len(batch.texts)):
            if row in rows and batch.texts[row - first].is_valid:
                found[file, row] = (batch.ids[row - first].as_py(), batch.texts[row - first].as_py())
