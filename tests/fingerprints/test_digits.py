"""Fingerprints as digits, numbers and bytes: the definition, every width, the refusals."""

import hypothesis.strategies as st
import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest
from hypothesis import given

import naive_digits
import neardup
from neardup.recipe.programs import DIGITS, ProgramRecipe
from neardup.recipe.serialization import any_stored_recipe

KINDS = tuple(DIGITS)


@st.composite
def fingerprints(draw):
    """A width, and numbers of it."""
    bits = draw(st.one_of(st.integers(1, 130), st.integers(1, 512)))
    edges = st.sampled_from([0, 1, (1 << bits) - 1, 1 << bits - 1, (1 << bits - 1) - 1])
    return bits, draw(st.lists(st.one_of(edges, st.integers(0, (1 << bits) - 1)), max_size=20))


@pytest.mark.parametrize("digits", KINDS)
@given(fingerprints())
def test_what_is_written_is_the_definition_and_comes_back(digits, drawn):
    bits, numbers = drawn
    prints = naive_digits.words(numbers, bits)
    found = neardup.format_fingerprints(prints, digits=digits, bits=bits)
    assert found == [naive_digits.written(number, digits, bits) for number in numbers]
    again = neardup.read_fingerprints(found, digits=digits, bits=bits)
    assert again.dtype == np.uint64
    assert again.shape == prints.shape
    assert (again == prints).all()


@pytest.mark.parametrize("digits", ["hexadecimal", "binary"])
@given(fingerprints(), st.integers(0, 3))
def test_prefixes_upper_case_and_missing_or_further_zeros_change_nothing(digits, drawn, zeros):
    bits, numbers = drawn
    prefix, form = ("0x", "x") if digits == "hexadecimal" else ("0b", "b")
    ways = [
        [f"{number:{form}}" for number in numbers],
        [f"{prefix}{number:{form}}" for number in numbers],
        [f"{prefix}{number:{form}}".upper() for number in numbers],
        ["0" * zeros + naive_digits.written(number, digits, bits) for number in numbers],
    ]
    for texts in ways:
        assert (neardup.read_fingerprints(texts, digits=digits, bits=bits) == naive_digits.words(numbers, bits)).all()


@given(fingerprints(), st.text("0123456789abcdefx-+ ._", max_size=25))
def test_texts_are_read_as_python_reads_them_or_refused(drawn, text):
    bits, _ = drawn
    for digits, base in (("decimal", 10), ("signed", 10), ("hexadecimal", 16), ("binary", 2)):
        plain = text.removeprefix("0x") if digits == "hexadecimal" and len(text) > 2 else text
        plain = plain.removeprefix("-") if digits == "signed" and len(plain) > 1 else plain
        allowed = bool(plain) and set(plain) <= set("0123456789abcdef"[:base])
        number = int(text, base) if allowed else None
        if number is not None and digits == "signed":
            allowed = -(1 << bits - 1) <= number < 1 << bits - 1
        elif number is not None:
            allowed = number < 1 << bits
        if allowed:
            found = neardup.read_fingerprints([text], digits=digits, bits=bits)
            assert (found == naive_digits.words([number % (1 << bits)], bits)).all()
        else:
            with pytest.raises(neardup.DataError, match="Fingerprint 0 is"):
                neardup.read_fingerprints([text], digits=digits, bits=bits)


NUMBERS = [0, 1, 2**63 - 1, 2**63, 2**64 - 1]


@pytest.mark.parametrize(
    "values",
    [
        NUMBERS,
        np.array(NUMBERS, np.uint64).tolist(),
        pa.array(NUMBERS, pa.uint64()),
        pa.chunked_array([pa.array(NUMBERS[:2], pa.uint64()), pa.array(NUMBERS[2:], pa.uint64())]),
        pa.array(list(map(str, NUMBERS))).dictionary_encode(),
        pa.array(NUMBERS, pa.decimal128(20)),
        pandas.Series(NUMBERS, dtype="uint64"),
        polars.Series(NUMBERS, dtype=polars.UInt64),
        polars.Series(list(map(str, NUMBERS))),
        list(map(np.uint64, NUMBERS)),
    ],
)
def test_numbers_come_in_many_arrays(values):
    assert neardup.read_fingerprints(values, digits="decimal").tolist() == NUMBERS


def test_signed_integers_have_the_sign_at_the_width():
    values = pa.array([-1, -128, 127], pa.int64())
    assert neardup.read_fingerprints(values, digits="signed", bits=8).tolist() == [255, 128, 127]
    assert neardup.read_fingerprints(values, digits="signed").tolist() == [2**64 - 1, 2**64 - 128, 127]
    wide = neardup.read_fingerprints(values, digits="signed", bits=100).tolist()
    assert wide == naive_digits.words([2**100 - 1, 2**100 - 128, 127], 100).tolist()


def test_decimals_with_a_sign_are_told_how_to_be_read():
    with pytest.raises(neardup.DataError, match="\"-1\", not decimal digits; with a sign, they are `digits='signed'`"):
        neardup.read_fingerprints(["-1"], digits="decimal")
    with pytest.raises(neardup.DataError, match='"-x", not decimal digits[.]'):
        neardup.read_fingerprints(["-x"], digits="decimal")


