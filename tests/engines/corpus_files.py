"""The documents of a corpus in files of Parquet, which engines read, and the answer of one machine."""

import datetime
import math
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq

import neardup as nd
from agreement import corpora

OPTIONS = {"method": "exact", "min_similarity": 0.6}
TIMES = [
    datetime.timedelta(microseconds=1),
    datetime.timedelta(0),
    None,
    datetime.timedelta(seconds=1),
    datetime.timedelta(days=-9),
]
TRAPS = {
    "score": (pa.float64(), [1.0, math.inf, -0.0, None, math.nan, -math.inf, 0.0, 1e300]),
    "share": (pa.float32(), [0.1, -0.0, math.inf, 0.0, None, 0.25]),
    "big": (pa.int64(), [2**53, 2**53 + 1, None, -(2**63), 2**63 - 1, 0]),
    "day": (pa.date32(), [datetime.date(1, 1, 1), datetime.date(9999, 12, 31), None, datetime.date(1970, 1, 1)]),
    "at": (
        pa.timestamp("us", "UTC"),
        [datetime.datetime(2024, 5, 1, tzinfo=datetime.UTC) + each if each is not None else None for each in TIMES],
    ),
    "price": (
        pa.decimal128(20, 4),
        [Decimal("1.10"), Decimal("1.1"), None, Decimal("-0.0"), Decimal(0), Decimal("9007199254740993")],
    ),
    "label": (pa.string(), ["", "a", None, " ", "A", "\U0001f642", "\uff5a"]),
    "flag": (pa.bool_(), [True, None, False]),
}
"""Columns whose values engines may take for others, with their types."""
SCHEMA = pa.schema(
    [("id", pa.string()), ("text", pa.string()), ("language", pa.string()), ("n", pa.int64())]
    + [(name, kind) for name, (kind, _) in TRAPS.items()]
)


def numbered(rows):
    return [{**row, "n": number} for number, row in enumerate(rows)]


def with_traps(rows):
    """Rows with the columns of TRAPS, which repeat after different numbers of rows."""
    return [
        {**row, **{name: values[row["n"] * 7 % 11 % len(values)] for name, (_, values) in TRAPS.items()}}
        for row in rows
    ]


def rows_of(name="mixture"):
    return numbered(corpora.make(name).rows)


def written(folder, rows, files=3, *, dealt=True):
    """A folder of Parquet files, with the rows dealt to them in turn; else with those that follow one another."""
    folder.mkdir()
    for number in range(files):
        some = [row for row in rows if (row["n"] % files if dealt else row["n"] * files // len(rows)) == number]
        pq.write_table(pa.Table.from_pylist(some, SCHEMA), folder / f"{number}.parquet")
    return str(folder)


def expected(rows, **options):
    return [row["n"] for row in nd.deduplicate(rows, **(OPTIONS | options)).survivors]


def same(ours, theirs):
    both_numbers = isinstance(ours, float) and isinstance(theirs, float)
    return abs(ours - theirs) < 1e-12 if both_numbers else ours == theirs
