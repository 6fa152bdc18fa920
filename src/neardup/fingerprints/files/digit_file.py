"""Files of fingerprints for other programs: CSV, TSV, JSON lines, or text with one fingerprint a line."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import OptionError
from neardup.fingerprints.documents import Documents
from neardup.fingerprints.files.digits import check_digits, texts_of_words
from neardup.io.endings import split_ending
from neardup.io.ids import plain_ids
from neardup.io.storage.compression import open_for_writing
from neardup.io.storage.places import Place
from neardup.recipe.programs import DIGITS, Digits

ENDINGS = ".csv, .tsv, .jsonl or .txt"
_ENDINGS = (".csv", ".tsv", ".jsonl", ".txt")
TEXT_DIGITS = tuple(name for name in DIGITS if name != "bytes")
_TEXT = pa.large_string()
_SPECIAL = "[\"',;|\\\\\t\r\n]|^\\s|\\s$"
"""What makes the quotes around an id necessary in some dialect of CSV."""


def digit_format(path: str | Place) -> tuple[str, str] | None:
    """The format and the compression that the name of such a file declares; None for other names."""
    name = path if isinstance(path, str) else path.name
    known = split_ending(name)
    if known is None or not name[len(known[0]) :].lower().startswith(_ENDINGS):
        return None
    return known[1:]


def checked_digits(digits: Any) -> Digits:
    """How the fingerprints are written; hexadecimal by default.

    Raises:
        OptionError: not one of DIGITS, or bytes, which text cannot hold.
    """
    if digits == "bytes":
        raise OptionError(
            f"`digits='bytes'`: files of text hold digits. Give one of {', '.join(TEXT_DIGITS)}, or write a .parquet file."
        )
    chosen: Digits = "hexadecimal" if digits is None else digits
    check_digits(chosen, allowed=TEXT_DIGITS)
    return chosen


class DigitWriter:
    """Writes the ids and the fingerprints of documents; in a text file, only the fingerprints. Rejected rows are left out."""

    def __init__(self, path: Place, temporary: Path, digits: Digits, bits: int) -> None:
        """`path`: the name of the file, which declares format and compression; it is written at `temporary`."""
        found = digit_format(path)
        assert found is not None  # the caller has checked it
        self._format, compression = found
        self._digits, self._bits = digits, bits
        self._file = open_for_writing(temporary, compression)
        if self._format in ("csv", "tsv"):
            self._file.write(f"id{self._delimiter}fingerprint\n".encode())

    @property
    def _delimiter(self) -> str:
        return "\t" if self._format == "tsv" else ","

    def write(self, documents: Documents) -> None:
        """Append rows."""
        valid = documents.valid
        ids = documents.ids.filter(pa.array(valid))
        digits = texts_of_words(documents.fingerprints[valid], self._digits, self._bits)
        if self._format == "txt":
            parts = [digits, "\n"]
        elif self._format == "jsonl":
            parts = ['{"id": ', ids, ', "fingerprint": "', digits, '"}\n']
        else:
            parts = [_cells(plain_ids(ids)), self._delimiter, digits, "\n"]
        if len(digits):
            lines = [pa.scalar(part, _TEXT) if isinstance(part, str) else part for part in parts]
            joined = pc.binary_join_element_wise(*lines, pa.scalar("", _TEXT))
            self._file.write(joined.buffers()[2])

    def close(self, _: object = None) -> None:
        """Close the file."""
        self._file.close()


def _cells(ids: Any) -> Any:
    special = pc.or_(pc.match_substring_regex(ids, _SPECIAL), pc.equal(pc.binary_length(ids), 0))
    if not pc.any(special).as_py():
        return ids
    quote = pa.scalar('"', _TEXT)
    quoted = pc.binary_join_element_wise(quote, pc.replace_substring(ids, '"', '""'), quote, pa.scalar("", _TEXT))
    return pc.if_else(special, quoted, ids)
