"""A job on Spark is planned from a sample: buckets that fit a task, and refusals of what cannot finish. No Spark is needed."""

import json
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import neardup as nd
from engine_runs import batch_of, parts_of, work_of
from neardup import spark as on_spark
from neardup.engines.flow import deduplicate
from neardup.engines.job import plan
from neardup.engines.job.plan import plan_of
from neardup.engines.job.sample import Sample, SampleEngine, StageOfSample, Stages, stages_of
from neardup.engines.reading import row_selection as marks
from neardup.engines.spark.job import REMEDIES
from neardup.engines.spark.settings import memory_of_tasks

WORDS = np.array([f"word{number}" for number in range(500)])
MB = 1 << 20


def texts(n, seed=1):
    return [" ".join(row) for row in np.random.default_rng(seed).choice(WORDS, (n, 60))]


def planned(
    rows=(1000,), unpacked=1000, documents=100, *, limit=None, partitions=8, reference=0, text=100, has_one_key=False
):
    """The plan of documents each with so many unpacked bytes and bytes of text."""
    stages = [StageOfSample("documents", 10 * documents), StageOfSample("equal", 20 * documents, unpacked * documents)]
    found = Stages(documents, text * documents, text, stages)
    if has_one_key:
        found.stages.append(StageOfSample("pairs", 0, 30 * documents))
    return plan_of(
        Sample((), rows, reference),
        found,
        REMEDIES,
        least_buckets=partitions,
        limit_bytes=limit,
        has_one_key=has_one_key,
    )


def test_a_group_of_all_documents_is_refused_if_it_is_too_large_for_a_task():
    assert planned((10**6,), 100, has_one_key=True).problems == ()
    assert planned((10**9,), 100, partitions=1000).problems == ()
    (problem,) = planned((10**9,), 100, partitions=1000, has_one_key=True).problems
    assert "All documents are one group, since large distances decide alone" in problem
    assert "it may have 16.0 GiB. Give a smaller `max_distance`, or `min_similarity`" in problem
    (problem,) = planned((10**8,), 100, partitions=1000, has_one_key=True, limit=4 << 30).problems
    assert "it may have 4.0 GiB." in problem


def test_marks_are_memory_of_a_task():
    few, many = (planned((rows,), 0).task_bytes for rows in (8, 8 << 24))
    assert many - few == 2 * ((1 << 24) - 1)


def test_frames_of_connect_are_refused():
    with pytest.raises(nd.OptionError, match=r"df is a \w+; give a DataFrame of a classic session of Spark"):
        on_spark.plan(SimpleNamespace(columns=["id", "text"], sparkSession=None), order="id")


def test_a_sample_stands_for_all_documents():
    found = planned(rows=(600, 400), reference=400)
    assert (found.documents, found.reference_documents, found.text_bytes, found.largest_partition) == (
        600,
        400,
        100_000,
        600,
    )
    assert [(stage.name, stage.bytes) for stage in found.stages] == [("documents", 10_000), ("equal", 20_000)]
    assert found.problems == ()


def test_the_stages_of_a_sample_are_those_of_the_engine():
    batch, work = batch_of(texts(200)), work_of(method="exact")
    found = stages_of(Sample(([batch], []), (200,)), work)
    names = ["documents", "order", "rank", "order of elements", "equal", "marks", "keys", "pairs"]
    assert [stage.name for stage in found.stages] == names
    assert [stage.name for stage in found.stages if stage.unless] == ["order", "rank"]
    assert "\n  order, unless rows ascend " in str(
        plan_of(Sample((), (200,)), found, REMEDIES, least_buckets=1, limit_bytes=None)
    )
    by_length = stages_of(Sample(([batch], []), (200,)), work_of(keep="longest"))
    assert not any(stage.unless for stage in by_length.stages)
    assert (found.documents, found.text_bytes) == (200, sum(len(text) for text in batch.column("text").to_pylist()))
    sizes = {stage.name: stage.packed for stage in found.stages}
    assert sizes["keys"] > sizes["order"] > 0
    assert sizes["pairs"] == 0
    twice = stages_of(Sample(([batch, batch_of(texts(200, 2))],), (400,)), work)
    assert 1.5 < twice.stages[0].packed / sizes["documents"] < 2.5


def test_the_engine_of_a_sample_decides_as_the_others():
    rows = [*texts(20), *texts(20)[:7]]
    with tempfile.TemporaryDirectory() as folder:
        engine = SampleEngine(Path(folder), parts_of(batch_of(rows)))
        found = engine.collect(deduplicate(engine, work_of()).results).to_pydict()
    assert dict(zip(found["doc"], found["survivor"], strict=True)) == {20 + row: row for row in range(7)}


