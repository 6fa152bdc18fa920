"""The tables of engines say what was reached and what was missed, and refuse corpora that a job would refuse."""

import sys

from places import ROOT

sys.path.append(str(ROOT / "benchmarks"))

import tables_of_engines

RUN = {
    "documents": 1_000_000,
    "text_bytes": 3e9,
    "method": "exact",
    "seconds": {"one process": 40.0, "spark": 180.0},
    "overhead": 4.5,
    "shuffled_bytes_each": 1300.0,
    "stages": {"keys": {"runs": 1, "bytes": 400_000_000}, "texts": {"runs": 4, "bytes": 800_000_000}},
}
MANY = {**RUN, "documents": 8_000_000, "seconds": {"one process": 300.0, "spark": 1440.0}, "overhead": 4.8}
RECORD = {
    "environment": {"machine": {"processors": 2}},
    "runs": {"package texts, exact": RUN, "1,000,000 made texts": RUN, "8,000,000 made texts": MANY},
}


def test_targets_are_reached_or_missed():
    found = tables_of_engines.cluster(RECORD)
    assert "Bytes a document of 3 KB, `exact`: 1,300, at most 1,500 aimed at: reached." in found
    assert "1,000,000 made texts: 4.5 times one process, at most 5 aimed at: reached." in found
    assert "8,000,000 made texts: 4.8 times one process, at most 3 aimed at: missed." in found
    assert "From 1,000,000 to 8,000,000 made texts: 8 times as many texts took Spark 8 times as long." in found


def test_a_plan_multiplies_what_a_document_costs():
    lines = tables_of_engines.cluster_plan(RECORD).splitlines()
    [billion] = [line for line in lines if " 1,000,000,000 |" in line]
    hours = 1e9 * 2 * 180 / 1e6 / 3600
    cells = [cell.strip() for cell in billion.strip("|").split("|")]
    assert cells[:4] == ["exact", "1,000,000,000", "3", "1.3"]
    assert cells[4] == f"{-(-3 * 400_000_000_000 // 2**28):,}"
    assert [round(float(cell.replace(",", "")), 2) for cell in cells[5:7]] == [
        round(hours / 64, 2),
        round(hours / 1000, 2),
    ]
    assert [("refused" in line) for line in lines[2:]] == [False, False, False, True]


def test_what_was_not_measured_is_said():
    assert tables_of_engines.cluster_others({"runs": {}}) == "Others on Spark were not measured."
