"""Repeated lines and paragraphs go, and nothing else: against the obvious definition."""

import dataclasses
import json
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unit_texts import FIRST, NOTICE, SECOND, THIRD, expected_of, pieces, unit_text, units

import naive
import neardup as nd
from neardup.fingerprints import unit_corpus
from neardup.fingerprints.unit_corpus import with_tokens
from neardup.io.corpora.batch import Columns
from neardup.io.corpora.shards import find_shards
from neardup.io.formats.json.json_spans import text_spans
from neardup.io.formats.table import FORMATS, open_sink
from neardup.text import units as units_of_texts
from neardup.text.units import SEPARATORS, split, without_units


@units
@given(texts=st.lists(st.one_of(st.none(), unit_text), max_size=6), offset=st.integers(0, 2))
def test_texts_are_cut_as_the_definition_says(unit, texts, offset):
    found = split(pa.array([None, "x\n\ny", *texts], pa.large_string()).slice(offset), unit)
    expected = [naive.units(text or "", unit)[1::2] for text in [None, "x\n\ny", *texts][offset:]]
    everything = [found.data[a:b].tobytes().decode() for a, b in zip(found.starts, found.ends, strict=True)]
    assert [everything[a:b] for a, b in pairwise(found.firsts)] == expected
    flat = [body for bodies in expected for body in bodies]
    chosen = with_tokens(found)
    assert chosen.tolist() == [i for i, body in enumerate(flat) if naive.tokens(body)]
    assert found.texts(chosen).to_pylist() == [flat[i] for i in chosen]


@units
@given(texts=st.lists(unit_text, min_size=1, max_size=3), data=st.data())
def test_units_go_with_their_separators_and_all_else_stays(unit, texts, data):
    sizes = [len(naive.units(text, unit)[1::2]) for text in texts]
    removed = sorted(data.draw(st.sets(st.integers(0, max(sum(sizes) - 1, 0)), max_size=8))) if sum(sizes) else []
    starts = np.cumsum([0, *sizes])
    expected = [
        naive.without_units(text, unit, {number - start for number in removed})
        for text, start in zip(texts, starts.tolist(), strict=False)
    ]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(units_of_texts, "RUNS_AT_ONCE", data.draw(st.integers(1, 3)))
        assert without_units(texts, np.array(removed, np.int64), unit) == expected


@units
@given(texts=st.lists(unit_text, min_size=1, max_size=4))
def test_the_units_of_joined_texts_are_those_of_the_texts(unit, texts):
    apart = [body for text in texts for body in naive.units(text, unit)[1::2]]
    assert naive.units(SEPARATORS[unit].join(texts), unit)[1::2] == apart


def compact(row):
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


