"""Files without their repeated passages: each cut is in the log, and what it names stays; in memory, the same is found."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import neardup as nd
from passage_logs import demand_copies, is_what_is_left, read_lines, rest_of

WORDS = ["a", "b", "天", "c", "Zoë", "か"]
BETWEEN = [" ", " ", " ", "\n", ", ", "\n\n", ". "]
TEXTS = st.integers(1, 4).flatmap(
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
        "keep": st.sampled_from(["first", "last", "longest", "shortest"]),
    }
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("passages")


def write(path, rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def cut_files(folder, rows, *, references=(), shards=1, **options):
    """The output and the log of a run over files."""
    for old in folder.rglob("*.jsonl"):
        old.unlink()
    (folder / "in").mkdir(exist_ok=True)
    size = -(-len(rows) // shards)
    for number in range(shards):
        write(folder / "in" / f"{number}.jsonl", rows[number * size : (number + 1) * size])
    against = [write(folder / "ref.jsonl", references)] if references else []
    done = nd.passages_files(folder / "in", folder / "out.jsonl", against=against, overwrite=True, **options)
    return read_lines(folder / "out.jsonl"), read_lines(folder / "out.passages.jsonl"), done


@given(CORPORA, OPTIONS, st.integers(0, 2), st.integers(1, 3))
def test_every_token_that_is_cut_stands_in_a_text_that_stays(folder, texts, options, references, shards):
    rows = [{"id": f"d{i}", "text": text} for i, text in enumerate(texts)]
    inputs = rows[: max(1, len(rows) - references)]
    out, log, done = cut_files(folder, inputs, references=rows[len(inputs) :], shards=shards, **options)
    left = {int(row["id"][1:]): row["text"] for row in out}
    cut = demand_copies(rows, len(inputs), log, left)
    for number, row in enumerate(inputs):
        rest = rest_of(row["text"], cut.get((number, 0), ()))
        assert (number in left) == (bool(rest) or not cut.get((number, 0))) or number in left
        if number in left:
            assert naive.tokens(left[number]) == rest
            assert is_what_is_left(row["text"], left[number])
            assert left[number] == row["text"] or (number, 0) in cut
    counts = done.summary
    assert counts.cut_tokens == sum(map(len, cut.values())) == sum(line["tokens"] for line in log)
    assert counts.tokens == sum(len(naive.tokens(row["text"])) for row in inputs)
    assert (counts.documents, counts.removed) == (len(inputs), len(inputs) - len(out))
    assert counts.characters == sum(len(row["text"]) for row in inputs)


@given(CORPORA, CORPORA, OPTIONS)
def test_of_several_columns_too(folder, titles, texts, options):
    rows = [{"id": i, "title": title, "text": text} for i, (title, text) in enumerate(zip(titles, texts, strict=False))]
    out, log, done = cut_files(folder, rows, text=("title", "text"), **options)
    left = {row["id"]: row for row in out}
    cut = demand_copies(rows, len(rows), log, left, ("title", "text"))
    for row in out:
        for number, column in enumerate(("title", "text")):
            given_text = rows[row["id"]][column]
            assert naive.tokens(row[column]) == rest_of(given_text, cut.get((row["id"], number), ()))
            assert row[column] == given_text or (row["id"], number) in cut
    assert done.summary.characters == sum(len(row["title"]) + len(row["text"]) for row in rows)


@given(CORPORA, OPTIONS, st.integers(1, 3), st.sampled_from([1, 4]), st.sampled_from([None, "16M"]))
def test_files_in_any_number_of_shards_and_texts_in_memory_give_the_same(
    folder, texts, options, shards, threads, memory
):
    rows = [{"id": i, "text": text} for i, text in enumerate(texts)]
    out, log, done = cut_files(folder, rows, shards=shards, threads=threads, memory=memory, **options)
    found = nd.passages(rows, **options)
    assert found.texts == out
    assert found.cuts.to_pylist() == log
    one, other = (each.as_dict() for each in (found.summary, done.summary))
    names = ("documents", "changed", "removed", "kept_for_copies", "passages", "tokens", "cut_tokens", "characters")
    assert [one[name] for name in names] == [other[name] for name in names]
    assert [row["id"] for row in out] == np.flatnonzero(found.kept).tolist()
    nd.passages_files(folder / "in", folder / "list.jsonl", list=True, overwrite=True, **options)
    assert read_lines(folder / "list.jsonl") == found.repeated.to_pylist()
    nd.passages_files(folder / "in", folder / "all.jsonl", annotate=True, overwrite=True, **options)
    marked = read_lines(folder / "all.jsonl")
    assert [[(0, *span) for span in row.pop("passages")] for row in marked] == [
        [tuple(span) for span in spans] for spans in found.spans
    ]
    assert marked == rows


@given(CORPORA, OPTIONS)
def test_the_list_has_every_cut_once_and_texts_of_equal_tokens_together(texts, options):
    found = nd.passages(texts, **options)
    listed = found.repeated.to_pylist()
    cuts = {(cut["row"], cut["start"], cut["end"]) for cut in found.cuts.to_pylist()}
    told = [(place["row"], place["start"], place["end"]) for each in listed for place in each["places"]]
    assert cuts <= set(told)
    for each in listed:
        tokens = naive.tokens(each["text"])
        assert len(tokens) == each["tokens"]
        assert (each["count"], each["total"]) == (len(each["places"]), len(each["places"]) * len(tokens))
        for place in each["places"]:
            assert naive.tokens(texts[place["row"]][place["start"] : place["end"]]) == tokens
        first = each["places"][0]
        assert texts[first["row"]][first["start"] : first["end"]] == each["text"]
    assert len({tuple(naive.tokens(each["text"])) for each in listed}) == len(listed)
    assert [(-each["count"], -each["tokens"]) for each in listed] == sorted(
        (-each["count"], -each["tokens"]) for each in listed
    )


@given(CORPORA, st.integers(2, 5), st.integers(0, 4))
def test_a_document_of_which_too_little_is_left_goes_unless_it_has_a_copy(texts, size, least):
    found = nd.passages(texts, min_tokens=size, min_left=least)
    named = {cut["copy_row"] for cut in found.cuts.to_pylist()}
    cut = dict.fromkeys(range(len(texts)), 0)
    for each in found.cuts.to_pylist():
        cut[each["row"]] += each["tokens"]
    left = {row: len(naive.tokens(texts[row])) - cut[row] for row in cut if cut[row]}
    few, named = {row for row in left if left[row] < least}, {row for row in named if left.get(row)}
    assert set(np.flatnonzero(~found.kept).tolist()) == few - named
    assert found.summary.kept_for_copies == len(few & named)
    assert {each["row"] for each in found.cuts.to_pylist() if each["document_removed"]} == few - named


def test_a_text_that_repeats_itself_keeps_one_period_however_few_tokens_that_are():
    found = nd.passages([" ".join(["row row row your boat"] * 20)], min_tokens=10, min_left=50)
    assert found.texts == ["row row row your boat "]
    assert found.summary.kept_for_copies == 1


def test_of_a_periodic_text_one_period_stays():
    text = " ".join(f"w{i % 7}" for i in range(200))
    [left] = nd.passages([text]).texts
    assert left.split() == text.split()[:7]


@pytest.mark.parametrize("text", ["", " ", "...", "one two three"])
def test_texts_without_a_passage_stay_as_they_are(tmp_path, text):
    found = nd.passages([text, text])
    assert found.texts == [text, text]
    assert found.cuts.num_rows == found.repeated.num_rows == 0
    rows = [{"text": text}, {"text": text}]
    before = write(tmp_path / "in.jsonl", rows).read_bytes()
    nd.passages_files(tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == before
    assert (tmp_path / "out.passages.jsonl").read_bytes() == b""


def test_without_any_text_nothing_is_cut():
    found = nd.passages([])
    assert (found.texts, found.spans, found.kept.tolist()) == ([], [], [])
    assert found.repeated.num_rows == 0


def test_repeated_ids_are_told_apart_by_row(tmp_path):
    rows = [{"id": "x", "text": "one two three four"}, {"id": "x", "text": "five one two three"}]
    done = nd.passages_files(write(tmp_path / "in.jsonl", rows), tmp_path / "out.jsonl", min_tokens=3)
    [line] = read_lines(tmp_path / "out.passages.jsonl")
    assert (line["id"], line["row"], line["copy_id"], line["copy_row"]) == ("x", 1, "x", 0)
    assert "1 repeated id; the log tells such documents apart by row" in str(done)


def test_the_data_that_is_given_stays_as_it_is():
    rows = [{"text": "one two three", "more": {"a": 1}}, {"text": "zero one two three", "more": {"a": 2}}]
    before = json.dumps(rows)
    found = nd.passages(rows, min_tokens=3)
    assert json.dumps(rows) == before
    assert found.texts[1] == {"text": "zero ", "more": {"a": 2}}


def test_passages_of_preferred_sources_stay_in_memory_too():
    rows = [{"text": "one two three", "from": "new"}, {"text": "x one two three", "from": "old"}]
    found = nd.passages(rows, min_tokens=3, prefer_source="old", source="from")
    assert [row["text"] for row in found.texts] == ["x one two three"]
    assert nd.passages(rows, min_tokens=3, within="from").texts == rows
    assert nd.passages(rows, min_tokens=3, keep=lambda text: len(text)).texts == rows[1:]


def test_results_are_shown_in_a_line_and_as_tables(tmp_path):
    rows = [{"text": "one two three"}, {"text": "x one two three"}]
    found = nd.passages(rows, against=["x y z"], min_tokens=3)
    line = "2 documents → 3 of 7 tokens cut, 1 document changed, 0 removed"
    assert repr(found) == f"PassagesResult({line})"
    assert repr(found.summary).startswith(f"PassagesSummary({line}; ")
    assert all(text in found._repr_html_() for text in ("cut_tokens", "copy_row", "<td"))
    frame = found.cuts.to_pandas()
    assert (str(frame["copy_row"].dtype), str(frame["reference_row"].dtype)) == ("Int64", "Int64")
    done = nd.passages_files(write(tmp_path / "in.jsonl", rows), tmp_path / "out.jsonl", min_tokens=3)
    assert repr(done) == f"FilePassages({line}, output={str(tmp_path / 'out.jsonl')!r})"
    least = nd.passages_files(tmp_path / "in.jsonl", dry_run=True, min_tokens=2, min_left=2)
    assert "1 document (50.0 %) removed, of which fewer than 2 tokens were left" in str(least)
    write(tmp_path / "in.jsonl", [{"text": "one two three"}, {"text": "one two three four"}, {"text": "x three four"}])
    kept = nd.passages_files(tmp_path / "in.jsonl", dry_run=True, min_tokens=2, min_left=4)
    assert "1 document kept, of which fewer than 4 tokens were left: a copy that the log names is there" in str(kept)


def test_a_text_with_the_character_between_columns_is_refused():
    rows = [{"a": "one two three \ufdd0 four", "b": "one two three"}]
    with pytest.raises(nd.DataError, match=r"A text has the character U\+FDD0"):
        nd.passages(rows, text=["a", "b"], min_tokens=3)


def test_the_html_of_pages_becomes_text_in_memory_and_in_files(tmp_path):
    pages = ["<p>one two three four</p><p>x &amp; y</p>", "<h1>zero</h1><p>one two <b>three</b> four</p>"]
    found = nd.passages(pages, html="whole", min_tokens=3)
    assert found.texts == ["one two three four\nx & y", "zero\n"]
    write(tmp_path / "in.jsonl", [{"text": page} for page in pages])
    nd.passages_files(tmp_path / "in.jsonl", tmp_path / "out.jsonl", html="whole", min_tokens=3)
    assert [row["text"] for row in read_lines(tmp_path / "out.jsonl")] == found.texts
    assert Path(tmp_path / "out.passages.jsonl").read_text(encoding="utf-8").count("\n") == 1


def test_a_text_that_may_take_more_memory_than_allowed_is_named_before_it_is_read(monkeypatch):
    from neardup.survivors.repeats import first_pass

    monkeypatch.setattr(first_pass, "BYTES_PER_TEXT_BYTE", 1 << 20)
    said = []
    nd.passages(["short", "a " * 300], memory="512M", progress=lambda event: said.append(str(event.message)))
    assert [each for each in said if "max_document_bytes" in each] == [
        "a text of 600 B may take 792.0 MiB of memory, of 512.0 MiB: allow `memory` so much, or leave out such texts with "
        "`max_document_bytes`"
    ]
