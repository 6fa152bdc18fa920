"""Saved work: what comes back is what was saved, and what is damaged, strange or of another version is refused."""

import dataclasses
import io
import json
import pickle
import re
import struct
import zlib
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import neardup as nd
from neardup import dedup  # noqa: F401 - whose codecs these are
from neardup.arrays import Array
from neardup.fingerprints.documents import Part
from neardup.fingerprints.minhash import Signing
from neardup.fingerprints.simhash import Fingerprints, fingerprint_array
from neardup.fingerprints.unit_corpus import UnitPart
from neardup.hamming.near import near_fingerprints
from neardup.io.corpora.batch import Batch, Columns
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.protocol import CorpusPair, Piece, ShardedPair, pair_of
from neardup.io.corpora.shards import find_shards
from neardup.io.corpora.table_corpus import TableCorpus
from neardup.io.resume.checkpoint_file import CheckpointFile, read_checkpoint, write_checkpoint
from neardup.io.resume.checkpoints import NO_CHECKPOINTS, SavedCheckpoints
from neardup.io.resume.codecs import CODECS, KINDS, Codec, MalformedError, OtherVersionError, codec, decode, encode
from neardup.io.resume.run_folder import RunFolder
from neardup.matching.candidates.task import Found
from neardup.matching.prefix_join.counts import ElementCounts
from neardup.matching.prefix_join.prefixes import prefixes_of
from neardup.matching.similarities.table import SIMILARITY_TABLE
from neardup.resources.scratch import Scratch
from neardup.resources.temporary_files import TemporaryFiles
from neardup.survivors.decisions import Decisions
from neardup.survivors.repeats import first_pass as passages
from neardup.survivors.repeats.outcomes import CutDocuments
from neardup.survivors.repeats.windows import Windows
from places import ROOT

TEXTS = pa.array(["a rose is a rose is a rose", "a rose is a rose is a tulip", "", "an oak"], pa.large_string())
IDS = pa.array(['"a"', '"名"', None, "4", '"\\ud800"'], pa.large_string())


def elements_of(kind="cosine"):
    return SIMILARITY_TABLE[kind].elements(TEXTS, nd.Recipe())


def prefixes():
    elements = elements_of()
    counts = ElementCounts(100, memory=1 << 20)
    counts.add(elements.values)
    return prefixes_of(
        elements, code=SIMILARITY_TABLE["cosine"].code, min_similarity=0.5, counts=counts.of(elements.values)
    )


def candidates():
    return near_fingerprints(fingerprint_array(TEXTS, nd.Recipe()).values, max_distance=60)


def objects():
    """One object of every registered class, by the name of its codec."""
    prints = fingerprint_array(TEXTS, nd.Recipe())
    found = Found(np.arange(4), candidates(), 1, "exact", "it is affordable", None, {"postings": 7, "share": 0.1})
    numbers = [np.arange(3), np.array([0.5, np.nan, 1]), np.arange(3), np.array([True, False, True])]
    decisions = Decisions(
        *numbers, np.arange(3), np.arange(3), np.arange(3), np.array([0.5, np.nan, 1]), np.array([1, -1, 0], np.int32)
    )
    part = Part(prints, np.arange(4), IDS.slice(1), (IDS.slice(0, 4),), (np.arange(4), elements_of()))
    return {
        "piece": Piece(4, 17, [(2, "it is no JSON: \ud800")], part),
        "part": part,
        "fingerprints": prints,
        "signatures": Signing(values=8, bits=16).sign(TEXTS),
        "elements": elements_of(),
        "prefixes": prefixes(),
        "candidates": candidates(),
        "found": found,
        "decisions": decisions,
        "unit part": UnitPart(np.array([2, 1]), np.zeros(3, np.int32), np.ones(3, np.uint32), IDS.slice(0, 2), 99),
        "passages part": passages.Part(
            np.arange(2, dtype=np.uint64), *(np.arange(3),) * 3, IDS.slice(0, 3), (IDS.slice(0, 3),)
        ),
        "passages windows": Windows(
            np.arange(2, dtype=np.uint64),
            np.arange(2),
            np.array([0, 5]),
            np.array([2, 3]),
            np.array([97, 255, 97, 255] + [98, 255] * 3, dtype=np.uint8),
            np.array([0, 4]),
            7,
            8,
        ),
        "passages cuts": CutDocuments(
            np.array([3]),
            np.array([7]),
            np.array([[3, 0, 1, 9, 0]]),
            np.array([[40, 2, 5, 0, 1, 9], [45, 2, 5, 0, 9, 12]]),
            np.arange(2),
        ),
    }


