"""Every number that a request brings may be any number: the status is below 500, and the store answers the next request at once."""

import json

import msgspec
import pytest

from neardup import Client, ServiceError
from neardup.errors import OptionError
from neardup.service.limits import limits_of
from neardup.service.messages.examples import EXAMPLES
from neardup.service.routes import ROUTES
from numbers_given import IN_JSON
from service.serving import FERRY, LATER, LINES, add, asking, listening, new_store, post

HERE = "a number stands here"
READ = (msgspec.inspect.IntType, msgspec.inspect.FloatType, msgspec.inspect.AnyType)


def places(kind):
    """Where in a value of a type numbers may stand."""
    if isinstance(kind, READ):
        yield ()
    elif isinstance(kind, msgspec.inspect.StructType):
        for field in kind.fields:
            yield from ((field.encode_name, *rest) for rest in places(field.type))
    elif isinstance(kind, msgspec.inspect.ListType):
        yield from ((0, *rest) for rest in places(kind.item_type))
    elif isinstance(kind, msgspec.inspect.UnionType):
        yield from {place for each in kind.types for place in places(each)}


def asked(route):
    """Bodies of a route, each with a place for a number."""
    for place in sorted(places(msgspec.inspect.type_info(route.given)), key=str):
        body = next(json.loads(json.dumps(each.given)) for each in EXAMPLES if each.route == route.name)
        value = body = body[0] if isinstance(body, list) else body
        if route.name == "neighbors" and place == ("id",):
            body.pop("text", None)
        for name in place[:-1]:
            value = value[name]
        value[place[-1]] = HERE
        yield json.dumps(body)


TAKING = [route for route in ROUTES if route.given is not None and list(asked(route))]


def demand_all_numbers(client, route):
    for body in asked(route):
        for number in IN_JSON:
            given = body.replace(json.dumps(HERE), number).encode()
            path = route.path.format(store="default")
            kinds = ["application/json", *(LINES.values() if route.has_many else ())]
            for kind in kinds:
                found = client.post(path, content=given, headers={"Content-Type": kind})
                assert found.status_code < 500, (given[:200], found.text)
                assert kind == "application/json" or b'"internal"' not in found.content
                answer = post(client, "check", {"text": FERRY})
                assert answer.status_code == 200, (given[:200], answer.text)


@pytest.mark.parametrize("route", TAKING, ids=lambda route: route.name)
@pytest.mark.parametrize("kind", ["first", "max:source", "postgresql"])
def test_a_number_is_answered_or_refused(request, tmp_path, route, kind):
    at, keep = (request.getfixturevalue("place"), "first") if kind == "postgresql" else (tmp_path / "s", kind)
    log = []
    with asking(new_store(at, texts=True, keep=keep), log=log) as client:
        add(client, "ferry", FERRY)
        add(client, "late", LATER)
        demand_all_numbers(client, route)
    assert not {each["event"] for each in log} & {"store_failed", "request_failed"}


def tried(client):
    """Whether many texts are new, or the status of a refusal."""
    try:
        return client.check_many([FERRY] * 400)[0].is_new
    except ServiceError as refused:
        return refused.status


@pytest.mark.parametrize(
    "given",
    [
        {"max_body": 2**63}, {"max_body": "9" * 30}, {"max_batch": 2**63}, {"max_requests": 10**30},
        {"max_rate": 1e308}, {"max_rate": 10**400}, {"max_rate": 5e-324}, {"timeout": 1e308}, {"timeout": 2**63},
        {"keep_answers": 1e308}, {"keep_answers": 2**63},
    ],
    ids=str,
)  # fmt: skip
def test_a_service_serves_under_limits_of_any_size_or_refuses_them(tmp_path, given):
    try:
        limits = limits_of(**given)
    except OptionError:
        return
    with listening({"default": new_store(tmp_path / "s")}, limits=limits) as url, Client(url, retries=0) as client:
        answers = [tried(client) for _ in range(3)]
    assert set(answers) <= {True, 429}
