"""Any frame of Spark gives the answer of one machine, however Spark makes its rows; or it is refused in our words."""

import datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from engines.spark_cluster import MARKS, local_session
from neardup import spark as on_spark
from neardup.engines.job_options import Work
from neardup.engines.packing import unsorted
from neardup.engines.reading import sorted_runs as ascents
from neardup.engines.schemas import PLACES
from neardup.engines.spark import scans, tasks
from neardup.engines.spark import sort as places
from neardup.engines.spark.frames import Frame, Input
from neardup.options import DedupOptions
from neardup.recipe.recipe import Recipe
from neardup.survivors.decisions import cost_of_values
from neardup.text.preference import comparison_of, token_of
from neardup.version import __version__

pytestmark = MARKS
SENTENCE = "one of the texts that many pages have in common with others, of family {} and with word {}"


@pytest.fixture(scope="module")
def session():
    found = local_session(2, **{"spark.sql.session.timeZone": "Europe/Berlin"})
    yield found
    found.stop()


def rows_of(count=24, families=6, **columns):
    """Rows of which some have near texts; ids descend while numbers ascend."""
    return [
        {"id": f"{count - n:02}", "text": SENTENCE.format(f"number{n % families} " * 9, n), "n": n}
        | {name: make(n) for name, make in columns.items()}
        for n in range(count)
    ]


def files_of(session, folder, rows, files=4):
    """A frame of files to which rows are dealt in turn."""
    folder.mkdir()
    for number in range(files):
        pq.write_table(pa.Table.from_pylist(rows[number::files]), folder / f"{number}.parquet")
    return session.read.parquet(str(folder))


def kept(frame, work, **options):
    done = on_spark.deduplicate(frame, order="n", work=str(work), **options)
    return sorted(row.n for row in done.survivors.collect()), {
        row.id: row.survivor_id for row in done.duplicates.collect()
    }


def expected(rows, **options):
    found = nd.deduplicate(rows, method="exact", **options)
    return [row["n"] for row in found.survivors], {
        row["id"]: row["survivor_id"] for row in found.duplicates.to_pylist()
    }


MOVED = {
    "repartition": lambda frame: frame.repartition(3),
    "dropDuplicates": lambda frame: frame.dropDuplicates(["id"]),
    "cached": lambda frame: frame.where("n >= 0").cache(),
}


@pytest.mark.parametrize(
    "moves", ["repartition", *(pytest.param(each, marks=pytest.mark.long) for each in ("dropDuplicates", "cached"))]
)
def test_rows_that_spark_moves_are_copied_first(session, tmp_path, moves):
    rows = rows_of()
    files = files_of(session, tmp_path / "in", rows)
    frame = MOVED[moves](files)
    told = "the input is copied to `work` first, with all its columns"
    assert told in str(on_spark.plan(frame, order="n"))
    assert told not in str(on_spark.plan(files, order="n"))
    assert kept(frame, tmp_path / "work") == expected(rows)
    assert list((tmp_path / "work" / "rows").glob("000-input-*/*.parquet"))


@pytest.mark.long
def test_pairs_and_clusters_of_rows_that_spark_moves_are_those_of_their_files(session, tmp_path):
    files = files_of(session, tmp_path / "in", rows_of())
    for number, make in enumerate((on_spark.pairs, on_spark.clusters)):
        found = [
            sorted(map(tuple, make(frame, order="n", work=f"{tmp_path}/{number}{at}").collect()))
            for at, frame in enumerate((files, MOVED["repartition"](files)))
        ]
        assert found[0] == found[1] != []


def test_times_are_groups_as_they_are_on_one_machine(session, tmp_path):
    at = [datetime.datetime(2024, 5, 1, hour, tzinfo=datetime.UTC) for hour in range(3)]
    rows = rows_of(families=2, at=lambda n: at[n % 5 % 3] if n % 5 < 4 else None)
    frame = files_of(session, tmp_path / "in", rows)
    done = on_spark.deduplicate(frame, order="n", within="at", work=str(tmp_path / "work"))
    found = nd.deduplicate(rows, within="at", method="exact")
    assert sorted(row.n for row in done.survivors.collect()) == [row["n"] for row in found.survivors]
    assert len(found.survivors) > 4


