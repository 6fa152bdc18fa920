"""Runs that cut passages are proven from their files, in every setting, and whatever is changed in these files is found."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import neardup as nd
from naive_repeats import repeated_windows
from neardup.judging.verification.passages import windows as verified_windows
from neardup.judging.verification.passages.windows import Order, Windows, bits_of, window_hashes
from neardup.resources.resources import Resources
from passage_logs import read_lines

WORDS = ["a", "b", "天", "c", "Zoë", "か", "ﷺ", "ﬁx"]
BETWEEN = [" ", " ", " ", "\n", ", ", "\n\n", ". ", "", "-"]
TEXTS = st.integers(1, 6).flatmap(
    lambda n: st.lists(st.tuples(st.sampled_from(WORDS[:n]), st.sampled_from(BETWEEN)), max_size=25).map(
        lambda parts: "".join(word + between for word, between in parts)
    )
)
CORPORA = st.lists(TEXTS, min_size=1, max_size=7)
OPTIONS = st.fixed_dictionaries(
    {
        "min_tokens": st.integers(2, 6),
        "scope": st.sampled_from(["all", "other-documents", "same-document"]),
        "align": st.sampled_from([None, "line", "paragraph"]),
        "keep": st.sampled_from(["first", "last", "longest", "max:score"]),
        "within": st.sampled_from([None, "language"]),
        "min_left": st.integers(0, 3),
    }
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("verified")


def write(path, rows):
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def failing(found):
    """The names of the checks that fail."""
    return {check.name for check in found.checks if check.failures}


@given(CORPORA, CORPORA, OPTIONS, st.integers(0, 2), st.integers(1, 3), st.booleans())
def test_every_run_is_proven(folder, titles, texts, options, references, shards, several):
    for old in folder.rglob("*.jsonl"):
        old.unlink()
    rows = [
        {
            "id": f"d{i}",
            "title": titles[i % len(titles)],
            "text": text,
            "score": i % 3,
            "language": "en" if i % 2 else "de",
        }
        for i, text in enumerate(texts)
    ]
    inputs = rows[: max(1, len(rows) - references)]
    size = -(-len(inputs) // shards)
    for number in range(shards):
        write(folder / "in" / f"{number}.jsonl", inputs[number * size : (number + 1) * size])
    others = rows[len(inputs) :]
    against = [write(folder / "ref.jsonl", others)] if others else []
    nd.passages_files(
        folder / "in",
        folder / "out.jsonl",
        against=against,
        overwrite=True,
        text=("title", "text") if several else "text",
        **options,
    )
    found = nd.verify_files(folder / "out.jsonl")
    assert found.proven, str(found)
    assert found.documents == len(inputs)


@given(CORPORA, st.integers(2, 5), st.sampled_from(["all", "other-documents", "same-document"]))
def test_repeated_windows_are_those_of_the_definition(texts, size, scope):
    documents = [[naive.tokens(text)] for text in texts]
    number = {token: i for i, token in enumerate(sorted({token for [tokens] in documents for token in tokens}))}
    counts = np.array([len(tokens) for [tokens] in documents])
    hashes = verified_windows.mixed(np.array([number[t] for [tokens] in documents for t in tokens], np.uint64))
    order = Order(counts, np.arange(len(texts)), len(texts))
    with Windows(Resources()) as windows:
        windows.add(*window_hashes(hashes, order.starts, size))
        groups = np.arange(len(texts)) if scope == "same-document" else None
        bits = windows.repeated(order, scope, groups)
    found = np.flatnonzero(bits_of(bits, 0, int(order.starts[-1]))).tolist()
    expected = repeated_windows(documents, size, scope=scope)
    assert found == sorted(int(order.starts[d]) + i for d, _, i in expected)


def test_a_sample_has_all_places_of_the_windows_that_are_in_it():
    tokens = verified_windows.mixed(np.arange(4000, dtype=np.uint64) % np.uint64(1500))
    order = Order(np.array([2500, 1500]), np.arange(2), 2)
    found = []
    for most in (None, 20_000):
        with Windows(Resources(), most) as windows:
            for part in range(0, 4000, 1000):
                hashes, starts = window_hashes(tokens, np.array([0, 2500, 4000]), 8)
                some = (starts >= part) & (starts < part + 1000)
                windows.add(hashes[some], starts[some])
            bits = windows.repeated(order, "all", None)
            found.append((windows.halvings, bits_of(bits, 0, 4000)))
    (none, every), (halvings, sampled) = found
    assert (none, halvings > 0) == (0, True)
    assert 0 < sampled.sum() < every.sum()
    assert not (sampled & ~every).any()
    assert np.array_equal(sampled[1500:2400], sampled[3000:3900])


A = "the quick brown fox jumps over the lazy dog"
B = "a stitch in time saves nine and no more"
C = "all that glitters is not gold by any means"
ROWS = [
    {"id": "one", "text": f"{A}. First of all, {B}!"},
    {"id": "two", "text": f"Then {A}, {B} again: {C}."},
    {"id": "three", "text": f"{C}; x-{A}-y"},
    {"id": "four", "text": B},
    {"id": "five", "text": f"{C} {A}, and so on"},
]


@pytest.fixture(params=["all", "against", "line"])
def run(tmp_path, request):
    """A run that is right: its folder."""
    rows, more = ROWS, {}
    if request.param == "against":
        more = {"against": write(tmp_path / "ref.jsonl", [{"id": "r", "text": f"{B} {B}"}])}
    if request.param == "line":
        rows = [dict(row, text=row["text"].replace(". ", "\n").replace(", ", "\n").replace("; ", "\n")) for row in ROWS]
        more = {"align": "line"}
    nd.passages_files(write(tmp_path / "in.jsonl", rows), tmp_path / "out.jsonl", min_tokens=5, **more)
    assert nd.verify_files(tmp_path / "out.jsonl").proven
    assert read_lines(tmp_path / "out.passages.jsonl")
    return tmp_path


def test_whatever_is_changed_in_a_line_of_the_log_is_found(run):
    path, name = run / "out.passages.jsonl", run / "out.jsonl"
    lines = read_lines(path)
    for number, line in enumerate(lines):
        for column, value in line.items():
            if isinstance(value, bool):
                others = [not value]
            elif isinstance(value, int):
                others = [value + 1, max(0, value - 1) if value else 3, 10**12]
            elif column in ("separator", "reference"):
                others = ["x" if value is None else None]
            elif column in ("copy_row", "reference_row"):
                others = [0, 1]
            else:
                others = [f"{value}x"]
            for other in others:
                write(path, [*lines[:number], line | {column: other}, *lines[number + 1 :]])
                found = nd.verify_files(name)
                assert not found.proven, (column, value, other)
                assert str(found).splitlines()[-1].startswith("not proven: ")


def test_lines_that_are_missing_twice_or_moved_are_found(run):
    path, name = run / "out.passages.jsonl", run / "out.jsonl"
    lines = read_lines(path)
    for number, line in enumerate(lines):
        write(path, [*lines[:number], *lines[number + 1 :]])
        assert failing(nd.verify_files(name)) >= {"repeated", "counts"}
        write(path, [*lines[: number + 1], *lines[number:]])
        assert failing(nd.verify_files(name)) >= {"passages", "counts"}
        if number:
            write(path, [*lines[: number - 1], line, lines[number - 1], *lines[number + 1 :]])
            assert "stated" in failing(nd.verify_files(name))


def test_whatever_is_changed_in_the_output_is_found(run):
    path = run / "out.jsonl"
    rows = read_lines(path)
    for number, row in enumerate(rows):
        for text in (row["text"] + " ", row["text"][1:], row["text"].replace("n", "m", 1), ""):
            if text != row["text"]:
                write(path, [*rows[:number], row | {"text": text}, *rows[number + 1 :]])
                assert "rows" in failing(nd.verify_files(path))
        for others in ([*rows[:number], *rows[number + 1 :]], [*rows, row], [*rows[number + 1 :], *rows[: number + 1]]):
            if others != rows:
                write(path, others)
                assert "rows" in failing(nd.verify_files(path))
        write(path, [*rows[:number], row | {"id": "other"}, *rows[number + 1 :]])
        assert "rows" in failing(nd.verify_files(path))


def test_every_count_of_the_summary_is_counted_again(run):
    path = run / "out.summary.json"
    summary = json.loads(path.read_bytes())
    names = (
        "rows",
        "documents",
        "rejected",
        "reference_documents",
        "changed",
        "removed",
        "kept_for_copies",
        "passages",
    )
    names += ("tokens", "cut_tokens", "removed_tokens", "characters", "cut_characters", "repeated_ids")
    for name in names:
        path.write_text(json.dumps(summary | {name: summary[name] + 1}))
        found = nd.verify_files(run / "out.jsonl")
        assert failing(found) == {"counts"}
        assert f"{name} is {summary[name]:,}, but the summary has {summary[name] + 1:,}" in str(found)


def changed_run(folder, rows, out, log):
    write(folder / "out.jsonl", out)
    write(folder / "out.passages.jsonl", log)
    return nd.verify_files(folder / "out.jsonl")


def test_forgeries_of_output_and_log_together_are_found(tmp_path):
    nd.passages_files(write(tmp_path / "in.jsonl", ROWS), tmp_path / "out.jsonl", min_tokens=5)
    out, log = (read_lines(tmp_path / name) for name in ("out.jsonl", "out.passages.jsonl"))
    # a passage is put back
    last = log[-1]
    row = next(i for i, each in enumerate(out) if each["id"] == "five")
    text = ROWS[4]["text"]
    assert last["id"] == "five"
    put_back = [*out[:row], out[row] | {"text": text[last["start"] :]}, *out[row + 1 :]]
    found = changed_run(tmp_path, ROWS, put_back, log[:-1])
    assert "repeated" in failing(found)
    assert "stood earlier, and is not cut" in str(found)
    # a passage that never stood earlier is cut
    first = "Then"
    cut = log[0] | {"id": "two", "row": 1, "start": 0, "end": 4, "tokens": 1, "copy_id": "one", "copy_row": 0}
    cut |= {"copy_start": 0, "copy_end": 3, "copy_is_cut": False, "separator": None}
    out_2 = [each | {"text": each["text"].removeprefix(first)} for each in out]
    found = changed_run(tmp_path, ROWS, out_2, [cut, *log])
    assert failing(found) >= {"passages", "repeated"}
    assert "its tokens are not those of its copy" in str(found)
    # a copy that stands later
    later = [
        line | {"copy_id": "four", "copy_row": 3, "copy_start": 0, "copy_end": len(B)}
        for line in log
        if line["tokens"] == 9
    ][:1]
    found = changed_run(tmp_path, ROWS, out, [*later, *log[1:]])
    assert "passages" in failing(found)
    # a short copy: tokens are the same, and no passage of five
    short = log[0] | {"id": "three", "row": 2, "start": 44, "end": 45, "tokens": 1}
    assert "passages" in failing(changed_run(tmp_path, ROWS, out, [*log, short]))


def test_a_document_is_removed_only_if_too_little_is_left(tmp_path):
    rows = [{"id": 1, "text": f"{A}"}, {"id": 2, "text": f"x {A}"}, {"id": 3, "text": f"{A} y z w v"}]
    nd.passages_files(write(tmp_path / "in.jsonl", rows), tmp_path / "out.jsonl", min_tokens=5, min_left=2)
    assert nd.verify_files(tmp_path / "out.jsonl").removed == 1
    out, log = (read_lines(tmp_path / name) for name in ("out.jsonl", "out.passages.jsonl"))
    found = changed_run(
        tmp_path,
        rows,
        [out[0], {"id": 2, "text": "x "}, *out[1:]],
        [line | {"document_removed": False} for line in log],
    )
    assert failing(found) >= {"rows", "stated"}
    assert "2 (row 1: " in str(found)
    found = changed_run(tmp_path, rows, out[:1], [line | {"document_removed": True} for line in log])
    assert failing(found) >= {"rows", "stated"}


def test_a_verification_with_little_room_says_what_it_has_not_seen(tmp_path, monkeypatch):
    nd.passages_files(write(tmp_path / "in.jsonl", ROWS), tmp_path / "out.jsonl", min_tokens=5)
    taken = Windows.__init__
    monkeypatch.setattr(Windows, "__init__", lambda self, resources: taken(self, resources, 1000))
    found = nd.verify_files(tmp_path / "out.jsonl")
    assert found.proven
    assert "of a sample: one in" in str(found)
    assert "nothing else was cut" not in str(found)


def test_the_html_of_pages_and_rows_that_cannot_be_read(tmp_path):
    pages = ["<p>one two three four</p><p>x &amp; y</p>", "<h1>zero</h1><p>one two <b>three</b> four</p>"]
    write(tmp_path / "in.jsonl", [{"text": pages[0]}, {"text": 3}, {"text": pages[1]}])
    nd.passages_files(tmp_path / "in.jsonl", tmp_path / "out.jsonl", html="whole", min_tokens=3, on_error="skip")
    found = nd.verify_files(tmp_path / "out.jsonl")
    assert found.proven, str(found)
    assert found.documents == 2
    for number, page in enumerate(pages):
        (tmp_path / "pages").mkdir(exist_ok=True)
        (tmp_path / "pages" / f"{number}.html").write_text(page)
    nd.passages_files(tmp_path / "pages", f"{tmp_path}/cut/", html="whole", min_tokens=3)
    found = nd.verify_files(f"{tmp_path}/cut/")
    assert found.proven, str(found)
    Path(tmp_path / "cut" / "1.html").write_text("zero")
    assert failing(nd.verify_files(f"{tmp_path}/cut/")) == {"rows"}
