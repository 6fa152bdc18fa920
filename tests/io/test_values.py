"""The values of more columns: JSON values from every format, equal ones as equal texts."""

import datetime
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from io_rows import batches_of

from neardup.errors import InputError
from neardup.io.corpora.batch import Columns
from neardup.io.corpora.file_corpus import FileCorpus
from neardup.io.corpora.shard import Shard
from neardup.resources.resources import Resources

Make = Callable[..., Shard]


def values_of(shard: Shard, *names: str, wanted: Any = None) -> tuple[list[list[str | None]], dict[int, str]]:
    """The values of each column, and the reasons of rejected rows."""
    reasons: dict[int, str] = {}
    found: list[list[str | None]] = [[] for _ in names]
    mask = None if wanted is None else np.array(wanted, np.bool_)
    columns = Columns(values=names)
    for batch in batches_of(shard, columns, reasons, wanted=mask):
        assert len(batch.values) == len(names)
        for column, part in zip(found, batch.values, strict=True):
            assert part.type == pa.large_string()
            assert len(part) == len(batch.texts)
            part.validate(full=True)
            column += part.to_pylist()
    return found, reasons


def lines(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps({"text": "a", **row}).encode() + b"\n" for row in rows)


SAME_KIND: dict[str, tuple[list[Any], list[str | None]]] = {
    "strings": (["b", 'é"\n', None, ""], ['"b"', '"é\\"\\n"', None, '""']),
    "integers": ([3, -(1 << 62), None, 0], ["3", str(-(1 << 62)), None, "0"]),
    "floats": ([0.5, 1e300, None, 2.0, 1e-7, -0.0], ["0.5", "1e+300", None, "2", "1e-07", "0"]),
    "truth": ([True, None, False], ["true", None, "false"]),
}


@pytest.mark.parametrize("kind", SAME_KIND)
def test_a_column_of_one_kind_reads_alike_from_json_lines_and_parquet(shard: Make, kind: str) -> None:
    given, expected = SAME_KIND[kind]
    from_lines = shard(lines(*({"v": value} for value in given)))
    from_parquet = shard(pa.table({"text": ["a"] * len(given), "v": given}), "a.parquet")
    assert values_of(from_lines, "v") == ([expected], {})
    assert values_of(from_parquet, "v") == ([expected], {})
    nested = shard(lines(*({"m": {"v": value}} for value in given)))
    assert values_of(nested, "m.v") == ([expected], {})
    structs = pa.table({"text": ["a"] * len(given), "m": [{"v": value} for value in given]})
    assert values_of(shard(structs, "b.parquet"), "m.v") == ([expected], {})


def test_what_becomes_of_a_value_does_not_depend_on_its_neighbors(shard: Make) -> None:
    mixed = [1, "1", 1.0, 2.5, True, None, 1 << 70, (1 << 53) + 1, 1e400, float("nan"), "x"]
    tokens = ["1", '"1"', "1", "2.5", "true", None, str(1 << 70), str((1 << 53) + 1), '"inf"', None, '"x"']
    assert values_of(shard(lines(*({"v": value} for value in mixed))), "v") == ([tokens], {})
    for value, token in zip(mixed, tokens, strict=True):
        assert values_of(shard(lines({"v": value})), "v") == ([[token]], {})
        assert values_of(shard(lines({"v": 0.5}, {"v": value})), "v") == ([["0.5", token]], {})
        assert values_of(shard(lines({"m": {"v": 7}}, {"m": {"v": value}})), "m.v") == ([["7", token]], {})


def test_an_absent_value_is_null_and_an_array_or_object_rejects_the_row(shard: Make) -> None:
    found = shard(lines({"v": "a"}, {}, {"v": [1]}, {"v": {"x": 1}}, {"v": "b"}))
    values, reasons = values_of(found, "v")
    assert values == [["a".join('""'), None, None, None, '"b"']]
    assert reasons == {
        2: 'its column "v" is an array, not a string, a number, true, false or null',
        3: 'its column "v" is an object, not a string, a number, true, false or null',
    }
    assert values_of(found, "v", wanted=[True, False, False, False, True]) == ([['"a"', None, None, None, '"b"']], {})


def test_values_of_rejected_rows_are_null(shard: Make) -> None:
    rows = shard(b'{"text": 1, "v": "a"}\n{"text": "b", "v": "c"}\n')
    assert values_of(rows, "v")[0] == [[None, '"c"']]
    table = pa.table({"text": [None, "b"], "v": ["a", "c"]})
    assert values_of(shard(table, "a.parquet"), "v")[0] == [[None, '"c"']]


