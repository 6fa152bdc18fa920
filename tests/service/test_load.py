"""The load generator of the benchmark sends what it is given, no more, and counts what comes back."""

import importlib.util
import itertools
import json
import re
import sys

import httpx
import pytest

import neardup as nd
from places import ROOT
from service.serving import listening, new_store

pytest.importorskip("uvloop", reason="needs uvloop")
spec = importlib.util.spec_from_file_location("service_load", ROOT / "benchmarks/service_load.py")
generator = importlib.util.module_from_spec(spec)
sys.modules["service_load"] = generator
spec.loader.exec_module(generator)


def requests(count, *, wrong=0):
    body = [json.dumps({"text": f"some text {number}"}).encode() for number in range(count)] + [b"{"] * wrong
    return [generator.request("/v1/stores/default/check", each, f"X-Number: {n}\r\n") for n, each in enumerate(body)]


def test_a_load_ends_with_its_requests_or_its_seconds(tmp_path):
    with listening({"default": new_store(tmp_path / "s")}) as url:
        port = int(url.rpartition(":")[2])
        found = generator.load([port], iter(requests(30, wrong=3)), 4, 20.0).as_record(10)
        assert found["statuses"] == {"200": 30, "400": 3}
        assert found["requests"] == 33
        assert 0 < found["median_ms"] <= found["p99_ms"] <= found["most_ms"]
        paced = generator.load([port], itertools.cycle(requests(5)), 4, 0.5, rate=50.0)
        assert paced.statuses == {200: 25}
        assert paced.seconds >= 0.45


def test_a_load_is_spread_over_services(tmp_path):
    with (
        listening({"default": new_store(tmp_path / "a")}) as one,
        listening({"default": new_store(tmp_path / "b")}) as other,
    ):
        ports = [int(url.rpartition(":")[2]) for url in (one, other)]
        assert generator.load(ports, iter(requests(30)), 4, 20.0).statuses == {200: 30}
        for url in (one, other):
            counted = re.search(
                r'neardup_store_checks_total{store="default"} (\d+)', httpx.get(f"{url}/metrics", trust_env=False).text
            )
            assert int(counted[1]) > 0


def test_the_table_says_which_targets_are_reached(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import tables_of_service

    case = {"clients": 32, "a_second": 1_500, "median_ms": 1.0, "p99_ms": 14.0, "statuses": {"200": 10}}
    cases = {
        "single checks, paced": case,
        "single additions": case | {"a_second": 1_400},
        "batches of checks": case | {"a_second": 20_000, "statuses": {"200": 9, "503": 1}},
        "PyPI simhash": {"skipped": "no package"},
    }
    told = tables_of_service.service(
        {
            "cases": cases, "documents": 10, "document_bytes": 20, "peer_documents": 5, "shared_documents": 7,
            "seconds": 1.0, "durable": {"PyPI simhash": "nothing"},
        }
    )  # fmt: skip
    lines = [line for line in told.splitlines() if line.startswith("| ")][2:]
    assert ["reached" in line for line in lines] == [True, False, False, False]
    assert "1,400" in lines[1]
    assert "20,000, 1 of status 503" in lines[2]
    assert "no package" in lines[3]


@pytest.mark.slow
def test_services_on_one_database_are_measured(tmp_path, monkeypatch):
    import postgres_server

    if why := postgres_server.why_not():
        pytest.skip(why)
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    benchmark = importlib.util.module_from_spec(
        spec := importlib.util.spec_from_file_location("service_cases", ROOT / "benchmarks/service_cases.py")
    )
    sys.modules["service_cases"] = benchmark
    spec.loader.exec_module(benchmark)
    from service_shared import shared_store

    texts = list(benchmark.documents(300, 1))
    with shared_store(iter(texts), tmp_path) as (place, kept):
        with nd.Store(place) as store:
            assert len(store) == 300
        assert set(kept) < set(texts)
        command, environment = benchmark.neardup_serve(place), {"NEARDUP_CACHE_DIR": str(tmp_path)}
        with benchmark.served(command, environment) as one, benchmark.served(command, environment) as other:
            made = benchmark.bodies(kept, 20, 5, adds=True, seed=2)
            assert generator.load([one, other], iter(made), 4, 20.0).statuses == {200: 20}
        with nd.Store(place) as store:
            assert 300 < len(store) <= 400
            assert len(store.notes([f"-\n\n2-{number}" for number in range(20)])) == 20
