"""Callers' arrays: each public function takes them in every type and layout, with the same result, or refuses them by name."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pandas
import pyarrow as pa
import pytest

import neardup
from neardup.errors import NeardupError

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
NUMBERS = (*INTEGERS, "float16", "float32", "float64", "bool")
OTHERS = ("longdouble", "complex64", "M8[s]", "m8[s]", "object", "U3", "S3")
SMALL = np.random.default_rng(0).integers(0, 4, (6, 8)) * np.random.default_rng(1).integers(0, 2, (6, 8))
PLANES = np.resize(SMALL, (8, 5))
EXACT_PLANES = np.random.default_rng(2).standard_normal((8, 70))
PRINTS = np.array([3, 7, 1, 96, 70, 6], np.uint64)
WIDE = np.stack([PRINTS, PRINTS[::-1]], 1)
TEXTS = ["to be or not to be, said the prince", "nothing", "To be or not to be, said the PRINCE!"] * 2
SIGNED = neardup.signatures(TEXTS)
BANDS = neardup.plan_bands(0.8, values=128)


def layouts(array):
    """The same values in each form that an array can have in memory."""
    yield "C", np.ascontiguousarray(array)
    yield "Fortran", np.asfortranarray(array)
    yield "strided", np.repeat(array, 2, axis=0)[::2]
    yield "strided within rows", np.repeat(array, 2, axis=-1)[..., ::2]
    yield "reversed", np.ascontiguousarray(array[::-1])[::-1]
    fixed = array.copy()
    fixed.flags.writeable = False
    yield "read-only", fixed
    yield "other byte order", array.astype(array.dtype.newbyteorder("S"))
    if array.dtype.kind != "O":
        odd = np.frombuffer(bytearray(1 + array.nbytes), array.dtype, offset=1).reshape(array.shape)
        odd[...] = array
        yield "unaligned", odd


def csr(rows, indices=np.int32, *, ascending=True):
    """A CSR matrix as scipy has it, without scipy; `A @ A.T` gives indices that do not ascend."""
    rows = np.asarray(rows)
    at, columns = np.nonzero(rows.astype(bool))
    order = np.lexsort((columns if ascending else -columns, at))
    indptr = np.searchsorted(at, np.arange(len(rows) + 1)).astype(indices)
    return SimpleNamespace(
        indptr=indptr, indices=columns[order].astype(indices), data=rows[at, columns][order], shape=rows.shape
    )


def index_of(rows, ids=None):
    index = neardup.Index(bits=64 * (1 if rows.ndim == 1 else rows.shape[1]), max_distance=3)
    index.add(ids, rows)
    return index


def neighbors(found):
    return [found.offsets.tolist(), found.ids.tolist(), found.distances.tolist()]


def neighbor_ids(found):
    return found.ids.tolist() if isinstance(found.ids, np.ndarray) else found.ids.to_pylist()


def pairs(found):
    return [found.left.tolist(), found.right.tolist(), found.distance.tolist()]


def short(digests):
    index = neardup.Index(max_distance=3)
    index.add_short(range(len(digests)), digests)
    return neighbors(index.find_short(digests))


def estimated(values=SIGNED.values, sizes=SIGNED.sizes):
    made = dataclasses.replace(SIGNED, values=values, sizes=sizes)
    return neardup.jaccard_estimate(made, SIGNED).similarity.tolist()


def banded(values=SIGNED.values, sizes=SIGNED.sizes):
    found = neardup.find_banded(dataclasses.replace(SIGNED, values=values, sizes=sizes), BANDS)
    return [found.left.tolist(), found.right.tolist()]


FUNCTIONS = {
    "vectors, signs": (SMALL, lambda a: neardup.fingerprint_vectors(a).tolist()),
    "vectors, gaussian": (SMALL, lambda a: neardup.fingerprint_vectors(a, method="gaussian").tolist()),
    "vectors, independent": (SMALL, lambda a: neardup.fingerprint_vectors(a, method="independent").tolist()),
    "planes of dense rows": (PLANES, lambda a: neardup.fingerprint_vectors(SMALL, planes=a).tolist()),
    "planes of sparse rows": (PLANES, lambda a: neardup.fingerprint_vectors(csr(SMALL), planes=a).tolist()),
    "distance": (WIDE, lambda a: neardup.distance(a[0], a[1])),
    "distances": (PRINTS, lambda a: neardup.distances(7, a).tolist()),
    "distances of wide ones": (WIDE, lambda a: neardup.distances(a[0], a).tolist()),
    "join": (PRINTS, lambda a: pairs(neardup.join(a, max_distance=3))),
    "join with another": (WIDE, lambda a: pairs(neardup.join(WIDE, a, max_distance=3))),
    "index, add": (PRINTS, lambda a: neighbors(index_of(a).query_many(PRINTS))),
    "index, ids": (np.arange(6), lambda a: neighbor_ids(index_of(PRINTS, a).query_many(PRINTS))),
    "index, remove": (np.arange(6), lambda a: index_of(PRINTS).remove(a)),
    "index, query": (WIDE, lambda a: index_of(WIDE).query(a[0])),
    "index, query_many": (WIDE, lambda a: neighbors(index_of(WIDE).query_many(a))),
    "index, short texts": (WIDE, short),
    "plan": (WIDE, lambda a: neardup.plan(fingerprints=a, max_distance=3).method),
    "format_fingerprints": (WIDE, lambda a: neardup.format_fingerprints(a, digits="hexadecimal")),
    "read_fingerprints": (np.arange(6), lambda a: neardup.read_fingerprints(a, digits="decimal").tolist()),
    "bands, sieve": (PRINTS, lambda a: len(neardup.find_banded(SIGNED, BANDS, fingerprints=a, max_distance=9))),
    "bands, values": (SIGNED.values, lambda a: banded(values=a)),
    "bands, sizes": (SIGNED.sizes, lambda a: banded(sizes=a)),
    "estimate, values": (SIGNED.values, lambda a: estimated(values=a)),
    "estimate, sizes": (SIGNED.sizes, lambda a: estimated(sizes=a)),
    "hit_probability": (np.array([0, 1]), lambda a: neardup.hit_probability(a, BANDS).tolist()),
    "features, weights": (np.arange(6), lambda a: neardup.fingerprint_features([{"a": a[1], "b": a[2]}]).tolist()),
    "elements": (np.arange(6), lambda a: pairs_of_elements([a, a])),
    "elements, rows of an array": (SMALL, lambda a: pairs_of_elements(a)),
    "signatures of elements": (SMALL, lambda a: neardup.signatures(a).values.tolist()),
}


def pairs_of_elements(sets):
    found = neardup.match(sets, min_similarity=0.5)
    return [found.left.tolist(), found.right.tolist(), found.similarity.tolist()]


def outcome(call, array):
    """What a function returns, or the class of the error of neardup with which it refuses the array."""
    try:
        return call(array)
    except NeardupError as refused:
        return type(refused)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arrays_of_any_type_and_layout_are_taken_or_refused_by_name(name):
    values, call = FUNCTIONS[name]
    for kind in (*NUMBERS, *OTHERS):
        with np.errstate(all="ignore"):
            array = values.astype(kind)
        expected = outcome(call, array)
        for layout, same in layouts(array):
            assert np.array_equal(same, array), layout
            assert outcome(call, same) == expected, (kind, layout)
    assert not isinstance(outcome(call, values), type)


@pytest.mark.parametrize("indices", INTEGERS)
@pytest.mark.parametrize("ascending", [True, False])
@pytest.mark.parametrize("how", ["signs", "independent", "planes", "exact planes"])
def test_sparse_rows_of_any_types_and_layouts_have_the_bits_of_dense_rows(indices, ascending, how):
    given = {"planes": {"planes": PLANES}, "exact planes": {"planes": EXACT_PLANES}}.get(how, {"method": how})
    for kind in NUMBERS:
        rows = SMALL.astype(kind)
        expected = neardup.fingerprint_vectors(rows, **given).tolist()
        matrix = csr(rows, indices, ascending=ascending)
        for part in ("indptr", "indices", "data"):
            for layout, same in layouts(getattr(matrix, part)):
                changed = SimpleNamespace(**{**vars(matrix), part: same})
                assert neardup.fingerprint_vectors(changed, **given).tolist() == expected, (kind, part, layout)


def test_repeated_entries_of_sparse_rows_are_added_up_by_every_method():
    twice = SimpleNamespace(
        indptr=np.array([0, 3]), indices=np.array([2, 0, 2]), data=np.array([1, 2, -3], np.float32), shape=(1, 8)
    )
    for given in ({"method": "signs"}, {"method": "independent"}, {"planes": PLANES}, {"planes": EXACT_PLANES}):
        found = neardup.fingerprint_vectors(twice, **given)
        assert np.array_equal(found, neardup.fingerprint_vectors([[2, 0, -2, 0, 0, 0, 0, 0]], **given)), given


def test_dimensions_beyond_32_bits_are_hashed_or_refused_by_name():
    far = SimpleNamespace(
        indptr=np.array([0, 1]), indices=np.array([2**40]), data=np.ones(1, np.float32), shape=(1, 2**41)
    )
    assert len(neardup.fingerprint_vectors(far)) == 1
    with pytest.raises(neardup.OptionError, match="Use `method='signs'`"):
        neardup.fingerprint_vectors(far, method="independent")


@pytest.mark.parametrize("kind", ["int8", ">i4", "uint64"])
def test_labeled_pairs_may_be_an_array(kind):
    labels = np.arange(6).astype(kind).reshape(3, 2)[::-1]
    assert neardup.evaluate(TEXTS, pairs=labels, methods=["exact"]).near_duplicates == 3


def test_masked_values_do_not_come_back():
    for call, values in (
        (neardup.fingerprint_vectors, SMALL),
        (lambda masked: neardup.fingerprint_vectors(SMALL, planes=masked), PLANES),
        (lambda masked: neardup.join(masked, max_distance=3), PRINTS),
    ):
        with pytest.raises(NeardupError, match="masked"):
            call(np.ma.array(values, mask=values > 2))


def test_frames_of_the_other_byte_order_are_refused_by_the_name_of_the_column():
    frame = pandas.DataFrame({"text": TEXTS})
    frame["score"] = np.arange(6).astype(">i8")
    with pytest.raises(neardup.OptionError, match="column 'score' has the other byte order"):
        neardup.deduplicate(frame, keep="max:score")


def test_unaligned_offsets_of_an_arrow_column_are_taken():
    offsets = pa.py_buffer(b"-" + np.array([0, 3, 6]).tobytes()).slice(1)
    column = pa.Array.from_buffers(pa.large_string(), 2, [None, offsets, pa.py_buffer(b"abcdef")])
    assert np.array_equal(neardup.fingerprint(column), neardup.fingerprint(["abc", "def"]))
