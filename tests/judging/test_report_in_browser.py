"""The report in Chromium: nothing is fetched, nothing complains, it fits the window, and it can be judged by keyboard alone."""

import contextlib
import csv
import functools
import json
import shlex

import pytest

import neardup
from accessible import barriers, windows
from neardup.cli.main import main

TEXTS = {
    "en": "The night ferry to island {} leaves at ten past nine from the old customs pier, and dogs travel free in winter; seats {}.",
    "zh": "河上的老石桥建于明代，全长八十六米，共有七个拱。第{}座桥面用青石板铺成，石板上留着深深的车辙，桥头有{}棵树。",
    "ja": "この町の古い駅舎は、昭和の初めに建てられた木造の建物である。{}番線から海が見え、春には桜が{}本咲く。",
}
HOSTILE = "</script><script>window.hacked = 1</script><img src='http://example.invalid/x.png' onerror='window.hacked = 1'>\u202e\x00"
LONG = "x" * 300


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """A folder with a report of texts in three languages, and of hostile ones."""
    place = tmp_path_factory.mktemp("report")
    rows = [
        {"id": f"{language}-{i}-{j}", "text": text.format(f"a{i}", f"a{i + j}")}
        for language, text in TEXTS.items()
        for i in range(8)
        for j in range(2)
    ]
    rows += [{"id": f'{HOSTILE}, "{i}"', "text": f"{HOSTILE} {LONG} {TEXTS['en']} {HOSTILE}{i}"} for i in range(2)]
    (place / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    neardup.deduplicate_files(
        place / "in.jsonl", str(place / "out.jsonl"), report=str(place / "out.html"), min_similarity=0.5
    )
    return place


@pytest.fixture
def opened(browser, corpus):
    """What opens the report in a new window."""
    with windows(browser) as open_page:
        yield functools.partial(open_page, (corpus / "out.html").as_uri())


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_the_window_fetches_nothing_and_complains_of_nothing(opened, corpus, width, scheme):
    page = opened(width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.querySelectorAll('script').length") == 1
    assert page.evaluate("window.hacked") is None
    paper = page.evaluate("getComputedStyle(document.querySelector('main > section')).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
    assert page.heard == [(corpus / "out.html").as_uri()]


def test_long_names_of_files_are_divided_where_the_window_is_narrow(browser, tmp_path):
    place = tmp_path / f"{'of_a_folder' * 2}.jsonl"
    line = TEXTS["en"].format("a", "b")
    place.write_text("".join(json.dumps({"text": text}) + "\n" for text in (line, line.upper(), line + " " + line)))
    neardup.deduplicate_files(place, str(tmp_path / "out.jsonl"), report=str(tmp_path / "out.html"))
    with windows(browser) as open_page:
        page = open_page((tmp_path / "out.html").as_uri(), 380)
        assert place.name in page.inner_text(".bars >> nth=0")
        assert page.evaluate("document.documentElement.scrollWidth") <= 380


def test_a_cluster_says_if_no_word_differs(browser, tmp_path):
    (tmp_path / "in.jsonl").write_text(
        "".join(json.dumps({"text": TEXTS["en"].format("a", "b") + end}) + "\n" for end in (".", "!"))
    )
    neardup.deduplicate_files(tmp_path / "in.jsonl", str(tmp_path / "out.jsonl"), report=str(tmp_path / "out.html"))
    with windows(browser) as open_page:
        page = open_page((tmp_path / "out.html").as_uri())
        assert "no word is in one of them only" in page.inner_text(".cluster li")


CONTRAST = """() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = (color) => {
    const [r, g, b] = channels(color).map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const color = getComputedStyle(each).backgroundColor;
      if (color !== "rgba(0, 0, 0, 0)") return color;
    }
    return "rgb(255, 255, 255)";
  };
  const poor = [];
  for (const element of document.querySelectorAll("body *:not(script):not(svg *)")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !element.checkVisibility() || element.disabled) continue;
    const [a, b] = [light(getComputedStyle(element).color), light(behind(element))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) poor.push([element.outerHTML.slice(0, 80), (a + 0.05) / (b + 0.05)]);
  }
  return poor;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_can_be_told_from_its_ground(opened, scheme):
    page = opened(color_scheme=scheme)
    page.keyboard.press("j")
    page.keyboard.press("y")
    page.keyboard.press("n")
    assert page.evaluate(CONTRAST) == []


def test_one_pair_is_shown_at_a_time_and_the_page_is_short(opened):
    page = opened()
    assert page.evaluate("document.documentElement.scrollHeight") < 6000
    pairs, place = page.locator("article.pair"), page.locator(".place")
    visible = "(all) => all.filter((e) => e.checkVisibility()).map((e) => e.id)"
    assert pairs.evaluate_all(visible) == ["pair-1"]
    page.keyboard.press("j")
    page.click("#next")
    assert (pairs.evaluate_all(visible), place.inner_text()) == (["pair-3"], f"3 of {pairs.count()}")
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.id") == "pair-2"
    page.locator(".band").last.locator("summary").click()
    [shown] = pairs.evaluate_all(visible)
    assert page.locator(f"#{shown}").locator("xpath=..").get_attribute("data-band") == page.locator(
        ".band"
    ).last.get_attribute("data-band")
    assert page.locator(".band[open]").count() == 1
    page.select_option("#show", "figures")
    only = page.locator("article.pair[data-figures]").count()
    assert only > 0
    assert place.inner_text() == f"1 of {only}"
    page.focus("#show")
    page.keyboard.press("j")  # in the list of choices, keys choose
    assert place.inner_text() == f"1 of {only}"


def test_pairs_are_judged_by_keyboard_and_the_labels_can_be_evaluated(opened, corpus):
    page = opened()
    count = page.locator("article.pair").count()
    assert count >= 10
    for number in range(count):
        page.keyboard.press("n" if number == 2 else "y")
    assert page.inner_text(".tally") == f"{count} of {count} judged: {count - 1} duplicates, 1 different"
    page.keyboard.press("u")
    assert page.inner_text(".tally") == f"{count - 1} of {count} judged: {count - 2} duplicates, 1 different"
    page.keyboard.press("y")
    for _ in range(count - 3):
        page.keyboard.press("k")
    assert page.locator(".judging [aria-pressed=true]").get_attribute("data-verdict") == "0"
    assert page.inner_text("#pair-3 .judged") == "you: different"
    with page.expect_download() as download:
        page.click("#download")
    labels = corpus / "labels.csv"
    download.value.save_as(labels)
    with labels.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    audit = [json.loads(line) for line in (corpus / "out.duplicates.jsonl").read_text(encoding="utf-8").splitlines()]
    known = {(line["survivor_id"], line["id"]) for line in audit}
    assert len(rows) == count
    assert {(row["left_id"], row["right_id"]) for row in rows} <= known
    assert [row["label"] for row in rows].count("0") == 1
    command = shlex.split(page.inner_text(".then code"))
    assert command[:2] == ["neardup", "evaluate"]
    with contextlib.chdir(corpus):
        assert not main([*command[1:], "--output", "found.json", "--quiet"])
    found = json.loads((corpus / "found.json").read_text(encoding="utf-8"))
    assert (found["labeled_pairs"], found["labeled_positive"]) == (count, count - 1)


def test_the_slider_says_what_a_stricter_threshold_keeps_and_works_by_keyboard(opened):
    page = opened()
    outcome, slider = page.locator(".outcome"), page.locator("#threshold")
    assert outcome.inner_text().endswith("the threshold of this run")
    slider.focus()
    page.keyboard.press("End")
    ranges = json.loads(page.get_attribute(".what-if", "data-ranges"))
    threshold, least, most, _ = ranges[-1]
    removed = f"{least} to {most} removed" if least != most else f"{least} removed"
    assert (threshold, page.inner_text(".at")) == (1.0, "≥ 1")
    assert removed in outcome.inner_text()
    assert slider.get_attribute("aria-valuetext") == f"1: {removed}"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_barrier(opened, scheme):
    page = opened(color_scheme=scheme)
    page.keyboard.press("y")
    page.evaluate("for (const each of document.querySelectorAll('details:not(.band)')) each.open = true")
    assert barriers(page) == []


def test_judgements_are_kept_when_the_page_is_opened_again_and_can_be_forgotten(opened):
    page = opened()
    page.click(".judging [data-verdict='0']")
    page.reload()
    assert page.inner_text(".tally").endswith("judged: 0 duplicates, 1 different")
    page.click("#clear")
    page.reload()
    assert page.inner_text(".tally").endswith("judged: 0 duplicates, 0 different")
    assert page.locator("#download").is_disabled()


def test_the_keys_can_be_switched_off_which_is_remembered(opened):
    page = opened()
    place = page.locator(".place")
    page.keyboard.press("j")
    assert place.inner_text().startswith("2 of")
    page.click("text=Shortcut keys")
    for again in (False, True):
        if again:
            page.reload()
        assert not page.is_checked("#keys")
        assert page.locator("kbd:visible").count() == 0
        before = place.inner_text(), page.inner_text(".tally")
        for key in "jkynu":
            page.keyboard.press(key)
        assert (place.inner_text(), page.inner_text(".tally")) == before
    page.check("#keys")
    page.keyboard.press("j")
    assert place.inner_text().startswith("2 of")
    assert page.locator("kbd:visible").all_inner_texts() == ["k", "j", "y", "n", "u"]


LOOKS = "(each) => [each.querySelector('.sign').textContent, getComputedStyle(each).borderTopStyle]"


def test_duplicate_and_different_are_told_apart_without_colors(opened):
    page = opened()
    assert [page.eval_on_selector(f"[data-verdict='{each}']", LOOKS) for each in "10"] == [
        ["=", "solid"],
        ["≠", "dashed"],
    ]


@pytest.mark.parametrize(("width", "shown"), [(390, True), (1280, False)])
def test_each_block_says_whose_it_is_where_they_are_one_above_another(opened, width, shown):
    page = opened(width)
    parts = page.locator("#pair-1 .part:not(.empty)")
    names = parts.locator(".whose")
    assert names.all_text_contents() == ["Survivor", "Removed"] * (parts.count() // 2)
    assert {each.bounding_box()["height"] > 10 for each in names.all()} == {shown}


def test_labels_are_copied(opened):
    page = opened(permissions=["clipboard-read", "clipboard-write"])
    page.click(".judging [data-verdict='1']")
    page.click("#copy")
    page.get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()").splitlines()[0] == "left_id,right_id,label"


def test_all_of_it_can_be_read_without_scripts(opened):
    with_scripts, without = opened(), opened(java_script_enabled=False)
    for kind in ("article.pair", "svg.chart", "details.cluster", "table"):
        assert without.locator(kind).count() == with_scripts.locator(kind).count() > 0
    for kind in (".judging", ".then", ".slider"):
        assert not without.locator(kind).is_visible()
    assert without.locator("#pair-1 .text").first.is_visible()
    without.locator(".band").last.locator("summary").click()
    assert without.locator("article.pair").last.is_visible()


def test_it_is_printed_on_white_without_controls_and_with_whole_texts(opened):
    page = opened(color_scheme="dark")
    page.emulate_media(media="print")
    assert (
        page.evaluate("getComputedStyle(document.querySelector('main > section')).backgroundColor")
        == "rgb(255, 255, 255)"
    )
    assert not page.locator(".judging").is_visible()
    assert page.locator("article.pair").evaluate_all("(all) => all.every((e) => e.checkVisibility())")
    assert page.evaluate("[...document.querySelectorAll('.sides')].every((e) => e.scrollHeight <= e.clientHeight + 1)")
    assert page.pdf().startswith(b"%PDF")


def test_texts_are_shown_in_the_forms_of_their_language(opened):
    page = opened()
    assert set(page.locator(".text").evaluate_all("(all) => all.map((e) => e.lang)")) == {"", "zh", "ja"}