def test_a_width_that_nobody_has_said_is_read_by_the_rule_of_files():
    assert neardup.read_fingerprints(["f0f0", "0x00ff"], digits="hexadecimal").tolist() == [0xF0F0, 0xFF]
    assert neardup.read_fingerprints(["1" * 65], digits="binary").shape == (1, 2)
    assert neardup.read_fingerprints([b"\x01" * 9], digits="bytes").shape == (1, 2)
    assert neardup.read_fingerprints(pa.array([-1], pa.int8()), digits="signed").tolist() == [255]
    for digits in ("decimal", "signed", "hexadecimal", "binary", "bytes"):
        assert neardup.read_fingerprints([], digits=digits).shape == (0,)
    with pytest.raises(neardup.DataError, match="Fingerprint 1 is .*011"):
        neardup.read_fingerprints(["10", "011"], digits="binary")
    with pytest.raises(neardup.DataError, match="Fingerprint 1 is of 2 bytes, but 8 bits have 1"):
        neardup.read_fingerprints([b"a", b"bc"], digits="bytes")
    for values in (["-1"], [-1]):
        with pytest.raises(neardup.OptionError, match="`digits='signed'`: the sign is the first bit of the width"):
            neardup.read_fingerprints(values, digits="signed")
    with pytest.raises(neardup.OptionError, match="The first fingerprint has 516 bits; 512 are the most"):
        neardup.read_fingerprints(["f" * 129], digits="hexadecimal")


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(3)])
def test_bytes_are_big_endian(kind):
    values = pa.array([b"\x01\x02\x03", b"\x00\x00\xff"]).cast(kind)
    assert neardup.read_fingerprints(values[1:], digits="bytes", bits=24).tolist() == [255]
    assert neardup.read_fingerprints(values, digits="bytes", bits=17).tolist() == [0x010203, 255]


@pytest.mark.parametrize(
    ("values", "digits", "bits", "message"),
    [
        (["1", "x"], "decimal", 64, 'Fingerprint 1 is "x", not decimal digits.'),
        ([str(2**64)], "decimal", 64, 'is "18446744073709551616", which does not fit in 64 bits.'),
        (["-1"], "decimal", 64, 'is "-1", not decimal digits;'),
        (["128"], "signed", 8, 'is "128", which does not fit in 8 bits.'),
        ([128], "signed", 8, 'is "128", which does not fit in 8 bits.'),
        (pa.array([128]), "signed", 8, "is 128, but `digits='signed'` with 8 bits allows -128 to 127."),
        (pa.array([-1]), "decimal", 8, "is -1, but `digits='decimal'` with 8 bits allows 0 to 255."),
        (["fg"], "hexadecimal", 64, 'is "fg", not hexadecimal digits.'),
        (["0x"], "hexadecimal", 64, 'is "0x", not hexadecimal digits.'),
        (["100"], "hexadecimal", 8, 'is "100", which does not fit in 8 bits.'),
        (["12"], "binary", 8, 'is "12", not the digits 0 and 1.'),
        ([None], "decimal", 8, "Fingerprint 0 is null."),
        ([""], "binary", 8, "Fingerprint 0 is empty."),
        (["1" * 1025], "binary", 8, "is a text of 1,025 bytes, not the digits 0 and 1."),
        (["é" * 41], "decimal", 8, "…, not decimal digits."),
        ([b"1"], "bytes", 16, "is of 1 bytes, but 16 bits have 2."),
        ([b"\xff\x00"], "bytes", 15, "is 0xff00, which does not fit in 15 bits."),
    ],
)
def test_values_that_are_no_fingerprints_are_refused(values, digits, bits, message):
    with pytest.raises(neardup.DataError) as refused:
        neardup.read_fingerprints(values, digits=digits, bits=bits)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: neardup.read_fingerprints([1], digits="octal"), "`digits='octal'`: give one of decimal, signed"),
        (lambda: neardup.read_fingerprints([1], digits="decimal", bits=513), "`bits=513`: give an integer from 1 to"),
        (lambda: neardup.read_fingerprints("ff", digits="hexadecimal"), "values is one str, not many"),
        (lambda: neardup.read_fingerprints(None, digits="decimal"), "values is a NoneType; give a list"),
        (lambda: neardup.read_fingerprints([255], digits="hexadecimal"), "the values are of int; give strings."),
        (lambda: neardup.read_fingerprints([1.5], digits="decimal"), "the values are of float; give strings or int"),
        (lambda: neardup.read_fingerprints(["ff"], digits="bytes"), "the values are of str; give bytes."),
        (lambda: neardup.read_fingerprints(pa.array([1.5]), digits="decimal"), "the values are of the type double"),
        (lambda: neardup.format_fingerprints([1], digits="decimal"), "fingerprints has the form int64[1]"),
        (lambda: neardup.format_fingerprints(np.zeros(1, np.uint64), digits="decimal", bits=65), "have up to 64 bits"),
        (lambda: neardup.format_fingerprints(np.full(1, 9, np.uint64), digits="decimal", bits=3), "does not fit"),
        (lambda: ProgramRecipe(program="", bits=0), "`program=''`: give a name of 1 to 200 characters"),
        (lambda: ProgramRecipe(bits=8, max_distance=9), "`max_distance=9`: give an integer from 0 to 8"),
        (lambda: neardup.VectorRecipe(dimension=3, max_distance=65), "`max_distance=65`: give an integer from 0 to 64"),
    ],
)
def test_calls_that_cannot_be_are_refused(call, message):
    with pytest.raises(neardup.OptionError) as refused:
        call()
    assert message in str(refused.value)


def test_programs_and_widths_are_told_apart_but_not_distances():
    one = ProgramRecipe(program="gosimhash", bits=64)
    others = [ProgramRecipe(program="leonsim"), ProgramRecipe(program="gosimhash", bits=65), ProgramRecipe()]
    assert len({recipe.digest() for recipe in (one, *others)}) == 4
    assert one.digest() == ProgramRecipe(program="gosimhash", max_distance=3).digest()
    assert any_stored_recipe(one.as_dict(), 3) == ProgramRecipe(program="gosimhash", max_distance=3)
