"""How `keep` compares values: what is kept, for every kind of values, by every way to remove documents."""

import contextlib
import json
from datetime import UTC, datetime

import pytest
from cli_corpora import FERRY, read_lines, write_lines

import neardup as nd
from engine_runs import run_of_engine

VALUES = {
    "numbers": [9, 10, 2.5],
    "digits": ["9", "10", "2.5"],
    "large": [2**70, 2**70 + 1, -(2**70)],
    "eight digits": [20240131, "20230101", 20250101],
    "dates": ["2024-01-31", "2024-02-01T02:00+05:00", "20240131T235959"],
    "loose dates": ["2025-1-9", "2025-1-10", "2025-1-1"],
    "percent": ["9%", "10%", "8%"],
    "commas": ["9,5", "10,5", "1,000"],
    "one odd": [9, "n/a", 10],
    "odd first": ["n/a", "9", "10"],
    "dates and a word": ["2024-01-31", "unknown", "2024-03-01"],
    "milliseconds": ["1206121511230", "1206121511229", "9"],
    "truth": [False, True, False],
    "zeros": [-0.0, 0, -1],
    "infinity": ["1", "inf", "1e308"],
    "minus infinity": ["nan", "-1e308", "-inf"],
    "underscores": ["1_0", "9", "8"],
    "missing": [None, 3, None],
}
KEEP_AS = ("number", "time", "text")


def key(value, keep_as):
    """What a value is sorted by: None for no value, and "unfit" for one that does not fit; a slow definition."""
    if value is None:
        return None
    if keep_as == "text":
        return (
            value
            if isinstance(value, str)
            else json.dumps(int(value) if value == int(value) and type(value) is float else value)
        )
    text = str(value)
    number = None
    if isinstance(value, int | float) or "_" not in text:
        with contextlib.suppress(ValueError):
            number = int(text) if text.lstrip("-").isdigit() else float(value)
    if number is not None and number != number:
        return None
    if keep_as == "number":
        return "unfit" if number is None else number
    if number is not None and not (len(text) == 8 and text.isdigit()):
        return "unfit"
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return "unfit"
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def expected(values, keep_as, *, greatest=True):
    """The row that is kept of three equal documents, and how many values do not fit."""
    keys = [key(value, keep_as) for value in values]
    known = [None if each == "unfit" else each for each in keys]
    present = [each for each in known if each is not None]
    if not present:
        return 0, keys.count("unfit")
    return known.index(max(present) if greatest else min(present)), keys.count("unfit")


def rows_of(values):
    return [
        {"id": name, "text": FERRY} | ({} if value is None else {"v": value})
        for name, value in zip("abc", values, strict=True)
    ]


CASES = [(name, keep_as) for name in VALUES for keep_as in KEEP_AS]


@pytest.mark.parametrize(("name", "keep_as"), CASES)
def test_python_and_engines_keep_the_best_or_refuse_what_does_not_fit(name, keep_as):
    rows = [row | {"v": row.get("v")} for row in rows_of(VALUES[name])]
    kept, unfit = expected(VALUES[name], keep_as)
    options = {"keep": "max:v", "keep_as": keep_as, "method": "exact"}
    if unfit:
        with pytest.raises(nd.DataError, match=rf'^Column "v" has .* \(`keep_as={keep_as!r}`\)'):
            nd.deduplicate(rows, **options)
        with pytest.raises(nd.DataError, match=r'^Column "v" has '):
            run_of_engine(rows, None, nd.Recipe(), options)
        return
    assert nd.deduplicate(rows, **options).survivors == [rows[kept]]
    removed = {row[0] for row in run_of_engine(rows, None, nd.Recipe(), options)}
    assert removed == {0, 1, 2} - {kept}


@pytest.mark.parametrize(("name", "keep_as"), CASES)
def test_dedup_and_stages_keep_the_best_and_refuse_or_skip_what_does_not_fit(run, name, keep_as):
    rule = "min:v" if name in ("digits", "dates", "one odd") else "max:v"
    write_lines("in.jsonl", rows_of(VALUES[name]))
    kept, unfit = expected(VALUES[name], keep_as, greatest=rule == "max:v")
    how = ("--keep", rule, "--keep-as", keep_as)
    skip = ("--on-error", "skip")
    dedup = ("dedup", "in.jsonl", "-o", "out.jsonl", *how)
    run("fingerprint", "in.jsonl", "-o", "prints.parquet", "--value", "v", "--quiet").ok()
    run("pairs", "in.jsonl", "-o", "pairs.parquet", "--quiet").ok()
    clusters = ("clusters", "pairs.parquet", "--documents", "prints.parquet", "-o", "clusters.parquet", *how)
    if unfit:
        shown = f"--keep-as {keep_as}"
        run(*dedup).refused('Column "v" has ', "(row ", shown, "--on-error skip", code=1)
        run(*dedup, "--dry-run").refused('Column "v" has ', shown, code=1)
        run(*clusters).refused('Column "v" has ', "(row ", shown, code=1)
    what = {"number": "numbers", "time": "dates", "text": "text"}[keep_as]
    said = f"keep {rule} compares {what}"
    if unfit:
        said += f"; {unfit} value{'s that do' if unfit > 1 else ' that does'} not fit counted as missing"
    run(*dedup, *skip).ok(said)
    done = run(*dedup, *skip, "--overwrite", "--json").ok()
    assert [row["id"] for row in read_lines("out.jsonl")] == ["abc"[kept]]
    summary = json.loads(done.out)
    assert (summary["compared_as"], summary.get("unfit_values", 0)) == (what, unfit)
    assert (summary["options"]["keep_as"], summary["rejected"]) == (keep_as, 0)
    run("verify", "out.jsonl", "--quiet").ok()
    assert f"keep {rule} compares {what}".encode() in run("explain", "out.duplicates.jsonl", "abc"[kept - 1]).out
    run(*clusters, *skip, "--quiet").ok()
    run("apply", "clusters.parquet", "in.jsonl", "-o", "applied.jsonl", "--quiet").ok()
    assert [row["id"] for row in read_lines("applied.jsonl")] == ["abc"[kept]]


