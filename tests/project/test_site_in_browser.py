"""The documentation site in Chromium: nothing is fetched from elsewhere, nothing complains, it fits the window, it can be searched."""

import io

import pytest
from PIL import Image

from accessible import barriers, windows
from built_site import build

PAGES = (
    "index",
    "gallery",
    "simhash",
    "choosing",
    "quickstart.zh",
    "quickstart.ja",
    "cli",
    "reference/deduplicate",
    "cookbook/04-choose-a-threshold",
    "cookbook/06-ten-million",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return build(tmp_path_factory.mktemp("site"))


@pytest.fixture
def opened(browser, site):
    """What opens a page from the disk; what it asks of others, and complains of, is gathered in `heard`."""
    own = (site.as_uri(), "data:", "blob:", "about:")
    with windows(browser, lambda url: not url.startswith(own)) as open_page:
        yield lambda name, *args, **options: open_page((site / f"{name}.html").as_uri(), *args, **options)


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [1280, 390])
def test_a_page_fits_the_window_asks_nothing_of_others_and_shows_its_pictures(opened, name, width):
    page = opened(name, width)
    page.wait_for_load_state("networkidle")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("[...document.images].filter((image) => !image.naturalWidth).map((image) => image.src)") == []
    assert page.heard == []


GAPS = """() => [...document.querySelectorAll(".peers tr")].flatMap((row) => {
  const texts = [...row.cells].map((cell) => { const range = document.createRange(); range.selectNodeContents(cell); return range.getBoundingClientRect(); });
  return texts.slice(1).map((text, i) => text.left - texts[i].right);
})"""


@pytest.mark.parametrize("width", [380, 1280])
def test_figures_of_the_chart_stand_apart(opened, width):
    gaps = opened("index", width).evaluate(GAPS)
    assert len(gaps) > 20
    assert min(gaps) >= 5


def test_the_page_is_dark_where_the_reader_wants_it_dark_and_can_be_switched(opened):
    def ground(page):
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light, dark = opened("index"), opened("index", color_scheme="dark")
    assert ground(light) == "rgb(255, 255, 255)" != ground(dark)
    dark.locator("label[title='Light']").click()
    assert ground(dark) == "rgb(255, 255, 255)"


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("containment", "similarities.html"),
        ("指纹", ".zh.html"),
        ("分词", "quickstart.zh.html"),
        ("形態素解析", "quickstart.ja.html"),
        ("plan_bands", "reference/pairs.html"),
    ],
)
def test_the_search_finds_in_english_chinese_and_japanese(opened, words, page):
    shown = opened("index")
    shown.click(".md-search__input")
    shown.keyboard.insert_text(words)
    shown.keyboard.press("End")
    first = shown.locator(".md-search-result__link").first
    first.wait_for(timeout=30_000)
    assert page in first.get_attribute("href")
    assert shown.heard == []


LOOKS = ((1280, "light"), (390, "light"), (1280, "dark"), (390, "dark"))


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [
        *((name, *look) for name in ("index", "choosing", "gallery") for look in LOOKS),
        ("cli", 390, "light"),  # a long page, which takes seconds to search
        ("cli", 1280, "dark"),
        ("comparison", 390, "dark"),
        ("cookbook/06-ten-million", 390, "dark"),  # its outputs are wider than the page
    ],
)
def test_a_page_has_no_grave_barriers(opened, name, width, scheme):
    page = opened(name, width, color_scheme=scheme)
    page.wait_for_load_state("load")
    assert barriers(page) == []


@pytest.mark.parametrize(
    ("name", "number", "copied"),
    [
        ("quickstart", 0, "neardup demo"),
        ("quickstart", 1, "neardup dedup neardup-demo/notes.jsonl -o survivors.jsonl"),
        ("index", 0, 'import neardup as nd\ntexts = ["The night ferry'),
    ],
)
def test_a_copy_has_commands_without_prompts_and_outputs(opened, name, number, copied):
    page = opened(name, permissions=["clipboard-read", "clipboard-write"])
    block = page.locator("div.highlight", has=page.locator(".gp")).nth(number)
    block.hover()
    block.locator("button").click()
    text = page.evaluate("navigator.clipboard.readText()")
    assert text.startswith(copied)
    assert not any(
        mark in text for mark in (">>>", "... ", "$ ", "is a duplicate", "removed  7", "DedupResult(", "\n\n")
    )


def shades(page):
    """The ground of a chart, and its darkest and lightest shade, from 0 to 255."""
    drawn = page.locator("img[src*='distances.svg']").screenshot()
    grays = Image.open(io.BytesIO(drawn)).convert("L")
    return grays.getpixel((1, 1)), *grays.getextrema()


def test_charts_are_drawn_for_the_page_that_shows_them(opened):
    ground, darkest, _ = shades(opened("choosing"))
    assert ground == 255
    assert darkest < 100
    page = opened("choosing", color_scheme="dark")
    ground, _, lightest = shades(page)
    assert ground < 60
    assert lightest > 180
    page.locator("label[title='Light']").click()
    assert shades(page)[:2] == (255, darkest)


def test_links_of_the_landing_page_open_from_the_disk(opened):
    page = opened("index")
    page.get_by_role("link", name="measured curves").click()
    page.get_by_role("heading", name="Which method and threshold").wait_for()
