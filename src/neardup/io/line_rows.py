"""Formats of lines, read once from files or a pipe: each block gives its rows as bytes and as texts."""

import contextlib
import fcntl
import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from neardup.errors import InputError
from neardup.io.checks.number_files import refuse_numbers
from neardup.io.corpora.batch import Batch, Columns, Rejections
from neardup.io.corpora.file_corpus import text_of_pages
from neardup.io.corpora.reading import Reading
from neardup.io.corpora.shard import Shard, standard_input
from neardup.io.formats.json.json_blocks import BlockReader
from neardup.io.formats.line_blocks import LineFile
from neardup.io.formats.lines import Lines, read_lines, rows_of_file
from neardup.io.formats.text_lines import read_block
from neardup.io.storage.compressions import HEAD_BYTES, sniff
from neardup.text.html import extractor

FORMATS_OF_LINES = ("jsonl", "lines")
PIPE_BYTES = 1 << 18
"""Bytes requested from a pipe at a time; a smaller answer is taken as it is."""


def pipe_shard(reading: Reading) -> Shard:
    """Standard input as a shard."""
    kind = "lines" if reading.lines else "jsonl"
    return Shard(
        Path("-"), "stdin", f"stdin.{kind}", kind, "plain", 0, 0, reading.encoding, int(reading.max_document_bytes)
    )


def demand_lines(shards: Sequence[Shard]) -> None:
    """Refuse files whose rows are not lines, or are the fingerprints of another program.

    Raises:
        InputError: there is such a file.
    """
    for shard in shards:
        if shard.format not in FORMATS_OF_LINES:
            raise InputError(
                f"{shard.name} is {shard.format}: only JSON lines, and text files with `lines=True`, can be passed on line by "
                "line. Convert it, or use `neardup dedup`."
            )
    for shard in shards:
        if shard.format == "lines" and shard.path != Path("-"):  # before a run begins that would have to be ended
            with contextlib.closing(read_lines(shard, PIPE_BYTES)) as blocks:
                for lines in itertools.islice(blocks, 1):
                    refuse_numbers(*read_block(shard, 0, lines, None), [shard])


def line_rows(shard: Shard, size: int) -> Iterator[Lines]:
    """The rows of a file, about `size` bytes at a time, or of standard input as they arrive."""
    if shard.name != "stdin" or shard.path != Path("-"):
        yield from read_lines(shard, size)
        return
    pipe = standard_input()
    with contextlib.suppress(AttributeError, TypeError, OSError, ValueError):  # another system, or no pipe
        # by default, a pipe holds a few pages: they are decided together
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    head = pipe.peek(HEAD_BYTES)[:HEAD_BYTES] if hasattr(pipe, "peek") else b""
    if head[:4] == b"PAR1" or sniff(head) != "plain":
        what = "Parquet" if head[:4] == b"PAR1" else sniff(head)
        raise InputError(f"Standard input holds {what} data; it must be plain lines. Decompress or convert it before.")
    with LineFile(shard, pipe) as file:
        yield from rows_of_file(file, shard, min(size, PIPE_BYTES))


def block_reader(columns: Columns) -> Callable[[Shard, Lines], tuple[Batch, Rejections]]:
    """A function that reads texts and ids from a block of rows; several threads may use it."""
    extract = None if columns.html is None else extractor(columns.html)

    def read(shard: Shard, lines: Lines) -> tuple[Batch, Rejections]:
        if shard.format == "lines":
            batch, rejections = refuse_numbers(*read_block(shard, len(columns.values), lines, None), [shard])
        else:
            batch, rejections = BlockReader(columns, shard.name).read(lines)
        return (batch if extract is None else text_of_pages(batch, extract)), rejections

    return read
