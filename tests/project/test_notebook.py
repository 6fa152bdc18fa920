"""What results look like on a line and in a notebook."""

import dataclasses
import html
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from neardup.display import html_table
from neardup.matching.matches import Matches
from neardup.survivors.excerpts import CHARACTERS
from neardup.survivors.side_by_side import STYLE

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


def shown_of(result):
    """What a notebook shows of it, without the styles."""
    return result._repr_html_().replace(STYLE, "")


def test_a_result_is_a_line_its_clusters_and_the_first_duplicates():
    rows = [{"id": f"<{number}>", "text": TEXTS[0] + "!" * number} for number in range(15)]
    result = nd.deduplicate(rows)
    shown = shown_of(result)
    assert repr(result) == f"DedupResult({result.summary.in_a_line()})"
    assert shown.startswith(f"<div class='neardup'><p><strong>{result.summary.in_a_line()}</strong></p><p>")
    assert "<code>&lt;0&gt;</code> is kept, 14 duplicates removed; the 3 least similar:</summary>" in shown
    table = shown[shown.index("<table class='neardup-all'>") :]
    assert table.count("<tr>") == 11
    assert "<td>&lt;1&gt;</td>" in table
    assert table.endswith("<p>… and 4 more</p></details></div>")


def test_a_plan_is_its_lines():
    plan = nd.plan(1_000, max_distance=3)
    assert plan._repr_html_() == f"<pre>{html.escape(str(plan))}</pre>"
    assert "auto takes" in plan._repr_html_()


LONG = "The ferry leaves at ten past nine from the old pier, and the captain says so before casting off."


def test_clusters_are_side_by_side_with_their_differences_marked_the_least_similar_first():
    texts = [LONG, LONG.upper(), LONG.replace("captain", "<cook>"), LONG + " It is late.", *TEXTS[2:] * 2]
    shown = shown_of(nd.deduplicate(texts, min_similarity=0.5))
    first, second = shown.split("<details")[1:3]
    assert first.startswith(" open><summary><code>0</code> is kept, 3 duplicates removed</summary>")
    assert [re.findall(r"removed <code>(\d)", each) for each in (first, second)] == [["2", "3", "1"], ["5"]]
    assert "the <mark>captain</mark> says" in first
    assert "the &lt;<mark>cook</mark>&gt; says" in first
    assert "<mark>It is late</mark>." in first
    assert "<small>equal text</small>" in second
    assert "<mark>" not in second


def test_clusters_show_texts_of_a_reference_and_of_pages_and_none_of_sets():
    page = f"<html><body><p>{LONG}</p></body></html>"
    shown = shown_of(
        nd.deduplicate([page], against=[page.replace("captain", "cook")], html="whole", min_similarity=0.5)
    )
    assert "<code>0</code> of the reference is kept, 1 duplicate removed" in shown
    assert "the <mark>cook</mark> says" in shown
    assert "&lt;" not in shown
    shown = shown_of(nd.deduplicate([{"a", "b"}, {"b", "a"}]))
    assert "<details" not in shown
    assert "<table class='neardup-all'>" in shown


def test_long_texts_are_cut_and_a_result_without_duplicates_is_a_line():
    words = " ".join(f"word{number}" for number in range(4000))
    shown = shown_of(nd.deduplicate([words, words.replace("word7 ", "other ").replace("word3000 ", "last ")]))
    assert "<mark>other</mark>" in shown
    assert f"… {len(words) - CHARACTERS:,} more characters" in shown
    assert len(shown) < 10_000
    assert shown_of(nd.deduplicate(TEXTS[1:])).endswith("</strong></p></div>")


def test_integers_of_annotated_parquet_and_of_contamination_stay_integers_in_pandas(tmp_path):
    frame = pd.DataFrame({"id": [7, 8, 9], "text": TEXTS}, index=["a", "b", "c"])
    frame.to_parquet(tmp_path / "in.parquet")
    nd.deduplicate_files(tmp_path / "in.parquet", str(tmp_path / "out.parquet"), annotate=True)
    read = pd.read_parquet(tmp_path / "out.parquet")
    assert read.index.tolist() == ["a", "b", "c"]
    assert {name: str(read.dtypes[name]) for name in ("id", "cluster_id", "distance", "similarity")} == {
        "id": "int64",
        "cluster_id": "Int64",
        "distance": "Int64",
        "similarity": "float64",
    }
    pq.write_table(pa.table({"text": TEXTS}).replace_schema_metadata({"pandas": "[]"}), tmp_path / "odd.parquet")
    nd.deduplicate_files(tmp_path / "odd.parquet", str(tmp_path / "out2.parquet"), annotate=True)
    assert pq.read_schema(tmp_path / "out2.parquet").metadata[b"pandas"] == b"[]"
    found = nd.decontaminate([LONG, TEXTS[2]], against=[LONG]).annotations.to_pandas()
    assert [str(found.dtypes[name]) for name in ("item_id", "item_run")] == ["Int64", "Int64"]


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
    assert shown.startswith(
        "<p><strong>3 documents, truth from sample; recommended method, at the threshold that was given: <code>method=&#x27;exact&#x27;, "
    )
    assert "<th>recall</th>" in shown
    assert "<td>exact</td><td>by definition</td>" in shown
    assert "<td>minhash</td><td>1</td>" in shown


CELL = """
import json
import time
import neardup as nd
from neardup.progress import progress_of
told = progress_of(True)
with told.stage("slow", 4):
    told.advance(1)
    time.sleep(0.5)
told.say("half of it is <short>")
with told.stage("slow", 4):
    told.advance(4)
nd.deduplicate({texts!r}, progress=True)
"""


def test_a_notebook_shows_progress_as_one_element_and_no_alarm():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    cell = nbformat.v4.new_code_cell(CELL.format(texts=[LONG, LONG.upper()]))
    notebook = nbformat.v4.new_notebook(cells=[cell])
    updates = []
    client = nbclient.NotebookClient(notebook, timeout=120)
    seen = client._update_display_id

    def watch(display_id, msg):
        updates.append((display_id, msg["content"]["data"]["text/html"]))
        seen(display_id, msg)

    client._update_display_id = watch
    client.execute()
    outputs = notebook.cells[0].outputs
    assert [output.output_type for output in outputs] == ["display_data", "display_data", "execute_result"]
    first, second, result = (output.data["text/html"] for output in outputs)
    assert "<td>✓</td><td>slow</td><td>0.5 s</td><td>5 documents</td>" in first
    assert "<p>half of it is &lt;short&gt;</p>" in first
    assert "all stages" in second
    assert "<details open>" in result
    assert outputs[0].data["text/plain"] == "neardup: slow 0.5 s\nhalf of it is <short>"
    assert any("<progress aria-label='slow' value='0.250'>" in html for _, html in updates)
    assert len({display_id for display_id, _ in updates}) == 2