@units
@pytest.mark.parametrize("format_", ["jsonl", "parquet"])
@given(
    texts=st.lists(st.lists(pieces, max_size=14).map("".join), min_size=1, max_size=8),
    threads=st.sampled_from([1, 3]),
    at_once=st.sampled_from([1, 3, 1000]),
)
@settings(max_examples=30)
def test_files_lose_the_units_of_the_definition(unit, format_, texts, threads, at_once, tmp_path_factory):
    folder = tmp_path_factory.mktemp("units")
    written, removed = expected_of(texts, unit)
    source, target = folder / f"in.{format_}", folder / f"out.{format_}"
    if format_ == "jsonl":
        source.write_bytes(b"".join(compact({"id": row, "text": text, "n": [1, {}]}) for row, text in enumerate(texts)))
    else:
        pq.write_table(pa.table({"id": range(len(texts)), "text": texts}), source, row_group_size=3)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(unit_corpus, "UNITS_AT_ONCE", at_once)
        done = nd.deduplicate_units(source, str(target), unit=unit, min_similarity=1, threads=threads)
    kept = [(row, text) for row, text in enumerate(written) if text is not None]
    if format_ == "jsonl":
        assert target.read_bytes() == b"".join(compact({"id": row, "text": text, "n": [1, {}]}) for row, text in kept)
    else:
        assert pq.read_table(target).to_pylist() == [{"id": row, "text": text} for row, text in kept]
    audit = [json.loads(line) for line in (folder / "out.duplicates.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {(line["row"], line["unit"]): (line["survivor_row"], line["survivor_unit"]) for line in audit} == removed
    assert [(line["row"], line["unit"]) for line in audit] == sorted(removed)
    assert all(line["emptied"] == (written[line["row"]] is None) for line in audit)
    assert all(line["text"] == naive.units(texts[line["row"]], unit)[1::2][line["unit"]] for line in audit)
    counts = done.summary
    assert (counts.documents, counts.survivors, counts.removed_units) == (len(texts), len(kept), len(removed))
    assert counts.emptied_documents == written.count(None)
    assert counts.changed_documents == sum(text != texts[row] for row, text in kept)
    assert counts.text_bytes == sum(len(text.encode()) for text in texts)


def write(folder, *rows):
    path = folder / "in.jsonl"
    path.write_bytes(b"".join(rows))
    return path


def test_rows_stay_byte_for_byte_but_for_their_text(tmp_path):
    rows = [
        b'  {"x" : [1, {"text": "}"}], "text":%s, "y":"\\u00e9" }  \r\n' % json.dumps(FIRST).encode(),
        b'{"meta": {"a.b": 1, "y": null}, "te\\u0078t" :  %s  ,"z": 1e400}\n' % json.dumps(SECOND).encode(),
        compact({"text": THIRD}),
        b'{"text": "Nothing\\/ of \\u00e9", "k\\"": "\\\\"}',
    ]
    done = nd.deduplicate_units(write(tmp_path, *rows), str(tmp_path / "out.jsonl"), unit="paragraph")
    changed = rows[1].replace(
        json.dumps(SECOND).encode(), json.dumps(SECOND.removesuffix(f"\n\n{NOTICE}\n") + "\n").encode()
    )
    assert (tmp_path / "out.jsonl").read_bytes() == rows[0] + changed + rows[3]
    assert (done.summary.changed_documents, done.summary.emptied_documents) == (1, 1)
    assert done.summary.removed_bytes == 2 * len(NOTICE)
    assert "4 documents" in str(done)
    assert "1 document changed, 1 left empty and removed" in str(done)
    assert json.loads(done.to_json())["unit"] == "paragraph"


def test_several_and_nested_columns_have_units_of_their_own(tmp_path):
    table = pa.table(
        {
            "title": pa.array(["One ferry", "One ferry", "Bread"]).dictionary_encode(),
            "meta": pa.array(
                [{"body": "first\n\nsecond", "n": 1}, {"body": "third\n\nfirst", "n": None}, {"body": "second", "n": 3}]
            ),
        }
    )
    pq.write_table(table, tmp_path / "in.parquet")
    write(tmp_path, *map(compact, table.to_pylist()))
    expected = [
        {"title": "One ferry", "meta": {"body": "first\n\nsecond", "n": 1}},
        {"title": "", "meta": {"body": "third", "n": None}},
        {"title": "Bread", "meta": {"body": "", "n": 3}},
    ]
    for ending in ("parquet", "jsonl"):
        target = tmp_path / f"out.{ending}"
        nd.deduplicate_units(
            tmp_path / f"in.{ending}", str(target), unit="paragraph", text=("title", "meta.body"), overwrite=True
        )
        if ending == "parquet":
            assert pq.read_table(target).schema == pq.read_table(tmp_path / "in.parquet").schema
            assert pq.read_table(target).to_pylist() == expected
        else:
            assert target.read_bytes() == b"".join(map(compact, expected))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_a_parquet_column_keeps_its_type(tmp_path, kind):
    table = pa.table(
        {"text": pa.array([FIRST, SECOND, THIRD], pa.string()).cast(kind), "n": [1, 2, 3]}
    ).replace_schema_metadata({"a": "b"})
    pq.write_table(table, tmp_path / "in.parquet")
    nd.deduplicate_units(tmp_path / "in.parquet", str(tmp_path / "out.parquet"), unit="paragraph")
    found = pq.read_table(tmp_path / "out.parquet")
    assert found.schema.equals(pq.read_table(tmp_path / "in.parquet").schema, check_metadata=True)
    assert found.column("n").to_pylist() == [1, 2]
    assert found.column("text").to_pylist() == [FIRST, SECOND.removesuffix(f"\n\n{NOTICE}\n") + "\n"]


def test_the_preferred_document_keeps_its_units(tmp_path):
    rows = [compact({"id": name, "text": text, "age": age}) for name, text, age in (("a", FIRST, 1), ("b", SECOND, 2))]
    source = write(tmp_path, *rows)
    nd.deduplicate_units(source, str(tmp_path / "out.jsonl"), unit="paragraph", keep="max:age")
    kept = [json.loads(line)["text"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [NOTICE in text for text in kept] == [False, True]


@pytest.mark.parametrize("method", ["exact", "minhash", "simhash"])
@pytest.mark.parametrize("threads", [1, 3])
def test_units_are_decided_alike_however_many_are_passed_on_at_a_time(tmp_path, monkeypatch, method, threads):
    words = [f"word{i}" for i in range(60)]
    lines = [" ".join(words[i % 7 : i % 7 + 20 + i % 3]) + f" {i % 5}" for i in range(90)]
    source = write(tmp_path, *(compact({"text": "\n".join(lines[i::4]), "host": i % 2}) for i in range(4)))

    def written(name, **options):
        target = tmp_path / name
        nd.deduplicate_units(source, str(target), unit="line", method=method, threads=threads, **options)
        return target.read_bytes(), (tmp_path / name.replace(".jsonl", ".duplicates.jsonl")).read_bytes()

    for options in ({}, {"within": "host"}, {"cluster": "components", "keep": "longest"}):
        monkeypatch.setattr(unit_corpus, "UNITS_AT_ONCE", 1000)
        expected = written("out.jsonl", overwrite=True, **options)
        monkeypatch.setattr(unit_corpus, "UNITS_AT_ONCE", 2)
        assert written("parts.jsonl", overwrite=True, **options) == expected


def test_units_match_only_within_their_group(tmp_path):
    source = write(tmp_path, *(compact({"text": NOTICE, "host": host}) for host in "aab"))
    done = nd.deduplicate_units(source, None, unit="line", within="host", dry_run=True)
    assert (done.summary.removed_units, done.summary.emptied_documents) == (1, 1)


def test_near_units_match_and_components_name_their_links(tmp_path):
    words = [f"word{i}" for i in range(60)]
    chain = [" ".join(words[shift : shift + 40]) for shift in (0, 4, 8, 12)]
    source = write(tmp_path, compact({"id": "a", "text": "\n".join(chain)}))
    nd.deduplicate_units(source, str(tmp_path / "out.jsonl"), unit="line", cluster="components")
    audit = [json.loads(line) for line in (tmp_path / "out.duplicates.jsonl").read_text().splitlines()]
    assert [(line["unit"], line["survivor_unit"], line["matched_unit"]) for line in audit] == [
        (1, 0, 0),
        (2, 0, 1),
        (3, 0, 2),
    ]
    assert all(line["matched_similarity"] >= 0.8 and line["matched_id"] == "a" for line in audit)


def test_explain_says_which_units_were_removed_and_refuses_what_it_cannot_tell(tmp_path):
    rows = [compact({"id": name, "text": text}) for name, text in (("a", FIRST), ("b", SECOND))]
    nd.deduplicate_units(write(tmp_path, *rows), str(tmp_path / "out.jsonl"), unit="paragraph")
    [line] = nd.explain(tmp_path / "out.duplicates.jsonl", "b").removed
    assert (line["unit"], line["survivor_unit"], line["text"]) == (3, 1, NOTICE[:80])
    with pytest.raises(nd.InputError, match="none of its paragraphs was a repeated one"):
        nd.explain(tmp_path / "out.duplicates.jsonl", "a")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unit": "sentence"}, "`unit='sentence'`: give one of line, paragraph"),
        ({"annotate": True}, "`unit='line'` with `annotate`"),
        ({"against": "other.jsonl"}, "`unit='line'` with `against`"),
        ({"html": "main"}, "`unit='line'` with `html`"),
        ({"lines": True}, "`unit='line'` with `lines`: a line is a document there, and has no parts"),
        ({"text": ("a", "a")}, "name each column once"),
    ],
)
def test_options_that_make_no_sense_together_are_refused(tmp_path, options, message):
    with pytest.raises(nd.OptionError, match=message):
        nd.deduplicate_units(tmp_path / "none.jsonl", str(tmp_path / "out.jsonl"), **{"unit": "line", **options})


def test_an_output_of_another_format_is_refused(tmp_path):
    with pytest.raises(nd.InputError, match="name an output of the same format"):
        nd.deduplicate_units(write(tmp_path, compact({"text": "a"})), str(tmp_path / "out.parquet"), unit="line")


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=12,
)


@given(
    row=st.dictionaries(st.text(max_size=4), json_values, max_size=5),
    text=st.text(),
    escaped=st.booleans(),
    indent=st.sampled_from([None, 1]),
)
def test_texts_are_found_in_any_row(row, text, escaped, indent):
    row = {"body": None} | row | {"meta": {"body": text, "x": row}, "text": text}
    row.pop("meta.body", None)
    line = json.dumps(row, ensure_ascii=escaped, indent=indent).replace("\n", " ").encode("utf-8", "surrogatepass")
    for start, end in text_spans(line, ("text", "meta.body")):
        assert json.loads(line[start:end].decode("utf-8", "surrogatepass")) == text


def test_a_row_that_is_nested_deeply_is_rewritten(tmp_path):
    deep = b'{"deep": %s1%s, "text": "same line"}\n' % (b"[" * 3000, b"]" * 3000)
    rows = [compact({"text": "same line"}), deep.replace(b'"same line"', b'"same line\\nother"')]
    nd.deduplicate_units(write(tmp_path, *rows), str(tmp_path / "out.jsonl"), unit="line")
    assert (tmp_path / "out.jsonl").read_bytes() == rows[0] + deep.replace(b'"same line"', b'"other"')


@pytest.mark.parametrize("encoding", ["utf-16-le", "gb18030", "shift_jis"])
def test_rows_of_other_encodings_are_rewritten_as_they_are_stored(tmp_path, encoding):
    rows = [
        '{"a": "雨", "text": "雨 一"}\n',
        '{"a": "雨", "text" : "\\u540c\\u3058行です\\n\\ud83d\\ude00 a", "b": "行"}\n',
    ]
    (tmp_path / "in.jsonl").write_bytes("".join(rows).encode(encoding))
    [shard] = find_shards([tmp_path / "in.jsonl"])
    shard = dataclasses.replace(shard, encoding=encoding)
    with open_sink(tmp_path / "out.jsonl", "jsonl") as sink:
        FORMATS["jsonl"].replace(
            shard,
            Columns(),
            lambda row, texts: [text.split("\n")[row] for text in texts],
            sink,
            keep=np.array([True, True]),
            changed=np.array([False, True]),
        )
    smile = "\\ud83d\\ude00" if encoding == "shift_jis" else "\U0001f600"
    written = (tmp_path / "out.jsonl").read_bytes().decode(encoding)
    assert written == rows[0] + f'{{"a": "雨", "text" : "{smile} a", "b": "行"}}\n'


def test_a_format_that_cannot_be_rewritten_is_refused(tmp_path, monkeypatch):
    (tmp_path / "in.csv").write_text("text\na\n")
    monkeypatch.setitem(FORMATS, "csv", object())
    with pytest.raises(nd.InputError, match=r"in\.csv is csv: `unit='line'` can rewrite jsonl, parquet, .*Convert it"):
        nd.deduplicate_units(tmp_path / "in.csv", str(tmp_path / "out.csv"), unit="line")
