"""`neardup fingerprint --fingerprint` and `--digits`: fingerprints of other programs come in, go out, and are used."""

import csv
import gzip
import itertools
import json
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from cli_corpora import ROWS, read_lines, write_lines

import naive_digits
import neardup

OTHER = "neardup fingerprint"
TEXT_DIGITS = ("decimal", "signed", "hexadecimal", "binary")
WIDTHS = (1, 10, 32, 63, 64, 65, 128, 160, 512)


def numbers(bits=64, n=40):
    """Fingerprints of which 0 and 1 are equal, and 2 and 3 differ in one bit."""
    drawn = random.Random(bits)
    found = [drawn.getrandbits(bits) for _ in range(n)]
    found[1], found[3] = found[0], found[2] ^ 1
    found[4:6] = [0, (1 << bits) - 1]
    return found


def write(name, values, ids=None):
    """A file of fingerprints in the format of its name, with the column `fp` and, if there are ids, `id`."""
    plain = name.removesuffix(".gz").removesuffix(".zst")
    rows = [{"fp": value} if ids is None else {"id": ids[i], "fp": value} for i, value in enumerate(values)]
    if plain.endswith(".jsonl"):
        content = "".join(json.dumps(row) + "\n" for row in rows)
    elif plain.endswith(".txt"):
        content = "".join(f"{value}\n" for value in values)
    else:
        between = "\t" if plain.endswith(".tsv") else ","
        content = "".join(
            between.join(map(str, row)) + "\n" for row in [list(rows[0]), *(row.values() for row in rows)]
        )
    data = content.encode()
    Path(name).parent.mkdir(exist_ok=True, parents=True)
    Path(name).write_bytes(
        gzip.compress(data) if name.endswith(".gz") else zstandard.compress(data) if name.endswith(".zst") else data
    )


def prints(path):
    column = pq.read_table(path).column("fingerprint")
    return [each if isinstance(each, int) else int.from_bytes(each, "big") for each in column.to_pylist()]


def ids(path):
    return pq.read_table(path).column("id").to_pylist()


def metadata(path):
    found = pq.read_schema(path).metadata
    return json.loads(found[b"neardup.recipe"]), found.get(b"neardup.max_distance")


def bring_in(run, name, *more, output="prints.parquet"):
    column = ("--lines",) if ".txt" in name else ("--fingerprint", "fp")
    return run("fingerprint", name, *column, "-o", output, *more).ok()


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "txt", "csv.gz", "jsonl.zst", "txt.gz"])
@pytest.mark.parametrize("digits", TEXT_DIGITS)
def test_digits_come_in_from_every_format_at_every_width(run, ending, digits):
    for bits in WIDTHS:
        values = [naive_digits.written(number, digits, bits) for number in numbers(bits)]
        write(f"in{bits}.{ending}", values)
        bring_in(run, f"in{bits}.{ending}", "--digits", digits, "--bits", bits, output=f"{bits}.parquet")
        assert prints(f"{bits}.parquet") == numbers(bits)
        assert ids(f"{bits}.parquet")[2] == f"in{bits}.{ending}:2"


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "txt", "csv.gz", "jsonl.zst", "tsv.zst"])
@pytest.mark.parametrize("digits", TEXT_DIGITS)
def test_what_goes_out_comes_back_in_equal(run, ending, digits):
    odd = ['a "b", c', "two\nlines", "tab\there", "semi;colon|bar", " space", "'quoted'", "\\", "=1+1", "ü"]
    for bits in WIDTHS:
        values = [naive_digits.written(number, "hexadecimal", bits) for number in numbers(bits)]
        write(f"in{bits}.jsonl", values, (odd + [f"d{i}" for i in range(31)])[:40])
        bring_in(run, f"in{bits}.jsonl", "--digits", "hexadecimal", "--bits", bits, output=f"{bits}.parquet")
        done = run("fingerprint", f"{bits}.parquet", "-o", f"out{bits}.{ending}", "--digits", digits)
        assert (done.code, done.out) == (0, b""), done.err
        column = ("--lines",) if ending == "txt" else ("--fingerprint", "fingerprint")
        run(
            "fingerprint",
            f"out{bits}.{ending}",
            *column,
            "--digits",
            digits,
            "--bits",
            bits,
            "-o",
            f"again{bits}.parquet",
        ).ok()
        assert prints(f"again{bits}.parquet") == numbers(bits)
        if ending != "txt":
            assert ids(f"again{bits}.parquet") == ids(f"{bits}.parquet")


PARQUET = {
    "uint64": (64, lambda found: pa.array(found, pa.uint64())),
    "int64": (64, lambda found: pa.array(np.array(found, np.uint64).view(np.int64))),
    "uint32": (32, lambda found: pa.array(found, pa.uint32())),
    "int32": (32, lambda found: pa.array(np.array(found, np.uint32).view(np.int32))),
    "binary": (128, lambda found: pa.array([each.to_bytes(16) for each in found])),
    "fixed": (160, lambda found: pa.array([each.to_bytes(20) for each in found], pa.binary(20))),
    "large": (24, lambda found: pa.array([each.to_bytes(3) for each in found], pa.large_binary())),
}


@pytest.mark.parametrize("kind", PARQUET)
def test_columns_of_parquet_say_how_they_are_written(run, kind):
    bits, column = PARQUET[kind]
    pq.write_table(pa.table({"id": range(40), "fp": column(numbers(bits))}), "in.parquet", row_group_size=7)
    bring_in(run, "in.parquet", "--program", "gosimhash")
    assert prints("prints.parquet") == numbers(bits)
    assert metadata("prints.parquet")[0] == {"kind": "another program", "program": "gosimhash", "bits": bits}
    assert ids("prints.parquet") == list(map(str, range(40)))


@pytest.mark.parametrize(
    "column",
    [
        lambda found: pa.array([f"{each:016x}" for each in found]),
        lambda found: pa.array([f"{each:016x}" for each in found], pa.large_string()),
        lambda found: pa.array([f"{each:016x}" for each in found]).dictionary_encode(),
        lambda found: pa.array([f"0x{each:X}" for each in found]),
    ],
)
def test_strings_of_parquet_are_read_by_digits(run, column):
    pq.write_table(pa.table({"meta": pa.StructArray.from_arrays([column(numbers())], ["fp"])}), "in.parquet")
    run(
        *("fingerprint", "in.parquet", "--fingerprint", "meta.fp", "--digits", "hexadecimal", "--bits", 64),
        *("-o", "prints.parquet"),
    ).ok()
    assert prints("prints.parquet") == numbers()


