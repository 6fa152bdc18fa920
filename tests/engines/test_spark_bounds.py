"""What bounds memory on Spark: the driver leaves what becomes large to the cluster, and long texts come in small batches."""

import logging
from collections import defaultdict
from dataclasses import replace

import pyarrow as pa
import pytest

from engine_runs import work_of
from engines.spark_cluster import MARKS
from neardup import spark as on_spark
from neardup.engines.job import cluster_engine
from neardup.engines.job_options import Limits, Work
from neardup.engines.spark import settings
from neardup.engines.spark.frames import Frame, Input
from neardup.engines.spark.job import SparkJob
from neardup.engines.stages import Output, Reading

pytestmark = MARKS
COPIES = 300


@pytest.mark.long
def test_the_pairs_of_many_copies_are_made_by_the_cluster(session, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(cluster_engine, "SMALL_BYTES", 1 << 14)
    made = Work.of
    few = Limits(pairs_per_piece=1 << 14)
    monkeypatch.setattr(Work, "of", lambda *given: replace(made(*given), limits=few))
    caplog.set_level(logging.INFO, "neardup")
    frame = session.createDataFrame([(n, "one and the same text") for n in range(COPIES)], "id long, text string")
    found = on_spark.pairs(frame, order="id", work=str(tmp_path / "work"))
    pairs = {(row.left_id, row.right_id) for row in found.collect()}
    assert pairs == {(left, right) for left in range(COPIES) for right in range(left + 1, COPIES)}
    ran = defaultdict(list)
    for record in caplog.records:
        if len(record.args or ()) == 5:
            ran[record.args[0]].append(record.args[1])
    assert ran["names"] == ["driver"]
    assert ran["documents"] == ["cluster", "driver", "cluster"]  # the reading, the tiles of the class, and their pairs


def test_long_texts_come_in_small_batches(session, tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "BYTES_PER_BATCH", 1 << 12)
    rows = [(n, f"{n} " + "long " * 400) for n in range(12)]
    given = Input(Frame(session.createDataFrame(rows, "id long, text string").coalesce(1), "text", "id", ("id",)))
    runs = SparkJob(given, work_of()).started(str(tmp_path / "work"))

    def lengths(part):
        for batch in part.batches:
            yield "lengths", pa.table({"length": [len(batch)]})

    reading = Reading("lengths", lengths, {"lengths": Output(pa.schema({"length": pa.int64()}))})
    found = runs.collect(runs.read(reading)["lengths"])
    assert found.column("length").to_pylist() == [3, 3, 3, 3]
    assert session.conf.get(settings.BATCH_BYTES, None) is None
