"""Fingerprints of numeric vectors: the definition, the routes, the worked examples, the refusals."""

import math
from statistics import NormalDist
from types import SimpleNamespace

import hypothesis.strategies as st
import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis.extra import numpy as arrays

import naive_vectors
import neardup
from neardup.fingerprints.vectors.planes import NORMAL_STEP, normal_table, planes_of

METHODS = ("signs", "gaussian", "independent")


def integers(prints):
    """uint64[n] or uint64[n, words] as Python integers."""
    words = prints.reshape(len(prints), -1).tolist()
    return [sum(word << 64 * k for k, word in enumerate(reversed(row))) for row in words]


def csr(matrix, *, stored=None):
    """A CSR matrix of the entries that are not 0, or of those `stored`; as scipy has it, without scipy."""
    matrix = np.asarray(matrix)
    rows, columns = np.nonzero(matrix if stored is None else stored)
    indptr = np.searchsorted(rows, np.arange(len(matrix) + 1)).astype(np.int32)
    return SimpleNamespace(
        indptr=indptr, indices=columns.astype(np.int32), data=matrix[rows, columns], shape=matrix.shape
    )


def bad_csr(**changes):
    fields = {"indptr": np.array([0, 1, 2]), "indices": np.array([0, 1]), "data": np.ones(2), "shape": (2, 3)}
    return SimpleNamespace(**fields | changes)


def random_rows(n=40, dimension=30, seed=0):
    generator = np.random.default_rng(seed)
    rows = generator.standard_normal((n, dimension))
    return np.where(generator.random(rows.shape) < 0.5, rows, 0)


