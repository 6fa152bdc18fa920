"""What results look like on a line and in a notebook."""

import dataclasses

import numpy as np

import neardup as nd
from neardup.display import html_table
from neardup.matching.matches import Matches

TEXTS = [
    "the ferry leaves at <ten> past nine from the old pier",
    "The ferry leaves at <ten> past nine from the old pier!",
    "bread is baked before the sun is up in the lower town",
]
LINE = "3 documents → 2 survivors, 1 duplicate (0 exact) in 1 cluster"


def test_tables_escape_texts_and_show_a_few_rows_and_characters():
    table = html_table(["<a>", "b"], [("<script>", 1234567), ("x" * 100, 0.123456), (None, True)], total=1003)
    assert table == (
        "<table><thead><tr><th>&lt;a&gt;</th><th>b</th></tr></thead><tbody>"
        "<tr><td>&lt;script&gt;</td><td>1,234,567</td></tr>"
        f"<tr><td>{'x' * 79}…</td><td>0.1235</td></tr>"
        "<tr><td></td><td>True</td></tr></tbody></table><p>… and 1,000 more</p>"
    )


def test_a_result_is_a_line_and_the_first_duplicates():
    rows = [{"id": f"<{number}>", "text": TEXTS[0] + "!" * number} for number in range(15)]
    result = nd.deduplicate(rows)
    shown = result._repr_html_()
    assert repr(result) == f"DedupResult({result.summary.in_a_line()})"
    assert shown.startswith(f"<p>{result.summary.in_a_line()}</p><table>")
    assert shown.count("<tr>") == 11
    assert "<td>&lt;1&gt;</td>" in shown
    assert shown.endswith("<p>… and 4 more</p>")


def test_a_summary_is_a_line_and_a_table():
    summary = dataclasses.replace(nd.deduplicate(TEXTS).summary, seconds={"fingerprint": 0.5, "total": 1.25})
    assert repr(summary) == f"Summary({LINE}; method=exact, 1.2 s)"
    assert "<tr><td>survivors</td><td>2</td></tr>" in summary._repr_html_()
    assert "<tr><td>seconds, fingerprint</td><td>0.5</td></tr>" in summary._repr_html_()


def test_files_are_a_line(tmp_path):
    (tmp_path / "in.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    result = nd.deduplicate_files(tmp_path / "in.txt", str(tmp_path / "out.txt"), lines=True)
    assert repr(result) == f"FileResult({LINE}, output={str(tmp_path / 'out.txt')!r})"
    text = "\\n".join(TEXTS)
    (tmp_path / "in.jsonl").write_text(f'{{"text": "{text}"}}\n', encoding="utf-8")
    result = nd.deduplicate_units(tmp_path / "in.jsonl", str(tmp_path / "units.jsonl"), unit="line")
    assert repr(result).startswith("UnitResult(3 lines of 1 document: 1 removed")
    assert "\n" not in repr(result)


def test_matches_are_a_table_of_the_first_with_nothing_where_no_similarity_is_known():
    places = np.arange(12)
    shown = Matches(places, places + 1, places, np.full(12, np.nan))._repr_html_()
    assert "<tr><td>9</td><td>10</td><td>9</td><td></td></tr>" in shown
    assert shown.endswith("<p>… and 2 more</p>")


def test_a_comparison_is_a_line_and_its_heaviest_features():
    found = nd.compare(TEXTS[0], TEXTS[1])
    assert repr(found) == "Comparison(distance 0 of 128 bits, similarity 1.0000)"
    assert "<td>left</td><td>at</td><td>1</td>" in found._repr_html_()
    given = dataclasses.replace(found, similarity=None, similarities=None)
    assert repr(given) == "Comparison(distance 0 of 128 bits)"
    assert "jaccard" not in given._repr_html_()


def test_an_evaluation_is_its_advice_and_a_table_of_methods():
    shown = nd.evaluate(TEXTS)._repr_html_()
    assert shown.startswith("<p>3 documents, truth from sample; recommended: method=&#x27;exact&#x27;, ")
    assert "<th>recall</th>" in shown
    assert "<td>exact</td><td>1</td>" in shown
