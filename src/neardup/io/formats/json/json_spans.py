"""Find the texts within a line of JSON lines. The lines were read before, so they are known to be valid."""

import json
import re
from collections.abc import Iterator, Sequence

Span = tuple[int, int]

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_OTHER = re.compile(rb"[^,\]}\s]+")
_BRACKET = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]', re.DOTALL)
_SPACE = re.compile(rb"[ \t\r\n]*")


def text_spans(line: bytes, names: Sequence[str]) -> list[Span]:
    """Start and end of each column's string, including its quotes; see `neardup.io.formats.json.json_rows.look_up`."""
    return [_look_up(line, name) for name in names]


def _look_up(line: bytes, name: str) -> Span:
    found = _follow(line, [name])
    if "." in name and (found is None or line[found[0] : found[1]] == b"null"):
        found = _follow(line, name.split("."))
    if found is None:
        raise RuntimeError(f"column {name!r} was there when the row was read")
    return found


def _follow(line: bytes, keys: Sequence[str]) -> Span | None:
    start, end = _SPACE.match(line).end(), len(line)  # type: ignore[union-attr]
    for key in keys:
        found = line.startswith(b"{", start) and next(
            (span for name, span in _members(line, start) if name == key), None
        )
        if not found:
            return None
        start, end = found
    return start, end


def _members(line: bytes, start: int) -> Iterator[tuple[str, Span]]:
    """The keys of the object that begins at `start`, and the spans of their values."""
    at = _after_space(line, start + 1)
    while line[at] != ord("}"):
        key = _STRING.match(line, at)
        at = _after_space(line, key.end())  # type: ignore[union-attr]
        begin = _after_space(line, at + 1)  # after the colon
        end = _end_of_value(line, begin)
        yield json.loads(key[0]), (begin, end)  # type: ignore[index]
        at = _after_space(line, end)
        if line[at] == ord(","):
            at = _after_space(line, at + 1)


def _after_space(line: bytes, at: int) -> int:
    return _SPACE.match(line, at).end()  # type: ignore[union-attr]


def _end_of_value(line: bytes, at: int) -> int:
    """The end of the value at `at`; not recursive, because values may be nested deeply."""
    if line[at] not in b"[{":
        return (_STRING if line[at] == ord('"') else _OTHER).match(line, at).end()  # type: ignore[union-attr]
    depth = 0
    for token in _BRACKET.finditer(line, at):
        if token[0] in (b"[", b"{"):
            depth += 1
        elif token[0] in (b"]", b"}"):
            depth -= 1
            if depth == 0:
                return token.end()
    raise RuntimeError("the row was whole when it was read")
