"""The page in Chromium: each view shows what the service answers, can be used by keyboard, in three languages, light and dark, wide and narrow."""

import http.server
import itertools
import json
import random
import re
import shlex
import threading

import pytest

import neardup as nd
from accessible import EVERY, barriers
from guards import not_empty
from places import ROOT
from service.opened_page import (
    BIG,
    BREAD,
    BRIDGE,
    FERRY,
    LATE,
    NEAR,
    ORPHAN,
    STATION,
    VIEWS,
    check,
    filled_store,
    go_to,
    in_use,
    opened,
)
from service.serving import TOKEN, listening, new_store, tokens_in

STRINGS = ROOT / "src/neardup/service/page/strings.js"


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    with listening({"default": filled_store(folder / "s"), "空": new_store(folder / "e")}) as found:
        yield found


@pytest.mark.parametrize("locale", ["en-US", "zh-CN", "ja-JP"])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_views_fit_complain_of_nothing_and_have_no_barriers(browser, url, locale, width, scheme):
    options = {"width": width, "locale": locale, "color_scheme": scheme, "reduced_motion": "reduce"}
    with opened(browser, url, **options) as page:
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(13, 17, 17)"
        assert dark == (scheme == "dark")
        for view in VIEWS:
            go_to(page, view)
            in_use(page, view)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, view
            assert barriers(page, EVERY) == [], view
        assert page.heard == []


# Text that is not the page's own: of the store, of the services, commands, keys, numbers and names of measures.
FOREIGN = "#said, code, kbd, option, .id, .text, .excerpt, .metadata, .digits, .tokens, .features tbody, .product, .choice b, .sign, [lang]:not(html)"
OWN_TEXTS = """(foreign) => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) if (!walker.currentNode.parentElement.closest(`${foreign}, noscript`)) texts.push(walker.currentNode.data);
  for (const name of ["aria-label", "placeholder", "alt", "title"])
    for (const each of document.querySelectorAll(`[${name}]`)) if (!each.closest(".id, [lang]:not(html)")) texts.push(each.getAttribute(name));
  return texts;
}"""


def in_brackets(words):
    """Words in brackets, but for the places of values; the ending of a noun, {s}, is of the words."""
    return re.sub(r"([^{}]+)(?=\{|$)", r"⟦\1⟧", words.replace("{s}", "\0")).replace("\0", "{s}")


def test_every_word_of_the_page_is_one_of_its_strings(browser, url):
    """A page whose strings are all in brackets has no letter outside of them, in any view; so no word is left untranslated."""
    script = STRINGS.read_text(encoding="utf-8")
    head, own = script[: script.index("export const STRINGS")], script[script.index("export const STRINGS") :]
    marked = head + re.sub(r'\b(en|zh|ja): "([^"]+)"', lambda found: f'{found[1]}: "{in_brackets(found[2])}"', own)

    def routed(page):
        page.route("**/strings.js", lambda route: route.fulfill(content_type="text/javascript", body=marked))

    with opened(browser, url, routed=routed) as page:
        for view in not_empty(VIEWS):
            go_to(page, view)
            in_use(page, view)
            for text in page.evaluate(OWN_TEXTS, FOREIGN):
                left = re.sub(r"⟦[^⟦⟧]*⟧", "", text)
                left = re.sub(r"\b(p50|p99|ms|[KMG]iB)\b|\d[KMB]\b|\b(AM|PM)\b|\b[A-Z][a-z]{2} \d+, \d{4}", "", left)
                assert not re.search(r"[^\W\d_]", left), (view, text)


