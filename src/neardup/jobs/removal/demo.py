"""De-duplicate the corpus that comes with the package, and say how some of the duplicates differ from their survivors."""

import json
import shutil
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path

from neardup.errors import InputError
from neardup.jobs.removal.dedup import deduplicate_files
from neardup.jobs.results import FileResult
from neardup.judging.difference import Difference

NOTES, SURVIVORS = "notes.jsonl", "survivors.jsonl"
AUDIT = "survivors.duplicates.jsonl"


def deduplicate_notes(folder: Path) -> FileResult:
    """Write the corpus to `folder`, and its survivors, audit and summary beside it.

    Raises:
        InputError: the folder holds other files, or cannot be made.
    """
    source = files("neardup.jobs.removal") / NOTES
    mine = {NOTES, SURVIVORS, AUDIT, "survivors.summary.json"}
    others = sorted(path.name for path in folder.iterdir() if path.name not in mine) if folder.exists() else []
    if others:
        raise InputError(f"{folder} holds other files ({others[0]} …): name a new folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"{folder} cannot be made ({problem.strerror}): name a folder that can be written") from None
    with as_file(source) as path:
        shutil.copyfile(path, folder / NOTES)
    return deduplicate_files(str(folder / NOTES), str(folder / SURVIVORS), overwrite=True)


def near_duplicates(corpus: Path, audit: Path, most: int) -> Iterator[tuple[Difference, float]]:
    """Some near-duplicates of an audit, those around a similarity of 0.9 first, with the similarity to their survivors."""
    lines = [json.loads(line) for line in audit.read_bytes().splitlines()]
    near = sorted((line for line in lines if not line["exact"]), key=lambda line: abs(line["similarity"] - 0.9))[:most]
    texts = [json.loads(line)["text"] for line in corpus.read_bytes().splitlines()]
    for line in near:
        found = Difference.of(line["id"], line["survivor_id"], (texts[line["row"]], texts[line["survivor_row"]]))
        yield found, line["similarity"]
