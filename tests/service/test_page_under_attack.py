"""What others have written never becomes part of the page: texts, ids, metadata, names of stores, words of errors, labels of metrics."""

import json

import pytest

import neardup as nd
from service.opened_page import FERRY, TIDE, VIEWS, filled_store, go_to, in_use, opened
from service.serving import listening

STORE = "<img src=x onerror=window.hacked=1> & \u202e'\""
PAYLOADS = [
    "<script>window.hacked = 1</script>",
    "</textarea></title></style><script src='http://evil.example/x.js'></script>",
    "\"><img src='http://evil.example/x.png' onerror='window.hacked = 1'>",
    "<svg onload=window.hacked=1><a xlink:href='javascript:window.hacked=1'>x</a></svg>",
    "' onfocus='window.hacked = 1' autofocus='",
    "javascript:window.hacked=1",
    "__proto__", "constructor", "{id}", "${window.hacked = 1}", "$&$1", "%3Cscript%3E",
    "\u202eevil\u2066\u200b\u061c\u2028", "\x1b]0;evil\x07\x7f\x9b", "<b style='position:fixed;inset:0'>over</b>",
]  # fmt: skip
UNSEEN = "\u202e\u2066\u200b\u061c\u2028\x1b\x07\x7f\x9b"
COUNTED = "['script', 'img', 'iframe', 'style', 'base', 'object', 'form', '[style]'].map((each) => document.querySelectorAll(each).length)"


def text_with(payload, number):
    return f"{payload} {' '.join(f'{word}{number}' for word in FERRY.split())} {payload} of {number}"


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """A service whose store has nothing but payloads: as ids, texts, and names and values of metadata; kept ones, duplicates and orphans."""
    path = str(tmp_path_factory.mktemp("attack") / "s")
    with nd.Store(path, min_similarity=0.8, floor=0.2, texts=True) as store:
        for number, payload in enumerate(PAYLOADS):
            metadata = {payload: payload, "deep": [[{payload: [payload]}]]}
            assert store.check_and_add(payload, text_with(payload, number), metadata=metadata).is_new, payload
            assert not store.check_and_add(f"{payload} late", text_with(payload, number) + " or so").is_new, payload
        store.judge(store.recent(limit=1)[0], same=True)
        names = ["tide", *(f"{payload} orphan" for payload in PAYLOADS)]
        store.check_and_add_many(names, [TIDE] * len(names))
        assert store.remove(["tide"]).orphans.count == len(PAYLOADS)
    with listening({STORE: path}) as found:
        yield found


def unharmed(page):
    """Whether nothing of a payload has become more than words: `opened` also looks for violations and requests."""
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("Object.prototype.hasOwnProperty.call(Object.prototype, 'hacked')") is False
    scripts, pictures, frames, styles, bases, objects, forms, styled = page.evaluate(COUNTED)
    assert (scripts, pictures, frames, styles, bases, objects, styled) == (1, 1, 0, 0, 0, 0, 0)
    assert forms <= 1
    shown = page.evaluate("document.querySelector('main').textContent")
    assert not [each for each in UNSEEN if each in shown]
    assert not page.evaluate(
        "[...document.querySelectorAll('a')].some((each) => !/^(#\\w+|v1\\/openapi.json)$/.test(each.getAttribute('href')))"
    )
    assert page.heard == []


def test_texts_ids_and_metadata_stay_words(browser, url):
    with opened(browser, url) as page:
        for number, payload in enumerate(PAYLOADS):
            page.fill("#text", text_with(payload, number))
            page.keyboard.press("Control+Enter")
            page.wait_for_selector("#answer:not([aria-busy]) .verdict")
            page.wait_for_selector("#answer .sides")
            assert page.locator(".known .pair").count() > 1
            unharmed(page)


def test_steps_of_a_comparison_stay_words(browser, url):
    with opened(browser, url, "compare") as page:
        page.fill("#left", " ".join(PAYLOADS))
        page.fill("#right", " ".join(PAYLOADS[::-1]))
        page.click("button.main")
        page.wait_for_selector(".steps")
        for each in page.query_selector_all("text=Show all"):
            each.click()
        unharmed(page)


