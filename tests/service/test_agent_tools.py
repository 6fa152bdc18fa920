"""The tools of a store for agents, without the package `mcp`: what they answer, show and refuse."""

import asyncio
import io
import json

import pytest

import neardup as nd
from neardup.cli.main import main
from neardup.recipe import stored_parts
from neardup.service.agents.tools import LISTED_MATCHES, SHOWN_CHARACTERS, TOOLS, Tools
from neardup.service.app import open_service
from neardup.service.limits import COMPARED_CHARACTERS, Limits
from neardup.service.logs import Log
from neardup.service.messages.messages import encode
from neardup.service.problems import problem_of
from neardup.service.tokens import ANYBODY, Caller, Tokens
from service.serving import BREAD, FERRY, LATER, new_store


def called(place, *calls, write=True, texts=False, caller=ANYBODY, limits=None):
    """The answers of tools to calls, one after another; a refusal as its code and detail."""

    async def run():
        mode = "w" if write else "r"
        how = {"limits": limits or Limits(), "tokens": Tokens(), "hosts": (), "log": Log(io.BytesIO()), "mode": mode}
        service, answering = open_service({"default": str(place)}, **how)
        tools, found = Tools(service, write=write, texts=texts), []
        async with answering():
            for name, given in calls:
                try:
                    found.append(json.loads(encode(await tools.call(name, given, caller))))
                except Exception as failure:
                    problem = problem_of(failure)
                    found.append((problem.code, problem.detail))
        return found

    return asyncio.run(run())


@pytest.fixture
def place(tmp_path):
    return new_store(tmp_path / "seen.store", floor=0.3, texts=True)


def test_answers_are_those_of_the_store(place):
    found = called(
        place,
        ("remember", {"id": "ferry", "text": FERRY}),
        ("remember", {"id": 17, "text": LATER, "metadata": {"a": 1}}),
        ("check", {"text": FERRY.upper()}),
        ("neighbors", {"text": LATER}),
        ("forget", {"ids": ["ferry", "ferry", "nobody"]}),
    )
    assert found[0] == {
        "is_new": True,
        "duplicate_of": None,
        "similarity": None,
        "distance": None,
        "exact": False,
        "matches": [],
        "replaces": [],
        "status": "new",
    }
    assert (found[1]["status"], found[1]["duplicate_of"], found[2]["exact"]) == ("duplicate", "ferry", True)
    assert found[3] == {"neighbors": [{"id": "ferry", "similarity": 0.75, "distance": 16}]}
    assert (found[4]["removed"], found[4]["unknown"], found[4]["orphans"]["ids"]) == (1, ["nobody"], [17])


def explained(place, text, texts=False, **given):
    return called(place, ("explain", {"text": text} | given), write=False, texts=texts)[0]


def test_explanations_say_why(place):
    called(place, ("remember", {"id": "ferry", "text": FERRY}), ("remember", {"id": "bread", "text": BREAD}))
    assert explained(place, FERRY.upper())["because"] == 'The text equals that of "ferry" after normalization.'
    near = explained(place, LATER)
    assert (near["decision"], near["id"], near["similarity"], near["threshold"]) == ("duplicate", "ferry", 0.75, 0.7)
    far = explained(place, FERRY.replace("night", "evening").replace("ten past nine", "noon"))
    assert (far["decision"], far["id"]) == ("new", "ferry")
    assert "below the threshold of 0.7." in far["because"]
    none = explained(place, "Nothing of the kind was ever said here.")
    assert none["because"] == "No kept document is as similar as 0.3, the lowest that the store can tell."
    other = explained(place, FERRY, id="bread")
    assert (other["decision"], other["because"]) == (
        "duplicate",
        'The document "bread" is not as similar as 0.3, the lowest that the store can tell.',
    )
    assert other["common_shingles"] == 0  # it is compared even so, since the store keeps texts
    assert "only_in_text" not in near
    assert explained(place, LATER, texts=True)["only_in_document"] == ["night"]
    assert "common_shingles" not in explained(place, FERRY + " a" * COMPARED_CHARACTERS)
    assert explained(place, "", id="ferry")["decision"] == "new"


def test_explanations_of_a_store_that_decides_by_distance(tmp_path):
    place = new_store(tmp_path / "seen.store", method="simhash", min_similarity=0, max_distance=20)
    called(place, ("remember", {"id": "ferry", "text": FERRY}))
    near = explained(place, LATER)
    assert near["because"] == 'The fingerprint is 16 bits from that of "ferry"; up to 20 match.'
    assert explained(place, BREAD)["because"] == "No kept document is within 20 bits."


