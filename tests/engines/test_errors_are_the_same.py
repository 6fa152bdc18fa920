"""Every error that a call of an engine can give has the type and the text that one process gives it, or that all engines do."""

import pyarrow as pa
import pytest

from engines.engine_errors import ARGUMENTS, DATA, ROWS, in_one_process, in_the_harness, table_of, told_by

ALL = ARGUMENTS | DATA
CLUSTER = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]  # of the clusters


def given_to(case):
    return table_of(case.columns), None if case.reference is None else table_of(case.reference), case.options


@pytest.mark.parametrize("name", ALL)
def test_the_harness_tells_what_one_process_tells(tmp_path, name):
    case = ALL[name]
    ours = told_by(in_the_harness, tmp_path, *given_to(case))
    assert ours is not None
    assert "\n" not in ours[1]
    if not case.engines_alone:
        assert ours == told_by(in_one_process, *given_to(case))


@pytest.mark.parametrize("what", ROWS)
def test_what_holds_no_rows_is_refused_alike(tmp_path, what):
    ours = told_by(in_the_harness, tmp_path, ROWS[what], None, {})
    assert ours == told_by(in_one_process, ROWS[what], None, {})


def in_cluster(engine, folder, rows, against, options):
    engine.functions.deduplicate(
        *(each if each is None else engine.of_table(each) for each in (rows,)),
        against=None if against is None else engine.of_table(against),
        order="n", work=str(folder), **options)  # fmt: skip


@pytest.mark.parametrize("engine", [pytest.param(name, marks=CLUSTER) for name in ("spark", "ray")], indirect=True)
class TestOnClusters:
    """The same table on real clusters, which share a session: what the harness tells, they tell."""

    @pytest.mark.parametrize("name", ALL)
    def test_a_cluster_tells_what_the_harness_tells(self, engine, tmp_path, name):
        case = ALL[name]
        ours = told_by(in_cluster, engine, tmp_path / "work", *given_to(case))
        assert ours == told_by(in_the_harness, tmp_path / "harness", *given_to(case))

    @pytest.mark.parametrize("what", ROWS)
    def test_what_holds_no_rows_is_refused_alike(self, engine, what):
        ours = told_by(lambda rows: engine.functions.deduplicate(rows, order="n"), ROWS[what])
        assert ours == told_by(in_one_process, ROWS[what], None, {})
        assert told_by(engine.functions.fingerprint, ROWS[what]) == ours

    def test_lazy_rows_tell_of_errors_in_one_line(self, engine):
        rows = engine.of_table(table_of({"text": pa.array(["x", None])}))
        ours = told_by(lambda: engine.rows(engine.functions.fingerprint(rows)))
        assert ours == ("DataError", "A text of the column 'text' is null. Drop or fill nulls first.")
