"""The text of a record: its body without transfer and content encoding, decoded by its charset."""

import codecs
import importlib
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from neardup.errors import OptionError
from neardup.io.checks.likely_encoding import likely_encoding
from neardup.io.formats.warc.records import Record
from neardup.io.storage.encodings import encoding_name

_PAGES = ("text/html", "application/xhtml+xml")
_TEXTS = re.compile(r"text/.*|.*[/+](json|xml|javascript|x-javascript|ecmascript)|application/(x-)?(yaml|ndjson|jsonl)")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_IN_PAGE = re.compile(
    rb"<meta[^>]{0,500}?charset\s*=\s*[\"']?\s*([\w.:-]+)|<\?xml[^>]{0,200}?encoding=[\"']([\w.:-]+)", re.I
)
_LOOKS_LIKE_PAGE = re.compile(rb"\s*(<!doctype\s+html|<html|<head|<body)", re.IGNORECASE)
_HEAD_BYTES = 4096
"""Of a page, to find its charset; the HTML standard asks for 1,024, which many pages exceed."""
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_AS_BROWSERS = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
    "iso8859-9": "cp1254",
    "tis-620": "cp874",
    "utf-16": "utf-16-le",
}
"""Encodings that browsers take for larger ones, as servers name them wrongly."""
_REPLACED = "\ufffd"


