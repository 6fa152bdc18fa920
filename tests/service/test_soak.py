"""The soak of services, for some seconds: nothing is lost, and its tables say what was found."""

import sys

import pytest

from places import ROOT

pytest.importorskip("uvloop", reason="needs uvloop")
sys.path.append(str(ROOT / "benchmarks"))

import service_soak
import tables_of_service


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["folder", pytest.param("postgresql", marks=pytest.mark.long)])
def test_mixed_requests_lose_nothing_and_are_counted(kind):
    try:
        found = service_soak.run(kind, 60.0, 4.0, faster=30.0)
    except RuntimeError as problem:
        pytest.skip(str(problem))
    assert found["sound"]
    assert set(found["exits"]) == {0}
    assert (found["lost"], found["returned"], found["miscounted"]) == (0, 0, 0)
    assert found["minutes"][-1]["given"] > 0
    told = tables_of_service.service_soak(found)
    assert "0 copies not found, 0 removed ones found, 0 wrong numbers of documents; 0 refused" in told
    assert told.count("\n| ") == len(found["minutes"]) + 1


def test_the_table_of_waits_says_what_others_waited_for():
    each = {"requests": 3, "refused": 1, "longest_seconds": 31.0}
    of = {
        "kind": "postgresql", "documents": 1_000, "first_start_seconds": 12.0, "copy_seconds": 2.0,
        "start_with_copy_seconds": 1.5, "compaction": {"seconds": 30.5, "checks": each, "additions": each}, "load": 2.0,
    }  # fmt: skip
    assert "| PostgreSQL | 1,000 | 12 | 2 + 1.5 | 30 | 31 | 31 | 2 | 2 |" in tables_of_service.service_waits(
        {"stores": [of]}
    )