def test_a_near_duplicate_is_told_large_with_its_texts_side_by_side(browser, url):
    with opened(browser, url) as page:
        check(page, NEAR["ferry"])
        assert page.inner_text(".verdict h2") == "Duplicate of ferry"
        assert page.text_content("#said").startswith("Duplicate of ferry")
        page.wait_for_selector(".sides")
        assert page.locator(".sides mark").all_inner_texts() == ["evening", "night"]
        assert "source tests" in page.inner_text(".known")
        threshold, level = page.evaluate(
            "[...document.querySelectorAll('.match .threshold, .match .level')].map((each) => each.getAttribute('x1') ?? each.getAttribute('width'))"
        )[::-1]
        assert threshold == "70.00"
        assert float(level) == pytest.approx(100 * float(page.inner_text(".match .value")), abs=0.01)


def test_the_page_ends_below_long_texts_that_scroll_in_their_frame(browser, tmp_path):
    text = "\n\n".join(f"Paragraph {place}: {FERRY.replace('ten', f'ten{place}')}" for place in range(60))
    with listening({"default": filled_store(tmp_path / "s", {"long": text})}) as url, opened(browser, url) as page:
        check(page, text.replace("night", "evening"))
        page.wait_for_selector(".sides")
        assert page.evaluate("document.querySelector('.sides').scrollHeight") > 1000
        assert page.evaluate("document.documentElement.scrollHeight - document.body.scrollHeight") <= 5


def test_integers_that_no_number_holds_stay_what_they_are(browser, url):
    with opened(browser, url) as page:
        check(page, NEAR[BIG])
        assert page.inner_text(".verdict h2") == f"Duplicate of {BIG}"
        check(page, STATION)
        assert page.inner_text(".verdict h2") == 'Same as "17"'
        page.goto(f"{url}/#browse")
        page.fill("#asked", str(BIG))
        page.keyboard.press("Enter")
        page.wait_for_selector(".card")
        assert page.locator(".card h3").all_inner_texts() == [str(BIG)]
        page.fill("#asked", "17")
        page.keyboard.press("Enter")
        page.wait_for_selector(".card >> nth=1")
        assert sorted(page.locator(".card h3").all_inner_texts()) == ['"17"', "17"]


def test_json_is_read_and_written_without_loss(browser, url):
    texts = [
        '{"a":[1,-2.5e3,true,null,"x\\u0000\\"\\\\"],"b":{}}',
        "[18446744073709551615,-9223372036854775808]",
        '""',
        "[[],{}]",
    ]
    deep = "[" * 100_000 + "]" * 100_000
    with opened(browser, url) as page:
        read = "(async (texts) => { const json = await import('./page/json.js'); return texts.map((each) => json.write(json.parse(each))); })"
        found = page.evaluate(f"{read}({json.dumps(texts)})")
        assert [json.loads(each) for each in found] == [json.loads(each) for each in texts]
        assert (
            page.evaluate(f"import('./page/json.js').then((json) => json.write(json.parse('{deep}'), 3))") == "[[[…]]]"
        )
        for wrong in ("", "{", "[1", "nothing", '{"a" 1 "'):
            said = f"import('./page/json.js').then((json) => json.parse({json.dumps(wrong)})).then(() => '', (found) => found.name)"
            assert page.evaluate(said) == "SyntaxError", wrong