def test_decimals_of_parquet_and_integers_of_a_narrower_width_are_read(run):
    found = numbers(32)
    pq.write_table(pa.table({"fp": pa.array(numbers(), pa.decimal128(20))}), "a.parquet")
    bring_in(run, "a.parquet", "--digits", "decimal")
    assert prints("prints.parquet") == numbers()
    pq.write_table(pa.table({"fp": pa.array(found, pa.int64())}), "b.parquet")
    bring_in(run, "b.parquet", "--digits", "decimal", "--bits", 32, output="b.prints.parquet")
    assert prints("b.prints.parquet") == found


@pytest.mark.parametrize("digits", ["decimal", "signed"])
def test_integers_of_json_lines_are_exact(run, digits):
    for bits in (32, 64, 160):
        write(f"in{bits}.jsonl", [int(naive_digits.written(each, digits, bits)) for each in numbers(bits)])
        bring_in(run, f"in{bits}.jsonl", "--digits", digits, "--bits", bits, output=f"{bits}.parquet")
        assert prints(f"{bits}.parquet") == numbers(bits)


def test_ids_are_strings_integers_or_file_and_row(run):
    rows = [{"id": 7, "fp": "1"}, {"id": "x", "fp": "2"}, {"fp": "3"}, {"key": "k", "fp": "4"}]
    write_lines("in.jsonl", rows)
    bring_in(run, "in.jsonl", "--digits", "decimal")
    table = pq.read_table("prints.parquet")
    assert table.column("id").to_pylist() == ["7", "x", "in.jsonl:2", "in.jsonl:3"]
    assert table.column("id_is_string").to_pylist() == [False, True, True, True]
    run("fingerprint", "in.jsonl", "--fingerprint", "fp", "--digits", "decimal", "--id", "key", "-o", "x.parquet").ok()
    assert pq.read_table("x.parquet").column("id").to_pylist() == ["in.jsonl:0", "in.jsonl:1", "in.jsonl:2", "k"]


def test_a_folder_of_shards_and_standard_input_are_read(run):
    found = numbers()
    write("in/a.csv", found[:20], list(range(20)))
    write("in/deep/b.jsonl.gz", found[20:], list(range(20, 40)))
    bring_in(run, "in", "--digits", "decimal", output="one.parquet")
    bring_in(run, "in", "--digits", "decimal", output="out/")
    assert prints("one.parquet") == prints("out/a.parquet") + prints("out/deep/b.parquet") == found
    run(
        *("fingerprint", "-", "--lines", "--digits", "decimal", "-o", "piped.parquet"),
        stdin="".join(f"{each}\n" for each in found).encode(),
    ).ok()
    assert prints("piped.parquet") == found
    assert ids("piped.parquet")[1] == "stdin:1"


def test_threads_change_no_byte(run):
    pq.write_table(pa.table({"fp": pa.array(numbers(n=5000), pa.uint64())}), "in.parquet", row_group_size=300)
    for threads in (1, 3):
        bring_in(run, "in.parquet", "--threads", threads, output=f"{threads}.parquet")
    assert Path("1.parquet").read_bytes() == Path("3.parquet").read_bytes()


def test_nothing_is_short_long_or_an_exact_duplicate(run):
    write("in.csv", numbers())
    for name, more in (("p", ()), ("r", ("--recipe", "default-64"))):
        bring_in(run, "in.csv", "--digits", "decimal", *more, output=f"{name}.parquet")
        table = pq.read_table(f"{name}.parquet")
        assert not any(table.column("short").to_pylist())
        assert table.column("length").to_pylist() == [-1] * 40
        assert len(set(table.column("digest").to_pylist())) == 40
        run("pairs", f"{name}.parquet", "--max-distance", 1, "-o", f"{name}.jsonl").ok()
        listed = [(pair["left_row"], pair["right_row"], pair["distance"]) for pair in read_lines(f"{name}.jsonl")]
        assert listed == [(0, 1, 0), (2, 3, 1)]


WAYS = [(kind, form) for kind in ("program", "recipe", "vectors") for form in ("csv", "parquet", "shards")]


@pytest.mark.parametrize(("kind", "form"), [way for way in WAYS if way != ("vectors", "csv")])
def test_the_whole_way_to_apply(run, kind, form):
    keys = [f"d{i}" for i in range(40)]
    vectors = np.random.default_rng(0).standard_normal((40, 8))
    vectors[1], vectors[3] = vectors[0], vectors[2] * 1.001
    columns = {"id": keys, "host": ["a", "b"] * 20, "fp": pa.array(numbers(), pa.uint64()), "v": list(vectors)}
    table = pa.table(columns)
    more = {
        "program": ("--fingerprint", "fp", "--max-distance", 1),
        "recipe": ("--fingerprint", "fp", "--recipe", "leonsim", "--max-distance", 1),
        "vectors": ("--vector", "v", "--max-distance", 1),
    }[kind]
    if form == "csv":
        with Path("in.csv").open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["id", "host", "fp"])
            rows.writerows(zip(keys, columns["host"], numbers(), strict=True))
        given, more = "in.csv", (*more, "--digits", "decimal")
    elif form == "parquet":
        pq.write_table(table, "in.parquet")
        given = "in.parquet"
    else:
        Path("in").mkdir()
        pq.write_table(table.slice(0, 3), "in/a.parquet")
        pq.write_table(table.slice(3), "in/b.parquet")
        given = "in"
    steps = [
        ("fingerprint", given, *more, "--value", "host", "-o", "prints.parquet"),
        ("pairs", "prints.parquet", "-o", "pairs.parquet"),
        ("clusters", "pairs.parquet", "--documents", "prints.parquet", "-o", "clusters.parquet", "--keep", "max:host"),
        ("apply", "clusters.parquet", given, "-o", "out/"),
        ("explain", "out.duplicates.jsonl", "d0"),
        ("clusters", "pairs.parquet", "--documents", "prints.parquet", "-o", "within.parquet", "--within", "host"),
    ]
    for step in steps:
        run(*step).ok()
    removed = read_lines("out.duplicates.jsonl")
    assert next((line["id"], line["survivor_id"], line["distance"]) for line in removed) == ("d0", "d1", 0)
    assert {line["id"] for line in removed} == {"d0", "d2"}
    assert [line["exact"] for line in removed if line["id"] == "d0"] == [kind == "vectors"]
    if form == "csv":
        before = Path("in.csv").read_bytes().splitlines(keepends=True)
        assert Path("out/in.csv").read_bytes() == b"".join(before[:1] + before[2:3] + before[4:])
    else:
        kept = pa.concat_tables(map(pq.read_table, sorted(Path("out").rglob("*.parquet"))))
        assert kept.equals(table.filter(pa.array([key not in ("d0", "d2") for key in keys])).cast(kept.schema))
    run("clusters", "pairs.parquet", "--documents", "prints.parquet", "-o", "w2.parquet", "--within", "host").said(
        "removed  0 documents"
    )
    for keep in ("longest", "shortest"):
        run("clusters", "pairs.parquet", "--documents", "prints.parquet", "-o", "x.parquet", "--keep", keep).refused(
            "the lengths of texts are not known"
        )


