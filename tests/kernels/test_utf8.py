import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.chosen_bytes import PLACES_BEHIND
from neardup.kernels.text.utf8 import TAIL, count_byte, count_characters, find_byte, valid_utf8

good = st.sampled_from(
    [b"a", b"\x7f", *(chr(code).encode() for code in (0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF))]
)
bad = st.sampled_from(
    [
        *(
            b"\x80",
            b"\xc0\x80",
            b"\xc1\xbf",
            b"\xe0\x9f\xbf",
            b"\xed\xa0\x80",
            b"\xf0\x8f\xbf\xbf",
            b"\xf4\x90\x80\x80",
        ),
        *(b"\xf5\x80\x80\x80", b"\xff", b"\xc3", b"\xe4\xb8", b"\xf0\x9f\x98"),
    ]
)
pieces = st.one_of(good, good, st.sampled_from([b"x" * n for n in range(58, 66)]), st.just("\u4e2d".encode() * 21))
mostly_good = st.lists(pieces, max_size=12).map(b"".join)
texts = st.one_of(mostly_good, mostly_good, st.tuples(mostly_good, bad, mostly_good).map(b"".join))


def is_valid(text):
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


@given(before=st.sampled_from([b"", b"\xe4", b"zz\xb8"]), items=st.lists(texts, max_size=5))
def test_texts_are_valid_if_python_can_decode_each(before, items):
    data = np.frombuffer(before + b"".join(items) + b"\xff\xb8\xad", np.uint8)
    offsets = np.cumsum([len(before), *map(len, items)])
    assert valid_utf8(data, offsets, np.empty(TAIL, np.uint8)) == all(map(is_valid, items))


def test_a_character_that_is_cut_in_two_by_a_boundary_of_texts_is_not_valid():
    data = np.frombuffer("\u4e2d".encode(), np.uint8)
    assert valid_utf8(data, np.array([0, 3]), np.empty(TAIL, np.uint8))
    assert not valid_utf8(data, np.array([0, 1, 3]), np.empty(TAIL, np.uint8))


@given(before=st.sampled_from([b"", b"\xe4"]), items=st.lists(mostly_good, max_size=5))
def test_characters_are_counted_as_python_does(before, items):
    data = np.frombuffer(before + b"".join(items) + b"\x80", np.uint8)
    offsets = np.cumsum([len(before), *map(len, items)])
    characters = np.empty(len(items), np.int64)
    count_characters(data, offsets, characters)
    assert characters.tolist() == [len(item.decode()) for item in items]


@given(
    content=st.lists(st.sampled_from(b"\na\x00\xff"), max_size=300),
    begin=st.integers(0, 70),
    value=st.sampled_from(b"\n\xff"),
)
def test_every_place_of_a_byte_is_found_between_two_others(content, begin, value):
    data = np.array(content, np.uint8)
    begin = min(begin, len(data))
    for end in (len(data), max(begin, len(data) - 5)):
        places = [i + 1 for i in range(begin, end) if data[i] == value]
        assert count_byte(data, begin, end, np.uint8(value)) == len(places)
        behind = np.full(len(places) + PLACES_BEHIND, -1, np.int64)
        find_byte(data, begin, end, np.uint8(value), behind)
        assert behind[: len(places)].tolist() == places
