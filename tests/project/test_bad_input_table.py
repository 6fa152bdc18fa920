"""The table of bad input on the page of reliability: each cell is what happens."""

import contextlib
import itertools
import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("starlette", reason="needs the extra [server]")

import neardup as nd
from bad_input import COLUMNS, HUGE, INTEGERS, SURPRISES, TABLE
from neardup.service.limits import Limits
from service.serving import asking, new_store

FERRY, BREAD = "the ferry leaves at nine from the old pier", "bread and water and salt and patience"
OTHER = {"id": "b", "text": BREAD}
ON_ENGINES = ("spark", "ray")
"""Columns of the table that tests of these have."""

OTHERS = {
    "a column of type null in one Parquet file of several",
    "a time in milliseconds as `expires`",
    "a clock that goes back",
}
"""Rows with tests of their own."""

# Documents with the input in question, and options of the run.
ROWS = {
    "a null id, or none": [({"id": None, "text": FERRY}, {}), ({"text": FERRY}, {})],
    "an id that occurs twice": [({"id": "b", "text": FERRY}, {})],
    "an id that is a float, a list or an object, in the named column": [
        ({"id": value, "text": FERRY}, {"id": "id"}) for value in (1.5, ["x"], {"a": 1})
    ],
    "an id of more than 64 bits": [({"id": 2**80, "text": FERRY}, {"id": "id"})],
    "half of a surrogate pair in an id": [({"id": "a\ud800", "text": FERRY}, {"id": "id"})],
    "a null text": [({"id": "a", "text": None}, {})],
    "a text that is a number": [({"id": "a", "text": 3}, {})],
    "half of a surrogate pair in a text": [({"id": "a", "text": "x \ud800"}, {})],
    "numbers and text in the column of `--keep max:COLUMN`": [
        ({"id": "a", "text": FERRY, "v": "n/a"}, {"keep": "max:v"}),
    ],
    "a list in the column of `--within`": [({"id": "a", "text": FERRY, "v": [1]}, {"within": "v"})],
    "a name that is not an option": [({"id": "a", "text": FERRY}, {"qwertz": 1})],
    "an integer of 2^31, 2^53 or 2^63 where a small number is meant": [
        ({"id": "a", "text": FERRY}, {name: number})
        for name, number in itertools.product(("threads", "max_distance"), INTEGERS)
    ],
    "an integer of thousands of digits in an option": [
        ({"id": "a", "text": FERRY}, {name: HUGE})
        for name in ("keep", "method", "threads", "min_similarity", "similarity")
    ],
}
BYTES = {
    "a key that occurs twice": b'{"id": "a", "text": "x", "text": "y"}',
    "bytes that are not UTF-8": b'{"id": "a", "text": "\xff"}',
    "a byte order mark before the first value": b'\xef\xbb\xbf{"id": "mark", "text": "x y z"}',
    "a text that is larger than allowed": json.dumps({"id": "a", "text": "word " * 300_000}).encode(),
    "a text that becomes too large when normalized": json.dumps(
        {"id": "a", "text": "\ufdfa" * 300_000}, ensure_ascii=False
    ).encode(),
}
WORDS = {
    "a name that is not an option": b'{"id": "a", "text": "x", "qwertz": 1}',
    "an integer of 2^31, 2^53 or 2^63 where a small number is meant": b'{"id": "a", "text": "x", "expires": -9223372036854775808}',
    "an integer of thousands of digits in an option": b'{"id": "a", "text": "x", "expires": '
    + b"-"
    + b"9" * 5000
    + b"}",
}
"""Options of stores and services are others than those of runs."""


def test_every_cell_of_the_table_is_tried():
    assert set(TABLE) == {*SURPRISES} == {*ROWS, *BYTES, *OTHERS}
    assert all(len(cells) == len(COLUMNS) for cells in TABLE.values())


def refused(call):
    """ "refused" of a call that raises an error of ours, else what it returns."""
    with contextlib.suppress(nd.NeardupError):
        return call()
    return "refused"


def told(counts):
    """What a summary says of the first of two documents."""
    if counts.unnamed:
        return "FILE:ROW"
    return "counted as repeated" if counts.repeated_ids else "taken" if counts.documents == 2 else "left out"


def of_files(content, options):
    Path("in.jsonl").write_bytes(content)
    run = {name: value for name, value in options.items() if name != "id"}
    ways = [
        lambda: told(nd.deduplicate_files(["in.jsonl"], "out.jsonl", overwrite=True, **options).summary),
        lambda: told(nd.deduplicate_files(["in.jsonl"], "out/", overwrite=True, **options).summary),
    ]
    found = {refused(way) for way in ways}
    if not run and found == {"refused"}:  # of the rows, not of an option
        found |= {
            refused(lambda: nd.fingerprint_files(["in.jsonl"], "p.parquet", overwrite=True, **options) and "taken"),
            refused(lambda: nd.pair_files(["in.jsonl"], "pairs.jsonl", overwrite=True, **options) and "taken"),
        }
        Path("good.jsonl").write_text(json.dumps(OTHER) + "\n", encoding="utf-8")
        against = {"against": ["in.jsonl"], "overwrite": True}
        found.add(refused(lambda: nd.deduplicate_files(["good.jsonl"], "g.jsonl", **against, **options) and "taken"))
    [outcome] = found
    return outcome