def test_texts_are_shown_only_if_that_was_asked_for_and_only_their_beginning(place):
    long = FERRY + " and back" * 1000
    called(place, ("remember", {"id": "long", "text": long, "metadata": "secret"}))
    asked = [("check", {"text": long}), ("neighbors", {"text": long}), ("explain", {"text": long})]
    assert "night" not in json.dumps(called(place, *asked))
    checked, near, _ = called(place, *asked, texts=True)
    shown = [{"id": "long", "text": long[:SHOWN_CHARACTERS], "characters": len(long)}]
    assert (checked["texts"], near["texts"]) == (shown, shown)
    assert "secret" not in json.dumps([checked, near])


def test_many_matches_are_counted(tmp_path):
    place = new_store(tmp_path / "seen.store", keep="always")
    with nd.Store(place) as store:
        store.check_and_add_many(list(range(50)), [FERRY] * 50)
    checked, near, few = called(
        place, ("check", {"text": FERRY}), ("neighbors", {"text": FERRY}), ("neighbors", {"id": 0, "limit": 3})
    )
    assert (len(checked["matches"]), checked["more"]) == (LISTED_MATCHES, 50 - LISTED_MATCHES)
    assert (len(near["neighbors"]), near["more"]) == (20, 30)
    assert (len(few["neighbors"]), few["more"]) == (3, 46)


def test_a_server_that_reads_changes_nothing_and_sees_what_others_write(place):
    with nd.Store(place) as store:
        store.check_and_add("ferry", FERRY)
        given = ("remember", {"id": 1, "text": BREAD}), ("forget", {"ids": ["ferry"]}), ("check", {"text": FERRY})
        added, removed, checked = called(place, *given, write=False)
    assert added == (
        "forbidden",
        "`remember` changes the store, and this server only reads it. Start it with `neardup mcp --write`.",
    )
    assert (removed[0], checked["duplicate_of"]) == ("forbidden", "ferry")


@pytest.mark.parametrize(("role", "allowed"), [("read", 3), ("write", 4), ("admin", 5)])
def test_a_caller_may_call_what_its_role_allows(place, role, allowed):
    calls = [
        ("check", {"text": FERRY}),
        ("neighbors", {"text": FERRY}),
        ("explain", {"text": FERRY}),
        ("remember", {"id": "ferry", "text": FERRY}),
        ("forget", {"ids": ["ferry"]}),
    ]
    found = called(place, *calls, caller=Caller("someone", role))
    assert [isinstance(each, dict) for each in found] == [True] * allowed + [False] * (5 - allowed)
    assert all(each[0] == "forbidden" for each in found[allowed:])
    assert sum(row.role in ("read", role) or (role == "admin") for row in TOOLS) >= allowed


@pytest.mark.parametrize(
    ("name", "given", "code", "message"),
    [
        ("check", {}, "invalid_value", "missing required field `text`"),
        ("check", {"text": None}, "invalid_value", "Expected `str`, got `null`"),
        ("check", {"text": FERRY, "id": 1}, "invalid_value", "unknown field `id`"),
        ("remember", {"id": 1.5, "text": FERRY}, "invalid_value", "Expected `int | str`, got `float`"),
        ("remember", {"id": "a", "text": FERRY, "ttl": "soon"}, "invalid_value", "ttl"),
        ("remember", {"id": "a", "text": FERRY, "metadata": "a" * 70_000}, "too_large", "metadata"),
        ("neighbors", {}, "invalid_value", "Give a text, or the `id` of a kept document."),
        ("neighbors", {"id": "nobody"}, "unknown_document", "nobody"),
        ("explain", {"text": FERRY, "id": "nobody"}, "unknown_document", "nobody"),
        ("forget", {"ids": "ferry"}, "invalid_value", "Expected `array`, got `str`"),
        (
            "recall",
            {},
            "not_found",
            "There is no tool 'recall'. There are: check, neighbors, explain, remember, forget.",
        ),
    ],
)
def test_wrong_calls_are_refused_in_words(place, name, given, code, message):
    ((found, detail),) = called(place, (name, given))
    assert (found, message in detail) == (code, True), detail


def test_calls_have_the_limits_of_the_service(place):
    (large,) = called(place, ("check", {"text": "a" * 3000}), limits=Limits(max_body=2000))
    assert large == ("too_large", "The arguments have 3,011 bytes; at most 2,000 are taken (--max-body 2000).")
    limits = Limits(max_rate=0.01, max_batch=2, lines_per_part=2)
    first, second = called(place, ("forget", {"ids": [1, 2]}), ("check", {"text": FERRY}), limits=limits)
    assert (first["removed"], second[0]) == (0, "rate_exceeded")


def test_a_missing_package_is_named_with_its_command(place, capfd, monkeypatch):
    monkeypatch.setattr(stored_parts, "version_of", lambda name: None if name == "mcp" else "1")
    with pytest.raises(SystemExit) as end:
        main(["mcp", "--store", place])
    assert end.value.code == 2
    assert "neardup mcp needs mcp. Install it: pip install 'neardup[mcp]'" in capfd.readouterr().err
