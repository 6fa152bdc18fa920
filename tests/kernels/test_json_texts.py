"""Parts of texts removed from rows of JSON lines, against Python's own parser."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.io.formats.json.json_values import quote
from neardup.kernels.io.json_texts import ODD, cut_rows

TEXTS = st.text(
    st.sampled_from(['"', "\\", "/", "\n", "\t", "\x00", "\x1f", "\x7f", "a", "é", "天", "😀", " ", ",", "{", "]"])
    | st.characters(exclude_categories=["Cs"]),
    max_size=30,
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
NAMES = ("text", "größe")


def cut(rows, kept, spans, names=NAMES):
    """What `cut_rows` writes of rows (bytes), or ODD."""
    data = np.frombuffer(b"".join(rows), np.uint8)
    sizes = np.array([len(row) for row in rows], np.int64)
    ends = np.cumsum(sizes)
    keys = [name.encode() for name in names]
    working, out = np.empty((2, len(keys)), np.int64), np.empty(len(data), np.uint8)
    size = cut_rows(
        data, ends - sizes, ends, np.array(kept, np.bool_), 5, np.array(spans, np.int64).reshape(-1, 5),
        np.frombuffer(b"".join(keys), np.uint8), np.cumsum([len(key) for key in keys]), *working, out,
    )  # fmt: skip
    return ODD if size == ODD else out[:size].tobytes()


@st.composite
def rows_with_spans(draw):
    rows, kept, spans, expected = [], [], [], []
    for number in range(draw(st.integers(0, 4))):
        fields = draw(st.dictionaries(st.text(max_size=3).filter(lambda name: name not in NAMES), VALUES, max_size=3))
        fields |= {name: draw(TEXTS) for name in NAMES}
        how = {"ensure_ascii": draw(st.booleans()), "separators": draw(st.sampled_from([(",", ":"), (" ,\t", "  : ")]))}
        items = list(draw(st.permutations(list(fields.items()))))
        parts, rest = [], []
        is_kept = draw(st.booleans()) or draw(st.booleans())
        for name, value in items:
            key, stored = (json.dumps(each, ensure_ascii=how["ensure_ascii"]) for each in (name, value))
            if name in NAMES:
                key = f'"{name}"'
            parts.append(key + how["separators"][1] + stored)
            if name in NAMES and value:
                column = NAMES.index(name)
                edges = sorted(draw(st.sets(st.integers(0, len(value)), max_size=6)))
                mine = [(a, b, draw(st.integers(0, 1))) for a, b in zip(edges[::2], edges[1::2], strict=False)]
                spans += [(number + 5, column, *span) for span in mine]
                if mine:
                    left = "".join(
                        value[end:first] + " " * (k < len(mine) and mine[k][2])
                        for k, (end, first) in enumerate(zip([0, *(b for _, b, _ in mine)], [*(a for a, _, _ in mine), len(value)], strict=True))
                    )  # fmt: skip
                    stored = quote(left)
            rest.append(key + how["separators"][1] + stored)
        end = draw(st.sampled_from(["\n", "\r\n"]))
        for made in (parts, rest):
            made[:] = [" {" + how["separators"][0].join(made) + "} " + end]
        rows.append(parts[0].encode())
        kept.append(is_kept)
        expected.append(rest[0].encode() if is_kept else b"")
    return rows, kept, sorted(spans), b"".join(expected)


@given(rows_with_spans())
def test_a_row_keeps_every_byte_but_those_of_the_texts_that_are_cut(drawn):
    rows, kept, spans, expected = drawn
    found = cut(rows, kept, spans)
    has_backslash = any(b"\\" in row for row in rows)
    assert found == expected or (found == ODD and has_backslash)


def test_escaped_characters_count_as_one_and_are_written_as_json_requires():
    row = rb'{"n": [1, {"text": "x"}, "]"], "text": "a\u00e9\ud83d\ude00\/\u0022\u000a\u001f\u007fz"}'
    assert json.loads(row)["text"] == 'aé😀/"\n\x1f\x7fz'
    assert cut([row], [True], [(5, 0, 0, 1, 1)]) == (
        b'{"n": [1, {"text": "x"}, "]"], "text": " \xc3\xa9\xf0\x9f\x98\x80/\\"\\n\\u001f\x7fz"}'
    )
    assert cut([row], [True], [(5, 0, 1, 3, 0), (5, 0, 8, 9, 0)]) == (
        b'{"n": [1, {"text": "x"}, "]"], "text": "a/\\"\\n\\u001f\x7f"}'
    )


@pytest.mark.parametrize(
    "row",
    [b'{"a": 1}', b'{"text": 1}', b'{"te\\u0078t": "abc"}', b'{"text": "abc', b'["text"]', b"", b'{"text": "a\tbc"}',
     rb'{"text": "a\ud83dbc"}', rb'{"text": "a\qbc"}', b'{"text": ""}'],
)  # fmt: skip
def test_a_row_that_is_not_clear_is_left_to_other_code(row):
    assert cut([row], [True], [(5, 0, 1, 3, 0)]) == ODD
