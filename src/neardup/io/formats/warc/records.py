"""The records of a WARC file: each is found by its declared length, and a damaged stretch counts as one record.

Rows are the records that hold a document or should: responses, conversions, revisits, resources that are no logs of the crawler,
and damaged stretches.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from neardup.io.corpora.shard import Shard
from neardup.io.formats.lines import too_long
from neardup.io.formats.warc.members import DamageError, GzipMembers, open_members
from neardup.io.storage.refusals import damaged

DOCUMENTS = frozenset(("response", "resource", "conversion", "revisit"))
"""Types of records that are rows."""
_OTHERS = frozenset(("warcinfo", "request", "metadata", "continuation"))
_MAX_HEAD_BYTES = 1 << 17
_BEGIN, _BLANK = b"WARC/", b"\r\n\r\n"
_NEXT = re.compile(rb"\n(?=WARC/[0-9])")

Wanted = Callable[[int | None], bool]
"""Says of a row, or of None for a record that is no row, whether its bytes are needed."""


@dataclass(frozen=True, slots=True)
class Record:
    """A record, or a damaged stretch.

    Attributes:
        row: its number among the rows; None for records that are none.
        position: bytes of the file that had been read when it was found.
        headers: by their names in lower case.
        head: the headers as stored, with the empty line; empty if it is damaged.
        block: what the headers describe; empty if it is not wanted.
        tail: what ends the record.
        span: where it begins and ends in the file, if it can be copied from there.
        problem: why it cannot be read; None if it can.
    """

    row: int | None
    position: int
    headers: Mapping[str, str] = field(default_factory=dict)
    head: bytes = b""
    block: bytes = b""
    tail: bytes = b""
    span: tuple[int, int] | None = None
    problem: str | None = None

    @property
    def kind(self) -> str:
        """Its type, such as `response`."""
        return self.headers.get("warc-type", "").lower()

    def get(self, name: str) -> str | None:
        """A header; None if it is missing or empty."""
        return self.headers.get(name) or None

    @property
    def uri(self) -> str | None:
        """What was fetched; some writers put it in angle brackets."""
        found = self.get("warc-target-uri")
        return found.removeprefix("<").removesuffix(">") if found else None


def read_records(shard: Shard, wanted: Wanted = lambda _: True) -> Iterator[Record]:
    """All records of a file in order.

    Raises:
        InputError: it cannot be opened.
        DataError: it has changed since it was found, or nobody knows how many records are lost.
    """
    reader = _Reader(shard, wanted)
    try:
        yield from reader.records()
    finally:
        reader.close()


class _Reader:
    def __init__(self, shard: Shard, wanted: Wanted) -> None:
        self._shard, self._wanted = shard, wanted
        self._source = open_members(shard)
        self._data, self._base = bytearray(), 0  # what was read and is needed, and its place in the decompressed file
        self._starts: dict[int, int] = {}  # where members begin: decompressed, and in the file
        self._damage: tuple[int, DamageError] | None = None  # of the last member, which begins at this place
        self._row = self._alone = 0
        self._has_together = self._has_skipped = False

    def close(self) -> None:
        self._source.close()

    def records(self) -> Iterator[Record]:
        while True:
            try:
                if not self._skip_newlines():
                    return
                record = self._next()
            except DamageError as damage:
                record = Record(self._row, self._source.position, problem=f"the record is damaged: {damage}")
                self._skip_damage(str(damage))
            self._row += record.row is not None
            yield record

    def _fill(self, size: int) -> bool:
        """Have at least so many bytes; whether there are so many before the end, or before a later member that is damaged.

        Raises:
            DamageError: the member in which the bytes begin is damaged.
        """
        while len(self._data) < size:
            if self._damage is not None:
                place, damage = self._damage
                if self._base >= place:
                    raise damage
                return False
            try:
                chunk = self._source.chunk()
            except DamageError as damage:
                self._damage = self._place_of_member(), damage
                continue
            if chunk is None:
                return False
            if chunk.start is not None:
                self._starts[self._base + len(self._data)] = chunk.start
            self._data += chunk.data
        return True

    def _place_of_member(self) -> int:
        """Where the last member begins in the decompressed file, or in what is left of it."""
        assert isinstance(self._source, GzipMembers)
        if not self._source.is_begun:
            place = self._base + len(self._data)
            self._starts[place] = self._source.member
            return place
        return next((place for place, start in self._starts.items() if start == self._source.member), self._base)

    def _drop(self, size: int) -> None:
        del self._data[:size]
        self._base += size
        if len(self._starts) > 1:
            self._starts = {place: start for place, start in self._starts.items() if place >= self._base}

    def _skip_newlines(self) -> bool:
        """Go to the next byte of a record; whether there is one."""
        while self._fill(1):
            if self._data[0] not in b"\r\n":
                return True
            self._drop(1)
        return False

    def _next(self) -> Record:
        is_alone = self._base in self._starts
        self._has_together |= not is_alone and self._shard.compression == "gzip"
        if self._has_together and self._has_skipped:
            raise self._lost("a member of several records is damaged")
        size = self._head_size()
        head = bytes(self._data[:size])
        headers = _headers(head)
        kind, length = headers.get("warc-type", "").lower(), headers.get("content-length", "")
        if kind not in DOCUMENTS | _OTHERS:
            raise DamageError(f"its type is {kind!r:.40}")
        if not (length.isascii() and length.isdigit()) or len(length) > 18:
            raise DamageError("its length is missing")
        row = self._row if kind in DOCUMENTS and not _is_about_archive(kind, headers) else None
        if int(length) > self._shard.max_document_bytes:
            return self._overlong(row, headers, size + int(length))
        end = size + int(length)
        if not self._fill(end):
            raise DamageError("the file ends within it")
        tail = self._tail(end)
        block = bytes(self._data[size:end]) if self._wanted(row) else b""
        span = self._span(end + len(tail))
        self._alone += is_alone and span is not None
        self._drop(end + len(tail))
        return Record(row, self._source.position, headers, head, block, tail, span)

    def _head_size(self) -> int:
        searched = 0
        while (found := self._data.find(_BLANK, searched)) < 0:
            searched = max(0, len(self._data) - len(_BLANK) + 1)
            if not (self._data.startswith(_BEGIN) or _BEGIN.startswith(self._data)):
                break
            if len(self._data) > _MAX_HEAD_BYTES:
                raise DamageError("its headers do not end")
            if not self._fill(len(self._data) + 1):
                raise DamageError("the file ends within it")
        if not self._data.startswith(_BEGIN):
            raise DamageError("it does not begin with WARC/")
        return found + len(_BLANK)

    def _tail(self, end: int) -> bytes:
        """What follows a block: two newlines, or fewer at the end of the file; also compares the checksum of its member."""
        self._fill(end + len(_BLANK) + 1)
        limit = min(
            (place - self._base for place in self._starts if place >= self._base + end), default=len(self._data)
        )
        tail = bytes(self._data[end : min(end + len(_BLANK), limit)])
        if not _BLANK.startswith(tail):
            raise DamageError("it does not have the length that it declares")
        return tail

    def _span(self, size: int) -> tuple[int, int] | None:
        """Where the next `size` bytes lie in the file."""
        begin, end = self._base, self._base + size
        if self._shard.compression == "plain":
            return begin, end
        if begin not in self._starts or (end not in self._starts and len(self._data) > size):
            return None
        if any(begin < place < end for place in self._starts):
            return None  # a record in several members
        return self._starts[begin], self._starts.get(end, self._source.position)

    def _overlong(self, row: int | None, headers: Mapping[str, str], left: int) -> Record:
        """Skip a record that is too long to be held."""
        begin, start = self._base, self._starts.get(self._base)
        while left:
            if not self._fill(1):
                raise self._lost("it ends within a record that is too long to be read")
            step = min(left, len(self._data))
            self._drop(step)
            left -= step
        try:
            tail = self._tail(0)
        except DamageError as damage:
            raise self._lost(str(damage)) from None
        end, span = self._base + len(tail), None
        if self._shard.compression == "plain":
            span = begin, end
        elif start is not None and (end in self._starts or len(self._data) == len(tail)):
            span = start, self._starts.get(end, self._source.position)
        self._drop(len(tail))
        return Record(row, self._source.position, headers, span=span, problem=too_long(self._shard))

    def _lost(self, reason: str) -> Exception:
        return damaged(self._shard.name, "WARC", reason)

    def _skip_damage(self, reason: str) -> None:
        """Go behind a damaged record, to the next one or to the end of the file.

        Raises:
            DataError: nobody knows how many records are lost.
        """
        if self._base not in self._starts and self._shard.compression == "gzip":
            self._has_together = True
        try:
            self._to_next_begin()
        except DamageError:
            assert isinstance(self._source, GzipMembers)
            self._base, self._data, self._starts, self._damage = self._base + len(self._data), bytearray(), {}, None
            self._has_skipped = True
            has_more = self._source.skip_damage()
            if self._has_together or not (has_more or self._alone):
                raise self._lost(reason) from None

    def _to_next_begin(self) -> None:
        """Go to the next member, or to the next line that begins as a record does.

        Raises:
            DamageError: this member is damaged.
        """
        if self._damage is not None and self._base >= self._damage[0]:
            raise self._damage[1]
        while True:
            found = _NEXT.search(self._data, 1)
            places = [place - self._base for place in self._starts if place > self._base]
            if found or places:
                self._drop(min([*places, *([found.end()] if found else [])]))
                return
            self._drop(max(0, len(self._data) - len(_BEGIN) - 2))
            if not self._fill(len(self._data) + 1):
                self._drop(len(self._data))
                return


def _is_about_archive(kind: str, headers: Mapping[str, str]) -> bool:
    """Whether a resource is a log of the crawler, as wget and Browsertrix add them."""
    return kind == "resource" and headers.get("warc-target-uri", "").lstrip("<").startswith(("metadata:", "urn:"))


def _headers(head: bytes) -> dict[str, str]:
    """Headers by their names in lower case; the first of several counts, and a line that begins with a space goes on."""
    found: dict[str, str] = {}
    last = ""
    for line in head.decode("utf-8", "replace").split("\r\n")[1:]:
        if line[:1] in (" ", "\t") and last:
            found[last] += " " + line.strip()
            continue
        name, colon, value = line.partition(":")
        if colon:
            last = name.strip().lower()
            found.setdefault(last, value.strip())
    return found
