"""CUTS: the third reading, of documents with repeated windows and of copies; tokens are compared, and texts are cut.

The tokens of copies travel to the documents that name them. A segment is divided as `neardup.kernels.repeats.regions` does.
"""

from bisect import bisect_right
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.arrays import Array
from neardup.engines.columns import ascending, beginnings, looked_up
from neardup.engines.packing import ints
from neardup.engines.reading.row_selection import Marks, marked_rows
from neardup.engines.repeats.windows import ends_of_cuts
from neardup.engines.repeats.work import (
    COPIES,
    EDITED,
    PIECE_BYTES,
    RUNS,
    SEGMENTS,
    SENT,
    TEXTS,
    PassageWork,
)
from neardup.engines.stages import Found, Output, Part, Reading, Stage
from neardup.errors import DataError
from neardup.kernels.repeats.regions import ANCHORED, END, Regions, divide_cuts, find_different
from neardup.survivors.repeats.cuts import Cuts
from neardup.survivors.repeats.outcomes import Pieces, cut_pieces
from neardup.survivors.repeats.text_cuts import Span, without_spans
from neardup.survivors.repeats.token_stream import SEPARATOR, Stream
from neardup.text.columns import in_chunks
from neardup.text.segmenters.tokens import Tokens


def reading(marks: Marks) -> Reading:
    """The stage that reads some texts again."""
    return Reading("texts", partial(_read, marks), {"texts": TEXTS})


def _read(marks: Marks, part: Part) -> Found:
    for docs, rows, _ in marked_rows(part, marks):
        yield "texts", pa.table([docs, rows.column("id"), rows.column("text")], TEXTS.schema)


def _table(rows: list[tuple[Any, ...]], output: Output) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else [()] * len(output.schema)
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(columns, output.schema, strict=True)], output.schema
    )


def send(work: PassageWork) -> Stage:
    """The stage that sends tokens to the documents that name them: of what is asked, and texts."""
    return Stage("tokens", partial(_send, work), {"sent": SENT})


def _send(work: PassageWork, asked: pa.Table, texts: pa.Table) -> Found:
    doc, asker, begin, end = ints(asked, "doc", "asker", "place", "end")
    waiting, size = list[tuple[int, int, int, bytes]](), 0
    for number, first, last, stream, tokens in _texts(work, texts, np.unique(doc)):
        for at in range(*np.searchsorted(doc, [number, number + 1])):
            for place, content in _pieces(stream, tokens, first, last, int(begin[at]), int(end[at])):
                waiting.append((int(asker[at]), number, place, content.tobytes()))
                size += len(content)
            if size >= PIECE_BYTES:
                yield "sent", _table(waiting, SENT)
                waiting, size = [], 0
    if waiting:
        yield "sent", _table(waiting, SENT)


def _texts(work: PassageWork, texts: pa.Table, docs: Array) -> Iterator[tuple[int, int, int, Stream, Tokens]]:
    """The tokens of some documents (int64[n], ascending): the document, its first and last piece in a stream, which has those of
    several, and its tokens.
    """
    if not len(docs):
        return
    known, at = looked_up(ints(texts, "doc")[0], docs)
    assert known.all()
    column, done = texts.column("text").combine_chunks().take(pa.array(at)), 0
    for chunk in in_chunks(column):
        stream = work.stream.of(chunk)
        tokens = stream.spans()
        for number in range(len(chunk)):
            first, last = stream.firsts[number : number + 2].tolist()
            yield int(docs[done + number]), first, last, stream, tokens
        done += len(chunk)


def _pieces(stream: Stream, tokens: Tokens, first: int, last: int, begin: int, end: int) -> Iterator[tuple[int, Array]]:
    """The tokens of the places of a document from `begin` to `end`, for each piece of it: the first place, and uint8[]."""
    zero = int(stream.pieces[first])
    for piece in range(first, last):
        before = int(stream.pieces[piece]) - zero + piece - first  # the place of its first token
        count = int(stream.pieces[piece + 1] - stream.pieces[piece])
        low, high = max(begin, before), min(end, before + count)
        if low < high:
            token = int(stream.pieces[piece]) - before
            yield low, token_bytes(tokens, token + low, token + high)


