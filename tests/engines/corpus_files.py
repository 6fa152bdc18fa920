"""The documents of a corpus in files of Parquet, which engines read, and the answer of one machine."""

import pyarrow as pa
import pyarrow.parquet as pq

import neardup as nd
from agreement import corpora

OPTIONS = {"method": "exact", "min_similarity": 0.6}
SCHEMA = pa.schema([("id", pa.string()), ("text", pa.string()), ("language", pa.string()), ("n", pa.int64())])


def numbered(rows):
    return [{**row, "n": number} for number, row in enumerate(rows)]


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