def test_duplicates_neighbors_and_pairs_stay_words(browser, url):
    with opened(browser, url, "browse") as page:
        page.wait_for_selector("#recent .match >> nth=0")
        assert page.locator("#recent .match").count() == len(PAYLOADS)
        page.wait_for_selector("#orphans .match >> nth=0")
        assert page.locator("#orphans .match").count() == len(PAYLOADS)
        for number in range(len(PAYLOADS)):
            page.click(f"#recent .link >> nth={number}")
            page.wait_for_selector("#document:not([aria-busy]) .card")
        for number in range(len(PAYLOADS)):
            page.click(f"#recent .quiet >> nth={number}")
            page.wait_for_selector(f"#recent .match:nth-child({number + 1}) .sides")
        unharmed(page)
        go_to(page, "review")
        for number in range(len(PAYLOADS) - 1):
            page.wait_for_selector(".desk:not([aria-busy]) .sides")
            unharmed(page)
            page.keyboard.press("s")
            page.wait_for_selector(f"#tally:has-text('in this visit: {number + 1};')")


NEEDED = {"kind", "fingerprint", "weight", "sums", "hash"}
"""Without these, the page shows nothing: words that it knows, and numbers."""


class Spoiler:
    """Makes payloads of all strings of answers, and of those that the page sends back what they were."""

    def __init__(self, page, url, payload):
        self.url, self.payload, self.asked = url, payload, set()
        self._told, self._meant = {}, {}
        page.route("**/v1/stores", lambda route: self._answer(route, route.request.url))
        page.route("**/v1/stores/*/*", lambda route: self._answer(route, self._of_store(route.request.url)))
        page.route("**/metrics", self._metrics)

    def _of_store(self, address):
        return f"{self.url}/v1/stores/default/{address.rpartition('/')[2]}"

    def _answer(self, route, address):
        self.asked.add(address.rpartition("/")[2])
        given = route.request.post_data
        sent = (
            None
            if given is None
            else json.dumps(self._each(json.loads(given), lambda text: self._meant.get(text, text)))
        )
        answer = route.fetch(url=address, post_data=sent)
        assert answer.ok, answer.text()
        route.fulfill(response=answer, body=json.dumps(self._each(answer.json(), self._spoil)))

    def _metrics(self, route):
        answer = route.fetch()
        label = json.dumps(self._spoil("default"), ensure_ascii=False)
        route.fulfill(response=answer, body=answer.text().replace('"default"', label))

    def _spoil(self, text):
        if text not in self._told:
            self._told[text] = self.payload if not self._told else f"{self.payload} {len(self._told)}"
            self._meant[self._told[text]] = text
        return self._told[text]

    def _each(self, value, change, name=""):
        if isinstance(value, dict):
            return {key: self._each(each, change, key) for key, each in value.items()}
        if isinstance(value, list):
            return [self._each(each, change, name) for each in value]
        return change(value) if isinstance(value, str) and name not in NEEDED else value


@pytest.mark.parametrize("payload", [PAYLOADS[2], PAYLOADS[3], "__proto__", PAYLOADS[-3]])
def test_every_string_of_every_route_stays_words(browser, tmp_path, payload):
    """Ids, texts, metadata, names of stores, methods and recipes, tokens and features, digests and positions, labels of metrics."""
    spoilers = []
    with (
        listening({"default": filled_store(tmp_path / "s", metadata={"a": ["b", {"c": "d"}], "e": "f"})}) as url,
        opened(browser, url, routed=lambda page: spoilers.append(Spoiler(page, url, payload))) as page,
    ):
        for view in VIEWS:
            go_to(page, view)
            in_use(page, view)
            unharmed(page)
        page.focus(".desk")
        page.keyboard.press("s")
        page.wait_for_selector("#tally:has-text('in this visit: 1;')")
    assert spoilers[0].asked >= {
        "stores", "info", "check", "passages", "compare", "recent", "get", "neighbors", "review", "judge", "judgements", "orphans",
    }  # fmt: skip


def test_names_of_stores_and_labels_of_metrics_stay_words(browser, url):
    with opened(browser, url, "numbers") as page:
        page.wait_for_selector(".tiles")
        page.wait_for_selector("#facts dl")
        assert page.inner_text(".choice b") == STORE.replace("\u202e", "\u27e8U+202E\u27e9")
        unharmed(page)


