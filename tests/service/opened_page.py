"""The page of a service in Chromium: a store with texts in three languages, and what a service answers that keeps texts."""

import contextlib
import json

import neardup as nd

FERRY = (
    "The night ferry to the islands leaves at ten past nine from the old customs pier. Tickets are sold on board, cash only, and "
    "dogs travel free if they sleep under the bench."
)
BRIDGE = "河上的老石桥建于明代，全长八十六米，共有七个拱。桥面用青石板铺成，石板上留着深深的车辙，桥头有两棵老槐树。"
STATION = "この町の古い駅舎は、昭和の初めに建てられた木造の建物である。一番線から海が見え、春には線路沿いの桜が咲く。"
BREAD = (
    "Flour, water, salt and a day of patience make bread, and a hot stone gives it a crust that sings when it cools."
)
BIG = 9007199254740993
KEPT = {"ferry": FERRY, BIG: BRIDGE, "17": STATION, 17: BREAD}
NEAR = {
    "ferry": FERRY.replace("night", "evening"),
    BIG: BRIDGE.replace("两棵老槐树", "三棵老槐树"),
    "17": STATION.replace("昭和", "大正"),
}


def filled_store(path, documents=None, **options):
    """A store of `KEPT`, or of other documents; its path."""
    with nd.Store(path, **({"min_similarity": 0.7, "floor": 0.3} | options)) as store:
        for name, text in (documents or KEPT).items():
            assert store.check_and_add(name, text, metadata={"source": "tests", "n": 1}).is_new
    return str(path)


def recent():
    """Duplicates as the route `recent` lists them."""
    return [
        {
            "position": f"{place}-5c96", "id": ("late", 17, None)[place], "duplicate_of": name, "similarity": 0.91 - place / 100, "distance": 5, "exact": False,
            "seen": 1_790_000_000.0 + place, "text": text, "survivor_text": KEPT[name],
        }
        for place, (name, text) in enumerate(NEAR.items())
    ]  # fmt: skip


def pairs():
    """Pairs as the route `review` lists them: removed ones, and one of kept documents."""
    removed = [
        {
            "left": {"id": each["id"], "position": each["position"], "digest": "5c96", "text": each["text"]},
            "right": {"id": each["duplicate_of"], "position": None, "digest": "d0cf", "text": each["survivor_text"]},
            "similarity": each["similarity"],
            "kind": "removed",
        }
        for each in recent()
    ]
    sides = {"left": {"id": "ferry", "text": FERRY}, "right": {"id": 17, "text": BREAD}}
    return [*removed, {**sides, "similarity": 0.69, "kind": "kept"}]


class Stubs:
    """Answers of routes that a service with texts has; `judged` has what was sent to `judge`."""

    def __init__(self, *, texts=None, duplicates=None, review=None):
        self.texts = {json.dumps(name): text for name, text in (KEPT if texts is None else texts).items()}
        self.duplicates = recent() if duplicates is None else duplicates
        self.review = pairs() if review is None else review
        self.judged = []

    def serve(self, page):
        page.route("**/v1/stores/*/get", self._get)
        page.route("**/v1/stores/*/recent", self._recent)
        page.route("**/v1/stores/*/review", lambda route: self._send(route, {"pairs": self.review}))
        page.route("**/v1/stores/*/judge", self._judge)

    def _send(self, route, value):
        route.fulfill(status=200, content_type="application/json", body=json.dumps(value))

    def _get(self, route):
        answer = route.fetch()
        value = answer.json()
        for each in value.get("documents", ()):
            each["text"] = self.texts.get(json.dumps(each["id"]))
        route.fulfill(status=answer.status, content_type=answer.headers["content-type"], body=json.dumps(value))

    def _recent(self, route):
        given = json.loads(route.request.post_data)
        first = int(given.get("before", "0"))
        end = first + min(2, given["limit"])  # fewer than asked for, so that there is more to show
        following = end if end < len(self.duplicates) else None
        self._send(
            route, {"duplicates": self.duplicates[first:end], "next": None if following is None else str(following)}
        )

    def _judge(self, route):
        self.judged.append(json.loads(route.request.post_data))
        self._send(route, {})


@contextlib.contextmanager
def opened(browser, url, view="check", *, stubs=None, width=1280, init="", **options):
    """The page in a new window. `page.heard`: complaints, violations of the policy, and requests to elsewhere."""
    context = browser.new_context(viewport={"width": width, "height": 900}, **({"locale": "en-US"} | options))
    context.add_init_script(
        "window.violations = []; addEventListener('securitypolicyviolation', (each) => violations.push(each.violatedDirective));"
        + init
    )
    page = context.new_page()
    page.heard, page.asked = [], []
    page.on("console", lambda message: page.heard.append(message.text))
    page.on("pageerror", lambda error: page.heard.append(str(error)))
    page.on("dialog", lambda dialog: (page.heard.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: page.asked.append(request.url))
    if stubs is not None:
        stubs.serve(page)
    page.goto(f"{url}/#{view}")
    page.wait_for_selector("h1, dialog")
    try:
        yield page
        assert page.evaluate("window.violations") == []
        assert all(each.startswith((url, "blob:")) for each in page.asked)
    finally:
        context.close()


def check(page, text):
    """Ask about a text, and wait for the verdict."""
    page.fill("#text", text)
    page.click("text=Check >> nth=-1")
    page.wait_for_selector("#answer:not([aria-busy]) .verdict")
