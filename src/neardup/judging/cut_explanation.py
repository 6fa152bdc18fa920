"""Explain which passages were cut out of a document."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neardup.errors import InputError
from neardup.io.storage.places import place_of
from neardup.judging.cut_texts import ShownCut, places_of, read_texts, shown_cuts
from neardup.judging.reports.run_inputs import inputs_of_run
from neardup.progress import Progress
from neardup.resources.resources import Resources
from neardup.survivors.records.audit_files import same_id
from neardup.survivors.repeats.records.cut_log_reader import CutLine, read_cut_log, read_cut_summary
from neardup.survivors.repeats.token_stream import SEPARATOR


@dataclass(frozen=True, slots=True)
class CutDocument:
    """What was cut out of a document.

    Attributes:
        id, row: of the document.
        cuts: the passages, with their texts.
        is_removed: whether too little was left of it.
    """

    id: Any
    row: int
    cuts: tuple[ShownCut, ...]
    is_removed: bool


def explain_cuts(log: str | Path, wanted: str) -> list[CutDocument]:
    """What was cut out of each document with an id. Reads the inputs that the summary beside the log names.

    Args:
        log: a file, or a folder with one for each shard.
        wanted: the document id; write integer ids as digits.

    Raises:
        InputError: there is no such log or document, or the inputs are missing or have changed.
        DataError: the log is damaged.
    """
    path, wanted = place_of(log), str(wanted)
    by_row = dict[int, list[CutLine]]()
    for line in read_cut_log(path):
        if same_id(line["id"], wanted):
            by_row.setdefault(line["row"], []).append(line)
    summary = read_cut_summary(path)
    inputs = inputs_of_run(summary, path, Resources(), Progress(), separator=SEPARATOR)
    if inputs.corpus is None:
        raise InputError(f"The texts are needed. {inputs.reason}")
    found = list[CutDocument]()
    for first, batch in inputs.corpus.map(lambda batch: batch):
        for row, (name, text) in enumerate(zip(batch.ids.to_pylist(), batch.texts, strict=True), first):
            if name is not None and text.is_valid and row not in by_row and same_id(json.loads(name), wanted):
                found.append(CutDocument(json.loads(name), row, (), is_removed=False))
    texts = read_texts(inputs, places_of(line for lines in by_row.values() for line in lines)) if by_row else {}
    for row, lines in by_row.items():
        shown = shown_cuts(lines, texts, summary["files"]["text"])
        found.append(CutDocument(lines[0]["id"], row, tuple(shown), lines[0]["document_removed"]))
    if not found:
        raise InputError(f"There is no document {wanted!r} in {log} or in the inputs of its run.")
    return sorted(found, key=lambda each: each.row)


def first_id(log: str | Path) -> str | None:
    """The id of the first document that loses a passage; None if none does."""
    line = next(read_cut_log(place_of(log)), None)
    return None if line is None else str(line["id"])