@pytest.mark.parametrize("moves", [*MOVED, "sort", "made in the session"])
def test_frames_that_are_copied_have_no_order_of_files(session, tmp_path, moves):
    frame = files_of(session, tmp_path / "in", rows_of())
    made = MOVED | {
        "sort": lambda frame: frame.sort("n"),
        "made in the session": lambda _: session.createDataFrame(rows_of()),
    }
    with pytest.raises(nd.OptionError, match="This frame has no order: give `order=`"):
        on_spark.deduplicate(made[moves](frame), work=str(tmp_path / "work"))
    with pytest.raises(nd.OptionError, match="This frame has no order: give `order=`"):
        on_spark.deduplicate(frame, against=made[moves](frame), work=str(tmp_path / "work"))


def test_a_folder_has_the_work_of_one_frame(session, tmp_path):
    frame, work = files_of(session, tmp_path / "in", rows_of()), tmp_path / "work"
    kept(frame, work)
    for other in (frame.where("n < 20"), frame.withColumn("text", frame.id)):
        with pytest.raises(nd.RecipeMismatch, match="has the work of another job: input steps in Spark was"):
            kept(other, work)
    assert kept(session.read.parquet(str(tmp_path / "in")), work) == expected(rows_of())


def test_a_folder_has_the_work_of_one_copy(session, tmp_path):
    work = tmp_path / "work"
    first = kept(session.createDataFrame(rows_of()), work)
    assert kept(session.createDataFrame(rows_of()), work) == first == expected(rows_of())
    with pytest.raises(
        nd.RecipeMismatch, match="has the work of a job on other rows: the input had 24 rows with the sum"
    ):
        kept(session.createDataFrame(rows_of(families=5)), work)


VALUES = {
    "numbers as strings": lambda n: str(10 ** (n % 7)) if n % 5 else None,
    "dates as strings": lambda n: f"2024-0{1 + n % 9}-01" + ("T12:00+02:00" if n % 2 else ""),
    "words": lambda n: "abc"[n % 3] * (1 + n % 4),
    "numbers": lambda n: float("nan") if n % 4 == 0 else (n * 7 % 10) / 3,
    "times": lambda n: datetime.datetime(2024, 5, 1, tzinfo=datetime.UTC) + datetime.timedelta(microseconds=n * 7 % 10),
}


def ranked(frame, keep, compared_as):
    """The numbers of documents as they are preferred, the best first."""
    given = Frame(frame, "text", "id", ("n",), value="v")
    work = Work.of(Recipe(), DedupOptions(method="exact", keep=keep))
    packed = places.places(Input(given), work, compared_as, tasks.Setting(__version__, 1), lambda found: found)
    rows = unsorted([bytes(row.content) for row in packed.collect()], PLACES).sort_by("rank")
    return rows.column("place").to_pylist()


@pytest.mark.parametrize(("values", "keep"), [(name, ("max:v", "min:v")[at % 2]) for at, name in enumerate(VALUES)])
def test_values_are_preferred_as_on_one_machine(session, tmp_path, values, keep):
    rows = rows_of(v=VALUES[values])
    written = [row["v"].isoformat() if values == "times" else row["v"] for row in rows]
    tokens = pa.array([token_of(value, "v") for value in written], pa.large_string())
    costs = cost_of_values(tokens, DedupOptions(method="exact", keep=keep))
    compared_as = comparison_of(tokens, "v").compared_as
    assert ranked(files_of(session, tmp_path / "in", rows), keep, compared_as) == list(
        np.lexsort((np.arange(len(rows)), costs))
    )