@pytest.mark.parametrize(("name", "keep_as"), CASES)
def test_stores_keep_the_best_and_refuse_or_skip_what_does_not_fit(run, name, keep_as):
    write_lines("in.jsonl", rows_of(VALUES[name]))
    kept, unfit = expected(VALUES[name], keep_as)
    how = ("--keep", "max:v", "--keep-as", keep_as)
    run("store", "create", "added", *how).ok()
    add = ("store", "add", "added", "in.jsonl", "--metadata", "v", "-o", "answers.jsonl")
    filters = ("filter", "in.jsonl", "--create", "--store", "passed", "--metadata", "v", "-o", "out.jsonl", *how)
    if unfit:
        for call in (add, filters):
            run(*call).refused("in.jsonl, row ", "'v' is ", "--on-error skip")
    what = {"number": "numbers", "time": "dates", "text": "text"}[keep_as]
    for call in (add, filters):
        done = run(*call, "--on-error", "skip").ok(f"documents are preferred by {what}")
        assert (f"{unfit} value" in done.err) == (unfit > 0)
    for path in ("added", "passed"):
        with nd.Store(path, mode="r") as store:
            assert [name for name in "abc" if store.get(name)] == ["abc"[kept]]
            assert store.keep_as == store.info().keep_as == keep_as
    with nd.Store("python", keep="max:v", keep_as=keep_as) as store:
        for row in rows_of(VALUES[name]):
            if key(row.get("v"), keep_as) == "unfit":
                with pytest.raises(nd.OptionError, match="`metadata`: v is "):
                    store.check_and_add(row["id"], row["text"], metadata=row)
            else:
                store.check_and_add(row["id"], row["text"], metadata=row)
        assert store.get("abc"[kept]) or unfit == 3


def test_text_is_no_first_value_of_a_store_that_was_not_made_for_it(run):
    with nd.Store("s", keep="max:v") as store:
        with pytest.raises(nd.OptionError, match="To compare text, make the store with `keep_as='text'`"):
            store.check_and_add("a", FERRY, metadata={"v": "good"})
        assert store.keep_as is None
        store.check_and_add("a", FERRY, metadata={"v": 1})
    run("store", "create", "t", "--keep", "max:v", "--keep-as", "text").ok()
    with nd.Store("t") as store:
        found = store.check_and_add_many(list("abc"), [FERRY] * 3, metadata=[{"v": "9%"}, {"v": "10%"}, {"v": "8%"}])
        assert [answer.is_new for answer in found] == [True, False, False]
        store.export("exported")
    nd.Store.from_export("back", "exported").close()
    with nd.Store("back") as store:
        assert store.keep_as == "text"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ("dedup", "in.jsonl", "-o", "o.jsonl", "--keep-as", "number"),
            "--keep-as number: --keep first compares no values",
        ),
        (
            ("store", "create", "s", "--keep", "last", "--keep-as", "time"),
            "--keep-as time: --keep last compares no values",
        ),
        (
            ("filter", "in.jsonl", "--index", "i", "--create", "--keep-as", "time"),
            "--keep-as is for --store, not for --index",
        ),
        (("dedup", "in.jsonl", "-o", "o.jsonl", "--keep-as", "word"), "--keep-as word: give one of number, time, text"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_compared_so_is_refused(run, arguments, told):
    write_lines("in.jsonl", rows_of(VALUES["numbers"]))
    run(*arguments).refused(told)


def test_a_plan_refuses_what_a_run_refuses(run):
    write_lines("in.jsonl", rows_of(VALUES["numbers"]))
    plan = ("plan", "in.jsonl", "--keep", "max:v", "--keep-as", "time")
    run(*plan).refused('Column "v" has numbers, such as 9 (id "a")', code=1)
    run(*plan, "--on-error", "skip").ok()
    with pytest.raises(nd.DataError, match='Column "v" has numbers'):
        nd.estimate_files("in.jsonl", keep="max:v", keep_as="time")


def test_a_way_to_compare_that_does_not_exist_is_refused():
    for given in ("word", 3, ["number"]):
        with pytest.raises(nd.OptionError, match="give one of number, time, text"):
            nd.deduplicate([FERRY], keep="max:v", keep_as=given)
