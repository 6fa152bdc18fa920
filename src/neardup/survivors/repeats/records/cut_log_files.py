"""The places of logs of cuts. This loads nothing heavy: it is asked before refusals."""

import json

from neardup.errors import DECODER_ERRORS
from neardup.io.endings import PASSAGES_ENDING, SUMMARY_ENDING
from neardup.io.outputs.output_names import stem
from neardup.io.storage.compressions import COMPRESSION_ENDINGS
from neardup.io.storage.places import Place, files_below, place_of

ENDINGS = tuple(PASSAGES_ENDING + compression for compression in ("", *COMPRESSION_ENDINGS))


def is_cut_log(place: Place) -> bool:
    """Whether a file has the name of a log of cuts, or a folder has such files."""
    return place.name.endswith(ENDINGS) or (place.is_dir() and bool(files_below(place, ENDINGS)))


def log_beside(output: str) -> Place | None:
    """The log of cuts beside an output; None if there is none."""
    beside = place_of(stem(output) + PASSAGES_ENDING)
    return beside if beside.is_file() else None


def list_summary(output: str) -> Place | None:
    """The summary of a run that wrote a list of passages to this place; None if it is none."""
    path = place_of(stem(output) + SUMMARY_ENDING)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        is_list = "cut_tokens" in found and found["files"]["audit"] is None and found["files"]["output"] == output
    except (OSError, *DECODER_ERRORS):
        return None
    return path if is_list else None


def log_files(log: Place) -> list[Place]:
    """The files of a log, in the order of the shards."""
    return files_below(log, ENDINGS) if log.is_dir() else [log]