def test_reports_and_explanations_say_that_there_are_no_texts(run):
    pq.write_table(pa.table({"fp": pa.array(numbers(), pa.uint64())}), "in.parquet")
    bring_in(run, "in.parquet", "--max-distance", 1)
    run("pairs", "prints.parquet", "-o", "pairs.jsonl")
    run("clusters", "pairs.jsonl", "--documents", "prints.parquet", "-o", "clusters.parquet")
    assert run("apply", "clusters.parquet", "in.parquet", "-o", "out.parquet").code == 0
    run("explain", "out.duplicates.jsonl", "in.parquet:0").refused(
        "This run compared fingerprints of another program: it has no texts to read again."
    )
    run("verify", "out.parquet").refused(
        "is of a run on fingerprints of another program. Only runs on texts can be verified"
    )


def test_an_index_of_a_program_takes_its_fingerprints_and_refuses_others(run):
    write("in.csv", numbers(), [f"d{i}" for i in range(40)])
    write("more.csv", [7], ["seven"])
    bring_in(run, "in.csv", "--digits", "decimal", "--program", "gosimhash", "--max-distance", 3)
    bring_in(run, "more.csv", "--digits", "decimal", "--program", "gosimhash", output="more.parquet")
    bring_in(run, "more.csv", "--digits", "decimal", "--program", "leonsim", output="other.parquet")
    bring_in(run, "more.csv", "--digits", "decimal", "--recipe", "cppjieba", output="recipe.parquet")
    assert run("index", "build", "P", "prints.parquet").code == 0
    assert run("index", "add", "P", "more.parquet").code == 0
    for other, why in (
        ("other", "program: leonsim there, gosimhash here"),
        ("recipe", "of texts there, of another program here"),
    ):
        for command in ("add", "query"):
            run("index", command, "P", f"{other}.parquet").refused(why)
    answers = [json.loads(line) for line in run("index", "query", "P", "more.parquet").out.splitlines()]
    assert {"id": "seven", "neighbor_id": "seven", "distance": 0} in answers
    found = numbers()[2]
    for digits in TEXT_DIGITS:
        given = naive_digits.written(found, digits, 64)
        done = run("index", "query", "P", "--digits", digits, f"--fingerprint={given}")
        answers = [json.loads(line) for line in done.out.splitlines()]
        assert answers == [
            {"id": given, "neighbor_id": "d2", "distance": 0},
            {"id": given, "neighbor_id": "d3", "distance": 1},
        ]
    for call in (("--literal", "hello"), ("texts.jsonl",)):
        write_lines("texts.jsonl", ROWS)
        run("index", "query", "P", *call).refused("This index holds fingerprints of another program (gosimhash)")
    run("filter", "--create", "--index", "P", "texts.jsonl", "-o", "fresh.jsonl").refused(
        "This index holds fingerprints of another program, not of texts."
    )


@pytest.mark.parametrize("bits", [10, 65])
def test_an_index_is_asked_at_widths_that_are_no_words(run, bits):
    values = numbers(bits)
    write("in.csv", [f"{each:b}" for each in values])
    bring_in(run, "in.csv", "--digits", "binary", "--bits", bits, "--max-distance", 0)
    assert run("index", "build", "P", "prints.parquet").code == 0
    for digits in TEXT_DIGITS:
        given = naive_digits.written(values[2], digits, bits)
        done = run("index", "query", "P", "--digits", digits, f"--fingerprint={given}")
        equal = {f"in.csv:{i}" for i, each in enumerate(values) if each == values[2]}
        assert {json.loads(line)["neighbor_id"] for line in done.out.splitlines()} == equal, done.err


def test_with_a_recipe_texts_meet_fingerprints_of_the_program(run):
    recipe = neardup.RECIPES["leonsim"].recipe
    texts = [row["text"] for row in ROWS]
    write("in.csv", neardup.fingerprint(texts, recipe=recipe).tolist(), [row["id"] for row in ROWS])
    bring_in(run, "in.csv", "--digits", "decimal", "--recipe", "leonsim")
    assert metadata("prints.parquet") == (json.loads(json.dumps(recipe.as_dict())), b"2")
    assert run("index", "build", "P", "prints.parquet").code == 0
    done = run("index", "query", "P", "--literal", texts[0], "--max-distance", 0)
    assert str(ROWS[0]["id"]) in {str(json.loads(line)["neighbor_id"]) for line in done.out.splitlines()}
    assert run("fingerprint", "texts.jsonl", "--recipe", "leonsim", "-o", "t.parquet").code == 2
    write_lines("texts.jsonl", ROWS)
    assert run("fingerprint", "texts.jsonl", "--recipe", "leonsim", "-o", "t.parquet").code == 0
    run("pairs", "t.parquet", "--against", "prints.parquet", "-o", "pairs.jsonl").ok()
    assert len(read_lines("pairs.jsonl")) >= len(ROWS)
    run(
        *("dedup", "texts.jsonl", "--against", "prints.parquet", "--recipe", "leonsim", "--min-similarity", 0),
        *("--method", "simhash", "-o", "out.jsonl"),
    ).ok()
    assert Path("out.jsonl").read_bytes() == b""
    audit = read_lines("out.duplicates.jsonl")
    assert {line["reference"] for line in audit} == {"in.csv"}
    assert not any(line["exact"] for line in audit)
    assert json.loads(Path("out.summary.json").read_text())["much_longer"] == 0


