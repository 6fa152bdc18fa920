"""Arrow IPC files and streams, and Feather: what is read and written, and what is refused."""

import io
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.errors import DataError, InputError, RowError

TEXTS = ["one text of some words", "another text, which is alone", "one text of some words", "a third one of them all"]
TABLE = pa.table(
    {
        "id": [3, 1, 4, 1 << 40],
        "text": TEXTS,
        "kind": pa.array(["a", "b", None, "a"]).dictionary_encode(),
        "nested": [{"x": [1, 2]}, None, {"x": []}, {"x": [3]}],
        "view": pa.array(TEXTS).cast(pa.string_view()),
        "none": pa.nulls(4),
    },
    metadata={"made": "by hand"},
)
KEPT = [0, 1, 3]
ROWS_KEPT = [TABLE.to_pylist()[row] for row in KEPT]


def written(path, table, *, new=None, size=3, **options):
    """The path of a table; a stream if its name says so."""
    new = new or (pa.ipc.new_stream if Path(path).suffix == ".arrows" else pa.ipc.new_file)
    with new(str(path), table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=size)
    return str(path)


def read(path):
    opened = pa.ipc.open_file if Path(path).read_bytes().startswith(b"ARROW1") else pa.ipc.open_stream
    with pa.OSFile(str(path)) as file:
        found = opened(file).read_all()
    found.validate(full=True)
    return found


@pytest.mark.parametrize("ending", ["arrow", "feather", "ipc", "arrows"])
@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
def test_survivors_keep_types_order_and_metadata(tmp_path, ending, codec):
    given = written(tmp_path / f"in.{ending}", TABLE, compression=codec)
    out = tmp_path / f"out.{ending}"
    assert nd.deduplicate_files(given, out).summary.survivors == len(KEPT)
    assert read(out).to_pylist() == ROWS_KEPT
    assert read(out).schema.equals(TABLE.schema, check_metadata=True)
    assert out.read_bytes().startswith(b"ARROW1") == (ending != "arrows")
    assert nd.verify_files(out).proven


@pytest.mark.parametrize("name", ["in.arrow", "in.arrows"])
@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
def test_batches_are_compressed_if_those_of_the_input_are(tmp_path, name, codec):
    """However many there are: a batch is compared with its own message, not with the file."""
    words, chosen = [f"word{number}" for number in range(100)], random.Random(1)
    texts = [" ".join(chosen.choices(words, k=60)) for _ in range(1000)]
    table = pa.table({"text": texts, "kind": pa.array(["one", "other"] * 500).dictionary_encode()})
    plain = Path(written(tmp_path / f"plain_{name}", table, size=50)).stat().st_size
    out = tmp_path / f"out{Path(name).suffix}"
    nd.deduplicate_files(written(tmp_path / name, table, size=50, compression=codec), out, min_similarity=1.0)
    assert (out.stat().st_size < 0.9 * plain) == (codec is not None)


@pytest.mark.parametrize("name", ["in.arrow", "in.arrows"])
def test_files_and_streams_are_told_apart_by_what_they_hold(tmp_path, name):
    other = pa.ipc.new_file if name.endswith("s") else pa.ipc.new_stream
    out = tmp_path / f"out.{name.rpartition('.')[2]}"
    nd.deduplicate_files(written(tmp_path / name, TABLE, new=other), out)
    assert read(out).to_pylist() == ROWS_KEPT


def test_feather_as_pandas_writes_it_is_read(tmp_path):
    frame = TABLE.select(["id", "text"]).to_pandas()
    frame.to_feather(tmp_path / "in.feather")
    nd.deduplicate_files(tmp_path / "in.feather", tmp_path / "out.feather", annotate=True)
    found = feather.read_table(tmp_path / "out.feather").to_pandas()
    assert found["is_duplicate"].tolist() == [False, False, True, False]
    assert found[["id", "text"]].equals(frame)


def test_the_first_version_of_feather_is_refused_by_name(tmp_path):
    (tmp_path / "in.feather").write_bytes(b"FEA1" + bytes(40) + b"FEA1")
    with pytest.raises(DataError, match=r"in\.feather is Feather of version 1.*Write it again as version 2"):
        nd.deduplicate_files(tmp_path / "in.feather", tmp_path / "out.feather")


def test_several_files_make_one_whose_dictionary_has_all_values(tmp_path):
    other = pa.table({"text": ["more words of a text", "words"], "kind": pa.array(["q", "b"]).dictionary_encode()})
    first = TABLE.select(["text", "kind"])
    names = [written(tmp_path / f"{i}.arrow", each, size=1) for i, each in enumerate([first, other, first])]
    nd.deduplicate_files(names, tmp_path / "out.arrow")
    expected = pa.concat_tables([first.take(KEPT), other])
    assert read(tmp_path / "out.arrow").to_pylist() == expected.to_pylist()


def test_a_dictionary_that_its_type_cannot_count_is_refused(tmp_path):
    kind = pa.dictionary(pa.int8(), pa.string())
    tables = [
        pa.table(
            {"text": [f"text {i} of {n}" for i in range(100)], "k": pa.array([f"{n} {i}" for i in range(100)], kind)}
        )
        for n in range(2)
    ]
    names = [written(tmp_path / f"{i}.arrow", each, size=100) for i, each in enumerate(tables)]
    with pytest.raises(InputError, match=r'"k" has 200 different values .* Name a folder'):
        nd.deduplicate_files(names, tmp_path / "out.arrow", min_similarity=1.0)
    nd.deduplicate_files(names, f"{tmp_path}/out/", min_similarity=1.0)