def test_similarities_are_shown_as_by_the_command_line(browser, url):
    from neardup.display import similarity_text, threshold_text

    choose = random.Random(1)
    values = [part / whole for whole in (3, 7, 32, 10_000, 50_000) for part in range(0, whole + 1, 1 + whole // 50)]
    values += [choose.random() for _ in range(200)] + [0.79996, 0.8 - 1e-16, 0.99999, 1e-5, 5e-324, -0.25, -1.0]
    given = [(value, threshold) for value in values for threshold in (0.0, 0.8, 0.81, 1 / 3, value, 1.0)]
    shown = f"import('./page/language.js').then((language) => {json.dumps(given)}.map((each) => language.similarity(...each)))"
    with opened(browser, url) as page:
        assert page.evaluate(shown) == [similarity_text(*each) for each in given]
        thresholds = [1.0, 0.8, 0.05, 1 / 3, 0.8000001]
        shown = f"import('./page/language.js').then((language) => {json.dumps(thresholds)}.map(language.threshold))"
        assert page.evaluate(shown) == [threshold_text(each) for each in thresholds]


def test_invisible_characters_are_those_of_the_report(browser, url):
    from neardup.text.side_by_side.visible import language, plainly

    points = [each for each in range(0x110000) if not 0xD800 <= each < 0xE000]
    with opened(browser, url) as page:
        found = page.evaluate(
            "import('./page/visible.js').then(({plainly}) => { const found = []; for (let each = 0; each < 0x110000; each += 1)"
            " if (plainly(String.fromCodePoint(each) + 'x').startsWith('\u27e8U')) found.push(each); return found; })"
        )
        assert [each for each in found if not 0xD800 <= each < 0xE000] == [
            each for each in points if plainly(chr(each) + "x").startswith("\u27e8U")
        ]
        some = [FERRY, BRIDGE, STATION, "서울", "東京タワー", "漢" * 30 + "の"]
        assert page.evaluate(
            f"import('./page/visible.js').then(({{languageOf}}) => {json.dumps(some)}.map(languageOf))"
        ) == [language(each) for each in some]


def test_a_new_text_is_told_with_the_nearest_below_the_threshold(browser, url):
    with opened(browser, url) as page:
        check(page, " ".join(FERRY.split()[:16]))
        assert page.inner_text(".verdict h2") == "New"
        assert "below the threshold" in page.inner_text("#answer")
        assert page.inner_text(".match .id") == "ferry"
        check(page, "Something else entirely, of which nobody has heard yet, not even here.")
        assert page.locator(".match").count() == 0
        page.fill("#text", " ")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("text=Paste a text first.")


def test_two_texts_are_compared_down_to_their_bits(browser, url):
    with opened(browser, url, "compare") as page:
        page.fill("#left", FERRY)
        page.fill("#right", NEAR["ferry"])
        with page.expect_response("**/compare") as answered:
            page.keyboard.press("Control+Enter")
        told = answered.value.json()
        page.wait_for_selector(".steps")
        assert page.locator(".verdict .fraction b").all_inner_texts() == [
            str(told["common_shingles"]),
            str(told["all_shingles"]),
        ]
        assert page.locator(".bits >> nth=0 >> .bit").count() == len(told["left"]["sums"])
        assert page.locator(".bits >> nth=0 >> .differs").count() == told["distance"]
        for side, place in (("left", 0), ("right", 1)):
            ones = page.locator(f".bits >> nth={place} >> .b1").count()
            assert ones == int(told[side]["fingerprint"], 16).bit_count()
            assert told[side]["fingerprint"] in page.inner_text(f".step:nth-child(4) .{side}")
        assert page.locator(".features mark").all_inner_texts() == ["night", "evening"]
        page.click("text=Show all >> nth=0")
        assert page.locator(".features >> nth=0 >> tbody tr").count() == len(told["left"]["features"])
        page.click("summary")
        assert page.locator(".scrolls tbody tr").count() == told["distance"]


def test_what_the_service_refuses_is_told_in_its_words(browser, url):
    with opened(browser, url, "compare") as page:
        page.fill("#left", "x" * 10_001)
        page.fill("#right", "y")
        page.click("button.main")
        page.wait_for_selector("[role=alert]")
        assert "`left` has 10,001 characters; texts of at most 10,000 are shown step by step." in page.inner_text(
            "[role=alert]"
        )
        page.route("**/compare", lambda route: route.abort())
        page.click("button.main")
        page.wait_for_selector("text=The service did not answer.")


def test_duplicates_and_neighbors_are_walked(browser, url):
    with opened(browser, url, "browse") as page:
        page.wait_for_selector("#recent .match")
        assert page.locator("#recent .match .who .id").all_inner_texts()[::2] == [
            LATE["17"],
            str(LATE[BIG]),
            LATE["ferry"],
        ]
        page.click("#recent .quiet >> nth=2")
        page.wait_for_selector("#recent .sides")
        assert page.locator("#recent .sides mark").all_inner_texts() == ["night", "evening"]
        page.click("#recent .link >> nth=2")
        page.wait_for_selector(".card")
        assert page.inner_text(".card h3") == "ferry"
        assert FERRY in page.inner_text(".card .quoted")
        page.click("#recent .link >> nth=1")
        page.wait_for_selector(f".card h3:has-text('{BIG}')")
        page.click("#trail >> text=ferry")
        page.wait_for_selector(".card h3:has-text('ferry')")
        page.fill("#asked", "nobody")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=no document with the id nobody")
        assert page.locator("#document .match").count() == 0


def test_a_removed_document_that_is_looked_up_is_told_with_its_survivor(browser, tmp_path):
    path = filled_store(tmp_path / "s", metadata={})
    with listening({"default": path}) as url, opened(browser, url, "browse") as page:
        page.wait_for_selector("#recent .match")
        page.fill("#asked", str(LATE[BIG]))
        page.keyboard.press("Enter")
        page.wait_for_selector("#document .match")
        assert f'no document with the id "{LATE[BIG]}"' in page.inner_text("#document")
        page.click("#document .link")
        page.wait_for_selector(f".card h3:has-text('{BIG}')")
        assert "Metadata" not in page.inner_text(".card")


def test_orphans_are_listed_and_found_by_their_ids(browser, url):
    with opened(browser, url, "browse") as page:
        page.wait_for_selector("#orphans .match")
        assert page.locator("#orphans .match .id").all_inner_texts() == [ORPHAN]
        assert "To keep them, add them again." in page.inner_text("#orphans")
        assert re.search(r"since [A-Z][a-z]{2} \d+, \d{4}", page.inner_text("#orphans .match"))
        assert "not compared" not in page.inner_text("#orphans")
        page.fill("#asked", ORPHAN)
        page.keyboard.press("Enter")
        page.wait_for_selector("#document .match .id")
        assert page.inner_text("#document .match .id") == ORPHAN
        page.select_option("#store", "空")
        page.wait_for_selector("#recent .notice")
        page.wait_for_selector("#orphans:not([aria-busy])", state="attached")
        assert page.inner_text("#orphans") == ""
        go_to(page, "numbers")
        page.wait_for_selector("#facts div:has(dt:text('Orphans')) dd:text('none')")


@pytest.mark.parametrize("texts", [True, False])
def test_more_orphans_than_a_page_of_them_are_shown_when_asked_for(browser, tmp_path, texts):
    path = filled_store(tmp_path / "s", {"ferry": FERRY, "bread": BREAD}, texts=texts)
    with nd.Store(path) as store:
        store.check_and_add_many(range(45), [FERRY.replace("nine", f"{number} hundred") for number in range(45)])
        assert store.remove(["ferry"]).orphans.count == 45
        names = [str(each.id) for each in store.orphans()]
    with listening({"default": path}) as url, opened(browser, url, "browse") as page:
        for shown in (20, 40, 45):
            page.wait_for_selector(f"#orphans .match >> nth={shown - 1}")
            assert page.locator("#orphans .match .id").all_inner_texts() == names[:shown]
            if shown < 45:
                page.click("#orphans >> text=Show more")
        assert page.locator("#orphans >> text=Show more").count() == 0
        assert page.locator("#orphans .match:has-text('not compared')").count() == (0 if texts else 45)


def test_more_duplicates_than_a_page_of_them_are_shown_when_asked_for(browser, tmp_path):
    path = filled_store(tmp_path / "s", {"ferry": FERRY, "bread": BREAD})
    with nd.Store(path) as store:
        for number in range(45):
            store.check_and_add(number, FERRY.replace("nine", f"{number} hundred"))
    with listening({"default": path}) as url, opened(browser, url, "browse") as page:
        for shown in (20, 40, 45):
            page.wait_for_selector(f"#recent .match >> nth={shown - 1}")
            assert page.locator("#recent .match").count() == shown
            if shown < 45:
                page.click("text=Show more")
        assert page.locator("text=Show more").count() == 0
        assert page.inner_text(".families .chip") == "ferry 45"


def test_a_store_without_texts_says_so(browser, tmp_path):
    with listening({"default": filled_store(tmp_path / "s", texts=False)}) as url, opened(browser, url) as page:
        check(page, NEAR["ferry"])
        page.wait_for_selector("text=The store does not keep this text")
        assert page.locator(".sides").count() == 0
        go_to(page, "browse")
        page.wait_for_selector("#recent .match")
        assert page.locator("#recent .match .quiet").count() == 0
        go_to(page, "review")
        page.wait_for_selector(".desk .notice:has-text('The store does not keep this text')")


def test_numbers_follow_the_service(browser, tmp_path):
    fast = "const later = setTimeout; window.setTimeout = (action, wait) => later(action, wait === 2000 ? 100 : wait);"
    with (
        listening({"default": filled_store(tmp_path / "s")}) as url,
        opened(browser, url, "numbers", init=fast) as page,
    ):
        page.wait_for_selector(".tiles")
        add = "(name, text) => fetch('v1/stores/default/check-and-add', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify({id: name, text})})"
        for place, text in enumerate(
            (
                FERRY.replace("night", "morning"),
                BRIDGE,
                "one more text that nobody has sent before to this store of ours",
            )
        ):
            page.evaluate(f"({add})('more {place}', {json.dumps(text)})")
        page.evaluate("fetch('v1/stores/nobody/info')")
        page.wait_for_selector(".tile:nth-child(3):has-text('66.7%')")
        tiles = dict(
            zip(page.locator(".tile dt").all_inner_texts(), page.locator(".tile strong").all_inner_texts(), strict=True)
        )
        assert (tiles["State"], tiles["Documents"], tiles["Duplicates"], tiles["Failed requests"]) == (
            "Ready",
            "5",
            "66.7%",
            "0",
        )
        page.wait_for_selector(".chart svg[aria-label^='Latency: p50']")
        page.wait_for_selector(".charts .chart:has(svg) >> nth=3")
        assert page.inner_text("#facts div:has(dt:text('Orphans')) dd") == "1"
        remembered = "#facts div:has(dt:text('Removed texts')) dd"
        assert page.inner_text(remembered) == "4"  # as it was when the view was opened
        page.evaluate("(() => { const now = Date.now; Date.now = () => now() + 60_000; })()")
        page.wait_for_selector(f"{remembered}:has-text('5')")
        page.route("**/metrics", lambda route: route.abort())
        page.wait_for_selector("text=these numbers are the last ones")
        page.unroute("**/metrics")
        page.wait_for_selector("#live:not(:has(.problem))")


TICKS = "import('./page/charts.js').then(({ticks}) => %s.map((each) => ticks(...each)))"


def test_axes_begin_at_0_but_where_values_hardly_vary_and_reach_all_values(browser, url):
    choose = random.Random(2)
    many = [
        [choose.random() * 10.0 ** choose.randrange(-6, 8) for _ in range(1 + choose.randrange(5))] for _ in range(300)
    ]
    steady = [[1_000_000 + choose.randrange(1000) for _ in range(5)] for _ in range(50)]
    cases = [[values, {}] for values in many] + [[values, {"fits": True, "isWhole": True}] for values in steady]
    cases += [
        [[4, 4], {"fits": True, "isWhole": True}],
        [[0, 0], {}],
        [[0.02], {"most": 0.1}],
        [[3, 4], {"isWhole": True}],
    ]
    with opened(browser, url) as page:
        found = page.evaluate(TICKS % json.dumps(cases))
    for (values, options), scale in zip(cases, found, strict=True):
        assert scale == sorted(set(scale))
        assert len(scale) >= 2
        steps = [b - a for a, b in itertools.pairwise(scale)]
        assert max(steps) == pytest.approx(min(steps))
        assert scale[0] <= min(values)
        assert max(values) <= scale[-1] * (1 + 1e-9)
        fits = options.get("fits") and 0 < 4 * (max(values) - min(values)) < max(values)
        assert (scale[0] == 0) == (not fits)
        assert not options.get("isWhole") or all(each == int(each) for each in scale)
    assert found[-4:] == [[0, 2, 4], [0, 0.5], [0, 0.05, 0.1], [0, 2, 4]]


def test_an_area_is_filled_down_to_0_only(browser, url):
    draw = """import('./page/charts.js').then(({chart}) => [[5, 900], [1000000, 1000040]].map((values) => {
      const points = values.map((value, at) => [1000 * at, value]);
      const found = chart({title: 'x', lines: [{name: '', points, class: 'first'}], format: (value, more) => (more ? String(value) : '1M'),
                           width: 400, axis: {fits: true, isWhole: true}});
      return [found.querySelectorAll('.area').length, [...found.querySelectorAll('text')].slice(0, -2).map((each) => each.textContent)];
    }))"""
    with opened(browser, url) as page:
        filled, fitted = page.evaluate(draw)
        assert filled == [1, ["0", "500", "1000"]]
        assert fitted == [0, ["1000000", "1000020", "1000040"]]


def test_both_texts_have_the_same_scale_of_sums(browser, url):
    with opened(browser, url, "compare") as page:
        page.fill("#left", FERRY)
        page.fill("#right", " ".join(FERRY.split()[:6]))
        with page.expect_response("**/compare") as answered:
            page.keyboard.press("Control+Enter")
        told = answered.value.json()
        page.wait_for_selector(".steps")
        sums = {side: [abs(float(each)) for each in told[side]["sums"]] for side in ("left", "right")}
        for place, side in not_empty(enumerate(sums)):
            heights = page.locator(f".sums >> nth={place} >> .sum").evaluate_all(
                "(all) => all.map((each) => Number(each.getAttribute('height')))"
            )
            most = max(max(each) for each in sums.values())
            assert max(heights) == pytest.approx(44 * max(sums[side]) / most, abs=0.01)


def test_metrics_are_read_as_prometheus_does(browser, url):
    text = '# HELP x y\nx_total{store="a\\"b\\\\c\\nd",route="e,f"} 3.0\ny 1e+06\nz_bucket{le="+Inf"} 4\n\n'
    with opened(browser, url) as page:
        found = page.evaluate(f"import('./page/series.js').then((series) => [...series.metricsOf({json.dumps(text)})])")
        assert [(each["name"], each["labels"], each["value"]) for each in found] == [
            ("x_total", {"store": 'a"b\\c\nd', "route": "e,f"}, 3), ("y", {}, 1e6), ("z_bucket", {"le": "+Inf"}, 4),
        ]  # fmt: skip
        quantile = (
            "import('./page/series.js').then(({quantile}) => { const of = (...counts) => ({buckets: new Map([0.1, 0.5, Infinity].map((limit, place) => [limit, counts[place]]))});"
            " return [quantile(of(0, 0, 0), of(10, 10, 10), 0.5), quantile(of(5, 5, 5), of(5, 15, 15), 0.5), quantile(of(0, 0, 0), of(0, 0, 3), 0.5), quantile(of(1, 1, 1), of(1, 1, 1), 0.5)]; })"
        )
        assert page.evaluate(quantile) == [pytest.approx(0.05), pytest.approx(0.3), 0.5, None]


@pytest.mark.parametrize(("locale", "title", "lang"), [
    ("zh-CN", "库中已有这段文本吗？", "zh-Hans"), ("ja-JP", "この文章は登録済みですか？", "ja"), ("fr-FR", "Does the store know this text?", "en"),
])  # fmt: skip
def test_the_language_is_that_of_the_browser_and_can_be_changed(browser, url, locale, title, lang):
    with opened(browser, url, locale=locale) as page:
        assert page.inner_text("h1") == title
        page.fill("#text", FERRY)
        assert page.evaluate("document.documentElement.lang") == lang
        page.select_option("#language", "en" if lang != "en" else "ja")
        assert page.inner_text("h1") != title
        assert page.input_value("#text") == FERRY
        assert barriers(page) == []
        page.reload()
        page.wait_for_selector("h1")
        assert page.inner_text("h1") != title


def test_stores_are_chosen(browser, url):
    with opened(browser, url) as page:
        check(page, FERRY)
        assert "It keeps 4 documents." in page.inner_text("main")
        page.select_option("#store", "空")
        assert page.locator(".verdict").count() == 0
        page.wait_for_selector("text=The store is empty.")
        command = page.inner_text(".beforehand code")
        assert shlex.split(command)[1] == f"{url}/v1/stores/%E7%A9%BA/check-and-add"
        check(page, FERRY)
        assert page.inner_text(".verdict h2") == "New"


def test_all_can_be_done_by_keyboard(browser, url):
    with opened(browser, url) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "skip"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        page.keyboard.press("Tab")
        page.keyboard.type(NEAR["17"])
        page.keyboard.press("Control+Enter")
        page.wait_for_selector(".sides")
        for _ in range(2):
            page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
        page.keyboard.press("Enter")
        page.wait_for_selector(".sides", state="detached")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_the_page_asks_for_a_token_and_keeps_it_in_its_tab(browser, tmp_path):
    with (
        listening({"default": filled_store(tmp_path / "s")}, tokens=tokens_in(tmp_path)) as url,
        opened(browser, url) as page,
    ):
        page.wait_for_selector("dialog")
        assert page.evaluate("document.activeElement.type") == "password"
        assert barriers(page) == []
        page.keyboard.type("not the one at all")
        page.keyboard.press("Enter")
        page.wait_for_selector("dialog [role=alert]")
        assert "Give a token of this service" in page.inner_text("dialog [role=alert]")
        page.fill("#given-token", f"{TOKEN}r")
        page.keyboard.press("Enter")
        page.wait_for_selector("#text")
        check(page, FERRY)
        page.reload()
        check(page, FERRY)
        assert page.evaluate("[localStorage.length, document.cookie, location.href.includes('0123')]") == [0, "", False]
        assert not any(TOKEN in each for each in page.asked)
        page.click("#token")
        page.click("text=Forget it")
        page.wait_for_selector("text=Give a token of this service")
        assert page.evaluate("sessionStorage.getItem('neardup-token')") is None


class Stranger(http.server.BaseHTTPRequestHandler):
    """A page of somebody else on this machine, whose path has what it frames."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        url = self.path.removeprefix("/")
        self.wfile.write(f"<iframe src='{url}/'></iframe><iframe src='{url}/v1/health'></iframe>".encode())

    def log_message(self, *_):
        pass


def test_no_page_of_another_may_frame_it_or_change_a_store(browser, url):
    with opened(browser, url) as page, http.server.HTTPServer(("127.0.0.1", 0), Stranger) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        stranger = page.context.new_page()
        stranger.goto(f"http://127.0.0.1:{server.server_port}/{url}", wait_until="networkidle")
        assert [each.url for each in stranger.frames[1:]] == ["chrome-error://chromewebdata/", f"{url}/v1/health"]
        remove = f"fetch('{url}/v1/stores/default/remove', {{method: 'POST', headers: {{'Content-Type': 'application/json'}}, body: '{{\"ids\": [\"ferry\"]}}'}})"
        assert stranger.evaluate(f"{remove}.then(() => 'sent', () => 'refused')") == "refused"
        server.shutdown()
        check(page, FERRY)
        assert page.inner_text(".verdict h2") == "Same as ferry"
