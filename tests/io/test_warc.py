"""WARC: texts of records, what is refused, damage, and the bytes of what is kept."""

import gzip
import json
import random
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from warc_made import members, record, response

import neardup as nd
from neardup.errors import DataError, InputError, NeardupError
from neardup.io.corpora.batch import Columns
from neardup.io.corpora.shards import find_shards
from neardup.io.formats.table import FORMATS

TEXTS = [
    f"The ferry number {i} leaves the old harbor at noon and returns with the mail of {i * 7} islands."
    for i in range(8)
]
MADE_BY_FASTWARC = Path(__file__).with_name("fastwarc.warc.gz")
"""Written by fastwarc 2.0.1: pages that repeat, requests, metadata, an image, a revisit, encoded bodies, a conversion."""


def rows(path, *, html=None, wanted=None, values=()):
    """Texts, ids, values and reasons of all rows."""
    [shard] = find_shards([path])
    found, reasons = [], {}
    for part in FORMATS["warc"].parts(shard, Columns(html=html, values=values), wanted):
        batch, rejections = part()
        reasons.update(rejections)
        found += zip(*(column.to_pylist() for column in (batch.texts, batch.ids, *batch.values)), strict=True)
    return found, reasons


@pytest.fixture
def made(tmp_path):
    def make(records, name="a.warc"):
        path = tmp_path / name
        path.write_bytes(members(records) if name.endswith(".gz") else b"".join(records))
        return path

    return make


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz", "a.warc.wet.gz", "a.wet"])
def test_rows_are_responses_and_conversions(made, name):
    path = made(
        [
            record("warcinfo", None, b"software: x\r\n", "application/warc-fields"),
            record("request", "http://a.org/", b"GET / HTTP/1.1\r\n\r\n", "application/http; msgtype=request"),
            response("http://a.org/", TEXTS[0]),
            record("metadata", "http://a.org/", b"x: 1\r\n", "application/warc-fields"),
            record("conversion", "<http://b.org/x>", TEXTS[1].encode(), "text/plain"),
            record("resource", "file:///c", TEXTS[2].encode(), "text/markdown"),
            record("resource", "metadata://gnu.org/log", b"a log", "text/plain"),
            record("conversion", None, TEXTS[3].encode(), "text/plain"),
        ],
        name,
    )
    found, reasons = rows(path)
    ids = ['"http://a.org/"', '"http://b.org/x"', '"file:///c"', json.dumps(f"{path}:3")]
    assert found == list(zip(TEXTS, ids, strict=False))
    assert reasons == {}
    found, _ = rows(path, wanted=np.array([False, True, False, False]))
    assert [text for text, _ in found] == [None, TEXTS[1], None, None]


def chunked(body):
    return b"".join(b"%x;x=y\r\n%s\r\n" % (len(part), part) for part in (body[:20], body[20:])) + b"0\r\n\r\n"


PAGE = "<html><body><p>Ein schöner Tag</p></body></html>"
ENCODED = {
    "chunks": (chunked(PAGE.encode()), "text/html; charset=utf-8", "Transfer-Encoding: chunked\r\n"),
    "chunks that were joined": (PAGE.encode(), "text/html", "Transfer-Encoding: chunked\r\n"),
    "gzip": (gzip.compress(PAGE.encode()), "text/html", "Content-Encoding: gzip\r\n"),
    "gzip that was inflated": (PAGE.encode(), "text/html", "Content-Encoding: gzip\r\n"),
    "deflate": (zlib.compress(PAGE.encode()), "text/html", "Content-Encoding: deflate\r\n"),
    "raw deflate": (zlib.compress(PAGE.encode(), wbits=-15), "text/html", "Content-Encoding: deflate\r\n"),
    "gzip in chunks": (
        chunked(gzip.compress(PAGE.encode())),
        "text/html",
        "Transfer-Encoding: chunked\r\nContent-Encoding: x-gzip\r\n",
    ),
    "declared": (PAGE.encode("latin-1"), "text/html; charset=ISO-8859-1", ""),
    "declared in quotes": (PAGE.encode("utf-16-le"), 'text/html; charset="utf-16le"', ""),
    "wrongly declared": (PAGE.encode(), "text/html; charset=ascii-x", ""),
    "with a mark": (b"\xff\xfe" + PAGE.encode("utf-16-le"), "text/html", ""),
    "undeclared": (PAGE.encode("cp1252"), "application/xhtml+xml", ""),
}