def same(a, b):
    """Whether two values are of one class and hold the same, flags of arrays included."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        kind = (a.dtype, a.shape, a.flags.writeable)
        return kind == (b.dtype, b.shape, b.flags.writeable) and a.tobytes() == b.tobytes()
    if isinstance(a, pa.Array):
        return a.type == b.type and a.equals(b)
    if dataclasses.is_dataclass(a):
        return all(same(getattr(a, each.name), getattr(b, each.name)) for each in dataclasses.fields(a))
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return a == b or (a != a and b != b)


def saved(tmp_path, *values, name="pass/000000.done"):
    (tmp_path / "pass").mkdir(exist_ok=True)
    file = CheckpointFile(tmp_path, name)
    for value in values:
        file.add(value)
    file.commit()
    return tmp_path / name


def read(tmp_path, name="pass/000000.done", **named):
    return list(read_checkpoint(tmp_path, name, **named))


def test_every_codec_has_an_object_here():
    assert objects().keys() == CODECS.keys()


@pytest.mark.parametrize("name", sorted(CODECS))
def test_what_comes_back_is_what_was_saved(tmp_path, name):
    value = objects()[name]
    saved(tmp_path, value, value)
    assert all(same(value, found) for found in read(tmp_path))
    assert len(read(tmp_path)) == 2


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.sampled_from(
        [np.arange(3), np.zeros((2, 0), np.uint16), np.array(5, np.int32), np.zeros(0), IDS, IDS.slice(4)]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@given(values=st.lists(plain, max_size=4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_any_plain_value_comes_back(tmp_path, values):
    saved(tmp_path, *values)
    assert same(read(tmp_path), values)


def test_large_arrays_come_back_in_temporary_files(tmp_path):
    saved(tmp_path, np.arange(1000))
    [found] = read(tmp_path, scratch=Scratch(100, TemporaryFiles(str(tmp_path))))
    assert found.base is not None  # a mapping
    assert np.array_equal(found, np.arange(1000))


@pytest.mark.parametrize("kind", ["complex64", "float16", "object", "<U3", "datetime64[s]", ">i8"])
def test_arrays_of_other_kinds_are_not_saved(kind):
    array = np.zeros(2, kind)
    if array.dtype.name == "int64":  # of the other byte order: it is saved, and comes back in this one's
        assert encode(array)[1]
        return
    with pytest.raises(TypeError, match=r"has no codec"):
        encode(array)


@pytest.mark.parametrize("value", [object(), {1: 2}, {1}, b"bytes", pa.array([1]), pa.array(["small"])])
def test_what_has_no_codec_is_not_saved(value, tmp_path):
    with pytest.raises(TypeError, match=r"has no codec: it cannot be saved"):
        write_checkpoint(tmp_path, "candidates.done", value)
    assert list(tmp_path.iterdir()) == []


class Moved(NamedTuple):
    """What `Elements` might be called elsewhere."""

    values: Array
    weights: Array
    offsets: Array


def test_what_was_saved_is_read_after_its_class_moved_and_was_renamed(tmp_path, monkeypatch):
    saved(tmp_path, (np.arange(4), elements_of()))
    known = CODECS["elements"]
    monkeypatch.setitem(CODECS, "elements", known._replace(kind=Moved))
    [(rows, found)] = read(tmp_path)
    assert type(found) is Moved
    assert same(rows, np.arange(4))
    assert all(map(same, found, elements_of()))


FORMS = {
    "piece": (1, {"rows": "value", "position": "value", "rejections": "value", "result": "value"}),
    "part": (
        1,
        {"found": "value", "lengths": "int64[rows]", "ids": "large_string", "values": "value", "aside": "value"},
    ),
    "fingerprints": (
        2,
        {"values": "uint64[n, words]", "digests": "uint64[n, 2]", "tokens": "int64[n]", "figures": "uint64[n]"},
    ),
    "signatures": (
        3,
        {
            "values": "uint32[n, values]|uint16[n, values]",
            "sizes": "int64[n]",
            "kind": "value",
            "seed": "value",
            "normalize": "value",
            "similarity": "value",
        },
    ),
    "elements": (1, {"values": "uint64[total]", "weights": "float64[weights]", "offsets": "int64[n+1]"}),
    "prefixes": (
        1,
        {
            "elements": "uint64[total]",
            "rests": "float32[rests]",
            "starts": "int64[n+1]",
            "facts": "int32[n, 4]",
            "sizes": "int64[n]",
            "digests": "uint64[n, 2]",
        },
    ),
    "candidates": (
        1,
        {
            "fingerprints": "uint64[n, words]",
            "class_of": "int64[n]",
            "members": "int64[n]",
            "starts": "int64[classes+1]",
            "near": "uint32[near]",
            "near_starts": "int64[classes+1]",
        },
    ),
    "found": (
        1,
        {"rows": "int64[n]"}
        | dict.fromkeys(("candidates", "min_tokens", "method", "reason", "max_distance", "costs"), "value"),
    ),
    "decisions": (
        2,
        {
            "survivor": "int64[rows]",
            "similarity": "float64[rows]",
            "distance": "int64[rows]",
            "exact": "bool[rows]",
            "cluster": "int64[rows]",
            "cluster_size": "int64[rows]",
            "matched": "int64[rows]",
            "matched_similarity": "float64[rows]",
            "only_digits": "int32[rows]",
        },
    ),
    "passages part": (
        1,
        {"minimizers": "uint64[minimizers]", "ids": "large_string", "values": "value"}
        | dict.fromkeys(("sizes", "tokens", "lengths"), "int64[rows]"),
    ),
    "passages windows": (
        1,
        {
            "values": "uint64[windows]",
            "places": "int64[windows]",
            "region_places": "int64[regions]",
            "region_counts": "int64[regions]",
            "data": "uint8[bytes]",
            "offsets": "int64[anchors]",
            "rows": "value",
            "size": "value",
        },
    ),
    "passages cuts": (
        2,
        {
            "rows": "int64[changed]",
            "left": "int64[changed]",
            "spans": "int64[spans, five]",
            "segments": "int64[segments, six]",
            "parts": "int64[segments]",
        },
    ),
    "unit part": (
        1,
        {
            "counts": "int64[rows]",
            "numbers": "int32[units]",
            "sizes": "uint32[units]",
            "ids": "large_string",
            "bytes": "value",
        },
    ),
}


def test_what_is_saved_of_a_class_changes_only_with_its_version():
    assert {name: (each.version, dict(each.forms)) for name, each in CODECS.items()} == FORMS


def test_a_name_is_of_one_class_and_forms_are_of_all_fields():
    with pytest.raises(ValueError, match=r"two classes are registered as elements: Elements and Moved"):
        codec("elements", 1, values="value", weights="value", offsets="value")(Moved)
    with pytest.raises(ValueError, match=r"Moved has the fields .*, but forms are given of \('values',\)"):
        codec("moved", 1, values="value")(Moved)
    assert "moved" not in CODECS


def test_a_form_that_is_none_is_refused():
    with pytest.raises(ValueError, match=r"'float' is no form of a field"):
        Codec("moved", 1, Moved, {"values": "float"}).fields_of(Moved(1, 2, 3))


def frames(*facts):
    """The frames of some facts, each as a JSON text or an object."""
    contents = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in facts]
    return b"".join(struct.pack("<II", len(each), zlib.crc32(each)) + each for each in contents)


def resave(path, change):
    """Save the one value again, as another program might: `change` is called with its facts."""
    content = io.BytesIO(path.read_bytes())
    head, facts = content.read(20), []
    for _ in range(2):  # the name of the file, and the value
        size, _ = struct.unpack("<II", content.read(8))
        facts.append(json.loads(content.read(size)))
    change(facts[1])
    path.write_bytes(head + frames(*facts) + content.read())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"codec": "elephants"}, "it has something called 'elephants', which this version does not know"),
        ({"codec": ["elements"]}, "it has something called"),
        ({"version": 2}, "it has elements of version 2, and this version reads 1"),
        ({"version": 0}, "it has elements of version 0, and this version reads 1"),
    ],
)
def test_an_unknown_codec_or_another_version_is_refused_with_what_to_do(tmp_path, change, message):
    path = saved(tmp_path, elements_of())
    resave(path, lambda facts: facts["value"].update(change))
    with pytest.raises(nd.DataError) as problem:
        read(tmp_path)
    assert message in str(problem.value)
    assert f"{path} was written by another version of neardup" in str(problem.value)
    assert "Go on with the version that began the run, or remove the folder" in str(problem.value)


def test_another_format_of_files_is_refused_with_what_to_do(tmp_path):
    path = saved(tmp_path)
    content = bytearray(path.read_bytes())
    content[16] = 2
    path.write_bytes(content)
    with pytest.raises(nd.DataError, match=r"its format is 2, and this version reads 1\. Go on with the version"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda facts: facts["value"].update(fields={}), "the fields of elements are "),
        (lambda facts: facts["value"].update(fields=[]), "fields are missing"),
        (lambda facts: facts["value"]["fields"].update(values={"buffer": 1}), "elements.values is float64"),
        (lambda facts: facts["value"]["fields"].update(values={"buffer": 9}), "buffer stands where"),
        (lambda facts: facts["value"]["fields"].update(values={"buffer": True}), "buffer stands where"),
        (lambda facts: facts["value"]["fields"].update(values=None), "elements.values is NoneType instead of uint64"),
        (lambda facts: facts.update(value=[1]), "a list stands where a value should"),
        (lambda facts: facts.update(value={}), "nothing stands where a value should"),
        (lambda facts: facts.update(value={"map": 1}), "fields are missing"),
        (lambda facts: facts.update(value={"list": 1}), "list stands where a value should"),
        (lambda facts: facts.update(buffers=5), "it lacks a value"),
        (lambda facts: facts.pop("buffers"), "it lacks a value"),
        (lambda facts: facts["buffers"][0].update(kind="object"), "an array is object"),
        (lambda facts: facts["buffers"][0].update(kind="O"), "an array is O"),
        (lambda facts: facts["buffers"][0].update(shape=[-1]), "an array is uint64"),
        (lambda facts: facts["buffers"][0].update(shape=[1 << 62]), "it is too short"),
        (lambda facts: facts["buffers"][0].update(shape=["x"]), "a buffer is described as"),
        (lambda facts: facts["buffers"][0].pop("crc32"), "a buffer is described as"),
        (lambda facts: facts["buffers"].insert(0, 5), "a buffer is described as"),
        (lambda facts: facts["buffers"].insert(0, {"arrow": -5}), "it is too short"),
        (lambda facts: facts["buffers"].insert(0, {"arrow": 1 << 62}), "it is too short"),
    ],
)
def test_facts_that_nobody_saves_are_refused(tmp_path, change, message):
    path = saved(tmp_path, elements_of())
    resave(path, change)
    with pytest.raises(nd.DataError, match=rf"is damaged \(.*({message}).*Remove the folder {tmp_path}/pass"):
        read(tmp_path)


def test_arrow_data_of_another_kind_are_refused(tmp_path):
    path = saved(tmp_path, IDS)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, pa.schema([("texts", pa.int64())])):
        pass
    strange = sink.getvalue().to_pybytes()
    for content, message in ((strange, "Arrow data are .*int64"), (b"strange" * 9, "Arrow data cannot be read")):
        facts = {"value": {"buffer": 0}, "buffers": [{"arrow": len(content), "crc32": zlib.crc32(content)}]}
        path.write_bytes(path.read_bytes()[:20] + frames({"name": "pass/000000.done"}, facts) + content)
        with pytest.raises(nd.DataError, match=message):
            read(tmp_path)


UNSOUND = {
    "elements": {"offsets": np.array([0, 99, 3, 4, 30])},
    "prefixes": {"facts": np.full((4, 4), 99, np.int32)},
    "candidates": {"near": np.array([99], np.uint32), "near_starts": np.array([0, 0, 0, 0, 1])},
}


@pytest.mark.parametrize("name", UNSOUND)
def test_places_beyond_an_array_are_refused(name):
    """Kernels do not look whether a place lies within an array."""
    fields = CODECS[name].fields_of(objects()[name])
    assert same(CODECS[name].made_of(fields), objects()[name])
    with pytest.raises(MalformedError, match=rf"{name}.* (do not go together|instead of)"):
        CODECS[name].made_of(fields | UNSOUND[name])


def test_deep_facts_are_refused(tmp_path):
    path = saved(tmp_path, None)
    deep = b'{"list": [' * 100_000 + b"]}" * 100_000
    facts = b'{"value": ' + deep + b', "buffers": []}'
    path.write_bytes(path.read_bytes()[:20] + frames({"name": "pass/000000.done"}, facts))
    with pytest.raises(nd.DataError, match="is damaged"):
        read(tmp_path)


def test_every_bit_of_a_file_counts(tmp_path):
    value = (elements_of("jaccard"), IDS, "text")
    path = saved(tmp_path, value)
    content = path.read_bytes()
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        with pytest.raises(nd.DataError, match=str(tmp_path)):
            read(tmp_path)
    for end in range(0, len(content), 5):
        path.write_bytes(content[:end])
        with pytest.raises(nd.DataError, match=r"is damaged .*Remove the folder"):
            read(tmp_path)
    path.write_bytes(content + b"x")
    with pytest.raises(nd.DataError, match=r"1 bytes more"):
        read(tmp_path)


def test_a_file_under_another_name_is_refused(tmp_path):
    saved(tmp_path, 5).rename(tmp_path / "pass" / "000001.done")
    with pytest.raises(nd.DataError, match=r"it is another file under this name"):
        read(tmp_path, "pass/000001.done")


class Exploit:
    def __reduce__(self):
        return (print, ("executed",))


def test_pickles_are_not_read(tmp_path, capsys):
    path = saved(tmp_path)
    path.write_bytes(pickle.dumps(Exploit()))
    with pytest.raises(nd.DataError, match=r"is damaged"):
        read(tmp_path)
    assert capsys.readouterr().out == ""


def test_values_do_not_hold_objects_of_other_versions():
    with pytest.raises(OtherVersionError, match=r"called None"):
        decode({"codec": None, "version": 1, "fields": {}}, [])


def corpus_of(folder, shards=5):
    folder.mkdir()
    for shard in range(shards):
        rows = [json.dumps({"text": f"{folder.name} {shard} {row}"}) for row in range(shard)]
        (folder / f"{shard}.jsonl").write_text("\n".join(rows))
    return FileCorpus(find_shards([folder]), Columns())


def texts_of(batch):
    return batch.texts.to_pylist()


def test_two_corpora_of_shards_are_one(tmp_path):
    first, second = corpus_of(tmp_path / "a"), corpus_of(tmp_path / "b", 3)
    rows = sum(len(texts) for _, texts in first.map(texts_of))
    pair = pair_of(first, rows, second)
    assert isinstance(pair, ShardedPair)
    expected = list(CorpusPair(first, rows, second).map(texts_of))
    assert list(pair.map(texts_of)) == expected
    assert len(pair.groups()) == 8
    wanted = np.arange(rows + 3) % 3 == 0
    masked = list(CorpusPair(first, rows, second).map(texts_of, wanted=wanted))
    assert list(pair.map(texts_of, wanted=wanted)) == masked != expected
    checkpoints = SavedCheckpoints(tmp_path)
    for skipped in (0, 8):
        assert list(checkpoints.map(pair, texts_of, name="a pass")) == expected
        assert checkpoints.skipped == skipped
    in_memory = TableCorpus(["x"])
    assert isinstance(pair_of(first, rows, in_memory), CorpusPair)


def test_a_corpus_in_memory_is_read_again(tmp_path):
    for checkpoints in (NO_CHECKPOINTS, SavedCheckpoints(tmp_path)):
        for _ in range(2):
            assert list(checkpoints.map(TableCorpus(["x", "y"]), texts_of, name="a")) == [(0, ["x", "y"])]
    assert list(tmp_path.iterdir()) == []


def test_a_step_is_computed_once(tmp_path):
    computed = []

    def compute():
        computed.append(1)
        return ("found", 5)

    assert [SavedCheckpoints(tmp_path).checkpoint("step", compute) for _ in range(3)] == [("found", 5)] * 3
    assert [NO_CHECKPOINTS.checkpoint("step", compute) for _ in range(3)] == [("found", 5)] * 3
    assert len(computed) == 4
    saved(tmp_path, 1, 2, name="step.done")
    with pytest.raises(nd.DataError, match=rf"{tmp_path}/step\.done has 2 values instead of one\. Remove it"):
        SavedCheckpoints(tmp_path).checkpoint("step", compute)


def count_into(state, interrupt_at=None):
    def work(batch: Batch):
        if batch.shard == interrupt_at:
            raise KeyboardInterrupt
        state[batch.shard] += len(batch.texts)
        return len(batch.texts)

    return work


@pytest.mark.parametrize("lost", [None, "000001.done", "000004.state"])
def test_a_state_is_gathered_once_from_each_shard(tmp_path, lost):
    """A state is of all groups up to its number; where pieces of one of them are gone, it is gathered anew."""
    corpus = corpus_of(tmp_path / "a")
    state = np.zeros(5, np.int64)
    pass_ = SavedCheckpoints(tmp_path, state_seconds=-1).map(corpus, count_into(state, 4), name="count", state=state)
    with pytest.raises(KeyboardInterrupt):
        list(pass_)
    assert {path.name for path in (tmp_path / "count").glob("*.state")} == {"000004.state"}
    if lost:
        (tmp_path / "count" / lost).unlink()
    state = np.zeros(5, np.int64)
    again = SavedCheckpoints(tmp_path, state_seconds=-1)
    found = [size for _, size in again.map(corpus, count_into(state), name="count", state=state)]
    assert found == [1, 2, 3, 4]
    assert state.tolist() == [0, 1, 2, 3, 4]
    assert again.skipped == (0 if lost else 4)


def test_a_state_of_another_form_is_refused(tmp_path):
    corpus, state = corpus_of(tmp_path / "a"), np.zeros(5, np.int64)
    list(SavedCheckpoints(tmp_path).map(corpus, count_into(state), name="count", state=state))
    with pytest.raises(nd.DataError, match=rf"has another array than is gathered\. Remove the folder {tmp_path}/count"):
        list(SavedCheckpoints(tmp_path).map(corpus, len, name="count", state=np.zeros(6, np.int64)))


def test_a_folder_of_pickles_is_refused(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps({"inputs": [], "versions": {"neardup": "0.9"}}))
    with pytest.raises(nd.InputError, match=rf"{tmp_path} was begun by an older version of neardup.* Remove it"):
        RunFolder(tmp_path, {"inputs": []})


def test_a_folder_of_a_later_format_is_refused(tmp_path):
    RunFolder(tmp_path, {"inputs": []}).release()
    found = json.loads((tmp_path / "run.json").read_bytes())
    found["format"] = 3
    found["checksum"] = zlib.crc32(json.dumps([3, found["content"]], sort_keys=True).encode())
    (tmp_path / "run.json").write_text(json.dumps(found))
    with pytest.raises(nd.InputError, match=r"its format is 3, and this version reads 2\. Go on with that version"):
        RunFolder(tmp_path, {"inputs": []})


RUN = {"inputs": [], "options": {"keep": "first"}, "versions": {"neardup": "0.9", "numpy": "2.4", "python": "3.11.6"}}


def test_a_run_that_other_versions_began_is_refused_with_what_to_do(tmp_path):
    RunFolder(tmp_path, RUN).release()
    now = RUN | {"versions": RUN["versions"] | {"neardup": "1.0", "python": "3.11.7"}, "options": {"keep": "last"}}
    with pytest.raises(nd.InputError) as told:
        RunFolder(tmp_path, now)
    assert str(told.value) == (
        f"{tmp_path} was begun with other versions, and this run cannot go on with their work: neardup was '0.9', is '1.0', python "
        "was '3.11.6', is '3.11.7'. Go on with those, or remove the folder and begin anew."
    )
    RunFolder(tmp_path, RUN).release()


def test_an_option_that_was_not_there_yet_was_not_given(tmp_path):
    RunFolder(tmp_path, RUN).release()
    RunFolder(tmp_path, RUN | {"options": {"keep": "first", "keep_as": None}}).release()
    with pytest.raises(
        nd.RecipeMismatch, match="the work of another run: options: keep_as was None, is 'number'. Run as"
    ):
        RunFolder(tmp_path, RUN | {"options": {"keep": "first", "keep_as": "number"}})


def test_a_record_of_a_run_renames_only_files_of_that_run(tmp_path):
    """A crafted record names a final file, but not what is moved there."""
    run = RunFolder(tmp_path / "r", {})
    mine, other = tmp_path / "mine.txt", tmp_path / "other.txt"
    mine.write_text("mine")
    other.write_text("other")
    run.complete([mine], {"n": 1})
    assert run.completed() == {"n": 1}
    assert (mine.read_text(), other.read_text()) == ("mine", "other")
    run.partial(mine).write_text("new")
    assert run.completed() == {"n": 1}
    assert mine.read_text() == "new"
    mine.unlink()
    assert run.completed() is None


def test_fingerprints_that_are_no_object_of_their_class_are_not_saved():
    wrong = Fingerprints(np.zeros((2, 2), np.int64), np.zeros((2, 2), np.uint64), np.zeros(2, np.int64))
    with pytest.raises(MalformedError, match=r"fingerprints\.values is int64\[2, 2\] instead of uint64\[n, words\]"):
        encode(wrong)
    longer = Fingerprints(np.zeros((2, 2), np.uint64), np.zeros((3, 2), np.uint64), np.zeros(2, np.int64))
    with pytest.raises(MalformedError, match=r"fingerprints\.digests is uint64\[3, 2\] instead of uint64\[n, 2\]"):
        encode(longer)


def test_the_page_of_the_format_has_every_codec():
    page = (ROOT / "docs" / "resume-format.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| `([a-z ]+)` \| (\d+) \| (.*) \|$", page, re.MULTILINE)
    rows = {name: fields for name, _, fields in found}
    assert {name: int(version) for name, version, _ in found} == {name: each.version for name, each in CODECS.items()}
    for name, each in CODECS.items():
        assert set(re.findall(r"`(\w+)`", rows[name])) == set(each.forms), name
        for form in "|".join(each.forms.values()).split("|"):
            assert (
                form in ("value", "large_string") or form[form.index("[") :] in rows[name] or "or empty" in rows[name]
            )
    for kind in KINDS:
        assert f"`{kind}`" in page
