"""Encodings of text files: lines are located in the stored bytes, and read as UTF-8."""

import codecs
from dataclasses import dataclass

from neardup.errors import DataError, OptionError

UTF_8 = "utf-8"

_MARK = "\ufeff"
_OF_UNKNOWN_ORDER = {"utf-16": 2, "utf-32": 4}
_NO_TEXT_FILES = {
    "idna",
    "punycode",
    "undefined",
    "unicode_escape",
    "raw_unicode_escape",
    "unicode-escape",
    "raw-unicode-escape",
}


def encoding_name(name: str) -> str:
    """The usual name of an encoding.

    Raises:
        OptionError: Python knows no text encoding by that name.
    """
    try:
        found = codecs.lookup(name)
        if not found._is_text_encoding or found.name in _NO_TEXT_FILES:
            raise LookupError
    except (LookupError, TypeError, ValueError):
        raise OptionError(
            f"`encoding={name!r}`: give an encoding that Python knows, as utf-8, utf-16, gb18030, shift_jis or latin-1."
        ) from None
    return UTF_8 if found.name == "utf-8-sig" else found.name


@dataclass(frozen=True, slots=True)
class Encoding:
    """How one file is encoded.

    Attributes:
        name: Python's name of the codec, including the byte order, if it has one.
        mark: the byte order mark at the beginning of the file, or nothing.
    """

    name: str
    mark: bytes

    @property
    def is_utf8(self) -> bool:
        """Whether the stored bytes are UTF-8."""
        return self.name == UTF_8

    @property
    def newline(self) -> bytes:
        """A newline as stored; newlines are searched at multiples of its length."""
        return "\n".encode(self.name)


def encoding_of(head: bytes, encoding: str, name: str) -> Encoding:
    """The encoding of a file that begins with `head` (up to 4 bytes) and has the name `name`.

    Raises:
        DataError: the file begins as if it had another encoding, or its byte order is unknown.
    """
    if encoding == UTF_8:
        _demand_utf8(head, name)
    if encoding in _OF_UNKNOWN_ORDER and head:
        size = _OF_UNKNOWN_ORDER[encoding]
        for order in ("le", "be"):
            mark = _MARK.encode(f"{encoding}-{order}")
            if head.startswith(mark):
                return Encoding(f"{encoding}-{order}", mark)
        raise DataError(
            f"{name} does not begin with the byte order mark of {encoding.upper()} ({size} bytes). "
            f"Pass `encoding='{encoding}-le'` or `encoding='{encoding}-be'`."
        )
    if encoding in _OF_UNKNOWN_ORDER:
        encoding += "-le"  # an empty file: nothing to read
    try:
        mark = _MARK.encode(encoding)
    except UnicodeEncodeError:
        mark = b"\0" * 5  # longer than any head
    return Encoding(encoding, mark if head.startswith(mark) else b"")


def _demand_utf8(head: bytes, name: str) -> None:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataError(
            f"{name} begins with the byte order mark of UTF-16, but is read as UTF-8. Pass `encoding='utf-16'`."
        )
    for order, zeros, others in (("le", head[1::2], head[::2]), ("be", head[::2], head[1::2])):
        if len(head) == 4 and zeros == b"\0\0" and 0 not in others:
            raise DataError(f"{name} looks like UTF-16, but is read as UTF-8. Pass `encoding='utf-16-{order}'`.")