@pytest.mark.parametrize("case", ENCODED)
def test_bodies_are_decoded(made, case):
    body, content_type, http = ENCODED[case]
    found, reasons = rows(made([response("http://a.org/", body, content_type, http=http)]), html="main")
    assert reasons == {}
    assert found[0][0] == PAGE


def test_bytes_that_do_not_fit_the_declared_charset_are_replaced(made):
    found, _ = rows(made([response("http://a.org/", b"a \xff b")]))
    assert found[0][0] == "a \ufffd b"


def test_the_page_declares_its_charset(made):
    text = '<html><head><meta http-equiv="Content-Type" content="text/html; charset=gb2312"></head>渡轮中午离开旧港口</html>'
    found, _ = rows(made([response("http://a.org/", text.encode("gbk"), "text/html")]), html="main")
    assert found[0][0] == text


def test_chinese_without_a_charset_is_recognized(made):
    text = "渡轮中午离开旧港口，晚上带着邮件和乘客回来。" * 3
    found, _ = rows(made([response("http://a.org/", text.encode("gbk"), "text/plain")]))
    assert found[0][0] == text


REJECTED = {
    "it is not text (image/png)": response("http://a.org/", b"\x89PNG", "image/png"),
    "it is not text (it has zero bytes)": response("http://a.org/", b"a\0b", "text/plain"),
    "it declares no content type": response("http://a.org/", b"a", ""),
    "it is a revisit, whose page stands in another record": record("revisit", "http://a.org/", b""),
    "it is truncated (length)": response("http://a.org/", "a", WARC_Truncated="length"),
    "it is a segment of a record": response("http://a.org/", "a", WARC_Segment_Number="1"),
    "it is no HTTP response": record("response", "http://a.org/", b"hello"),
    "the head of its HTTP response does not end": record(
        "response", "http://a.org/", b"HTTP/1.1 200 OK\r\nA: b\r\nhello"
    ),
    "its content encoding is unknown (zap)": response("http://a.org/", "a", http="Content-Encoding: zap\r\n"),
    "its chunks are damaged, or end too early": response(
        "http://a.org/", b"2\r\nab\r\n5\r\nab", http="Transfer-Encoding: chunked\r\n"
    ),
    "its compressed body ends too early": response(
        "http://a.org/", gzip.compress(b"a" * 99)[:-9], http="Content-Encoding: gzip\r\n"
    ),
    "it is HTML: pass `html='main'` or `html='whole'`": response("http://a.org/", PAGE, "text/html"),
}


@pytest.mark.parametrize("reason", REJECTED)
def test_records_without_a_text_are_set_aside(made, reason):
    found, reasons = rows(
        made([response("http://b.org/", TEXTS[0]), REJECTED[reason], response("http://c.org/", TEXTS[1])])
    )
    assert [text for text, _ in found] == [TEXTS[0], None, TEXTS[1]]
    assert reasons == {1: reason}


@pytest.mark.parametrize("encoding", ["gzip", "br"])
def test_a_body_that_expands_is_bounded(made, encoding):
    brotli = pytest.importorskip("brotli") if encoding == "br" else None
    body = b"a" * 3_000_000
    packed = gzip.compress(body) if brotli is None else brotli.compress(body)
    path = made([response("http://a.org/", packed, http=f"Content-Encoding: {encoding}\r\n")])
    [shard] = find_shards([path])
    assert rows(path)[0][0][0] == body.decode()
    with pytest.raises(DataError, match="its body is longer when decompressed than `max_document_bytes`"):
        nd.deduplicate_files(path, path.with_name("o.warc"), max_document_bytes=2_000_000)
    assert shard.format == "warc"


def test_without_brotli_the_reason_says_how_to_install_it(made, monkeypatch):
    monkeypatch.setitem(sys.modules, "brotli", None)
    path = made([response("http://a.org/", b"x", http="Content-Encoding: br\r\n")])
    assert rows(path)[1] == {0: "its body is compressed by Brotli, which needs pip install 'neardup[warc]'"}


def test_values_of_pages_are_read_without_their_texts(made):
    [shard] = find_shards([made([response("http://a.org/", b"<p>a</p>", "text/html")])])
    [(batch, rejections)] = [part() for part in FORMATS["warc"].parts(shard, Columns((), values=("host",)), None)]
    assert (batch.texts.to_pylist(), batch.values[0].to_pylist(), rejections) == ([""], ['"a.org"'], [])


