"""Runs of which no row can be read fail, and say what to do; files without a value in a column are rows without one."""

import shlex
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_corpora import BREAD, CLOCK, FERRY, write_lines

import neardup

CHAT = [{"id": i, "chat": [{"from": "human", "value": text}]} for i, text in enumerate((FERRY, CLOCK, BREAD))]
SKIP = ("--on-error", "skip")
COMMANDS = [
    "dedup {} -o out.jsonl",
    "dedup {} -o out.jsonl --unit line",
    "dedup {} -o out.jsonl --dry-run",
    "dedup good.jsonl -o out.jsonl --against {}",
    "passages {} -o out.jsonl",
    "passages good.jsonl -o out.jsonl --against {}",
    "decontaminate good.jsonl -o out.jsonl --against {}",
    "decontaminate {} -o out.jsonl --against good.jsonl",
    "filter {} -o out.jsonl --store new --create",
    "filter {} -o out.jsonl --index new.index --create --max-distance 3",
    "fingerprint {} -o out.parquet",
    "pairs {} -o out.parquet",
    "evaluate {}",
    "fit {} -o out.parquet",
    "plan {}",
    "index build new.index {}",
    "index query there.index {}",
    "store add there {}",
    "store check there {}",
]


def files(kind, rows=3):
    """A file of which no row can be read, and what is said of it."""
    if kind == "nested.jsonl":
        write_lines(kind, CHAT)
        return f'{kind}, row 0 (counted from 0): its column "chat" is an array, not a string. Its texts can be read, joined by '
    if kind == "null.jsonl":
        write_lines(kind, [{"id": i, "chat": None} for i in range(rows)])
    elif kind == "null.parquet":
        pq.write_table(pa.table({"chat": pa.nulls(rows)}), kind)
    else:
        Path(kind).write_bytes(b"chat\n" + b"\xff\n" * rows)
        return f"{kind}, row 0 (counted from 0): it is not UTF-8"
    return f'{kind}, row 0 (counted from 0): its column "chat" is null, not a string.'


def remember(run):
    """Write good rows, and a store and an index of them."""
    write_lines("good.jsonl", [{"id": i, "chat": text} for i, text in enumerate((FERRY, CLOCK, BREAD))])
    run("store", "create", "there").ok()
    run("index", "build", "there.index", "good.jsonl", "--text", "chat").ok()


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", ["nested.jsonl", "null.jsonl", "null.parquet", "broken.csv"])
def test_a_run_of_which_no_row_can_be_read_fails_and_leaves_no_result(run, command, kind):
    if not kind.endswith("jsonl") and command.startswith("filter"):
        pytest.skip("filter reads JSON lines and lines")
    remember(run)
    told = files(kind)
    command = command.replace("{} -o out.jsonl", f"{{}} -o out{Path(kind).suffix}")
    done = run(*command.format(kind).split(), "--text", "chat", *SKIP, leaves_nothing=False)
    done.refused("None of the 3 rows could be read (3: ", told, code=1)
    assert [path for path in map(str, Path().iterdir()) if path.startswith("out")] == []
    assert run("store", "info", "there", "--json").ok().out.startswith(b"{")


def test_long_inputs_are_not_read_to_their_end_unless_texts_may_follow(run):
    write_lines("in.jsonl", [{"chat": []}] * 30_000)
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--text", "chat", *SKIP).refused("None of the first ", code=1)
    write_lines("in.jsonl", [{"chat": None}] * 30_000 + [{"chat": FERRY}])
    run("dedup", "in.jsonl", "-o", "out.jsonl", "--text", "chat", *SKIP).ok("read     1 document\n", "30,000 rows")


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
@pytest.mark.parametrize(
    ("value", "advice"),
    [
        ([{"from": "human", "value": FERRY}], "chat[].value"),
        ([FERRY, CLOCK], "chat[]"),
        ({"n": 1, "body": FERRY}, "chat.body"),
        ({"turns": [{"role": "user", "content": FERRY}]}, "chat.turns[].content"),
    ],
)
def test_lists_and_objects_in_place_of_texts_are_answered_with_what_can_be_read(run, kind, value, advice):
    rows = [{"id": i, "chat": value} for i in range(3)]
    for given in (rows, pa.Table.from_pylist(rows)):
        for text in ("chat", "chat.value") if isinstance(value, list) else ("chat",):
            with pytest.raises(neardup.NeardupError) as told:
                neardup.deduplicate(given, text=text)
            assert f"`text={advice!r}`" in str(told.value)
    if kind == "jsonl":
        write_lines("in.jsonl", rows)
    else:
        pq.write_table(pa.Table.from_pylist(rows), "in.parquet")
    for text in ("chat", "chat.value") if isinstance(value, list) else ("chat",):
        for flags in ((), SKIP):
            done = run("dedup", f"in.{kind}", "-o", f"out.{kind}", "--text", text, *flags)
            assert done.code in (1, 2)
            assert f"--text {shlex.quote(advice)}" in done.err
            assert "Did you mean" not in done.err


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    "command",
    [
        "dedup in -o out/",
        "dedup in -o out/ --text meta.text",
        "dedup in -o out/ --elements words",
        "dedup in -o out/ --id url --within url",
        "dedup in -o out/ --unit line",
        "fingerprint in -o out/ --vector vector",
        "fingerprint in -o out/",
        "store add there in",
    ],
)
def test_a_shard_whose_columns_have_no_value_and_no_type_has_rows_without_values(run, command, first):
    columns = {
        "text": [FERRY, CLOCK, BREAD],
        "meta": [{"text": FERRY}, {"text": CLOCK}, {"text": BREAD}],
        "words": [["a"], ["b"], ["c"]],
        "url": ["a", "b", "c"],
        "vector": [[1.0, 2.0], [2.0, 1.0], [1.0, 3.0]],
    }
    run("store", "create", "there").ok()
    Path("in").mkdir()
    pq.write_table(pa.table(columns), f"in/{int(first)}.parquet")
    pq.write_table(pa.table({name: pa.nulls(2) for name in columns}), f"in/{int(not first)}.parquet")
    run(*command.split(), leaves_nothing=False).refused(" is null", code=1)
    done = run(*command.split(), *SKIP).ok("2 rows could not be read", " is null")
    assert any(words in done.err for words in ("read     3 documents", "made     3 fingerprints", "of 3 documents"))


def test_nulls_of_no_type_are_nulls_in_the_library_too():
    with pytest.raises(neardup.DataError, match=r"Text 0 of the column 'text' is null. Drop or fill nulls first."):
        neardup.deduplicate(pa.table({"text": pa.nulls(2)}))
