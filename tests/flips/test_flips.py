"""A few flips in files of every format; `make flips` has thousands. And that flips which go wrong are seen."""

import sys

import pytest

import neardup
from flips.__main__ import Worker, figures, flips
from flips.form import Form, UnreadableError
from flips.judgment import (
    ANOTHER,
    CHANGED,
    CRASHED,
    DOUBTED,
    FINDS,
    HUNG,
    NAMELESS,
    RAISED,
    REFUSED,
    SAME,
    TAKEN,
    judge,
)
from flips.worker import FORMS
from marks import long


@pytest.mark.parametrize("each", [2, 8, long(30)])
def test_a_flip_is_refused_by_name_or_the_result_is_right(each):
    found = list(flips(FORMS, each * len(FORMS), seed=5, workers=1))
    assert len(found) == each * len(FORMS)
    assert [one for one in found if one["outcome"] in FINDS] == []
    told = figures(found, 5, 1.0)
    assert set(told["forms"]) == set(FORMS)
    assert told["outcomes"][REFUSED] > len(FORMS) / 2


@pytest.fixture(scope="module")
def worker():
    found = Worker()
    yield found
    found.close()


@pytest.mark.parametrize(
    ("form", "number"),
    [
        ("csv", 158),
        ("parquet snappy", 164),  # Arrow ended the process
        ("parquet gzip True", 123),
        ("fingerprint file, by clusters", 30),
        ("cluster file", 193),
        ("labels.parquet", 166),
        ("document frequencies", 219),
        ("document frequencies", 243),
    ],
)
def test_flips_that_once_crashed_or_showed_a_traceback(form, number, worker):
    found = worker.flip(20261122, form, number)
    assert found["outcome"] not in FINDS, found


def refuse(message):
    def use():
        raise neardup.DataError(message)

    return use


def unreadable():
    raise UnreadableError


def fail():
    raise KeyError("x")


@pytest.mark.parametrize(
    ("use", "more", "outcome"),
    [
        (lambda: 1, {}, SAME),
        (lambda: 2, {}, CHANGED),
        (lambda: 2, {"reread": lambda: 2}, ANOTHER),
        (lambda: 2, {"reread": lambda: 3}, CHANGED),
        (lambda: 2, {"reread": unreadable}, TAKEN),
        (lambda: 2, {"doubts": lambda: True}, DOUBTED),
        (lambda: 2, {"doubts": lambda: False}, CHANGED),
        (refuse("in/a.jsonl is damaged"), {}, REFUSED),
        (refuse("something is damaged"), {}, NAMELESS),
        (refuse("b.jsonl is damaged"), {"named": ("b.jsonl",)}, REFUSED),
        (fail, {}, RAISED),
    ],
)
def test_what_comes_of_a_flip_is_judged(use, more, outcome):
    form = Form("form", lambda: None, lambda: ["in/a.jsonl"], use, **more)
    assert judge(form, "in/a.jsonl", 1)[0] == outcome


@pytest.mark.parametrize(
    ("program", "outcome"),
    [("import os; input(); os.abort()", CRASHED), ("import time; time.sleep(60)", HUNG), ("raise SystemExit", CRASHED)],
)
def test_a_worker_that_crashes_or_hangs_is_seen_and_another_takes_its_place(program, outcome):
    worker = Worker()
    worker.command, worker.patience_seconds = (sys.executable, "-c", program), 2.0
    for number in range(2):
        assert worker.flip(1, "jsonl", number)["outcome"] == outcome
    worker.command, worker.patience_seconds = Worker.command, 60.0
    assert worker.flip(1, "jsonl", 0)["outcome"] not in FINDS
    worker.close()


def test_every_format_is_flipped():
    """Those of inputs, and all that the documentation of files names."""
    named = " ".join(FORMS)
    for word in (
        "jsonl.gz",
        "csv.zst",
        "tsv",
        "txt",
        "log",
        "parquet",
        "arrow",
        "arrows lz4",
        "jsonl.lz4",
        "recipe",
        "resume",
        "index",
        "pairs",
        "cluster",
        "labels",
    ):
        assert word in named