def test_numbers_and_words_have_no_order_unless_they_are_of_a_reference(session, tmp_path):
    words = files_of(session, tmp_path / "in", rows_of(v=lambda n: "12" if n < 23 else "many"))
    numbers = words.selectExpr("concat('n', id) as id", "text", "n", "double(n) as v")
    options = {"order": "n", "keep": "min:v"}
    with pytest.raises(nd.DataError, match=r'Column "v" has text, such as .many. \(id ".+"\), among numbers, such as'):
        on_spark.deduplicate(words, work=str(tmp_path / "mixed"), **options)
    done = on_spark.deduplicate(numbers, against=words, work=str(tmp_path / "work"), **options)
    assert done.summary.compared_as == "numbers"


def test_a_reference_is_in_order(session, tmp_path):
    known = [{"id": f"k{n}", "text": SENTENCE.format("a b c d e f g " * 5, "x"), "n": n} for n in (3, 1, 2, 0)]
    rows = [{"id": "new", "text": known[0]["text"], "n": 9}]
    reference = files_of(session, tmp_path / "known", known)
    done = on_spark.deduplicate(
        files_of(session, tmp_path / "in", rows, 1), order="n", against=reference, work=str(tmp_path / "work")
    )
    assert [row.survivor_id for row in done.duplicates.collect()] == ["k0"]


def test_the_hour_that_clocks_repeat_has_an_order(session, tmp_path):
    begins = datetime.datetime(2024, 10, 27, 0, 30, tzinfo=datetime.UTC)  # 2:30 in Berlin, and an hour later 2:30 again
    rows = rows_of(8, at=lambda n: begins + datetime.timedelta(minutes=20 * n))
    (tmp_path / "in").mkdir()
    for number in range(2):
        pq.write_table(pa.Table.from_pylist(rows[4 * number :][:4]), tmp_path / "in" / f"{1 - number}.parquet")
    frame = session.read.parquet(str(tmp_path / "in"))
    work = Work.of(Recipe(), DedupOptions(method="exact"))
    (numbers,) = scans.numbers_of(Input(Frame(frame, "text", "id", ("at",))), work, tasks.Setting(__version__, 1))
    assert sorted(numbers.values()) == [[(0, 0)], [(0, 1)]]
    parts = {row.part: row.n for row in frame.selectExpr("spark_partition_id() as part", "n").collect()}
    assert sorted(numbers, key=numbers.get) == sorted(parts, key=parts.get)


@pytest.mark.parametrize("order", ["n", pytest.param((), marks=pytest.mark.long)])
def test_small_files_that_spark_puts_together_are_in_order_without_sorting(session, tmp_path, order):
    """Spark begins with the largest files, here those of the last rows, and some partitions have several."""
    rows = rows_of(24, families=6)
    (tmp_path / "in").mkdir()
    for number in range(6):
        some = [row | {"other": f"{number} {row['n']} " * 40 * number} for row in rows[4 * number :][:4]]
        pq.write_table(pa.Table.from_pylist(some), tmp_path / "in" / f"{number}.parquet", compression="none")
    frame = session.read.parquet(str(tmp_path / "in"))
    parts = [[row.n for row in part] for part in frame.select("n").rdd.glom().collect()]
    assert any(part != sorted(part) for part in parts)
    for options in ({}, {"keep": "last", "against": frame.where("n % 7 = 3")}):
        work = str(tmp_path / f"work {len(options)}")
        done = on_spark.deduplicate(frame, order=order, work=work, **options)
        given = options | ({"against": [row for row in rows if row["n"] % 7 == 3]} if options else {})
        expected = nd.deduplicate(rows, method="exact", **given)
        assert sorted(row.n for row in done.survivors.collect()) == [row["n"] for row in expected.survivors]
        assert {row.id: row.survivor_id for row in done.duplicates.collect()} == {
            line["id"]: line["survivor_id"] for line in expected.duplicates.to_pylist()
        }
        assert "order" not in [stage.name for stage in done.stages]


