"""Rows and fields of delimited text (CSV, TSV), quotes and escapes heeded. A character that a dialect lacks is -1.

What a field is: a quote counts only at a field's beginning; in a quoted field a doubled quote is one, and so is an escaped
one; anything between a closing quote and the next delimiter makes the row odd. A row ends with a newline outside quotes; a
carriage return before it belongs to it.
"""

from neardup.kernels.compilation import kernel

BEGIN, PLAIN, QUOTED, CLOSED, ESCAPED, QUOTED_ESCAPED = range(6)
"""Where in a row a byte is; `split_rows` goes on from there."""

WHOLE, UNQUOTED, QUOTES, ESCAPES = range(4)
"""What a field is: as it stands; without its quotes; quoted with something to unfold; plain with something to unfold."""

FINE, AFTER_QUOTE, UNCLOSED = range(3)
"""What is odd about a row."""

_NEWLINE, _RETURN = 10, 13


@kernel
def split_rows(data, state, delimiter, quote, escape, ends):
    """Write to `ends` (int64[newlines]) where rows end in `data` (uint8[]), at newlines.

    Returns their number, the state at the end, and where the last quoted field begins, -1 if none does.
    """
    n, found, i, opened = len(data), 0, 0, -1
    while i < n:
        byte = data[i]
        if state == QUOTED:
            while byte != quote and byte != escape:
                i += 1
                if i == n:
                    return found, state, opened
                byte = data[i]
            state = CLOSED if byte == quote else QUOTED_ESCAPED
        elif state == ESCAPED:
            state = PLAIN
        elif state == QUOTED_ESCAPED:
            state = QUOTED
        elif byte == _NEWLINE:
            ends[found] = i
            found += 1
            state = BEGIN
        elif byte == delimiter:
            state = BEGIN
        elif byte == escape:
            state = ESCAPED
        elif byte == quote and (state in (BEGIN, CLOSED)):
            if state == BEGIN:
                opened = i
            state = QUOTED
        else:
            state = PLAIN
        i += 1
    return found, state, opened


@kernel
def find_fields(data, starts, ends, delimiter, quote, escape, slots, spans, kinds, counts, odd):
    """Find fields of rows `data[starts[r]:ends[r]]`.

    `slots` (int64[columns]) has for each column its place k in `spans` (int64[rows, k, 2]: begin and end of what the field
    holds) and `kinds` (uint8[rows, k]), or -1. `counts` (int64[rows]) gets the number of fields, `odd` (uint8[rows]) what is
    odd about the row.
    """
    for r in range(len(starts)):
        i, end = starts[r], ends[r]
        column, more = 0, True
        odd[r] = FINE
        while more:
            slot = slots[column] if column < len(slots) else -1
            kind, begin, last = WHOLE, i, i
            if i < end and data[i] == quote:
                kind, begin = UNQUOTED, i + 1
                i += 1
                closed = False
                while i < end and not closed:
                    if data[i] == escape:
                        kind = QUOTES
                        i += 2
                    elif data[i] != quote:
                        i += 1
                    elif i + 1 < end and data[i + 1] == quote:
                        kind = QUOTES
                        i += 2
                    else:
                        closed = True
                last = min(i, end)
                if not closed:
                    odd[r] = UNCLOSED
                i += 1
                while i < end and data[i] != delimiter:
                    if not (data[i] == _RETURN and i + 1 == end):
                        odd[r] = AFTER_QUOTE
                    i += 2 if data[i] == escape else 1
            else:
                escaped = False
                while i < end and data[i] != delimiter:
                    escaped = data[i] == escape
                    if escaped:
                        kind = ESCAPES
                    i += 2 if escaped else 1
                if i > end:
                    odd[r] = UNCLOSED
                last = min(i, end)
                if i == end and last > begin and data[last - 1] == _RETURN and not escaped:
                    last -= 1
            if slot >= 0:
                spans[r, slot, 0], spans[r, slot, 1], kinds[r, slot] = begin, last, kind
            column += 1
            more = i < end
            i += 1
        counts[r] = column


@kernel
def unfold_fields(data, spans, kinds, usable, quote, escape, out, offsets):
    """Write what fields hold one after another to `out` (uint8[]); field f is then out[offsets[f]:offsets[f + 1]].

    int64[rows, 2], uint8[rows], bool[rows] (others are left empty), int64[rows + 1].
    """
    size = 0
    offsets[0] = 0
    for r in range(len(kinds)):
        if usable[r]:
            i, end, kind = spans[r, 0], spans[r, 1], kinds[r]
            if kind <= UNQUOTED:
                for j in range(i, end):
                    out[size + j - i] = data[j]
                size += end - i
            else:
                while i < end:
                    if data[i] == escape or (kind == QUOTES and data[i] == quote):
                        i += 1
                    if i < end:
                        out[size] = data[i]
                        size += 1
                    i += 1
        offsets[r + 1] = size