def token_bytes(tokens: Tokens, first: int, last: int) -> Array:
    """uint8[]: some tokens, each with END behind it."""
    starts = tokens.starts[first:last]
    sizes = tokens.ends[first:last] - starts + 1
    stops = np.cumsum(sizes)
    found: Array = tokens.data[np.arange(stops[-1]) + np.repeat(starts - stops + sizes, sizes)]
    found[stops - 1] = END
    return found


class _Stretch(NamedTuple):
    """Tokens at consecutive places."""

    place: int
    content: Array


def _regions(stretches: list[_Stretch]) -> Regions:
    """Stretches of tokens, by place, as the kernels take them."""
    counts, anchors, offsets, size = list[int](), [0], list[Array](), 0
    for stretch in stretches:
        ends = np.flatnonzero(stretch.content == END)
        offsets.append(np.append(0, ends[:-1] + 1)[::ANCHORED] + size)
        counts.append(len(ends))
        anchors.append(anchors[-1] + len(offsets[-1]))
        size += len(stretch.content)
    places = np.array([stretch.place for stretch in stretches], np.int64)
    data = np.concatenate([stretch.content for stretch in stretches])
    return Regions(places, np.array(counts), np.array(anchors), data, np.concatenate([*offsets, [size]]))


def cut(work: PassageWork) -> Stage:
    """The stage that cuts texts: of runs, texts, and the tokens of copies."""
    return Stage("cuts", partial(_cut, work), {"edited": EDITED, "segments": SEGMENTS, "copies": COPIES})


def _cut(work: PassageWork, found: pa.Table, texts: pa.Table, sent: pa.Table) -> Found:
    if not len(found):
        return
    found, sent = (
        found.take(ascending(*ints(found, "doc", "place"))),
        sent.take(ascending(*ints(sent, "copy", "place"))),
    )
    doc, place, count, copy, copy_place = ints(found, *RUNS.schema.names)
    _, end = ends_of_cuts(work.passages.min_tokens, doc, place, count)
    docs, known = np.unique(doc), ints(texts, "doc")[0]
    edges, rows = np.searchsorted(doc, np.append(docs, docs[-1] + 1)), pa.array(np.searchsorted(known, docs))
    own, copies = _own_tokens(work, found, end, texts, docs), _Sent(sent)
    edited, size, segments = list[tuple[Any, ...]](), 0, list[tuple[Any, ...]]()
    ids, pieces = texts.column("id").take(rows), pieces_in(texts.column("text").take(rows), work)
    for at, number in enumerate(docs.tolist()):
        some = slice(edges[at], edges[at + 1])
        divided = _divided(
            work, own.pop(number), copies, *(each[some] for each in (place, count, end, copy, copy_place))
        )
        text, left, of_document = _edited(work, next(pieces), divided)
        if not of_document:
            continue
        edited.append((number, ids[at].as_py(), text, left))
        segments += [(number, *each) for each in of_document]
        size += len(text)
        if size >= PIECE_BYTES:
            yield "edited", _table(edited, EDITED)
            edited, size = [], 0
    if segments:
        yield "edited", _table(edited, EDITED)
        table = _table(segments, SEGMENTS)
        yield "segments", table
        yield "copies", _named(table)


def _own_tokens(
    work: PassageWork, found: pa.Table, end: Array, texts: pa.Table, docs: Array
) -> dict[int, list[_Stretch]]:
    """The tokens of the cuts of each document."""
    doc, place = ints(found, "doc", "place")
    first = np.flatnonzero(beginnings(doc, end))
    doc, place, end = doc[first], place[first], end[first]
    made = dict[int, list[_Stretch]]()
    for number, low, high, stream, tokens in _texts(work, texts, docs):
        some = range(*np.searchsorted(doc, [number, number + 1]).tolist())
        pieces = (each for at in some for each in _pieces(stream, tokens, low, high, int(place[at]), int(end[at])))
        made[number] = [_Stretch(*each) for each in pieces]
    return made