def test_very_many_runs_are_sorted(session, tmp_path, monkeypatch):
    frame = files_of(session, tmp_path / "in", [row for row in rows_of() if row["n"] < 8], files=1)
    work, given = Work.of(Recipe(), DedupOptions(method="exact")), Input(Frame(frame, "text", "id", ("n",)))
    setting = tasks.Setting(__version__, 1)
    assert scans.numbers_of(given, work, setting) == [{0: [(0, 0)]}]
    descending = Input(Frame(frame.selectExpr("*", "int(-n) d"), "text", "id", ("d",)))
    assert scans.numbers_of(descending, work, setting) == [{0: [(row, 7 - row) for row in range(8)]}]
    monkeypatch.setattr(ascents, "RUNS_IN_ALL", 7)
    assert scans.numbers_of(descending, work, setting) is None


def test_dates_of_any_year_are_an_order(session, tmp_path):
    frame = files_of(session, tmp_path / "in", rows_of(), files=1)
    dated = frame.selectExpr(
        "*", "date_add(date'0001-01-01', int(n) - 12) as d", "date_add(date'9999-12-31', int(n)) as e"
    )
    work, setting = Work.of(Recipe(), DedupOptions(method="exact")), tasks.Setting(__version__, 1)
    for name in "de":
        given = Input(Frame(dated, "text", "id", (name,)))
        assert scans.numbers_of(given, work, setting) == [{0: [(0, 0)]}]


def test_united_frames_and_views_need_an_order(session, tmp_path):
    rows = rows_of()
    ends = [files_of(session, tmp_path / f"in{at}", rows[12 * at :][:12], files=1) for at in range(2)]
    both = ends[0].union(ends[1])
    ends[0].createOrReplaceTempView("some_pages")
    for frame in (both, session.table("some_pages")):
        with pytest.raises(nd.OptionError, match=r"This frame has no order: give `order=`.*united or read by a view"):
            on_spark.deduplicate(frame, work=str(tmp_path / "none"))
    assert kept(both, tmp_path / "work") == expected(rows)
    assert kept(ends[1].union(ends[0]), tmp_path / "turned") == expected(rows)


def test_strings_that_are_no_utf8_are_refused(session, tmp_path):
    frame = files_of(session, tmp_path / "in", rows_of()).selectExpr("id", "n", "string(unhex('C328')) as text")
    with pytest.raises(nd.DataError, match=r"A value in the column of the text is no valid UTF-8: b'\\xc3\("):
        kept(frame, tmp_path / "work")
    with pytest.raises(Exception, match="is no valid UTF-8"):
        on_spark.fingerprint(frame).collect()


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (["double(n) as id"], {}, "The column 'id' of the ids is double, but strings or integers are needed"),
        (["id", "map(n, n) as n"], {}, "The column 'n' holds map<bigint,bigint>, which has no order"),
        (
            ["id", "array(n) as v"],
            {"keep": "max:v"},
            "The column 'v' of the values is list<element: int64>, but strings, numbers",
        ),
    ],
)
def test_types_without_a_meaning_are_refused(session, tmp_path, columns, options, message):
    names = [*columns, "text"] + ([] if any(" as n" in name for name in columns) else ["n"])
    frame = files_of(session, tmp_path / "in", rows_of()).selectExpr(*names)
    with pytest.raises(nd.InputError, match=message):
        kept(frame, tmp_path / "work", **options)


def test_names_of_columns_may_have_any_characters(session, tmp_path):
    rows = rows_of()
    frame = files_of(session, tmp_path / "in", rows).toDF("the.id", "the `text`", "n")
    done = on_spark.deduplicate(frame, text="the `text`", id="the.id", order="n", work=str(tmp_path / "work"))
    assert sorted(row.n for row in done.survivors.collect()) == expected(rows)[0]
    assert done.survivors.columns == frame.columns
