"""BODIES: read within the limits, and decoded; whole, or line by line as they come.

Documents are checked before the store has them. Their metadata stays JSON: decoded, it may take 24 times its bytes.
"""

import asyncio
import codecs
import functools
import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET
from starlette.requests import Request
from starlette.types import Message, Receive

from neardup.display import size_text
from neardup.errors import OptionError
from neardup.io.formats.json.json_values import unique_members
from neardup.service.admission import Held
from neardup.service.limits import METADATA_BYTES, Limits
from neardup.service.messages.messages import Document, GivenDocument, encode
from neardup.service.problems import Problem
from neardup.store.arguments import seconds_of, time_of

T = TypeVar("T")
JSON = "application/json"
LINES = "application/x-ndjson"
_LINES = (LINES, "application/ndjson", "application/jsonl")

MANY_BYTES = 256 << 10
"""Bytes of JSON from which on decoding takes some milliseconds."""
_HALF = rb"u[dD]%s[0-9a-fA-F]{2}"
_ESCAPE = re.compile(
    rb"\\(?:%s\\%s|(?P<lone>%s)|.)" % (_HALF % b"[89abAB]", _HALF % b"[c-fC-F]", _HALF % b"[89a-fA-F]")
)
"""An escape of JSON: a pair of surrogates, half of one, or another."""
_ID = re.compile(rb'"id"\s*:\s*"((?:[^"\\]|\\.)*)"')


@functools.cache
def decoder_of(kind: Any) -> msgspec.json.Decoder[Any]:
    """What decodes JSON to a type."""
    return msgspec.json.Decoder(kind)


def media_type(request: Request) -> str:
    """`JSON` or `LINES`.

    Raises:
        Problem: the body is said to be something else, or is compressed.
    """
    given = request.headers.get("content-type", "")
    kind, _, parameters = given.partition(";")
    kind = kind.strip().lower()
    charset = parameters.strip().lower().removeprefix("charset=").strip('"')
    if charset not in ("", "utf-8") or kind not in (JSON, *_LINES):
        raise Problem(
            "unsupported_media_type",
            f"Content-Type: {given[:80]!r}. Give {JSON}, or {LINES} where a route takes lines.",
        )
    encoding = request.headers.get("content-encoding", "identity")
    if encoding.strip().lower() != "identity":
        raise Problem("unsupported_media_type", f"Content-Encoding: {encoding[:80]!r}. Send the body as it is.")
    return LINES if kind in _LINES else JSON


async def read_whole(request: Request, limits: Limits, held: Held) -> bytes:
    """The body of a request.

    Raises:
        Problem: it is too large, or comes too slowly.
    """
    length = request.headers.get("content-length")
    if length is not None and length.isdecimal() and int(length) > limits.max_body:
        raise _too_large("body", limits)
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(limits.timeout):
            while True:
                message = await request.receive()
                part = _body_of(message)
                if part:
                    size += len(part)
                    if size > limits.max_body:
                        raise _too_large("body", limits)
                    held.add(len(part))
                    parts.append(part)
                if not message.get("more_body", False):
                    return parts[0] if len(parts) == 1 else b"".join(parts)
    except TimeoutError:
        raise _too_slow(f"The body did not come within {limits.timeout:g} s.") from None


