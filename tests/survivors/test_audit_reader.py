"""Lines of audits are read as the schema says, and what is none is refused with the reason."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import DataError
from neardup.io.storage.places import place_of
from neardup.survivors.records.audit_files import read_audit, read_superseded
from neardup.survivors.records.audit_reader import LAYOUTS, read_line
from neardup.survivors.records.audit_schema import COLUMNS, FILTER_COLUMNS, UNITS, columns_of
from places import GOLDEN

AUDITS = GOLDEN / "audits"
WRITTEN = sorted(path for path in AUDITS.glob("*.jsonl") if path.stem not in ("annotated", "filter"))
[LINE, *_] = (AUDITS / "reference-components.jsonl").read_text(encoding="utf-8").split("\n")
OF_UNIT = (AUDITS / "units-components.jsonl").read_text(encoding="utf-8").split("\n")[0]


def changed(line, **values):
    return json.dumps(json.loads(line) | values).encode()


def without(line, *names):
    return json.dumps({name: value for name, value in json.loads(line).items() if name not in names}).encode()


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.stem)
def test_every_line_is_read_as_it_was_written(path):
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    read = read_superseded if path.stem.startswith("superseded") else read_audit
    assert list(read(place_of(path))) == lines


def needed(line):
    """The columns of a line that none may lack; older audits have no `only_digits`."""
    return sorted(json.loads(line).keys() - {"only_digits"})


@given(column=st.sampled_from(needed(LINE)), unit_column=st.sampled_from(needed(OF_UNIT)))
def test_a_line_that_lacks_a_column_is_refused(column, unit_column):
    for line, name in ((LINE, column), (OF_UNIT, unit_column)):
        with pytest.raises(ValueError, match=f"it lacks '{name}'"):
            read_line(without(line, name))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"row": "1"}, "'row' is \"1\", not integer"),
        ({"row": 1.5}, "'row' is 1.5, not integer"),
        ({"row": None}, "'row' is null, not integer"),
        ({"row": True}, "'row' is true, not integer"),
        ({"id": None}, "'id' is null, not string or integer"),
        ({"exact": 1}, "'exact' is 1, not true or false"),
        ({"survivor_row": "x"}, "'survivor_row' is \"x\", not integer or null"),
        ({"similarity": "high"}, "'similarity' is \"high\", not number or null"),
        ({"reference": 3}, "'reference' is 3, not string or null"),
    ],
)
def test_a_value_of_a_wrong_type_is_refused(values, message):
    with pytest.raises(ValueError) as caught:
        read_line(changed(LINE, **values))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "it is no JSON"),
        (b"\xff", "it is no JSON"),
        (b"[1]", "it is no JSON object"),
        (b"{}", "it lacks 'id'"),
        ((AUDITS / "filter.jsonl").read_bytes().split(b"\n")[0], "it was written by `neardup filter`"),
        (changed(LINE, unit=3), "it has 'unit', which is not together with its other columns"),
    ],
)
def test_what_is_no_line_of_an_audit_is_refused(line, message):
    with pytest.raises(ValueError, match=message):
        read_line(line)


def test_the_file_and_the_line_are_named(tmp_path):
    path = tmp_path / "out.duplicates.jsonl"
    path.write_bytes(LINE.encode() + b"\n" + changed(LINE, distance="far") + b"\n")
    with pytest.raises(DataError, match=r"out\.duplicates\.jsonl, line 2: this is no line of an audit: 'distance' is"):
        list(read_audit(place_of(path)))


def test_large_ids_and_columns_of_later_versions_are_no_problem():
    line = read_line(changed(LINE, id=10**30, later=[1]))
    assert line["id"] == 10**30
    assert "later" not in line


def test_names_are_unique_wherever_columns_are_together():
    for columns in (*LAYOUTS, columns_of("results", with_matched=True, with_reference=True), columns_of("annotated")):
        names = [column.name for column in columns]
        assert len(set(names)) == len(names)
    assert {column.name for column in FILTER_COLUMNS} <= {column.name for column in COLUMNS} | {"replaced_id", "status"}
    assert {"unit", "text"} <= {column.name for column in columns_of(UNITS)}