def test_texts_are_not_compared_with_a_program_of_unknown_recipe(run):
    write("in.csv", numbers())
    write_lines("texts.jsonl", ROWS)
    bring_in(run, "in.csv", "--digits", "decimal")
    run(
        "dedup",
        "texts.jsonl",
        "--against",
        "prints.parquet",
        "--min-similarity",
        0,
        "--method",
        "simhash",
        "-o",
        "out.jsonl",
    ).refused("prints.parquet holds fingerprints of another program, and how to make them of these inputs is not known")
    run(
        "dedup",
        "texts.jsonl",
        "--against",
        "prints.parquet",
        "--min-similarity",
        0,
        "--recipe",
        "default",
        "-o",
        "out.jsonl",
    ).refused("of another program there, of texts here")


def test_programs_without_a_name_count_as_one_and_this_is_told(run):
    for name in ("a", "b"):
        write(f"{name}.csv", numbers())
        done = run("fingerprint", f"{name}.csv", "--fingerprint", "fp", "--digits", "decimal", "-o", f"{name}.parquet")
        done.said(
            "no --program is named: all fingerprints of 64 bits without a name are taken for those of one program"
        )
    assert run("pairs", "a.parquet", "--against", "b.parquet", "-o", "p.jsonl", "--max-distance", "3").code == 0
    named = run(
        "fingerprint", "b.csv", "--fingerprint", "fp", "--digits", "decimal", "--program", "x", "-o", "c.parquet"
    )
    assert "without a name" not in named.err
    done = run("pairs", "a.parquet", "--against", "c.parquet", "-o", "q.jsonl", "--max-distance", "3")
    assert (
        done.code,
        "program: unnamed there, x here" in done.err or "program: x there, unnamed here" in done.err,
    ) == (2, True)


def test_fingerprint_files_keep_the_distance(run):
    write_lines("in.jsonl", ROWS)
    Path("mine.toml").write_text("bits = 60\nmax_distance = 7\n")
    assert run("fingerprint", "in.jsonl", "-o", "toml.parquet", "--recipe", "mine.toml").code == 0
    assert run("fingerprint", "in.jsonl", "-o", "flag.parquet", "--recipe", "mine.toml", "--max-distance", 5).code == 0
    assert run("fingerprint", "in.jsonl", "-o", "default.parquet").code == 0
    assert [metadata(f"{name}.parquet")[1] for name in ("toml", "flag", "default")] == [b"7", b"5", b"18"]
    for name, distance in (("toml", 7), ("flag", 5), ("default", 18)):
        assert run("index", "build", f"{name}.index", f"{name}.parquet").code == 0
        assert json.loads(run("index", "info", f"{name}.index", "--json").out)["max_distance"] == distance
        assert run("pairs", f"{name}.parquet", "-o", f"{name}.jsonl").code == 0
        assert json.loads(Path(f"{name}.jsonl.summary.json").read_text())["max_distance"] == distance
    Path("other.jsonl").write_bytes(Path("in.jsonl").read_bytes())
    run("fingerprint", "other.jsonl", "-o", "other.parquet", "--recipe", "mine.toml", "--max-distance", 4).ok()
    for command in (("index", "build", "x.index"), ("pairs", "-o", "x.jsonl")):
        run(*command, "flag.parquet", "other.parquet").refused(
            "flag.parquet has the default distance 5, other.parquet has 4. Give --max-distance."
        )
        assert run(*command, "flag.parquet", "other.parquet", "--max-distance", 3).code == 0


def test_a_recipe_that_is_asked_for_gives_its_distance(run):
    write_lines("in.jsonl", ROWS)
    Path("mine.toml").write_text("bits = 60\nmax_distance = 7\n")
    Path("bare.toml").write_text("bits = 60\n")
    run("fingerprint", "in.jsonl", "-o", "prints.parquet", "--recipe", "mine.toml", "--max-distance", 2).ok()
    for recipe, distance in (("mine", 7), ("bare", 2)):
        assert run("index", "build", recipe, "prints.parquet", "--recipe", f"{recipe}.toml").code == 0
        assert json.loads(run("index", "info", recipe, "--json").out)["max_distance"] == distance
        assert run("pairs", "prints.parquet", "-o", f"{recipe}.jsonl", "--recipe", f"{recipe}.toml").code == 0
        assert json.loads(Path(f"{recipe}.jsonl.summary.json").read_text())["max_distance"] == distance


BAD = [
    ("12", None),
    ("12x", 'its column "fp" is "12x", not decimal digits'),
    ("-1", 'its column "fp" is "-1", not decimal digits; with a sign, they are `digits=\'signed\'`'),
    (str(2**64), 'its column "fp" is "18446744073709551616", which does not fit in 64 bits'),
    ("", 'its column "fp" is empty'),
    (None, 'its column "fp" is null'),
    ("0x12", 'its column "fp" is "0x12", not decimal digits'),
]


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_bad_fingerprints_are_named_or_set_aside(run, ending):
    values = [value for value, _ in BAD]
    reasons = [reason for _, reason in BAD]
    if ending == "csv":
        values, reasons = (["" if value is None else value for value in values], [*reasons[:5], reasons[4], reasons[6]])
    name = f"in.{ending}"
    if ending == "parquet":
        pq.write_table(pa.table({"id": range(7), "fp": values}), name)
    else:
        write(name, values, list(range(7)))
    run("fingerprint", name, "--fingerprint", "fp", "--digits", "decimal", "-o", "out.parquet").refused(
        f"{name}, row 1 (counted from 0): {reasons[1]}. Mend or remove the row; --on-error skip", code=1
    )
    assert not Path("out.parquet").exists()
    done = bring_in(run, name, "--digits", "decimal", "--on-error", "skip", output="out.parquet")
    assert "6 rows could not be read: out.rejects.jsonl" in done.err
    rejects = [(each["row"], each["reason"]) for each in read_lines("out.rejects.jsonl")]
    assert rejects == [(row, reason) for row, reason in enumerate(reasons) if reason]
    table = pq.read_table("out.parquet")
    assert table.column("tokens").to_pylist() == [1] + [-1] * 6
    assert table.column("id").to_pylist() == ["0"] + [None] * 6
    done = run("fingerprint", "out.parquet", "-o", "out.csv", "--digits", "decimal")
    assert Path("out.csv").read_text() == "id,fingerprint\n0,12\n"