def of_verify(content, options):
    """Documents of which nothing was removed, as another tool leaves them."""
    for name in ("given.jsonl", "left.jsonl"):
        Path(name).write_bytes(content)
    return refused(
        lambda: "proven" if nd.verify_files("left.jsonl", ["given.jsonl"], **options).proven else "not proven"
    )


def of_store(folder, document, options, number):
    """A document for a store; options of runs that stores have are of the store."""
    how = {name: value for name, value in options.items() if name not in ("id", "within")}
    with nd.Store(folder / f"s{number}", **how) as store:
        metadata = {"v": 1} if "v" in document else None
        store.check_and_add("b", BREAD, metadata=metadata)
        metadata = {"v": document["v"]} if "v" in document else None
        answer = store.check_and_add(document.get("id"), document["text"], metadata=metadata)
        return "updated" if answer.is_update else "taken"


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("table")
    places = {"default": new_store(folder / "s"), "best": new_store(folder / "best", keep="max:v")}
    limits = Limits(max_body=1_000_000, bytes_per_part=1_000_000)
    with asking(places, limits=limits) as found:
        yield found


def of_service(client, body, store="default"):
    headers = {"Content-Type": "application/json"}
    found = client.post(f"/v1/stores/{store}/check-and-add", content=body, headers=headers)
    if found.status_code == 200:
        return "updated" if found.json().get("is_update") else "taken"
    return f"refused ({found.status_code})"


@pytest.mark.parametrize("row", [*ROWS, *BYTES])
def test_what_the_table_says_happens(row, tmp_path, monkeypatch, client):
    monkeypatch.chdir(tmp_path)
    cells = dict(zip(COLUMNS, TABLE[row], strict=True))
    size = {"max_document_bytes": 1_000_000} if "larger" in row else {}
    found = {column: set() for column in COLUMNS if column not in ON_ENGINES}
    if row in BYTES:
        body = BYTES[row]
        if "normalized" not in row:
            lines = body + b"\n" + json.dumps(OTHER).encode() + b"\n"
            found["files"], found["verify"] = {of_files(lines, size)}, {of_verify(lines, size)}
        found["service"] = {of_service(client, body)}
    for number, (document, options) in enumerate(ROWS.get(row, ())):
        other = OTHER | ({"v": 1} if "v" in document else {})
        lines = "".join(json.dumps(each) + "\n" for each in (document, other)).encode()
        found["files"].add(of_files(lines, options))
        if "max:v" not in options.values():  # values that tell which document is kept are not read
            found["verify"].add(of_verify(lines, options))
        rows = [document, other]
        frame = pd.DataFrame(rows, dtype=object)
        found["frames"].add(refused(lambda: told(nd.deduplicate(frame, **options).summary)))  # noqa: B023
        found["dictionaries"].add(refused(lambda: told(nd.deduplicate(rows, **options).summary)))  # noqa: B023
        if "within" in options:
            continue
        found["stores"].add(refused(lambda: of_store(tmp_path, document, options, number)))  # noqa: B023
        if row in WORDS:
            found["service"].add(of_service(client, WORDS[row]))
            continue
        given = {"id": "b", "text": BREAD} | ({"metadata": {"v": 1}} if "v" in document else {})
        store = "best" if "v" in document else "default"
        of_service(client, json.dumps(given).encode(), store)
        asked = {name: value for name, value in document.items() if name != "v"}
        asked |= {"metadata": {"v": document["v"]}} if "v" in document else {}
        found["service"].add(of_service(client, json.dumps(asked).encode(), store))
    for column, outcomes in found.items():
        cell = cells[column]
        if cell == "–":
            assert not outcomes, (row, column)
            continue
        [outcome] = outcomes
        is_same = cell.startswith(outcome) or (
            outcome in ("taken", "proven") and cell.startswith(("left out", "U+FFFD"))
        )
        assert is_same, (row, column, outcome, cell)


def test_times_stay_when_a_clock_goes_back(tmp_path, monkeypatch):
    now = [1_800_000_000.0]
    monkeypatch.setattr("time.time", lambda: now[0])
    with nd.Store(tmp_path / "s") as store:
        store.check_and_add("a", FERRY)
        now[0] -= 86_400
        store.check_and_add("b", BREAD)
        assert store.get("b").first_seen == store.get("a").first_seen
    assert TABLE["a clock that goes back"][3:5] == ["times stay", "times stay"]


def test_a_time_in_milliseconds_is_refused(tmp_path, client):
    with nd.Store(tmp_path / "s") as store:
        outcome = refused(lambda: store.check_and_add("a", FERRY, expires=1_764_241_000_000).status)
    body = b'{"id": "a", "text": "x", "expires": 1764241000000}'
    assert TABLE["a time in milliseconds as `expires`"][3:5] == [outcome, of_service(client, body)]


def test_a_column_of_type_null_takes_the_type_of_other_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, texts, values in (("a", [FERRY], pa.nulls(1)), ("b", [BREAD], pa.array([1]))):
        pq.write_table(pa.table({"text": texts, "v": values}), f"{name}.parquet")
    files = ["a.parquet", "b.parquet"]
    outcome = told(nd.deduplicate_files(files, "out.parquet").summary)
    assert pq.read_table("out.parquet").to_pydict() == {"text": [FERRY, BREAD], "v": [None, 1]}
    proven = nd.verify_files("out.parquet", files).proven
    cells = TABLE["a column of type null in one Parquet file of several"]
    assert (cells[0].partition(",")[0], cells[-1]) == (outcome, "proven" if proven else "not proven")