def decode(body: bytes, kind: Any, what: str = "body", *, is_part: bool = False) -> Any:
    """The value that a body, or a line, has; or a part of one, whose keys were looked at with all others.

    Raises:
        Problem: it is no JSON, or of another type; or an object in it has a key twice.
    """
    if what == "body":
        body = body.removeprefix(codecs.BOM_UTF8)
    try:
        try:
            found = decoder_of(kind).decode(body)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:
            if (repaired := _without_lone_surrogates(body)) == body:
                raise
            found = decoder_of(kind).decode(repaired)
        if not is_part:
            _KEYS.decode(body.decode())
        return found
    except msgspec.ValidationError as problem:
        raise Problem("invalid_value", f"The {what} is not what is taken here: {problem}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as problem:
        said = "it is nested too deeply" if isinstance(problem, RecursionError) else str(problem)
        raise Problem("invalid_json", f"The {what} is not JSON in UTF-8: {said}.") from None
    except ValueError as problem:
        raise Problem("invalid_value", f"The {what} cannot be taken: {problem}. Give each key once.") from None


def _without_lone_surrogates(body: bytes) -> bytes:
    """JSON with U+FFFD for each escaped half of a surrogate pair, as of an emoji that was cut in two, in all but ids.

    Raises:
        Problem: there is one in an id: ids that differ would become the same.
    """
    repaired = _ESCAPE.sub(_repaired, body)
    for given in _ID.finditer(body) if repaired != body else ():
        if _ESCAPE.sub(_repaired, given[1]) != given[1]:
            shown = given[1][:80].decode("utf-8", "replace")
            raise Problem("invalid_value", f'The id "{shown}" has half of a surrogate pair. Give another id.')
    return repaired


def _repaired(escape: re.Match[bytes]) -> bytes:
    return rb"\ufffd" if escape["lone"] else escape[0]


async def decoded(bodies: Sequence[bytes], decodes: Callable[[], T]) -> T:
    """What `decodes` makes of bodies, or lines; of many bytes on another thread, so that other requests do not wait."""
    return decodes() if sum(map(len, bodies)) < MANY_BYTES else await asyncio.to_thread(decodes)


def _members(pairs: list[tuple[str, Any]]) -> None:
    """Refuse (ValueError) an object that has a key twice, and keep nothing of it."""
    if len(dict(pairs)) < len(pairs):
        unique_members(pairs)


_KEYS = json.JSONDecoder(object_pairs_hook=_members, parse_float=len, parse_int=len)
"""Looks at the keys of JSON: msgspec takes the last of equal ones."""


async def read_lines(receive: Receive, limits: Limits, held: Held) -> AsyncIterator[list[bytes]]:
    """The lines of a body, as many as have come at a time; empty lines are left out.

    `held` has the bytes of each line until who takes the line releases them. The list is to be emptied, too: it would keep its
    lines while the next ones are awaited.

    Raises:
        Problem: a line is too large, or comes too slowly.
    """
    unfinished: list[bytes] = []
    size = 0
    more, is_first = True, True
    while more:
        try:
            async with asyncio.timeout(limits.timeout):
                message = await receive()
        except TimeoutError:
            raise _too_slow(f"Nothing more of the body came for {limits.timeout:g} s.") from None
        part, more = _body_of(message), message.get("more_body", False)
        held.add(len(part))
        first, *others = part.split(b"\n")
        unfinished.append(first)
        size += len(first)
        if size > limits.max_body:
            raise _too_large("line", limits)
        if others or not more:
            whole = [b"".join(unfinished), *others]
            unfinished = [whole.pop()] if more else []
            if is_first and whole:
                whole[0], is_first = whole[0].removeprefix(codecs.BOM_UTF8), False
            lines = [line for line in whole if line.strip()]
            whole.clear()
            begun, size = size + len(part) - len(first), sum(map(len, unfinished))
            held.release(begun - size - sum(map(len, lines)))  # ends of lines, and empty ones
            yield lines


def _body_of(message: Message) -> bytes:
    if message["type"] == "http.disconnect":
        raise Problem("request_timeout", "The connection ended within the body.")
    body: bytes = message.get("body", b"")
    return body


def _too_large(what: str, limits: Limits) -> Problem:
    return Problem(
        "too_large",
        f"The {what} has more than {size_text(limits.max_body)} (--max-body {limits.max_body}). Send less at a time.",
        {"Connection": "close"},  # the rest of the body is dropped
    )


def _too_slow(said: str) -> Problem:
    return Problem("request_timeout", f"{said} Send it faster.", {"Connection": "close"})


def documents_of(given: Sequence[GivenDocument], first: int = 0) -> list[Document]:
    """Documents to add. `first`: the place of the first one in its request.

    Raises:
        Problem: the metadata of one is too large, or no JSON; or it expires at no time.
    """
    return [_document(each, first + place) for place, each in enumerate(given)]


def _document(given: GivenDocument, place: int) -> Document:
    try:
        if given.expires is not None:
            time_of("expires", given.expires)
        ttl = UNSET if given.ttl is None else seconds_of("ttl", given.ttl)
    except OptionError as problem:
        raise Problem("invalid_value", f"Document {place} (counted from 0): {problem}") from None
    return Document(given.id, given.text, _metadata(given.metadata, place), given.expires, ttl)


def _metadata(given: msgspec.Raw, place: int) -> msgspec.Raw | None:
    """The metadata of a document, written in one way, so that equal values have equal bytes; None if there is none."""
    said = bytes(given)
    if not said:
        return None
    if len(said) > METADATA_BYTES:
        raise Problem(
            "too_large",
            f"The metadata of document {place} (counted from 0) has {size_text(len(said))}; at most {size_text(METADATA_BYTES)} "
            "are taken. Keep the rest elsewhere, under the id.",
        )
    value = decode(said, object, f"metadata of document {place} (counted from 0)", is_part=True)
    return None if value is None else msgspec.Raw(encode(value))