@pytest.mark.parametrize(
    ("digits", "first", "second", "reason"),
    [
        (
            "hexadecimal",
            "00ff",
            "0ff",
            'is "0ff", which has 3 digits, but others have 4: give the width as `bits` if leading',
        ),
        ("hexadecimal", "00ff", "000ff", 'is "000ff", which has 5 digits, but others have 4'),
        ("binary", "0101", "101", 'is "101", which has 3 digits, but others have 4'),
        ("hexadecimal", "ff", 255, "is 255, not a string of hexadecimal digits"),
        ("binary", "0101", 101, "is 101, not a string of the digits 0 and 1"),
        ("decimal", "12", 1.5, 'is "1.5", not decimal digits'),
        ("decimal", "12", True, 'is "true", not decimal digits'),
    ],
)
def test_mixed_widths_and_kinds_are_refused_by_name(run, digits, first, second, reason):
    write_lines("in.jsonl", [{"fp": first}, {"fp": second}])
    run("fingerprint", "in.jsonl", "--fingerprint", "fp", "--digits", digits, "-o", "out.parquet").refused(
        "in.jsonl, row 1 (counted from 0): its column", reason.replace("`bits`", "--bits"), code=1
    )


def test_bytes_of_mixed_widths_are_refused_by_name(run):
    pq.write_table(pa.table({"fp": [None, b"\1\2", b"\1"]}), "in.parquet")
    run("fingerprint", "in.parquet", "--fingerprint", "fp", "-o", "out.parquet", "--on-error", "skip").ok()
    assert [each["reason"] for each in read_lines("out.rejects.jsonl")] == [
        'its column "fp" is null',
        'its column "fp" is of 1 bytes, but 16 bits have 2',
    ]
    assert prints("out.parquet") == [0, 258, 0]


def test_the_width_is_that_of_the_first_fingerprint_that_can_be_read(run):
    write_lines("in.jsonl", [{"fp": "x"}, {"fp": None}, {"fp": "00ff"}, {"fp": "0100"}])
    bring_in(run, "in.jsonl", "--digits", "hexadecimal", "--on-error", "skip")
    assert metadata("prints.parquet")[0]["bits"] == 16
    assert prints("prints.parquet") == [0, 0, 255, 256]


REFUSED = [
    (["in.csv", "--fingerprint", "fp"], "in.csv: say with --digits how its fingerprints are written: decimal, signed, hex"),
    (["in.csv", "--fingerprint", "nothing", "--digits", "decimal"], 'in.csv has no column "nothing". It has: id, fp'),
    (["in.csv", "--fingerprint", "fp", "--digits", "bytes"], "--digits bytes: in.csv is csv; bytes are read from Parquet and Arrow."),
    (["in.csv", "--fingerprint", "fp", "--digits", "signed"], "--digits signed: the sign is the first bit of the width."),
    (["in.csv", "--fingerprint", "fp", "--digits", "decimal", "--bits", "0"], "--bits 0: give an integer from 1 to 512."),
    (["in.csv", "--fingerprint", "fp", "--digits", "decimal", "--max-distance", "65"], "--max-distance 65: give an integer"),
    (["in.csv", "--fingerprint", "fp", "--digits", "decimal", "--text", "x"], "--text: for texts, not for --fingerprint."),
    (["in.csv", "--fingerprint", "fp", "--digits", "decimal", "--seed", "1"], "--seed: for --vector, not for --fingerprint."),
    (["in.csv", "--fingerprint", "fp", "--digits", "decimal", "--recipe", "cppjieba", "--program", "x"], "--program x: with --recipe"),
    (["in.csv", "--fingerprint", "fp", "--digits", "decimal", "--recipe", "cppjieba", "--bits", "32"], "the recipe has 64 bits"),
    (["in.csv", "--fingerprint", "fp", "--digits", "decimal", "--program", ""], "--program '': give a name of 1 to 200"),
    (["in.csv", "--fingerprint", "fp", "--lines", "--digits", "decimal"], "--fingerprint fp: the lines of in.csv have no columns."),
    (["in.txt", "--fingerprint", "fp", "--digits", "decimal"], "in.txt is a text file. With --lines, each line of it is a fingerprint"),
    (["empty.csv", "--fingerprint", "fp", "--digits", "hexadecimal"], "empty.csv has no fingerprint that shows how wide they are. Give --bits."),
    (["wide.csv", "--fingerprint", "fp", "--digits", "binary"], "wide.csv has fingerprints of 513 bits; 512 are the most."),
    (["in.parquet", "--fingerprint", "float"], 'column "float" is double, but a column of integers, strings or bytes is needed. Such'),
    (["in.parquet", "--fingerprint", "text"], 'column "text" is string: say with --digits how its fingerprints are written'),
    (["in.parquet", "--fingerprint", "text", "--digits", "bytes"], 'column "text" is string. Give the digits that it holds.'),
    (["in.parquet", "--fingerprint", "int", "--digits", "hexadecimal"], 'column "int" is int64. Leave it out, or give decimal or signed'),
    (["in.parquet", "--fingerprint", "bytes", "--digits", "decimal"], 'column "bytes" is binary, which holds bytes. Leave it out'),
    (["in.parquet", "in.csv", "--fingerprint", "fp", "--digits", "hexadecimal"], "Leave it out, or give decimal or signed"),
    (["a.parquet", "b.parquet", "--fingerprint", "fp"], "a.parquet has fingerprints of 64 bits, b.parquet of 32. Give --bits."),
    (["in.parquet", "--fingerprint", "fp", "--recipe", "default"], 'column "fp" is int64, which has no room for fingerprints of 128 bits'),
    (["in.csv", "--fingerprint", "", "--digits", "decimal"], "--fingerprint '': give the name of a column"),
    (["prints.parquet", "--fingerprint", "fingerprint"], "prints.parquet is a fingerprint file already. Use it as it is."),
    (["prints.parquet"], "prints.parquet is a fingerprint file already. Use it as it is; or, to write its fingerprints"),
    (["prints.parquet", "--text", "x", "-o", "x.csv"], "prints.parquet holds fingerprints, not texts"),
    (["prints.parquet", "--recipe", "default", "-o", "x.csv"], "was made by the recipe"),
    (["prints.parquet", "--digits", "bytes", "-o", "x.csv"], "--digits bytes: files of text hold digits."),
    (["prints.parquet", "in.jsonl", "-o", "x.csv"], "in.jsonl holds texts, prints.parquet fingerprints."),
    (["in.jsonl", "--digits", "decimal"], "--digits decimal: a fingerprint file has no digits."),
    (["in.jsonl", "--value", "id", "-o", "x.csv"], "x.csv has the id and the fingerprint only."),
    (["in.csv", "--fingerprint", "fp", "--digits", "decimal", "-o", "x.csv"], "x.csv: fingerprints come into a fingerprint file."),
]  # fmt: skip


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_calls_that_cannot_be_are_refused(run, given, message):
    write("in.csv", numbers(), list(range(40)))
    write("in.txt", numbers())
    write("wide.csv", ["1" * 513])
    Path("empty.csv").write_text("id,fp\n")
    write_lines("in.jsonl", ROWS)
    columns = {"fp": [1], "float": [1.0], "text": ["1"], "int": [1], "bytes": [b"1"]}
    pq.write_table(pa.table(columns), "in.parquet")
    pq.write_table(pa.table({"fp": pa.array([1], pa.uint64())}), "a.parquet")
    pq.write_table(pa.table({"fp": pa.array([1], pa.uint32())}), "b.parquet")
    assert run("fingerprint", "a.parquet", "--fingerprint", "fp", "-o", "prints.parquet").code == 0
    output = () if "-o" in given else ("-o", "out.parquet")
    run("fingerprint", *given, *output).refused(message)
    assert not Path("out.parquet").exists()
    assert not Path("x.csv").exists()


