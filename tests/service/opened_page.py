"""The page of a service in Chromium, and stores with texts in three languages, some of them duplicates."""

import contextlib

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
LATE = {"ferry": "https://timetables.example/islands/2026/winter/evening-ferry.html", BIG: 2**63 - 1, "17": "late"}
"""The ids of the duplicates in `NEAR`."""
TIDE = "High water comes an hour later each day, so nobody who rows to the sandbank for cockles should trust the tables of last week."
ORPHAN = "https://timetables.example/tides/2026/winter/high-water.html"
METADATA = {"source": "tests", "n": 1}
VIEWS = ("check", "compare", "browse", "numbers", "review")


def filled_store(path, documents=None, *, metadata=METADATA, **options):
    """A store of `KEPT`, of the duplicates in `NEAR` and of an orphan, or of other documents; its path."""
    with nd.Store(path, **({"min_similarity": 0.7, "floor": 0.3, "texts": True} | options)) as store:
        for name, text in (documents or KEPT).items():
            assert store.check_and_add(name, text, metadata=metadata).is_new
        for name, text in ({} if documents else NEAR).items():
            assert store.check_and_add(LATE[name], text).duplicate_of == name
        if not documents:
            store.check_and_add_many(["tide", ORPHAN], [TIDE, TIDE.replace("cockles", "mussels")])
            assert store.remove(["tide"]).orphans.ids == (ORPHAN,)
    return str(path)


def opened_context(browser, *, width=1280, init="", **options):
    """A window in which violations of the page's policy are gathered."""
    context = browser.new_context(viewport={"width": width, "height": 900}, **({"locale": "en-US"} | options))
    context.add_init_script(
        "window.violations = []; addEventListener('securitypolicyviolation', (each) => violations.push(each.violatedDirective));"
        + init
    )
    return context


@contextlib.contextmanager
def opened(browser, url, view="check", *, routed=None, **options):
    """The page in a new window; `routed`: is given the page before it is loaded.

    `page.heard`: complaints. Violations of the policy, and requests to elsewhere, fail the test.
    """
    context = opened_context(browser, **options)
    page = context.new_page()
    page.heard, page.asked = [], []
    page.on("console", lambda message: page.heard.append(message.text))
    page.on("pageerror", lambda error: page.heard.append(str(error)))
    page.on("dialog", lambda dialog: (page.heard.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: page.asked.append(request.url))
    if routed is not None:
        routed(page)
    page.goto(f"{url}/#{view}")
    page.wait_for_selector("h1, dialog")
    try:
        yield page
        assert page.evaluate("window.violations") == []
        assert all(each.startswith((url, "blob:")) for each in page.asked)
    finally:
        page.unroute_all(behavior="ignoreErrors")  # of an answer that is on its way, which the next test would be told
        context.close()


def go_to(page, view):
    """Show a view without loading the page again."""
    page.evaluate(f"location.hash = '{view}'")
    page.wait_for_selector(f".view-{view} h1")


def check(page, text):
    """Ask about a text, and wait for the verdict."""
    page.fill("#text", text)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#answer:not([aria-busy]) .verdict")


def in_use(page, view):
    """Bring a view into the state in which it shows most."""
    if view == "check":
        check(page, NEAR["ferry"])
        page.wait_for_selector("#answer .sides")
    elif view == "compare":
        page.click(".actions button >> nth=1")
        page.wait_for_selector(".steps")
    elif view == "browse":
        page.click("#recent .quiet >> nth=0")
        page.wait_for_selector("#recent .sides")
        page.click("#recent .link >> nth=0")
        page.wait_for_selector("#document:not([aria-busy]) .card")
        page.wait_for_selector("#orphans .match")
    elif view == "numbers":
        page.wait_for_selector(".tiles")
        page.wait_for_selector("#facts dl")
    else:
        page.wait_for_selector(".desk:not([aria-busy]) .sides")
        page.wait_for_selector("#tally")
