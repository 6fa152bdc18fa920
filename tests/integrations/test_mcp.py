"""`neardup mcp`: the tools of a store, asked by the package's own client, over standard input and over HTTP, in real processes."""

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

import neardup as nd
from integrations.pipelines import PIPELINES, missing, python

ROOT = Path(__file__).parents[2]
CLIENT = Path(__file__).with_name("programs") / "mcp_client.py"
FERRY = "The night ferry to the islands leaves at ten past nine from the old customs pier."
LATER = FERRY.replace("night", "evening")
READ, WRITE = {"check": True, "neighbors": True, "explain": True}, {"remember": False, "forget": False}
TOKEN = "0123456789abcdefghij"
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(bool(missing("mcp")), reason=missing("mcp") or ""),
]
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "NEARDUP_TOKENS"} | {
    "PYTHONPATH": str(ROOT / "src"),
}


@pytest.fixture
def store(tmp_path):
    with nd.Store(tmp_path / "seen.store", min_similarity=0.7, floor=0.3, texts=True) as store:
        store.check_and_add("ferry", FERRY, metadata={"secret": "of the source"})
    return tmp_path / "seen.store"


def client(calls, **given):
    given = json.dumps({"calls": calls, **given})
    done = subprocess.run(
        [python("mcp"), CLIENT], input=given, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@contextlib.contextmanager
def listening(*arguments):
    """The port of `neardup mcp --port 0`, and the lines of its log when it has ended."""
    process = subprocess.Popen(
        [python("mcp"), "-m", "neardup", "mcp", "--port", "0", *map(str, arguments)],
        env=ENVIRONMENT,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    log = []
    try:
        for line in process.stderr:
            log.append(json.loads(line))
            if log[-1]["event"] == "started":
                break
        yield next(each["port"] for each in log if each["event"] == "listening"), log
        process.send_signal(signal.SIGTERM)
        log += [json.loads(line) for line in process.stderr]
        assert (process.wait(60), process.stdout.read()) == (0, b"")
    finally:
        process.kill()
        process.wait(60)
        process.stdout.close()
        process.stderr.close()


def asked(port, headers=(), method="POST", path="/mcp", body=b'{"jsonrpc":"2.0","id":1,"method":"ping"}'):
    plain = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request(method, path, body, {**plain, **dict(headers)})
        with connection.getresponse() as answer:
            return answer.status, answer.read().decode()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_server_reads_only_unless_it_is_started_to_write(store, mode):
    calls = [
        ("check", {"text": LATER}),
        ("check", {"text": ""}),
        ("neighbors", {"id": "ferry", "min_similarity": 0.3}),
        ("explain", {"text": LATER}),
        ("remember", {"id": "late", "text": LATER}),
        ("forget", {"ids": ["ferry"]}),
    ]
    with nd.Store(store) as writer:  # another process writes meanwhile
        writer.check_and_add("bread", "Flour, water, salt and a day of patience make bread.")
        found = client(calls, server=["--store", str(store)], mode=mode)
    assert (found["tools"], set(found["schemas"].values())) == (READ, {"object"})
    match, empty, none, explained, remembered, forgotten = found["results"]
    assert match["matches"] == [{"id": "ferry", "similarity": 0.75, "distance": 16}]
    assert (match["status"], empty["is_new"], none) == ("duplicate", True, {"neighbors": []})
    assert explained["because"] == 'The jaccard similarity to "ferry" is 0.7500, at or above the threshold of 0.7.'
    assert (explained["common_shingles"], explained["all_shingles"]) == (12, 16)
    refused = "changes the store, and this server only reads it. Start it with `neardup mcp --write`."
    assert (remembered, forgotten) == (f"`remember` {refused}", f"`forget` {refused}")
    assert not re.search("night|secret", json.dumps(found))  # nothing of what is stored but ids


def test_documents_are_remembered_in_one_process_and_known_in_the_next(store):
    calls = [
        ("remember", {"id": 17, "text": LATER}),
        (
            "remember",
            {"id": "17", "text": "Bread needs flour, water, salt and some patience, and then a day in the oven."},
        ),
        ("forget", {"ids": ["ferry", "nobody"]}),
        ("remember", {"id": 17, "text": LATER, "metadata": {"a": 1}, "ttl": "1d"}),
    ]
    found = client(calls, server=["--store", str(store), "--write"])
    assert found["tools"] == READ | WRITE
    skipped, new, gone, again = found["results"]
    assert (skipped["duplicate_of"], new["status"], again["status"]) == ("ferry", "new", "new")
    assert (gone["removed"], gone["unknown"], gone["orphans"]["ids"]) == (1, ["nobody"], [17])
    (known,) = client([("check", {"text": LATER})], server=["--store", str(store)])["results"]
    assert (known["duplicate_of"], known["exact"]) == (17, True)


def test_texts_are_shown_if_they_are_asked_for(store):
    calls = [("check", {"text": LATER}), ("neighbors", {"text": LATER}), ("explain", {"text": LATER, "id": "ferry"})]
    found = client(calls, server=["--store", str(store), "--texts"])["results"]
    shown = [{"id": "ferry", "text": FERRY, "characters": len(FERRY)}]
    assert [found[0]["texts"], found[1]["texts"]] == [shown, shown]
    assert (found[2]["only_in_text"], found[2]["only_in_document"]) == (["evening"], ["night"])


def test_wrong_arguments_are_refused_in_words(store):
    calls = [
        ("check", {"text": 17}),
        ("check", {"txt": FERRY}),
        ("neighbors", {}),
        ("neighbors", {"text": FERRY, "min_similarity": 0.1}),
        ("neighbors", {"id": "nobody"}),
        ("explain", {"text": FERRY, "id": "nobody"}),
        ("neighbors", {"text": FERRY, "limit": 0}),
        ("recall", {}),
    ]
    found = client(calls, server=["--store", str(store)])["results"]
    assert found[0] == "The call of check is not what is taken here: Expected `str`, got `int` - at `$.text`."
    assert found[1].startswith("The call of check is not what is taken here: Object contains unknown field `txt`")
    assert found[2] == "Give a text, or the `id` of a kept document."
    assert found[3].startswith("`min_similarity=0.1`: this store finds what is similar from 0.3 to 1.")
    assert found[4] == found[5] == 'There is no document with the id "nobody".'
    assert found[6].endswith("Expected `int` >= 1 - at `$.limit`.")
    assert found[7] == "There is no tool 'recall'. There are: check, neighbors, explain."


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_same_over_http_where_tokens_say_who_may_do_what(store, mode, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text("".join(f"{role[0]}-caller {role} {TOKEN}{role[0]}\n" for role in ("read", "write", "admin")))
    tokens.chmod(0o600)
    calls = [("remember", {"id": "late", "text": LATER}), ("forget", {"ids": ["late"]}), ("check", {"text": LATER})]
    with listening("--store", store, "--write", "--tokens", tokens) as (port, log):
        url = f"http://127.0.0.1:{port}/mcp"
        found = {
            role: client(calls, url=url, headers={"Authorization": f"Bearer {TOKEN}{role[0]}"}, mode=mode)
            for role in ("read", "write", "admin")
        }
        status, body = asked(port)
        assert (status, json.loads(body)["code"]) == (401, "unauthorized")
    assert found["read"]["tools"] == READ
    assert found["write"]["tools"] == {**READ, "remember": False}
    assert found["admin"]["tools"] == READ | WRITE
    assert found["read"]["results"][0] == "The token of r-caller has the role read. This needs write."
    assert found["write"]["results"][0]["duplicate_of"] == "ferry"
    assert found["write"]["results"][1] == "The token of w-caller has the role write. This needs admin."
    assert found["admin"]["results"][1]["removed"] == 0
    assert {each.get("caller") for each in log if each["event"] == "request"} >= {"r-caller", "w-caller", "a-caller"}
    assert "ferry" not in json.dumps(log)


def test_other_hosts_and_origins_are_refused(store):
    with listening("--store", store) as (port, _):
        assert asked(port, {"Host": f"evil.example:{port}"})[0] == 400
        assert asked(port, {"Origin": "http://evil.example"})[0] == 403
        assert asked(port, {"Origin": f"http://127.0.0.1:{port}"})[0] == 200
        assert asked(port, {"Content-Type": "text/plain"})[0] in (400, 415)
        assert asked(port, method="GET")[0] == 405
        assert asked(port, path="/v1/stores")[0] == 404


def test_limits_are_those_of_the_service(store):
    with listening("--store", store, "--write", "--max-body", 20_000, "--max-rate", 0.01) as (port, _):
        status, said = asked(port, body=b" " * 30_000)
        assert (status, json.loads(said)["code"]) == (413, "too_large")
        calls = [("forget", {"ids": list(range(1000))}), ("check", {"text": FERRY})]
        assert "may give 0.01 documents a second" in client(calls, url=f"http://127.0.0.1:{port}/mcp")["results"][1]
    (told,) = client([("check", {"text": "a" * 3000})], server=["--store", str(store), "--max-body", "2000"])["results"]
    assert told.startswith("The arguments have 3,011 bytes; at most 2,000 are taken")


def test_a_server_on_standard_input_ends_when_it_is_asked_to_though_its_input_goes_on(store):
    command = [python("mcp"), "-m", "neardup", "mcp", "--store", store, "--write"]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=ENVIRONMENT, **streams) as process:
        assert json.loads(process.stderr.readline())["event"] == "started"
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 130
    with nd.Store(store) as again:
        assert again.verify().is_sound


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--store", "none.store"], "none.store is no store (did you mean seen.store?)"),
        (["--store", "seen.store", "--tokens", "tokens"], "who starts a server on standard input needs none"),
        (["--store", "seen.store", "--port", "70000"], "give a number from 0 to 65535"),
        ([], "Missing option '--store'"),
    ],
)
def test_what_cannot_be_served_is_refused(store, tmp_path, arguments, message):
    (tmp_path / "tokens").write_text(f"reader read {TOKEN}\n")
    command = [python("mcp"), "-m", "neardup", "mcp", *arguments]
    done = subprocess.run(
        command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_the_example_of_the_page_gives_what_it_shows(tmp_path):
    command = [python("mcp"), CLIENT.with_name("page.py"), ROOT / "docs" / "agents.md", "neardup"]
    done = subprocess.run(
        command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=280, check=False
    )
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stdout + done.stderr


def test_the_version_that_was_tested_is_stated():
    source = (ROOT / "src" / "neardup" / "service" / "agents" / "mcp_server.py").read_text(encoding="utf-8")
    (stated,) = re.findall(r'^TESTED = "(.*)"$', source, re.MULTILINE)
    assert PIPELINES["mcp"][0].endswith(f"=={stated}")