COMMANDS = [
    ("index", "build", "x.index"),
    ("index", "query", "P"),
    ("index", "add", "P"),
    ("fingerprint", "-o", "x.parquet"),
    ("pairs", "-o", "x.jsonl"),
]


@pytest.mark.parametrize("command", [*COMMANDS, ("dedup", "-o", "x.txt")])
@pytest.mark.parametrize(
    ("form", "flags"),
    [
        ("{}", "--digits decimal"),
        ("{:016x}", "--digits hexadecimal"),
        ("{:064b}", "--digits binary"),
        ("-{}", "--digits signed --bits 64"),
    ],
)
def test_a_text_file_of_fingerprints_is_never_one_document(run, command, form, flags):
    write_lines("texts.jsonl", ROWS)
    run("index", "build", "P", "texts.jsonl")
    Path("my prints.txt").write_text("\n".join(form.format(each) for each in numbers(63)[:4] + numbers(63)[6:]) + "\n")
    done = run(*command, "my prints.txt").refused(code=1)
    expected = f"`neardup fingerprint 'my prints.txt' --lines {flags} --program NAME --max-distance 3 -o 'my prints.prints.parquet'`"
    assert expected in done.err
    assert not Path("x.index").exists()
    assert not Path("x.parquet").exists()
    assert not Path("x.txt").exists()


@pytest.mark.parametrize(
    "command",
    [
        ("dedup", "texts.jsonl", "-o", "x.jsonl", "--against"),
        ("decontaminate", "texts.jsonl", "-o", "x.jsonl", "--against"),
        ("decontaminate", "--against", "texts.jsonl", "-o", "x.txt"),
        ("passages", "texts.jsonl", "-o", "x.jsonl", "--against"),
        ("passages", "-o", "x.jsonl", "--list"),
        ("fit", "-o", "x.parquet"),
        ("evaluate",),
        ("plan",),
    ],
)
@pytest.mark.parametrize("given", ["prints.txt", "folder"])
def test_fingerprints_alone_are_refused_wherever_texts_are_expected(run, command, given):
    write_lines("texts.jsonl", ROWS)
    Path("folder").mkdir()
    for name in ("prints.txt", "folder/prints.txt"):
        write(name, numbers())
    done = run(*command, given).refused(code=1)
    name = "prints.txt" if given == "prints.txt" else "folder/prints.txt"
    assert f"`neardup fingerprint {name} --lines --digits decimal" in done.err
    assert not list(Path().glob("x.*"))


@pytest.mark.parametrize(
    ("lines", "are"),
    [
        (["f776119227163845"], "are digits, as of fingerprints"),
        (["f776119227163845 doc1"], "are ids and digits, as of fingerprints"),
        (["d1 f776119227163845"], "are ids and digits, as of fingerprints"),
        (["f776119227163845 doc1", "a0761192271638ff doc2"], "are ids and digits, as of fingerprints"),
    ],
)
def test_a_long_number_is_a_fingerprint_in_a_single_line_and_before_its_id(run, lines, are):
    write("in.txt", lines)
    run("index", "build", "x.index", "in.txt").refused(are, code=1)


@pytest.mark.parametrize("command", [*COMMANDS, ("filter", "--create", "--index", "Q", "-o", "x.txt")])
def test_lines_of_fingerprints_are_no_documents(run, command):
    write_lines("texts.jsonl", ROWS)
    run("index", "build", "P", "texts.jsonl")
    write("in.txt", numbers())
    run(*command, "in.txt", "--lines").refused(
        "`neardup fingerprint in.txt --lines --digits decimal --program NAME --max-distance 3 -o in.prints.parquet`"
    )


def test_a_printed_command_reads_the_fingerprints(run):
    write("in.txt", numbers())
    message = run("index", "build", "P", "in.txt").err
    command = message.split("`neardup ")[1].split("`")[0]
    assert run(*command.split()).code == 0
    assert prints("in.prints.parquet") == numbers()
    run("pairs", "in.prints.parquet", "-o", "pairs.jsonl").ok()  # by the name and the distance that were printed
    assert run("index", "build", "P", "in.prints.parquet").code == 0


def test_a_printed_command_reads_numbers_that_lack_zeros_or_a_header(run):
    write("in.txt", [hex(each >> 4 * (row % 3)) for row, each in enumerate(numbers())])
    Path("in.csv").write_text("".join(f"{each}\n" for each in numbers()))
    wide = [3**80 + each for each in numbers()]
    write("wide.txt", wide)
    for name, expected in (
        ("in.txt", [each >> 4 * (row % 3) for row, each in enumerate(numbers())]),
        ("in.csv", numbers()),
        ("wide.txt", wide),
    ):
        message = run("index", "build", "P", name).err
        command = message.split("`neardup ")[1].split("`")[0]
        run(*command.split(), "--overwrite").ok()
        assert prints(command.split()[-1]) == expected


def test_a_table_without_a_header_is_told(run):
    Path("in.csv").write_text("".join(f"d{row},{each}\n" for row, each in enumerate(numbers())))
    done = run("dedup", "in.csv", "-o", "x.csv")
    assert "Its first line seems to be a row, not names of columns: put names before it" in done.err


