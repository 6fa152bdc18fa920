"""What is known of Ray before it starts: nodes, memory, types of columns, errors in our words."""

import errno
import sys

import pyarrow as pa
import pytest

import neardup as nd
from engines.ray_cluster import NEEDED
from neardup import ray as on_ray
from neardup.engines.job.plan import plan_of
from neardup.engines.job.sample import Sample, StageOfSample, Stages
from neardup.engines.ray.calls import counted, has_room
from neardup.engines.ray.job import REMEDIES
from neardup.engines.ray.sort_columns import Columns, normal

GB = 1 << 30


def node(cpus, memory=None, alive=True):
    return {"Alive": alive, "Resources": {"CPU": cpus} | ({"memory": memory} if memory else {})}


def test_without_ray_it_is_said_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray.data", None)
    with pytest.raises(nd.MissingExtra, match=r"Ray is not installed: pip install 'neardup\[ray\]'"):
        on_ray.deduplicate(None)


def test_nodes_tell_how_many_tasks_run_and_what_memory_there_is():
    found = counted([node(4, 16 * GB), node(2, 4 * GB), node(8, 64 * GB, alive=False), node(0, 9 * GB)])
    assert (found.slots, found.most_bytes, found.bytes_each, found.many) == (6, 16 * GB, 2 * GB, 2)
    assert found.reserved(GB) == GB
    assert found.reserved(99 * GB) == 16 * GB
    unknown = counted([node(3)])
    assert (unknown.slots, unknown.most_bytes, unknown.bytes_each, unknown.reserved(GB)) == (3, None, None, 0)


def test_room_is_on_a_node_that_is_alive_and_large_enough():
    assert has_room([node(1, 2 * GB)], GB)
    assert not has_room([node(1, 2 * GB, alive=False), node(0, 8 * GB), node(4, GB // 2)], GB)


def planned(limit, wanted):
    found = Stages(100, 10_000, 100, [StageOfSample("documents", 1000), StageOfSample("equal", 2000, 10**5)])
    sample = Sample((), (10**8,))
    return plan_of(sample, found, REMEDIES, least_buckets=8, limit_bytes=limit, wanted_bytes=wanted)


def test_buckets_let_all_cpus_have_a_task_and_the_largest_node_bounds_one():
    alone, many = planned(64 * GB, 64 * GB), planned(64 * GB, GB)
    assert alone.buckets < many.buckets
    assert many.task_bytes <= GB
    assert planned(64 * GB, GB // 4).problems == ()  # fewer tasks run at a time
    (problem,) = planned(GB // 4, GB // 4).problems
    assert "the node with the most memory has 256.0 MiB. Give nodes more memory (`ray start --memory`)" in problem
    assert "that the node with the most memory has for it" in str(alone)


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        (pa.int8(), pa.int64()),
        (pa.uint64(), pa.decimal128(20)),
        (pa.float32(), pa.float64()),
        (pa.timestamp("us", "UTC"), pa.int64()),
        (pa.date32(), pa.int64()),
        (pa.dictionary(pa.int32(), pa.string()), pa.large_string()),
        (pa.list_(pa.int64()), None),
        (pa.struct({"a": pa.int64()}), None),
    ],
)
def test_types_have_an_order_or_none(kind, found):
    assert normal(kind) == found


def test_values_are_compared_as_numbers_whose_order_is_theirs():
    table = pa.table({
        "f": pa.array([float("nan"), None, 1.5, -0.5], pa.float32()),
        "d": pa.array([3, 2, 1, 0], pa.int32()).cast(pa.date32()),
        "b": [True, False, None, True],
    })  # fmt: skip
    columns = Columns(["f", "d", "b"], table.schema)
    found = columns.of(table, "a file")
    assert found.schema.types == columns.sort.schema.types[2:]
    rows = found.append_column("doc", pa.array(range(4))).append_column("is_reference", pa.array([False] * 4))
    assert columns.sort.order(rows.select(columns.sort.schema.names)).tolist() == [1, 3, 2, 0]  # null, numbers, NaN
    assert not columns.can_be_compared
    assert Columns(["d"], table.schema).can_be_compared
    with pytest.raises(nd.InputError, match="a file has no column 'd'; it has 'f'"):
        columns.of(table.select(["f"]), "a file")


@NEEDED
@pytest.mark.filterwarnings("ignore")  # ray's
def test_errors_of_tasks_are_told_in_our_words():
    from ray import exceptions

    from neardup.engines.ray.failures import translated_errors

    def of_task(cause, said=""):
        return exceptions.RayTaskError("work", said or str(cause), cause).as_instanceof_cause()

    stack = (
        "\x1b[36mray::MapBatches(with_fingerprints)()\x1b[39m (pid=7, ip=127.0.0.1)\n  File x, line 7, in work\n"
        "{}\n\nThe above exception was the direct cause of the following exception:\n\n\x1b[36mray::MapBatches()\x1b[39m\n"
        "ray.exceptions.UserCodeException: UDF failed to process a data block.\nFailed to apply UDF transform after 1/1 attempts.\n"
        "To change retry attempts, configure `ray.data.DataContext.get_current()`."
    )
    ours = nd.DataError("a text is null")
    for problem, kind, message in (
        (of_task(ours), nd.DataError, "^a text is null$"),
        (of_task(ours, stack.format("neardup.errors.DataError: a text")), nd.DataError, "^a text is null$"),
        (
            of_task(
                exceptions.UserCodeException("UDF failed"), stack.format("neardup.errors.DataError: a text is null")
            ),
            nd.DataError,
            "^a text is null$",
        ),
        (
            of_task(ValueError("a user's own"), stack.format("ValueError: a user's own")),
            nd.DataError,
            "^Ray failed: ValueError: a user's own. The logs of Ray have more. Once the cause is removed, call again with the same",
        ),
        (
            of_task(pa.ArrowTypeError("string vs int64")),
            nd.DataError,
            "^Ray cannot read the rows: string vs int64. The values",
        ),
        (
            of_task(FileNotFoundError("/in/a.parquet")),
            nd.DataError,
            "^A file is not there any more: /in/a.parquet. The input",
        ),
        (
            of_task(OSError(errno.ENOSPC, "No space left on device")),
            OSError,
            "a disk of the cluster is full.*No space left",
        ),
        (of_task(MemoryError("no room")), MemoryError, "Workers ran out of memory, several times for the same task"),
        (
            of_task(PermissionError(13, "denied", "/x")),
            nd.InputError,
            "A worker may not read or write a path: .*denied",
        ),
        (of_task(ModuleNotFoundError("No module named 'neardup'")), nd.InputError, "A worker has no neardup. Ship the"),
        (exceptions.OutOfMemoryError("killed"), MemoryError, "Workers ran out of memory"),
        (exceptions.OutOfDiskError("full"), OSError, "a disk of the cluster is full"),
        (exceptions.WorkerCrashedError(), MemoryError, "Workers, or their nodes, were killed"),
        (exceptions.RaySystemError(RuntimeError("gone")), OSError, "Ray has stopped, or does not answer"),
    ):
        with pytest.raises(kind, match=message) as told, translated_errors(), translated_errors():
            raise problem
        assert type(told.value) is kind
        assert told.value.__suppress_context__
        assert "\x1b" not in str(told.value)
        assert str(told.value).count("a disk of the cluster is full") <= 1
    with pytest.raises(ValueError, match="as it is"), translated_errors():
        raise ValueError("as it is")