class NotTextError(Exception):
    """A record has no text that can be read; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Body:
    """The body of a record.

    Attributes:
        data: its bytes, without encoding for the transfer.
        kind: its media type in lower case, without parameters; None if none is declared.
        charset: the declared charset; None without one.
        status: of an HTTP response.
    """

    data: bytes
    kind: str | None
    charset: str | None
    status: int | None


def body_of(record: Record, limit: int) -> Body:
    """The body of a record, of at most so many bytes.

    Raises:
        NotTextError: the record has none, or a damaged one.
    """
    declared = record.get("content-type")
    if record.kind == "revisit":
        raise NotTextError("it is a revisit, whose page stands in another record")
    if cut := record.get("warc-truncated"):
        raise NotTextError(f"it is truncated ({cut})")
    if record.get("warc-segment-number"):
        raise NotTextError("it is a segment of a record")
    if record.kind != "response" or (declared or "").lower().startswith("text/dns"):
        return Body(record.block, _kind(declared), _charset(declared), None)
    status, headers, data = _http(record.block)
    if "chunked" in headers.get("transfer-encoding", "").lower():
        data = _joined_chunks(data)
    for name in reversed(headers.get("content-encoding", "").lower().split(",")):
        if name.strip() in _DECODERS:
            data = _DECODERS[name.strip()](data, limit)
        elif name.strip() not in ("", "identity", "none", "utf-8"):
            raise NotTextError(f"its content encoding is unknown ({name.strip():.40})")
    declared = headers.get("content-type") or record.get("warc-identified-payload-type")
    return Body(data, _kind(declared), _charset(declared), status)


def text_of(body: Body) -> tuple[str, bool]:
    """The text of a body, and whether it is a page of HTML.

    Raises:
        NotTextError: it is no text.
    """
    kind = body.kind
    if kind is None and (not body.data or _LOOKS_LIKE_PAGE.match(body.data)):
        kind = _PAGES[0]
    if kind is None:
        raise NotTextError("it declares no content type")
    is_page = kind in _PAGES
    if not is_page and not _TEXTS.fullmatch(kind):
        raise NotTextError(f"it is not text ({kind:.60})")
    return _decoded(body), is_page


def _kind(declared: str | None) -> str | None:
    return (declared or "").partition(";")[0].strip().lower() or None


def _charset(declared: str | None) -> str | None:
    found = _CHARSET.search(declared or "")
    return found[1] if found else None


def _http(block: bytes) -> tuple[int | None, Mapping[str, str], bytes]:
    """Status, headers and body of an HTTP response; names of headers are in lower case."""
    if not block.startswith(b"HTTP/"):
        raise NotTextError("it is no HTTP response")
    end = re.search(rb"\r?\n\r?\n", block)
    if end is None:
        raise NotTextError("the head of its HTTP response does not end")
    head, data = block[: end.start()], block[end.end() :]
    first, *lines = re.split(r"\r?\n", head.decode("latin-1"))
    code = first.split(" ", 2)[1:2]
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            headers.setdefault(name.strip().lower(), value.strip())
    return int(code[0]) if code and re.fullmatch(r"[0-9]{3}", code[0]) else None, headers, data


def _joined_chunks(data: bytes) -> bytes:
    """The body of chunks; some archives have joined them already."""
    found: list[bytes] = []
    at = 0
    while True:
        end = data.find(b"\r\n", at, at + 1000)
        size = data[at:end].partition(b";")[0].strip()
        if end < 0 or not re.fullmatch(rb"[0-9a-fA-F]{1,12}", size):
            if not at:
                return data
            raise NotTextError("its chunks are damaged, or end too early")
        begin, at = end + 2, end + 2 + int(size, 16)
        if begin == at:
            return b"".join(found)
        if data[at : at + 2] != b"\r\n":
            if not found:
                return data
            raise NotTextError("its chunks are damaged, or end too early")
        found.append(data[begin:at])
        at += 2


def _inflated(data: bytes, limit: int, bits: tuple[int, ...], begins: bytes = b"") -> bytes:
    """Decompressed bytes; some archives have decompressed them already."""
    if not data or not data.startswith(begins):
        return data
    for wbits in bits:
        stream = zlib.decompressobj(wbits)
        try:
            found = stream.decompress(data, limit + 1)
        except zlib.error as error:
            problem = str(error)
            continue
        if len(found) > limit:
            raise NotTextError(f"its body is longer when decompressed than `max_document_bytes` ({limit:,})")
        if not stream.eof:
            raise NotTextError("its compressed body ends too early")
        return found
    raise NotTextError(f"its compressed body is damaged ({problem})")


def _unzipped(data: bytes, limit: int) -> bytes:
    return _inflated(data, limit, (31,), b"\x1f\x8b")


def _undeflated(data: bytes, limit: int) -> bytes:
    return _inflated(data, limit, (15, -15))


def _unbrotlied(data: bytes, limit: int) -> bytes:
    try:
        brotli: Any = importlib.import_module("brotli")
    except ImportError:
        raise NotTextError("its body is compressed by Brotli, which needs pip install 'neardup[warc]'") from None
    stream, found = brotli.Decompressor(), []
    left = limit
    try:
        while True:
            part = stream.process(data, output_buffer_limit=1 << 20)
            found.append(part)
            left -= len(part)
            if left < 0:
                raise NotTextError(f"its body is longer when decompressed than `max_document_bytes` ({limit:,})")
            if stream.is_finished():
                return b"".join(found)
            if stream.can_accept_more_data() and not part:
                raise NotTextError("its compressed body ends too early")
            data = b""
    except brotli.error:
        raise NotTextError("its compressed body is damaged") from None


_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _unzipped,
    "x-gzip": _unzipped,
    "deflate": _undeflated,
    "br": _unbrotlied,
}


def _decoded(body: Body) -> str:
    """The text by its mark, its declared charset or that of the page, or else as it looks; as browsers read it."""
    data = body.data
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace")
    declared = body.charset
    if declared is None and (found := _IN_PAGE.search(data[:_HEAD_BYTES])):
        declared = (found[1] or found[2]).decode()
        if declared.lower().startswith("utf-16"):  # it would not have been found
            declared = "utf-8"
    encoding = _encoding(declared)
    if b"\0" in data and not (encoding or "").startswith(("utf-16", "utf-32")):
        raise NotTextError("it is not text (it has zero bytes)")
    for name in dict.fromkeys((encoding or "utf-8", "utf-8")):
        try:
            return data.decode(name)
        except UnicodeError:
            continue
    return data.decode(encoding or _AS_BROWSERS.get(likely := likely_encoding(data) or "cp1252", likely), "replace")


def _encoding(declared: str | None) -> str | None:
    """The encoding of a declared charset; None if Python knows none."""
    if declared is None:
        return None
    try:
        name = encoding_name(declared)
    except OptionError:
        return None
    return None if name == "utf-7" else _AS_BROWSERS.get(name, name)