def test_the_column_that_is_named_like_fingerprints_is_proposed(run):
    write_lines(
        "in.jsonl", [{"key": str(10**9 + row), "body": "a text", "fp": str(each)} for row, each in enumerate(numbers())]
    )
    done = run("dedup", "in.jsonl", "-o", "x.jsonl")
    assert 'If its column "fp" holds fingerprints of another program' in done.err


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_numbers_beside_texts_are_not_proposed_as_fingerprints(run, ending):
    rows = [{"commit": f"{each:064x}", "body": f"The night ferry leaves at ten. {'x ' * 40}"} for each in numbers()]
    if ending == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), "in.parquet")
    else:
        lines = (
            [json.dumps(row) for row in rows]
            if ending == "jsonl"
            else ["commit,body", *(",".join(row.values()) for row in rows)]
        )
        Path(f"in.{ending}").write_text("".join(f"{line}\n" for line in lines))
    done = run("dedup", f"in.{ending}", "-o", f"x.{ending}").refused("Name the one that is meant with --text.")
    assert "fingerprint" not in done.err


def test_the_command_for_standard_input_names_it(run):
    done = run("pairs", "-", "--lines", "-o", "x.jsonl", stdin="".join(f"{each}\n" for each in numbers()).encode())
    done.said("`neardup fingerprint - --lines --digits decimal --program NAME --max-distance 3 -o prints.parquet`")


@pytest.mark.parametrize("flag", ["--fingerprint", "--vector"])
def test_a_flag_without_its_column_is_told(run, flag):
    write("in.csv", numbers())
    run("fingerprint", "in.csv", flag, "--program", "x", "-o", "x.parquet").refused(
        f"{flag} --program: give COLUMN after {flag}"
    )


def test_a_run_of_fingerprints_that_were_brought_in_is_not_told_to_bring_them_in(run):
    write("in.csv", [*numbers(), numbers()[0]], list(range(41)))
    for arguments in (
        (
            "fingerprint",
            "in.csv",
            "--fingerprint",
            "fp",
            "--digits",
            "decimal",
            "--recipe",
            "cppjieba",
            "-o",
            "f.parquet",
        ),
        ("pairs", "f.parquet", "-o", "p.jsonl"),
        ("clusters", "p.jsonl", "--documents", "f.parquet", "-o", "c.parquet"),
        ("apply", "c.parquet", "in.csv", "-o", "out.csv"),
    ):
        run(*arguments).ok()
    run("verify", "out.csv").refused(
        'brought in from in.csv, which has no column "text", so there are no texts to verify it by.'
    )


@pytest.mark.parametrize("between", [" ", "\t", ",", "; "])
@pytest.mark.parametrize("flags", [(), ("--lines",)])
def test_ids_with_fingerprints_are_no_documents(run, between, flags):
    """The message says how to read them, and that works."""
    rows = [(f"d{i}", number) for i, number in enumerate(numbers())]
    write("in.txt", [f"{name}{between}{number}" for name, number in rows])
    done = run("index", "build", "P", "in.txt", *flags)
    assert done.code == (2 if flags else 1)
    assert "its lines are ids and digits, as of fingerprints, not a text" in done.err
    assert not Path("P").exists()
    Path("in.tsv").write_text("id\tfingerprint\n" + "".join(f"{name}\t{number}\n" for name, number in rows))
    command = done.err.split("`neardup ")[1].split("`")[0]
    assert run(*command.split()).code == 0
    assert prints("in.prints.parquet") == numbers()


@pytest.mark.parametrize(
    "text",
    [
        "12345678",
        "1\n2\n3\n",
        "2023\n2024\n",
        "deadbeef\nfacade\n",
        "decade\ndefaced\naccede\n",
        "12345678\nand a word\n",
        "invoice 12345678\n",
        "invoice 12345678\nand a word\n",
        "20240101 holiday\n20240102 work\n",
        "accede0123\n",
        "chapter 1\nchapter 2\n",
        "a b\nc d\n",
        "",
        "\n\n",
    ],
)
def test_other_text_files_are_documents(run, text):
    Path("in.txt").write_text(text)
    Path("other.txt").write_text("A text of several words, as texts are.")
    run("index", "build", "P", "in.txt", "other.txt").ok()


def test_a_table_of_numbers_among_texts_is_set_aside_or_a_document(run):
    Path("in").mkdir()
    for name in ("a", "c"):
        Path(f"in/{name}.txt").write_text("A text of several words, as texts are.")
    write("in/b.txt", numbers())
    assert run("index", "build", "P", "in", "--on-error", "skip").code == 0
    assert json.loads(run("index", "info", "P", "--json").out)["documents"] == 2
    assert run("dedup", "in", "-o", "out/").code == 0
    assert sorted(path.name for path in Path("out").glob("*.txt")) == ["a.txt", "b.txt"]


@pytest.mark.parametrize("command", [*COMMANDS, ("dedup", "-o", "x/")])
@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "vectors"])
def test_files_without_a_text_say_what_their_numbers_may_be(run, command, ending):
    write_lines("texts.jsonl", ROWS)
    run("index", "build", "P", "texts.jsonl")
    named = " --program NAME --max-distance 3"
    if ending == "parquet":
        pq.write_table(pa.table({"id": range(40), "fp": pa.array(numbers(), pa.uint64())}), "in.parquet")
        flags = "in.parquet --fingerprint fp"
    elif ending == "vectors":
        pq.write_table(pa.table({"id": [1], "v": [[1.0, 2.0]]}), "in.parquet")
        flags = "in.parquet --vector v"
        named = ""
    else:
        write(f"in.{ending}", numbers(), list(range(40)))
        flags = f"in.{ending} --fingerprint fp --digits decimal"
    run(*command, "in.parquet" if ending == "vectors" else f"in.{ending}").refused(
        f"`neardup fingerprint {flags}{named} -o in.prints.parquet`"
    )


def test_a_wrong_column_beside_texts_is_not_taken_for_fingerprints(run):
    pq.write_table(pa.table({"id": [1], "body": ["a text"], "year": [2024]}), "in.parquet")
    done = run("index", "build", "P", "in.parquet").refused('has no column "text"')
    assert OTHER not in done.err


def test_fingerprints_of_texts_and_vectors_go_out(run):
    write_lines("in.jsonl", [*ROWS, {"id": "short", "text": "two words"}])
    texts = [*(row["text"] for row in ROWS), "two words"]
    run("fingerprint", "in.jsonl", "-o", "out.tsv", "--recipe", "default-64").ok(
        "1 fingerprint of short texts: they say little, and only a .parquet file marks them"
    )
    expected = [f"{each:016x}" for each in neardup.fingerprint(texts, recipe="default-64").tolist()]
    rows = [line.split("\t") for line in Path("out.tsv").read_text().splitlines()]
    assert rows[0] == ["id", "fingerprint"]
    assert [row[1] for row in rows[1:]] == expected
    pq.write_table(pa.table({"v": [[1.0, 2.0], [3.0, -1.0]]}), "v.parquet")
    run("fingerprint", "v.parquet", "--vector", "v", "--bits", 8, "-o", "v.jsonl.gz", "--digits", "binary").ok()
    found = [json.loads(line) for line in gzip.decompress(Path("v.jsonl.gz").read_bytes()).splitlines()]
    vectors = neardup.fingerprint_vectors([[1.0, 2.0], [3.0, -1.0]], bits=8)
    assert found == [{"id": f"v.parquet:{i}", "fingerprint": f"{each:08b}"} for i, each in enumerate(vectors.tolist())]