def test_values_of_records(made):
    path = made(
        [response("http://user@A.org:80/x", TEXTS[0], status=404, WARC_Record_ID="<urn:x>"), response("x:", "y")]
    )
    found, _ = rows(path, values=("url", "host", "status", "content_type", "date", "record_id", "language"))
    date, kind = '"2026-01-02T03:04:05Z"', '"text/plain"'
    assert found[0][2:] == ('"http://user@A.org:80/x"', '"a.org"', "404", kind, date, '"<urn:x>"', None)
    assert found[1][2:] == ('"x:"', None, "200", kind, date, None, None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text": "body"}, 'no column "body"'),
        ({"text": "url"}, 'no column "url"'),
        ({"keep": "max:score"}, "keep=max:COLUMN"),
        ({"annotate": True}, "its records have no columns, so none can be added"),
        ({"encoding": "gbk"}, "each record declares its encoding"),
        ({"lines": True}, "records of WARC, not lines"),
        ({"elements": "x"}, "a file of this format has none"),
        ({"html": None}, "has pages of HTML: pass `html='main'` or `html='whole'`"),
    ],
)
def test_refusals(made, options, message):
    path = made([response("http://a.org/", PAGE, "text/html")])
    given = {"html": "whole"} | options
    if "elements" in options:
        del given["html"]
    with pytest.raises(InputError, match=message):
        nd.deduplicate_files(path, path.with_name("o.warc"), **given)


def crawl():
    """Five pages, of which the third and the fifth repeat others; each with its request and metadata."""
    found = [record("warcinfo", None, b"software: x\r\n", "application/warc-fields")]
    for number, text in enumerate([0, 1, 0, 2, 1]):
        uri, of_request, of_response = f"http://a.org/{number}", f"<urn:q{number}>", f"<urn:r{number}>"
        found += [
            record("request", uri, b"GET\r\n\r\n", "application/http", WARC_Record_ID=of_request),
            response(uri, TEXTS[text], WARC_Record_ID=of_response, WARC_Concurrent_To=of_request),
            record("metadata", None, b"x: 1\r\n", "text/plain", WARC_Concurrent_To=of_response),
        ]
    return found


@pytest.mark.parametrize("ending", [".warc", ".warc.gz", ".warc.zst"])
def test_what_stays_is_byte_for_byte(made, tmp_path, ending):
    records = crawl()
    kept = [records[0], *records[1:7], *records[10:13]]
    path = made(records, "in.warc.gz")
    again = nd.deduplicate_files(path, tmp_path / f"o{ending}")
    assert (again.summary.documents, again.summary.duplicates) == (5, 2)
    written = (tmp_path / f"o{ending}").read_bytes()
    if ending == ".warc.gz":
        assert written == members(kept)
    elif ending == ".warc":
        assert written == b"".join(kept)
    else:
        assert [text for text, _ in rows(tmp_path / "o.warc.zst")[0]] == [TEXTS[0], TEXTS[1], TEXTS[2]]
    assert nd.verify_files(tmp_path / f"o{ending}").proven


def test_several_files_share_an_output_and_a_run_goes_on(made, tmp_path):
    paths = [made(crawl(), "a.warc"), made([response("http://b.org/", TEXTS[7])], "b.warc.gz")]
    for _ in range(2):
        nd.deduplicate_files(paths, tmp_path / "o.warc.gz", resume=True)
    found, _ = rows(tmp_path / "o.warc.gz")
    assert [text for text, _ in found] == [TEXTS[0], TEXTS[1], TEXTS[2], TEXTS[7]]


def test_a_member_of_all_records_is_read(tmp_path):
    path = tmp_path / "a.warc.gz"
    path.write_bytes(gzip.compress(b"".join(crawl())))
    nd.deduplicate_files(path, tmp_path / "o.warc")
    assert (tmp_path / "o.warc").read_bytes() == b"".join([*crawl()[:7], *crawl()[10:13]])


def test_a_longer_record_is_set_aside(made, tmp_path):
    path = made(
        [response("http://a.org/", TEXTS[0]), response("http://b.org/", "x" * 5000), *crawl()[1:4]], "a.warc.gz"
    )
    found = nd.deduplicate_files(path, tmp_path / "o.warc.gz", on_error="skip", max_document_bytes=4000)
    assert found.summary.rejected == 1
    assert (tmp_path / "o.warc.gz").read_bytes() == members([response("http://a.org/", TEXTS[0])])


def damaged_at(records, number):
    """Members of gzip, one of which has a changed byte in its checksum."""
    packed = [gzip.compress(each, mtime=0) for each in records]
    packed[number] = packed[number][:-6] + bytes([packed[number][-6] ^ 1]) + packed[number][-5:]
    return b"".join(packed)