def test_an_empty_input_has_a_plan():
    found = plan_of(
        Sample(([],), ()), stages_of(Sample(([],), ()), work_of()), REMEDIES, least_buckets=3, limit_bytes=None
    )
    assert (found.documents, found.buckets, found.stages, found.problems) == (0, 3, (), ())


def test_buckets_are_as_many_as_shuffle_partitions_and_hold_256_mb():
    assert planned(partitions=200).buckets == 200
    found = planned(rows=(10**9,), unpacked=1000)
    assert found.buckets == -(-(10**12) // plan.BUCKET_BYTES)
    assert found.bucket_bytes <= plan.BUCKET_BYTES
    assert found.task_bytes < 2 << 30


def test_buckets_fit_the_memory_of_an_executor():
    limit = 600 * MB
    found = planned(rows=(10**8,), limit=limit)
    assert found.buckets > planned(rows=(10**8,)).buckets
    assert found.task_bytes <= limit
    assert found.problems == ()


def test_a_plan_is_told_in_words():
    text = str(planned(rows=(600, 400), reference=400, limit=4096 * MB))
    assert (
        "1,000 documents, 400 of them of the reference, about 97.7 KiB of text, in 2 partitions of at most 600 rows"
        in text
    )
    assert "of 4.0 GiB that an executor has for it" in text
    assert "\n  equal                         19.5 KiB" in text
    assert "unknown before the keys meet" in text
    assert json.loads(planned().to_json())["buckets"] == 8


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"rows": ((1 << 32) + 1,)},
            r"A partition has 4,294,967,297 rows; at most 4,294,967,296 can be. Read the input in smaller",
        ),
        (
            {"rows": (1 << 31, 1)},
            r"2,147,483,649 documents may need 256.0 MiB of marks.* at most 256.0 MiB can be, for 2,147,483,648",
        ),
        (
            {"limit": 300 * MB},
            r"needs at least 365.0 MiB for its Python worker, and an executor has 300.0 MiB. Raise `spark.executor",
        ),
        ({"partitions": 70_000}, r"Rows would need 70,000 buckets; at most 65,536 can be. Give executors more memory"),
    ],
)
def test_what_cannot_finish_is_refused(given, message):
    found = planned(**given)
    assert "cannot finish: " in str(found)
    with pytest.raises(nd.OptionError, match="This job cannot finish.*" + message):
        found.demand()


def test_long_texts_come_in_small_batches():
    """A task has as many texts at a time as Spark gives it: 1,024, or 16 MB of them, or one."""
    few, long, longest = (planned(text=size).task_bytes - planned(text=0).task_bytes for size in (1000, 10**6, 10**8))
    assert few == plan.TEXT_FACTOR * 1024 * 1000
    assert long == plan.TEXT_FACTOR * (16 << 20)
    assert longest == plan.TEXT_FACTOR * 10**8


def test_what_just_fits_is_not_refused():
    planned(rows=(1 << 31,)).demand()
    planned(limit=366 * MB).demand()


def test_marks_too_large_for_every_task_are_refused():
    table = pa.table({"part": [0, 1], "bits": [b"x" * 60, b"x" * 50]})
    assert marks.marks_in(table).bytes == 110
    with pytest.raises(
        nd.DataError, match="take 110 bytes; at most 100 can travel to every task. Divide the documents"
    ):
        marks.marks_in(table, max_bytes=100)


@pytest.mark.parametrize(
    ("settings", "size"),
    [
        ({"spark.master": "spark://one:7077"}, None),
        ({"spark.master": "spark://one:7077", "spark.executor.memory": "1g", "spark.executor.cores": "2"}, None),
        ({"spark.executor.pyspark.memory": "2g", "spark.executor.cores": "4"}, 512 * MB),
        ({"spark.executor.memoryOverhead": "1024", "spark.executor.cores": "4", "spark.task.cpus": "2"}, 512 * MB),
        ({"spark.master": "yarn", "spark.executor.memory": "20g"}, 2048 * MB),
        ({"spark.master": "yarn"}, 384 * MB),
        ({"spark.master": "k8s://https://one", "spark.executor.memory": "10g", "spark.executor.cores": "2"}, 2048 * MB),
        (
            {"spark.master": "yarn", "spark.executor.memory": "10g", "spark.executor.memoryOverheadFactor": "0.5"},
            5120 * MB,
        ),
    ],
)
def test_memory_of_a_task_is_what_settings_tell(settings, size):
    assert memory_of_tasks(settings) == size