def test_several_columns_and_the_text_itself_can_be_values(shard: Make) -> None:
    found = shard(lines({"text": "t", "id": 4, "lang": "de", "n": 1.5}))
    assert values_of(found, "n", "text", "lang", "id") == ([["1.5"], ['"t"'], ['"de"'], ["4"]], {})


def test_dates_and_times_of_parquet_sort_as_texts_whatever_their_unit(shard: Make) -> None:
    moment = datetime.datetime(2024, 2, 29, 23, 5, 6, 120_000, tzinfo=datetime.UTC)
    for unit, fraction in [("s", "000000000"), ("ms", "120000000"), ("us", "120000000"), ("ns", "120000000")]:
        for zone in (None, "UTC", "Asia/Tokyo"):
            times = pa.array([moment.replace(tzinfo=None), None]).cast(pa.timestamp(unit), safe=False)
            times = times.cast(pa.timestamp(unit, zone)) if zone else times
            table = pa.table({"text": ["a", "b"], "v": times})
            assert values_of(shard(table, f"{unit}{bool(zone)}.parquet"), "v")[0] == [
                [f'"2024-02-29T23:05:06.{fraction}Z"', None]
            ]
    days = pa.table({"text": ["a"], "v": [moment.date()], "w": [moment.time()]})
    assert values_of(shard(days, "d.parquet"), "v", "w")[0] == [['"2024-02-29"'], ['"23:05:06.120000000"']]


def test_decimals_dictionaries_and_nulls_are_values(shard: Make) -> None:
    table = pa.table(
        {
            "text": ["a", "b", "c"],
            "price": [Decimal("1.50"), Decimal("-0.00"), None],
            "lang": pa.array(["de", "fr", "de"]).dictionary_encode(),
            "nothing": pa.nulls(3),
            "small": pa.array([1.5, float("nan"), float("inf")], pa.float32()),
            "day": pa.array([100.0, 0.0, None], pa.float64()),
        }
    )
    assert values_of(shard(table, "a.parquet"), *table.column_names[1:])[0] == [
        ["1.5", "0", None],
        ['"de"', '"fr"', '"de"'],
        [None, None, None],
        ["1.5", None, '"inf"'],
        ["100", "0", None],
    ]


def test_broken_strings_reject_the_row(shard: Make) -> None:
    strings = pa.array([b"ok", b"\xff"], pa.binary()).view(pa.string())
    values, reasons = values_of(shard(pa.table({"text": ["a", "b"], "v": strings}), "a.parquet"), "v")
    assert values == [['"ok"', None]]
    assert reasons == {1: 'its column "v" is not UTF-8'}


@pytest.mark.parametrize("column", [[[1]], [{"x": 1}], [b"x"], [datetime.timedelta(1)]], ids=str)
def test_parquet_types_that_are_no_values_are_refused(shard: Make, column: Any) -> None:
    found = shard(pa.table({"text": ["a"], "v": column}), "a.parquet")
    with pytest.raises(InputError, match='column "v" is .*, but a column of strings, numbers, dates or truth values'):
        FileCorpus([found], Columns(values=("v",))).check()


def test_shards_without_the_column_are_named_all_at_once(shard: Make) -> None:
    shards = [
        shard(lines({"v": 1}), "a.jsonl"),
        shard(lines({"w": 1}), "b.jsonl"),
        shard(pa.table({"text": ["a"]}), "c.parquet"),
    ]
    with pytest.raises(InputError) as caught:
        FileCorpus(shards, Columns(values=("v",))).check()
    message = str(caught.value).splitlines()
    assert len(message) == 2
    assert 'b.jsonl has no column "v" in its first rows. It has: text, w.' in message[0]
    assert 'c.parquet has no column "v". It has: text: string.' in message[1]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_corpus_hands_on_the_values_of_all_its_shards(shard: Make, threads: int) -> None:
    shards = [shard(lines({"v": 1}, {"v": "x"}), "a.jsonl"), shard(pa.table({"text": ["a"], "v": [2.5]}), "b.parquet")]
    corpus = FileCorpus(shards, Columns(values=("v",)), resources=Resources(threads))
    found = [(row, got) for row, got in corpus.map(lambda batch: batch.values[0].to_pylist())]
    assert found == [(0, ["1", '"x"']), (2, ["2.5"])]
    plain = FileCorpus(shards, Columns(), resources=Resources(threads))
    assert [got for _, got in plain.map(lambda batch: batch.values)] == [(), ()]
