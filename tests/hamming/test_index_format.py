"""The format of an index: folders of every version are read by the package, and by a reader that has only the page."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pytest

import neardup as nd
from naive_index_folder import IndexFolder, SegmentFile, number
from neardup.hamming.index.methods.table import METHODS
from places import GOLDEN

FOLDERS = sorted(path.with_suffix("") for path in (GOLDEN / "formats/index").glob("*/*.json"))


@pytest.fixture(params=FOLDERS, ids=lambda folder: f"{folder.name} {folder.parent.name}")
def vector(request):
    """The folder of an index, and what it holds."""
    return request.param, json.loads(request.param.with_name(f"{request.param.name}.json").read_text(encoding="utf-8"))


def words_of(digits):
    return np.array([int(digits[i : i + 16], 16) for i in range(0, len(digits), 16)], np.uint64)


def test_every_method_has_a_vector():
    assert {folder.name for folder in FOLDERS} == set(METHODS)


def test_the_package_finds_in_every_index_what_was_added(vector):
    folder, expected = vector
    index = nd.Index.open(folder)
    for name in ("bits", "max_distance", "method", "options", "is_exact", "state"):
        assert getattr(index, name) == expected[name]
    assert index.recipe.digest() == expected["recipe"]
    assert index.info(verify=True).damaged == {}
    assert len(index) == sum(not removed for *_, removed in expected["documents"])
    found = index.query_many(np.array([words_of(digits) for digits, _ in expected["queries"]]))
    ids = found.ids.to_pylist() if isinstance(found.ids, pa.Array) else found.ids.tolist()
    answers = [list(each) for each in zip(ids, found.distances.tolist(), strict=True)]
    parts = [answers[first:last] for first, last in zip(found.offsets, found.offsets[1:], strict=False)]
    assert parts == [answer for _, answer in expected["queries"]]
    for _, digits, _ in expected["short"]:
        same = [id_ for id_, other, removed in expected["short"] if other == digits and not removed]
        assert index.find_short(words_of(digits)[None]).ids.to_pylist() == same


def test_the_page_is_enough_to_read_every_field_of_an_index(vector):
    folder, expected = vector
    index = IndexFolder(folder)
    manifest, width = index.manifest, expected["bits"] // 4
    for name in ("bits", "max_distance", "method", "options", "recipe", "state"):
        assert manifest[name] == expected[name]
    assert manifest["added"] == len(expected["documents"])
    assert manifest["strings"] == isinstance(expected["documents"][0][0], str)
    for segments, digits, documents in ((index.segments, width, "documents"), (index.short, 32, "short")):
        found = [[id_, f"{value:0{digits}x}", gone] for each in segments for id_, value, gone in each.documents]
        assert found == expected[documents]
    for digits, answer in expected["queries"]:
        assert index.query(index.segments, int(digits, 16)) == answer


def test_an_index_of_a_vector_can_be_changed(vector, tmp_path):
    folder, expected = vector
    shutil.copytree(folder, tmp_path / "index")
    index = nd.Index.open(tmp_path / "index")
    words = ~words_of(expected["documents"][0][1])
    new = "new" if isinstance(expected["documents"][0][0], str) else 10_000
    index.add([new], words[None])
    index.save()
    assert nd.Index.open(tmp_path / "index").query(words if len(words) > 1 else words[0])[0] == (new, 0)
    assert len(nd.Index.open(tmp_path / "index")) == len(index)


@pytest.mark.parametrize(
    ("method", "bits", "distance", "options"),
    [
        ("scan", 192, 5, {}),
        ("bit-lists", 128, 5, {}),
        ("block-tables", 64, 2, {"blocks": 3}),
        ("block-tables", 128, 3, {"blocks": 5}),
        ("block-tables", 192, 1, {"blocks": 2}),
        ("multi-index", 128, 9, {"blocks": 7}),
        ("multi-index", 192, 2, {"blocks": 5}),
        ("multi-index", 192, 2, {"blocks": 2}),
        ("neighbours", 64, 1, {}),
        ("prefix-tables", 128, 5, {"prefix": 9, "tables": 4, "seed": 1}),
        ("sorted-beam", 128, 5, {"permutations": 3, "beam": 4, "seed": 1}),
        ("auto", 128, 3, {}),
    ],
)
def test_the_page_is_enough_for_fingerprints_of_every_width(tmp_path, method, bits, distance, options):
    choose = np.random.default_rng(bits + distance)
    values = choose.integers(0, 2**64, (90, bits // 64), np.uint64)
    near = values.repeat(2, axis=0)
    for row in near:
        for place in choose.integers(0, bits, choose.integers(0, distance + 2)).tolist():
            row[place // 64] ^= np.uint64(1 << place % 64)
    index = nd.Index(max_distance=distance, bits=bits, method=method, **options)
    index.add([f"d{i}" for i in range(270)], np.concatenate([values, near]))
    index.save(tmp_path / "index")
    read = IndexFolder(tmp_path / "index")
    for row in values[:60]:
        answer = index.query(row if bits > 64 else row[0])
        assert read.query(read.segments, number(row)) == [list(each) for each in answer]


@pytest.mark.parametrize("count", [1, 131_000, 150_000])
def test_a_segment_has_a_checksum_for_each_mebibyte(tmp_path, count):
    values = np.random.default_rng(count).integers(0, 2**64, count, np.uint64)
    index = nd.Index(max_distance=3, method="scan")
    index.add(range(count), values)
    index.save(tmp_path / "index")
    [path] = (tmp_path / "index").glob("segment-*")
    file = SegmentFile(path)
    assert np.array_equal(file.arrays["columns"][0], np.sort(values))
    assert (len(file.content) - 32 - file.end) // 8 == -(-file.end // 2**20)


def test_filter_keeps_in_the_state_what_the_page_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.jsonl").write_text('{"id": 1, "text": "one two three four five six seven eight nine"}\n{"id": 2}\n')
    nd.filter_files("index", "in.jsonl", "out.jsonl", on_error="skip", threads=1, create=True)
    state = json.loads((tmp_path / "index/index.json").read_text())["state"]["filter"]
    assert list(state) == ["of", "counts", "lengths", "ended", "missing"]
    assert list(state["of"]) == ["inputs", "output", "audit", "rejects", "max_distance", "on_error", "reading"]
    assert state["of"]["inputs"][0][:2] == [str(tmp_path / "in.jsonl"), (tmp_path / "in.jsonl").stat().st_size]
    assert state["counts"] == {"rows": 2, "passed": 1, "duplicates": 0, "rejected": 1}
    assert state["lengths"] == [
        (tmp_path / f"out{end}.jsonl").stat().st_size for end in ("", ".duplicates", ".rejects")
    ]
    assert (state["ended"], state["missing"]) == (True, "")


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("index.json", b'"format": 2', b'"format": 1', "is of format 1; this version reads 2. Build the index anew"),
        ("index.json", b'"format": 2', b'"format": 3', "is of format 3; this version reads 2. Build the index anew"),
        ("segment-1-0", b"NDSEGMT\n\1", b"NDSEGMT\n\2", "is of format 2; this version reads 1. Build the index anew"),
    ],
)
def test_an_index_of_another_version_is_refused(tmp_path, name, old, new, message):
    shutil.copytree(GOLDEN / "formats/index/2-1/scan", tmp_path / "index")
    content = (tmp_path / "index" / name).read_bytes()
    assert old in content
    (tmp_path / "index" / name).write_bytes(content.replace(old, new, 1))
    with pytest.raises(nd.DataError, match=message):
        nd.Index.open(tmp_path / "index")