floats = st.floats(-1e6, 1e6, width=32)
shapes = st.tuples(st.integers(1, 6), st.integers(1, 20))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("bits", [1, 7, 63, 64, 65, 128, 192, 200, 512])
def test_bits_are_those_of_the_definition_at_any_width(method, bits):
    rows = random_rows(5, 12)
    found = neardup.fingerprint_vectors(rows, bits=bits, seed=2**64 - 1, method=method)
    assert found.shape == ((5,) if bits <= 64 else (5, -(-bits // 64)))
    assert found.dtype == np.uint64
    assert integers(found) == naive_vectors.fingerprints(rows.tolist(), bits=bits, seed=2**64 - 1, method=method)


@given(
    arrays.arrays(np.float32, shapes, elements=floats),
    st.integers(1, 130),
    st.integers(0, 2**64 - 1),
    st.sampled_from(["signs", "independent"]),
)
@settings(max_examples=60, deadline=None)
def test_dense_and_sparse_rows_have_the_same_bits(rows, bits, seed, method):
    options = {"bits": bits, "seed": seed, "method": method}
    dense = neardup.fingerprint_vectors(rows, **options)
    assert np.array_equal(neardup.fingerprint_vectors(csr(rows), **options), dense)
    assert integers(dense) == naive_vectors.fingerprints(rows.tolist(), **options)


@given(arrays.arrays(np.int8, shapes, elements=st.integers(-2, 2)), st.integers(1, 70))
@settings(max_examples=60, deadline=None)
def test_sums_that_cancel_to_0_have_bit_0_by_every_route(rows, bits):
    expected = naive_vectors.fingerprints(rows.tolist(), bits=bits)
    for kind in (np.int8, np.int64, np.float16, np.float32, np.float64):
        assert integers(neardup.fingerprint_vectors(rows.astype(kind), bits=bits)) == expected
        assert integers(neardup.fingerprint_vectors(csr(rows.astype(kind)), bits=bits)) == expected


@given(arrays.arrays(np.float64, (4, 9), elements=floats), arrays.arrays(np.float64, (9, 5), elements=floats))
@settings(max_examples=60, deadline=None)
def test_given_planes_decide_dense_and_sparse_rows_alike(rows, planes):
    expected = [naive_vectors.fingerprint(row, planes.tolist()) for row in rows.tolist()]
    assert neardup.fingerprint_vectors(rows, planes=planes).tolist() == expected
    assert neardup.fingerprint_vectors(csr(rows), planes=planes).tolist() == expected


def test_signs_given_as_planes_are_the_bits_of_hashed_dimensions():
    recipe = neardup.VectorRecipe(dimension=30, bits=96, seed=5)
    rows = random_rows()
    found = neardup.fingerprint_vectors(rows, planes=planes_of(recipe).T)
    assert np.array_equal(found, neardup.fingerprint_vectors(csr(rows), bits=96, seed=5))


def test_the_worked_example_of_hashed_dimensions():
    planes = [[1, -1], [-1, 1], [1, 1]]
    for rows in ([[3, 2, 4]], csr([[3, 2, 4]])):
        assert [f"{value:02b}" for value in neardup.fingerprint_vectors(rows, planes=planes)] == ["11"]


def test_the_worked_example_of_hyperplanes():
    hashes = ["101", "011", "100", "001", "110"]
    planes = [[1 if bit == "1" else -1 for bit in each] for each in hashes]
    assert (np.array([[1, 2, 0, 3, 0]]) @ planes).tolist() == [[-4, -2, 6]]
    for rows in ([[1, 2, 0, 3, 0]], csr([[1, 2, 0, 3, 0]])):
        assert [f"{value:03b}" for value in neardup.fingerprint_vectors(rows, planes=planes)] == ["001"]


@pytest.mark.parametrize("dimension", [3, 700, 5000])
def test_products_too_near_0_for_float32_are_summed_as_defined(dimension):
    generator = np.random.default_rng(dimension)
    row = generator.standard_normal(dimension).astype(np.float32)
    planes = generator.choice([-1.0, 1.0], (dimension, 32))
    planes[-1] = 1
    rows = np.tile(row, (32, 1))
    rows[np.arange(32), -1] = -(row[:-1].astype(np.float64) @ planes[:-1]).astype(np.float32)
    expected = [naive_vectors.fingerprint(each, planes.tolist()) for each in rows.tolist()]
    assert neardup.fingerprint_vectors(rows, planes=planes).tolist() == expected
    assert neardup.fingerprint_vectors(csr(rows), planes=planes).tolist() == expected


@pytest.mark.parametrize("scale", [1e-45, 1e-30, 1e-15, 1e15, 1e30, 3e37])
def test_tiny_and_huge_numbers_have_the_bits_of_their_direction(scale):
    rows = (np.sign(random_rows(6, 9)) * np.float32(scale)).astype(np.float32)
    expected = naive_vectors.fingerprints(rows.tolist(), bits=64)
    assert neardup.fingerprint_vectors(rows).tolist() == expected
    assert neardup.fingerprint_vectors(csr(rows)).tolist() == expected


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_neither_threads_nor_blocks_nor_order_in_memory_change_a_bit(method, kind):
    rows = random_rows(5000, 40).astype(kind)
    expected = neardup.fingerprint_vectors(rows, method=method, threads=1)
    for threads in (2, 9):
        assert np.array_equal(neardup.fingerprint_vectors(rows, method=method, threads=threads), expected)
    assert np.array_equal(neardup.fingerprint_vectors(np.asfortranarray(rows), method=method), expected)
    singly = [neardup.fingerprint_vectors(rows[i : i + 1], method=method)[0] for i in range(0, 5000, 500)]
    assert singly == expected[::500].tolist()
    if method != "gaussian":
        for threads in (1, 3):
            assert np.array_equal(neardup.fingerprint_vectors(csr(rows), method=method, threads=threads), expected)


def test_large_sparse_matrices_are_cut_into_blocks_by_entries():
    rows = np.random.default_rng(3).standard_normal((40, 20_000)).astype(np.float32)
    assert np.array_equal(neardup.fingerprint_vectors(csr(rows), threads=2), neardup.fingerprint_vectors(rows))


def test_entries_of_a_sparse_row_may_be_in_any_order_and_repeated():
    mixed = bad_csr(
        indptr=np.array([0, 5, 5, 7]),
        indices=np.array([4, 0, 4, 2, 0, 1, 0]),
        data=np.array([0.5, 1.0, 0.25, -3.0, 2.0, 7.0, -1.0]),
        shape=(3, 6),
    )
    whole = np.array([[3.0, 0, -3, 0, 0.75, 0], [0] * 6, [-1, 7, 0, 0, 0, 0]])
    for bits in (64, 130):
        assert np.array_equal(
            neardup.fingerprint_vectors(mixed, bits=bits), neardup.fingerprint_vectors(whole, bits=bits)
        )
    assert mixed.data.tolist() == [0.5, 1.0, 0.25, -3.0, 2.0, 7.0, -1.0]


def test_sparse_rows_of_any_types_and_other_formats_are_taken():
    rows = random_rows()
    expected = neardup.fingerprint_vectors(rows)
    plain = csr(rows)
    wide = bad_csr(
        indptr=plain.indptr.astype(np.int64),
        indices=plain.indices.astype(np.uint16),
        data=plain.data,
        shape=plain.shape,
    )
    assert np.array_equal(neardup.fingerprint_vectors(wide), expected)
    assert np.array_equal(neardup.fingerprint_vectors(SimpleNamespace(tocsr=lambda: plain)), expected)
    stored = csr(rows, stored=np.ones_like(rows))
    assert np.array_equal(neardup.fingerprint_vectors(stored), expected)


def test_arrow_columns_and_lists_are_taken():
    rows = random_rows().astype(np.float32)
    expected = neardup.fingerprint_vectors(rows)
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), 30)
    for column in (
        fixed,
        fixed.cast(pa.list_(pa.float32())),
        fixed.cast(pa.large_list(pa.float64())),
        pa.chunked_array([fixed.slice(0, 7), fixed.slice(7, 0), fixed.slice(7)]),
        rows.tolist(),
        tuple(map(tuple, rows)),
    ):
        assert np.array_equal(neardup.fingerprint_vectors(column), expected)
    halves = rows.astype(np.float16)
    column = pa.FixedSizeListArray.from_arrays(pa.array(halves.ravel()), 30)
    assert np.array_equal(neardup.fingerprint_vectors(column), neardup.fingerprint_vectors(halves))


@pytest.mark.parametrize("method", METHODS)
def test_the_vector_0_has_the_fingerprint_0(method):
    rows = np.zeros((3, 4))
    rows[1, 2] = -0.0
    assert neardup.fingerprint_vectors(rows, bits=128, method=method).tolist() == [[0, 0]] * 3
    if method != "gaussian":
        assert neardup.fingerprint_vectors(csr(rows, stored=np.ones((3, 4))), method=method).tolist() == [0] * 3


def test_no_rows_have_no_fingerprints():
    assert neardup.fingerprint_vectors(np.empty((0, 4))).shape == (0,)
    assert neardup.fingerprint_vectors(np.empty((0, 4)), bits=100).shape == (0, 2)
    assert neardup.fingerprint_vectors(csr(np.empty((0, 4)))).shape == (0,)


def test_normal_numbers_are_quantiles_that_no_library_rounds_otherwise():
    table = normal_table()
    steps = table.astype(np.float64) / NORMAL_STEP
    assert (steps == np.rint(steps)).all()
    assert (table == -table[::-1]).all()
    assert (abs(table.mean()), round(float(table.std()), 3)) == (0.0, 1.0)
    exact = np.array([NormalDist().inv_cdf((k + 0.5) / 65536) for k in range(65536)]) / NORMAL_STEP
    assert np.abs(np.abs(exact - np.floor(exact)) - 0.5).min() > 1e-6


@pytest.mark.parametrize("method", METHODS)
def test_distances_estimate_angles(method):
    generator = np.random.default_rng(7)
    a, b = generator.standard_normal((2, 300, 64))
    b = a * 0.6 + b * 0.8
    cosines = (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    prints = [neardup.fingerprint_vectors(x, bits=512, seed=1, method=method) for x in (a, b)]
    far = np.bitwise_count(prints[0] ^ prints[1]).sum(axis=1)
    found = [neardup.estimated_cosine(int(d), 512) for d in far]
    z = [(each.cosine - cosine) / each.standard_error for each, cosine in zip(found, cosines, strict=True)]
    assert abs(np.mean(z)) < 0.35
    assert 0.8 < np.std(z) < 1.2


def test_the_estimated_cosine_and_its_error_are_those_of_the_formula():
    found = neardup.estimated_cosine(np.uint8(32), 128)
    assert found.cosine == pytest.approx(math.sqrt(0.5))
    assert found.standard_error == pytest.approx(math.pi * math.sqrt(0.5) * math.sqrt(0.25 * 0.75 / 128))
    assert (neardup.estimated_cosine(0, 64).cosine, neardup.estimated_cosine(64, 64).cosine) == (1, -1)
    assert neardup.estimated_cosine(0, 64).standard_error == 0
    with pytest.raises(AttributeError):
        found.cosine = 1.0


@pytest.mark.parametrize(
    ("distance", "bits", "message"),
    [
        (-1, 64, "`distance=-1`: give an integer from 0 to `bits=64`"),
        (65, 64, "`distance=65`: give an integer from 0 to `bits=64`"),
        (1.5, 64, "`distance=1.5`: give an integer"),
        (0, 0, "`bits=0`: give an integer of at least 1"),
        (0, True, "`bits=True`: give an integer of at least 1"),
    ],
)
def test_distances_that_cannot_be_are_refused(distance, bits, message):
    with pytest.raises(neardup.OptionError, match=message):
        neardup.estimated_cosine(distance, bits)


ROWS = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


@pytest.mark.parametrize(
    ("vectors", "options", "message"),
    [
        (np.ones(3), {}, "The array has 1 dimensions, not 2: rows are vectors. For one vector, put it in a list"),
        (np.ones((2, 2, 2)), {}, "The array has 3 dimensions, not 2"),
        ([], {}, "The array has 1 dimensions, not 2"),
        (np.empty((3, 0)), {}, "no numbers at all"),
        ([["a", "b"]], {}, "The numbers are of type <U1"),
        (np.ones((1, 2), complex), {}, "The numbers are of type complex128"),
        (np.ones((1, 2), object), {}, "The numbers are of type object"),
        (np.ones((1, 2), "m8[s]"), {}, "The numbers are of type timedelta64"),
        ("text", {}, "A str was given"),
        (None, {}, "The numbers are of type object"),
        (pa.array(["a"]), {}, "A column of string was given"),
        (pa.array([1.0]), {}, "A column of double was given"),
        (pa.array([["a"]]), {}, "A column of list"),
        (pa.array([], pa.list_(pa.float32())), {}, "The column has no vectors"),
        (ROWS, {"bits": 0}, "`bits=0`: give an integer from 1 to 512"),
        (ROWS, {"bits": 513}, "`bits=513`: give an integer from 1 to 512"),
        (ROWS, {"bits": 64.0}, "`bits=64.0`: give an integer"),
        (ROWS, {"seed": -1}, r"`seed=-1`: give an integer from 0 to 2\^64 - 1"),
        (ROWS, {"method": "gausian"}, r"`method='gausian'`: give one of signs, gaussian, independent \(did you mean gaussian"),
        (ROWS, {"threads": 0}, "threads=0"),
        (ROWS, {"planes": np.ones((2, 5))}, r"planes of shape \(2, 5\): the vectors have 3 numbers. Give 3 × bits"),
        (ROWS, {"planes": np.ones(3)}, r"planes of shape \(3,\)"),
        (ROWS, {"planes": np.ones((3, 513))}, "of 1 to 512 bits"),
        (ROWS, {"planes": [[1], [1, 2], [3]]}, "planes: the rows have different lengths"),
        (ROWS, {"planes": [["a"]] * 3}, "planes: the numbers are of type <U1"),
        (ROWS, {"planes": np.ones((3, 5)), "bits": 7}, "`planes` are given, 5 of them: these decide all bits"),
        (ROWS, {"planes": np.ones((3, 5)), "seed": 7}, "Leave out `bits`, `seed` and `method`"),
        (csr(ROWS), {"method": "gaussian"}, "`method='gaussian'` needs planes of 3 × 64 numbers, which sparse rows"),
        (bad_csr(data=np.ones(2, complex)), {}, "The numbers are of type complex128"),
        (bad_csr(shape=(2,)), {}, "The sparse array has 1 dimensions"),
        (bad_csr(shape=(2, 0)), {}, "no numbers at all"),
    ],
)  # fmt: skip
def test_what_cannot_be_fingerprinted_is_refused(vectors, options, message):
    with pytest.raises(neardup.OptionError, match=message):
        neardup.fingerprint_vectors(vectors, **options)


@pytest.mark.parametrize(
    ("vectors", "options", "message"),
    [
        ([[1.0, 2.0], [3.0]], {}, "The vectors have different lengths"),
        ([[1.0, 2.0], [math.nan, 1.0]], {}, r"Row 1 \(counted from 0\) holds nan"),
        (np.array([[1.0, 2.0], [1.0, -math.inf]], np.float32), {}, r"Row 1 \(counted from 0\) holds -inf"),
        (csr([[1.0, 0], [0, math.nan]]), {}, r"Row 1 \(counted from 0\) holds nan"),
        ([[1.0, 1.0], [1e308, 1e308]], {}, r"Row 1 \(counted from 0\) holds numbers up to 1e\+308"),
        (csr([[1.0, 1.0], [1e308, 1e308]]), {}, r"Row 1 .* beyond float64. Scale the vectors"),
        (ROWS, {"planes": [[1.0], [math.nan], [1.0]]}, "planes hold NaN"),
        (pa.array([[1.0, 2.0], None]), {}, r"Row 1 \(counted from 0\): its vector is null"),
        (pa.array([[1.0, 2.0], [3.0]]), {}, "Row 1 .*: its vector has 1 numbers, others have 2"),
        (pa.array([[1.0, 2.0], [3.0, None]]), {}, "Row 1 .*: its vector holds null"),
        (pa.array([[1.0, 2.0], [3.0, math.inf]]), {}, "Row 1 .*: its vector holds inf"),
        (pa.array([[1.0, 2.0], [3.0, 1e301]]), {}, r"Row 1 .*: its vector holds numbers beyond 1e\+300"),
        (bad_csr(indptr=np.array([0, 1])), {}, "indptr of a CSR matrix of 2 rows has 3 numbers"),
        (bad_csr(indptr=np.array([0, 2, 1])), {}, "numbers that rise from 0"),
        (bad_csr(indptr=np.array([0, 1, 3])), {}, "at most the number of entries"),
        (bad_csr(indptr=np.array([0.0, 1, 2])), {}, "1-D arrays of integers"),
        (bad_csr(indices=np.array([0, 3])), {}, "3 columns, but indices from 0 to 3"),
        (bad_csr(indices=np.array([-1, 2])), {}, "3 columns, but indices from -1 to 2"),
    ],
)  # fmt: skip
def test_data_without_a_direction_is_refused_by_row(vectors, options, message):
    with pytest.raises(neardup.DataError, match=message):
        neardup.fingerprint_vectors(vectors, **options)


def test_recipes_of_vectors_differ_by_all_that_decides_bits():
    base = neardup.VectorRecipe(dimension=8)
    others = [
        neardup.VectorRecipe(dimension=9),
        neardup.VectorRecipe(dimension=8, bits=128),
        neardup.VectorRecipe(dimension=8, seed=1),
        neardup.VectorRecipe(dimension=8, method="gaussian"),
    ]
    assert len({each.digest() for each in (base, *others, neardup.Recipe(bits=64))}) == 6
    assert base.digest() == "6a0b0a825be3ac4c"


def test_impossible_recipes_of_vectors_say_all_that_is_wrong():
    with pytest.raises(neardup.OptionError, match=r"dimension=0.*bits=0.*seed=-1.*`method='x'`"):
        neardup.VectorRecipe(dimension=0, bits=0, seed=-1, method="x")


def test_bits_of_vectors_are_frozen():
    rows = np.arange(12).reshape(3, 4) - 5.5
    found = {method: neardup.fingerprint_vectors(rows, seed=42, method=method).tolist() for method in METHODS}
    assert found == FROZEN


FROZEN = {
    "signs": [16285924581010452809, 16727253290851438667, 9816551088074855115],
    "gaussian": [1263580440392175929, 3589910786713705328, 16966410320338280162],
    "independent": [15179469852744691086, 8119151664687615164, 7042821941612682932],
}


def test_data_frames_of_numbers_are_rows_of_vectors():
    numbers = np.array([[3.0, 2.0, 4.0], [0.0, -1.0, 2.0]])
    expected = neardup.fingerprint_vectors(numbers).tolist()
    for frame in (pandas.DataFrame(numbers), polars.DataFrame(numbers)):
        assert neardup.fingerprint_vectors(frame).tolist() == expected
    with pytest.raises(neardup.OptionError, match="The numbers are of type object. Give a 2-D array, a data frame"):
        neardup.fingerprint_vectors(pandas.DataFrame({"a": ["x", 1]}))
