"""Repeated lines and paragraphs go from delimited text and text files, in dialect and encoding of the file."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unit_texts import FIRST, NOTICE, SECOND, THIRD, expected_of, pieces, units

import neardup as nd
from neardup.io.dialect import Dialect

special = st.sampled_from([",", ";", "'", '"', "\\", "\t"])
texts_of_files = st.lists(st.lists(st.one_of(pieces, special), max_size=14).map("".join), min_size=1, max_size=8)
LEFT = SECOND.removesuffix(f"\n\n{NOTICE}\n") + "\n"


@units
@pytest.mark.parametrize("dialect", [',"', ";'", ',"\\', '\t"'])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-7", "gb18030"])
@given(
    texts=texts_of_files,
    quoted=st.lists(st.booleans(), min_size=8, max_size=8),
    ending=st.sampled_from(["\n", "\r\n"]),
    finished=st.booleans(),
    text_last=st.booleans(),
)
@settings(max_examples=12)
def test_rows_lose_the_units_of_the_definition(
    unit, dialect, encoding, texts, quoted, ending, finished, text_last, tmp_path_factory
):
    folder = tmp_path_factory.mktemp("units")
    form = Dialect.parse(dialect)

    def row(number, text):
        """A field that was in quotes stays in quotes, whatever is left of it."""
        in_quotes = form.cell(texts[number], quoted=quoted[number]).startswith(form.quote)
        cells = [form.cell(f"n{form.delimiter}{number}"), form.cell(text, quoted=in_quotes)]
        return form.delimiter.join(cells if text_last else [cells[1], cells[0], "\u96e8"]) + ending

    def content(rows):
        header = form.delimiter.join(["n", "text"] if text_last else ["text", "n", "m"])
        return header + ending + "".join(row(number, text) for number, text in rows)

    source, target = folder / "in.csv", folder / "out.csv"
    whole = content(enumerate(texts))
    source.write_bytes((whole if finished else whole.removesuffix(ending)).encode(encoding))
    options = {"dialect": dialect, "encoding": encoding, "min_similarity": 1}
    done = nd.deduplicate_units(source, str(target), unit=unit, **options)
    written, removed = expected_of(texts, unit)
    kept = [(number, text) for number, text in enumerate(written) if text is not None]
    found, expected = target.read_bytes().decode(encoding), content(kept)
    assert found in (expected, expected.removesuffix(ending))
    assert finished <= (found == expected)
    assert done.summary.removed_units == len(removed)
    if not removed:
        assert target.read_bytes() == source.read_bytes()


@units
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "gb18030"])
@given(texts=texts_of_files)
@settings(max_examples=15)
def test_text_files_lose_the_units_of_the_definition(unit, encoding, texts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("units")
    (folder / "in").mkdir()
    for number, text in enumerate(texts):
        (folder / "in" / f"{number}.txt").write_bytes(text.encode(encoding))
    nd.deduplicate_units(folder / "in", f"{folder}/out/", unit=unit, min_similarity=1, encoding=encoding)
    written, _ = expected_of(texts, unit)
    kept = {f"{number}.txt": text.encode(encoding) for number, text in enumerate(written) if text is not None}
    assert {path.name: path.read_bytes() for path in (folder / "out").iterdir()} == kept


def test_several_columns_have_units_of_their_own(tmp_path):
    (tmp_path / "in.csv").write_bytes(
        b'title,n,body\r\n"One ferry",1,"first\n\nsecond"\r\nOne ferry,2,"third\n\nfirst"\r\nBread,3,second\r\n'
    )
    nd.deduplicate_units(tmp_path / "in.csv", str(tmp_path / "out.csv"), unit="paragraph", text=("title", "body"))
    assert (tmp_path / "out.csv").read_bytes() == (
        b'title,n,body\r\n"One ferry",1,"first\n\nsecond"\r\n,2,"third"\r\nBread,3,\r\n'
    )


def test_a_text_file_that_is_left_empty_is_absent_also_where_it_was(tmp_path):
    (tmp_path / "in").mkdir()
    for name, text in (("a.txt", FIRST), ("b.md", SECOND), ("c.txt", THIRD)):
        (tmp_path / "in" / name).write_text(text)
    (tmp_path / "in" / "d.txt.gz").write_bytes(gzip.compress(SECOND.encode()))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "c.txt").write_text("of an earlier run")
    inputs = [tmp_path / "in", tmp_path / "in" / "b.md"]
    done = nd.deduplicate_units(inputs, f"{tmp_path}/out/", unit="paragraph", overwrite=True, keep="first")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.txt", "d.txt.gz"]
    assert (tmp_path / "out" / "a.txt").read_text() == FIRST
    assert gzip.decompress((tmp_path / "out" / "d.txt.gz").read_bytes()).decode() == LEFT
    assert (done.summary.changed_documents, done.summary.emptied_documents) == (1, 2)


def test_a_mark_at_the_beginning_of_a_text_file_stays(tmp_path):
    (tmp_path / "in.txt").write_bytes(b"\xef\xbb\xbfsame line\r\nother\r\nsame line\r\n")
    nd.deduplicate_units(tmp_path / "in.txt", str(tmp_path / "out.txt"), unit="line")
    assert (tmp_path / "out.txt").read_bytes() == b"\xef\xbb\xbfsame line\r\nother\r\n"


def test_rows_that_their_codec_would_write_otherwise_keep_their_bytes_unless_they_lose_units(tmp_path):
    """UTF-7 may encode characters that need not be."""
    odd = [
        b'+AGE-,"same line"\r\n',
        b"+AGI-,+AHM-ame line\r\n",
        b'+AGI-,"+AHM-ame line\nmore +lug-"\r\n',
        b"c,+lug-\r\n",
    ]
    (tmp_path / "in.csv").write_bytes(b"n,text\r\n" + b"".join(odd))
    nd.deduplicate_units(tmp_path / "in.csv", str(tmp_path / "out.csv"), unit="line", encoding="utf-7")
    left = b'b,"more +lug"\r\n'
    assert (tmp_path / "out.csv").read_bytes() == b"n,text\r\n" + odd[0] + left + odd[3]


def test_what_is_left_fits_a_dialect_without_quotes(tmp_path):
    (tmp_path / "in.tsv").write_bytes(b"text\tmore\nsame\tb\rc\nsame\tx\ry\n")
    options = {"dialect": "\t", "text": ("text", "more")}
    nd.deduplicate_units(tmp_path / "in.tsv", str(tmp_path / "out.tsv"), unit="line", **options)
    assert (tmp_path / "out.tsv").read_bytes() == b"text\tmore\nsame\tb\rc\n\tx\ry\n"