@pytest.mark.parametrize("body", [
    json.dumps({"type": "about:blank", "title": "x", "status": 422, "code": PAYLOADS[0], "detail": " ".join(PAYLOADS)}),
    " ".join(PAYLOADS),
    json.dumps({"detail": {"a": PAYLOADS}, "code": None}),
])  # fmt: skip
def test_words_of_errors_stay_words(browser, url, body):
    with opened(browser, url) as page:
        page.route("**/check", lambda route: route.fulfill(status=422, content_type="text/html", body=body))
        page.fill("#text", FERRY)
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("#answer [role=alert]")
        page.heard = [each for each in page.heard if "422" not in each]  # Chromium notes each refusal
        unharmed(page)


def test_an_answer_that_is_no_json_is_told(browser, url):
    with opened(browser, url) as page:
        page.route("**/check", lambda route: route.fulfill(status=200, content_type="text/html", body=PAYLOADS[0]))
        page.fill("#text", FERRY)
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("#answer [role=alert]:has-text('cannot be read')")
        unharmed(page)


def test_values_beyond_all_measure_are_shown(browser, tmp_path):
    deep = []
    for _ in range(300):
        deep = [deep]
    with nd.Store(tmp_path / "s", min_similarity=0.7) as store:
        store.check_and_add("x" * 5000, FERRY, metadata=deep, expires=253402300799)
        store.check_and_add(10**40, " ".join(PAYLOADS), metadata={"n": -(2**63), "": 1e308}, expires=253402300799)
    later = iter([1e300, 8e12])  # as stores of before may have them

    def never(route):
        answer = route.fetch()
        assert "253402300799.0" in answer.text()
        route.fulfill(response=answer, body=answer.text().replace("253402300799.0", str(next(later))))

    with listening({"default": str(tmp_path / "s")}) as url, opened(browser, url, "browse", width=390) as page:
        page.route("**/v1/stores/*/get", never)
        for given in ("x" * 5000, str(10**40)):
            page.fill("#asked", given)
            page.keyboard.press("Enter")
            page.wait_for_selector("#document:not([aria-busy]) .card")
            assert page.inner_text(".card h3") == given
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert str(-(2**63)) in page.inner_text(".card")
        assert next(later, None) is None
        unharmed(page)


def test_markup_that_a_script_would_make_is_stopped_by_the_policy(browser, url):
    with opened(browser, url) as page:
        tried = "(() => { try { document.body.innerHTML = '<img src=x onerror=window.hacked=1>'; return 'made'; } catch (found) { return found.name; } })()"
        assert page.evaluate(tried) == "TypeError"
        page.evaluate(
            "document.body.append(Object.assign(document.createElement('style'), {textContent: 'body { display: none }'}))"
        )
        page.wait_for_function("violations.length >= 2")
        assert set(page.evaluate("violations")) == {"require-trusted-types-for", "style-src-elem"}
        page.evaluate("violations.length = 0")  # the only ones that were meant


# Names that every JavaScript object inherits, and addresses that are not names of views.
INHERITED = ["toString", "constructor", "__proto__", "hasOwnProperty", "valueOf", "__defineGetter__", "isPrototypeOf"]
ADDRESSES = [
    *INHERITED,
    "%00",
    "%ff",
    "%",
    "check%00",
    "Check",
    "numbers/..",
    "a" * 100_000,
    "%F0%9F%98%80",
    "<script>",
    "\u202e",
]


def test_an_address_that_names_no_view_shows_the_first(browser, url):
    for address in (*INHERITED, "%00", "%ff", "a" * 10_000):
        with opened(browser, url, address) as page:
            page.wait_for_selector(".view-check h1")
            unharmed(page)
    with opened(browser, url) as page:
        for address in ADDRESSES:
            go_to(page, "numbers")
            page.evaluate("(address) => { location.hash = address; }", address)
            page.wait_for_selector(".view-check h1")
            unharmed(page)


def test_names_in_metrics_and_settings_that_objects_inherit_mean_nothing(browser, url):
    with opened(browser, url, init="try { localStorage.setItem('neardup-language', '__proto__'); } catch {}") as page:
        assert page.evaluate("document.documentElement.lang") == "en"
        found = page.evaluate(
            """async (names) => {
              const { sampleOf } = await import("./page/series.js");
              const lines = names.flatMap((name) => [
                `${name}{store="${name}"} 1`, `neardup_store_added_total{store="s",outcome="${name}"} 1`]);
              const { stores } = sampleOf(lines.join("\\n"), 0);
              return [[...stores.keys()], Object.keys(stores.get("s")).length];
            }""",
            INHERITED,
        )
        assert found == [["s"], 8]
        unharmed(page)