@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_a_damaged_member_is_one_row(tmp_path, number):
    records = [response(f"http://a.org/{i}", text) for i, text in enumerate(TEXTS[:4])]
    path = tmp_path / "a.warc.gz"
    path.write_bytes(damaged_at(records, number))
    found, reasons = rows(path)
    assert [text for text, _ in found] == [None if i == number else text for i, text in enumerate(TEXTS[:4])]
    assert "the record is damaged: its compressed bytes are damaged" in reasons[number]
    with pytest.raises(DataError, match=f"a.warc.gz, row {number} .*the record is damaged"):
        nd.deduplicate_files(path, tmp_path / "o.warc.gz")
    nd.deduplicate_files(path, tmp_path / "o.warc.gz", on_error="skip")
    assert (tmp_path / "o.warc.gz").read_bytes() == members(records[:number] + records[number + 1 :])


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
def test_a_file_that_is_cut_loses_its_last_record(made, name):
    path = made([response(f"http://a.org/{i}", text) for i, text in enumerate(TEXTS[:3])], name)
    path.write_bytes(path.read_bytes()[:-40])
    found, reasons = rows(path)
    assert [text for text, _ in found] == [*TEXTS[:2], None]
    assert reasons == {2: "the record is damaged: the file ends within it"}


def test_a_wrong_length_hides_no_other_record(made):
    records = [response(f"http://a.org/{i}", text) for i, text in enumerate(TEXTS[:4])]
    records[1] = records[1].replace(b"\r\nContent-Length: ", b"\r\nContent-Length: 9", 1)
    found, reasons = rows(made(records))
    assert [text for text, _ in found] == [TEXTS[0], None, *TEXTS[2:4]]
    assert list(reasons) == [1]


@pytest.mark.parametrize("packed", [gzip.compress(b"".join(crawl()))], ids=["one member"])
def test_nobody_knows_how_many_records_a_large_member_loses(tmp_path, packed):
    path = tmp_path / "a.warc.gz"
    path.write_bytes(packed[:200] + bytes([packed[200] ^ 4]) + packed[201:])
    with pytest.raises(DataError, match="nobody knows how many rows are lost"):
        nd.deduplicate_files(path, tmp_path / "o.warc", on_error="skip")


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
def test_no_flip_loses_a_record_silently(made, name):
    """Of members, which have checksums, each text is read as it was written or its row is set aside."""
    path = made(crawl(), name)
    whole, rng = path.read_bytes(), random.Random(11)
    true = {row for row in rows(path)[0] if row[0]}
    for _ in range(400):
        flipped, place = bytearray(whole), rng.randrange(len(whole))
        flipped[place] ^= 1 << rng.randrange(8)
        path.write_bytes(flipped)
        try:
            found, reasons = rows(path)
        except NeardupError:
            continue
        read = [row for row in found if row[0]]
        assert len(read) == len(true) or reasons, place
        assert name == "a.warc" or set(read) <= true, place


def test_what_fastwarc_wrote_is_read():
    found, reasons = rows(MADE_BY_FASTWARC, html="whole")
    assert [bool(text) for text, _ in found] == [True] * 5 + [False] * 2 + [True] * 3 + [False, True]
    assert list(reasons) == [5, 6, 10]
    assert "渡轮" in found[9][0]
    assert found[11] == ("The ferry is a conversion ünd text", '"http://example.org/conv"')


def test_fastwarc_reads_what_is_written(tmp_path):
    warc = pytest.importorskip("fastwarc.warc")
    nd.deduplicate_files(MADE_BY_FASTWARC, tmp_path / "o.warc.gz", html="whole", on_error="skip")
    with (tmp_path / "o.warc.gz").open("rb") as file:
        records = warc.ArchiveIterator(file, record_types=warc.WarcRecordType.response)
        names = [each.headers["WARC-Target-URI"] for each in records]
    assert names == [f"http://example.org/{name}" for name in ("1", "4", "10", "chunk", "gz", "gbk")]


def test_html_is_extracted_of_pages_only(made, tmp_path):
    path = made([response("http://a.org/", PAGE, "text/html"), response("http://b.org/", "Ein <b>schöner</b> Tag")])
    found = nd.deduplicate_files(path, tmp_path / "o.warc", html="whole", min_similarity=0.99)
    assert found.summary.duplicates == 0
    path = made([response("http://a.org/", PAGE, "text/html"), response("http://b.org/", "Ein schöner Tag")])
    found = nd.deduplicate_files(path, tmp_path / "p.warc", html="whole", min_similarity=0.99)
    assert found.summary.duplicates == 1
