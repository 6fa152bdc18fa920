"""The page of two runs in Chromium: nothing is fetched, nothing complains, it fits the window, and texts are only texts."""

import functools
import json

import pytest

import neardup as nd
from accessible import EVERY, barriers, windows

HOSTILE = "</script><script>window.hacked = 1</script><img src='http://example.invalid/x.png' onerror='window.hacked = 1'>\u202e"
TEXTS = {
    "en": "The night ferry to island {} leaves at ten past nine from the old customs pier, and dogs travel free in {}; seats {}.",
    "zh": "河上的老石桥建于明代，全长八十六米，共有七个拱。第{}座桥面用青石板铺成，石板上留着{}深深的车辙，桥头有{}棵树。",
}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page with samples of every kind, hostile ids and texts among them."""
    place = tmp_path_factory.mktemp("diff")
    rows = [
        {"id": f"{language}-{i}-{j}", "text": text.format(i, "winter" if j else "summer, spring", i + 5 * j)}
        for language, text in TEXTS.items()
        for i in range(6)
        for j in range(3)
    ]
    rows += [{"id": f"{HOSTILE}{i}", "text": f"{HOSTILE} {'x' * 300} {TEXTS['en']} {HOSTILE}{i}"} for i in range(2)]
    (place / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    nd.deduplicate_files(place / "in.jsonl", str(place / "a.jsonl"), min_similarity=0.9)
    nd.deduplicate_files(place / "in.jsonl", str(place / "b.jsonl"), min_similarity=0.4, keep="longest")
    found = nd.diff(place / "a.summary.json", place / "b.summary.json", output=place / "diff.html", samples=50)
    assert {each.kind for each in found.samples} >= {"only_b", "other_survivor"}
    return place / "diff.html"


@pytest.fixture
def opened(browser, page):
    """What opens the page in a new window."""
    with windows(browser) as open_page:
        yield functools.partial(open_page, page.as_uri())


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_the_window_fetches_nothing_and_complains_of_nothing(opened, page, width, scheme):
    shown = opened(width, color_scheme=scheme)
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    assert shown.evaluate("document.querySelectorAll('script, img').length") == 0
    assert shown.evaluate("window.hacked") is None
    assert shown.heard == [page.as_uri()]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_barriers(opened, scheme):
    assert barriers(opened(color_scheme=scheme), EVERY) == []


def test_it_shows_counts_options_and_each_sample_with_its_texts(opened, page):
    found = nd.diff(page.parent / "a.summary.json", page.parent / "b.summary.json", samples=50)
    shown = opened()
    assert shown.inner_text("h1") == f"A alone removed {found.only_a} documents, B alone {found.only_b} documents"
    assert "min_similarity" in shown.inner_text("#options")
    assert shown.locator("#only_b .pair").count() == found.only_b
    assert shown.locator("#only_b .pair .sides").count() == found.only_b
    assert shown.locator("#only_b mark").count() > 0
    assert "is below 0.9." in shown.locator("#only_b .says").first.inner_text()


def test_a_page_of_runs_that_removed_the_same_and_one_without_texts_say_so(browser, page, tmp_path):
    place = tmp_path / "in.jsonl"
    place.write_text(
        json.dumps({"text": TEXTS["en"]})
        + "\n"
        + json.dumps({"text": TEXTS["en"] + " Nobody knew why it was so cold that year."})
        + "\n"
    )
    for name, least in (("a", 0.9), ("b", 0.9), ("c", 0.3)):
        nd.deduplicate_files(place, str(tmp_path / f"{name}.jsonl"), min_similarity=least)
    nd.diff(tmp_path / "a.jsonl", tmp_path / "b.jsonl", output=tmp_path / "same.html")
    place.write_text("gone")
    nd.diff(tmp_path / "a.jsonl", tmp_path / "c.jsonl", output=tmp_path / "gone.html")
    with windows(browser) as open_page:
        same = open_page((tmp_path / "same.html").as_uri())
        assert same.inner_text("h1") == "Both runs removed the same documents"
        assert barriers(same, EVERY) == []
        gone = open_page((tmp_path / "gone.html").as_uri())
        assert "Texts are not shown." in gone.inner_text(".notice")
        assert barriers(gone, EVERY) == []