def test_other_types_in_other_files_are_refused_before_any_work(tmp_path):
    names = [
        written(tmp_path / "a.arrow", pa.table({"text": ["a"], "n": [1]})),
        written(tmp_path / "b.arrow", pa.table({"text": ["b"], "n": ["1"]})),
    ]
    with pytest.raises(InputError, match=r'column "n" is int64 in one, string in the other'):
        nd.deduplicate_files(names, tmp_path / "out.arrow")


def test_rows_of_another_format_are_refused(tmp_path):
    given = written(tmp_path / "in.arrow", TABLE)
    with pytest.raises(InputError, match=r"in\.arrow is arrow, but the output is csv"):
        nd.deduplicate_files(given, tmp_path / "out.csv")
    with pytest.raises(InputError, match="always UTF-8"):
        nd.deduplicate_files(given, tmp_path / "out.arrow", encoding="latin-1")
    with pytest.raises(InputError, match="has columns, not lines"):
        nd.deduplicate_files(given, tmp_path / "out.txt", lines=True)


def test_a_text_that_is_not_utf_8_is_a_row_that_cannot_be_read(tmp_path):
    column = pa.array([b"a text", b"\xff", b"another"]).view(pa.string())
    given = written(tmp_path / "in.arrow", pa.table({"text": column}))
    with pytest.raises(RowError, match='its column "text" is not UTF-8'):
        nd.deduplicate_files(given, tmp_path / "out.arrow")
    found = nd.deduplicate_files(given, tmp_path / "out.arrow", on_error="skip")
    assert (found.summary.survivors, found.summary.rejected) == (2, 1)


def test_offsets_that_point_elsewhere_are_damage(tmp_path):
    path = tmp_path / "in.arrow"
    written(path, pa.table({"text": ["abcdefgh", "ijklmnop"]}))
    offsets = np.array([0, 8, 16], np.int32).tobytes()
    path.write_bytes(path.read_bytes().replace(offsets, np.array([0, 1 << 28, 16], np.int32).tobytes()))
    with pytest.raises(DataError, match=r"in\.arrow is damaged, or is not Arrow data"):
        nd.deduplicate_files(path, tmp_path / "out.arrow")


@pytest.mark.parametrize("content", [b"", b"ARROW1", b"ARROW1\0\0" + bytes(64), b"some text\n" * 9])
def test_what_is_no_arrow_data_is_refused(tmp_path, content):
    (tmp_path / "in.arrow").write_bytes(content)
    with pytest.raises(DataError, match=r"in\.arrow is damaged, or is not Arrow data"):
        nd.deduplicate_files(tmp_path / "in.arrow", tmp_path / "out.arrow")


@given(
    st.lists(st.sampled_from(["a b c", "a b d", "", "x", "long words of a text " * 9]), max_size=30),
    st.integers(1, 7),
    st.sampled_from(["arrow", "arrows"]),
)
def test_the_answer_is_that_of_parquet(tmp_path_factory, texts, size, ending):
    folder = tmp_path_factory.mktemp("same")
    table = pa.table({"text": pa.array(texts, pa.string()), "id": pa.array(range(len(texts)), pa.int64())})
    pq.write_table(table, folder / "in.parquet")
    written(folder / f"in.{ending}", table, size=size)
    for kind in ("parquet", ending):
        nd.deduplicate_files(folder / f"in.{kind}", folder / f"out.{kind}", audit=folder / f"{kind}.jsonl")
    assert read(folder / f"out.{ending}").equals(pq.read_table(folder / "out.parquet"))
    assert (folder / f"{ending}.jsonl").read_bytes() == (folder / "parquet.jsonl").read_bytes()


def test_vectors_and_given_fingerprints_are_read_from_it(tmp_path):
    vectors = pa.table({"v": [[1.0, 2.0], [1.0, 2.1], [-3.0, 1.0]], "f": pa.array([7, 9, 1 << 63], pa.uint64())})
    for ending in ("arrow", "parquet"):
        path = tmp_path / f"in.{ending}"
        if ending == "arrow":
            written(path, vectors)
        else:
            pq.write_table(vectors, path)
        nd.fingerprint_vector_files(path, tmp_path / f"{ending}.v.parquet", vector="v", bits=64)
        nd.import_fingerprint_files(path, tmp_path / f"{ending}.f.parquet", fingerprint="f", bits=64)
    for what in "vf":
        one, other = (pq.read_table(tmp_path / f"{ending}.{what}.parquet") for ending in ("arrow", "parquet"))
        assert one.column("fingerprint").equals(other.column("fingerprint"))


@pytest.mark.parametrize("kind", ["parquet", "arrow", "arrows", "csv"])
def test_standard_input_and_output_have_one_format(tmp_path, kind):
    table = TABLE.select(["id", "text"])
    if kind == "parquet":
        pq.write_table(table, tmp_path / "in")
    elif kind == "csv":
        (tmp_path / "in").write_text("id,text\n" + "".join(f'{i},"{text}"\n' for i, text in enumerate(TEXTS)))
    else:
        written(tmp_path / "in", table, new=pa.ipc.new_stream if kind == "arrows" else pa.ipc.new_file)
    dialect = ["--dialect", ',"'] if kind == "csv" else []
    done = subprocess.run(
        [sys.executable, "-m", "neardup", "dedup", "-", "-o", "-", *dialect],
        input=(tmp_path / "in").read_bytes(),
        capture_output=True,
        check=True,
    ).stdout
    if kind == "csv":
        assert done.decode().splitlines()[1:] == [f'{i},"{TEXTS[i]}"' for i in KEPT]
        return
    (tmp_path / "out").write_bytes(done)
    found = pq.read_table(io.BytesIO(done)) if kind == "parquet" else read(tmp_path / "out")
    assert found.equals(table.take(KEPT))
