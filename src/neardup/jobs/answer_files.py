"""ANSWERS: files of JSON lines about documents that were asked about."""

import contextlib
from collections.abc import Iterator
from typing import Any

from neardup.errors import InputError
from neardup.io.corpora.read_files import ReadFiles
from neardup.io.endings import split_ending
from neardup.io.formats.text_sink import StandardOutput
from neardup.io.outputs.output_names import STANDARD_OUTPUT
from neardup.io.outputs.outputs import Outputs
from neardup.io.storage.compression import open_for_writing
from neardup.io.storage.compressions import compression_of_name
from neardup.io.storage.places import Place, place_of


def answers_place(output: str) -> Place:
    """The place of a file of answers; `-` is standard output.

    Raises:
        InputError: its name does not end as that of JSON lines.
    """
    place = place_of(output)
    if place == STANDARD_OUTPUT:
        return place
    known = split_ending(place.name)
    if known is None or known[1] != "jsonl":
        raise InputError(
            f"{output}: the answers are JSON lines. Give a name that ends in .jsonl (also .gz, .zst, .bz2, .xz or .lz4)."
        )
    return place


@contextlib.contextmanager
def answers_to(target: Place, reads: ReadFiles, *, overwrite: bool) -> Iterator[Any]:
    """A file for answers, which appears when it is complete.

    Raises:
        InputError: it exists, or is read.
    """
    if target == STANDARD_OUTPUT:
        out = StandardOutput()
        yield out
        out.flush()
        return
    with Outputs([target], reads=reads, overwrite=overwrite) as outputs:
        with open_for_writing(outputs.claim(target), compression_of_name(target.name)) as file:
            yield file
        outputs.commit()
