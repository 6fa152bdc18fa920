"""The files of the page: what is sent with them, to whom, and what they may not have; the route that shows texts side by side."""

import re
from pathlib import Path

import pytest

from guards import not_empty
from neardup.service.limits import SIDE_BY_SIDE_CHARACTERS, Limits
from neardup.service.page_files import POLICY, page_files
from neardup.text.side_by_side.rows import aligned_rows
from places import ROOT
from service.serving import FERRY, LATER, TOKEN, asking, is_problem, new_store, post, tokens_in

FOLDER = ROOT / "src/neardup/service/page"
SCRIPTS = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.js")}
STRINGS = SCRIPTS["strings.js"]
TABLE = dict(re.findall(r"^  (\w+): (\{.*?\}),$", STRINGS[STRINGS.index("STRINGS") :], re.MULTILINE | re.DOTALL))

FORBIDDEN = (
    "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "cookie", "DOMParser", "srcdoc",
)  # fmt: skip
AS_THEY_ARE = {"0", "1", "ID", "Jaccard", "Space"}
"""Words that Chinese or Japanese readers know as they are."""


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with asking(new_store(tmp_path_factory.mktemp("page") / "s")) as found:
        yield found


def test_the_page_and_its_files_come_with_a_strict_policy(client):
    page = client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    named = re.findall(r'(?:src|href)="(page/[^"]+)"', page.text)
    named += [f"page/{name}" for script in SCRIPTS.values() for name in re.findall(r'from "\./(\w+\.js)"', script)]
    assert {each.removeprefix("page/") for each in named} == set(page_files()) - {"index.html"}
    kinds = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
    for name in named:
        found = client.get(f"/{name}")
        assert found.headers["content-type"] == kinds[name.rpartition(".")[2]]
        assert found.content == (FOLDER / name.removeprefix("page/")).read_bytes()
    for found in (page, client.get("/page/main.js")):
        assert found.headers["content-security-policy"] == POLICY
        assert found.headers["x-content-type-options"] == "nosniff"
        assert found.headers["referrer-policy"] == "no-referrer"
        assert "set-cookie" not in found.headers
    for part in ("default-src 'none'", "script-src 'self'", "form-action 'none'", "frame-ancestors 'none'"):
        assert part in POLICY
    assert "unsafe" not in POLICY


def test_files_that_a_browser_has_are_not_sent_again(client):
    first = client.get("/page/style.css")
    again = client.get("/page/style.css", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["content-security-policy"] == POLICY
    assert client.get("/page/style.css", headers={"If-None-Match": '"other"'}).status_code == 200
    assert client.head("/").status_code == 200


@pytest.mark.parametrize("name", ["nothing.js", "..%2fapp.py", "%2e%2e%2fapp.py", "index.html%00", ""])
def test_nothing_else_is_sent(client, name):
    is_problem(client.get(f"/page/{name}", follow_redirects=False), 404, "not_found")


def test_the_page_needs_no_token_but_the_right_host(tmp_path):
    log = []
    with asking(new_store(tmp_path / "s"), tokens=tokens_in(tmp_path), hosts=("localhost",), log=log) as client:
        assert client.get("/").status_code == 200
        assert client.get("/page/main.js").status_code == 200
        is_problem(client.get("/v1/stores"), 401, "unauthorized")
        for path in ("/", "/page/main.js"):
            is_problem(client.get(path, headers={"Host": "evil.example"}), 400, "invalid_host")
        assert client.get("/v1/health", headers={"Host": "evil.example"}).status_code == 200
        metrics = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}r"}).text
    assert 'neardup_requests_total{route="page",status="200"} 2.0' in metrics
    assert [each["status"] for each in log if each.get("route") == "page"] == [200, 200, 400, 400]


def test_too_many_requests_are_refused_here_too(tmp_path):
    with asking(new_store(tmp_path / "s"), limits=Limits(max_requests=1)) as client:
        client.service.admission.running = 1
        is_problem(client.get("/"), 429, "too_many_requests")
        client.service.admission.running = 0


def test_the_files_have_nothing_inline_and_no_way_from_text_to_markup():
    index = (FOLDER / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|https?:|//\w", index)
    for name, script in SCRIPTS.items():
        for forbidden in FORBIDDEN:
            assert forbidden not in script, (name, forbidden)
        assert set(re.findall(r"https?://[\w./]+", script)) <= {"http://www.w3.org/2000/svg"}
        assert ("localStorage" in script) == (name == "settings.js"), "only settings outlast the tab"
        assert ("sessionStorage" in script) == (name == "requests.js"), "only a token outlasts a reload"
    assert not re.search(r"url\(|@import|https?:", (FOLDER / "style.css").read_text(encoding="utf-8"))


def test_every_string_is_there_in_each_language_and_is_used():
    assert len(TABLE) > 100
    for key, row in TABLE.items():
        words = re.findall(r'\b(en|zh|ja): "([^"]+)"', row)
        assert [language for language, _ in words] == ["en", "zh", "ja"], key
        assert len({frozenset(re.findall(r"\{\w+\}", each)) - {"{s}"} for _, each in words}) == 1, key
        english = words[0][1].replace("the first {count} characters", "")  # of a long text
        assert not re.search(r"\{count\} (?:more |common )?[a-z]+s\b", english), (key, "has no singular")
        alike = {each for _, each in words[1:] if not re.search("[\u3041-\u30ff\u3400-\u9fff]", each)}
        assert alike <= AS_THEY_ARE, (key, "is not translated")
    code = "\n".join(text for name, text in SCRIPTS.items() if name != "strings.js")
    patterns = [re.sub(r"\$\{[^}]*\}", r"\\w+", each) for each in re.findall(r"say(?:ing)?\(`([^`]+)`", code)]
    exact = set(re.findall(r'"(\w+)"', code))
    asked = set(re.findall(r'say(?:ing)?\("(\w+)"', code)) | set(re.findall(r'\bbutton\("(\w+)"', code))
    assert asked <= set(TABLE)
    exact |= {"unreachable", "unreadable"}  # codes of problems
    unused = {key for key in TABLE if key not in exact and not any(re.fullmatch(each, key) for each in patterns)}
    assert unused == set()


def test_texts_side_by_side_are_those_of_the_report(client):
    left, right = f"{FERRY} 河上的老石桥建于明代。 Left alone.", f"Right alone. {LATER} 河上的老石桥建于清代。"
    found = post(client, "passages", {"left": left, "right": right}).json()["rows"]
    for row, given in not_empty(zip(found, aligned_rows(left, right), strict=True)):
        assert row["skipped"] == given.skipped
        for side in ("left", "right"):
            assert [(each["kind"], each["text"], each["characters"]) for each in row[side]] == [
                (each.kind, each.text, each.characters) for each in getattr(given, side)
            ]


def test_long_texts_side_by_side_are_refused_with_the_limit(client):
    text = "word " * (SIDE_BY_SIDE_CHARACTERS // 5)
    assert post(client, "passages", {"left": text, "right": text}).status_code == 200
    said = is_problem(post(client, "passages", {"left": FERRY, "right": text + "x"}), 413, "too_large")
    assert said == "`right` has 20,001 characters; texts of at most 20,000 are shown side by side."
    assert f"const SIDE = {SIDE_BY_SIDE_CHARACTERS};" in SCRIPTS["parts.js"]


def test_scripts_are_read_where_the_package_is_installed():
    import neardup.service.page_files as module

    assert (Path(module.__file__).parent / "page" / "index.html").is_file()