class _Sent:
    """The tokens of copies that came to a bucket, by document and place."""

    def __init__(self, sent: pa.Table) -> None:
        self._copy, self._place = ints(sent, "copy", "place")
        self._tokens = sent.column("tokens").combine_chunks()

    def row(self, copy: int, place: int) -> int:
        """That which has the tokens of a place."""
        first, last = np.searchsorted(self._copy, [copy, copy + 1])
        return int(first + np.searchsorted(self._place[first:last], place, "right")) - 1

    def first(self, row: int) -> int:
        """The first place of a row."""
        return int(self._place[row])

    def content(self, row: int) -> Array:
        """The tokens of a row."""
        return np.frombuffer(self._tokens[row].as_buffer(), np.uint8)


class _Divided(NamedTuple):
    """The cuts of a document and their segments, whose earlier places are others here; and the copies that these are of."""

    found: Cuts
    copies: list[tuple[int, int, int]]

    def copy_of(self, place: int) -> tuple[int, int]:
        """The copy that such a place is of, and its place there."""
        at = bisect_right(self.copies, place, key=lambda each: each[0]) - 1
        begin, copy, first = self.copies[at]
        return copy, first + place - begin


def _divided(
    work: PassageWork,
    own: list[_Stretch],
    sent: _Sent,
    place: Array,
    count: Array,
    end: Array,
    copy: Array,
    copy_place: Array,
) -> _Divided:
    """The cuts of a document by its runs, with segments.

    Tokens of copies get places behind those of the document.

    Raises:
        DataError: the tokens of a window differ from those of its earliest place.
    """
    size, at = work.passages.min_tokens, int(end[-1]) + 1
    firsts = np.full(int(place[-1] + count[-1]), -1, np.int64)
    stretches, begins, copies = list(own), dict[int, int](), list[tuple[int, int, int]]()
    for run in range(len(place)):
        document, earlier = int(copy[run]), int(copy_place[run])
        row = sent.row(document, earlier)
        if row not in begins:
            begins[row], content = at, sent.content(row)
            copies.append((at, document, sent.first(row)))
            stretches.append(_Stretch(at, content))
            at += int(np.count_nonzero(content == END)) + 1
        firsts[place[run] : place[run] + count[run]] = begins[row] + earlier - sent.first(row) + np.arange(count[run])
    regions = _regions(stretches)
    different = np.empty(len(firsts), np.int64)
    if find_different(firsts, 0, size, regions, different):
        raise DataError(
            "Two different passages have equal hashes of 122 bits, which are compared before anything is cut. Give another "
            "`min_tokens`: then all passages have other hashes."
        )
    cuts, segments = (np.empty((len(firsts), width), np.int64) for width in (2, 3))
    m, n = divide_cuts(firsts, 0, size, regions, cuts, segments)
    return _Divided(Cuts(cuts[:m], segments[:n]), copies)


def pieces_in(texts: Any, work: PassageWork) -> Iterator[Pieces]:
    """The columns of each of some texts, whose first place is 0."""
    for chunk in in_chunks(texts.combine_chunks()):
        zeros = np.zeros(len(chunk), np.int64)
        yield from Pieces.of(zeros, chunk, zeros, work.stream).documents(work.stream.columns)


def _edited(work: PassageWork, pieces: Pieces, divided: _Divided) -> tuple[str, int, list[tuple[Any, ...]]]:
    """A text without its cuts, how many tokens it has left, and what is cut: the columns of SEGMENTS but for the document."""
    made, cut = cut_pieces(pieces, divided.found, work.stream, work.passages.align)
    spans: list[list[Span]] = [[] for _ in range(len(pieces))]
    for piece, first, end, is_separated in cut.spans.tolist():
        spans[piece].append(Span(first, end, is_separated > 0))
    texts = map(without_spans, pieces.texts.to_pylist(), spans)
    separated = {(number, span.end) for number, some in enumerate(spans) for span in some if span.is_separated}
    segments = [
        (place, *divided.copy_of(earlier), count, number, first, end, (number, end) in separated)
        for place, earlier, count, number, first, end in made.segments.tolist()
    ]
    return SEPARATOR.join(texts), int(cut.left.sum()), segments


def _named(segments: pa.Table) -> pa.Table:
    """The copies that segments name, each once."""
    place, copy, count = ints(segments, "copy_place", "copy", "tokens")
    order = ascending(copy, place, count)
    first = order[beginnings(copy[order], place[order], count[order])]
    asker = np.full(len(first), segments.column("doc")[0].as_py())
    return pa.table([copy[first], asker, place[first], count[first]], COPIES.schema)
