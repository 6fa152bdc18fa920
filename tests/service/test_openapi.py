"""The OpenAPI document says what the service takes and answers."""

import json
import re

import pytest
from hypothesis import HealthCheck, given, settings

from neardup.service.limits import COMPARED_CHARACTERS, HEADER_BYTES, METADATA_BYTES, WAITING_COMPARISONS, Limits
from neardup.service.messages.examples import EXAMPLES
from neardup.service.problems import CODES
from neardup.service.routes import ROUTES
from places import ROOT
from service.serving import asking, listening, new_store, post, tokens_in

jsonschema = pytest.importorskip("jsonschema", reason="needs jsonschema")
schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis")

PAGE = (ROOT / "docs/service.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    with asking(new_store(tmp_path_factory.mktemp("openapi") / "s")) as client:
        return client.get("/v1/openapi.json").json()


def validated(value, schema, document):
    jsonschema.Draft202012Validator({**schema, "components": document["components"]}).validate(value)


def test_every_route_is_described_with_examples_that_fit_its_types(document):
    assert document["openapi"].startswith("3.1")
    described = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert described == {(row.method, row.path) for row in ROUTES}
    shown = 0
    for row in ROUTES:
        operation = document["paths"][row.path][row.method.lower()]
        assert operation["operationId"] == row.name
        assert operation["summary"].endswith(".")
        contents = [operation["responses"]["200"]["content"].get("application/json")]
        contents += [operation["requestBody"]["content"]["application/json"]] if row.given is not None else []
        for content in filter(None, contents):
            assert "examples" in content or row.name == "compare", row.name
            for example in content.get("examples", {}).values():
                validated(example["value"], content["schema"], document)
                shown += 1
    assert shown == sum((each.given is not None) + (each.answer is not None) for each in EXAMPLES)


def test_tokens_are_described_where_there_are_some(tmp_path, document):
    assert "securitySchemes" not in document["components"]
    with asking(new_store(tmp_path / "s"), tokens=tokens_in(tmp_path)) as client:
        found = client.get("/v1/openapi.json").json()
    assert found["components"]["securitySchemes"] == {"token": {"type": "http", "scheme": "bearer"}}
    for row in ROUTES:
        operation = found["paths"][row.path][row.method.lower()]
        assert ("security" in operation, "401" in operation["responses"]) == (row.role is not None,) * 2


def test_what_a_route_may_refuse_is_described(document, tmp_path):
    with asking(new_store(tmp_path / "s"), limits=Limits(max_batch=1, max_body=400)) as client:
        for row in ROUTES:
            if row.given is None:
                continue
            path = row.path.replace("{store}", "default")
            for response in (
                client.post(path, content=b"{", headers={"Content-Type": "application/json"}),
                client.post(path, content=b"{}", headers={"Content-Type": "text/plain"}),
                client.post(path, json={"nothing": 1}),
                client.post(path, json={"text": "x" * 500}),
                client.post(path.replace("default", "other"), json={}),
            ):
                described = document["paths"][row.path]["post"]["responses"]
                assert response.json()["code"] in described[str(response.status_code)]["description"]
                validated(response.json(), {"$ref": "#/components/schemas/Problem"}, document)
        assert post(client, "get", {"ids": [1, 2]}).status_code == 413


def test_the_page_names_every_code_route_and_limit():
    rows = re.findall(r"^\| ([\d, ]+) \| ((?:`\w+`(?:, )?)+) \|", PAGE, re.MULTILINE)
    told = {code: set(statuses.split(", ")) for statuses, codes in rows for code in re.findall(r"`(\w+)`", codes)}
    assert set(told) == set(CODES)
    assert all(str(CODES[code]) in statuses for code, statuses in told.items())
    for row in ROUTES:
        shown = f"`{row.method} {row.path.replace('{store}', 'NAME')}`"
        assert shown in PAGE, shown
        if row.role is not None:
            assert re.search(re.escape(shown) + rf".* \| {row.role} \|$", PAGE, re.MULTILINE), shown
    usual = Limits()
    for told in (
        f"{usual.max_body >> 20} MiB in a body", f"{usual.max_batch:,} documents, texts or ids", f"{usual.max_requests} requests at",
        f"{usual.timeout:g} s for a request", f"{usual.max_memory >> 20} MiB, or four times", f"{usual.max_waiting:,} documents, or",
        f"{HEADER_BYTES >> 10} KiB of headers", f"{usual.max_connections:,} connections", f"{COMPARED_CHARACTERS:,} characters",
        f"{METADATA_BYTES >> 10} KiB in the metadata", f"{WAITING_COMPARISONS} requests that wait",
        f"{usual.max_listed} duplicates", f"{usual.max_listed_bytes >> 20} MiB of",
        f"{usual.lines_per_part} lines and {usual.bytes_per_part >> 20} MiB",
    ):  # fmt: skip
        assert told in PAGE, told


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    with listening({"default": new_store(tmp_path_factory.mktemp("described") / "s")}) as url:
        yield schemathesis.openapi.from_url(f"{url}/v1/openapi.json")


BEYOND = [schemathesis.checks.positive_data_acceptance]
"""Types do not say all: 1.0 is an integer to JSON Schema and none here, a key is for one request, a text or an id is given, not both."""


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["POSITIVE", "NEGATIVE"])
@pytest.mark.parametrize("row", ROUTES, ids=lambda row: row.name)
def test_whatever_fits_the_document_is_answered_as_it_says_and_what_does_not_is_refused(described, row, mode):
    operation = described[row.path][row.method]
    if mode == "NEGATIVE" and row.given is None:
        pytest.skip("nothing that is given can be wrong")

    @settings(deadline=None, max_examples=25, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=schemathesis.GenerationMode[mode]))
    def ask(case):
        case.call_and_validate(timeout=30, excluded_checks=BEYOND)

    ask()


def test_the_document_is_the_same_every_time(tmp_path, document):
    with asking(new_store(tmp_path / "s")) as client:
        assert json.dumps(client.get("/v1/openapi.json").json()) == json.dumps(document)