def test_several_fingerprint_files_go_out_as_one(run):
    for name, part in (("a", numbers()[:10]), ("b", numbers()[10:])):
        write(f"{name}.csv", part)
        bring_in(run, f"{name}.csv", "--digits", "decimal", output=f"{name}.parquet")
    run("fingerprint", "a.parquet", "b.parquet", "-o", "out.txt.zst", "--digits", "decimal", "--on-error", "skip").ok()
    lines = zstandard.decompress(Path("out.txt.zst").read_bytes(), max_output_size=1 << 20).decode().split()
    assert list(map(int, lines)) == numbers()
    assert Path("out.rejects.jsonl").read_bytes() == b""


def test_all_pairs_of_imported_fingerprints_are_the_naive_ones(run):
    drawn = random.Random(3)
    values = [drawn.getrandbits(64) & 0xFF0F for _ in range(60)]
    write("in.csv", values)
    bring_in(run, "in.csv", "--digits", "decimal")
    assert run("pairs", "prints.parquet", "--max-distance", 2, "-o", "pairs.jsonl").code == 0
    found = {(pair["left_row"], pair["right_row"], pair["distance"]) for pair in read_lines("pairs.jsonl")}
    pairs = itertools.combinations(range(60), 2)
    distances = ((a, b, (values[a] ^ values[b]).bit_count()) for a, b in pairs)
    assert found == {each for each in distances if each[2] <= 2}


def test_other_encodings_and_dialects_are_read(run):
    values = numbers()
    Path("in.csv").write_text("id;fp\n" + "".join(f"ü{i};{each}\n" for i, each in enumerate(values)), encoding="utf-16")
    bring_in(run, "in.csv", "--digits", "decimal", "--encoding", "utf-16", "--dialect", ";")
    assert prints("prints.parquet") == values
    assert ids("prints.parquet")[1] == "ü1"
    Path("in.txt").write_bytes("\r\n".join(map(str, values)).encode("utf-16"))
    bring_in(run, "in.txt", "--digits", "decimal", "--encoding", "utf-16", output="lines.parquet")
    assert prints("lines.parquet") == values


def test_the_library_brings_in_indexes_and_plans(run):
    write("in.csv", numbers(128), list(range(40)))
    digits = {"fingerprint": "fp", "digits": "decimal", "bits": 128}
    total = neardup.import_fingerprint_files("in.csv", "prints.parquet", **digits, program="p", max_distance=2)
    assert total == 40
    assert neardup.build_index("P", "prints.parquet") == 40
    recipe = neardup.ProgramRecipe(program="p", bits=128, max_distance=2)
    assert neardup.Index.open("P").recipe.digest() == recipe.digest()
    assert neardup.query_index("P", fingerprints=[str(numbers(128)[2])], digits="decimal", output="out.jsonl") == 2
    index = neardup.Index(max_distance=2, bits=128, recipe=recipe)
    index.add(["x"], naive_digits.words(numbers(128)[:1], 128))
    index.save("Q")
    assert neardup.add_to_index("Q", "prints.parquet") == 40
    with pytest.raises(neardup.RecipeMismatch, match="program: p there, other here"):
        neardup.build_index("R", "prints.parquet", recipe=neardup.ProgramRecipe(program="other", bits=128))
    with pytest.raises(neardup.OptionError, match="this recipe is for another program"):
        neardup.fingerprint(["text"], recipe=recipe)
    assert run("plan", "--fingerprints", "prints.parquet", "--max-distance", 2).code == 0


def test_files_without_a_distance_are_read_as_before(run):
    """Such as earlier versions wrote, and such as have none."""
    write("in.csv", numbers())
    bring_in(run, "in.csv", "--digits", "decimal")
    assert metadata("prints.parquet")[1] is None
    for command in (("index", "build", "P"), ("pairs", "-o", "pairs.jsonl")):
        run(*command, "prints.parquet").refused("has no distance of its own. Give --max-distance")
        assert run(*command, "prints.parquet", "--max-distance", 1).code == 0


def test_digits_without_a_column_are_told_how_to_come_in(run):
    write("in.csv", numbers())
    run("fingerprint", "in.csv", "--digits", "decimal", "-o", "prints.parquet").refused(
        "to bring in fingerprints, name their column with --fingerprint."
    )


@pytest.mark.parametrize("given", ["x", "ff", "0x1ffffffffffffffff", "00000000000000fg", ""])
def test_an_index_refuses_digits_of_another_width(run, given):
    write("in.csv", numbers())
    bring_in(run, "in.csv", "--digits", "decimal", "--max-distance", 1)
    run("index", "build", "P", "prints.parquet")
    run("index", "query", "P", "--fingerprint", given).refused("give hexadecimal digits, ")
    assert run("index", "query", "P", "--fingerprint", "0xff").code == 0


def test_digits_that_all_lack_leading_zeros_are_told(run):
    write("in.csv", [f"{each:016x}" for each in numbers()])
    done = bring_in(run, "in.csv", "--digits", "hexadecimal", "--bits", 128)
    done.said("in.csv: its fingerprints have 16 digits, but 128 bits have 32: read as if leading zeros were missing")
    done = bring_in(run, "in.csv", "--digits", "hexadecimal", "--bits", 64, output="other.parquet")
    assert "leading zeros" not in done.err
    write("mixed.csv", [f"{each >> i:x}" for i, each in enumerate(numbers())])
    done = bring_in(run, "mixed.csv", "--digits", "hexadecimal", "--bits", 128, output="mixed.parquet")
    assert "leading zeros" not in done.err


def test_a_fingerprint_file_among_texts_is_called_so(run):
    write("in.csv", numbers())
    bring_in(run, "in.csv", "--digits", "decimal")
    done = run("dedup", "prints.parquet", "-o", "out.parquet").refused(
        "It is a fingerprint file: give it to `neardup pairs` or `neardup index build`."
    )
    assert OTHER not in done.err
