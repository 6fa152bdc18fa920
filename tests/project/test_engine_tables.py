"""The tables of engines say what was reached and what was missed, and refuse corpora that a job would refuse."""

import sys

from places import ROOT

sys.path.append(str(ROOT / "benchmarks"))

import tables_of_engines

RUN = {
    "documents": 1_000_000, "text_bytes": 3e9, "method": "exact", "seconds": {"one process": 40.0, "spark": 180.0},
    "overhead": 4.5, "shuffled_bytes_each": 1300.0,
    "stages": {"keys": {"runs": 1, "bytes": 400_000_000}, "texts": {"runs": 4, "bytes": 800_000_000}},
}  # fmt: skip
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
    assert tables_of_engines.others_on_ray({"runs": {}}) == "Others on Ray were not measured."
    (line,) = tables_of_engines.engines({"runs": {"a": RUN}}).splitlines()[2:]
    assert line.count("not measured") == 4


def test_ray_stands_beside_spark():
    ray = {"overhead": 4, "shuffled_bytes_each": 1200, "peak_bytes": 2e9, "stages": {}}
    run = RUN | {"seconds": RUN["seconds"] | {"ray": 160.0}, "peak_bytes": 3e9, "ray": ray}
    (line,) = tables_of_engines.engines({"runs": {"a": run}}).splitlines()[2:]
    assert [cell.strip() for cell in line.strip("|").split("|")][2:] == ["40", "180", "160", "1,300", "1,200", "3", "2"]
    others = {"documents": 9, "pairs": 3, "neardup.ray": {"seconds": 5, "peak_bytes": 1e9, "recall": 1, "precision": 1}}
    others |= {"daft": {"unfinished_after": 60, "peak_bytes": 1e9}}
    others |= {"data-juicer": {"seconds": 7, "peak_bytes": 2e9, "recall": 0.5, "precision": 0.9}}
    lines = tables_of_engines.others_on_ray({"others": others}).splitlines()
    assert "| data-juicer | 7 | 2 |" in lines[5]
    assert "not finished after 60" in lines[6]
